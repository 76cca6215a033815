// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/recorder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "polyhop/core/serial_collective.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/problem/linear_problem.hpp"
#include "support/losses.hpp"
#include "support/point_bits.hpp"

namespace polyhop::recorder_test {
namespace {

using Numbers = std::vector<double>;

Rows rows(std::initializer_list<std::initializer_list<double>> values) {
  Rows out(static_cast<Index>(values.size()), static_cast<Index>(values.begin()->size()));
  Index k = 0;
  for (const auto& row : values) std::ranges::copy(row, out.row(k++).begin());
  return out;
}

// Agent k holds the two samples (h, y) = ((1, 0), k) and ((0, 1), 2k): J_k(w) = ((w_0 - k)^2 + (w_1 - 2k)^2) / 4.
LinearProblem problem_of(Index agents) {
  Dataset data;
  data.features = Rows(2 * agents, 2);
  data.offset = {0};
  for (Index k = 0; k < agents; ++k) {
    data.features.dense()(2 * k, 0) = 1;
    data.features.dense()(2 * k + 1, 1) = 1;
    data.targets.push_back(static_cast<double>(k));
    data.targets.push_back(2 * static_cast<double>(k));
    data.offset.push_back(2 * k + 2);
  }
  return {std::move(data), make_loss("least-squares"), 0, {1, true}};
}

// J(w) of `problem_of`, term by term.
double risk(std::span<const double> w, Index agents) {
  double sum = 0;
  for (Index k = 0; k < agents; ++k) {
    const auto x = static_cast<double>(k);
    sum += ((w[0] - x) * (w[0] - x) + (w[1] - 2 * x) * (w[1] - 2 * x)) / 4;
  }
  return sum / static_cast<double>(agents);
}

// Models and steps that stand still, so that a test can say what they are.
class Still final : public Algorithm {
 public:
  Still(Rows w, Numbers mu) : Algorithm(std::move(w)) { mu_ = std::move(mu); }
  void step(Index, Oracle&, StepSize&, Network&) override {}
};

struct Observed {
  Cell cell;
  std::optional<Status> end;
  [[nodiscard]] const Point& point() const { return cell.points.at(0); }
};

struct Observation {
  ExperimentOptions options;
  Reference reference;
  Rows models;
  Numbers steps;
  std::optional<Rows> averaged;
  std::optional<Rows> first_models;  // seen at iteration 0, before
  std::optional<Checkpoint> resumed;
  Traffic charged = {};
  Index iteration = 10;
  Index workers = 1;
  Index samples = 0;  // an agent's, as the problem says; 0: the truth
};

// A problem that says to have other numbers of samples than it has.
class Pretending final : public Problem {
 public:
  Pretending(LinearProblem problem, Index samples) : problem_(std::move(problem)), samples_(samples) {}
  [[nodiscard]] Index agents() const override { return problem_.agents(); }
  [[nodiscard]] Index dimension() const override { return problem_.dimension(); }
  [[nodiscard]] Index samples() const override { return samples_ > 0 ? samples_ * agents() : problem_.samples(); }
  [[nodiscard]] std::unique_ptr<Oracle> oracle(Block block, std::uint64_t seed) const override {
    return problem_.oracle(block, seed);
  }
  void costs(Block block, const Rows& points, Rows& out) const override { problem_.costs(block, points, out); }

 private:
  LinearProblem problem_;
  Index samples_;
};

// Records one point on a path of agents, or two where there are first models.
Observed observe(const Observation& what) {
  const Index agents = what.models.rows();
  const Pretending problem(problem_of(agents), what.samples);
  GraphOptions graph;
  graph.topology = Topology::path;
  graph.agents = agents;
  const NetworkGraph network = make_network(graph, 0);
  Observed out;
  launch(network.matrix, 2, what.workers, [&](Worker& worker) {
    const Block block = worker.network.block();
    const auto part = [&](const Rows& all) {
      Rows own(block.size(), all.columns());
      for (Index k = 0; k < block.size(); ++k) std::ranges::copy(all.row(block.first + k), own.row(k).begin());
      return own;
    };
    const Still algorithm(part(what.models), {what.steps.begin() + block.first, what.steps.begin() + block.last});
    std::optional<Rows> averaged;
    if (what.averaged) averaged.emplace(part(*what.averaged));
    const auto oracle = problem.oracle(block, 0);
    Recorder recorder(what.options, problem, what.reference, worker, out.cell);
    recorder.charge(what.charged);
    if (what.resumed) recorder.resume(*what.resumed);
    if (what.first_models) {
      const Still first(part(*what.first_models), {what.steps.begin() + block.first, what.steps.begin() + block.last});
      EXPECT_EQ(recorder.observe(0, 0, first, nullptr, *oracle), std::nullopt);
    }
    const auto end = recorder.observe(what.iteration, 1.5, algorithm, averaged ? &*averaged : nullptr, *oracle);
    recorder.finish(algorithm, averaged ? &*averaged : nullptr);
    if (worker.number == 0) out.end = end;
  });
  return out;
}

// Three agents; J(w) = ((w_0 - 1)^2 + (w_1 - 2)^2) / 4 + 5/6, so w^o = (1, 2) and J(w^o) = 5/6.
Observation three_agents() {
  Observation what;
  what.models = rows({{1, 2}, {4, 2}, {1, -2}});
  what.steps = {0.5, 0.25, 2};
  what.reference.minimiser = Numbers{1, 2};
  what.reference.value = 5.0 / 6;
  return what;
}

TEST(Recorder, ExcessRiskIsTheMeanOverAgentsOfTheGlobalRisk) {
  // J at the models exceeds 5/6 by 0, 9/4 and 4.
  const Observed seen = observe(three_agents());
  EXPECT_NEAR(seen.point().excess_risk, 25.0 / 12, 1e-14);
  EXPECT_NEAR(seen.point().excess_risk_worst, 4, 1e-14);
  EXPECT_EQ(seen.cell.recorded_agents, 3);
}

TEST(Recorder, MeanModelIsEvaluatedAsOneModel) {
  // The mean of the models is (2, 2/3): (1 + 16/9) / 4 above the optimum.
  EXPECT_NEAR(observe(three_agents()).point().excess_risk_mean_model, 25.0 / 36, 1e-14);
}

TEST(Recorder, ConsensusErrorAndDistanceAreMeansOfSquares) {
  // From the mean (2, 2/3): 1 + 16/9, 4 + 16/9, 1 + 64/9, that is 25/9, 52/9, 73/9. From (1, 2): 0, 9, 16.
  const Point point = observe(three_agents()).point();
  EXPECT_NEAR(point.consensus_error, 150.0 / 27, 1e-14);
  EXPECT_NEAR(point.distance, 25.0 / 3, 1e-14);
}

TEST(Recorder, AveragedIteratesHaveARiskOfTheirOwn) {
  Observation what = three_agents();
  EXPECT_TRUE(std::isnan(observe(what).point().excess_risk_averaged));
  what.averaged = rows({{1, 2}, {3, 2}, {1, 4}});  // 0, 1 and 1 above the optimum
  const Observed seen = observe(what);
  EXPECT_NEAR(seen.point().excess_risk_averaged, 2.0 / 3, 1e-14);
  EXPECT_NEAR(seen.point().excess_risk, 25.0 / 12, 1e-14);
  EXPECT_EQ(seen.cell.averaged(1, 0), 3);
  EXPECT_EQ(seen.cell.averaged(2, 1), 4);
}

TEST(Recorder, NaiveSumsGiveTheSameNumbers) {
  const Observation what = three_agents();
  double mean = 0;
  double worst = -1;
  for (Index k = 0; k < 3; ++k) {
    const double excess = risk(what.models.row(k), 3) - 5.0 / 6;
    mean += excess / 3;
    worst = std::max(worst, excess);
  }
  const Point point = observe(what).point();
  EXPECT_NEAR(point.excess_risk, mean, 1e-14);
  EXPECT_NEAR(point.excess_risk_worst, worst, 1e-14);
}

TEST(Recorder, SummarisesTheSteps) {
  Observation what = three_agents();
  const Point odd = observe(what).point();
  EXPECT_EQ(odd.step_min, 0.25);
  EXPECT_EQ(odd.step_median, 0.5);
  EXPECT_EQ(odd.step_max, 2);
  what.models = rows({{1, 2}, {1, 2}, {1, 2}, {1, 2}});
  what.steps = {8, 1, 4, 2};
  const Point even = observe(what).point();
  EXPECT_EQ(even.step_min, 1);
  EXPECT_EQ(even.step_median, 3);
  EXPECT_EQ(even.step_max, 8);
}

TEST(Recorder, HasNoStepsBeforeTheFirstIteration) {
  Observation what = three_agents();
  what.iteration = 0;
  what.options.record.steps = RecordedSteps::agents;
  const Observed seen = observe(what);
  EXPECT_TRUE(std::isnan(seen.point().step_min));
  EXPECT_TRUE(std::isnan(seen.point().step_median));
  EXPECT_TRUE(std::isnan(seen.point().step_max));
  ASSERT_EQ(seen.cell.steps.size(), 1U);
  for (const double mu : seen.cell.steps[0]) EXPECT_TRUE(std::isnan(mu));
}

TEST(Recorder, ListsTheStepsOfAllAgentsWhenAsked) {
  Observation what = three_agents();
  EXPECT_TRUE(observe(what).cell.steps.empty());
  what.options.record.steps = RecordedSteps::agents;
  EXPECT_EQ(observe(what).cell.steps, (std::vector<MeteredVector<double>>{{0.5, 0.25, 2}}));
}

TEST(Recorder, ListsTheDistancesOfAllAgentsFromTheirMeanBesideTheirSteps) {
  Observation what = three_agents();
  EXPECT_TRUE(observe(what).cell.distances.empty());
  what.options.record.steps = RecordedSteps::agents;
  const Observed seen = observe(what);
  ASSERT_EQ(seen.cell.distances.size(), 1U);
  double sum = 0;
  for (const double away : seen.cell.distances[0]) sum += away * away;
  EXPECT_NEAR(sum / 3, seen.point().consensus_error, 1e-14);
  what.models = rows({{1, 0}, {4, 0}, {1, 0}});  // their mean is at 2
  EXPECT_EQ(observe(what).cell.distances, (std::vector<MeteredVector<double>>{{1, 2, 1}}));
}

TEST(Recorder, DoesNotKnowADistanceWithoutAMinimiser) {
  Observation what = three_agents();
  what.reference.minimiser.reset();
  what.reference.value = 0;
  const Point point = observe(what).point();
  EXPECT_TRUE(std::isnan(point.distance));
  EXPECT_NEAR(point.excess_risk, 25.0 / 12 + 5.0 / 6, 1e-14);
}

TEST(Recorder, KeepsTimeModelsAndReference) {
  Observation what = three_agents();
  what.reference.accuracy = 1e-9;
  what.reference.how = "by hand";
  const Observed seen = observe(what);
  EXPECT_EQ(seen.point().iteration, 10);
  EXPECT_EQ(seen.point().seconds, 1.5);
  EXPECT_EQ(seen.cell.reference_value, 5.0 / 6);
  EXPECT_EQ(seen.cell.reference_accuracy, 1e-9);
  EXPECT_EQ(seen.cell.reference_how, "by hand");
  ASSERT_EQ(seen.cell.models.rows(), 3);
  ASSERT_EQ(seen.cell.models.columns(), 2);
  EXPECT_EQ(seen.cell.models(1, 0), 4);
  EXPECT_EQ(seen.cell.models(2, 1), -2);
  EXPECT_EQ(seen.cell.averaged.rows(), 0);
}

TEST(Recorder, SeesTheSameWithAnyNumberOfWorkers) {
  Observation what = three_agents();
  what.averaged = rows({{1, 2}, {3, 2}, {1, 4}});
  what.options.record.steps = RecordedSteps::agents;
  const Observed one = observe(what);
  for (const Index workers : {2, 3}) {
    what.workers = workers;
    const Observed many = observe(what);
    EXPECT_EQ(many.cell.points.size(), 1U);
    EXPECT_EQ(test::point_bits(many.point()), test::point_bits(one.point()));
    EXPECT_EQ(many.point().seconds, one.point().seconds);
    EXPECT_EQ(many.cell.steps, one.cell.steps);
    EXPECT_EQ(many.cell.distances, one.cell.distances);
    EXPECT_EQ(many.cell.models(2, 1), one.cell.models(2, 1));
    EXPECT_EQ(many.cell.averaged(1, 0), one.cell.averaged(1, 0));
  }
}

TEST(Recorder, AddsUpTrafficAndEvaluationsOverWorkers) {
  const LinearProblem problem = problem_of(3);
  GraphOptions graph;
  graph.topology = Topology::path;  // degrees 1, 2, 1: 4 directed edges
  graph.agents = 3;
  const NetworkGraph network = make_network(graph, 0);
  for (const Index workers : {1, 2, 3}) {
    Cell cell;
    const ExperimentOptions options;
    const Reference reference;
    launch(network.matrix, 2, workers, [&](Worker& worker) {
      const Block block = worker.network.block();
      const Still algorithm(Rows(block.size(), 2), Numbers(block.size()));
      const auto oracle = problem.oracle(block, 0);
      oracle->draw(0);
      (void)oracle->evaluate(algorithm.models(), true);
      (void)oracle->evaluate(algorithm.models(), false);
      Rows x(block.size(), 2);
      worker.network.combine(x, x);
      {
        const Network::StepAccount account(worker.network);
        worker.network.combine(x, x);
        worker.network.combine(x, x);
        const Numbers one(static_cast<std::size_t>(block.size()), 1);
        (void)worker.network.hear({one, one, one});
      }
      Recorder recorder(options, problem, reference, worker, cell);
      (void)recorder.observe(1, 0, algorithm, nullptr, *oracle);
    });
    const Point& point = cell.points.at(0);
    EXPECT_EQ(point.rounds, 4);
    EXPECT_EQ(point.vectors, 12);
    EXPECT_EQ(point.scalars, 12);
    EXPECT_EQ(point.step_vectors, 8);
    EXPECT_EQ(point.step_scalars, 12);
    EXPECT_EQ(point.values, 3);
    EXPECT_EQ(point.gradients, 6);
  }
}

TEST(Recorder, CountsWhatWasSentBeforehandOnce) {
  Observation what = three_agents();
  what.charged = {2, 5, 7};
  for (const Index workers : {1, 2, 3}) {
    what.workers = workers;
    const Point point = observe(what).point();
    EXPECT_EQ(point.rounds, 2) << workers;
    EXPECT_EQ(point.vectors, 5) << workers;
    EXPECT_EQ(point.scalars, 7) << workers;
  }
}

// One process's network that says what crossed to others.
class Crossing final : public Network {
 public:
  explicit Crossing(const CombinationMatrix& matrix) : Network(matrix, {0, matrix.agents()}, 2) {}
  [[nodiscard]] Traffic crossings() const override { return {0, 7, 9}; }

 private:
  Mail& outbox(const Message&) override { return mail_; }
  void begin(const Message&) override {}
  const Mail& finish(const Message&) override { return mail_; }
  Mail mail_;
};

TEST(Recorder, CountsWhatCrossedBetweenProcessesAndGoesOnAfterACheckpoint) {
  const LinearProblem problem = problem_of(3);
  GraphOptions graph;
  graph.topology = Topology::path;
  graph.agents = 3;
  const NetworkGraph path = make_network(graph, 0);
  Crossing network(path.matrix);
  SerialCollective collective;
  Worker worker{network, collective, 0, 1};
  Cell cell;
  const ExperimentOptions options;
  const Reference reference;
  const Still algorithm(Rows(3, 2), Numbers(3));
  const auto oracle = problem.oracle({0, 3}, 0);
  Recorder recorder(options, problem, reference, worker, cell);
  (void)recorder.observe(1, 0, algorithm, nullptr, *oracle);
  EXPECT_EQ(cell.points.at(0).crossed_vectors, 7);
  EXPECT_EQ(cell.points.at(0).crossed_scalars, 9);
  EXPECT_EQ(cell.points.at(0).vectors, 0);
  recorder.resume(recorder.standing(2, 0, *oracle));
  (void)recorder.observe(2, 0, algorithm, nullptr, *oracle);
  EXPECT_EQ(cell.points.at(1).crossed_vectors, 14);
  EXPECT_EQ(cell.points.at(1).crossed_scalars, 18);
}

TEST(Recorder, EvaluatesAllAgentsWhileTheWorkIsAtMostTwoBillion) {
  // K K N M = 20 * 20 * N * 2 = 800 N.
  Observation what = three_agents();
  what.models = Rows(20, 2);
  for (Index k = 0; k < 20; ++k) what.models(k, 0) = static_cast<double>(k);
  what.steps.assign(20, 1.0);
  what.samples = 2'500'000;
  EXPECT_EQ(observe(what).cell.recorded_agents, 20);
  what.samples = 2'500'001;
  const Observed sampled = observe(what);
  EXPECT_EQ(sampled.cell.recorded_agents, 16);
  double sum = 0;
  for (const Index k : {0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 15, 16, 17, 18})
    sum += risk(what.models.row(k), 20) - 5.0 / 6;
  EXPECT_NEAR(sampled.point().excess_risk, sum / 16, 1e-12);
  what.options.record.agents.kind = RecordedAgents::Kind::all;
  EXPECT_EQ(observe(what).cell.recorded_agents, 20);
}

TEST(Recorder, FewAgentsAreAllEvaluatedHoweverLargeTheProblem) {
  Observation what = three_agents();
  what.samples = 1'000'000'000;
  EXPECT_EQ(observe(what).cell.recorded_agents, 3);
}

TEST(Recorder, EvaluatesAsManyAgentsAsAsked) {
  Observation what = three_agents();
  what.options.record.agents = {RecordedAgents::Kind::some, 2};
  const Observed two = observe(what);  // agents 0 and 1
  EXPECT_EQ(two.cell.recorded_agents, 2);
  EXPECT_NEAR(two.point().excess_risk, 9.0 / 8, 1e-14);
  EXPECT_NEAR(two.point().excess_risk_worst, 9.0 / 4, 1e-14);
  EXPECT_NEAR(two.point().excess_risk_mean_model, 25.0 / 36, 1e-14);
  EXPECT_NEAR(two.point().consensus_error, 150.0 / 27, 1e-14);
  what.options.record.agents.count = 1;
  EXPECT_NEAR(observe(what).point().excess_risk, 0, 1e-14);
  what.options.record.agents.count = 4;
  EXPECT_EQ(observe(what).cell.recorded_agents, 3);
}

TEST(Recorder, IsDueEveryNthIterationAndAtTheLast) {
  Observation what = three_agents();
  what.options.iterations = 7;
  what.options.record_every = 3;
  const LinearProblem problem = problem_of(3);
  GraphOptions graph;
  graph.agents = 3;
  std::vector<Index> due;
  Cell cell;
  launch_serial(make_network(graph, 0).matrix, 2, [&](Worker& worker) {
    const Recorder recorder(what.options, problem, what.reference, worker, cell);
    for (Index i = 0; i <= 7; ++i) {
      if (recorder.due(i)) due.push_back(i);
    }
  });
  EXPECT_EQ(due, (std::vector<Index>{0, 3, 6, 7}));
}

TEST(Recorder, EndsARunAtTheLastIteration) {
  Observation what = three_agents();
  what.options.iterations = 11;
  EXPECT_EQ(observe(what).end, std::nullopt);
  what.options.iterations = 10;
  EXPECT_EQ(observe(what).end, Status::done);
}

TEST(Recorder, EndsARunAtTheTargetWhenAsked) {
  Observation what = three_agents();
  what.options.target = 2.1;  // the excess risk is 25/12 = 2.083...
  EXPECT_EQ(observe(what).end, std::nullopt);
  what.options.stop_at_target = true;
  EXPECT_EQ(observe(what).end, Status::target);
  what.options.target = 2.05;
  EXPECT_EQ(observe(what).end, std::nullopt);
}

TEST(Recorder, EndsARunOutOfTime) {
  Observation what = three_agents();  // at 1.5 seconds
  what.options.time_limit = 1.75;
  EXPECT_EQ(observe(what).end, std::nullopt);
  what.options.time_limit = 1.5;
  EXPECT_EQ(observe(what).end, Status::time_limit);
  what.options.iterations = 10;
  EXPECT_EQ(observe(what).end, Status::done);
}

TEST(Recorder, CallsNumbersBeyondAllBoundsDiverged) {
  Observation what = three_agents();
  what.models(1, 0) = 1e4;  // a risk of about 1e7
  EXPECT_EQ(observe(what).end, std::nullopt);
  for (const double far :
       {1e6, -1e200, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    what.models(1, 0) = far;
    const Observed seen = observe(what);
    EXPECT_EQ(seen.end, Status::diverged) << far;
    EXPECT_EQ(seen.cell.points.size(), 1U);
    EXPECT_FALSE(seen.point().excess_risk <= 1e9);
    EXPECT_FALSE(seen.point().excess_risk_worst <= 1e9);
  }
}

TEST(Recorder, JudgesDivergenceByTheRiskAtTheStart) {
  Observation what = three_agents();
  what.first_models = what.models;
  for (double& w : what.first_models->row(0)) w = 1e4;  // a risk of about 2e7, so that the limit is about 2e16
  what.models(1, 0) = 1e7;
  EXPECT_EQ(observe(what).end, std::nullopt);
  what.models(1, 0) = 1e9;
  EXPECT_EQ(observe(what).end, Status::diverged);
}

TEST(Recorder, JudgesDivergenceByTheRiskAtTheStartAlsoAfterACheckpoint) {
  Observation what = three_agents();
  what.models(1, 0) = 1e7;  // a risk of about 1e13
  what.resumed = Checkpoint{5, 0, 1e3, {}};
  EXPECT_EQ(observe(what).end, Status::diverged);
  what.resumed = Checkpoint{5, 0, 1e5, {}};
  EXPECT_EQ(observe(what).end, std::nullopt);
}

TEST(Recorder, AReferenceFarBelowTheRiskDoesNotExcuseDivergence) {
  Observation what = three_agents();
  what.reference.minimiser.reset();
  what.reference.value = -1e6;  // the risk at the start is about 3 all the same
  what.first_models = what.models;
  what.models(1, 0) = 1e6;
  EXPECT_EQ(observe(what).end, Status::diverged);
}

TEST(Recorder, SeesAnAgentThatIsNotWatchedDiverge) {
  Observation what = three_agents();
  what.options.record.agents = {RecordedAgents::Kind::some, 1};
  what.models(2, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(observe(what).end, Status::diverged);
}

TEST(Recorder, ErrorRateIsTheShareOfAllSamplesThatTheMeanModelTakesForTheOtherClass) {
  EXPECT_TRUE(std::isnan(observe(three_agents()).point().error_rate));
  EXPECT_TRUE(std::isnan(observe(three_agents()).cell.reference_error_rate));
  // One feature, 1; agents with 1, 2 and 2 samples of these classes. The mean model is 1 and takes all for +1.
  const LinearProblem problem({Rows(5, 1, 1), {-1, 1, 1, -1, 1}, {0, 1, 3, 5}}, make_loss("logistic"));
  GraphOptions graph;
  graph.agents = 3;
  const NetworkGraph network = make_network(graph, 0);
  for (const Index workers : {1, 3}) {
    Cell cell;
    launch(network.matrix, 1, workers, [&](Worker& worker) {
      const Block block = worker.network.block();
      Rows w(block.size(), 1, -1);
      for (Index k = 0; k < block.size(); ++k) {
        if (block.first + k == 0) w(k, 0) = 5;
      }
      const Still algorithm(std::move(w), Numbers(block.size(), 1));
      const auto oracle = problem.oracle(block, 0);
      const ExperimentOptions options;
      Reference reference;
      reference.minimiser = {-1.0};  // takes all for -1
      Recorder(options, problem, reference, worker, cell).observe(10, 1.5, algorithm, nullptr, *oracle);
    });
    EXPECT_EQ(cell.points.at(0).error_rate, 2.0 / 5);
    EXPECT_EQ(cell.reference_error_rate, 3.0 / 5);
  }
}

}  // namespace
}  // namespace polyhop::recorder_test
