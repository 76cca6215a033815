// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "polyhop/network/runtime.hpp"
#include "support/isolated_runtime.hpp"
#include "support/networks.hpp"
#include "support/trial.hpp"

namespace polyhop::network_mean_test {
namespace {

struct Case {
  CombinationMatrix matrix;
  Index columns;
  Rows models;
};

Case any_case() {
  const Index agents = *rc::gen::inRange<int>(1, 30);
  const Index columns = *rc::gen::inRange<int>(1, 40);
  const auto seed = static_cast<std::uint64_t>(*rc::gen::inRange<int>(0, 1 << 30));
  const double probability = *rc::gen::inRange<int>(0, 101) / 100.0;
  return {test::random_network(agents, probability, seed), columns, test::normal_models({0, agents}, columns, seed)};
}

Rows block_rows(const Rows& all, Block block) {
  Rows own(block.size(), all.columns());
  for (Index k = 0; k < block.size(); ++k) std::ranges::copy(all.row(block.first + k), own.row(k).begin());
  return own;
}

Rows combined(const Case& c, const test::Launch& launch, int rounds) {
  Rows out(c.matrix.agents(), c.columns);
  launch(c.matrix, c.columns, [&](Worker& worker) {
    const Block block = worker.network.block();
    Rows own = block_rows(c.models, block);
    for (int round = 0; round < rounds; ++round) worker.network.combine(own, own);
    for (Index k = 0; k < block.size(); ++k) std::ranges::copy(own.row(k), out.row(block.first + k).begin());
  });
  return out;
}

RC_GTEST_PROP(NetworkMean, IsKeptByCombine, ()) {
  const Case c = any_case();
  const Rows out = combined(c, test::serial(), 10);
  for (Index j = 0; j < c.columns; ++j) {
    double before = 0;
    double after = 0;
    for (Index k = 0; k < out.rows(); ++k) {
      before += c.models(k, j);
      after += out(k, j);
    }
    RC_ASSERT(std::abs(after - before) <= 1e-13 * static_cast<double>(out.rows()));
  }
}

RC_GTEST_PROP(NetworkMean, CombineIsTheDenseProduct, ()) {
  const Case c = any_case();
  const Rows out = combined(c, test::serial(), 1);
  const test::Dense expected = test::product(test::dense(c.matrix), test::dense(c.models));
  for (Index k = 0; k < out.rows(); ++k) {
    for (Index j = 0; j < c.columns; ++j) {
      RC_ASSERT(std::abs(out(k, j) - expected[k][j]) <= 1e-14);
    }
  }
}

RC_GTEST_PROP(NetworkMean, CombineHasTheSameBitsOnEveryRuntime, ()) {
  const Case c = any_case();
  const Rows alone = combined(c, test::serial(), 3);
  const Index workers = *rc::gen::inRange<int>(2, 9);
  RC_ASSERT(test::same_bits(combined(c, test::threads(workers), 3), alone));
  RC_ASSERT(test::same_bits(combined(c, test::launch_isolated, 3), alone));
}

}  // namespace
}  // namespace polyhop::network_mean_test
