// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "polyhop/core/kernels.hpp"
#include "polyhop/core/triangle_bands.hpp"
#include "polyhop/problem/data_problem.hpp"
#include "polyhop/problem/oracle.hpp"
#include "polyhop/problem/sample_gradients.hpp"
#include "polyhop/problem/sampler.hpp"

namespace polyhop {

/// What the oracles of linear models on data have in common: the samples that agents draw, and the cost of a batch
/// except its predictions.
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
  [[nodiscard]] bool has_constant_curvature() const override { return problem_.is_quadratic(); }

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
  /// g += the sums that `add(first, last)` makes for the samples `first` to `last` out of `count`. In single precision,
  /// it makes them for some samples at a time, and adds them up in double.
  template <class T, class Add>
  void sum_samples(std::size_t count, T* g, Add add) {
    constexpr std::size_t run = 256;
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
  void write_products(Index k, std::span<const Index> samples, double by, Index first, std::span<double> out,
                      Weight weight) {
    const TriangleBands bands(problem_.dimension());
    const auto count = static_cast<Index>(out.size());
    // The numbers of a band are computed in whole columns.
    Index band = -1;
    Index begin = 0;
    Index end = 0;
    Index at = 0;  // where the numbers of the band begin in out
    const auto finish = [&] {
      if (band < 0) return;
      add_squares<T>(k, samples, by, band, begin, end, weight);
      Index to = at;
      bands.each_piece(first + at, count - at, [&](const TriangleBands::Piece& piece) {
        if (piece.band != band) return;
        const double* from = tile_.data() + (piece.column - begin) * kernels::strip - band;
        to = std::copy(from + piece.row, from + piece.last, out.begin() + to) - out.begin();
      });
      at = to;
    };
    bands.each_piece(first, count, [&](const TriangleBands::Piece& piece) {
      if (piece.band != band) {
        finish();
        band = piece.band;
        begin = piece.column;
      }
      end = piece.column + 1;
    });
    finish();
  }
  /// tile_ = the sums for the rows of a band and the columns from `begin` to `end`, a strip.
  template <class T, class Weight>
  void add_squares(Index k, std::span<const Index> samples, double by, Index band, Index begin, Index end,
                   Weight weight) {
    const Index features = problem_.features();
    const Index rows = std::min(kernels::strip, problem_.dimension() - band);
    const Index above = band % features;
    const Index left = begin % features;
    tile_.assign((end - begin) * kernels::strip, 0.0);
    for (std::size_t start = 0; start < samples.size(); start += together) {
      const auto some = samples.subspan(start, std::min(together, samples.size() - start));
      with_features<T>(k, some, [&](auto h) {
        // Samples are far apart: what will be read of them first is on its way before any of it is needed.
        for (std::size_t j = 0; j < some.size(); ++j) {
          constexpr Index line = Rows::line_bytes / static_cast<Index>(sizeof(*h[j]));
          for (Index l = above; l < std::min(features, above + rows); l += line) __builtin_prefetch(h[j] + l);
          for (Index s = left; s < std::min(features, left + end - begin); s += line) __builtin_prefetch(h[j] + s);
        }
        // Rows and columns of one prediction have the same weight.
        for (Index s = begin; s < end;) {
          const Index d = s / features;
          const Index stop = std::min(end, (d + 1) * features);
          auto from = h;
          for (std::size_t j = 0; j < some.size(); ++j) {
            double* a = scaled_.data() + j * kernels::strip;
            for (Index l = 0; l < rows;) {
              const Index c = (band + l) / features;
              const double factor = by * weight(start + j, c, d);
              const Index skipped = c * features - band;
              for (const Index last = std::min(rows, (c + 1) * features - band); l < last; ++l) {
                a[l] = factor * static_cast<double>(h[j][l - skipped]);
              }
            }
            from[j] += s - d * features;
          }
          kernels::add_squares(scaled_.data(), from.data(), static_cast<Index>(some.size()), stop - s,
                               tile_.data() + (s - begin) * kernels::strip);
          s = stop;
        }
      });
    }
  }
  /// Calls use(h), h[j] the j-th sample's features.
  template <class T, class Use>
  void with_features(Index k, std::span<const Index> samples, Use use) {
    if (!features().is_sparse()) {
      std::array<const T*, together> h{};
      for (std::size_t j = 0; j < samples.size(); ++j) h[j] = features().dense().template as<T>(sample(k, samples[j]));
      return use(h);
    }
    std::array<const double*, together> h{};
    const auto length = static_cast<std::size_t>(problem_.features());
    wide_.resize(together * length);
    for (std::size_t j = 0; j < samples.size(); ++j) {
      const auto row = std::span(wide_).subspan(j * length, length);
      read_features<T>(sample(k, samples[j]), row);
      h[j] = row.data();
    }
    use(h);
  }
  template <class T>
  void read_features(Index place, std::span<double> out) const {
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
  static constexpr std::size_t together = 16;  // samples whose products are added up in registers

  std::vector<double> sums_;    // see sum_samples
  std::vector<double> wide_;    // some samples' features, if they are sparse
  std::vector<double> tile_;    // see add_squares
  std::vector<double> scaled_;  // of some samples the features that a band needs, times their weights
};

}  // namespace polyhop
