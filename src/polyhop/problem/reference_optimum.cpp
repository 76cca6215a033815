// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/reference_optimum.hpp"

#include <lbfgs.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace polyhop {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Features = Eigen::Map<const RowMatrix, Eigen::Unaligned, Eigen::OuterStride<>>;

// J on the pooled data: J(w) = sum_n c_n loss(h_n.w, y_n) + (l2/2)||w||^2, c_n = 1 / (K n_k).
class Pooled {
 public:
  explicit Pooled(const LinearProblem& problem)
      : h(problem.data().features.data(), problem.data().features.rows(), problem.dimension(),
          Eigen::OuterStride<>(problem.data().features.stride())),
        y(Eigen::Map<const Vector>(problem.data().targets.data(), h.rows())),
        c(h.rows()),
        l2(problem.l2()),
        loss_(problem.loss()) {
    for (Index k = 0; k < problem.agents(); ++k) {
      c.segment(problem.data().first(k), problem.data().samples(k))
          .setConstant(1.0 / (static_cast<double>(problem.agents()) * static_cast<double>(problem.data().samples(k))));
    }
  }

  [[nodiscard]] double value(const Vector& w) const {
    const Vector z = h * w;
    Vector losses(z.size());
    loss_.values(span(z), span(y), span(losses));
    return c.dot(losses) + 0.5 * l2 * w.squaredNorm();
  }

  [[nodiscard]] Vector gradient(const Vector& w) const {
    const Vector z = h * w;
    Vector slopes(z.size());
    loss_.slopes(span(z), span(y), span(slopes));
    return h.transpose() * c.cwiseProduct(slopes) + l2 * w;
  }

  [[nodiscard]] Matrix hessian(const Vector& w) const {
    const Vector z = h * w;
    Vector curvatures(z.size());
    loss_.curvatures(span(z), span(y), span(curvatures));
    return weighted_gram(c.cwiseProduct(curvatures));
  }

  // H^T diag(weights) H + l2 I, a few thousand samples at a time.
  [[nodiscard]] Matrix weighted_gram(const Vector& weights) const {
    Matrix gram = Matrix::Zero(h.cols(), h.cols());
    constexpr Index chunk = 4096;
    for (Index n = 0; n < h.rows(); n += chunk) {
      const Index rows = std::min(chunk, h.rows() - n);
      const Matrix part = weights.segment(n, rows).cwiseSqrt().asDiagonal() * h.middleRows(n, rows);
      gram.selfadjointView<Eigen::Lower>().rankUpdate(part.transpose());
    }
    gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
    gram.diagonal().array() += l2;
    return gram;
  }

  // True when w puts every sample on the side of its class.
  [[nodiscard]] bool separates(const Vector& w) const {
    const Vector z = h * w;
    return (z.array() * y.array() > 0).all();
  }

  Features h;
  Eigen::Map<const Vector> y;
  Vector c;
  double l2;

 private:
  static std::span<const Real> span(const Eigen::Ref<const Vector>& v) {
    return {v.data(), static_cast<std::size_t>(v.size())};
  }
  static std::span<Real> span(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
  const Loss& loss_;
};

Reference finish(const Pooled& cost, const Vector& w, double accuracy, std::string how) {
  Reference reference;
  reference.minimiser.emplace(w.begin(), w.end());
  reference.value = cost.value(w);
  // No cost is negative, so a value below what its own rounding leaves bounds the error itself.
  reference.accuracy = std::min(reference.value, accuracy + 1e-15 * reference.value);
  reference.how = std::move(how);
  return reference;
}

// Largest sizes (in multiplications, in rows) for which each direct method takes seconds at most.
constexpr double rank_revealing_work = 4e9;
constexpr Index normal_equations_rows = 4000;

Reference by_rank_revealing(const Pooled& cost) {
  const Vector root = cost.c.cwiseSqrt();
  const Matrix x = root.asDiagonal() * cost.h;
  const Vector t = root.cwiseProduct(cost.y);
  const Eigen::CompleteOrthogonalDecomposition<Matrix> solver(x);
  Vector w = solver.solve(t);
  // One step of refinement, whose own prediction of the gain is the accuracy.
  w += solver.solve(t - x * w);
  const Vector left = t - x * w;
  const double gain = 0.5 * (x * solver.solve(left)).squaredNorm();
  return finish(cost, w, gain, "least squares, complete orthogonal decomposition");
}

Reference by_normal_equations(const Pooled& cost) {
  const bool wide = cost.h.rows() < cost.h.cols();
  const Vector root = cost.c.cwiseSqrt();
  Matrix gram;
  if (wide) {
    const Matrix x = root.asDiagonal() * cost.h;
    gram = x * x.transpose();
    gram.diagonal().array() += cost.l2;
  } else {
    gram = cost.weighted_gram(cost.c);
  }
  const Eigen::LDLT<Matrix> solver(gram);
  Vector w = Vector::Zero(cost.h.cols());
  // Solves gram * d = -gradient; the wide form goes through the samples' side.
  Vector dual = Vector::Zero(cost.h.rows());
  double gain = 0;
  for (int step = 0; step < 4; ++step) {
    if (wide) {
      const Vector left = root.cwiseProduct(cost.y - cost.h * w) - cost.l2 * dual;
      const Vector change = solver.solve(left);
      gain = 0.5 * std::abs(left.dot(left - cost.l2 * change));
      dual += change;
      w = cost.h.transpose() * root.cwiseProduct(dual);
    } else {
      const Vector g = cost.gradient(w);
      const Vector change = solver.solve(-g);
      gain = 0.5 * std::abs(g.dot(change));
      w += change;
    }
  }
  return finish(cost, w, gain, "least squares, normal equations with refinement");
}

// Conjugate gradients on the normal equations (CGLS), from 0: the minimum-norm solution, without any Gram matrix.
Reference by_conjugate_gradients(const Pooled& cost) {
  Vector w = Vector::Zero(cost.h.cols());
  Vector r = -cost.gradient(w);
  Vector p = r;
  double rr = r.squaredNorm();
  const double enough = 1e-28 * rr;
  int iteration = 0;
  for (; iteration < 5000 && rr > enough; ++iteration) {
    const Vector hp = cost.h * p;
    const double curvature = cost.c.dot(hp.cwiseAbs2()) + cost.l2 * p.squaredNorm();
    if (!(curvature > 0)) break;
    const double a = rr / curvature;
    w += a * p;
    r -= a * (cost.h.transpose() * cost.c.cwiseProduct(hp) + cost.l2 * p);
    const double next = r.squaredNorm();
    p = r + (next / rr) * p;
    rr = next;
  }
  const double accuracy = cost.l2 > 0 ? rr / (2 * cost.l2) : std::numeric_limits<double>::quiet_NaN();
  return finish(cost, w, accuracy, "least squares, " + std::to_string(iteration) + " conjugate gradient steps");
}

struct Descent {
  const Pooled& cost;
  bool stop_when_separated;
  bool separated = false;
};

double lbfgs_evaluate(void* instance, const double* x, double* g, int n, double /*step*/) {
  const auto& descent = *static_cast<const Descent*>(instance);
  const Vector w = Eigen::Map<const Vector>(x, n);
  Eigen::Map<Vector>(g, n) = descent.cost.gradient(w);
  return descent.cost.value(w);
}

int lbfgs_progress(void* instance, const double* x, const double*, double, double, double, double, int n, int, int) {
  auto& descent = *static_cast<Descent*>(instance);
  if (!descent.stop_when_separated) return 0;
  descent.separated = descent.cost.separates(Eigen::Map<const Vector>(x, n));
  return descent.separated ? 1 : 0;
}

// Newton's method with halving, from a point that is already good; returns the last decrement's predicted gain.
double polish(const Pooled& cost, Vector& w) {
  double gain = 0;
  double value = cost.value(w);
  for (int step = 0; step < 30; ++step) {
    const Vector g = cost.gradient(w);
    Matrix hessian = cost.hessian(w);
    hessian.diagonal().array() += 1e-14 * hessian.diagonal().maxCoeff();
    const Vector d = Eigen::LDLT<Matrix>(hessian).solve(-g);
    gain = 0.5 * std::abs(g.dot(d));
    if (!(gain > 1e-17 * std::max(1.0, value))) break;
    double a = 1;
    while (a > 1e-6 && !(cost.value(w + a * d) < value)) a /= 2;
    if (a <= 1e-6) break;
    w += a * d;
    value = cost.value(w);
  }
  return gain;
}

Reference by_descent(const Pooled& cost, bool classes) {
  Descent descent{cost, classes && cost.l2 == 0};
  std::vector<double> x(static_cast<std::size_t>(cost.h.cols()), 0.0);
  lbfgs_parameter_t parameters;
  lbfgs_parameter_init(&parameters);
  parameters.m = 20;
  parameters.epsilon = 1e-11;
  parameters.max_iterations = 5000;
  parameters.linesearch = LBFGS_LINESEARCH_MORETHUENTE;
  parameters.max_linesearch = 60;
  // Any return code is fine: what was reached is judged below, from the point itself.
  lbfgs(static_cast<int>(x.size()), x.data(), nullptr, lbfgs_evaluate, lbfgs_progress, &descent, &parameters);
  if (descent.separated) {
    Reference reference;
    reference.accuracy = 0;
    reference.how = "the classes are separable: no minimiser, infimum 0";
    return reference;
  }
  Vector w = Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
  constexpr Index newton_dimension = 2000;
  if (cost.h.cols() <= newton_dimension) return finish(cost, w, polish(cost, w), "L-BFGS, then Newton's method");
  const double g2 = cost.gradient(w).squaredNorm();
  const double accuracy = cost.l2 > 0 ? g2 / (2 * cost.l2) : std::numeric_limits<double>::quiet_NaN();
  return finish(cost, w, accuracy, "L-BFGS");
}

}  // namespace

Reference solve_reference(const LinearProblem& problem) {
  const Pooled cost(problem);
  if (!problem.loss().is_quadratic()) return by_descent(cost, problem.loss().is_classification());
  const Index small = std::min(cost.h.rows(), cost.h.cols());
  const double work =
      static_cast<double>(cost.h.rows()) * static_cast<double>(cost.h.cols()) * static_cast<double>(small);
  if (cost.l2 == 0 && work <= rank_revealing_work) return by_rank_revealing(cost);
  if (small <= normal_equations_rows) {
    Reference reference = by_normal_equations(cost);
    // A Gram matrix without full rank spoils the factorisation; conjugate gradients do not mind.
    if (reference.accuracy <= 1e-10 * std::max(1.0, reference.value)) return reference;
  }
  return by_conjugate_gradients(cost);
}

}  // namespace polyhop
