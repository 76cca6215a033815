// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/optimum/pooled_cost.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "polyhop/core/error.hpp"
#include "polyhop/problem/linear_problem.hpp"
#include "polyhop/problem/softmax_problem.hpp"

namespace polyhop::optimum {
namespace {

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
  static std::span<const double> span(const Eigen::Ref<const Vector>& v) {
    return {v.data(), static_cast<std::size_t>(v.size())};
  }
  static std::span<double> span(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
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
    double* row = z.row(n).data();
    return softmax_loss({row, static_cast<std::size_t>(classes_)}, static_cast<Index>(y(n)), row);
  }
  // sum_n c_n s_nc h_n, class by class
  [[nodiscard]] Vector gathered(RowMatrix& s) const {
    s.array().colwise() *= c.array();
    const RowMatrix g = h.gathered(s);
    return Eigen::Map<const Vector>(g.data(), g.size());
  }

  Index classes_;
  RowMatrix probabilities_;
};

}  // namespace

Pooled::Pooled(const DataProblem& problem, Index first, Index last, Vector penalty_)
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

Vector penalty_of(const DataProblem& problem) {
  Vector penalty(problem.dimension());
  for (Index j = 0; j < problem.dimension(); ++j) penalty(j) = problem.l2() * problem.penalty_factor(j);
  return penalty;
}

std::unique_ptr<Pooled> pooled(const DataProblem& problem, Index first, Index last, Vector penalty) {
  if (const auto* softmax = dynamic_cast<const SoftmaxProblem*>(&problem)) {
    return std::make_unique<PooledSoftmax>(*softmax, first, last, std::move(penalty));
  }
  const auto* linear = dynamic_cast<const LinearProblem*>(&problem);
  if (linear == nullptr) throw Error("there is no known way to find the optimum of these costs");
  return std::make_unique<PooledLinear>(*linear, first, last, std::move(penalty));
}

}  // namespace polyhop::optimum
