// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/fit.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/random.hpp"
#include "polyhop/fit/evaluation.hpp"
#include "polyhop/fit/prediction.hpp"
#include "support/data_files.hpp"

namespace polyhop::fit_test {
namespace {

constexpr Index samples = 60;
constexpr Index features = 3;
constexpr double l2 = 0.1;

class Fit : public test::DataFiles {
 protected:
  // Normal features, the last with another mean and scale, and a noisy linear target; or its sign.
  Fit() {
    Stream random(5, Purpose::features);
    std::string numbers = "a,b,c,y\n";
    std::string signs = numbers;
    for (Index n = 0; n < samples; ++n) {
      random.normals(h_.row(n));
      h_(n, 2) = 4 + 3 * h_(n, 2);
      const double y = 2 * h_(n, 0) - h_(n, 1) + 0.5 * h_(n, 2) + 3 + random.normal();
      y_.push_back(y);
      std::string cells;
      for (const double x : h_.row(n)) cells += shortest(x) + ",";
      numbers += cells + shortest(y) + "\n";
      signs += cells + (y > 5 ? "high" : "low") + "\n";
    }
    write("numbers.csv", numbers);
    write("signs.csv", signs);
  }

  [[nodiscard]] FitOptions options(PartitionKind kind = PartitionKind::iid) const {
    FitOptions out;
    out.data.file = file("numbers.csv");
    out.model.partition = {kind, 0.5};
    out.model.l2 = l2;
    out.graph.topology = Topology::path;
    out.graph.agents = 4;
    out.tolerance = 1e-10;
    out.threads = 1;
    return out;
  }

  // argmin of the mean of (h.w + b - y)^2 / 2 over all samples, + (l2/2) ||w||^2: w, then b.
  [[nodiscard]] std::vector<double> normal_equations() const {
    Eigen::MatrixXd x(samples, features + 1);
    Eigen::VectorXd y(samples);
    for (Index n = 0; n < samples; ++n) {
      for (Index j = 0; j < features; ++j) x(n, j) = h_(n, j);
      x(n, features) = 1;
      y(n) = y_[n];
    }
    Eigen::MatrixXd left = x.transpose() * x / samples;
    for (Index j = 0; j < features; ++j) left(j, j) += l2;
    const Eigen::VectorXd w = left.ldlt().solve(x.transpose() * y / samples);
    return {w.begin(), w.end()};
  }

  static std::vector<double> coefficients(const FitResult& result) {
    std::vector<double> out(result.model.weights.row(0).begin(), result.model.weights.row(0).end());
    out.push_back(result.model.intercept.at(0));
    return out;
  }

  // The mean of (h.w + b - y)^2 / 2 over all samples, + (l2/2) ||w||^2.
  [[nodiscard]] double cost(const std::vector<double>& w) const {
    double sum = 0;
    for (Index n = 0; n < samples; ++n) {
      double off = w[features] - y_[n];
      for (Index j = 0; j < features; ++j) off += w[j] * h_(n, j);
      sum += off * off / 2;
    }
    double squares = 0;
    for (std::size_t j = 0; j < features; ++j) squares += w[j] * w[j];
    return sum / samples + l2 / 2 * squares;
  }

  Rows h_{samples, features};
  std::vector<double> y_;
};

TEST_F(Fit, IsTheMinimumOfThePooledMeanHoweverSamplesAreDealt) {
  const std::vector<double> expected = normal_equations();
  for (const auto& [kind, name] : EnumNames<PartitionKind>::names) {
    SCOPED_TRACE(name);
    const FitResult result = fit(options(kind));
    EXPECT_EQ(result.end, FitEnd::converged);
    EXPECT_EQ(result.samples, samples);
    EXPECT_EQ(result.agents, 4);
    EXPECT_GT(result.traffic.vectors, 0);
    EXPECT_GT(result.gradients, 0);
    EXPECT_NEAR(result.cost, cost(expected), 1e-9);
    const std::vector<double> got = coefficients(result);
    for (std::size_t j = 0; j < expected.size(); ++j) EXPECT_NEAR(got[j], expected[j], 1e-6) << "coefficient " << j;
  }
}

TEST_F(Fit, EveryMethodFindsTheSameModel) {
  const std::vector<double> expected = normal_equations();
  for (const FitMethod method : {FitMethod::tree, FitMethod::exact_diffusion}) {
    FitOptions how = options(PartitionKind::label);
    how.method = method;
    const FitResult result = fit(how);
    EXPECT_EQ(result.end, FitEnd::converged) << name_of(method);
    const std::vector<double> got = coefficients(result);
    for (std::size_t j = 0; j < expected.size(); ++j) EXPECT_NEAR(got[j], expected[j], 1e-7) << name_of(method);
  }
}

TEST_F(Fit, TheTreesModelDoesNotDependOnTheNetwork) {
  for (const char* loss : {"logistic", "softmax"}) {
    FitOptions how = options(PartitionKind::label);
    how.data.file = file("signs.csv");
    how.model.loss = builtin_loss(loss);
    how.model.l2 = 1e-3;
    how.tolerance = 1e-8;
    how.graph.agents = 8;
    std::vector<FitResult> results;
    for (const Topology topology : {Topology::ring, Topology::star, Topology::complete, Topology::path}) {
      how.graph.topology = topology;
      results.push_back(fit(how));
      const Rows& weights = results.back().model.weights;
      for (Index j = 0; j < features; ++j) {
        EXPECT_EQ(weights(0, j), results[0].model.weights(0, j));
      }
      // Up the tree and down, a vector for every evaluation and a few to scale the features.
      const Index links = 2 * (results.back().agents - 1);
      EXPECT_EQ(results.back().traffic.vectors, links * (results.back().state.evaluations + 2));
      EXPECT_EQ(results.back().state.disagreement, 0);
    }
  }
}

// Columns in other units: the same table, but for powers of ten.
TEST_F(Fit, TheModelIsTheSameInAnyUnits) {
  const std::vector<double> factor = {1e7, 1e-5, 300};
  std::string table = "a,b,c,y\n";
  for (Index n = 0; n < samples; ++n) {
    for (Index j = 0; j < features; ++j) {
      // far from 0, too, as years and altitudes are
      table += shortest((h_(n, j) + 100) * factor[j]) + ",";
    }
    table += shortest(y_[n]) + "\n";
  }
  write("units.csv", table);
  for (const FitMethod method : {FitMethod::tree, FitMethod::exact_diffusion}) {
    FitOptions how = options(PartitionKind::sizes);
    how.method = method;
    how.model.l2 = 0;
    how.tolerance = 1e-9;
    const FitResult plain = fit(how);
    how.data.file = file("units.csv");
    const FitResult scaled = fit(how);
    EXPECT_EQ(scaled.end, FitEnd::converged) << name_of(method);
    EXPECT_NEAR(scaled.cost, plain.cost, 1e-9 * plain.cost);
    for (Index j = 0; j < features; ++j) {
      EXPECT_NEAR(scaled.model.weights(0, j) * factor[j], plain.model.weights(0, j), 1e-6);
    }
  }
}

// Features whose squares overflow or vanish: a power of two changes no bit but the exponents.
TEST_F(Fit, TheModelDoesNotDependOnAPowerOfTwo) {
  const auto scaled_by = [&](int exponent) {
    std::string table = "a,b,c,y\n";
    for (Index n = 0; n < samples; ++n) {
      for (Index j = 0; j < features; ++j) table += shortest(std::ldexp(h_(n, j), exponent)) + ",";
      table += shortest(y_[n]) + "\n";
    }
    write("scaled.csv", table);
    return file("scaled.csv");
  };
  for (const char* how_scaled : {"inside", "standardised", "unit rows"}) {
    FitOptions how = options();
    how.model.l2 = 0;
    how.model.standardise = how_scaled == std::string("standardised");
    how.model.unit_rows = how_scaled == std::string("unit rows");
    how.data.file = scaled_by(0);
    const FitResult plain = fit(how);
    for (const int exponent : {535, -565}) {
      SCOPED_TRACE(std::string(how_scaled) + " " + std::to_string(exponent));
      how.data.file = scaled_by(exponent);
      const FitResult found = fit(how);
      EXPECT_EQ(found.end, FitEnd::converged);
      EXPECT_EQ(found.cost, plain.cost);
      EXPECT_EQ(found.model.intercept, plain.model.intercept);
      const int undone = how.model.unit_rows ? 0 : -exponent;
      for (Index j = 0; j < features; ++j) {
        EXPECT_EQ(found.model.weights(0, j), std::ldexp(plain.model.weights(0, j), undone));
      }
      const Rows expected = model_scores(plain.model, read_data(scaled_by(0)));
      const Rows got = model_scores(found.model, read_data(scaled_by(exponent)));
      for (Index n = 0; n < samples; ++n) EXPECT_NEAR(got(0, n), expected(0, n), 1e-12 * std::abs(expected(0, n)));
    }
  }
}

TEST_F(Fit, ThePenaltyActsOnTheCoefficientsOfTheTable) {
  FitOptions how = options();
  for (const bool intercept : {true, false}) {
    how.model.intercept = intercept;
    const FitResult result = fit(how);
    std::vector<double> w = coefficients(result);
    // In no direction does the cost fall, of coefficients as they stand in the model.
    for (std::size_t j = 0; j < w.size() - (intercept ? 0 : 1); ++j) {
      const double best = cost(w);
      EXPECT_NEAR(best, result.cost, 1e-12);
      for (const double step : {1e-4, -1e-4}) {
        w[j] += step;
        EXPECT_GT(cost(w), best) << j;
        w[j] -= step;
      }
    }
  }
}

TEST_F(Fit, ConvergesWhereTheBestModelIsZero) {
  // The targets do not depend on the features: every sample stands there with both signs.
  std::string table = "a,b,y\n";
  for (int n = 0; n < 20; ++n) {
    const std::string cells = std::to_string(n) + "," + std::to_string(n * n % 7) + ",";
    table += cells + "1\n" + cells + "-1\n";
  }
  write("zero.csv", table);
  for (const FitMethod method : {FitMethod::tree, FitMethod::exact_diffusion}) {
    for (const bool intercept : {true, false}) {
      FitOptions how = options();
      how.data.file = file("zero.csv");
      how.method = method;
      how.model.intercept = intercept;
      how.tolerance = 1e-8;
      const FitResult result = fit(how);
      EXPECT_EQ(result.end, FitEnd::converged) << name_of(method);
      for (const double w : coefficients(result)) EXPECT_NEAR(w, 0, 1e-8);
    }
  }
}

TEST_F(Fit, ConvergesWhereAllTargetsAreAlike) {
  std::string table = "a,y\n";
  for (int n = 0; n < 12; ++n) table += std::to_string(n) + ",0.1\n";
  write("alike.csv", table);
  FitOptions how = options();
  how.data.file = file("alike.csv");
  const FitResult result = fit(how);
  EXPECT_EQ(result.end, FitEnd::converged);
  EXPECT_NEAR(coefficients(result).back(), 0.1, 1e-12);
}

TEST_F(Fit, SaysThatSeparatedClassesHaveNoBestModel) {
  std::string table = "a,b,y\n";
  for (int n = 0; n < 30; ++n) table += std::to_string(n) + "," + std::to_string(n % 5) + (n < 13 ? ",x\n" : ",z\n");
  write("separated.csv", table);
  for (const char* loss : {"logistic", "softmax"}) {
    FitOptions how = options();
    how.data.file = file("separated.csv");
    how.model.loss = builtin_loss(loss);
    how.model.l2 = 0;
    const FitResult result = fit(how);
    EXPECT_EQ(result.end, FitEnd::separated) << loss;
    EXPECT_LT(result.cost, 1e-3 * result.null_cost);
    EXPECT_EQ(result.fitted.confusion, (std::vector<std::vector<Index>>{{13, 0}, {0, 17}}));
    how.model.l2 = 1e-3;
    EXPECT_EQ(fit(how).end, FitEnd::converged) << loss;
  }
}

TEST_F(Fit, KeepsTheModelThatPredictsSamplesHeldOutBest) {
  // Many features and few samples: a fit to the end learns noise.
  Stream random(8, Purpose::features);
  std::string table = "y";
  for (int j = 0; j < 30; ++j) table += ",x" + std::to_string(j);
  table += "\n";
  for (int n = 0; n < 48; ++n) {
    std::vector<double> x(30);
    random.normals(x);
    table += x[0] + 2 * random.normal() > 0 ? "yes" : "no";
    for (const double value : x) table += "," + shortest(value);
    table += "\n";
  }
  write("noise.csv", table);
  for (const FitMethod method : {FitMethod::tree, FitMethod::exact_diffusion, FitMethod::automatic}) {
    SCOPED_TRACE(name_of(method));
    FitOptions how = options();
    how.data = {.bundled = "", .file = file("noise.csv"), .target = "y"};
    how.method = method;
    how.model.loss = builtin_loss("logistic");
    how.model.l2 = 0;
    how.held_out = 0.4;
    const FitResult result = fit(how);
    EXPECT_TRUE(is_good(result.end));
    double lowest = result.history.front().held_out;
    for (const FitState& state : result.history) lowest = std::min(lowest, state.held_out);
    EXPECT_EQ(result.state.held_out, lowest);
    const auto best = std::ranges::min_element(result.history, {}, &FitState::held_out);
    EXPECT_EQ(result.state.kept, best->iteration);
    EXPECT_LT(result.state.kept, result.state.iteration);
    EXPECT_LT(lowest, result.history.back().held_out);
    ASSERT_TRUE(result.held_out.has_value());
    const auto& metrics = result.held_out->metrics;
    const auto loss = std::ranges::find(metrics, "log_loss", &std::pair<std::string, double>::first);
    ASSERT_NE(loss, metrics.end());
    EXPECT_NEAR(loss->second, lowest, 1e-9);  // the loss, without a penalty
    EXPECT_NEAR(result.null_held_out, result.history.front().held_out, 0);
  }
}

TEST_F(Fit, HoldsOutTheShareOfEveryAgentsSamplesAtLeast) {
  FitOptions how = options();
  how.held_out = 0.25;  // of 15 samples per agent
  EXPECT_EQ(fit(how).held_out->samples, 4 * 4);
}

TEST_F(Fit, WaitsForSamplesHeldOutAndEndsWhereTheyArePredictedWorseAllTheTime) {
  // Every sample stands there with both classes: whatever is learned of the one is wrong for its twin that is held out.
  Stream random(3, Purpose::features);
  constexpr int columns = 25;
  std::string table = "y";
  for (int j = 0; j < columns; ++j) table += ",x" + std::to_string(j);
  table += "\n";
  for (int n = 0; n < 80; ++n) {
    std::string cells;
    for (int j = 0; j < columns; ++j) cells += "," + shortest(random.normal());
    table += "yes" + cells + "\nno" + cells + "\n";
  }
  write("twins.csv", table);
  // The first check at which nothing was gained for long: after more than 20 iterations, after more than 400 of which
  // every 20th is checked, after 10 passes of 50 iterations.
  for (const auto& [method, last] :
       {std::pair{FitMethod::tree, 21}, {FitMethod::exact_diffusion, 420}, {FitMethod::automatic, 500}}) {
    SCOPED_TRACE(name_of(method));
    FitOptions how = options();
    how.data = {.bundled = "", .file = file("twins.csv"), .target = "y"};
    how.method = method;
    how.model.loss = builtin_loss("logistic");
    how.model.l2 = 0;
    how.tolerance = 1e-300;
    how.held_out = 0.2;
    const FitResult result = fit(how);
    EXPECT_EQ(result.end, FitEnd::plateau);
    EXPECT_EQ(result.state.kept, 0);
    EXPECT_EQ(result.state.iteration, last);
  }
}

TEST_F(Fit, GoesOnWhileSmallGainsAddUp) {
  // Two columns that hardly differ, and a target that is their difference: full gradients are slow to see it.
  Stream random(6, Purpose::features);
  std::string table = "a,b,y\n";
  for (int n = 0; n < 80; ++n) {
    const double a = random.normal();
    const double off = random.normal();
    table += shortest(a) + "," + shortest(a + 2e-3 * off) + "," + shortest(a + off) + "\n";
  }
  write("slow.csv", table);
  FitOptions how = options();
  how.data.file = file("slow.csv");
  how.method = FitMethod::exact_diffusion;
  how.model.l2 = 0;
  how.held_out = 0.2;
  how.iterations = 1500;
  const FitResult result = fit(how);
  EXPECT_EQ(result.end, FitEnd::iterations);
  const auto& history = result.history;
  for (std::size_t n = history.size() / 2; n < history.size(); ++n) {
    EXPECT_LT(history[n].held_out, history[n - 1].held_out);
    EXPECT_GT(history[n].held_out, (1 - 1e-4) * history[n - 1].held_out);
  }
}

TEST_F(Fit, EndsOnSamplesHeldOutAlsoWhereTheLossIsNegative) {
  std::string table = "a,y\n";
  for (int n = 0; n < 60; ++n) table += std::to_string(n % 3) + "," + std::to_string(10 + 5 * (n % 3)) + "\n";
  write("counts.csv", table);
  FitOptions how = options();
  how.data.file = file("counts.csv");
  how.method = FitMethod::exact_diffusion;
  how.model.loss = builtin_loss("poisson");
  how.tolerance = 1e-300;
  how.held_out = 0.2;
  how.iterations = 5000;
  const FitResult result = fit(how);
  EXPECT_EQ(result.end, FitEnd::plateau);
  EXPECT_LT(result.state.held_out, 0);
}

TEST_F(Fit, ASampleOnTheWrongSideIsNotSeparatedHoweverSmallTheCost) {
  std::string table = "a,y\n0.01,x\n";  // the first alone is on the other side
  for (int n = 0; n < 2000; ++n) table += n % 2 == 0 ? "1,z\n" : "-1,x\n";
  write("nearly.csv", table);
  FitOptions how = options();
  how.data.file = file("nearly.csv");
  how.model.loss = builtin_loss("logistic");
  how.model.intercept = false;
  how.model.l2 = 0;
  how.tolerance = 1e-6;
  const FitResult result = fit(how);
  EXPECT_LT(result.cost, 1e-3 * result.null_cost);
  EXPECT_EQ(result.end, FitEnd::converged);
}

TEST_F(Fit, AColumnThatHardlyVariesDoesNotSlowAPenalisedFitDown) {
  std::string table = "a,b,y\n";
  for (Index n = 0; n < samples; ++n) {
    table += shortest(h_(n, 0)) + "," + shortest(1e-6 * h_(n, 1)) + "," + shortest(y_[n]) + "\n";
  }
  write("flat.csv", table);
  FitOptions how = options();
  how.data.file = file("flat.csv");
  how.method = FitMethod::exact_diffusion;
  how.tolerance = 1e-6;
  how.iterations = 2000;
  EXPECT_EQ(fit(how).end, FitEnd::converged);
}

TEST_F(Fit, AClassThatIsOnlyHeldOutStaysPossible) {
  write("three.csv", "a,y\n1,p\n2,q\n3,r\n1,p\n2,q\n3,r\n1,p\n2,q\n3,r\n1,p\n");
  FitOptions how = options();
  how.data.file = file("three.csv");
  how.model.loss = builtin_loss("softmax");
  how.graph.agents = 1;
  how.held_out = 0.9;  // one sample is left
  const FitResult result = fit(how);
  EXPECT_TRUE(is_good(result.end));
  EXPECT_TRUE(std::isfinite(result.cost));
  EXPECT_TRUE(std::isfinite(result.state.held_out));
}

TEST_F(Fit, StartsFromTheModelWithoutFeatures) {
  FitOptions how = options();
  how.model.l2 = 0;
  double mean = 0;
  for (const double y : y_) mean += y / samples;
  EXPECT_NEAR(fit(how).null_cost, cost({0, 0, 0, mean}), 1e-12);
  how.data.file = file("signs.csv");
  how.model.loss = builtin_loss("logistic");
  const FitResult result = fit(how);
  const double p = static_cast<double>(result.fitted.classes[0].samples) / samples;
  EXPECT_NEAR(result.null_cost, -p * std::log(p) - (1 - p) * std::log(1 - p), 1e-12);
}

TEST_F(Fit, SitesWithoutSamplesOrWithOneChangeNothing) {
  // All samples but the first at one site, the first at another, and none at two.
  const std::string text = content("numbers.csv");
  const std::size_t second = text.find('\n', text.find('\n') + 1) + 1;
  const std::string header = text.substr(0, text.find('\n') + 1);
  write("site-0.csv", header);
  write("site-1.csv", header + text.substr(second));
  write("site-2.csv", text.substr(0, second));
  write("site-3.csv", header);
  FitOptions sites = options();
  sites.data.file = file("site-{agent}.csv");
  const std::vector<double> expected = normal_equations();
  for (const bool standardise : {false, true}) {
    sites.model.standardise = standardise;
    sites.model.l2 = standardise ? 0 : l2;
    const FitResult result = fit(sites);
    EXPECT_EQ(result.end, FitEnd::converged);
    EXPECT_EQ(result.samples, samples);
    for (const auto& [key, value] : result.fitted.metrics) EXPECT_TRUE(std::isfinite(value)) << key;
    for (std::size_t j = 0; !standardise && j < expected.size(); ++j) {
      EXPECT_NEAR(coefficients(result)[j], expected[j], 1e-6) << "coefficient " << j;
    }
  }
  sites.model.batch = {2, false};
  sites.iterations = 300;
  const FitResult batches = fit(sites);
  EXPECT_NE(batches.end, FitEnd::diverged);
  EXPECT_TRUE(std::isfinite(batches.cost));
  ASSERT_TRUE(batches.held_out);
  for (const auto& [key, value] : batches.held_out->metrics) EXPECT_TRUE(std::isfinite(value)) << key;
}

TEST_F(Fit, TheLossFollowsFromTheTargetWhereNoneIsNamed) {
  EXPECT_FALSE(fit(options()).why_loss.empty());
  FitOptions words = options();
  words.data.file = file("signs.csv");
  const FitResult result = fit(words);
  EXPECT_EQ(result.model.options.loss.name, "logistic");
  EXPECT_EQ(result.why_loss, "the target has 2 values (high, low)");
  words.model.loss = builtin_loss("softmax");
  EXPECT_TRUE(fit(words).why_loss.empty());
}

TEST_F(Fit, NamesWhatItLearnedFrom) {
  const Model model = fit(options()).model;
  EXPECT_EQ(model.options.loss.name, "least-squares");
  EXPECT_EQ(model.features, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(model.target, "y");
  EXPECT_EQ(model.options.l2, l2);
  EXPECT_TRUE(model.classes.empty());
}

TEST_F(Fit, OneAgentFitsAlone) {
  FitOptions alone = options();
  alone.graph.topology = Topology::complete;
  alone.graph.agents = 1;
  const FitResult result = fit(alone);
  EXPECT_EQ(result.end, FitEnd::converged);
  EXPECT_EQ(result.traffic.vectors, 0);
  const std::vector<double> expected = normal_equations();
  for (std::size_t j = 0; j < expected.size(); ++j) EXPECT_NEAR(coefficients(result)[j], expected[j], 1e-6);
}

TEST_F(Fit, WithoutInterceptThereIsNone) {
  FitOptions through_zero = options();
  through_zero.model.intercept = false;
  const FitResult result = fit(through_zero);
  EXPECT_EQ(result.model.weights.columns(), features);
  EXPECT_EQ(result.model.intercept, (std::vector<double>{0}));
  EXPECT_GT(result.cost, cost(normal_equations()) + 1e-3);
}

TEST_F(Fit, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const Batch batch : {Batch{0, true}, Batch{2, false}}) {
    FitOptions how = options(PartitionKind::sizes);
    how.model.batch = batch;
    how.model.standardise = true;
    how.iterations = 300;
    how.tolerance = 1e-6;
    const FitResult one = fit(how);
    for (const Index threads : {2, 3}) {
      how.threads = threads;
      const FitResult more = fit(how);
      EXPECT_EQ(coefficients(more), coefficients(one));
      EXPECT_EQ(more.end, one.end);
      EXPECT_EQ(more.state.iteration, one.state.iteration);
      EXPECT_EQ(more.state.held_out, one.state.held_out);
      EXPECT_EQ(more.cost, one.cost);
      EXPECT_EQ(more.gradients, one.gradients);
      EXPECT_EQ(more.traffic.rounds, one.traffic.rounds);
      EXPECT_EQ(more.traffic.vectors, one.traffic.vectors);
      EXPECT_EQ(more.traffic.scalars, one.traffic.scalars);
    }
  }
}

TEST_F(Fit, TheSeedDecides) {
  FitOptions how = options();
  how.model.batch = {1, false};
  how.iterations = 50;
  const auto first = coefficients(fit(how));
  EXPECT_EQ(coefficients(fit(how)), first);
  how.seed = 1;
  EXPECT_NE(coefficients(fit(how)), first);
}

TEST_F(Fit, BatchesEndWhereHeldOutSamplesArePredictedNoBetter) {
  FitOptions how = options();
  how.model.batch = {4, false};
  how.model.standardise = true;
  how.held_out = 0.2;
  const FitResult result = fit(how);
  EXPECT_EQ(result.end, FitEnd::plateau);
  EXPECT_LT(result.state.iteration, how.iterations);
  EXPECT_LT(cost(coefficients(result)), 0.5 * cost({0, 0, 0, 0}));
}

TEST_F(Fit, FullGradientsEndOnSamplesHeldOutWhereThatIsAsked) {
  FitOptions how = options();
  how.method = FitMethod::exact_diffusion;
  how.tolerance = 1e-300;
  how.held_out = 0.2;
  const FitResult result = fit(how);
  EXPECT_EQ(result.end, FitEnd::plateau);
  ASSERT_TRUE(result.held_out.has_value());
  EXPECT_EQ(result.held_out->samples, 4 * 3);
  EXPECT_EQ(result.fitted.samples, samples - 4 * 3);
  // The tolerance may come first.
  how.tolerance = 0.5;
  EXPECT_EQ(fit(how).end, FitEnd::converged);
  how.held_out = {};
  EXPECT_FALSE(fit(how).held_out.has_value());
}

TEST_F(Fit, HoldsOutSamplesOfEveryKindAlsoWhereTheyAreSorted) {
  std::string sorted = "a,y\n";
  for (int n = 0; n < 40; ++n) sorted += std::to_string(n % 7) + (n < 20 ? ",low\n" : ",high\n");
  write("sorted.csv", sorted);
  FitOptions how = options(PartitionKind::blocks);
  how.data.file = file("sorted.csv");
  how.model.loss = builtin_loss("logistic");
  how.graph.agents = 1;
  how.held_out = 0.25;
  const FitResult result = fit(how);
  ASSERT_TRUE(result.held_out.has_value());
  EXPECT_EQ(result.held_out->samples, 10);
  for (const ClassEvaluation& c : result.held_out->classes) EXPECT_GE(c.samples, 2) << c.name;
  for (const ClassEvaluation& c : result.fitted.classes) EXPECT_GE(c.samples, 10) << c.name;
}

TEST_F(Fit, TheHistoryHoldsEveryCheck) {
  for (const Batch batch : {Batch{0, true}, Batch{2, false}}) {
    FitOptions how = options();
    how.model.batch = batch;
    how.iterations = 90;
    how.threads = 2;
    std::vector<Index> seen;
    FitControl control;
    control.on_check = [&](const FitState& state) { seen.push_back(state.iteration); };
    const FitResult result = fit(how, control);
    std::vector<Index> kept;
    for (const FitState& state : result.history) kept.push_back(state.iteration);
    EXPECT_EQ(kept, seen);
    EXPECT_GT(kept.size(), 2U);
    EXPECT_EQ(kept.front(), 0);
    EXPECT_EQ(kept.back(), result.state.iteration);
  }
}

TEST_F(Fit, SaysHowGoodTheModelIsOnWhatItWasFittedTo) {
  FitOptions how = options(PartitionKind::label);
  for (const auto& [name, loss] :
       {std::pair{"numbers.csv", "least-squares"}, {"signs.csv", "logistic"}, {"signs.csv", "softmax"}}) {
    SCOPED_TRACE(loss);
    how.data.file = file(name);
    how.model.loss = builtin_loss(loss);
    how.model.standardise = true;
    how.model.unit_rows = std::string(loss) == "softmax";
    const FitResult result = fit(how);
    const ModelEvaluation expected = evaluate(result.model, read_data(file(name)));
    EXPECT_EQ(result.fitted.samples, samples);
    ASSERT_EQ(result.fitted.metrics.size(), expected.metrics.size());
    for (std::size_t m = 0; m < expected.metrics.size(); ++m) {
      EXPECT_EQ(result.fitted.metrics[m].first, expected.metrics[m].first);
      EXPECT_NEAR(result.fitted.metrics[m].second, expected.metrics[m].second, 1e-9) << expected.metrics[m].first;
    }
    EXPECT_EQ(result.fitted.confusion, expected.confusion);
  }
}

TEST_F(Fit, UnitRowsAreScaledBeforeTheyAreStandardised) {
  FitOptions how = options();
  how.model.unit_rows = true;
  how.model.standardise = true;
  how.model.l2 = 0;
  const FitResult result = fit(how);
  EXPECT_EQ(result.end, FitEnd::converged);
  EXPECT_TRUE(result.model.options.unit_rows);
  std::vector<double> mean(features);
  for (Index n = 0; n < samples; ++n) {
    const double norm = std::hypot(h_(n, 0), h_(n, 1), h_(n, 2));
    for (std::size_t j = 0; j < features; ++j) mean[j] += h_(n, static_cast<Index>(j)) / norm / samples;
  }
  for (std::size_t j = 0; j < features; ++j) EXPECT_NEAR(result.model.mean.at(j), mean[j], 1e-12);
  // Predictions do not depend on a sample's length.
  const DataTable table = read_data(file("numbers.csv"));
  Rows rows = table.features.dense();
  for (Index n = 0; n < samples; ++n) {
    for (double& x : rows.row(n)) x *= static_cast<double>(n + 2);
  }
  DataTable longer = table;
  longer.features = rows;
  const Rows expected = model_scores(result.model, table);
  const Rows got = model_scores(result.model, longer);
  for (Index n = 0; n < samples; ++n) EXPECT_NEAR(got(0, n), expected(0, n), 1e-9);
}

TEST_F(Fit, BatchesEndAtTheLastIteration) {
  FitOptions how = options();
  how.model.batch = {1, false};
  how.iterations = 7;
  const FitResult result = fit(how);
  EXPECT_EQ(result.end, FitEnd::iterations);
  EXPECT_EQ(result.state.iteration, 7);
}

TEST_F(Fit, TooFewIterationsAreTold) {
  FitOptions how = options();
  how.iterations = 3;
  const FitResult result = fit(how);
  EXPECT_EQ(result.end, FitEnd::iterations);
  EXPECT_EQ(result.state.iteration, 3);
  EXPECT_GT(result.state.gradient, how.tolerance);
}

TEST_F(Fit, StandardisedFeaturesGiveAModelOfTheFeaturesInTheFile) {
  FitOptions how = options(PartitionKind::label);
  how.model.l2 = 0;
  const FitResult plain = fit(how);
  how.model.standardise = true;
  const FitResult standardised = fit(how);
  EXPECT_EQ(standardised.end, FitEnd::converged);
  EXPECT_EQ(standardised.model.mean.size(), static_cast<std::size_t>(features));
  EXPECT_TRUE(plain.model.mean.empty());
  const DataTable table = read_data(file("numbers.csv"));
  const Rows expected = model_scores(plain.model, table);
  const Rows got = model_scores(standardised.model, table);
  for (Index n = 0; n < samples; ++n) EXPECT_NEAR(got(0, n), expected(0, n), 1e-6);
}

TEST_F(Fit, SoftmaxOfTwoClassesPredictsAsLogistic) {
  FitOptions how = options(PartitionKind::label);
  how.data.file = file("signs.csv");
  how.model.standardise = true;
  how.model.loss = builtin_loss("logistic");
  const FitResult logistic = fit(how);
  EXPECT_EQ(logistic.end, FitEnd::converged);
  EXPECT_EQ(logistic.model.classes, (std::vector<std::string>{"high", "low"}));
  // With w_1 = -w_0 = w/2 the penalty of both is (l2/4) ||w||^2.
  how.model.loss = builtin_loss("softmax");
  how.model.l2 = 2 * l2;
  const FitResult softmax = fit(how);
  EXPECT_EQ(softmax.end, FitEnd::converged);
  EXPECT_EQ(softmax.model.weights.rows(), 2);
  for (Index j = 0; j < features; ++j) {
    EXPECT_NEAR(softmax.model.weights(1, j) - softmax.model.weights(0, j), logistic.model.weights(0, j), 1e-6);
  }
  EXPECT_NEAR(softmax.cost, logistic.cost, 1e-9);
}

TEST_F(Fit, EndsWhenToldTo) {
  for (const Batch batch : {Batch{0, true}, Batch{1, false}}) {
    FitOptions how = options();
    how.model.batch = batch;
    how.threads = 3;
    Index checks = 0;
    FitControl control;
    control.on_check = [&](const FitState&) { ++checks; };
    control.stop = [&] { return checks == 2; };
    const FitResult result = fit(how, control);
    EXPECT_EQ(result.end, FitEnd::stopped);
    EXPECT_EQ(checks, 2);
    EXPECT_GT(result.state.iteration, 0);
  }
}

}  // namespace
}  // namespace polyhop::fit_test
