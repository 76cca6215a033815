// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "polyhop/core/kernels.hpp"
#include "polyhop/problem/data_problem.hpp"
#include "polyhop/problem/oracle.hpp"
#include "polyhop/problem/sample_gradients.hpp"
#include "polyhop/problem/sampler.hpp"

namespace polyhop {

/// What the oracles of linear models on data share: which agent samples what, and what a batch costs besides its
/// predictions.
class DataOracle : public Oracle, public SampleGradients {
 public:
  DataOracle(const DataProblem& problem, Block block, Sampler sampler);

  void draw(Index i) override;
  bool smoothness(std::span<double> out) override;
  [[nodiscard]] bool is_exact() const override { return sampler_.takes_all(); }
  [[nodiscard]] Index epoch() const override { return sampler_.epoch(); }
  [[nodiscard]] bool may_fit() const override { return problem_.l2() == 0 && std::isfinite(problem_.max_curvature()); }
  [[nodiscard]] bool is_quadratic() const override { return problem_.is_quadratic() && problem_.l2() == 0; }

  [[nodiscard]] SampleGradients* samples() override { return this; }
  [[nodiscard]] Index width() const override { return problem_.predictions(); }
  [[nodiscard]] Index count(Index k) const override { return problem_.data().samples(problem_.here(block_.first) + k); }
  [[nodiscard]] std::span<const Index> drawn(Index k) const override { return batch(k); }
  [[nodiscard]] double factor(Index k) const override { return weight(k); }
  [[nodiscard]] bool is_linear() const override { return true; }
  [[nodiscard]] double max_curvature() const override { return problem_.max_curvature(); }
  [[nodiscard]] double squared_norm(Index k, Index n) const override { return problem_.squared_norm(sample(k, n)); }
  [[nodiscard]] double penalty_curvature() const override { return problem_.penalty_curvature(); }

 protected:
  [[nodiscard]] const Features& features() const { return problem_.data().features; }
  /// The position in the data of sample n of the block's k-th agent.
  [[nodiscard]] Index sample(Index k, Index n) const {
    return problem_.data().first(problem_.here(block_.first) + k) + n;
  }
  [[nodiscard]] std::span<const Index> batch(Index k) const { return sampler_.indices(k); }
  [[nodiscard]] Index batch_size(Index k) const { return static_cast<Index>(sampler_.indices(k).size()); }
  [[nodiscard]] std::span<const double> targets(Index k) const {
    return {targets_.data() + sampler_.offset(k), batch(k).size()};
  }
  [[nodiscard]] double weight(Index k) const { return problem_.weight(problem_.here(block_.first) + k); }
  /// The weight of one sample of agent k's batch in its cost; 0 if it has no samples.
  [[nodiscard]] double share(Index k) const {
    return weight(k) / static_cast<double>(std::max<Index>(1, batch_size(k)));
  }
  /// Jhat_k at w, from its batch's losses.
  template <class T>
  [[nodiscard]] double value(Index k, std::span<const double> losses, const T* w) const {
    double sum = 0;
    for (const double x : losses) sum += x;
    return weight(k) * (sum / static_cast<double>(std::max<std::size_t>(1, losses.size()))) + problem_.penalty(w);
  }
  /// g += what `add(first, last)` contributes for the samples `first` to `last` out of `count`. In single precision,
  /// where g is a chain of sums, it takes at most kernels::float_run samples at a time and adds up their sums in
  /// double.
  template <class T, class Add>
  void sum_samples(std::size_t count, T* g, Add add) {
    constexpr auto run = static_cast<std::size_t>(kernels::float_run);
    if (std::is_same_v<T, double> || count <= run) return add(0, count);
    sums_.assign(g, g + problem_.dimension());
    for (std::size_t first = 0; first < count; first += run) {
      std::fill_n(g, sums_.size(), T{0});
      add(first, std::min(count, first + run));
      for (std::size_t j = 0; j < sums_.size(); ++j) sums_[j] += static_cast<double>(g[j]);
    }
    std::ranges::transform(sums_, g, [](double sum) { return static_cast<T>(sum); });
  }
  /// See SampleGradients; `weight(j, c, d)`: the j-th sample's second derivative by its predictions c and d.
  template <class T, class Weight>
  void add_products(Index k, std::span<const Index> samples, double by, Index first, std::span<double> out,
                    Weight weight) {
    const Index features = problem_.features();
    const Index dimension = problem_.dimension();
    // The triangle's row that `first` is in, and the column.
    Index row = 0;
    while (first >= dimension - row) first -= dimension - row++;
    for (std::size_t j = 0; j < samples.size(); ++j) {
      read_features<T>(sample(k, samples[j]), wide_);
      Index r = row;
      Index s = row + first;
      for (std::size_t done = 0; done < out.size();) {
        const Index c = r / features;
        const Index d = s / features;
        const Index end = std::min({(d + 1) * features, s + static_cast<Index>(out.size() - done)});
        const double a = by * weight(j, c, d) * wide_[r % features];
        const double* h = wide_.data() + (s - d * features);
        double* to = out.data() + done;
        if (a != 0) {
          for (Index m = 0; m < end - s; ++m) to[m] += a * h[m];
        }
        done += end - s;
        s = end;
        if (s == dimension) s = ++r;
      }
    }
  }
  template <class T>
  void read_features(Index place, std::span<double> out) const {
    if (!features().is_sparse()) {
      std::copy_n(features().dense().template as<T>(place), out.size(), out.begin());
      return;
    }
    std::ranges::fill(out, 0.0);
    const auto columns = features().columns_of(place);
    const auto values = features().template values_of<T>(place);
    for (std::size_t e = 0; e < columns.size(); ++e) out[columns[e]] = values[e];
  }
  /// Allocates the block's values and gradients; `written`: dense gradients.
  void prepare(Evaluation& out, bool written) const;

  const DataProblem& problem_;
  Block block_;
  Sampler sampler_;
  std::vector<double> targets_;  // one per chosen sample

 private:
  std::vector<double> sums_;  // see sum_samples
  std::vector<double> wide_;  // a sample's features
};

}  // namespace polyhop
