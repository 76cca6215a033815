// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/linear_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "polyhop/core/error.hpp"
#include "polyhop/core/kernels.hpp"

namespace polyhop {
namespace {

class LinearOracle final : public Oracle {
 public:
  LinearOracle(const Dataset& data, const Loss& loss, Real l2, const std::vector<Real>& squared_norms, Block block,
               Sampler sampler)
      : data_(data), loss_(loss), l2_(l2), squared_norms_(squared_norms), block_(block), sampler_(std::move(sampler)) {
    const auto total = static_cast<std::size_t>(sampler_.total());
    for (auto* buffer : {&z_, &targets_, &slopes_, &losses_}) buffer->resize(total);
    // One sample and no penalty: the gradient is slope * h, never written out.
    one_row_ = sampler_.total() == block.size() && l2 == 0;
    if (!one_row_) trial_ = Rows(1, data.features.columns());
  }

  void draw(Index i) override {
    sampler_.draw(i);
    for (Index k = 0; k < block_.size(); ++k) {
      Real* targets = targets_.data() + sampler_.offset(k);
      for (const Index n : sampler_.indices(k)) *targets++ = data_.targets[sample(k, n)];
    }
  }

  void values_at_point(const Rows& w, std::span<Real> out) override {
    predict([&](Index) { return w.data(); });
    batch_values([&](Index) { return w.data(); }, out);
  }

  bool smoothness(std::span<Real> out) override {
    for (Index k = 0; k < block_.size(); ++k) {
      const auto indices = sampler_.indices(k);
      double sum = 0;
      for (const Index n : indices) sum += squared_norms_[sample(k, n)];
      out[static_cast<std::size_t>(k)] = loss_.max_curvature() * sum / static_cast<double>(indices.size()) + l2_;
    }
    return true;
  }

  [[nodiscard]] bool is_exact() const override { return sampler_.takes_all(); }
  [[nodiscard]] Index epoch() const override { return sampler_.epoch(); }
  [[nodiscard]] bool is_quadratic() const override { return loss_.is_quadratic() && l2_ == 0; }

 private:
  [[nodiscard]] std::size_t sample(Index k, Index n) const {
    return static_cast<std::size_t>(data_.first(block_.first + k) + n);
  }
  [[nodiscard]] const Real* features(Index k, Index n) const {
    return data_.features.row(data_.first(block_.first + k) + n).data();
  }

  // z = h.w for every chosen sample, w = point(k).
  template <class Point>
  void predict(Point point) {
    const Index m = data_.features.columns();
    for (Index k = 0; k < block_.size(); ++k) {
      Real* z = z_.data() + sampler_.offset(k);
      const Real* w = point(k);
      for (const Index n : sampler_.indices(k)) *z++ = kernels::dot(features(k, n), w, m);
    }
  }

  // Jhat_k from the predictions.
  template <class Point>
  void batch_values(Point point, std::span<Real> out) {
    loss_.values(z_, targets_, losses_);
    for (Index k = 0; k < block_.size(); ++k) {
      out[static_cast<std::size_t>(k)] =
          mean(losses_.data() + sampler_.offset(k), sampler_.indices(k).size()) + penalty(point(k));
    }
  }

  [[nodiscard]] Real penalty(const Real* w) const {
    return l2_ == 0 ? 0 : 0.5 * l2_ * kernels::dot(w, w, data_.features.columns());
  }

  static Real mean(const Real* x, std::size_t n) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += x[j];
    return sum / static_cast<double>(n);
  }

  void do_evaluate(const Rows& w, bool with_values, Evaluation& out) override {
    if (out.gradients.row.empty()) prepare(out);
    const auto point = [&](Index k) { return w.row(k).data(); };
    predict(point);
    loss_.slopes(z_, targets_, slopes_);
    if (with_values) batch_values(point, out.values);
    for (Index k = 0; k < block_.size(); ++k) gradient(k, point(k), out);
  }

  void prepare(Evaluation& out) const {
    const auto agents = static_cast<std::size_t>(block_.size());
    out.values.resize(agents);
    out.gradients.columns = data_.features.columns();
    out.gradients.row.resize(agents);
    out.gradients.scale.assign(agents, 1.0);
    if (one_row_) return;
    out.written = Rows(block_.size(), out.gradients.columns);
    for (Index k = 0; k < block_.size(); ++k) {
      out.gradients.row[static_cast<std::size_t>(k)] = out.written.row(k).data();
    }
  }

  void gradient(Index k, const Real* w, Evaluation& out) {
    const auto indices = sampler_.indices(k);
    const Real* slopes = slopes_.data() + sampler_.offset(k);
    if (one_row_) {
      out.gradients.row[static_cast<std::size_t>(k)] = features(k, indices[0]);
      out.gradients.scale[static_cast<std::size_t>(k)] = slopes[0];
      return;
    }
    const Index m = data_.features.columns();
    Real* g = out.written.row(k).data();
    kernels::scale(l2_, w, g, m);
    const Real share = 1 / static_cast<Real>(indices.size());
    for (const Index n : indices) kernels::add_scaled(share * *slopes++, features(k, n), g, g, m);
  }

  void do_values_at(const Reach& reach, std::span<Real> out) override {
    for (auto* buffer : {&reach_z_, &reach_targets_, &reach_losses_}) buffer->resize(out.size());
    rows_.resize(static_cast<std::size_t>(block_.size()));
    Index most = 0;
    for (Index k = 0; k < block_.size(); ++k) most = std::max(most, batch_size(k));
    // One sample of each agent's batch at a time: its features against all points that the agent holds.
    losses_at(reach, 0, out);
    for (Index j = 1; j < most; ++j) {
      losses_at(reach, j, reach_losses_);
      for (Index k = 0; k < block_.size(); ++k) {
        if (j >= batch_size(k)) continue;  // an agent with a smaller batch has had its turn
        for (Index e = reach.pattern.offset[k]; e < reach.pattern.offset[k + 1]; ++e) {
          out[static_cast<std::size_t>(e)] += reach_losses_[static_cast<std::size_t>(e)];
        }
      }
    }
    if (one_row_) return;
    for (Index k = 0; k < block_.size(); ++k) {
      const Real share = 1 / static_cast<Real>(batch_size(k));
      for (Index e = reach.pattern.offset[k]; e < reach.pattern.offset[k + 1]; ++e) {
        out[static_cast<std::size_t>(e)] = share * out[static_cast<std::size_t>(e)] + penalty(reach.row(e));
      }
    }
  }

  void do_values_along(const Rows& w, const Gradients& g, std::span<const Index> agents, std::span<const Real> steps,
                       std::span<Real> out) override {
    for (const Index k : agents) {
      const auto slot = static_cast<std::size_t>(k);
      const Real a = steps[slot] * g.scale[slot];
      const auto count = static_cast<std::size_t>(batch_size(k));
      const std::span z(z_.data() + sampler_.offset(k), count);
      const std::span targets(targets_.data() + sampler_.offset(k), count);
      const std::span losses(losses_.data() + sampler_.offset(k), count);
      const Real added = one_row_ ? shift_prediction(k, w, a, g.row[slot], z) : predict_along(k, w, a, g.row[slot], z);
      loss_.values(z, targets, losses);
      out[slot] = mean(losses.data(), count) + added;
    }
  }

  // The prediction h.(w - a d) = h.w - a h.d, without the point; returns the penalty, which is none.
  Real shift_prediction(Index k, const Rows& w, Real a, const Real* d, std::span<Real> z) const {
    const Real* h = features(k, sampler_.indices(k)[0]);
    const Index m = data_.features.columns();
    z[0] = kernels::dot(h, w.row(k).data(), m) - a * kernels::dot(h, d, m);
    return 0;
  }

  // The same for a batch, by way of the point; returns the penalty there.
  Real predict_along(Index k, const Rows& w, Real a, const Real* d, std::span<Real> z) {
    const Index m = data_.features.columns();
    kernels::add_scaled(-a, d, w.row(k).data(), trial_.data(), m);
    std::size_t j = 0;
    for (const Index n : sampler_.indices(k)) z[j++] = kernels::dot(features(k, n), trial_.data(), m);
    return penalty(trial_.data());
  }

  [[nodiscard]] Index batch_size(Index k) const { return static_cast<Index>(sampler_.indices(k).size()); }

  // losses[e] = loss of the j-th sample (the last one, where there are fewer) of agent k at point l, e = (k, l).
  void losses_at(const Reach& reach, Index j, std::span<Real> losses) {
    for (Index k = 0; k < block_.size(); ++k) {
      const auto n = static_cast<std::size_t>(std::min(j, batch_size(k) - 1));
      rows_[static_cast<std::size_t>(k)] = features(k, sampler_.indices(k)[n]);
      const Real target = targets_[static_cast<std::size_t>(sampler_.offset(k)) + n];
      std::fill(reach_targets_.begin() + reach.pattern.offset[k], reach_targets_.begin() + reach.pattern.offset[k + 1],
                target);
    }
    kernels::pairwise(reach.pattern, reach.agents, rows_.data(), reach.rows, reach.stride, reach.columns, nullptr,
                      reach_z_.data());
    loss_.values(reach_z_, reach_targets_, losses);
  }

  const Dataset& data_;
  const Loss& loss_;
  Real l2_;
  const std::vector<Real>& squared_norms_;
  Block block_;
  Sampler sampler_;
  bool one_row_ = false;
  Rows trial_;  // one row: a point on its way to being evaluated; none where gradients are one row
  std::vector<Real> z_, targets_, slopes_, losses_;           // one entry per chosen sample
  std::vector<Real> reach_z_, reach_targets_, reach_losses_;  // one entry per two-hop pair
  std::vector<const Real*> rows_;
};

}  // namespace

LinearProblem::LinearProblem(Dataset data, std::shared_ptr<const Loss> loss, Real l2, Batch batch, Sampling sampling)
    : data_(std::move(data)), loss_(std::move(loss)), l2_(l2), batch_(batch), sampling_(sampling) {
  for (Index k = 0; k < agents(); ++k) {
    if (data_.samples(k) < 1) throw InputError("data", "agent " + std::to_string(k) + " has no samples");
  }
  squared_norms_.reserve(data_.targets.size());
  for (Index n = 0; n < data_.features.rows(); ++n) {
    const Real* h = data_.features.row(n).data();
    squared_norms_.push_back(kernels::dot(h, h, dimension()));
  }
}

std::unique_ptr<Oracle> LinearProblem::oracle(Block block, std::uint64_t seed) const {
  std::vector<Index> samples;
  for (Index k = block.first; k < block.last; ++k) samples.push_back(data_.samples(k));
  return std::make_unique<LinearOracle>(data_, *loss_, l2_, squared_norms_, block,
                                        Sampler(block, std::move(samples), batch_, sampling_, seed));
}

void LinearProblem::costs(Block block, const Rows& points, Rows& out) const {
  const Index m = dimension();
  const Index padded = (points.rows() + kernels::product_tile - 1) / kernels::product_tile * kernels::product_tile;
  Rows transposed(m, padded);
  std::vector<Real> penalties(static_cast<std::size_t>(padded));
  for (Index p = 0; p < points.rows(); ++p) {
    const auto w = points.row(p);
    for (Index j = 0; j < m; ++j) transposed(j, p) = w[static_cast<std::size_t>(j)];
    penalties[static_cast<std::size_t>(p)] = l2_ == 0 ? 0 : 0.5 * l2_ * kernels::dot(w.data(), w.data(), m);
  }
  std::vector<Real> targets(static_cast<std::size_t>(padded));
  std::vector<Real> losses(static_cast<std::size_t>(padded));
  std::vector<double> sums(static_cast<std::size_t>(padded));
  Index most = 0;
  for (Index k = block.first; k < block.last; ++k) most = std::max(most, data_.samples(k));
  Rows z(most, padded);
  for (Index k = 0; k < block.size(); ++k) {
    const Index first = data_.first(block.first + k);
    const Index n_k = data_.samples(block.first + k);
    kernels::products(data_.features.row(first).data(), data_.features.stride(), n_k, transposed.data(),
                      transposed.stride(), padded, m, z.data(), z.stride());
    std::ranges::fill(sums, 0.0);
    for (Index n = 0; n < n_k; ++n) {
      std::ranges::fill(targets, data_.targets[static_cast<std::size_t>(first + n)]);
      loss_->values(z.row(n), targets, losses);
      for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += losses[p];
    }
    for (Index p = 0; p < points.rows(); ++p) {
      const auto slot = static_cast<std::size_t>(p);
      out(k, p) = sums[slot] / static_cast<double>(n_k) + penalties[slot];
    }
  }
}

}  // namespace polyhop
