// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// References that several processes solve for together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/random.hpp"
#include "polyhop/core/serial_collective.hpp"
#include "polyhop/experiment/team_data.hpp"
#include "polyhop/problem/problem_options.hpp"
#include "polyhop/problem/reference_optimum.hpp"
#include "support/bowls.hpp"
#include "support/networks.hpp"
#include "support/thread_team.hpp"

namespace polyhop::reference_team_test {
namespace {

using test::ThreadTeam;

constexpr Index agents = 9;
constexpr Index features = 4;
constexpr double spread = 0;  // no data are pooled

// One problem by any block of its agents. Agent k has 2 + k samples.
struct Given {
  std::string loss = "least-squares";
  double l2 = 0.1;
  bool sparse = false;
  bool intercept = false;
  bool separable = false;
  bool is_private = false;
  double orders = 0;        // of magnitude between one column and the next
  bool lacks_rank = false;  // a column is the sum of two others

  [[nodiscard]] std::unique_ptr<DataProblem> problem(const Block& block) const {
    Dataset data;
    data.offset = {0};
    std::vector<double> weights;
    std::vector<double> values;
    for (Index k = 0; k < block.size(); ++k) {
      const Index agent = block.agent(k);
      Stream random(7, Purpose::features, agent);
      for (Index n = 0; n < 2 + agent; ++n) add_sample(random, values, data.targets);
      data.offset.push_back(data.offset.back() + 2 + agent);
      weights.push_back(1 + 0.1 * static_cast<double>(agent));
    }
    data.features = as_features(values);
    LinearOptions options{.l2 = l2, .intercept = intercept, .weights = weights};
    options.share = {block.first, agents, 2 * agents + agents * (agents - 1) / 2, is_private};
    return builtin_loss(loss).build(std::move(data), 3, std::move(options));
  }

 private:
  void add_sample(Stream& random, std::vector<double>& values, std::vector<double>& targets) const {
    std::vector<double> h(features);
    random.normals(h);
    if (intercept) h.back() = 1;
    double y = h[0] - 2 * h[1] + (separable ? 0 : random.normal());
    if (sparse) h[2] = 0;
    if (lacks_rank) h[2] = h[0] + h[1];
    for (std::size_t j = 0; j < h.size(); ++j) h[j] *= std::pow(10, orders * (static_cast<double>(j) - 1));
    if (loss == "logistic" || loss == "smoothed-hinge") y = y < 0 ? -1 : 1;
    if (loss == "softmax") y = y < -1 ? 0 : y < 1 ? 1 : 2;
    if (loss == "poisson") y = std::floor(std::abs(y));
    values.insert(values.end(), h.begin(), h.end());
    targets.push_back(y);
  }
  [[nodiscard]] Features as_features(const std::vector<double>& values) const {
    const auto count = static_cast<Index>(values.size()) / features;
    Rows rows(count, features);
    MeteredVector<Index> offset = {0};
    MeteredVector<std::int32_t> column;
    MeteredVector<double> value;
    for (Index n = 0; n < count; ++n) {
      for (Index j = 0; j < features; ++j) {
        const double x = values[n * features + j];
        rows(n, j) = x;
        if (x == 0) continue;
        column.push_back(static_cast<std::int32_t>(j));
        value.push_back(x);
      }
      offset.push_back(static_cast<Index>(column.size()));
    }
    if (!sparse) return rows;
    return Features::sparse(features, std::move(offset), std::move(column), std::move(value));
  }
};

std::vector<Given> all_given() {
  std::vector<Given> out;
  for (const bool sparse : {false, true}) {
    for (const std::string loss : {"least-squares", "logistic", "softmax", "huber", "smoothed-hinge", "poisson"}) {
      for (const bool intercept : {false, true}) out.push_back({loss, 0.1, sparse, intercept});
    }
    out.push_back({"least-squares", 0, sparse});
    out.push_back({"logistic", 0, sparse, false, true});
  }
  return out;
}

std::string text(const Given& given) {
  return std::string(given.loss) + (given.sparse ? ", sparse" : "") + (given.intercept ? ", intercept" : "") +
         (given.l2 == 0 ? ", no penalty" : "");
}

Reference solved(const Given& given, double max_pooled, Team& team, Placement placement) {
  const CombinationMatrix matrix = test::network_of(Topology::ring, agents);
  const Ownership ownership = choose_ownership(matrix, std::vector<double>(agents, 1.0), team.size(), placement);
  const auto problem = given.problem(ownership.block(team.rank()));
  Reference out;
  team.launch(matrix, ownership, 1, 1, [&](Worker& worker) {
    out = solve_reference(*problem, worker.collective, worker.network.block(), max_pooled);
  });
  return out;
}

void expect_same(const Reference& a, const Reference& b) {
  EXPECT_EQ(a.minimiser, b.minimiser);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.accuracy, b.accuracy);
  EXPECT_EQ(a.how, b.how);
  EXPECT_EQ(a.known, b.known);
}

TEST(ReferenceTeam, HasTheSameBitsForAnyTeam) {
  for (const Given& given : all_given()) {
    for (const double max_pooled : {pooled_features, spread}) {
      SCOPED_TRACE(text(given) + (max_pooled == spread ? ", spread" : ", pooled"));
      const Reference whole = solved(given, max_pooled, alone(), Placement::contiguous);
      if (max_pooled != spread) expect_same(solve_reference(*given.problem({0, agents})), whole);
      for (const Placement placement : {Placement::contiguous, Placement::metis}) {
        if (placement == Placement::metis && !has_metis()) continue;
        for (const Index processes : {2, 3, 7}) {
          ThreadTeam::run(processes,
                          [&](Team& team) { expect_same(solved(given, max_pooled, team, placement), whole); });
        }
      }
    }
  }
}

TEST(ReferenceTeam, WhatIsSpreadIsSolvedAsWellAsWhatIsPooled) {
  for (const Given& given : all_given()) {
    SCOPED_TRACE(text(given));
    const Reference pooled = solved(given, pooled_features, alone(), Placement::contiguous);
    const Reference found = solved(given, spread, alone(), Placement::contiguous);
    EXPECT_NEAR(found.value, pooled.value, 1e-13 * std::max(1.0, std::abs(pooled.value)));
    EXPECT_LE(found.accuracy, std::max(1e-12, 1.01 * pooled.accuracy));
    ASSERT_EQ(found.minimiser.has_value(), pooled.minimiser.has_value());
    // A number added to the intercepts of all classes changes nothing.
    if (!found.minimiser || (given.loss == "softmax" && given.intercept)) continue;
    for (std::size_t j = 0; j < found.minimiser->size(); ++j) {
      EXPECT_NEAR((*found.minimiser)[j], (*pooled.minimiser)[j], 1e-6);
    }
  }
}

// No penalty makes a difference between them: the minimum does not depend on the units of the columns.
TEST(ReferenceTeam, UnitsOfTheDataDoNotMatter) {
  for (const std::string loss : {"least-squares", "logistic", "softmax", "huber", "poisson"}) {
    SCOPED_TRACE(loss);
    Given given{loss, 0};
    const double even = solved(given, pooled_features, alone(), Placement::contiguous).value;
    given.orders = 4;
    const double found = solved(given, spread, alone(), Placement::contiguous).value;
    EXPECT_NEAR(found, even, 1e-10 * std::abs(even));
    // The bad news for a penalty is that it does: then both ways agree.
    given.l2 = 1e-3;
    const double pooled = solved(given, pooled_features, alone(), Placement::contiguous).value;
    EXPECT_NEAR(solved(given, spread, alone(), Placement::contiguous).value, pooled, 1e-10 * std::abs(pooled));
  }
}

TEST(ReferenceTeam, WithoutFullRankWhatIsSpreadHasTheLeastNorm) {
  for (const bool sparse : {false, true}) {
    for (const double orders : {0, 2}) {
      const Given given{.l2 = 0, .sparse = sparse, .orders = orders, .lacks_rank = true};
      const Reference pooled = solved(given, pooled_features, alone(), Placement::contiguous);
      const Reference found = solved(given, spread, alone(), Placement::contiguous);
      EXPECT_NEAR(found.value, pooled.value, 1e-12 * pooled.value);
      for (std::size_t j = 0; j < found.minimiser->size(); ++j) {
        EXPECT_NEAR((*found.minimiser)[j], (*pooled.minimiser)[j], 1e-8 * (1 + std::abs((*pooled.minimiser)[j])));
      }
    }
  }
}

// Writes down whatever a process passes on.
class WatchedCollective final : public Collective {
 public:
  explicit WatchedCollective(Collective& watched) : watched_(watched) {}
  void in_order(std::span<double> numbers, const std::function<void(std::span<double>)>& turn) override {
    watched_.in_order(numbers, [&](std::span<double> shared) {
      turn(shared);
      see(shared);
    });
  }
  void by_agent(std::span<double> numbers, Index count,
                const std::function<void(std::span<double>, Index k)>& turn) override {
    watched_.by_agent(numbers, count, [&](std::span<double> shared, Index k) {
      turn(shared, k);
      see(shared);
    });
  }
  void gather(std::span<const Index>, std::span<const double>, std::span<double>) override { throw Error("no rows"); }
  void scatter(std::span<const Index>, std::span<double>, std::span<const double>) override { throw Error("no rows"); }
  std::string from_first(const std::string& bytes) override {
    passed_ += bytes;
    return watched_.from_first(bytes);
  }
  std::vector<std::string> to_first(const std::string& bytes) override {
    passed_ += bytes;
    return watched_.to_first(bytes);
  }

  // With either sign, wherever it stands among the bytes.
  [[nodiscard]] bool has_passed(double x) const {
    const auto bytes_of = [](double y) { return std::string(reinterpret_cast<const char*>(&y), sizeof y); };
    return passed_.find(bytes_of(x)) != std::string::npos || passed_.find(bytes_of(-x)) != std::string::npos;
  }

 private:
  void see(std::span<const double> numbers) {
    passed_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  }
  Collective& watched_;
  std::string passed_;
};

// The features of some agents, all of them different, and not the ones of an intercept or the targets that are classes.
std::vector<double> secrets(const Given& given, const Block& block) {
  const auto problem = given.problem(block);
  std::vector<double> out;
  for (Index n = 0; n < problem->data().features.rows(); ++n) {
    const auto row = problem->data().features.dense().row(n);
    out.insert(out.end(), row.begin(), row.end() - (given.intercept ? 1 : 0));
  }
  return out;
}

// How many of the features of all agents, and of those here, the process passes on when it solves.
struct PassedOn {
  std::ptrdiff_t of_all = 0;
  std::ptrdiff_t own = 0;
  std::ptrdiff_t own_secrets = 0;
};

PassedOn passed_on(const Given& given, Team& team) {
  const CombinationMatrix matrix = test::network_of(Topology::ring, agents);
  const Ownership ownership =
      choose_ownership(matrix, std::vector<double>(agents, 1.0), team.size(), Placement::contiguous);
  const Block here = ownership.block(team.rank());
  const auto problem = given.problem(here);
  PassedOn out;
  team.launch(matrix, ownership, 1, 1, [&](Worker& worker) {
    WatchedCollective watched(worker.collective);
    (void)solve_reference(*problem, watched, here);
    const auto seen = [&](double x) { return watched.has_passed(x); };
    const std::vector<double> own = secrets(given, here);
    out = {std::ranges::count_if(secrets(given, {0, agents}), seen), std::ranges::count_if(own, seen), std::ssize(own)};
  });
  return out;
}

TEST(ReferenceTeam, NoSampleOfPrivateDataIsPassedOn) {
  for (Given given : all_given()) {
    if (given.sparse) continue;  // what few samples have in a column adds up to what one of them has
    SCOPED_TRACE(text(given));
    for (const Index processes : {2, 9}) {
      given.is_private = true;
      ThreadTeam::run(processes, [&](Team& team) { EXPECT_EQ(passed_on(given, team).of_all, 0); });
      given.is_private = false;  // what is not private is gathered, and that this test would see
      ThreadTeam::run(processes, [&](Team& team) {
        const PassedOn passed = passed_on(given, team);
        EXPECT_GT(passed.own_secrets, 0);
        EXPECT_EQ(passed.own, passed.own_secrets);
      });
    }
  }
}

TEST(ReferenceTeam, PrivateDataAreSolvedForAlikeByOneProcessAndByMany) {
  for (Given given : all_given()) {
    SCOPED_TRACE(text(given));
    const Reference spread_out = solved(given, spread, alone(), Placement::contiguous);
    given.is_private = true;
    expect_same(solved(given, pooled_features, alone(), Placement::contiguous), spread_out);
    ThreadTeam::run(
        3, [&](Team& team) { expect_same(solved(given, pooled_features, team, Placement::contiguous), spread_out); });
  }
}

// Agent k's bowl has its own shape and place, and every process holds those of its own agents alone.
ObjectiveProblem bowls_of(const Block& block) {
  std::vector<std::shared_ptr<const Objective>> objectives(agents);
  for (Index k = 0; k < block.size(); ++k) {
    const auto x = static_cast<double>(block.agent(k));
    objectives[block.agent(k)] =
        std::make_shared<test::Bowl>(std::vector<double>{0.1 + x, 3.7}, std::vector<double>{1 / (1 + x), 0.3 * x}, x);
  }
  return ObjectiveProblem(std::move(objectives));
}

TEST(ReferenceTeam, CostsOfTheUserHaveTheSameMinimumForAnyTeam) {
  const CombinationMatrix matrix = test::network_of(Topology::ring, agents);
  SerialCollective serial;
  const Reference whole = bowls_of({0, agents}).minimise(serial, {0, agents});
  ASSERT_TRUE(whole.known) << whole.how;
  // sum_k 3.7 (w - 0.3 k) = 0 at 0.3 times the mean of 0 .. 8.
  EXPECT_NEAR((*whole.minimiser)[1], 1.2, 1e-9);
  for (const Placement placement : {Placement::contiguous, Placement::metis}) {
    if (placement == Placement::metis && !has_metis()) continue;
    for (const Index processes : {2, 3, 7}) {
      ThreadTeam::run(processes, [&](Team& team) {
        const Ownership ownership = choose_ownership(matrix, std::vector<double>(agents, 1.0), team.size(), placement);
        const ObjectiveProblem problem = bowls_of(ownership.block(team.rank()));
        Reference found;
        team.launch(matrix, ownership, 1, 1,
                    [&](Worker& worker) { found = problem.minimise(worker.collective, worker.network.block()); });
        expect_same(found, whole);
      });
    }
  }
}

TEST(ReferenceTeam, AFailureOfTheFirstIsThrownInAll) {
  const CombinationMatrix matrix = test::network_of(Topology::ring, 4);
  const Ownership ownership = balanced_ownership(std::vector<double>(4, 1.0), 2);
  ThreadTeam::run(2, [&](Team& team) {
    EXPECT_THROW(team.launch(matrix, ownership, 1, 1,
                             [&](Worker& worker) {
                               if (worker.number == 0) throw Error("no minimum");
                               std::vector<double> numbers(1);
                               worker.collective.in_order(numbers, [](std::span<double>) {});
                             }),
                 Error);
  });
}

}  // namespace
}  // namespace polyhop::reference_team_test
