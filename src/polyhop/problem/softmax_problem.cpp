// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/softmax_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/elementary.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/problem/block_dot.hpp"
#include "polyhop/problem/data_oracle.hpp"

namespace polyhop {
namespace {

class SoftmaxOracle final : public DataOracle {
 public:
  SoftmaxOracle(const SoftmaxProblem& problem, Block block, Sampler sampler)
      : DataOracle(problem, block, std::move(sampler)), trial_(1, problem.dimension()) {
    z_.resize(static_cast<std::size_t>(problem.classes()));
    Index most = 0;
    for (Index k = 0; k < block_.size(); ++k) most = std::max(most, batch_size(k));
    losses_.resize(static_cast<std::size_t>(most));
  }

  void values_at_point(const Rows& w, std::span<Real> out) override {
    for (Index k = 0; k < block_.size(); ++k) out[static_cast<std::size_t>(k)] = value_at(k, w.data());
  }

 private:
  // z_c = h.w_c of a sample, for all classes.
  void predict(Index sample, const Real* w) {
    const Features& h = features();
    const Index m = h.columns();
    for (std::size_t c = 0; c < z_.size(); ++c) {
      const Real* block = w + static_cast<Index>(c) * m;
      z_[c] = h.is_sparse() ? h.dot(sample, block) : block_dot(h.dense().row(sample).data(), block, m);
    }
  }

  [[nodiscard]] Real value_at(Index k, const Real* w) {
    const auto chosen = batch(k);
    for (std::size_t j = 0; j < chosen.size(); ++j) {
      predict(sample(k, chosen[j]), w);
      losses_[j] = softmax_loss(z_, static_cast<Index>(targets(k)[j]));
    }
    return value(k, {losses_.data(), chosen.size()}, w);
  }

  void do_evaluate(const Rows& w, bool with_values, Evaluation& out) override {
    if (out.gradients.row.empty()) prepare(out, true);
    for (Index k = 0; k < block_.size(); ++k) {
      const Real* at = w.row(k).data();
      gradient(k, at, out.written.row(k).data());
      if (with_values) out.values[static_cast<std::size_t>(k)] = value(k, {losses_.data(), batch(k).size()}, at);
    }
  }

  // g_c = sum over the batch of (p_c - [y = c]) h, times the samples' share; leaves the losses behind.
  void gradient(Index k, const Real* w, Real* g) {
    problem_.penalty_gradient(w, g);
    const auto chosen = batch(k);
    const Real by = share(k);
    for (std::size_t j = 0; j < chosen.size(); ++j) {
      const Index n = sample(k, chosen[j]);
      const auto y = static_cast<std::size_t>(targets(k)[j]);
      predict(n, w);
      losses_[j] = softmax_loss(z_, static_cast<Index>(y), z_.data());
      z_[y] -= 1;
      for (std::size_t c = 0; c < z_.size(); ++c) {
        features().add_scaled(by * z_[c], n, g + static_cast<Index>(c) * features().columns());
      }
    }
  }

  void do_values_at(const Reach& reach, std::span<Real> out) override {
    for (Index k = 0; k < block_.size(); ++k) {
      for (Index e = reach.pattern.offset[k]; e < reach.pattern.offset[k + 1]; ++e) {
        out[static_cast<std::size_t>(e)] = value_at(k, reach.row(e));
      }
    }
  }

  void do_values_along(const Rows& w, const Gradients& g, std::span<const Index> agents, std::span<const Real> steps,
                       std::span<Real> out) override {
    for (const Index k : agents) {
      const auto slot = static_cast<std::size_t>(k);
      kernels::add_scaled(-steps[slot] * g.scale[slot], g.row[slot], w.row(k).data(), trial_.data(), g.columns);
      out[slot] = value_at(k, trial_.data());
    }
  }

  Rows trial_;                // one row: a point on its way to being evaluated
  std::vector<Real> z_;       // one entry per class: the predictions for a sample
  std::vector<Real> losses_;  // of one agent's batch
};

}  // namespace

Real softmax_loss(std::span<const Real> z, Index y, Real* probabilities) {
  const Real of_target = z[static_cast<std::size_t>(y)];
  const Real largest = *std::ranges::max_element(z);
  // Relative to the largest, whose own term is 1: nothing overflows, and the sum is 1 at least.
  double sum = 0;
  for (std::size_t c = 0; c < z.size(); ++c) {
    const Real e = elementary::exp(z[c] - largest);
    sum += e;
    if (probabilities != nullptr) probabilities[c] = e;
  }
  if (probabilities != nullptr) {
    for (std::size_t c = 0; c < z.size(); ++c) probabilities[c] /= sum;
  }
  return elementary::log(sum) + (largest - of_target);
}

SoftmaxProblem::SoftmaxProblem(Dataset data, Index classes, LinearOptions options)
    : DataProblem(std::move(data), std::move(options), classes) {
  if (classes < 2) throw InputError("classes", "found " + std::to_string(classes) + ", expected at least 2");
  for (const Real y : this->data().targets) {
    if (!(y >= 0 && y < static_cast<Real>(classes) && y == std::floor(y))) {
      throw InputError("data", "found target " + shortest(y) + "; with " + std::to_string(classes) +
                                   " classes targets are their numbers, 0 to " + std::to_string(classes - 1));
    }
  }
}

std::unique_ptr<Oracle> SoftmaxProblem::oracle(Block block, std::uint64_t seed) const {
  return std::make_unique<SoftmaxOracle>(*this, block, sampler(block, seed));
}

Index SoftmaxProblem::misclassified(Block block, const Real* w) const {
  Rows model(classes(), features());  // blocks of w are not padded, rows are
  for (Index c = 0; c < classes(); ++c) std::copy_n(w + c * features(), features(), model.row(c).data());
  Index wrong = 0;
  for (Index n = data().first(block.first); n < data().first(block.last); ++n) {
    Index best = 0;
    Real highest = data().features.dot(n, model.row(0).data());
    for (Index c = 1; c < classes(); ++c) {
      const Real z = data().features.dot(n, model.row(c).data());
      if (z > highest) {
        highest = z;
        best = c;
      }
    }
    if (static_cast<Real>(best) != data().targets[static_cast<std::size_t>(n)]) ++wrong;
  }
  return wrong;
}

void SoftmaxProblem::losses_at_points(const Real* z, Index stride, std::span<const Real> targets,
                                      std::span<Real> losses) const {
  std::vector<Real> own(static_cast<std::size_t>(classes()));
  for (std::size_t p = 0; p < losses.size(); ++p) {
    for (Index c = 0; c < classes(); ++c) own[static_cast<std::size_t>(c)] = z[c * stride + static_cast<Index>(p)];
    losses[p] = softmax_loss(own, static_cast<Index>(targets[p]));
  }
}

}  // namespace polyhop
