// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/solve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "polyhop/graph/topology.hpp"
#include "polyhop/network/runtime.hpp"
#include "support/bowls.hpp"
#include "support/trial.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::solve_test {
namespace {

CombinationMatrix ring(Index agents) {
  GraphOptions graph;
  graph.topology = Topology::ring;
  graph.agents = agents;
  return make_network(graph, 0).matrix;
}

std::unique_ptr<DataProblem> fitted(Index agents) {
  ProblemOptions options;
  options.dimension = 4;
  options.samples = 3;
  return make_problem(options, agents, 1);
}

bool same(const Rows& a, const Rows& b) {
  if (a.rows() != b.rows() || a.columns() != b.columns()) return false;
  for (Index k = 0; k < a.rows(); ++k) {
    if (!std::ranges::equal(a.row(k), b.row(k))) return false;
  }
  return true;
}

TEST(Solve, NeedsNothingButAProblemAndANetwork) {
  const auto problem = fitted(6);
  const Summary summary = solve(*problem, ring(6));
  EXPECT_EQ(summary.status, Status::target);
  EXPECT_LE(summary.curves.back().excess_risk, 1e-6);
  EXPECT_EQ(summary.models.rows(), 6);
  EXPECT_EQ(summary.averaged.rows(), 6);
  const Point& end = summary.curves.back();
  EXPECT_EQ(summary.vectors, end.vectors);
  EXPECT_EQ(summary.scalars, end.scalars);
  EXPECT_EQ(summary.values, end.values);
  EXPECT_EQ(summary.gradients, end.gradients);
  EXPECT_EQ(summary.seconds, end.seconds);
  for (const Index count : {end.vectors, end.scalars, end.values, end.gradients}) EXPECT_GT(count, 0);
  EXPECT_NE(summary.brief().find("auto reached its target after"), std::string::npos) << summary.brief();
  EXPECT_NE(summary.full().find("evaluations"), std::string::npos) << summary.full();
  Rows mean(1, 4);
  std::ranges::copy(summary.mean_model(), mean.row(0).begin());
  Rows costs(6, 1);
  problem->costs({0, 6}, mean, costs);
  double risk = 0;
  for (Index k = 0; k < 6; ++k) risk += costs(k, 0) / 6;
  EXPECT_NEAR(risk - summary.reference, summary.curves.back().excess_risk_mean_model, 1e-12);
}

TEST(Solve, ShowsARiskThatIsRoundingAsZero) {
  Summary summary = solve(*fitted(6), ring(6));
  summary.reference = 2;
  Point& end = summary.curves.back();
  end.excess_risk_worst = end.excess_risk_averaged = 1;
  for (const auto& [risk, shown] : {std::pair(1e-15, "0"), {-1e-14, "0"}, {1e-13, "1e-13"}, {-0.5, "-0.5"}}) {
    end.excess_risk = risk;
    EXPECT_EQ(summary.shown_risk(), shown);
    EXPECT_NE(summary.brief().find(std::string("excess risk ") + shown + ","), std::string::npos) << summary.brief();
    EXPECT_EQ(summary.full().find("\n  rounding              0 stands for less than ") != std::string::npos,
              shown == std::string("0"));
  }
  end.excess_risk = 1e-15;
  summary.reference_known = false;
  EXPECT_EQ(summary.shown_risk(), "1e-15");
}

TEST(Solve, ARunStepsToTheVerySameModels) {
  const auto problem = fitted(5);
  const CombinationMatrix network = ring(5);
  SolveOptions options;
  options.step = Value::Table{{"rule", "gap"}, {"bound", "tight"}, {"damping", "rows"}, {"project", true}};
  options.iterations = 37;
  options.stop_at_target = false;
  options.seed = 3;
  polyhop::Run run(*problem, network, options);
  for (Index i = 0; i < 37; ++i) {
    EXPECT_EQ(run.iteration(), i);
    run.step();
  }
  for (const Index threads : {1, 3}) {
    options.threads = threads;
    const Summary summary = solve(*problem, network, options);
    EXPECT_TRUE(same(summary.models, run.models()));
    EXPECT_TRUE(same(summary.averaged, run.averaged()));
    EXPECT_EQ(summary.vectors, run.network().algorithm_traffic().vectors + run.network().step_traffic().vectors);
    EXPECT_EQ(summary.gradients, run.oracle().evaluations().gradients);
  }
  EXPECT_EQ(run.steps().size(), 5U);
}

TEST(Solve, ARunGoesOnFromWhatWasSaved) {
  const auto problem = fitted(4);
  const CombinationMatrix network = ring(4);
  polyhop::Run whole(*problem, network);
  for (int i = 0; i < 20; ++i) whole.step();
  polyhop::Run begun(*problem, network);
  for (int i = 0; i < 8; ++i) begun.step();
  Snapshot snapshot = begun.state().shape(4);
  begun.state().save({0, 4}, snapshot);
  polyhop::Run resumed(*problem, network);
  resumed.state().restore({0, 4}, snapshot);
  resumed.resume(8);
  while (resumed.iteration() < 20) resumed.step();
  EXPECT_TRUE(same(resumed.models(), whole.models()));
}

TEST(Solve, ARunThatLosesMessagesGoesOnLosingTheSame) {
  const auto problem = fitted(4);
  const CombinationMatrix network = ring(4);
  SolveOptions options;
  options.step = "gap";
  options.faults.drop = 0.3;
  polyhop::Run whole(*problem, network, options);
  for (int i = 0; i < 20; ++i) whole.step();
  for (const Index first : {0, 1, 7}) {
    polyhop::Run begun(*problem, network, options);
    for (int i = 0; i < first; ++i) begun.step();
    Snapshot snapshot = begun.state().shape(4);
    begun.state().save({0, 4}, snapshot);
    polyhop::Run resumed(*problem, network, options);
    resumed.state().restore({0, 4}, snapshot);
    resumed.resume(first);
    while (resumed.iteration() < 20) resumed.step();
    EXPECT_TRUE(same(resumed.models(), whole.models())) << first;
  }
  polyhop::Run without(*problem, network, SolveOptions{.step = "gap"});
  for (int i = 0; i < 20; ++i) without.step();
  EXPECT_FALSE(same(without.models(), whole.models()));
  options.faults.drop = 1;
  const auto refusal = polyhop::refusal([&] { return solve(*problem, network, options); });
  EXPECT_STREQ(refusal.what(), "faults.drop: found 1.0, expected a number in [0, 1)");
}

TEST(Solve, ACallbackSeesEveryPointAndEndsTheRun) {
  const auto problem = fitted(4);
  SolveOptions options;
  options.step = Value::Table{{"rule", "constant"}, {"value", 1e-6}};
  options.record_every = 5;
  std::vector<Index> seen;
  options.callback = [&](const Point& point) {
    seen.push_back(point.iteration);
    return point.iteration == 15;
  };
  const Summary summary = solve(*problem, ring(4), options);
  EXPECT_EQ(seen, (std::vector<Index>{0, 5, 10, 15}));
  EXPECT_EQ(summary.status, Status::unfinished);
  EXPECT_EQ(summary.curves.back().iteration, 15);
  EXPECT_NE(summary.brief().find(" was stopped after 15 iterations: "), std::string::npos);
  // What it had by then is what a run of 15 iterations has.
  options.callback = {};
  options.iterations = 15;
  EXPECT_TRUE(same(solve(*problem, ring(4), options).models, summary.models));
  seen.clear();
  options.callback = [&](const Point& point) {
    seen.push_back(point.iteration);
    return false;
  };
  (void)solve(*problem, ring(4), options);
  EXPECT_EQ(seen, (std::vector<Index>{0, 5, 10, 15})) << "the last one is told of as well";
}

TEST(Solve, TellsOfRowsKeptOfEverySampleBeforeTheFirstPoint) {
  const ObjectiveProblem problem =
      test::bowls(std::vector(4, test::Bowl(std::vector<double>(20, 1.0), std::vector<double>(20, 2.0))));
  std::vector<double> told;
  SolveOptions options;
  options.iterations = 3;
  options.threads = 2;
  options.on_kept = [&](double bytes) { told.push_back(bytes); };
  options.callback = [&](const Point&) {
    told.push_back(0);
    return true;
  };
  const auto first_told = [&](const Value& step, GradientEstimate gradient) {
    told.clear();
    options.step = step;
    options.gradient = gradient;
    (void)solve(problem, ring(4), options);
    return told.front();
  };
  const Value constant = Value::Table{{"rule", Value("constant")}, {"value", Value(0.1)}};
  EXPECT_EQ(first_told(constant, GradientEstimate::plain), 0);
  EXPECT_EQ(first_told(constant, GradientEstimate::lsvrg), 0) << "two models, whatever the number of samples";
  EXPECT_EQ(first_told(constant, GradientEstimate::saga), 4 * 24 * 8) << "20 numbers, in whole lines";
  EXPECT_EQ(first_told("auto", GradientEstimate::plain), 4 * 48 * 8) << "a model, a gradient, and whether it is known";
}

TEST(Solve, StartsWhereItIsTold) {
  const auto problem = fitted(3);
  SolveOptions options;
  options.iterations = 0;
  options.start = Rows(1, 4, 2.5);
  EXPECT_EQ(solve(*problem, ring(3), options).models(2, 3), 2.5);
  options.start = Rows(3, 4);
  options.start(1, 0) = 7;
  EXPECT_EQ(solve(*problem, ring(3), options).models(1, 0), 7);
  EXPECT_EQ(solve(*problem, ring(3), options).models(0, 0), 0);
  options.start = Rows(2, 4);
  EXPECT_EQ(refusal([&] { return solve(*problem, ring(3), options); }).path(), "start");
}

TEST(Solve, TellsOfCostsWhoseMinimumNobodyKnows) {
  const auto problem = test::bowls({{{1}, {1}}, {{1}, {3}}, {{1}, {5}}});
  SolveOptions options;
  options.reference = {false, {}};
  const Summary summary = solve(problem, ring(3), options);
  EXPECT_FALSE(summary.reference_known);
  EXPECT_NE(summary.brief().find(": risk "), std::string::npos) << summary.brief();
}

TEST(Solve, RefusesWhatDoesNotFit) {
  const auto problem = fitted(4);
  EXPECT_EQ(refusal([&] { return solve(*problem, ring(5)); }).path(), "network");
  EXPECT_EQ(refusal([&] { return polyhop::Run(*problem, ring(5)).iteration(); }).path(), "network");
  SolveOptions options;
  options.step = "tuned";
  EXPECT_EQ(refusal([&] { return solve(*problem, ring(4), options); }).path(), "step");
  options.step = "gapp";
  EXPECT_NE(std::string(refusal([&] { return solve(*problem, ring(4), options); }).what()).find("did you mean 'gap'"),
            std::string::npos);
  options.step = "gap";
  options.record_every = 0;
  EXPECT_EQ(refusal([&] { return solve(*problem, ring(4), options); }).path(), "record_every");
}

TEST(Solve, RefusesEstimatesWhereRulesUseValues) {
  const auto problem = fitted(4);
  for (const GradientEstimate gradient : {GradientEstimate::saga, GradientEstimate::lsvrg}) {
    SolveOptions options;
    options.gradient = gradient;
    options.iterations = 3;
    for (const char* rule : {"gap", "polyak", "sps", "decsps", "backtracking"}) {
      options.step = rule;
      const InputError error = refusal([&] { return solve(*problem, ring(4), options); });
      EXPECT_NE(error.path().find("gradient"), std::string::npos) << rule << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find("is not the gradient of any value, and rule \"" + std::string(rule)),
                std::string::npos)
          << error.what();
    }
    options.step = Value::Table{{"rule", "constant"}, {"value", 0.1}};
    EXPECT_EQ(solve(*problem, ring(4), options).curves.back().iteration, 3) << name_of(gradient);
  }
}

TEST(Solve, SaysWhatToDoAboutARunThatDiverged) {
  const auto problem = fitted(4);
  SolveOptions options;
  options.step = Value::Table{{"rule", "constant"}, {"value", 1e6}};
  const Summary summary = solve(*problem, ring(4), options);
  EXPECT_EQ(summary.status, Status::diverged);
  EXPECT_FALSE(summary.message.empty());
  EXPECT_NE(summary.full().find(summary.message), std::string::npos);
}

}  // namespace
}  // namespace polyhop::solve_test
