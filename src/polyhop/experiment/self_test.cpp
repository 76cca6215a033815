// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/self_test.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <utility>

#include "polyhop/core/block.hpp"
#include "polyhop/core/elementary.hpp"
#include "polyhop/core/fingerprint.hpp"
#include "polyhop/core/machine.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/experiment/run.hpp"

namespace polyhop {
namespace {

SelfTest compared(std::string promise, std::uint64_t wanted, const std::function<std::uint64_t()>& compute) {
  SelfTest test{std::move(promise), false, ""};
  try {
    const std::uint64_t found = compute();
    test.kept = found == wanted;
    if (!test.kept) test.found = "bits " + hexadecimal(found) + " instead of " + hexadecimal(wanted);
  } catch (const std::exception& e) {
    test.found = e.what();
  }
  return test;
}

std::uint64_t elementary_bits() {
  Fingerprint digest;
  for (int n = -40; n <= 40; ++n) {
    digest.add(elementary::exp(n * 0.7));
    digest.add(elementary::log(1.0 + (n + 40) * 1.3));
    digest.add(elementary::log1p((n + 40) * 1e-3));
  }
  return digest.value();
}

Rows normals(Index rows, Index columns) {
  Rows out(rows, columns);
  for (Index r = 0; r < rows; ++r) Stream(0, Purpose::noise, r).normals(out.row(r));
  return out;
}

std::uint64_t random_bits() {
  const Rows x = normals(4, 257);
  Fingerprint digest;
  for (Index r = 0; r < x.rows(); ++r) digest.add(x.row(r));
  return digest.value();
}

std::uint64_t kernel_bits() {
  constexpr Index columns = 103;
  const Rows x = normals(5, columns);
  Rows out(2, columns);
  Fingerprint digest;
  for (Index r = 0; r + 1 < x.rows(); ++r) {
    digest.add(dot(x, r, x, r + 1));
    digest.add(squared_distance(x, r, x, r + 1));
  }
  const std::array<Index, 3> offset = {0, 3, 5};
  const std::array<std::int32_t, 5> slot = {0, 2, 4, 1, 3};
  const std::array<double, 5> weight = {0.3, 0.3, 0.4, 0.7, 0.3};
  const std::array<std::int32_t, 2> both = {0, 1};
  combine({offset.data(), slot.data(), weight.data()}, both, x, out);
  add_row(0.1, x, 0, out, 0);
  digest.add(out.row(0));
  digest.add(out.row(1));
  return digest.value();
}

// A small experiment that sends everything that can be sent: two-hop lists, scalars, models.
std::uint64_t run_bits(Index workers) {
  Config config = read_config(Value::Table{
      {"iterations", 30},
      {"graph", Value::Table{{"topology", "torus"}, {"rows", 3}, {"columns", 4}}},
      {"problem", Value::Table{{"loss", "logistic"}, {"dimension", 11}, {"samples", 3}, {"l2", 0.1}}},
      {"method", Value::Array{Value::Table{{"step", Value::Table{{"rule", "gap"}, {"damping", "rows"}}}}}}});
  const Instance instance = make_instance(config.options, 0);
  const Cell cell = run_cell(config.options, config.methods.front(), instance, 0, workers);
  Fingerprint digest;
  for (const Point& point : cell.points) digest.add(point.excess_risk);
  for (Index k = 0; k < cell.models.rows(); ++k) digest.add(cell.models.row(k));
  return digest.value();
}

SelfTest threads_agree() {
  const std::string promise = "one and two threads give the same bits";
  try {
    return compared(promise, run_bits(1), [] { return run_bits(2); });
  } catch (const std::exception& e) {
    return {promise, false, e.what()};
  }
}

}  // namespace

std::vector<SelfTest> self_test() {
  // Recorded where this file was written; they must be the same everywhere, or results would differ.
  constexpr std::uint64_t elementary = 0xf96c04bbb06906c0U;
  constexpr std::uint64_t random = 0xd134ccb1b5449fbbU;
  constexpr std::uint64_t kernel = 0xa2ecb02a539f8858U;
  return {compared("exp and log give the expected bits", elementary, elementary_bits),
          compared("random numbers give the expected bits", random, random_bits),
          compared("kernels (" + this_machine().instruction_set + ") give the expected bits", kernel, kernel_bits),
          threads_agree()};
}

}  // namespace polyhop
