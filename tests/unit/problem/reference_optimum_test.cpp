// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/reference_optimum.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/core/serial_collective.hpp"
#include "polyhop/problem/optimum/descent.hpp"
#include "polyhop/problem/softmax_problem.hpp"
#include "support/thread_team.hpp"
#include "unit/problem/naive.hpp"

namespace polyhop::reference_optimum_test {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using naive::Model;

// J(w) = ||X w - t||^2 / 2 + (l2/2)||w||^2: every sample's row and target times 1/sqrt(K n_k).
std::pair<Matrix, Vector> pooled(const Model& model) {
  const Dataset& data = model.data;
  Matrix x(data.features.rows(), data.features.columns());
  Vector t(data.features.rows());
  for (Index k = 0; k < data.agents(); ++k) {
    const double root = 1 / std::sqrt(static_cast<double>(data.agents() * data.samples(k)));
    for (Index n = data.first(k); n < data.first(k + 1); ++n) {
      for (Index j = 0; j < x.cols(); ++j) x(n, j) = root * data.features.dense()(n, j);
      t(n) = root * data.targets[n];
    }
  }
  return {x, t};
}

// The minimum-norm minimiser by a singular value decomposition; a penalty adds rows sqrt(l2) I to X.
Vector by_singular_values(const Model& model) {
  auto [x, t] = pooled(model);
  if (model.l2 > 0) {
    const auto samples = x.rows();
    x.conservativeResize(samples + x.cols(), Eigen::NoChange);
    x.bottomRows(x.cols()) = std::sqrt(model.l2) * Matrix::Identity(x.cols(), x.cols());
    t.conservativeResize(x.rows());
    t.tail(x.cols()).setZero();
  }
  Eigen::JacobiSVD<Matrix> svd(x, Eigen::ComputeThinU | Eigen::ComputeThinV);
  svd.setThreshold(1e-10);
  return svd.solve(t);
}

void expect_minimiser(const Reference& reference, const Vector& expected, double tolerance) {
  ASSERT_TRUE(reference.minimiser.has_value());
  ASSERT_EQ(static_cast<Eigen::Index>(reference.minimiser->size()), expected.size());
  for (Eigen::Index j = 0; j < expected.size(); ++j) {
    EXPECT_NEAR((*reference.minimiser)[j], expected(j), tolerance) << "coordinate " << j;
  }
}

// Solves, and holds the answer to a singular value decomposition and to its own word.
void expect_least_squares(const Model& model, const std::string& how) {
  const Reference reference = solve_reference(model.problem());
  const Vector expected = by_singular_values(model);
  expect_minimiser(reference, expected, 1e-10);
  const std::vector<double> w(expected.data(), expected.data() + expected.size());
  EXPECT_NEAR(reference.value, naive::risk(model, w), 1e-13);
  EXPECT_GE(reference.accuracy, 0);
  EXPECT_LE(reference.accuracy, 1e-13);
  EXPECT_EQ(reference.how, how);
}

constexpr const char* direct = "least squares, complete orthogonal decomposition";
constexpr const char* normal_equations = "least squares, normal equations with refinement";

TEST(ReferenceOptimum, ByHand) {
  // Two agents with one sample each: J = ((w - 1)^2 + (w - 3)^2) / 4, least at 2 with value 1/2.
  Dataset data;
  data.features = Rows(2, 1, 1);
  data.targets = {1, 3};
  data.offset = {0, 1, 2};
  const Reference reference = solve_reference(Model{data}.problem());
  expect_minimiser(reference, Vector::Constant(1, 2.0), 1e-15);
  EXPECT_NEAR(reference.value, 0.5, 1e-15);
  // With l2 = 1: J = ((w - 1)^2 + (w - 3)^2) / 4 + w^2 / 2, least at 1 with value 1 + 1/2.
  const Reference penalised = solve_reference(Model{data, "least-squares", 1}.problem());
  expect_minimiser(penalised, Vector::Constant(1, 1.0), 1e-15);
  EXPECT_NEAR(penalised.value, 1.5, 1e-15);
}

TEST(ReferenceOptimum, WeighsAgentsEquallyHoweverManySamplesTheyHave) {
  // Agent 0 says 0 three times, agent 1 says 4 once: the middle is 2, not 1.
  Dataset data;
  data.features = Rows(4, 1, 1);
  data.targets = {0, 0, 0, 4};
  data.offset = {0, 3, 4};
  expect_minimiser(solve_reference(Model{data}.problem()), Vector::Constant(1, 2.0), 1e-15);
}

TEST(ReferenceOptimum, OfMoreUnknownsThanSamplesInterpolatesWithTheLeastNorm) {
  const Model model = {naive::random_data({4, 2, 3}, 20, false)};
  expect_least_squares(model, direct);
  EXPECT_LT(solve_reference(model.problem()).value, 1e-28);
}

TEST(ReferenceOptimum, OfMoreSamplesThanUnknownsIsTheLeastSquaresSolution) {
  const Model model = {naive::random_data({10, 7, 15}, 5, false)};
  expect_least_squares(model, direct);
  EXPECT_GT(solve_reference(model.problem()).value, 0.1);
}

TEST(ReferenceOptimum, WithoutFullRankHasTheLeastNorm) {
  Model tall = {naive::random_data({10, 7, 15}, 5, false)};
  Model wide = {naive::random_data({4, 2, 3}, 20, false)};
  for (Model* model : {&tall, &wide}) {
    Rows& features = model->data.features.dense();
    for (Index n = 0; n < features.rows(); ++n) {
      features(n, 1) = features(n, 0);
      features(n, 2) = features(n, 3) - 2 * features(n, 0);
    }
    // A sample that contradicts another one.
    std::ranges::copy(features.row(0), features.row(1).begin());
    expect_least_squares(*model, direct);
    EXPECT_GT(solve_reference(model->problem()).value, 1e-3);
  }
}

TEST(ReferenceOptimum, WithPenaltySolvesTheNormalEquationsOfEitherSide) {
  for (const double l2 : {1e-6, 1e-2, 1.0, 100.0}) {
    expect_least_squares({naive::random_data({10, 7, 15}, 5, false), "least-squares", l2}, normal_equations);
    expect_least_squares({naive::random_data({4, 2, 3}, 20, false), "least-squares", l2}, normal_equations);
  }
}

// Coordinate j is seen by the samples n = j modulo M alone, with feature `scale` of j, so that each has its own
// one-dimensional problem.
Dataset separate_coordinates(Index samples, Index dimension, Index scales) {
  Dataset data;
  data.features = Rows(samples, dimension);
  data.offset = {0, samples};
  for (Index n = 0; n < samples; ++n) {
    const Index j = n % dimension;
    data.features.dense()(n, j) = static_cast<double>(1 + j % scales);
    data.targets.push_back(static_cast<double>(n % 7) - 3);
  }
  return data;
}

// w_j = sum h y / (sum h^2 + N l2), over the samples of coordinate j.
Vector separate_minimiser(const Model& model) {
  const Dataset& data = model.data;
  const Index m = data.features.columns();
  Vector hy = Vector::Zero(m);
  Vector hh = Vector::Constant(m, static_cast<double>(data.features.rows()) * model.l2);
  for (Index n = 0; n < data.features.rows(); ++n) {
    const double h = data.features.dense()(n, n % m);
    hy(n % m) += h * data.targets[n];
    hh(n % m) += h * h;
  }
  return hy.cwiseQuotient(hh);
}

TEST(ReferenceOptimum, TooLargeForAFactorisationOfTheDataSolvesTheNormalEquations) {
  // 62600 * 256 * 256 multiplications are more than the rank-revealing factorisation is given.
  const Model model = {separate_coordinates(62600, 256, 5)};
  const Reference reference = solve_reference(model.problem());
  EXPECT_EQ(reference.how, normal_equations);
  expect_minimiser(reference, separate_minimiser(model), 1e-12);
}

TEST(ReferenceOptimum, TooLargeForAnyMatrixTakesConjugateGradients) {
  // Neither side of 4100 x 4050 fits; three different scales need few steps.
  const Model model = {separate_coordinates(4100, 4050, 3), "least-squares", 1e-3};
  const Reference reference = solve_reference(model.problem());
  EXPECT_NE(reference.how.find("conjugate gradient"), std::string::npos) << reference.how;
  expect_minimiser(reference, separate_minimiser(model), 1e-11);
  EXPECT_LE(reference.accuracy, 1e-13);
}

// Plain gradient descent with step 1/L, long enough for the few well-conditioned unknowns of these tests.
std::vector<double> by_descent(const Model& model, int iterations) {
  double smoothness = model.l2;
  for (Index k = 0; k < model.data.agents(); ++k) {
    for (const Index n : naive::all_samples(model, k)) {
      const auto h = model.data.features.dense().row(model.data.first(k) + n);
      smoothness += naive::product(h, h) / static_cast<double>(model.data.agents() * model.data.samples(k));
    }
  }
  std::vector<double> w(model.data.features.columns());
  for (int i = 0; i < iterations; ++i) {
    const auto g = naive::risk_gradient(model, w);
    for (std::size_t j = 0; j < w.size(); ++j) w[j] -= g[j] / smoothness;
  }
  return w;
}

// A minimiser that descent reaches too, and around which nothing is lower.
void expect_optimum(const Model& model, int iterations) {
  const Reference reference = solve_reference(model.problem());
  ASSERT_TRUE(reference.minimiser.has_value());
  const std::vector<double>& w = *reference.minimiser;
  const auto g = naive::risk_gradient(model, w);
  // Where J is exact to its last digit, 1e-16, the gradient is its root.
  EXPECT_LT(std::sqrt(naive::product(g, g)), 1e-8);
  EXPECT_NEAR(reference.value, naive::risk(model, w), 1e-13);
  EXPECT_NEAR(reference.value, naive::risk(model, by_descent(model, iterations)), 1e-10);
  EXPECT_GE(reference.accuracy, 0);
  EXPECT_LE(reference.accuracy, 1e-12);
  EXPECT_EQ(reference.how, "L-BFGS, then Newton's method");
  for (Index trial = 0; trial < 50; ++trial) {
    for (const double size : {1e-4, 1e-2, 1.0}) {
      std::vector<double> moved = w;
      const auto d = naive::random_point(static_cast<Index>(w.size()), trial);
      for (std::size_t j = 0; j < w.size(); ++j) moved[j] += size * d[j];
      EXPECT_GE(naive::risk(model, moved), reference.value - 1e-15) << "a step of " << size << " goes lower";
    }
  }
}

TEST(ReferenceOptimum, OfTheLogisticLossWithPenalty) {
  for (const double l2 : {0.1, 1.0}) {
    expect_optimum({naive::random_data({10, 7, 15}, 4, true), "logistic", l2}, 5000);
  }
}

TEST(ReferenceOptimum, OfTheLogisticLossOnClassesThatNoPlaneSeparates) {
  expect_optimum({naive::random_data({20, 14, 30}, 3, true), "logistic"}, 20000);
}

TEST(ReferenceOptimum, OfTheHuberLoss) {
  for (const double l2 : {0.0, 0.1}) {
    expect_optimum({naive::random_data({10, 7, 15}, 4, false), "huber", l2, 0.7}, 20000);
  }
}

// Weak duality: for any s with |s_n| <= delta and g = sum_n c_n s_n h_n,
// J(w) >= -sum_n c_n (s_n y_n + s_n^2 / 2) - ||g||^2 / (2 l2), and without penalty the same for g = 0 alone.
// The slopes at w are nearly the best s; those of the samples within delta are moved until g = -l2 w.
double huber_lower_bound(const Model& model, const std::vector<double>& w) {
  const Dataset& data = model.data;
  const Index rows = data.features.rows();
  Matrix ch(data.features.columns(), rows);
  Vector c(rows);
  Vector s(rows);
  for (Index k = 0; k < data.agents(); ++k) {
    for (Index n = data.first(k); n < data.first(k + 1); ++n) {
      const auto h = data.features.dense().row(n);
      c(n) = model.weight(k) / static_cast<double>(data.agents() * data.samples(k));
      s(n) = naive::slope(model, naive::product(h, w), data.targets[n]);
      for (Index j = 0; j < ch.rows(); ++j) ch(j, n) = c(n) * h[j];
    }
  }
  Matrix within = ch;
  for (Index n = 0; n < rows; ++n) {
    if (std::abs(s(n)) > 0.999 * model.delta) within.col(n).setZero();
  }
  const Vector wanted = -model.l2 * Eigen::Map<const Vector>(w.data(), ch.rows());
  s -= within.completeOrthogonalDecomposition().solve(ch * s - wanted);
  EXPECT_LE(s.cwiseAbs().maxCoeff(), model.delta);
  const Vector g = ch * s;
  if (model.l2 == 0) {
    EXPECT_LE(g.norm(), 1e-13);
  }
  const double penalty = model.l2 > 0 ? g.squaredNorm() / (2 * model.l2) : 0;
  const Vector y = Eigen::Map<const Vector>(data.targets.data(), rows);
  return -c.dot(s.cwiseProduct(y) + 0.5 * s.cwiseAbs2()) - penalty;
}

// No w costs less than the reference, by more than it says.
void expect_huber_optimum(const Model& model, const Reference& reference) {
  ASSERT_TRUE(reference.minimiser.has_value());
  EXPECT_NEAR(reference.value, naive::risk(model, *reference.minimiser), 1e-13 * reference.value);
  const double rounding = 1e-12 * reference.value;
  EXPECT_LE(reference.value - huber_lower_bound(model, *reference.minimiser), reference.accuracy + rounding);
  EXPECT_GE(reference.accuracy, 0);
  EXPECT_LE(reference.accuracy, 1e-11 * reference.value);
  EXPECT_EQ(reference.how.find("converge"), std::string::npos) << reference.how;
}

TEST(ReferenceOptimum, OfTheHuberLossOfTargetsFarFrom0) {
  // Few samples are ever within delta, and only these curve.
  SerialCollective alone;
  for (const double spread : {1.0, 40.0}) {
    for (const Index dimension : {4, 10, 40}) {
      for (const double l2 : {0.0, 1e-6, 1e-3}) {
        for (const std::uint64_t seed : {1, 2, 3}) {
          SCOPED_TRACE(testing::Message() << "targets 500 +- " << spread << ", " << dimension << " features, l2 " << l2
                                          << ", seed " << seed);
          Model model = {naive::random_data({3 * dimension, dimension, 5 * dimension + 7}, dimension, false, seed),
                         "huber", l2};
          for (double& y : model.data.targets) y = 500 + spread * y;
          const LinearProblem problem = model.problem();
          expect_huber_optimum(model, solve_reference(problem));
          // Agent by agent.
          expect_huber_optimum(model, solve_reference(problem, alone, {0, 3}, 0));
        }
      }
    }
  }
}

TEST(ReferenceOptimum, OfTheHuberLossOfFarTargetsHasTheSameBitsForAnyNumberOfProcesses) {
  Model model = {naive::random_data({30, 10, 57}, 10, false), "huber"};
  for (double& y : model.data.targets) y = 500 + y;
  SerialCollective alone;
  const Reference expected = solve_reference(model.problem(), alone, {0, 3}, 0);
  test::ThreadTeam::run(3, [&](Team& team) {
    const Index first = model.data.first(team.rank());
    const Index samples = model.data.samples(team.rank());
    Dataset own;
    Rows rows(samples, 10);
    for (Index n = 0; n < samples; ++n)
      std::ranges::copy(model.data.features.dense().row(first + n), rows.row(n).begin());
    own.features = std::move(rows);
    own.targets.assign(model.data.targets.begin() + first, model.data.targets.begin() + first + samples);
    own.offset = {0, samples};
    LinearOptions options;
    options.share = {team.rank(), 3, 97};
    const LinearProblem problem(std::move(own), make_loss("huber"), options);
    const Reference reference = solve_reference(problem, team.collective(), {team.rank(), team.rank() + 1}, 0);
    EXPECT_EQ(reference.value, expected.value);
    EXPECT_EQ(reference.minimiser, expected.minimiser);
  });
}

TEST(ReferenceOptimum, OfTheHuberLossOfFarTargetsAndTooManyFeaturesForAHessian) {
  Model model = {naive::random_data({20, 5, 15}, 2010, false), "huber", 1e-3};
  for (double& y : model.data.targets) y = 1000 + 100 * y;
  const Reference reference = solve_reference(model.problem());
  EXPECT_NE(reference.how.find("by conjugate gradients"), std::string::npos) << reference.how;
  expect_huber_optimum(model, reference);
}

TEST(ReferenceOptimum, OfTheHuberLossThatNothingLowersFrom0) {
  // Features of mean 0, all targets far above: slopes cancel at 0, where no sample curves.
  Dataset data;
  data.features = Rows(4, 1, 1);
  data.features.dense()(1, 0) = data.features.dense()(3, 0) = -1;
  data.targets = {100, 100, 200, 200};
  data.offset = {0, 2, 4};
  const Reference reference = solve_reference(Model{data, "huber"}.problem());
  EXPECT_DOUBLE_EQ(reference.value, 149.5);
  EXPECT_LE(reference.accuracy, 1e-12);
}

// J(w) = -w, which falls forever.
class Falling final : public optimum::Cost {
 public:
  Falling() : Cost(Vector::Zero(1), true) {}
  [[nodiscard]] double evaluate(const Vector& w, Vector* gradient) const override {
    if (gradient != nullptr) *gradient = Vector::Constant(1, -1.0);
    return -w(0);
  }
  void fix_curvature(const Vector& /*w*/) override {}
  [[nodiscard]] Vector curvature_times(const Vector& v) const override { return 0 * v; }
  [[nodiscard]] bool has_small_hessian() const override { return true; }
  [[nodiscard]] Matrix hessian() const override { return Matrix::Zero(1, 1); }
  [[nodiscard]] bool falls_along(const Vector& /*w*/) const override { return false; }
  [[nodiscard]] bool is_positive() const override { return false; }
  [[nodiscard]] bool is_smooth() const override { return true; }
  [[nodiscard]] double work() const override { return 1; }
};

TEST(ReferenceOptimum, SaysWhereItDidNotConverge) {
  Falling cost;
  const Reference reference = optimum::by_descent(cost, Vector::Zero(1));
  EXPECT_EQ(reference.how, "L-BFGS, then Newton's method, which did not converge");
  EXPECT_GE(reference.accuracy, std::abs(reference.value)) << "what does not curve bounds nothing";
}

TEST(ReferenceOptimum, OfMoreUnknownsThanSamplesWithPenalty) {
  expect_optimum({naive::random_data({3, 2, 4}, 15, true), "logistic", 0.2}, 5000);
  expect_optimum({naive::random_data({3, 2, 4}, 15, false), "huber", 0.2, 0.7}, 5000);
}

TEST(ReferenceOptimum, OfTheLogisticLossByHand) {
  // One feature 1 for all, three samples of class 1 and one of class -1: w = ln 3, J = ln 4 - (3/4) ln 3.
  Dataset data;
  data.features = Rows(4, 1, 1);
  data.targets = {1, 1, 1, -1};
  data.offset = {0, 4};
  const Reference reference = solve_reference(Model{data, "logistic"}.problem());
  expect_minimiser(reference, Vector::Constant(1, std::log(3.0)), 1e-8);
  EXPECT_NEAR(reference.value, std::log(4.0) - 0.75 * std::log(3.0), 1e-15);
}

TEST(ReferenceOptimum, SeparableClassesWithoutPenaltyHaveNoMinimiser) {
  Model model = {naive::random_data({10, 7, 15}, 4, true), "logistic"};
  for (Index n = 0; n < model.data.features.rows(); ++n) {
    const auto h = model.data.features.dense().row(n);
    model.data.targets[n] = h[0] + 2 * h[1] - h[3] < 0 ? -1 : 1;
  }
  const Reference reference = solve_reference(model.problem());
  EXPECT_FALSE(reference.minimiser.has_value());
  EXPECT_EQ(reference.value, 0);
  EXPECT_EQ(reference.accuracy, 0);
  EXPECT_NE(reference.how.find("separable"), std::string::npos) << reference.how;
}

TEST(ReferenceOptimum, SeparableClassesWithPenaltyHaveOne) {
  Model model = {naive::random_data({10, 7, 15}, 4, true), "logistic", 0.1};
  for (Index n = 0; n < model.data.features.rows(); ++n) {
    model.data.targets[n] = model.data.features.dense()(n, 0) < 0 ? -1 : 1;
  }
  expect_optimum(model, 5000);
}

// The point has no slope, by the formulas of the dense model.
void expect_stationary(const Model& dense, const Reference& reference) {
  ASSERT_TRUE(reference.minimiser.has_value());
  const auto g = naive::risk_gradient(dense, *reference.minimiser);
  EXPECT_LT(std::sqrt(naive::product(g, g)), 1e-8);
  EXPECT_NEAR(reference.value, naive::risk(dense, *reference.minimiser), 1e-13);
  EXPECT_GE(reference.accuracy, 0);
  EXPECT_LE(reference.accuracy, 1e-12);
}

TEST(ReferenceOptimum, OfWeightedAgentsWithAnInterceptDenseAndSparse) {
  for (const std::string& loss : naive::all_losses) {
    for (const bool intercept : {false, true}) {
      SCOPED_TRACE(loss + (intercept ? ", intercept" : ""));
      const Model dense = naive::holey_model(loss, 0.1, 5, intercept);
      const Reference reference = solve_reference(dense.problem());
      const Reference sparse = solve_reference(naive::sparse(dense).problem());
      expect_stationary(dense, reference);
      expect_stationary(dense, sparse);
      EXPECT_NEAR(sparse.value, reference.value, 1e-13);
      EXPECT_EQ(sparse.how, reference.how);
    }
  }
}

TEST(ReferenceOptimum, OfMoreUnknownsThanSamplesWithAnIntercept) {
  // Penalised unlike the rest, it does not fit into the equations of the samples' side.
  for (const std::string loss : {"least-squares", "logistic"}) {
    const Model dense = naive::holey_model(loss, 0.1, 20, true);
    expect_stationary(dense, solve_reference(dense.problem()));
    expect_stationary(dense, solve_reference(naive::sparse(dense).problem()));
  }
}

TEST(ReferenceOptimum, OfSparseLeastSquaresWithoutPenaltyHasTheLeastNorm) {
  for (const Index dimension : {5, 20}) {
    const Model dense = naive::holey_model("least-squares", 0, dimension, false);
    const Reference reference = solve_reference(dense.problem());
    const Reference sparse = solve_reference(naive::sparse(dense).problem());
    EXPECT_NE(sparse.how.find("conjugate gradient"), std::string::npos) << sparse.how;
    ASSERT_TRUE(sparse.minimiser && reference.minimiser);
    for (std::size_t j = 0; j < sparse.minimiser->size(); ++j) {
      EXPECT_NEAR((*sparse.minimiser)[j], (*reference.minimiser)[j], 1e-9) << j;
    }
    EXPECT_NEAR(sparse.value, reference.value, 1e-13);
    EXPECT_GE(sparse.accuracy, 0);
  }
}

TEST(ReferenceOptimum, OfCountsByHand) {
  // One feature 1 for all: w is the logarithm of the mean count 3, and J = 3 - 3 ln 3 is below 0.
  Dataset data;
  data.features = Rows(4, 1, 1);
  data.targets = {0, 2, 3, 7};
  data.offset = {0, 4};
  const Reference reference = solve_reference(Model{data, "poisson"}.problem());
  expect_minimiser(reference, Vector::Constant(1, std::log(3.0)), 1e-8);
  EXPECT_NEAR(reference.value, 3 - 3 * std::log(3.0), 1e-14);
  EXPECT_GE(reference.accuracy, 0);
}

TEST(ReferenceOptimum, OfCountsWhoseFeaturesOverflowAtFirst) {
  // A step of 1 along the gradient would take e^1000.
  Model model = naive::random_model("poisson", 0, 2);
  for (Index n = 0; n < model.data.features.rows(); ++n) {
    for (double& x : model.data.features.dense().row(n)) x *= 1000;
  }
  const Reference reference = solve_reference(model.problem());
  ASSERT_TRUE(reference.minimiser.has_value());
  const auto g = naive::risk_gradient(model, *reference.minimiser);
  EXPECT_LT(std::sqrt(naive::product(g, g)), 1e-4) << "gradients are 1000 times as large";
}

TEST(ReferenceOptimum, SeparableClassesHaveAMinimiserOfTheSmoothedHinge) {
  Model model = {naive::random_data({10, 7, 15}, 4, true), "smoothed-hinge"};
  for (Index n = 0; n < model.data.features.rows(); ++n) {
    model.data.targets[n] = model.data.features.dense()(n, 0) < 0 ? -1 : 1;
  }
  const Reference reference = solve_reference(model.problem());
  ASSERT_TRUE(reference.minimiser.has_value());
  EXPECT_LT(reference.value, 1e-12);
}

// Costs of softmax at one point, the mean over agents.
double risk(const SoftmaxProblem& problem, const std::vector<double>& w) {
  Rows point(1, problem.dimension());
  std::ranges::copy(w, point.row(0).begin());
  Rows costs(problem.agents(), 1);
  problem.costs({0, problem.agents()}, point, costs);
  double sum = 0;
  for (Index k = 0; k < problem.agents(); ++k) sum += costs(k, 0);
  return sum / static_cast<double>(problem.agents());
}

TEST(ReferenceOptimum, OfSoftmaxDenseAndSparse) {
  for (const bool intercept : {false, true}) {
    Model model = naive::holey_model("least-squares", 0.05, 6, intercept);
    for (std::size_t n = 0; n < model.data.targets.size(); ++n) model.data.targets[n] = static_cast<double>(n % 3);
    const LinearOptions options = model.options({0, true}, Sampling::cyclic);
    const SoftmaxProblem dense(model.data, 3, options);
    const Reference reference = solve_reference(dense);
    ASSERT_TRUE(reference.minimiser.has_value());
    EXPECT_NEAR(reference.value, risk(dense, *reference.minimiser), 1e-13);
    EXPECT_GE(reference.accuracy, 0);
    EXPECT_LE(reference.accuracy, 1e-12);
    for (Index trial = 0; trial < 50; ++trial) {
      for (const double size : {1e-4, 1e-2, 1.0}) {
        std::vector<double> moved = *reference.minimiser;
        const auto d = naive::random_point(18, trial);
        for (std::size_t j = 0; j < moved.size(); ++j) moved[j] += size * d[j];
        EXPECT_GE(risk(dense, moved), reference.value - 1e-14) << "a step of " << size << " goes lower";
      }
    }
    const Reference sparse = solve_reference(SoftmaxProblem(naive::sparse(model).data, 3, options));
    EXPECT_NEAR(sparse.value, reference.value, 1e-13);
  }
}

TEST(ReferenceOptimum, OfSoftmaxOnTwoClassesIsThatOfTheLogisticLoss) {
  // w_1 - w_0 = v at the least penalty: w_1 = v/2 = -w_0, so that the penalty of both is half of v's.
  Model model = {naive::random_data({10, 7, 15}, 4, true), "logistic", 0.1};
  const Reference logistic = solve_reference(model.problem());
  for (double& y : model.data.targets) y = y > 0 ? 1 : 0;
  const Reference softmax = solve_reference(SoftmaxProblem(model.data, 2, {.l2 = 0.2}));
  EXPECT_NEAR(softmax.value, logistic.value, 1e-13);
}

TEST(ReferenceOptimum, OfFeaturesThatDifferByOrdersOfMagnitudeIsThatOfEvenOnes) {
  // Without penalty the units of a feature change the minimiser, but not the minimum.
  Model model = naive::holey_model("least-squares", 0, 4, false);
  for (std::size_t n = 0; n < model.data.targets.size(); ++n) model.data.targets[n] = static_cast<double>(n % 2);
  const Reference even = solve_reference(SoftmaxProblem(model.data, 2));
  Rows& features = model.data.features.dense();
  for (Index n = 0; n < features.rows(); ++n) {
    for (Index j = 0; j < features.columns(); ++j) features(n, j) *= std::pow(1e4, static_cast<double>(j) - 1);
  }
  const Reference uneven = solve_reference(SoftmaxProblem(model.data, 2));
  ASSERT_TRUE(even.minimiser && uneven.minimiser);
  EXPECT_NEAR(uneven.value, even.value, 1e-12);
  EXPECT_LE(uneven.accuracy, 1e-12);
}

TEST(ReferenceOptimum, DoesNotDependOnTheUnitsOfAllFeaturesTogether) {
  for (const char* loss : {"smoothed-hinge", "logistic"}) {
    Model model = {naive::random_data({10, 7, 15}, 4, true), loss};
    const Reference one = solve_reference(model.problem());
    ASSERT_GT(one.value, 0.01) << loss;
    for (const double units : {1e-12, 1e12}) {
      Model other = {naive::random_data({10, 7, 15}, 4, true), loss};
      scale(units, other.data.features.dense());
      const Reference scaled = solve_reference(other.problem());
      ASSERT_TRUE(scaled.minimiser.has_value()) << loss << ' ' << units;
      EXPECT_NEAR(scaled.value, one.value, 1e-12) << loss << ' ' << units;
    }
  }
}

TEST(ReferenceOptimum, OfDataThatAreNotBroughtTogetherHasTheLeastNorm) {
  // w_0 + 10 w_1 = 101, for two agents of one sample each.
  Dataset data;
  data.features = Rows(2, 2, 1);
  for (Index n = 0; n < 2; ++n) data.features.dense()(n, 1) = 10;
  data.targets = {101, 101};
  data.offset = {0, 1, 2};
  const Model model = {data};
  const LinearProblem problem = model.problem();
  SerialCollective alone;
  const Reference reference = solve_reference(problem, alone, {0, 2}, 0);
  ASSERT_TRUE(reference.minimiser.has_value());
  EXPECT_NEAR((*reference.minimiser)[0], 1, 1e-9);
  EXPECT_NEAR((*reference.minimiser)[1], 10, 1e-9);
  EXPECT_LT(reference.value, 1e-20);
}

// Two processes of one agent each; the second has 2.2 million numbers.
TEST(ReferenceOptimum, OfManyDataThatPassToTheFirstProcess) {
  constexpr Index features = 16;
  test::ThreadTeam::run(2, [](Team& team) {
    const Index samples = team.is_first() ? 3 : 137500;
    Dataset data;
    Rows rows(samples, features);
    Stream random(1, Purpose::features, team.rank());
    for (Index n = 0; n < samples; ++n) {
      random.normals(rows.row(n));
      double y = 0;
      for (Index j = 0; j < features; ++j) y += static_cast<double>(j) * rows(n, j);
      data.targets.push_back(y);
    }
    data.features = std::move(rows);
    data.offset = {0, samples};
    LinearOptions options;
    options.share = {team.rank(), 2, 137503};
    const LinearProblem problem(std::move(data), builtin_loss("least-squares").loss, options);
    const Reference reference = solve_reference(problem, team.collective(), {team.rank(), team.rank() + 1});
    ASSERT_TRUE(reference.minimiser.has_value());
    for (Index j = 0; j < features; ++j) {
      EXPECT_NEAR((*reference.minimiser)[j], static_cast<double>(j), 1e-9);
    }
  });
}

TEST(ReferenceOptimum, SeparableClassesOfSoftmaxHaveNoMinimiserWithoutPenalty) {
  Model model = {naive::random_data({10, 7, 15}, 2, true)};
  for (Index n = 0; n < model.data.features.rows(); ++n) {
    const auto h = model.data.features.dense().row(n);
    model.data.targets[n] = h[0] < 0 ? 0 : (h[1] < 0 ? 1 : 2);
  }
  const Reference reference = solve_reference(SoftmaxProblem(model.data, 3));
  EXPECT_FALSE(reference.minimiser.has_value());
  EXPECT_EQ(reference.value, 0);
  EXPECT_NE(reference.how.find("separable"), std::string::npos) << reference.how;
}

}  // namespace
}  // namespace polyhop::reference_optimum_test
