// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/graph_aware_polyak.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/graph/weights.hpp"
#include "polyhop/problem/objective.hpp"
#include "polyhop/problem/reference_optimum.hpp"
#include "support/bowls.hpp"
#include "support/dense_system.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/rule_run.hpp"
#include "support/trial.hpp"

namespace polyhop::graph_aware_polyak_test {
namespace {

using test::Dense;
using test::DenseSystem;
using test::gap;
using test::network_of;
using test::one_step;
using test::problem_of;
using test::rows_of;
using test::step_of;

using Numbers = std::vector<double>;

void expect_near(const Numbers& found, const Numbers& expected, double tolerance = 1e-13) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_NEAR(found[k], expected[k], tolerance * std::max(1.0, std::abs(expected[k]))) << "agent " << k;
  }
}

// Everyone linked with everyone, all weights 1/K, so that B = A.
CombinationMatrix uniform(Index agents) {
  return test::matrix_of(Dense(static_cast<std::size_t>(agents), Numbers(agents, 1 / static_cast<double>(agents))));
}

// Five agents on a ring with three samples each, fitted by one w^o; their models differ.
struct Ring {
  CombinationMatrix matrix = network_of(Topology::ring, 5);
  std::unique_ptr<DataProblem> problem;
  Reference reference;
  Rows models = test::normal_models({0, 5}, 6, 4);

  explicit Ring(const std::string& loss = "least-squares", double l2 = 0, Batch batch = {}, double noise = 0) {
    ProblemOptions options;
    options.model.loss = builtin_loss(loss);
    options.model.l2 = l2;
    options.dimension = 6;
    options.samples = 3;
    options.noise = noise;
    options.model.batch = batch;
    problem = make_problem(options, 5, 9);
    reference = make_reference(options.reference, *problem);
  }
  [[nodiscard]] Numbers steps(const Value& step, Index i = 0) const {
    return one_step(matrix, *problem, step, models, &reference, i).mu;
  }
};

// ---- what the rule comes to where it can be done by hand ----

TEST(GraphAwarePolyak, IsPolyakWithOneAgent) {
  // h = (3, 4), y = 5 at w = 0: value 12.5, ||g||^2 = 625, so Polyak's step is 0.02.
  const auto problem = problem_of({{{3, 4, 5}}});
  for (const char* bound : {"paper", "linear"}) {
    for (const char* damping : {"paper", "rows", "norms"}) {
      for (const int sweeps : {1, 2, 3, 10}) {
        const Value step = gap({{"bound", bound}, {"damping", damping}, {"sweeps", sweeps}});
        SCOPED_TRACE(step.text());
        expect_near(one_step(network_of(Topology::path, 1), *problem, step, Rows(1, 2)).mu, {0.02});
      }
    }
    // lambda_B is an upper bound within a thousandth, which later sweeps make up for.
    const auto with_graph = [&](int sweeps) {
      return one_step(network_of(Topology::path, 1), *problem,
                      gap({{"bound", bound}, {"damping", "graph"}, {"sweeps", sweeps}}), Rows(1, 2))
          .mu;
    };
    expect_near(with_graph(1), {0.02}, 2e-5);
    expect_near(with_graph(10), {0.02});
  }
  const auto exact =
      one_step(network_of(Topology::path, 1), *problem, gap({{"bound", "linear"}, {"sweeps", "exact"}}), Rows(1, 2));
  expect_near(exact.mu, {0.02});
}

TEST(GraphAwarePolyak, IsPolyakWhereAllAgentsAreTheSame) {
  const auto problem = problem_of({{{3, 4, 5}}, {{3, 4, 5}}, {{3, 4, 5}}, {{3, 4, 5}}});
  for (const int sweeps : {1, 2, 3}) {
    for (const char* damping : {"paper", "rows", "norms"}) {
      const Value step = gap({{"sweeps", sweeps}, {"damping", damping}});
      expect_near(one_step(uniform(4), *problem, step, Rows(4, 2)).mu, Numbers(4, 0.02));
    }
  }
}

TEST(GraphAwarePolyak, IsKTimesPolyakForOrthogonalGradients) {
  // h = 2 e_k, y = 3: value 4.5, ||g||^2 = 36, Polyak 1/8.
  const auto problem = problem_of({{{2, 0, 0, 0, 3}}, {{0, 2, 0, 0, 3}}, {{0, 0, 2, 0, 3}}, {{0, 0, 0, 2, 3}}});
  for (const int sweeps : {1, 2, 3}) {
    expect_near(one_step(uniform(4), *problem, gap({{"sweeps", sweeps}}), Rows(4, 4)).mu, Numbers(4, 4.0 / 8));
  }
}

// ---- the linear system ----

TEST(GraphAwarePolyak, SweepsOverListsOrRelayedAsOverTheDenseMatrix) {
  const Ring ring;
  const DenseSystem system(ring.matrix, *ring.problem, ring.models);
  // The printed algorithm: cbar_k = -sum_l b_kl Jhat_k(w_l), one sample's least squares.
  Numbers cbar(5);
  const Dataset& data = ring.problem->data();
  Sampler sampler({0, 5}, std::vector<Index>(5, 3), {}, Sampling::uniform, 0);
  sampler.draw(0);
  Numbers alpha(5);
  for (std::size_t k = 0; k < 5; ++k) {
    const Index n = data.first(static_cast<Index>(k)) + sampler.indices(static_cast<Index>(k))[0];
    const Numbers h(data.features.dense().row(n).begin(), data.features.dense().row(n).end());
    double squares = 0;
    for (std::size_t l = 0; l < 5; ++l) {
      const double gap_at_l = test::dot(h, system.w[l]) - data.targets[n];
      cbar[k] -= system.b[k][l] * 0.5 * gap_at_l * gap_at_l;
      squares += system.z[k][l] * system.z[k][l];
    }
    alpha[k] = system.z[k][k] / squares;  // [eq:alpha_k]: z_kk = b_kk ||g_k||^2
  }
  for (const int sweeps : {1, 2, 5}) {
    Numbers mu(5);
    for (int t = 0; t < sweeps; ++t) {
      const Numbers rest = system.residual(cbar, mu);
      for (std::size_t k = 0; k < 5; ++k) mu[k] -= alpha[k] * rest[k];
    }
    for (double& m : mu) m = std::max(m, 0.0);
    expect_near(ring.steps(gap({{"sweeps", sweeps}})), mu);
    expect_near(ring.steps(gap({{"sweeps", sweeps}, {"exchange", "relay"}})), mu);
  }
}

TEST(GraphAwarePolyak, RelaysWhatItWouldLookUpInLists) {
  const Ring ring;
  for (const char* bound : {"paper", "linear", "tight", "oracle"}) {
    for (const char* damping : {"paper", "rows"}) {
      const auto with = [&](const char* exchange) {
        return ring.steps(gap({{"bound", bound}, {"damping", damping}, {"sweeps", 4}, {"exchange", exchange}}));
      };
      expect_near(with("relay"), with("lists"));
    }
  }
}

TEST(GraphAwarePolyak, SolvesTheSystemExactlyWhereAsked) {
  const Ring ring;
  const DenseSystem system(ring.matrix, *ring.problem, ring.models);
  const Numbers c = system.c(ring.reference.minimiser.value());
  const Numbers u = ring.steps(gap({{"bound", "oracle"}, {"damping", "rows"}, {"sweeps", "exact"}}));
  // The minimum of a quadratic over u >= 0: no slope where u > 0, no descent where u = 0.
  const Numbers slope = system.residual(c, u);
  for (std::size_t k = 0; k < 5; ++k) {
    if (u[k] > 0) {
      EXPECT_NEAR(slope[k], 0, 1e-9) << "agent " << k;
    } else {
      EXPECT_GE(slope[k], -1e-9) << "agent " << k;
    }
  }
  EXPECT_GT(*std::ranges::max_element(u), 0);
}

TEST(GraphAwarePolyak, ClipsInsideTheSweepsOnlyIfAsked) {
  // Two agents whose gradients oppose each other: h = 1 and -1, both at w = 0 with targets 1 and 2, weights 1/2.
  // Z = [1/2 * 1, 1/2 * 2; ..]: g = (-1, 2), Z = 1/2 [1 -2; -2 4], cbar = -(1/2, 2); rows: alpha = 1/(1.5), 1/3.
  // Sweep 1: (1/3, 2/3). Sweep 2: 1/3 - (2/3)(-1/2 + 1/6 - 2/3), 2/3 - (1/3)(-2 - 1/3 + 4/3) = (1, 1).
  const auto problem = problem_of({{{1, 1}}, {{-1, 2}}});
  const auto with = [&](int sweeps, bool project, double optimum_of_second) {
    return one_step(network_of(Topology::path, 2), *problem,
                    gap({{"damping", "rows"},
                         {"sweeps", sweeps},
                         {"project", project},
                         {"optimum", Value(Value::Array{Value(0.0), Value(optimum_of_second)})}}),
                    Rows(2, 1))
        .mu;
  };
  expect_near(with(1, false, 0), {1.0 / 3, 2.0 / 3});
  expect_near(with(2, false, 0), {1, 1});
  // With 4 for its optimum the second agent has cbar = 2 and wants -2/3 after one sweep. Not clipped, the next sweep of
  // the first sees it: 1/3 - (2/3)(-1/2 + 1/6 + 2/3) = 1/9; clipped, it sees 0: 1/3 - (2/3)(-1/2 + 1/6) = 5/9.
  expect_near(with(1, false, 4), {1.0 / 3, 0});
  expect_near(with(2, false, 4), {1.0 / 9, 0});
  expect_near(with(2, true, 4), {5.0 / 9, 0});
}

// ---- damping ----

TEST(GraphAwarePolyak, HasADampingThatKeepsTheSweepsConvergent) {
  // Everyone at the same point, so that alpha can be read off one sweep.
  for (const auto& [topology, agents] :
       {std::pair{Topology::ring, Index{5}}, {Topology::star, 5}, {Topology::path, 4}}) {
    ProblemOptions options;
    options.dimension = 3;
    options.samples = 2;
    const auto problem = make_problem(options, agents, 3);
    const CombinationMatrix matrix = network_of(topology, agents);
    const Rows shared(agents, 3);
    const DenseSystem system(matrix, *problem, shared);
    for (const char* damping : {"rows", "norms", "graph"}) {
      const Numbers alpha = test::damping_factors(damping, matrix, *problem, shared, system);
      EXPECT_GT(*std::ranges::min_element(alpha), 0) << damping;
      EXPECT_LE(system.damped_norm(alpha), 1 + 1e-12) << damping;
    }
  }
}

TEST(GraphAwarePolyak, AttainsTheBoundOnThePapersDamping) {
  // Erratum: lambda_max(diag(alpha) Z) <= (1 + sqrt n)/2, not 1. Attained by four agents, all linked, with gradients
  // of norm 1 and cosines 1/(1 + sqrt 4) = 1/3: h_k = p e_k + q (1, 1, 1, 1), p^2 = 2/3, 4 q^2 + 2 p q = 1/3.
  const double p = std::sqrt(2.0 / 3);
  const double q = (-p + std::sqrt(p * p + 4.0 / 3)) / 4;
  std::vector<Dense> samples;
  for (std::size_t k = 0; k < 4; ++k) {
    Numbers sample(5, q);
    sample[k] += p;
    sample[4] = -1;  // at w = 0 the slope is 1: the gradient is h itself
    samples.push_back({sample});
  }
  const auto problem = problem_of(samples);
  const Rows shared(4, 4);
  const DenseSystem system(uniform(4), *problem, shared);
  EXPECT_NEAR(system.z[0][0], 1.0 / 4, 1e-15);
  EXPECT_NEAR(system.z[0][1], 1.0 / 12, 1e-15);
  const Numbers alpha = test::damping_factors("paper", uniform(4), *problem, shared, system);
  expect_near(alpha, Numbers(4, 3));  // (1/4) / (1/16 + 3/144)
  EXPECT_NEAR(system.damped_norm(alpha), (1 + std::sqrt(4.0)) / 2, 1e-12);
  // The repaired ones: 1/(1/4 + 3/12), 1/1, and 1/(lambda_B / 4) with lambda_B = 4 to a thousandth.
  expect_near(test::damping_factors("rows", uniform(4), *problem, shared, system), Numbers(4, 2));
  expect_near(test::damping_factors("norms", uniform(4), *problem, shared, system), Numbers(4, 1));
  expect_near(test::damping_factors("graph", uniform(4), *problem, shared, system), Numbers(4, 1), 1e-3);
}

// ---- bounds ----

TEST(GraphAwarePolyak, TakesTooLargeAStepBecauseThePaperDropsDelta) {
  // Erratum: two agents with cost w^2 / 2 at w = 1 and 3, weights 1/2, w^o = 0. g = (1, 3), z_11 = 1/2, z_12 = 3/2, so
  // alpha_1 = (1/2) / (1/4 + 9/4) = 1/5. The truth is c_1 = -(1/2)(1 + 3) = -2, and convexity alone gives
  // -1/2 + (1 - 2) = -3/2; the published surrogate gives -(1/2)(1/2 + 9/2) = -5/2.
  const auto problem = problem_of({{{1, 0}}, {{1, 0}}});
  const Reference reference = test::known({0});
  const auto first = [&](const char* bound) {
    return one_step(network_of(Topology::path, 2), *problem, gap({{"bound", bound}, {"sweeps", 1}}),
                    rows_of({{1}, {3}}), &reference)
        .mu[0];
  };
  EXPECT_NEAR(first("oracle"), 0.4, 1e-15);
  EXPECT_NEAR(first("linear"), 0.3, 1e-15);
  EXPECT_NEAR(first("paper"), 0.5, 1e-15);
  EXPECT_NEAR(first("tight"), 0.4, 1e-15);
}

TEST(GraphAwarePolyak, HasATightBoundThatIsTheTruthForLeastSquaresUnderInterpolation) {
  for (const Batch batch : {Batch{1, false}, Batch{2, false}, Batch{0, true}}) {
    const Ring ring("least-squares", 0, batch);
    for (Index i = 0; i < 5; ++i) {
      const auto with = [&](const char* bound) {
        return ring.steps(gap({{"bound", bound}, {"damping", "rows"}, {"sweeps", 3}}), i);
      };
      expect_near(with("tight"), with("oracle"), 1e-9);
    }
  }
}

TEST(GraphAwarePolyak, HasALinearBoundThatNeverStepsFartherThanTheTruth) {
  for (const std::string loss : {"least-squares", "logistic", "huber"}) {
    const Ring ring(loss, 0.1, {2, false}, 1.0);
    int smaller = 0;
    for (Index i = 0; i < 10; ++i) {
      const auto with = [&](const char* bound) {
        return ring.steps(gap({{"bound", bound}, {"sweeps", 1}, {"optimum", "per-sample"}}), i);
      };
      const Numbers linear = with("linear");
      const Numbers truth = with("oracle");
      for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_LE(linear[k], truth[k] * (1 + 1e-12) + 1e-15);
        smaller += linear[k] < truth[k] ? 1 : 0;
      }
    }
    EXPECT_GT(smaller, 0);
  }
}

TEST(GraphAwarePolyak, UsesSmoothnessInTheTightBoundOfOtherLosses) {
  // One agent, logistic, h = (3, 4), y = 1 at w = 0: value ln 2, slope -1/2, ||g||^2 = 25/4, L = 25/4. Convexity gives
  // ln 2 / (25/4); co-coercivity adds ||g||^2 / (2 L) = 1/2 to the numerator.
  const auto problem = problem_of({{{3, 4, 1}}}, "logistic");
  const auto with = [&](const char* bound) {
    return one_step(network_of(Topology::path, 1), *problem, gap({{"bound", bound}, {"sweeps", 1}}), Rows(1, 2)).mu;
  };
  expect_near(with("linear"), {std::log(2.0) / 6.25}, 1e-14);
  expect_near(with("tight"), {(std::log(2.0) + 0.5) / 6.25}, 1e-14);
}

TEST(GraphAwarePolyak, DoublesPolyakWithTheTightBoundOfOneLeastSquaresAgent) {
  // 1/||h||^2 = 1/25, the step that fits the sample at once.
  const auto after =
      one_step(network_of(Topology::path, 1), *problem_of({{{3, 4, 5}}}), gap({{"bound", "tight"}}), Rows(1, 2));
  expect_near(after.mu, {1.0 / 25});
  EXPECT_NEAR(3 * after.w(0, 0) + 4 * after.w(0, 1), 5, 1e-14);
}

// ---- no gradient, no step ----

TEST(GraphAwarePolyak, StandsStillWithoutAGradient) {
  // Agent 1 is fitted at w = 0; its optimum of -1 would divide 1 by 0.
  const auto problem = problem_of({{{3, 4, 5}}, {{1, 2, 0}}, {{1, 0, 2}}});
  const Reference reference = test::known({0, 1});
  const Value optimum(Value::Array{Value(0), Value(-1), Value(0)});
  for (Value step : test::gap_sets()) {
    step["optimum"] = optimum;
    SCOPED_TRACE(step.text());
    const auto after = one_step(network_of(Topology::path, 3), *problem, step, Rows(3, 2), &reference);
    EXPECT_EQ(after.mu[1], 0);
    for (const double m : after.mu) EXPECT_TRUE(std::isfinite(m));
    for (Index k = 0; k < 3; ++k) EXPECT_TRUE(std::isfinite(after.w(k, 0)) && std::isfinite(after.w(k, 1)));
    EXPECT_GT(after.mu[0], 0);
  }
}

TEST(GraphAwarePolyak, StandsStillOnASampleWithoutFeatures) {
  // Agent 1 has no gradient, and no curvature to divide by.
  const Reference reference = test::known({0, 1});
  for (const char* loss : {"least-squares", "logistic", "huber", "smoothed-hinge"}) {
    const auto problem = problem_of({{{3, 4, 1}}, {{0, 0, 1}}, {{1, 0, -1}}}, loss);
    for (const Value& step : test::gap_sets()) {
      SCOPED_TRACE(step.text() + " " + loss);
      const auto after = one_step(network_of(Topology::path, 3), *problem, step, Rows(3, 2), &reference);
      EXPECT_EQ(after.mu[1], 0);
      for (const double m : after.mu) EXPECT_TRUE(std::isfinite(m));
      for (Index k = 0; k < 3; ++k) EXPECT_TRUE(std::isfinite(after.w(k, 0)) && std::isfinite(after.w(k, 1)));
    }
  }
}

TEST(GraphAwarePolyak, StandsStillWhereEveryoneIsFitted) {
  const auto problem = problem_of({{{3, 4, 0}}, {{1, 2, 0}}, {{1, 0, 0}}});
  const Reference reference = test::known({0, 0});
  for (const Value& step : test::all_sets()) {
    if (test::has_a_first_step(step)) continue;
    const auto after = one_step(network_of(Topology::path, 3), *problem, step, Rows(3, 2), &reference);
    EXPECT_EQ(after.mu, Numbers(3, 0.0)) << step.text();
  }
}

TEST(GraphAwarePolyak, EndsAsDivergedWhenItsNumbersOverflow) {
  Value root;
  root["iterations"] = 40;
  root["record_every"] = 40;  // nobody looks before the numbers are infinite
  root["graph"]["topology"] = "ring";
  root["graph"]["agents"] = 4;
  root["problem"]["dimension"] = 5;
  root["problem"]["samples"] = 3;
  Value::Array methods;
  for (Value step : {step_of("constant", {{"value", 1e20}}), step_of("polyak"), step_of("sps"), gap(),
                     gap({{"bound", "linear"}, {"damping", "rows"}}), gap({{"bound", "linear"}, {"damping", "norms"}}),
                     gap({{"bound", "tight"}, {"damping", "graph"}, {"agree", "mean"}}),
                     gap({{"bound", "linear"}, {"damping", "rows"}, {"sweeps", "exact"}})}) {
    if (*step.find("rule")->as<std::string>() != "constant") step["optimum"] = -1e300;
    Value method;
    method["name"] = Value(std::to_string(methods.size()));
    method["step"] = step;
    methods.push_back(method);
  }
  root["method"] = methods;
  const Config config = read_config(root);
  for (const Cell& cell : run(config).cells) {
    EXPECT_EQ(cell.status, Status::diverged) << config.methods[std::stoul(cell.method)].rule.options.text();
    EXPECT_EQ(cell.points.back().iteration, 40);
    EXPECT_FALSE(std::isfinite(cell.points.back().excess_risk));
  }
}

// ---- what does not depend on units ----

// Least squares on one sample, times a factor: what a user might write.
class ScaledCost final : public Objective {
 public:
  ScaledCost(Numbers h, double y, double factor) : h_(std::move(h)), y_(y), factor_(factor) {}
  [[nodiscard]] Index dimension() const override { return static_cast<Index>(h_.size()); }
  [[nodiscard]] double value(std::span<const double> w, std::span<const Index>) const override {
    const double r = rest(w);
    return factor_ * (r * r / 2);
  }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    for (std::size_t j = 0; j < h_.size(); ++j) gradient[j] = factor_ * (rest(w) * h_[j]);
    return value(w, batch);
  }

 private:
  [[nodiscard]] double rest(std::span<const double> w) const {
    double sum = -y_;
    for (std::size_t j = 0; j < h_.size(); ++j) sum += h_[j] * w[j];
    return sum;
  }
  Numbers h_;
  double y_;
  double factor_;
};

std::unique_ptr<ObjectiveProblem> scaled_problem(double factor) {
  std::vector<std::shared_ptr<const Objective>> costs;
  for (const auto& [h, y] : {std::pair{Numbers{3, 4}, 5.0}, {Numbers{1, -2}, 0.3}, {Numbers{0.5, 1}, -1.0}}) {
    costs.push_back(std::make_shared<ScaledCost>(h, y, factor));
  }
  return std::make_unique<ObjectiveProblem>(std::move(costs));
}

struct Trace {
  std::vector<Numbers> mu;
  std::vector<Rows> w;
};

Trace trace(const CombinationMatrix& matrix, const Problem& problem, const Value& step, const Reference& reference,
            Index iterations = 60) {
  Trace out;
  launch_serial(matrix, problem.dimension(), [&](Worker& worker) {
    test::Solver solver(problem, &reference, step, worker.network,
                        test::normal_models({0, matrix.agents()}, problem.dimension(), 2), 0);
    for (Index i = 0; i < iterations; ++i) {
      solver.iterate(i, worker.network);
      out.mu.emplace_back(solver.algorithm->steps().begin(), solver.algorithm->steps().end());
      out.w.push_back(solver.algorithm->models());
    }
  });
  return out;
}

void expect_same_path(const Trace& scaled, const Trace& plain, double factor) {
  for (std::size_t i = 0; i < plain.mu.size(); ++i) {
    for (std::size_t k = 0; k < plain.mu[i].size(); ++k) {
      ASSERT_EQ(factor * scaled.mu[i][k], plain.mu[i][k]) << "iteration " << i << ", agent " << k;
    }
    ASSERT_TRUE(test::same_bits(scaled.w[i], plain.w[i])) << "iteration " << i;
  }
}

bool has_constants(const Value& step) {
  const auto is_number = [&](const char* key) {
    const Value* value = step.find(key);
    return value != nullptr && (value->as<double>() != nullptr || value->text().find("sqrt") != std::string::npos ||
                                value->text() == "\"curvature\"");
  };
  return test::has_a_first_step(step) || is_number("max") || is_number("cap") || is_number("optimum");
}

TEST(GraphAwarePolyak, HalvesItsStepsAndKeepsItsPathWhenAllCostsAreDoubled) {
  // Powers of two change no rounding, so the paths agree in every bit.
  const Reference reference = test::known({0.25, -0.5});
  int tried = 0;
  for (const Value& step : test::all_sets()) {
    const Value* bound = step.find("bound");
    if (has_constants(step) || (bound != nullptr && *bound->as<std::string>() == "tight")) continue;
    SCOPED_TRACE(step.text());
    const Index iterations = test::is_exact(step) ? 3 : 60;
    const CombinationMatrix matrix = network_of(Topology::path, 3);
    expect_same_path(trace(matrix, *scaled_problem(2), step, reference, iterations),
                     trace(matrix, *scaled_problem(1), step, reference, iterations), 2);
    ++tried;
  }
  EXPECT_GT(tried, 40);
}

TEST(GraphAwarePolyak, QuartersItsStepsAndKeepsItsPathWhenAllDataAreDoubled) {
  // h and y doubled: least squares costs are four times as large. Any bound, as the smoothness is known here.
  const std::vector<Dense> samples = {{{3, 4, 5}, {1, 1, 2}}, {{1, -2, 0.3}, {0, 1, 1}}, {{0.5, 1, -1}, {2, 1, 4}}};
  auto doubled = samples;
  for (auto& own : doubled) {
    for (auto& sample : own) {
      for (double& x : sample) x *= 2;
    }
  }
  const auto problem = problem_of(samples);
  const auto scaled = problem_of(doubled);
  const Reference reference = test::known({0.25, -0.5});
  int tried = 0;
  for (const Value& step : test::all_sets()) {
    if (has_constants(step)) continue;
    SCOPED_TRACE(step.text());
    const Index iterations = test::is_exact(step) ? 3 : 60;
    const CombinationMatrix matrix = network_of(Topology::path, 3);
    expect_same_path(trace(matrix, *scaled, step, reference, iterations),
                     trace(matrix, *problem, step, reference, iterations), 4);
    ++tried;
  }
  EXPECT_GT(tried, 60);
}

// ---- after the sweeps ----

// Agent 0 has Polyak's step 0.02, agent 1 0.5, each alone with itself as far as gradients go: h = (3, 4, 0) and
// (0, 0, 1); with weights 1/2 the rule gives 2 x Polyak = 0.04 and 1.
std::unique_ptr<LinearProblem> unlike_agents() { return problem_of({{{3, 4, 0, 5}}, {{0, 0, 1, -2}}}); }

Numbers unlike_steps(const test::Options& options, Index i = 0) {
  return one_step(network_of(Topology::path, 2), *unlike_agents(), gap(options), Rows(2, 3), nullptr, i).mu;
}

TEST(GraphAwarePolyak, KeepsUnderAConstantOrDecayingCap) {
  expect_near(unlike_steps({}), {0.04, 1});
  expect_near(unlike_steps({{"cap", 0.5}}), {0.04, 0.5});
  expect_near(unlike_steps({{"cap", 0.03}}), {0.03, 0.03});
  expect_near(unlike_steps({{"cap", "0.5/sqrt(i+1)"}}, 0), {0.04, 0.5});
  expect_near(unlike_steps({{"cap", "0.5/sqrt(i+1)"}}, 3), {0.04, 0.25});
  expect_near(unlike_steps({{"cap", "0.5/sqrt(i+1)"}}, 399), {0.025, 0.025});
}

TEST(GraphAwarePolyak, RelaxesAfterTheClipAndBeforeTheCap) {
  expect_near(unlike_steps({{"relaxation", 1.5}}), {0.06, 1.5});
  expect_near(unlike_steps({{"relaxation", 0.5}}), {0.02, 0.5});
  // Capped first, the second agent would step 1.5 x 1 = 1.5, or 1.5 x 1.2.
  expect_near(unlike_steps({{"relaxation", 1.5}, {"cap", 1.2}}), {0.06, 1.2});
  expect_near(unlike_steps({{"relaxation", 1.5}, {"cap", 0.05}}), {0.05, 0.05});
  // The sweeps do not see it: whatever T, the result is 1.5 times that without.
  const Ring ring;
  for (const int sweeps : {1, 2, 5}) {
    Numbers plain = ring.steps(gap({{"sweeps", sweeps}}));
    for (double& m : plain) m *= 1.5;
    EXPECT_EQ(ring.steps(gap({{"sweeps", sweeps}, {"relaxation", 1.5}})), plain);
  }
}

TEST(GraphAwarePolyak, AgreesOnTheNeighbourhoodsMinimumOrMean) {
  // A path of three, Metropolis: 2/3, 1/3 at the ends, thirds in the middle.
  const auto problem = problem_of({{{3, 4, 0, 0, 5}}, {{0, 0, 1, 0, -2}}, {{0, 0, 0, 1, 1}}});
  const auto with = [&](const char* agree, const Value& cap) {
    return one_step(network_of(Topology::path, 3), *problem, gap({{"agree", agree}, {"cap", cap}}), Rows(3, 4)).mu;
  };
  const Numbers mu = with("none", "none");
  ASSERT_LT(mu[0], 0.1);
  ASSERT_GT(std::min(mu[1], mu[2]), 0.2);
  EXPECT_EQ(with("min", "none"), (Numbers{mu[0], mu[0], std::min(mu[1], mu[2])}));
  expect_near(with("mean", "none"), {(2 * mu[0] + mu[1]) / 3, (mu[0] + mu[1] + mu[2]) / 3, (mu[1] + 2 * mu[2]) / 3});
  // Agents agree on what they may do: the cap comes first.
  expect_near(with("mean", 0.2), {(2 * mu[0] + 0.2) / 3, (mu[0] + 0.4) / 3, 0.2});
}

// Two agents that both see everything, noise that nothing fits: w - 1 and w + 2 in turn, scaled by 1 and 3.
struct DistanceTwin {
  std::unique_ptr<DataProblem> problem = problem_of({{{1, 1}, {1, -2}}, {{3, 3}, {3, -6}}});
  CombinationMatrix matrix = network_of(Topology::path, 2);

  // min(uncapped, r_k / sqrt(S_k)) at each iteration, along the path that the rule took.
  void expect_capped(const char* sums, const char* damping) const {
    SCOPED_TRACE(std::string(sums) + ", " + damping);
    const auto options = [&](const char* cap) {
      return gap({{"bound", "linear"}, {"damping", damping}, {"cap", cap}, {"sums", sums}});
    };
    const Rows start = test::normal_models({0, 2}, 1, 2);
    const Trace path = trace(matrix, *problem, options("distance"), test::known({0}), 70);
    Numbers sum(2);
    Numbers radius(2);
    int limited = 0;
    for (std::size_t i = 0; i < path.mu.size(); ++i) {
      const Rows& before = i == 0 ? start : path.w[i - 1];
      const DenseSystem system(matrix, *problem, before, static_cast<Index>(i));
      const Numbers energy = system.residual({0, 0}, {1, 1});  // g_k.(B G)_k
      for (std::size_t k = 0; k < 2; ++k) {
        sum[k] += std::max(energy[k], 0.0);
        radius[k] = std::max(radius[k], std::abs(before(static_cast<Index>(k), 0) - start(static_cast<Index>(k), 0)));
      }
      if (std::string(sums) == "mixed") sum = Numbers(2, (sum[0] + sum[1]) / 2);
      radius = Numbers(2, std::max(radius[0], radius[1]));
      Numbers expected = one_step(matrix, *problem, options("none"), before, nullptr, static_cast<Index>(i)).mu;
      for (std::size_t k = 0; k < 2; ++k) {
        const double cap = radius[k] / std::sqrt(sum[k]);
        if (cap < expected[k]) limited += i >= 50 ? 1 : 0;
        if (i >= 50) expected[k] = std::min(expected[k], cap);
      }
      expect_near(path.mu[i], expected, 1e-12);
    }
    EXPECT_GT(limited, 5);
  }
};

TEST(GraphAwarePolyak, IsCappedByDistanceFromIteration50On) {
  const DistanceTwin twin;
  for (const char* sums : {"mixed", "own"}) {
    for (const char* damping : {"rows", "norms"}) twin.expect_capped(sums, damping);
  }
}

// ---- refusals ----

std::string complaint(const CombinationMatrix& matrix, const Problem& problem, const Value& step,
                      const Reference* reference = nullptr) {
  try {
    one_step(matrix, problem, step, Rows(matrix.agents(), problem.dimension()), reference);
  } catch (const InputError& e) {
    return e.what();
  }
  return "nothing";
}

TEST(GraphAwarePolyak, RefusesToSolveThePapersSystemExactly) {
  EXPECT_EQ(complaint(network_of(Topology::path, 2), *unlike_agents(), gap({{"sweeps", "exact"}})),
            "sweeps: \"exact\" is refused with bound = \"paper\", whose exact solution diverges or stalls; use bound = "
            "\"linear\" or \"tight\"");
}

TEST(GraphAwarePolyak, RefusesNegativeWeights) {
  // Best constant on a star of 5: the hub keeps 1 - 4/3 for itself.
  const auto network = with_weights(Graph::from_edges(5, generate::star(5)), Weights::best_constant);
  ASSERT_FALSE(network.matrix.non_negative());
  const auto problem = problem_of({{{1, 1}}, {{1, 1}}, {{1, 1}}, {{1, 1}}, {{1, 1}}});
  EXPECT_EQ(complaint(network.matrix, *problem, gap()),
            "rule = \"gap\": the combination matrix has negative weights; GAP needs a_kl >= 0 (weights \"metropolis\", "
            "\"max-degree\", \"lazy\" or \"fastest-mixing\")");
  EXPECT_EQ(complaint(network.matrix, *problem, step_of("polyak")), "nothing");
}

TEST(GraphAwarePolyak, WantsOneOptimumAnAgent) {
  const CombinationMatrix matrix = network_of(Topology::path, 2);
  for (const char* rule : {"gap", "polyak", "sps"}) {
    EXPECT_EQ(complaint(matrix, *unlike_agents(),
                        step_of(rule, {{"optimum", Value(Value::Array{Value(1), Value(2), Value(3)})}})),
              "optimum: found 3 values, expected one for each of the 2 agents");
    EXPECT_EQ(complaint(matrix, *unlike_agents(),
                        step_of(rule, {{"optimum", Value(Value::Array{Value(1), Value(std::nan(""))})}})),
              "optimum: the value of agent 1 is not finite");
  }
}

TEST(GraphAwarePolyak, WantsAMinimiserWhereItStudiesOne) {
  const CombinationMatrix matrix = network_of(Topology::path, 2);
  const Reference none;
  const std::string why =
      " needs a known minimiser w^o, and there is none here (problem.reference = \"solve\" finds one where the cost "
      "has a "
      "minimum)";
  for (const Reference* reference : {static_cast<const Reference*>(nullptr), &none}) {
    for (const char* rule : {"gap", "polyak", "sps"}) {
      EXPECT_EQ(complaint(matrix, *unlike_agents(), step_of(rule, {{"optimum", "per-sample"}}), reference),
                "optimum = \"per-sample\":" + why);
    }
    EXPECT_EQ(complaint(matrix, *unlike_agents(), gap({{"bound", "oracle"}}), reference), "bound = \"oracle\":" + why);
  }
}

TEST(GraphAwarePolyak, WantsASmoothnessConstantForTheTightBound) {
  EXPECT_EQ(complaint(network_of(Topology::path, 3), *scaled_problem(1), gap({{"bound", "tight"}})),
            "bound: \"tight\" needs a smoothness constant, and this cost has none; use \"linear\"");
}

TEST(GraphAwarePolyak, HasNoDistanceToReportWhereSeparableClassesHaveNoMinimiser) {
  Value root;
  root["iterations"] = 20;
  root["graph"]["topology"] = "ring";
  root["graph"]["agents"] = 4;
  root["problem"]["loss"] = "logistic";
  root["problem"]["dimension"] = 5;
  root["problem"]["samples"] = 3;
  Value method;
  method["step"] = "gap";
  root["method"] = Value::Array{method};
  const Record record = run(read_config(root));
  const Cell& cell = record.cells.front();
  EXPECT_EQ(cell.reference_value, 0);
  for (const Point& point : cell.points) {
    EXPECT_TRUE(std::isnan(point.distance));
    EXPECT_GT(point.excess_risk, 0);
  }
  method["step"] = gap({{"optimum", "per-sample"}});
  root["method"] = Value::Array{method};
  EXPECT_THROW(run(read_config(root)), InputError);
}

// ---- costs, by hand on a star of 4: 6 directed edges, 6 rows forwarded ----

TEST(GraphAwarePolyak, IsChargedForWhatItSends) {
  const auto problem = problem_of({{{3, 4, 5}}, {{1, 2, 1}}, {{1, 0, 2}}, {{0, 1, 2}}});
  const Reference reference = test::known({0, 1});
  const auto cost = [&](const test::Options& options) {
    const Traffic t = one_step(network_of(Topology::star, 4), *problem, gap(options), Rows(4, 2), &reference).step;
    return std::vector<Index>{t.rounds, t.vectors, t.scalars};
  };
  using Cost = std::vector<Index>;
  const Index edges = 6;
  const Index lists = 12;  // each row to the neighbours, and forwarded; gradients are a vector and its scale
  EXPECT_EQ(cost({{"sweeps", 1}}), (Cost{2, 2 * lists, lists}));
  EXPECT_EQ(cost({}), (Cost{2 + 2, 2 * lists, 2 * lists}));
  EXPECT_EQ(cost({{"sweeps", 3}}), (Cost{2 + 4, 2 * lists, 3 * lists}));
  EXPECT_EQ(cost({{"exchange", "relay"}}), (Cost{2 + 2, 2 * lists + 2 * edges, lists}));
  // B X takes its two rounds together with the lists, the norms or the sketches; so do the numbers that an estimate
  // sends at first, along the diameter of 2.
  EXPECT_EQ(cost({{"bound", "linear"}}), (Cost{2 + 2, lists + 2 * edges, 2 * lists}));
  EXPECT_EQ(cost({{"bound", "tight"}, {"damping", "norms"}}), (Cost{2 + 2, 4 * edges, 2 * edges}));
  EXPECT_EQ(cost({{"damping", "norms"}, {"sweeps", 1}}), (Cost{2, lists, 2 * edges}));
  EXPECT_EQ(cost({{"damping", "sketch"}, {"sketch_size", 3}, {"sweeps", 1}}), (Cost{2, lists, 3 * lists}));
  EXPECT_EQ(cost({{"bound", "linear"}, {"sweeps", 1}, {"optimum", "estimate"}}),
            (Cost{2, lists + 2 * edges, lists + 2 * edges}));
  EXPECT_EQ(cost({{"bound", "tight"}, {"damping", "graph"}}), (Cost{2 + 2, 4 * edges, 0}));
  EXPECT_EQ(cost({{"bound", "linear"}, {"damping", "graph"}, {"sweeps", 1}}), (Cost{2, 2 * edges, 0}));
  EXPECT_EQ(cost({{"sweeps", 1}, {"agree", "min"}}), (Cost{2 + 1, 2 * lists, lists + edges}));
  EXPECT_EQ(cost({{"sweeps", 1}, {"cap", "distance"}}), (Cost{2 + 1, 2 * lists, lists + 2 * edges}));
  EXPECT_EQ(cost({{"sweeps", 1}, {"cap", "distance"}, {"sums", "own"}}), (Cost{2 + 1, 2 * lists, lists + edges}));
  EXPECT_EQ(cost({{"bound", "linear"}, {"damping", "graph"}, {"sweeps", 1}, {"cap", "distance"}}),
            (Cost{2 + 2 + 1, 4 * edges, 2 * edges}));
}

// The models, B X in two rounds, and a list in which each row comes once: 4 vectors per link of a complete graph of 64.
// The published rule has the models and two lists.
TEST(GraphAwarePolyak, SendsFewVectorsWhereEverybodyIsANeighbour) {
  constexpr Index links = 64 * 63;
  ProblemOptions options;
  options.dimension = 5;
  options.samples = 2;
  const auto instance = test::synthetic_instance(network_of(Topology::complete, 64), options, 1);
  const auto vectors = [&](const Value& step) {
    const auto one = one_step(instance.matrix, *instance.problem, step, Rows(64, 5));
    return one.algorithm.vectors + one.step.vectors;
  };
  EXPECT_EQ(vectors(gap({{"bound", "tight"}, {"damping", "rows"}})), 4 * links);  // 16,128
  EXPECT_EQ(vectors(gap()), 3 * links);
}

// One agent at w = 0 with the sample h = 2, y = 3: the cost is 4.5, the gradient's square 36.
TEST(GraphAwarePolyak, TakesASketchWithAMargin) {
  for (const auto& [size, margin] : {std::pair{1, 3.0}, {4, 2.0}}) {  // 1 + 2/sqrt(size)
    const Value step =
        step_of("gap", {{"bound", "linear"}, {"damping", "sketch"}, {"sketch_size", size}, {"sweeps", 1}});
    const auto run = test::run_rule(network_of(Topology::path, 1), *problem_of({{{2, 3}}}), step, Rows(1, 1), 1);
    expect_near(run.mu[0], {4.5 / (margin * 36)});
  }
}

TEST(GraphAwarePolyak, KnowsTheMetricOfALazyCombination) {
  // Agent 0 as above, agent 1 without a gradient. P = (I + A)/2 has the rows 3/4, 1/4, so that b_00 = 9/16 + 1/16.
  const Value primal = Value::Table{{"name", "exact-diffusion"}, {"form", "primal"}};
  const Value step = step_of("gap", {{"bound", "linear"}, {"damping", "rows"}});
  const auto run =
      test::run_rule(network_of(Topology::path, 2), *problem_of({{{2, 3}}, {{0, 1}}}), step, Rows(2, 1), 1, primal);
  expect_near(run.mu[0], {4.5 / (0.625 * 36), 0});
}

TEST(GraphAwarePolyak, LetsTheCapByCurvatureGrowByAHalf) {
  // J = 1e-6 w^2/2 at 1e6: neither J/||g||^2 = 5e5 nor half the inverse curvature is near.
  const auto flat = test::bowls({test::Bowl({1e-6}, {0})});
  const Value step = step_of("gap", {{"bound", "linear"}, {"damping", "rows"}, {"cap", "curvature"}});
  const auto run = test::run_rule(network_of(Topology::path, 1), flat, step, Rows(1, 1, 1e6), 3);
  for (std::size_t i = 0; i < 3; ++i) expect_near(run.mu[i], {0.01 * std::pow(1.5, static_cast<double>(i))});
}

}  // namespace
}  // namespace polyhop::graph_aware_polyak_test
