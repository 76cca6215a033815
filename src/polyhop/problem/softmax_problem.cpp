// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/softmax_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/elementary.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/problem/data_oracle.hpp"

namespace polyhop {
namespace {

// T: the type of features and models.
template <class T>
class SoftmaxOracle final : public DataOracle {
 public:
  SoftmaxOracle(const SoftmaxProblem& problem, Block block, Sampler sampler)
      : DataOracle(problem, block, std::move(sampler)),
        trial_(1, problem.dimension(), 0, problem.element()),
        classes_(problem.classes()) {
    z_.resize(together * classes_);
    Index most = 0;
    for (Index k = 0; k < block_.size(); ++k) most = std::max(most, batch_size(k));
    losses_.resize(most);
  }

  void values_at_point(const Rows& w, std::span<double> out) override {
    for (Index k = 0; k < block_.size(); ++k) out[k] = value_at(k, w.as<T>());
  }

  void slopes(const Rows& w, std::span<double> out) override {
    kept_.resize(out.size());
    double* to = out.data();
    double* kept = kept_.data();
    for (Index k = 0; k < block_.size(); ++k) {
      in_groups(0, batch(k).size(), [&](std::size_t first, std::size_t last) {
        predict(k, batch(k).subspan(first, last - first), w.as<T>(k));
        for (std::size_t j = first; j < last; ++j) {
          kept = std::copy_n(scores(j - first), classes_, kept);
          (void)slopes_of(targets(k)[j], 1, scores(j - first));
          to = std::copy_n(scores(j - first), classes_, to);
        }
      });
    }
  }
  [[nodiscard]] std::span<const double> predictions() const override { return kept_; }
  void add(Index k, std::span<const double> slopes, Rows& g) override {
    in_groups(0, batch(k).size(), [&](std::size_t first, std::size_t last) {
      const auto some = batch(k).subspan(first, last - first);
      take(k, some);
      add_samples(k, some, slopes.data() + first * classes_, g.as<T>(k));
    });
  }
  double penalty(Index k, const Rows& w, Rows& g) override {
    problem_.penalty_gradient(w.as<T>(k), g.as<T>(k));
    return problem_.penalty(w.as<T>(k));
  }
  double whole(Index k, const Rows& w, Rows& g) override {
    T* out = g.as<T>(k);
    std::fill_n(out, g.columns(), T{0});
    const double by = weight(k) / std::max(1.0, static_cast<double>(count(k)));
    double losses = 0;
    sum_samples(count(k), out, [&](std::size_t begin, std::size_t end) {
      in_groups(begin, end, [&](std::size_t first, std::size_t last) {
        std::array<Index, together> numbers{};
        std::iota(numbers.begin(), numbers.end(), static_cast<Index>(first));
        const auto some = std::span<const Index>(numbers).first(last - first);
        predict(k, some, w.as<T>(k));
        for (std::size_t j = 0; j < some.size(); ++j) {
          losses += slopes_of(problem_.data().targets[sample(k, some[j])], by, scores(j));
        }
        add_samples(k, some, z_.data(), out);
      });
    });
    return by * losses;
  }
  void predict(Index k, std::span<const Index> samples, const Rows& w, Index r, std::span<double> z) override {
    in_groups(0, samples.size(), [&](std::size_t first, std::size_t last) {
      predict(k, samples.subspan(first, last - first), w.as<T>(r));
      std::copy_n(z_.data(), (last - first) * classes_, z.data() + first * classes_);
    });
  }
  double losses(Index k, std::span<const Index> samples, std::span<const double> z, std::span<double> slopes) override {
    std::ranges::copy(z, slopes.begin());
    double sum = 0;
    for (std::size_t j = 0; j < samples.size(); ++j) {
      sum += slopes_of(problem_.data().targets[sample(k, samples[j])], 1, slopes.data() + j * classes_);
    }
    return sum;
  }
  void add(Index k, std::span<const Index> samples, std::span<const double> slopes, Rows& g) override {
    T* out = g.as<T>(k);
    sum_samples(samples.size(), out, [&](std::size_t begin, std::size_t end) {
      in_groups(begin, end, [&](std::size_t first, std::size_t last) {
        const auto some = samples.subspan(first, last - first);
        take(k, some);
        add_samples(k, some, slopes.data() + first * classes_, out);
      });
    });
  }
  void curvatures(Index /*k*/, std::span<const Index> samples, std::span<const double> z,
                  std::span<double> out) override {
    for (std::size_t j = 0; j < samples.size(); ++j) {
      (void)softmax_loss(z.subspan(j * classes_, classes_), 0, out.data() + j * classes_);
    }
  }
  void write_curvature(Index k, std::span<const Index> samples, std::span<const double> curvatures, double by,
                       Index first, std::span<double> out) override {
    this->template write_products<T>(k, samples, by, first, out, [&](std::size_t j, Index c, Index d) {
      const double* p = curvatures.data() + j * classes_;
      return p[c] * ((c == d ? 1.0 : 0.0) - p[d]);
    });
  }

 private:
  static constexpr std::size_t together = 12;  // samples that pass through the caches together

  template <class F>
  static void in_groups(std::size_t begin, std::size_t end, F use) {
    for (std::size_t first = begin; first < end; first += together) use(first, std::min(end, first + together));
  }

  // Looks up the features of some of agent k's samples, if they are dense.
  void take(Index k, std::span<const Index> some) {
    if (features().is_sparse()) return;
    for (std::size_t j = 0; j < some.size(); ++j) rows_[j] = features().dense().template as<T>(sample(k, some[j]));
  }

  // z_c = h.w_c for all classes and some of agent k's samples, sample by sample.
  void predict(Index k, std::span<const Index> some, const T* w) {
    const Features& h = features();
    take(k, some);
    if (!h.is_sparse()) {
      kernels::block_dots(rows_.data(), static_cast<Index>(some.size()), w, static_cast<Index>(classes_), h.columns(),
                          z_.data());
      return;
    }
    for (std::size_t j = 0; j < some.size(); ++j) {
      for (std::size_t c = 0; c < classes_; ++c) {
        scores(j)[c] = h.dot(sample(k, some[j]), w + static_cast<Index>(c) * h.columns());
      }
    }
  }
  [[nodiscard]] double* scores(std::size_t of) { return z_.data() + of * classes_; }

  [[nodiscard]] double value_at(Index k, const T* w) {
    in_groups(0, batch(k).size(), [&](std::size_t first, std::size_t last) {
      predict(k, batch(k).subspan(first, last - first), w);
      for (std::size_t j = first; j < last; ++j) {
        losses_[j] = softmax_loss({scores(j - first), classes_}, static_cast<Index>(targets(k)[j]));
      }
    });
    return value(k, {losses_.data(), batch(k).size()}, w);
  }

  void do_evaluate(const Rows& w, bool with_values, Evaluation& out) override {
    evaluate_strip(w, {0, block_.size()}, with_values, out);
  }
  void do_evaluate_strip(const Rows& w, Strip strip, Evaluation& out) override { evaluate_strip(w, strip, false, out); }
  void evaluate_strip(const Rows& w, Strip strip, bool with_values, Evaluation& out) {
    if (out.gradients.row.empty()) prepare(out, true);
    for (Index k = strip.first; k < strip.last; ++k) {
      const T* at = w.as<T>(k);
      gradient(k, at, out.written.as<T>(k));
      if (with_values) out.values[k] = value(k, {losses_.data(), batch(k).size()}, at);
    }
  }

  // g_c = sum over the batch of (p_c - [y = c]) h, times the samples' share; also stores the losses.
  void gradient(Index k, const T* w, T* g) {
    problem_.penalty_gradient(w, g);
    sum_samples(batch(k).size(), g, [&](std::size_t begin, std::size_t end) {
      in_groups(begin, end, [&](std::size_t first, std::size_t last) {
        const auto some = batch(k).subspan(first, last - first);
        predict(k, some, w);
        for (std::size_t j = first; j < last; ++j) losses_[j] = slopes_of(targets(k)[j], share(k), scores(j - first));
        add_samples(k, some, z_.data(), g);
      });
    });
  }

  // A sample's predictions become `by` times (p_c - [y = c]); returns its loss.
  [[nodiscard]] double slopes_of(double target, double by, double* z) const {
    const auto y = static_cast<std::size_t>(target);
    const double loss = softmax_loss({z, classes_}, static_cast<Index>(y), z);
    z[y] -= 1;
    for (std::size_t c = 0; c < classes_; ++c) z[c] *= by;
    return loss;
  }

  // g_c += the slopes times h, for the samples taken last.
  void add_samples(Index k, std::span<const Index> some, const double* slopes, T* g) {
    const Features& h = features();
    if (!h.is_sparse()) {
      kernels::add_blocks(slopes, rows_.data(), static_cast<Index>(some.size()), static_cast<Index>(classes_),
                          h.columns(), g);
      return;
    }
    for (std::size_t j = 0; j < some.size(); ++j) {
      for (std::size_t c = 0; c < classes_; ++c) {
        h.add_scaled(slopes[j * classes_ + c], sample(k, some[j]), g + static_cast<Index>(c) * h.columns());
      }
    }
  }

  void do_values_at(const Reach& reach, std::span<double> out) override {
    for (Index k = 0; k < block_.size(); ++k) {
      for (Index e = reach.pattern.offset[k]; e < reach.pattern.offset[k + 1]; ++e) {
        out[e] = value_at(k, reach.row<T>(e));
      }
    }
  }

  void do_values_along(const Rows& w, const Gradients& g, std::span<const Index> agents, std::span<const double> steps,
                       std::span<double> out) override {
    for (const Index k : agents) {
      kernels::add_scaled(-steps[k] * g.scale[k], g.at<T>(k), w.as<T>(k), trial_.as<T>(), g.columns);
      out[k] = value_at(k, trial_.as<T>());
    }
  }

  Rows trial_;  // one row: a trial point
  std::size_t classes_;
  std::array<const T*, together> rows_{};  // the features of some samples, if they are dense
  std::vector<double> z_;                  // their predictions, one per class
  std::vector<double> losses_;             // of one agent's batch
  std::vector<double> kept_;               // predictions of all drawn samples
};

}  // namespace

double softmax_loss(std::span<const double> z, Index y, double* probabilities) {
  const double of_target = z[y];
  const double largest = *std::ranges::max_element(z);
  // Relative to the largest, whose own term is 1: nothing overflows, and the sum is at least 1.
  double sum = 0;
  for (std::size_t c = 0; c < z.size(); ++c) {
    const double e = elementary::exp(z[c] - largest);
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
  for (const double y : this->data().targets) {
    if (!(y >= 0 && y < static_cast<double>(classes) && y == std::floor(y))) {
      throw InputError("data", "found target " + shortest(y) + "; with " + std::to_string(classes) +
                                   " classes targets are their numbers, 0 to " + std::to_string(classes - 1));
    }
  }
}

std::unique_ptr<Oracle> SoftmaxProblem::oracle(Block block, std::uint64_t seed) const {
  return with_element(element(), [&](auto zero) -> std::unique_ptr<Oracle> {
    return std::make_unique<SoftmaxOracle<decltype(zero)>>(*this, block, sampler(block, seed));
  });
}

Index SoftmaxProblem::misclassified(Block block, const double* w) const {
  Rows model(classes(), features());  // blocks of w are not padded, rows are
  for (Index c = 0; c < classes(); ++c) std::copy_n(w + c * features(), features(), model.row(c).data());
  Index wrong = 0;
  for (Index n = data().first(here(block.first)); n < data().first(here(block.last)); ++n) {
    Index best = 0;
    double highest = data().features.dot(n, model.row(0).data());
    for (Index c = 1; c < classes(); ++c) {
      const double z = data().features.dot(n, model.row(c).data());
      if (z > highest) {
        highest = z;
        best = c;
      }
    }
    if (static_cast<double>(best) != data().targets[n]) ++wrong;
  }
  return wrong;
}

void SoftmaxProblem::losses_at_points(const double* z, Index stride, std::span<const double> targets,
                                      std::span<double> losses) const {
  std::vector<double> own(classes());
  for (std::size_t p = 0; p < losses.size(); ++p) {
    for (Index c = 0; c < classes(); ++c) own[c] = z[c * stride + static_cast<Index>(p)];
    losses[p] = softmax_loss(own, static_cast<Index>(targets[p]));
  }
}

}  // namespace polyhop
