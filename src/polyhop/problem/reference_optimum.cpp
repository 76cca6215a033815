// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/reference_optimum.hpp"

#include <lbfgs.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/problem/linear_problem.hpp"
#include "polyhop/problem/softmax_problem.hpp"

namespace polyhop {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using DenseFeatures = Eigen::Map<const RowMatrix, Eigen::Unaligned, Eigen::OuterStride<>>;

// The features H of all samples as a matrix, dense or sparse.
class Design {
 public:
  explicit Design(const Features& h) : h_(h) {}
  [[nodiscard]] Index rows() const { return h_.rows(); }
  [[nodiscard]] Index cols() const { return h_.columns(); }
  [[nodiscard]] bool is_sparse() const { return h_.is_sparse(); }
  [[nodiscard]] DenseFeatures dense() const {
    return {h_.dense().data(), rows(), cols(), Eigen::OuterStride<>(h_.dense().stride())};
  }

  // How many numbers it holds: what a product with a vector costs.
  [[nodiscard]] double size() const {
    if (!is_sparse()) return static_cast<double>(rows()) * static_cast<double>(cols());
    double sum = 0;
    for (Index n = 0; n < rows(); ++n) sum += static_cast<double>(h_.values_of(n).size());
    return sum;
  }

  // H w^T, a row of w for each prediction; also where w is a vector.
  [[nodiscard]] RowMatrix times(const Eigen::Ref<const RowMatrix>& w) const {
    if (!is_sparse()) return dense() * w.transpose();
    RowMatrix z(rows(), w.rows());
    for (Index n = 0; n < rows(); ++n) {
      for (Index c = 0; c < w.rows(); ++c) z(n, c) = h_.dot(n, w.row(c).data());
    }
    return z;
  }

  // s^T H, the other way round.
  [[nodiscard]] RowMatrix gathered(const RowMatrix& s) const {
    if (!is_sparse()) return s.transpose() * dense();
    RowMatrix g = RowMatrix::Zero(s.cols(), cols());
    for (Index n = 0; n < rows(); ++n) {
      for (Index c = 0; c < s.cols(); ++c) h_.add_scaled(s(n, c), n, g.row(c).data());
    }
    return g;
  }

  // H^T diag(weights) H, dense rows a few thousand at a time.
  [[nodiscard]] Matrix gram(const Vector& weights) const {
    Matrix gram = Matrix::Zero(cols(), cols());
    constexpr Index chunk = 4096;
    for (Index n = 0; n < rows(); n += is_sparse() ? 1 : chunk) {
      if (is_sparse()) {
        add_square(n, weights(n), gram);
        continue;
      }
      const Index count = std::min(chunk, rows() - n);
      const Matrix part = weights.segment(n, count).cwiseSqrt().asDiagonal() * dense().middleRows(n, count);
      gram.selfadjointView<Eigen::Lower>().rankUpdate(part.transpose());
    }
    gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
    return gram;
  }

 private:
  // The lower half of gram += weight h h^T; columns rise along a row.
  void add_square(Index n, double weight, Matrix& gram) const {
    const auto columns = h_.columns_of(n);
    const auto values = h_.values_of(n);
    for (std::size_t a = 0; a < columns.size(); ++a) {
      for (std::size_t b = a; b < columns.size(); ++b) gram(columns[b], columns[a]) += weight * values[a] * values[b];
    }
  }

  const Features& h_;
};

// J on the pooled data: J(w) = sum_n c_n loss_n(H w) + (1/2) sum_j penalty_j w_j^2, c_n = weight_k / (K n_k).
class Pooled {
 public:
  explicit Pooled(const DataProblem& problem)
      : h(problem.data().features),
        y(Eigen::Map<const Vector>(problem.data().targets.data(), h.rows())),
        c(h.rows()),
        penalty(Vector::Constant(problem.dimension(), problem.l2())),
        is_flat(problem.l2() == 0) {
    const auto agents = static_cast<double>(problem.agents());
    for (Index k = 0; k < problem.agents(); ++k) {
      c.segment(problem.data().first(k), problem.data().samples(k))
          .setConstant(problem.weight(k) / (agents * static_cast<double>(problem.data().samples(k))));
    }
    if (!problem.intercept()) return;
    for (Index j = problem.features() - 1; j < problem.dimension(); j += problem.features()) penalty(j) = 0;
  }
  virtual ~Pooled() = default;

  // J(w) and, where asked for, its gradient.
  [[nodiscard]] virtual double evaluate(const Vector& w, Vector* gradient) const = 0;
  [[nodiscard]] double value(const Vector& w) const { return evaluate(w, nullptr); }
  [[nodiscard]] Vector gradient(const Vector& w) const {
    Vector g;
    (void)evaluate(w, &g);
    return g;
  }
  // Keeps the curvatures at w, for the Hessian there times a vector.
  virtual void fix_curvature(const Vector& w) = 0;
  [[nodiscard]] virtual Vector curvature_times(const Vector& v) const = 0;
  // The Hessian at that w, where it has been asked for its size.
  [[nodiscard]] virtual bool has_small_hessian() const = 0;
  [[nodiscard]] virtual Matrix hessian() const = 0;
  // True when costs fall towards 0 for ever along w, because every sample is on the side of its class.
  [[nodiscard]] virtual bool falls_along(const Vector& w) const = 0;
  // True when no cost is below 0.
  [[nodiscard]] virtual bool is_positive() const = 0;
  [[nodiscard]] virtual bool is_smooth() const = 0;
  // Multiplications that a gradient takes.
  [[nodiscard]] double work() const { return 2 * h.size() * static_cast<double>(penalty.size() / h.cols()); }

  Design h;
  Eigen::Map<const Vector> y;
  Vector c;
  Vector penalty;
  bool is_flat;  // without penalty

 protected:
  [[nodiscard]] double half_penalty(const Vector& w) const { return 0.5 * penalty.dot(w.cwiseAbs2()); }
};

class PooledLinear final : public Pooled {
 public:
  explicit PooledLinear(const LinearProblem& problem) : Pooled(problem), loss_(problem.loss()) {}

  [[nodiscard]] double evaluate(const Vector& w, Vector* gradient) const override {
    const Vector z = h.times(w.transpose());
    Vector terms(z.size());
    if (gradient != nullptr) {
      loss_.slopes(span(z), span(y), span(terms));
      *gradient = transposed_times(c.cwiseProduct(terms)) + penalty.cwiseProduct(w);
    }
    loss_.values(span(z), span(y), span(terms));
    return c.dot(terms) + half_penalty(w);
  }
  [[nodiscard]] Vector transposed_times(const Vector& s) const { return h.gathered(s).transpose(); }

  void fix_curvature(const Vector& w) override {
    const Vector z = h.times(w.transpose());
    curvature_.resize(z.size());
    loss_.curvatures(span(z), span(y), span(curvature_));
    curvature_ = curvature_.cwiseProduct(c);
  }
  [[nodiscard]] Vector curvature_times(const Vector& v) const override {
    const Vector z = h.times(v.transpose());
    return transposed_times(curvature_.cwiseProduct(z)) + penalty.cwiseProduct(v);
  }
  [[nodiscard]] bool has_small_hessian() const override {
    constexpr Index newton_dimension = 2000;
    constexpr double newton_work = 4e10;
    return h.cols() <= newton_dimension && h.size() * static_cast<double>(h.cols()) <= newton_work;
  }
  [[nodiscard]] Matrix hessian() const override { return penalised_gram(curvature_); }
  [[nodiscard]] Matrix penalised_gram(const Vector& weights) const {
    Matrix gram = h.gram(weights);
    gram.diagonal() += penalty;
    return gram;
  }

  [[nodiscard]] bool falls_along(const Vector& w) const override {
    if (!is_flat || !loss_.has_tail()) return false;
    const Vector z = h.times(w.transpose());
    return (z.array() * y.array() > 0).all();
  }
  [[nodiscard]] bool is_positive() const override { return !loss_.is_count(); }
  [[nodiscard]] bool is_smooth() const override { return std::isfinite(loss_.max_curvature()); }

 private:
  static std::span<const Real> span(const Eigen::Ref<const Vector>& v) {
    return {v.data(), static_cast<std::size_t>(v.size())};
  }
  static std::span<Real> span(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
  const Loss& loss_;
  Vector curvature_;
};

class PooledSoftmax final : public Pooled {
 public:
  explicit PooledSoftmax(const SoftmaxProblem& problem) : Pooled(problem), classes_(problem.classes()) {}

  [[nodiscard]] double evaluate(const Vector& w, Vector* gradient) const override {
    RowMatrix z = h.times(blocks(w));
    double sum = 0;
    for (Index n = 0; n < z.rows(); ++n) {
      sum += c(n) * normalise(z, n);
      z(n, static_cast<Index>(y(n))) -= 1;
    }
    if (gradient != nullptr) *gradient = gathered(z) + penalty.cwiseProduct(w);
    return sum + half_penalty(w);
  }

  void fix_curvature(const Vector& w) override {
    probabilities_ = h.times(blocks(w));
    for (Index n = 0; n < probabilities_.rows(); ++n) (void)normalise(probabilities_, n);
  }
  // (diag(p) - p p^T) applied to the predictions of v, sample by sample.
  [[nodiscard]] Vector curvature_times(const Vector& v) const override {
    RowMatrix z = h.times(blocks(v));
    for (Index n = 0; n < z.rows(); ++n) {
      const double mean = z.row(n).dot(probabilities_.row(n));
      z.row(n) = probabilities_.row(n).array() * (z.row(n).array() - mean);
    }
    return gathered(z) + penalty.cwiseProduct(v);
  }
  [[nodiscard]] bool has_small_hessian() const override { return false; }
  [[nodiscard]] Matrix hessian() const override { return {}; }

  [[nodiscard]] bool falls_along(const Vector& w) const override {
    if (!is_flat) return false;
    RowMatrix z = h.times(blocks(w));
    for (Index n = 0; n < z.rows(); ++n) {
      double& own = z(n, static_cast<Index>(y(n)));
      const double margin = own;
      own = -std::numeric_limits<double>::infinity();
      if (!(margin > z.row(n).maxCoeff())) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_positive() const override { return true; }
  [[nodiscard]] bool is_smooth() const override { return true; }

 private:
  [[nodiscard]] Eigen::Map<const RowMatrix> blocks(const Vector& w) const { return {w.data(), classes_, h.cols()}; }
  // Row n of z becomes probabilities; returns the loss.
  double normalise(RowMatrix& z, Index n) const {
    Real* row = z.row(n).data();
    return softmax_loss({row, static_cast<std::size_t>(classes_)}, static_cast<Index>(y(n)), row);
  }
  // sum_n c_n s_nc h_n, class after class
  [[nodiscard]] Vector gathered(RowMatrix& s) const {
    s.array().colwise() *= c.array();
    const RowMatrix g = h.gathered(s);
    return Eigen::Map<const Vector>(g.data(), g.size());
  }

  Index classes_;
  RowMatrix probabilities_;
};

Reference finish(const Pooled& cost, const Vector& w, double accuracy, std::string how) {
  Reference reference;
  reference.minimiser.emplace(w.begin(), w.end());
  reference.value = cost.value(w);
  reference.accuracy = accuracy + 1e-15 * std::abs(reference.value);
  // Where no cost is negative, a value below what its own rounding leaves bounds the error itself.
  if (cost.is_positive()) reference.accuracy = std::min(reference.value, reference.accuracy);
  reference.how = std::move(how);
  return reference;
}

// Largest sizes (in multiplications, in rows) for which each direct method takes seconds at most.
constexpr double rank_revealing_work = 4e9;
constexpr Index normal_equations_rows = 4000;

// How many gradients a few minutes pay for.
int affordable_gradients(const Pooled& cost) {
  constexpr double work = 2e11;
  return static_cast<int>(std::clamp(work / cost.work(), 200.0, 5000.0));
}

Reference by_rank_revealing(const PooledLinear& cost) {
  const Vector root = cost.c.cwiseSqrt();
  const Matrix x = root.asDiagonal() * cost.h.dense();
  const Vector t = root.cwiseProduct(cost.y);
  const Eigen::CompleteOrthogonalDecomposition<Matrix> solver(x);
  Vector w = solver.solve(t);
  // One step of refinement, whose own prediction of the gain is the accuracy.
  w += solver.solve(t - x * w);
  const Vector left = t - x * w;
  const double gain = 0.5 * (x * solver.solve(left)).squaredNorm();
  return finish(cost, w, gain, "least squares, complete orthogonal decomposition");
}

constexpr const char* normal_equations = "least squares, normal equations with refinement";

// The wide form, through the samples' side; every coefficient is penalised alike.
Reference by_dual_equations(const PooledLinear& cost, double l2) {
  const Vector root = cost.c.cwiseSqrt();
  const Matrix x = root.asDiagonal() * cost.h.dense();
  Matrix gram = x * x.transpose();
  gram.diagonal().array() += l2;
  const Eigen::LDLT<Matrix> solver(gram);
  Vector w = Vector::Zero(cost.h.cols());
  Vector dual = Vector::Zero(cost.h.rows());
  double gain = 0;
  for (int step = 0; step < 4; ++step) {
    const Vector left = root.cwiseProduct(cost.y) - x * w - l2 * dual;
    const Vector change = solver.solve(left);
    gain = 0.5 * std::abs(left.dot(left - l2 * change));
    dual += change;
    w = x.transpose() * dual;
  }
  return finish(cost, w, gain, normal_equations);
}

Reference by_normal_equations(const PooledLinear& cost) {
  const Eigen::LDLT<Matrix> solver(cost.penalised_gram(cost.c));
  Vector w = Vector::Zero(cost.h.cols());
  double gain = 0;
  for (int step = 0; step < 4; ++step) {
    const Vector g = cost.gradient(w);
    const Vector change = solver.solve(-g);
    gain = 0.5 * std::abs(g.dot(change));
    w += change;
  }
  return finish(cost, w, gain, normal_equations);
}

// The error of conjugate gradients is the sum of all gains to come: here, of the last ones that came.
double last_gains(const std::vector<double>& gains) {
  const auto count = std::min<std::ptrdiff_t>(10, static_cast<std::ptrdiff_t>(gains.size()));
  return std::accumulate(gains.end() - count, gains.end(), 0.0);
}

// Conjugate gradients for curvature * d = r, from 0, until ||r|| is `enough` of what it was; returns each step's gain.
std::vector<double> conjugate_gradients(const Pooled& cost, Vector r, double enough, int most, Vector& d) {
  d = Vector::Zero(r.size());
  Vector p = r;
  double rr = r.squaredNorm();
  const double last = enough * enough * rr;
  std::vector<double> gains;
  while (static_cast<int>(gains.size()) < most && rr > last) {
    const Vector q = cost.curvature_times(p);
    const double curvature = p.dot(q);
    if (!(curvature > 0)) break;
    const double a = rr / curvature;
    d += a * p;
    r -= a * q;
    gains.push_back(0.5 * a * rr);
    const double next = r.squaredNorm();
    p = r + (next / rr) * p;
    rr = next;
  }
  return gains;
}

// From 0, so that without penalty it is the solution of minimum norm; without any Gram matrix.
Reference by_conjugate_gradients(PooledLinear& cost) {
  const Vector zero = Vector::Zero(cost.h.cols());
  cost.fix_curvature(zero);
  Vector w;
  const auto gains = conjugate_gradients(cost, -cost.gradient(zero), 1e-14, affordable_gradients(cost), w);
  const double least = cost.penalty.minCoeff();
  const double accuracy = least > 0 ? cost.gradient(w).squaredNorm() / (2 * least) : last_gains(gains);
  return finish(cost, w, accuracy, "least squares, " + std::to_string(gains.size()) + " conjugate gradient steps");
}

struct Descent {
  const Pooled& cost;
  bool falls = false;
};

double lbfgs_evaluate(void* instance, const double* x, double* g, int n, double /*step*/) {
  const Vector w = Eigen::Map<const Vector>(x, n);
  Vector gradient;
  const double value = static_cast<const Descent*>(instance)->cost.evaluate(w, &gradient);
  Eigen::Map<Vector>(g, n) = gradient;
  // What overflows is too far, and the line search turns back.
  return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
}

int lbfgs_progress(void* instance, const double* x, const double*, double, double, double, double, int n, int, int) {
  auto& descent = *static_cast<Descent*>(instance);
  descent.falls = descent.cost.falls_along(Eigen::Map<const Vector>(x, n));
  return descent.falls ? 1 : 0;
}

// Newton's method with halving, from a point that is already good; returns the last decrement's predicted gain.
double polish(Pooled& cost, Vector& w, int steps, const std::function<Vector(const Vector& g)>& direction) {
  double gain = 0;
  double value = cost.value(w);
  for (int step = 0; step < steps; ++step) {
    const Vector g = cost.gradient(w);
    cost.fix_curvature(w);
    const Vector d = direction(g);
    gain = 0.5 * std::abs(g.dot(d));
    if (!(gain > 1e-17 * std::max(1.0, std::abs(value)))) break;
    double a = 1;
    while (a > 1e-6 && !(cost.value(w + a * d) < value)) a /= 2;
    if (a <= 1e-6) break;
    w += a * d;
    value = cost.value(w);
  }
  return gain;
}

double polish_by_factorisation(Pooled& cost, Vector& w) {
  return polish(cost, w, 30, [&](const Vector& g) -> Vector {
    Matrix hessian = cost.hessian();
    hessian.diagonal().array() += 1e-14 * hessian.diagonal().maxCoeff();
    return Eigen::LDLT<Matrix>(hessian).solve(-g);
  });
}

double polish_by_conjugate_gradients(Pooled& cost, Vector& w) {
  const int most = std::min(affordable_gradients(cost) / 8, 20 + 2 * static_cast<int>(w.size()));
  return polish(cost, w, 8, [&](const Vector& g) {
    Vector d;
    (void)conjugate_gradients(cost, -g, 1e-6, most, d);
    return d;
  });
}

Reference by_descent(Pooled& cost) {
  Descent descent{cost};
  std::vector<double> x(static_cast<std::size_t>(cost.penalty.size()), 0.0);
  lbfgs_parameter_t parameters;
  lbfgs_parameter_init(&parameters);
  parameters.m = 20;
  parameters.epsilon = 1e-11;
  parameters.max_iterations = affordable_gradients(cost);
  // Interpolation needs finite values everywhere.
  parameters.linesearch = cost.is_smooth() ? LBFGS_LINESEARCH_MORETHUENTE : LBFGS_LINESEARCH_BACKTRACKING_STRONG_WOLFE;
  parameters.max_linesearch = 60;
  // Any return code is fine: what was reached is judged below, from the point itself.
  lbfgs(static_cast<int>(x.size()), x.data(), nullptr, lbfgs_evaluate, lbfgs_progress, &descent, &parameters);
  if (descent.falls) {
    Reference reference;
    reference.accuracy = 0;
    reference.how = "the classes are separable: no minimiser, infimum 0";
    return reference;
  }
  Vector w = Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
  const bool small = cost.has_small_hessian();
  double accuracy = small ? polish_by_factorisation(cost, w) : polish_by_conjugate_gradients(cost, w);
  const double least = cost.penalty.minCoeff();
  if (!small && least > 0) accuracy = std::max(accuracy, cost.gradient(w).squaredNorm() / (2 * least));
  return finish(cost, w, accuracy,
                small ? "L-BFGS, then Newton's method" : "L-BFGS, then Newton's method by conjugate gradients");
}

Reference by_least_squares(PooledLinear& cost) {
  const Index rows = cost.h.rows();
  const Index cols = cost.h.cols();
  const bool alike = cost.penalty.minCoeff() == cost.penalty.maxCoeff();
  const bool wide = rows < cols && alike && !cost.h.is_sparse();
  const Index small = wide ? rows : cols;
  const double work = cost.h.size() * static_cast<double>(std::min(rows, cols));
  if (cost.is_flat && !cost.h.is_sparse() && work <= rank_revealing_work) return by_rank_revealing(cost);
  // Sparse features without penalty may well have no full rank, and conjugate gradients do not mind.
  if (small <= normal_equations_rows && !(cost.is_flat && cost.h.is_sparse())) {
    Reference reference = wide ? by_dual_equations(cost, cost.penalty(0)) : by_normal_equations(cost);
    // A Gram matrix without full rank spoils the factorisation.
    if (reference.accuracy <= 1e-10 * std::max(1.0, reference.value)) return reference;
  }
  return by_conjugate_gradients(cost);
}

}  // namespace

Reference solve_reference(const DataProblem& problem) {
  if (const auto* softmax = dynamic_cast<const SoftmaxProblem*>(&problem)) {
    PooledSoftmax cost(*softmax);
    return by_descent(cost);
  }
  const auto* linear = dynamic_cast<const LinearProblem*>(&problem);
  if (linear == nullptr) throw Error("the optimum of these costs is not known how to find");
  PooledLinear cost(*linear);
  return linear->is_quadratic() ? by_least_squares(cost) : by_descent(cost);
}

}  // namespace polyhop
