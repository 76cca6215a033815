// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/reference_optimum.hpp"

#include <lbfgs.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/codec.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/core/serial_collective.hpp"
#include "polyhop/problem/linear_problem.hpp"
#include "polyhop/problem/softmax_problem.hpp"

namespace polyhop {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using DenseFeatures = Eigen::Map<const RowMatrix, Eigen::Unaligned, Eigen::OuterStride<>>;

// The features H of some samples that follow each other as a matrix, dense or sparse.
class Design {
 public:
  Design(const Features& h, Index first, Index last) : h_(h), first_(first), rows_(last - first) {}
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return h_.columns(); }
  [[nodiscard]] bool is_sparse() const { return h_.is_sparse(); }
  [[nodiscard]] DenseFeatures dense() const {
    const Index stride = h_.dense().stride();
    return {h_.dense().data() + first_ * stride, rows(), cols(), Eigen::OuterStride<>(stride)};
  }

  // How many numbers it holds: what a product with a vector costs.
  [[nodiscard]] double size() const {
    if (!is_sparse()) return static_cast<double>(rows()) * static_cast<double>(cols());
    double sum = 0;
    for (Index n = 0; n < rows(); ++n) sum += static_cast<double>(h_.values_of(first_ + n).size());
    return sum;
  }

  // H w^T, a row of w for each prediction; also where w is a vector.
  [[nodiscard]] RowMatrix times(const Eigen::Ref<const RowMatrix>& w) const {
    RowMatrix z(rows(), w.rows());
    if (!is_sparse()) {
      in_groups([&](const Real* const* group, Index first, Index count) {
        kernels::block_dots(group, count, w.data(), w.rows(), cols(), z.row(first).data());
      });
      return z;
    }
    for (Index n = 0; n < rows(); ++n) {
      for (Index c = 0; c < w.rows(); ++c) z(n, c) = h_.dot(first_ + n, w.row(c).data());
    }
    return z;
  }

  // s^T H, the other way round.
  [[nodiscard]] RowMatrix gathered(const RowMatrix& s) const {
    RowMatrix g = RowMatrix::Zero(s.cols(), cols());
    if (!is_sparse()) {
      in_groups([&](const Real* const* group, Index first, Index count) {
        kernels::add_blocks(s.row(first).data(), group, count, s.cols(), cols(), g.data());
      });
      return g;
    }
    for (Index n = 0; n < rows(); ++n) {
      for (Index c = 0; c < s.cols(); ++c) h_.add_scaled(s(n, c), first_ + n, g.row(c).data());
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

  // sum_n weights_n h_nj^2 of every column j
  [[nodiscard]] Vector squares(const Vector& weights) const {
    Vector sums = Vector::Zero(cols());
    for (Index n = 0; n < rows(); ++n) {
      if (!is_sparse()) {
        sums += weights(n) * dense().row(n).cwiseAbs2().transpose();
        continue;
      }
      const auto columns = h_.columns_of(first_ + n);
      const auto values = h_.values_of(first_ + n);
      for (std::size_t e = 0; e < columns.size(); ++e) sums(columns[e]) += weights(n) * values[e] * values[e];
    }
    return sums;
  }

 private:
  // Some dense rows after the others: what(their places, the first one's number, how many).
  template <class F>
  void in_groups(F what) const {
    std::array<const Real*, 12> group{};
    for (Index first = 0; first < rows();) {
      Index count = 0;
      for (; count < static_cast<Index>(group.size()) && first + count < rows(); ++count) {
        group[count] = h_.dense().row(first_ + first + count).data();
      }
      what(group.data(), first, count);
      first += count;
    }
  }

  // The lower half of gram += weight h h^T; columns rise along a row.
  void add_square(Index n, double weight, Matrix& gram) const {
    const auto columns = h_.columns_of(first_ + n);
    const auto values = h_.values_of(first_ + n);
    for (std::size_t a = 0; a < columns.size(); ++a) {
      for (std::size_t b = a; b < columns.size(); ++b) gram(columns[b], columns[a]) += weight * values[a] * values[b];
    }
  }

  const Features& h_;
  Index first_;
  Index rows_;
};

// The penalty is (1/2) sum_j penalty_j w_j^2.
Vector penalty_of(const DataProblem& problem) {
  Vector penalty(problem.dimension());
  for (Index j = 0; j < problem.dimension(); ++j) penalty(j) = problem.l2() * problem.penalty_factor(j);
  return penalty;
}

// A cost J that solvers work on.
class Cost {
 public:
  Cost(Vector penalty_, bool is_flat_) : penalty(std::move(penalty_)), is_flat(is_flat_) {}
  virtual ~Cost() = default;

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
  [[nodiscard]] virtual double work() const = 0;
  // Of each coefficient, the mean square of what it is multiplied with; none where nobody knows.
  [[nodiscard]] virtual Vector squares() const { return {}; }

  Vector penalty;  // of each coefficient; none where somebody else adds it
  bool is_flat;    // without penalty

 protected:
  [[nodiscard]] double half_penalty(const Vector& w) const {
    return penalty.size() == 0 ? 0 : 0.5 * penalty.dot(w.cwiseAbs2());
  }
  void add_penalty(const Vector& w, Vector& g) const {
    if (penalty.size() > 0) g += penalty.cwiseProduct(w);
  }
};

// J on the pooled data of some agents that follow each other, of all or of one:
// J(w) = sum_n c_n loss_n(H w) + (1/2) sum_j penalty_j w_j^2, c_n = weight_k / (K n_k).
class Pooled : public Cost {
 public:
  Pooled(const DataProblem& problem, Index first, Index last, Vector penalty_)
      : Cost(std::move(penalty_), problem.l2() == 0),
        h(problem.data().features, problem.data().first(first), problem.data().first(last)),
        y(Eigen::Map<const Vector>(problem.data().targets.data() + problem.data().first(first), h.rows())),
        c(h.rows()),
        blocks_(problem.predictions()) {
    const Dataset& data = problem.data();
    const auto agents = static_cast<double>(problem.agents());
    for (Index k = first; k < last; ++k) {
      c.segment(data.first(k) - data.first(first), data.samples(k))
          .setConstant(problem.weight(k) / (agents * static_cast<double>(data.samples(k))));
    }
  }
  [[nodiscard]] double work() const override { return 2 * h.size() * static_cast<double>(blocks_); }
  [[nodiscard]] Vector squares() const override { return h.squares(c).replicate(blocks_, 1); }

  Design h;
  Eigen::Map<const Vector> y;
  Vector c;

 private:
  Index blocks_;
};

class PooledLinear final : public Pooled {
 public:
  PooledLinear(const LinearProblem& problem, Index first, Index last, Vector penalty_)
      : Pooled(problem, first, last, std::move(penalty_)), loss_(problem.loss()) {}

  [[nodiscard]] double evaluate(const Vector& w, Vector* gradient) const override {
    const Vector z = h.times(w.transpose());
    Vector terms(z.size());
    if (gradient != nullptr) {
      loss_.slopes(span(z), span(y), span(terms));
      *gradient = transposed_times(c.cwiseProduct(terms));
      add_penalty(w, *gradient);
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
    Vector out = transposed_times(curvature_.cwiseProduct(z));
    add_penalty(v, out);
    return out;
  }
  [[nodiscard]] bool has_small_hessian() const override {
    constexpr Index newton_dimension = 2000;
    constexpr double newton_work = 4e10;
    return h.cols() <= newton_dimension && h.size() * static_cast<double>(h.cols()) <= newton_work;
  }
  [[nodiscard]] Matrix hessian() const override {
    Matrix gram = h.gram(curvature_);
    if (penalty.size() > 0) gram.diagonal() += penalty;
    return gram;
  }

  [[nodiscard]] bool falls_along(const Vector& w) const override {
    if (!is_flat || !loss_.has_tail()) return false;
    const Vector z = h.times(w.transpose());
    return (z.array() * y.array() > 0).all();
  }
  [[nodiscard]] bool is_positive() const override { return loss_.task() != Task::counts; }
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
  PooledSoftmax(const SoftmaxProblem& problem, Index first, Index last, Vector penalty_)
      : Pooled(problem, first, last, std::move(penalty_)), classes_(problem.classes()) {}

  [[nodiscard]] double evaluate(const Vector& w, Vector* gradient) const override {
    RowMatrix z = h.times(blocks(w));
    double sum = 0;
    for (Index n = 0; n < z.rows(); ++n) {
      sum += c(n) * normalise(z, n);
      z(n, static_cast<Index>(y(n))) -= 1;
    }
    if (gradient != nullptr) {
      *gradient = gathered(z);
      add_penalty(w, *gradient);
    }
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
    Vector out = gathered(z);
    add_penalty(v, out);
    return out;
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

Reference finish(const Cost& cost, const Vector& w, double accuracy, std::string how) {
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
int affordable_gradients(const Cost& cost) {
  constexpr double work = 2e11;
  return static_cast<int>(std::clamp(work / cost.work(), 200.0, 5000.0));
}

// The part of the value that the search for a minimum may leave: all that rounding allows, and less of it where every
// gradient takes a good part of a second.
double negligible(const Cost& cost) { return cost.work() > 2e8 ? 1e-9 : 1e-17; }

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

Reference by_normal_equations(Cost& cost) {
  Vector w = Vector::Zero(cost.penalty.size());
  cost.fix_curvature(w);
  const Eigen::LDLT<Matrix> solver(cost.hessian());
  double gain = 0;
  for (int step = 0; step < 4; ++step) {
    const Vector g = cost.gradient(w);
    const Vector change = solver.solve(-g);
    gain = 0.5 * std::abs(g.dot(change));
    w += change;
  }
  return finish(cost, w, gain, normal_equations);
}

// In which coefficients curve about alike, from the diagonal of a Hessian.
Vector even_units(const Vector& curvature) {
  return curvature.unaryExpr([](double x) { return x > 0 ? 1 / std::sqrt(x) : 1.0; });
}

// Without penalty, the solution of minimum norm, also of a Gram matrix that lacks rank. What is small is judged in even
// units, where columns are of the same length.
Reference by_least_norm(Cost& cost) {
  Vector w = Vector::Zero(cost.penalty.size());
  cost.fix_curvature(w);
  const Matrix gram = cost.hessian();
  const Vector unit = even_units(gram.diagonal());
  const Matrix even = unit.asDiagonal() * gram * unit.asDiagonal();
  // Of full rank, which is cheaper to see, and to solve.
  if (Eigen::LDLT<Matrix>(even).vectorD().minCoeff() > 1e-9) return by_normal_equations(cost);
  const Eigen::SelfAdjointEigenSolver<Matrix> of(even);
  const auto size = static_cast<double>(w.size());
  const double least = 1e-14 * size * of.eigenvalues().maxCoeff();
  const Vector inverse = of.eigenvalues().unaryExpr([&](double x) { return x > least ? 1 / x : 0.0; });
  // Eigenvalues rise.
  const auto lacking = std::ranges::count(inverse, 0.0);
  const Eigen::HouseholderQR<Matrix> none(unit.asDiagonal() * of.eigenvectors().leftCols(lacking));
  const Matrix basis = none.householderQ() * Matrix::Identity(w.size(), lacking);
  double gain = 0;
  for (int step = 0; step < 4; ++step) {
    const Vector g = cost.gradient(w);
    const Vector along = of.eigenvectors().transpose() * unit.cwiseProduct(g);
    const Vector change = -unit.cwiseProduct(of.eigenvectors() * inverse.cwiseProduct(along));
    gain = 0.5 * std::abs(g.dot(change));
    w += change;
    w -= basis * (basis.transpose() * w);
  }
  return finish(cost, w, gain, "least squares, eigenvalues of the normal equations with refinement");
}

// The error of conjugate gradients is the sum of all gains to come: here, of the last ones that came.
double last_gains(const std::vector<double>& gains) {
  const auto count = std::min<std::ptrdiff_t>(10, static_cast<std::ptrdiff_t>(gains.size()));
  return std::accumulate(gains.end() - count, gains.end(), 0.0);
}

// Conjugate gradients for curvature * d = r, from 0, until ||r|| is `enough` of what it was; returns each step's gain.
std::vector<double> conjugate_gradients(const Cost& cost, Vector r, double enough, int most, Vector& d) {
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
Reference by_conjugate_gradients(Cost& cost) {
  const Vector zero = Vector::Zero(cost.penalty.size());
  cost.fix_curvature(zero);
  Vector w;
  const auto gains = conjugate_gradients(cost, -cost.gradient(zero), 1e-14, affordable_gradients(cost), w);
  const double least = cost.penalty.minCoeff();
  const double accuracy = least > 0 ? cost.gradient(w).squaredNorm() / (2 * least) : last_gains(gains);
  return finish(cost, w, accuracy, "least squares, " + std::to_string(gains.size()) + " conjugate gradient steps");
}

struct Descent {
  const Cost& cost;
  bool falls = false;
  std::exception_ptr error = nullptr;  // the C code in between lets none through
};

double lbfgs_evaluate(void* instance, const double* x, double* g, int n, double /*step*/) {
  constexpr double too_far = std::numeric_limits<double>::infinity();
  auto& descent = *static_cast<Descent*>(instance);
  if (descent.error == nullptr) {
    try {
      const Vector w = Eigen::Map<const Vector>(x, n);
      Vector gradient;
      const double value = descent.cost.evaluate(w, &gradient);
      Eigen::Map<Vector>(g, n) = gradient;
      // What overflows is too far, and the line search turns back.
      return std::isfinite(value) ? value : too_far;
    } catch (...) {
      descent.error = std::current_exception();
    }
  }
  // After an error the line search finds nothing any more, and gives up.
  std::fill_n(g, n, 0.0);
  return too_far;
}

int lbfgs_progress(void* instance, const double* x, const double*, double, double, double, double, int n, int, int) {
  auto& descent = *static_cast<Descent*>(instance);
  try {
    descent.falls = descent.cost.falls_along(Eigen::Map<const Vector>(x, n));
  } catch (...) {
    descent.error = std::current_exception();
  }
  return descent.falls || descent.error != nullptr ? 1 : 0;
}

// Newton's method with halving, from a point that is already good; returns the last decrement's predicted gain.
double polish(Cost& cost, Vector& w, int steps, const std::function<Vector(const Vector& g)>& direction) {
  double gain = 0;
  double value = cost.value(w);
  for (int step = 0; step < steps; ++step) {
    const Vector g = cost.gradient(w);
    cost.fix_curvature(w);
    const Vector d = direction(g);
    gain = 0.5 * std::abs(g.dot(d));
    if (!(gain > negligible(cost) * std::max(1.0, std::abs(value)))) break;
    double a = 1;
    while (a > 1e-6 && !(cost.value(w + a * d) < value)) a /= 2;
    if (a <= 1e-6) break;
    w += a * d;
    value = cost.value(w);
  }
  return gain;
}

double polish_by_factorisation(Cost& cost, Vector& w) {
  return polish(cost, w, 30, [&](const Vector& g) -> Vector {
    Matrix hessian = cost.hessian();
    hessian.diagonal().array() += 1e-14 * hessian.diagonal().maxCoeff();
    return Eigen::LDLT<Matrix>(hessian).solve(-g);
  });
}

double polish_by_conjugate_gradients(Cost& cost, Vector& w) {
  // Where gradients are dear, one good step; its gain says how far the point was.
  const int steps = negligible(cost) > 1e-12 ? 1 : 8;
  const int most = std::min(affordable_gradients(cost) / (steps == 1 ? 4 : 8), 20 + 2 * static_cast<int>(w.size()));
  return polish(cost, w, steps, [&](const Vector& g) {
    Vector d;
    (void)conjugate_gradients(cost, -g, 1e-6, most, d);
    return d;
  });
}

Reference by_descent(Cost& cost, const Vector& start) {
  Descent descent{cost};
  std::vector<double> x(start.begin(), start.end());
  lbfgs_parameter_t parameters;
  lbfgs_parameter_init(&parameters);
  parameters.m = 20;
  parameters.epsilon = 1e-11;
  parameters.max_iterations = affordable_gradients(cost);
  parameters.past = 10;
  parameters.delta = 10 * negligible(cost);
  // Interpolation needs finite values everywhere.
  parameters.linesearch = cost.is_smooth() ? LBFGS_LINESEARCH_MORETHUENTE : LBFGS_LINESEARCH_BACKTRACKING_STRONG_WOLFE;
  parameters.max_linesearch = 60;
  // Any return code is fine: what was reached is judged below, from the point itself.
  lbfgs(static_cast<int>(x.size()), x.data(), nullptr, lbfgs_evaluate, lbfgs_progress, &descent, &parameters);
  if (descent.error != nullptr) std::rethrow_exception(descent.error);
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

// A cost in other units: J(unit * v), number by number.
class Scaled final : public Cost {
 public:
  Scaled(Cost& cost, Vector unit)
      : Cost(cost.penalty.cwiseProduct(unit.cwiseAbs2()), cost.is_flat), cost_(cost), unit_(std::move(unit)) {}
  [[nodiscard]] Vector original(const Vector& v) const { return unit_.cwiseProduct(v); }

  [[nodiscard]] double evaluate(const Vector& v, Vector* gradient) const override {
    const double value = cost_.evaluate(original(v), gradient);
    if (gradient != nullptr) *gradient = unit_.cwiseProduct(*gradient);
    return value;
  }
  void fix_curvature(const Vector& v) override { cost_.fix_curvature(original(v)); }
  [[nodiscard]] Vector curvature_times(const Vector& v) const override {
    return unit_.cwiseProduct(cost_.curvature_times(original(v)));
  }
  [[nodiscard]] bool has_small_hessian() const override { return cost_.has_small_hessian(); }
  [[nodiscard]] Matrix hessian() const override { return unit_.asDiagonal() * cost_.hessian() * unit_.asDiagonal(); }
  [[nodiscard]] bool falls_along(const Vector& v) const override { return cost_.falls_along(original(v)); }
  [[nodiscard]] bool is_positive() const override { return cost_.is_positive(); }
  [[nodiscard]] bool is_smooth() const override { return cost_.is_smooth(); }
  [[nodiscard]] double work() const override { return cost_.work(); }

 private:
  Cost& cost_;
  Vector unit_;
};

// From 0. Where features differ in size by orders of magnitude, descents get nowhere in the units of the data.
Reference by_descent(Cost& cost) {
  constexpr double orders = 1e3;
  const Vector zero = Vector::Zero(cost.penalty.size());
  const Vector unit = even_units(cost.squares() + cost.penalty);
  if (unit.maxCoeff() <= orders * unit.minCoeff()) return by_descent(cost, zero);
  Scaled scaled(cost, unit);
  Reference reference = by_descent(scaled, zero);
  if (!reference.minimiser) return reference;
  // Samples that are fitted nearly exactly curve otherwise at the minimum than at 0.
  if (reference.accuracy > 1e-12 * std::max(1.0, std::abs(reference.value))) {
    Reference plain = by_descent(cost, zero);
    if (plain.value < reference.value) return plain;
  }
  const Vector w = scaled.original(Eigen::Map<const Vector>(reference.minimiser->data(), zero.size()));
  reference.minimiser->assign(w.begin(), w.end());
  return reference;
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

std::unique_ptr<Pooled> pooled(const DataProblem& problem, Index first, Index last, Vector penalty) {
  if (const auto* softmax = dynamic_cast<const SoftmaxProblem*>(&problem)) {
    return std::make_unique<PooledSoftmax>(*softmax, first, last, std::move(penalty));
  }
  const auto* linear = dynamic_cast<const LinearProblem*>(&problem);
  if (linear == nullptr) throw Error("the optimum of these costs is not known how to find");
  return std::make_unique<PooledLinear>(*linear, first, last, std::move(penalty));
}

// The data of all agents are here.
Reference solve_pooled(const DataProblem& problem) {
  const auto cost = pooled(problem, 0, problem.agents(), penalty_of(problem));
  return problem.is_quadratic() ? by_least_squares(dynamic_cast<PooledLinear&>(*cost)) : by_descent(*cost);
}

// What passes from process to process at once, in numbers.
constexpr Index at_once = Index{1} << 21;

// The sum of one number of each agent, in order of the agents.
double sum_of(Collective& collective, std::span<const double> values) {
  std::array<double, 1> total{};
  collective.by_agent(total, static_cast<Index>(values.size()),
                      [&](std::span<double> shared, Index k) { shared[0] += values[k]; });
  return total[0];
}

// The same of one row of each.
Vector sum_of(Collective& collective, const Rows& rows) {
  Vector total(rows.columns());
  for (Index first = 0; first < total.size(); first += at_once) {
    const Index count = std::min<Index>(at_once, total.size() - first);
    const std::span<double> part(total.data() + first, static_cast<std::size_t>(count));
    collective.by_agent(part, rows.rows(), [&](std::span<double> shared, Index k) {
      const Real* own = rows.row(k).data() + first;
      for (std::size_t j = 0; j < shared.size(); ++j) shared[j] += own[j];
    });
  }
  return total;
}

// J of data that several processes share: of each agent its own, summed in order of the agents.
class Spread final : public Cost {
 public:
  Spread(const DataProblem& problem, Collective& collective, const Block& here, double features)
      : Cost(penalty_of(problem), problem.l2() == 0),
        collective_(collective),
        agents_(static_cast<double>(problem.agents())),
        features_(features),
        blocks_(static_cast<double>(problem.predictions())),
        rows_(here.size(), problem.dimension()) {
    for (Index k = 0; k < here.size(); ++k) parts_.push_back(pooled(problem, k, k + 1, {}));
  }

  [[nodiscard]] double evaluate(const Vector& w, Vector* gradient) const override {
    std::vector<double> values;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      Vector own;
      values.push_back(parts_[k]->evaluate(w, gradient == nullptr ? nullptr : &own));
      if (gradient != nullptr) std::ranges::copy(own, rows_.row(static_cast<Index>(k)).begin());
    }
    if (gradient != nullptr) *gradient = sum(w);
    return sum_of(collective_, values) + half_penalty(w);
  }
  void fix_curvature(const Vector& w) override {
    for (const auto& part : parts_) part->fix_curvature(w);
  }
  [[nodiscard]] Vector curvature_times(const Vector& v) const override {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      std::ranges::copy(parts_[k]->curvature_times(v), rows_.row(static_cast<Index>(k)).begin());
    }
    return sum(v);
  }
  // It passes from process to process in one piece, and agent by agent.
  [[nodiscard]] bool has_small_hessian() const override {
    constexpr double most_work = 4e9;
    const auto size = static_cast<double>(penalty.size()) * static_cast<double>(penalty.size());
    return blocks_ == 1 && size <= static_cast<double>(at_once) && size * agents_ <= most_work &&
           features_ * static_cast<double>(penalty.size()) <= 10 * most_work;
  }
  [[nodiscard]] Matrix hessian() const override {
    Matrix total = Matrix::Zero(penalty.size(), penalty.size());
    const std::span<double> numbers(total.data(), static_cast<std::size_t>(total.size()));
    collective_.by_agent(numbers, rows_.rows(), [&](std::span<double> shared, Index k) {
      Eigen::Map<Matrix>(shared.data(), total.rows(), total.cols()) += parts_[k]->hessian();
    });
    total.diagonal() += penalty;
    return total;
  }
  [[nodiscard]] bool falls_along(const Vector& w) const override {
    std::array<double, 1> others{};
    collective_.in_order(others, [&](std::span<double> shared) {
      if (shared[0] == 0 && !std::ranges::all_of(parts_, [&](const auto& part) { return part->falls_along(w); })) {
        shared[0] = 1;
      }
    });
    return others[0] == 0;
  }
  [[nodiscard]] bool is_positive() const override { return parts_.front()->is_positive(); }
  [[nodiscard]] bool is_smooth() const override { return parts_.front()->is_smooth(); }
  [[nodiscard]] double work() const override { return 2 * features_ * blocks_; }
  [[nodiscard]] Vector squares() const override {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      std::ranges::copy(parts_[k]->squares(), rows_.row(static_cast<Index>(k)).begin());
    }
    return sum_of(collective_, rows_);
  }

 private:
  // The sum of all agents' rows, and what the penalty adds at w.
  [[nodiscard]] Vector sum(const Vector& w) const {
    Vector total = sum_of(collective_, rows_);
    add_penalty(w, total);
    return total;
  }

  Collective& collective_;
  double agents_;
  double features_;  // of all samples
  double blocks_;
  std::vector<std::unique_ptr<Pooled>> parts_;
  mutable Rows rows_;  // what each agent here adds to a sum
};

Reference solve_spread(const DataProblem& problem, Collective& collective, const Block& here, double features) {
  Spread cost(problem, collective, here, features);
  if (!problem.is_quadratic()) return by_descent(cost);
  if (cost.has_small_hessian()) {
    Reference reference = cost.is_flat ? by_least_norm(cost) : by_normal_equations(cost);
    if (reference.accuracy <= 1e-10 * std::max(1.0, reference.value)) return reference;
  }
  return by_conjugate_gradients(cost);
}

// The mean of the agents' costs, in any unit: of these nothing but values and gradients is known.
class Mean final : public Cost {
 public:
  Mean(const Costs& costs, Collective& collective, const Block& here, double samples)
      : Cost(Vector::Zero(costs.dimension()), true),
        costs_(costs),
        collective_(collective),
        samples_(samples),
        owners_(agents_of(here)),
        batches_(costs, owners_),
        values_(owners_.size()),
        points_(here.size(), costs.dimension()),
        gradients_(here.size(), costs.dimension()) {}

  // What counts as 1.
  void set_unit(double unit) { unit_ = unit; }

  [[nodiscard]] double evaluate(const Vector& w, Vector* gradient) const override {
    for (Index k = 0; k < points_.rows(); ++k) std::ranges::copy(w, points_.row(k).begin());
    costs_.evaluate(points_, owners_, batches_.batches(), values_, gradient == nullptr ? nullptr : &gradients_);
    const double divisor = unit_ * static_cast<double>(costs_.agents());
    if (gradient != nullptr) *gradient = sum_of(collective_, gradients_) / divisor;
    return sum_of(collective_, values_) / divisor;
  }
  void fix_curvature(const Vector& w) override { at_ = w; }
  // Central differences; the cube root of the rounding unit balances truncation against cancellation.
  [[nodiscard]] Vector curvature_times(const Vector& v) const override {
    const double length = v.norm();
    if (length == 0) return v;
    const double h = 6e-6 * std::max(1.0, at_.norm()) / length;
    return (gradient(at_ + h * v) - gradient(at_ - h * v)) / (2 * h);
  }
  [[nodiscard]] bool has_small_hessian() const override { return false; }
  [[nodiscard]] Matrix hessian() const override { return {}; }
  [[nodiscard]] bool falls_along(const Vector&) const override { return false; }
  [[nodiscard]] bool is_positive() const override { return false; }
  [[nodiscard]] bool is_smooth() const override { return false; }
  // As for linear models, for want of anything better.
  [[nodiscard]] double work() const override { return 2 * samples_ * static_cast<double>(penalty.size()); }

 private:
  const Costs& costs_;
  Collective& collective_;
  double samples_;  // of all agents
  double unit_ = 1;
  std::vector<Index> owners_;
  AllSamples batches_;
  mutable std::vector<Real> values_;
  mutable Rows points_;  // w for every agent here
  mutable Rows gradients_;
  Vector at_;  // where curvatures are asked for
};

// Where a descent ended.
struct Ending {
  Vector w;
  double value = 0;
  double drop = 0;       // how far it went down, or how large the value is: the larger of them
  double gain = 0;       // what another step of Newton's method promises; NaN if J does not curve upwards along it
  bool is_rest = false;  // true: that is next to nothing, and so is the gradient
};

Ending descend(Mean& cost, const Vector& start, double unit) {
  cost.set_unit(unit);
  const Reference found = by_descent(cost, start);
  cost.set_unit(1);
  Ending out;
  out.w = Eigen::Map<const Vector>(found.minimiser->data(), start.size());
  out.value = cost.value(out.w);
  const Vector g = cost.gradient(out.w);
  cost.fix_curvature(out.w);
  Vector d;
  const int most = std::min(affordable_gradients(cost) / 8, 20 + 2 * static_cast<int>(start.size()));
  const auto gains = conjugate_gradients(cost, -g, 1e-3, most, d);
  out.gain = g.norm() > 0 && gains.empty() ? std::nan("") : 0.5 * std::abs(g.dot(d));
  // Where a descent starts at the minimum, up to rounding, the gradient cannot become smaller, and the value tells.
  const bool is_flat = g.norm() <= 1e-5 * unit || out.gain <= 1e-12 * std::abs(out.value);
  out.drop = std::max(cost.value(start) - out.value, std::abs(out.value));
  out.is_rest = std::isfinite(out.value) && is_flat && out.gain <= 1e-6 * out.drop;
  return out;
}

// True when the second descent shows that the first one did not end in the minimum of a convex cost.
bool differ(const Ending& first, const Ending& second) {
  // Where nothing is promised, fmax takes the other number.
  const double tolerance = 10 * (first.gain + std::fmax(second.gain, 0.0)) + 1e-6 * first.drop;
  return second.value < first.value - tolerance || (second.is_rest && second.value > first.value + tolerance);
}

// What one agent has.
struct AgentData {
  double weight = 0;
  std::vector<double> targets;
  std::vector<double> values;         // of the features: all of them, or those that are not 0, sample after sample
  std::vector<std::int32_t> columns;  // of these values, where features are sparse
  std::vector<Index> lengths;         // how many values each sample has then
};

// The data of the agents here, for the first process.
std::string told_data(const DataProblem& problem, const Block& here) {
  const Dataset& data = problem.data();
  const Features& h = data.features;
  MessageWriter out;
  out.add(here.size());
  for (Index k = 0; k < here.size(); ++k) {
    AgentData own;
    for (Index n = data.first(k); n < data.first(k + 1); ++n) {
      const std::span<const Real> values = h.is_sparse() ? h.values_of(n) : h.dense().row(n);
      own.values.insert(own.values.end(), values.begin(), values.end());
      if (!h.is_sparse()) continue;
      own.columns.insert(own.columns.end(), h.columns_of(n).begin(), h.columns_of(n).end());
      own.lengths.push_back(static_cast<Index>(values.size()));
    }
    out.add(here.agent(k));
    out.add(problem.weight(k));
    out.add(std::span(data.targets).subspan(data.first(k), data.samples(k)));
    out.add(own.values);
    out.add(own.columns);
    out.add(own.lengths);
  }
  return out.bytes();
}

// In order of the agents, whoever told of them.
std::vector<AgentData> heard_data(std::vector<std::string> messages, Index agents) {
  std::vector<AgentData> out(agents);
  for (std::string& bytes : messages) {
    MessageReader in(std::move(bytes));
    for (auto left = in.take<Index>(); left > 0; --left) {
      AgentData& own = out.at(in.take<Index>());
      own.weight = in.take<double>();
      own.targets = in.take<std::vector<double>>();
      own.values = in.take<std::vector<double>>();
      own.columns = in.take<std::vector<std::int32_t>>();
      own.lengths = in.take<std::vector<Index>>();
    }
    in.end();
  }
  return out;
}

Features joined_dense(const std::vector<AgentData>& agents, Index samples, Index columns) {
  Rows rows(samples, columns);
  Index n = 0;
  for (const AgentData& own : agents) {
    for (auto at = own.values.begin(); at != own.values.end(); at += columns) {
      std::copy_n(at, columns, rows.row(n++).begin());
    }
  }
  return rows;
}

Features joined_sparse(const std::vector<AgentData>& agents, Index columns) {
  MeteredVector<Index> offset = {0};
  MeteredVector<std::int32_t> column;
  MeteredVector<Real> value;
  for (const AgentData& own : agents) {
    for (const Index length : own.lengths) offset.push_back(offset.back() + length);
    column.insert(column.end(), own.columns.begin(), own.columns.end());
    value.insert(value.end(), own.values.begin(), own.values.end());
  }
  return Features::sparse(columns, std::move(offset), std::move(column), std::move(value));
}

// The problem with the data of all agents, for the first process; none for the others.
std::unique_ptr<DataProblem> gathered_problem(const DataProblem& problem, Collective& collective, const Block& here) {
  std::vector<std::string> messages = collective.to_first(told_data(problem, here));
  if (messages.empty()) return nullptr;
  const std::vector<AgentData> agents = heard_data(std::move(messages), problem.agents());
  LinearOptions options{.l2 = problem.l2(), .intercept = problem.intercept(), .penalties = problem.penalties()};
  Dataset out;
  out.offset = {0};
  for (const AgentData& own : agents) {
    options.weights.push_back(own.weight);
    out.targets.insert(out.targets.end(), own.targets.begin(), own.targets.end());
    out.offset.push_back(static_cast<Index>(out.targets.size()));
  }
  const Features& h = problem.data().features;
  out.features =
      h.is_sparse() ? joined_sparse(agents, h.columns()) : joined_dense(agents, out.offset.back(), h.columns());
  if (const auto* softmax = dynamic_cast<const SoftmaxProblem*>(&problem)) {
    return std::make_unique<SoftmaxProblem>(std::move(out), softmax->classes(), std::move(options));
  }
  const auto* linear = dynamic_cast<const LinearProblem*>(&problem);
  if (linear == nullptr) throw Error("the optimum of these costs is not known how to find");
  // The loss belongs to the problem, which outlives this.
  const std::shared_ptr<const Loss> loss(std::shared_ptr<const Loss>(), &linear->loss());
  return std::make_unique<LinearProblem>(std::move(out), loss, std::move(options));
}

// What the first process found, for all.
Reference shared(const Reference& found, Collective& collective) {
  MessageReader in(
      collective.from_first(message(found.value, found.accuracy, found.known, found.how, found.minimiser.has_value(),
                                    found.minimiser.value_or(std::vector<Real>{}))));
  Reference out;
  out.value = in.take<double>();
  out.accuracy = in.take<double>();
  out.known = in.take<bool>();
  out.how = in.take<std::string>();
  const bool has_minimiser = in.take<bool>();
  auto minimiser = in.take<std::vector<Real>>();
  if (has_minimiser) out.minimiser = std::move(minimiser);
  in.end();
  return out;
}

// How many numbers the features of all samples are.
double features_of_all(const DataProblem& problem, Collective& collective) {
  const Features& h = problem.data().features;
  std::array<double, 1> total{};
  collective.in_order(total, [&](std::span<double> numbers) { numbers[0] += Design(h, 0, h.rows()).size(); });
  return total[0];
}

}  // namespace

Reference solve_reference(const DataProblem& problem) {
  SerialCollective alone;
  return solve_reference(problem, alone, {0, problem.agents()});
}

Reference solve_reference(const DataProblem& problem, Collective& collective, const Block& here, double most_pooled) {
  const double features = features_of_all(problem, collective);
  // A single process takes the same way, so that bits do not depend on how many there are.
  if (problem.is_private() || features > most_pooled) return solve_spread(problem, collective, here, features);
  if (here.size() == problem.agents()) return solve_pooled(problem);
  const auto whole = gathered_problem(problem, collective, here);
  return shared(whole ? solve_pooled(*whole) : Reference{}, collective);
}

Reference solve_reference(const Costs& costs, Collective& collective, const Block& here) {
  std::array<double, 2> samples{};  // of all agents; of the one that has most
  collective.by_agent(samples, here.size(), [&](std::span<double> shared, Index k) {
    const auto own = static_cast<double>(costs.samples(here.agent(k)));
    shared[0] += own;
    shared[1] = std::max(shared[1], own);
  });
  if (samples[1] >= static_cast<double>(endless_samples)) {
    return unknown_reference("samples never end, so no cost is a mean over all of them");
  }
  Mean cost(costs, collective, here, samples[0]);
  const Vector zero = Vector::Zero(costs.dimension());
  const Vector slope = cost.gradient(zero);
  if (!std::isfinite(cost.value(zero)) || !slope.allFinite()) {
    return unknown_reference("the cost at 0, where the search for a minimum starts, is not finite");
  }
  // In units of the first slope, what is small does not depend on the scale of the costs.
  const double unit = slope.norm() > 0 ? slope.norm() : 1;
  const Ending found = descend(cost, zero, unit);
  if (!found.is_rest) return unknown_reference("the search for a minimum did not converge, or there is none");
  Vector elsewhere(zero.size());
  Stream(0, Purpose::start).normals({elsewhere.data(), static_cast<std::size_t>(elsewhere.size())});
  if (std::isfinite(cost.value(elsewhere)) && differ(found, descend(cost, elsewhere, unit))) {
    return unknown_reference("two starting points lead to different costs, so the problem is not convex");
  }
  Reference reference;
  reference.minimiser.emplace(found.w.begin(), found.w.end());
  reference.value = found.value;
  // Twice the gain bounds the error where J is self-concordant, and on exponential tails.
  reference.accuracy = 2 * found.gain + 1e-15 * std::abs(found.value);
  reference.how = "L-BFGS, then Newton's method on differences of gradients";
  return reference;
}

}  // namespace polyhop
