// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/optimum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "polyhop/network/runtime.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/rule_run.hpp"
#include "support/thread_team.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::optimum_test {
namespace {

using test::network_of;
using test::problem_of;
using test::step_of;

// Knows how long an epoch is, and nothing else.
class Clock final : public Oracle {
 public:
  explicit Clock(Index epoch) : epoch_(epoch) {}
  void draw(Index) override {}
  void values_at_point(const Rows&, std::span<double>) override {}
  [[nodiscard]] Index epoch() const override { return epoch_; }

 private:
  void do_evaluate(const Rows&, bool, Evaluation&) override {}
  void do_values_at(const Reach&, std::span<double>) override {}
  void do_values_along(const Rows&, const Gradients&, std::span<const Index>, std::span<const double>,
                       std::span<double>) override {}
  Index epoch_;
};

Optimum estimate() {
  Optimum optimum;
  optimum.kind = Optimum::Kind::estimate;
  return optimum;
}

// One worker's view of an estimate.
struct Estimate {
  Estimate(Network& a_network, Index epoch)
      : network(a_network),
        oracle(epoch),
        optimal(estimate(), {a_network}),
        w(a_network.block().size(), 1),
        average(a_network.block().size()) {}

  std::vector<double> observe(const std::vector<double>& values) {
    const auto used = optimal.on_sample(Iterate(i++, w, at_w, oracle).with_values(values), network);
    return {used.begin(), used.end()};
  }
  // A whole epoch at whose end the agents' averages are these: values that keep them, and one that moves them.
  void epoch(const std::vector<double>& averages, Index length = 50) {
    if (i == 0) average = averages;
    for (Index n = 1; n < length; ++n) observe(average);
    std::vector<double> last(average.size());
    for (std::size_t k = 0; k < last.size(); ++k) {
      last[k] = average[k] + static_cast<double>(length) * (averages[k] - average[k]);
    }
    observe(last);
    average = averages;
  }
  [[nodiscard]] std::vector<double> levels() const { return {optimal.levels().begin(), optimal.levels().end()}; }

  Network& network;
  Clock oracle;
  OptimalValues optimal;
  Index i = 0;
  Rows w;
  Evaluation at_w;
  std::vector<double> average;
};

// The level of one agent after epochs that end with these averages.
double level_after(const std::vector<double>& averages) {
  double level = -1;
  launch_serial(network_of(Topology::path, 1), 1, [&](Worker& worker) {
    Estimate estimate(worker.network, 1);
    for (const double average : averages) estimate.epoch({average});
    level = estimate.levels()[0];
  });
  return level;
}

TEST(LevelEstimate, RisesHalfwayToTheAverageAfterAnEpochWithoutProgress) {
  EXPECT_EQ(level_after({1}), 0);  // nothing to compare with yet
  EXPECT_EQ(level_after({1, 0.98}), 0);
  EXPECT_NEAR(level_after({1, 0.995}), 0.4975, 1e-12);
  EXPECT_NEAR(level_after({1, 1}), 0.5, 1e-12);
  EXPECT_NEAR(level_after({1, 1, 1}), 0.75, 1e-12);
  EXPECT_NEAR(level_after({1, 1, 0.98, 0.98}), 0.5 + 0.5 * 0.48, 1e-12);
}

TEST(LevelEstimate, TakesBackARaiseThatDidHarmAndHalvesTheNext) {
  EXPECT_NEAR(level_after({1, 1, 1.04}), 0.5 + 0.5 * 0.54, 1e-12);
  EXPECT_EQ(level_after({1, 1, 1.06}), 0);
  EXPECT_NEAR(level_after({1, 1, 1.06, 1.06}), 0.25 * 1.06, 1e-12);
  // The second raise alone is taken back.
  EXPECT_NEAR(level_after({1, 1, 1, 1.06}), 0.5, 1e-12);
  // A raise is taken back once: the next epoch raises again, by a quarter.
  EXPECT_NEAR(level_after({1, 1, 1, 1.06, 1.2}), 0.5 + 0.25 * 0.7, 1e-12);
}

TEST(LevelEstimate, IsNeverAboveTheAverage) {
  EXPECT_NEAR(level_after({1, 1, 1, 0.2}), 0.2, 1e-12);
  EXPECT_NEAR(level_after({-1}), -1, 1e-12);
  EXPECT_EQ(level_after({0, 0, 0}), 0);
}

TEST(LevelEstimate, ListensToTheNeighbourhood) {
  // The path 0 - 1 - 2 with Metropolis weights 1/3 along links, 2/3 at the ends. Agent 0 alone makes progress, so its
  // neighbour waits with it, and agent 2 rises to the half of (2 * 6 + 3) / 3.
  launch_serial(network_of(Topology::path, 3), 1, [](Worker& worker) {
    Estimate estimate(worker.network, 1);
    estimate.epoch({3, 3, 6});
    estimate.epoch({1, 3, 6});
    EXPECT_EQ(estimate.levels()[0], 0);
    EXPECT_EQ(estimate.levels()[1], 0);
    EXPECT_NEAR(estimate.levels()[2], 2.5, 1e-12);
    // The agents' diameter once, to agree on the epoch, then 2 numbers per epoch over 4 directed edges.
    EXPECT_EQ(worker.network.algorithm_traffic().scalars, 2 * 4 + 2 * 2 * 4);
  });
}

TEST(LevelEstimate, IsUsedFromTheNextIterationOn) {
  launch_serial(network_of(Topology::path, 1), 1, [](Worker& worker) {
    Estimate estimate(worker.network, 1);
    for (Index i = 0; i < 100; ++i) EXPECT_EQ(estimate.observe({1})[0], 0) << i;
    EXPECT_EQ(estimate.levels()[0], 0.5);
    EXPECT_EQ(estimate.observe({1})[0], 0.5);
  });
}

TEST(LevelEstimate, HasAnEpochOfTheSlowestAgentAndAtLeastFifty) {
  for (const Index slow : {7, 60}) {
    const Index epoch = std::max<Index>(slow, 50);
    launch_threads(network_of(Topology::ring, 5), 1, 5, [&](Worker& worker) {
      Estimate estimate(worker.network, worker.number == 3 ? slow : 2);
      for (Index i = 0; i < 2 * epoch - 1; ++i) estimate.observe({1});
      EXPECT_EQ(estimate.levels()[0], 0);
      estimate.observe({1});
      EXPECT_NEAR(estimate.levels()[0], 0.5, 1e-12);
    });
  }
}

TEST(LevelEstimate, OfARuleComesToACostThatDoesNotVanish) {
  // One agent whose two samples contradict each other: J = 1/2 at best.
  const auto problem = problem_of({{{1, 1}, {1, -1}}}, "least-squares", 0, {0, true});
  const CombinationMatrix alone = network_of(Topology::path, 1);
  const auto run = test::run_rule(alone, *problem, step_of("decsps", {{"optimum", "estimate"}}), Rows(1, 1, 2.0), 600);
  EXPECT_NEAR(run.levels.back()[0], 0.5, 0.02);
  EXPECT_NEAR(run.w(0, 0), 0, 1e-6);
  for (const char* rule : {"polyak", "sps", "decsps"}) {
    const auto levels = [&](const Value& optimum) {
      return test::run_rule(alone, *problem, step_of(rule, {{"optimum", optimum}}), Rows(1, 1, 2.0), 1).levels[0];
    };
    EXPECT_EQ(levels("estimate"), (std::vector<double>{0})) << rule;
    EXPECT_TRUE(levels("zero").empty()) << rule;
  }
}

// Two agents at w = 0 with values 12.5 and 2, squared gradients 625 and 4.
std::vector<double> first_steps(const Value& optimum, const Value& recursion, const Reference* reference = nullptr) {
  const auto problem = problem_of({{{3, 4, 5}}, {{1, 0, -2}}});
  const Value step = step_of("polyak", {{"optimum", optimum}});
  return test::run_rule(network_of(Topology::path, 2), *problem, step, Rows(2, 2), 1, recursion, reference).mu[0];
}

TEST(OptimalValues, AreOneNumberWhereTheNetworksAverageIsTracked) {
  EXPECT_EQ(first_steps(1.0, "gradient-tracking"), (std::vector<double>{11.5 / 625, 1.0 / 4}));
  EXPECT_EQ(first_steps("estimate", "diging"), (std::vector<double>{12.5 / 625, 2.0 / 4}));
  Reference reference;
  reference.value = 1.5;
  EXPECT_EQ(first_steps("per-sample", "gradient-tracking", &reference), (std::vector<double>{11.0 / 625, 0.5 / 4}));
}

TEST(OptimalValues, AreRefusedOneByOneWhereTheNetworksAverageIsTracked) {
  const Value list = Value(Value::Array{Value(1.0), Value(2.0)});
  Value file;
  file["file"] = Value("levels.txt");
  for (const Value& optimum : {list, file}) {
    EXPECT_EQ(std::string(refusal([&] { return first_steps(optimum, "gradient-tracking"); }).what()),
              "optimum: algorithm \"gradient-tracking\" tracks the network's average cost, so one number, J(w^o), is "
              "needed, not one for each agent");
  }
  Reference nobody;
  nobody.known = false;
  for (const Reference* reference : {static_cast<const Reference*>(nullptr), static_cast<const Reference*>(&nobody)}) {
    EXPECT_EQ(std::string(refusal([&] { return first_steps("per-sample", "diging", reference); }).what()),
              "optimum = \"per-sample\": is J(w^o) with algorithm \"diging\", which is not known here "
              "(problem.reference = \"solve\" finds it)");
  }
}

TEST(OptimalValues, WantOneNumberAnAgent) {
  const Value three = Value(Value::Array{Value(1.0), Value(2.0), Value(3.0)});
  EXPECT_EQ(std::string(refusal([&] { return first_steps(three, "atc"); }).what()),
            "optimum: found 3 values, expected one for each of the 2 agents");
  const Value none = Value(Value::Array{Value(1.0), Value(std::nan(""))});
  EXPECT_EQ(std::string(refusal([&] { return first_steps(none, "atc"); }).what()),
            "optimum: the value of agent 1 is not finite");
}

TEST(OptimalValues, BelongToTheirAgentsWhereverThoseStand) {
  const auto numbering = std::make_shared<Numbering>();
  numbering->agent = {2, 0, 1};
  numbering->place = {1, 2, 0};
  const Ownership ownership{{0, 1, 3}, numbering};
  Optimum optimum;
  optimum.kind = Optimum::Kind::list;
  optimum.list = {10, 11, 12};
  test::ThreadTeam::run(2, [&](Team& team) {
    team.launch(network_of(Topology::path, 3), ownership, 1, 1, [&](Worker& worker) {
      const Block block = worker.network.block();
      OptimalValues optimal(optimum, {worker.network});
      const Rows w(block.size(), 1);
      const Evaluation at_w;
      Clock oracle(1);
      const auto used = optimal.on_sample(Iterate(0, w, at_w, oracle), worker.network);
      for (Index k = 0; k < block.size(); ++k) {
        EXPECT_EQ(used[k], 10 + static_cast<double>(block.agent(k)));
      }
    });
  });
}

TEST(Optimum, IsAFiniteNumberIfItIsOne) {
  EXPECT_EQ(Codec<Optimum>::read(-1.5).number, -1.5);
  for (const double x : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    EXPECT_NE(refusal([&] { return Codec<Optimum>::read(x); }).message().find("expected"), std::string::npos) << x;
  }
}

}  // namespace
}  // namespace polyhop::optimum_test
