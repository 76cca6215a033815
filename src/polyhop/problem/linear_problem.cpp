// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/linear_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/pair_tiles.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/problem/data_oracle.hpp"

namespace polyhop {
namespace {

// T: the type of features and models.
template <class T>
class LinearOracle final : public DataOracle, public SampleRows {
 public:
  LinearOracle(const LinearProblem& problem, Block block, Sampler sampler)
      : DataOracle(problem, block, std::move(sampler)), loss_(problem.loss()) {
    const auto total = static_cast<std::size_t>(sampler_.total());
    for (auto* buffer : {&z_, &slopes_, &losses_}) buffer->resize(total);
    if (!features().is_sparse()) {
      dense_ = features().dense().template as<T>();
      stride_ = features().dense().stride();
      columns_ = features().columns();
    }
    // One sample and no penalty: the gradient is slope * h, never written out. So it is for all agents, or for none.
    one_row_ = problem.l2() == 0 && dense_ != nullptr && sampler_.takes_one();
    if (!one_row_) trial_ = Rows(1, problem.dimension(), 0, problem.element());
    zeros_ = Rows(1, problem.dimension(), 0, problem.element());
  }

  void values_at_point(const Rows& w, std::span<double> out) override {
    predict([&](Index) { return w.as<T>(); });
    batch_values([&](Index) { return w.as<T>(); }, out);
  }

  [[nodiscard]] Index count(Index k) const override { return DataOracle::count(k); }
  [[nodiscard]] const void* sample_row(Index k, Index n) const override {
    return n < count(k) ? row(k, n) : zeros_.as<T>();
  }
  [[nodiscard]] double squared_norm(Index k, Index n) const override {
    return n < count(k) ? DataOracle::squared_norm(k, n) : 0;
  }

  void slopes(const Rows& w, std::span<double> out) override {
    predict([&](Index k) { return w.as<T>(k); });
    loss_.slopes(z_, targets_, out);
  }
  [[nodiscard]] std::span<const double> predictions() const override { return z_; }
  void add(Index k, std::span<const double> slopes, Rows& g) override {
    T* out = g.as<T>(k);
    for (std::size_t j = 0; j < slopes.size(); ++j) features().add_scaled(slopes[j], sample(k, batch(k)[j]), out);
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
    sum_samples(count(k), out, [&](std::size_t first, std::size_t last) {
      for (auto n = static_cast<Index>(first); n < static_cast<Index>(last); ++n) {
        const double z = prediction(k, n, w.as<T>(k));
        double slope = 0;
        double loss = 0;
        const std::span<const double> target(&problem_.data().targets[sample(k, n)], 1);
        loss_.slopes({&z, 1}, target, {&slope, 1});
        loss_.values({&z, 1}, target, {&loss, 1});
        losses += loss;
        features().add_scaled(by * slope, sample(k, n), out);
      }
    });
    return by * losses;
  }
  void predict(Index k, std::span<const Index> samples, const Rows& w, Index r, std::span<double> z) override {
    for (std::size_t j = 0; j < samples.size(); ++j) z[j] = prediction(k, samples[j], w.as<T>(r));
  }
  double losses(Index k, std::span<const Index> samples, std::span<const double> z, std::span<double> slopes) override {
    double sum = 0;
    for (std::size_t j = 0; j < samples.size(); ++j) {
      const std::span<const double> target(&problem_.data().targets[sample(k, samples[j])], 1);
      double loss = 0;
      loss_.values(z.subspan(j, 1), target, {&loss, 1});
      loss_.slopes(z.subspan(j, 1), target, slopes.subspan(j, 1));
      sum += loss;
    }
    return sum;
  }
  void add(Index k, std::span<const Index> samples, std::span<const double> slopes, Rows& g) override {
    T* out = g.as<T>(k);
    sum_samples(samples.size(), out, [&](std::size_t first, std::size_t last) {
      for (std::size_t j = first; j < last; ++j) features().add_scaled(slopes[j], sample(k, samples[j]), out);
    });
  }
  void curvatures(Index k, std::span<const Index> samples, std::span<const double> z, std::span<double> out) override {
    for (std::size_t j = 0; j < samples.size(); ++j) {
      const std::span<const double> target(&problem_.data().targets[sample(k, samples[j])], 1);
      loss_.curvatures(z.subspan(j, 1), target, out.subspan(j, 1));
      if (out[j] != 0) continue;
      double slope = 0;
      loss_.slopes(z.subspan(j, 1), target, {&slope, 1});
      if (slope != 0) out[j] = std::abs(slope / (z[j] - target[0]));
    }
  }
  void write_curvature(Index k, std::span<const Index> samples, std::span<const double> curvatures, double by,
                       Index first, std::span<double> out) override {
    this->template write_products<T>(k, samples, by, first, out,
                                     [&](std::size_t j, Index, Index) { return curvatures[j]; });
  }

 private:
  // Sample n of agent k; only if features are dense.
  [[nodiscard]] const T* row(Index k, Index n) const { return dense_ + sample(k, n) * stride_; }
  // h.w of that sample
  [[nodiscard]] double prediction(Index k, Index n, const T* w) const {
    return dense_ != nullptr ? kernels::dot(row(k, n), w, columns_) : features().dot(sample(k, n), w);
  }
  [[nodiscard]] std::span<double> of_agent(std::vector<double>& numbers, Index k) const {
    return {numbers.data() + sampler_.offset(k), batch(k).size()};
  }

  // z = h.w for every chosen sample, w = point(k).
  template <class Point>
  void predict(Point point) {
    for (Index k = 0; k < block_.size(); ++k) predict(k, point(k));
  }
  void predict(Index k, const T* w) {
    double* z = z_.data() + sampler_.offset(k);
    for (const Index n : batch(k)) *z++ = prediction(k, n, w);
  }

  // Jhat_k from the predictions.
  template <class Point>
  void batch_values(Point point, std::span<double> out) {
    loss_.values(z_, targets_, losses_);
    for (Index k = 0; k < block_.size(); ++k) {
      out[k] = value(k, of_agent(losses_, k), point(k));
    }
  }

  void do_evaluate(const Rows& w, bool with_values, Evaluation& out) override {
    // Samples are read for their predictions, and again for gradients that are written out.
    const Index length = one_row_ ? block_.size() : 1;
    for (Strip strip{0, length}; strip.first < block_.size(); strip = {strip.last, strip.last + length}) {
      do_evaluate_strip(w, strip, out);
    }
    if (with_values) batch_values([&](Index k) { return w.as<T>(k); }, out.values);
  }

  void do_evaluate_strip(const Rows& w, Strip strip, Evaluation& out) override {
    if (out.gradients.row.empty()) {
      prepare(out, !one_row_);
      // What may not leave its process is not sent as it is, not even with a gradient that is a multiple of it.
      if (one_row_ && !problem_.is_private()) out.gradients.samples = this;
      out.gradients.sample.resize(out.gradients.samples != nullptr ? block_.size() : 0);
    }
    const auto first = static_cast<std::size_t>(sampler_.offset(strip.first));
    const std::size_t count = static_cast<std::size_t>(sampler_.offset(strip.last)) - first;
    const auto some = [&](std::vector<double>& numbers) { return std::span(numbers).subspan(first, count); };
    if (one_row_) {
      predict_rows(w, strip, out.gradients);
    } else {
      for (Index k = strip.first; k < strip.last; ++k) predict(k, w.as<T>(k));
    }
    loss_.slopes(some(z_), some(targets_), some(slopes_));
    for (Index k = strip.first; k < strip.last; ++k) gradient(k, w.as<T>(k), out);
  }

  // Each agent's one sample, if it has any, is the row of its gradient.
  void predict_rows(const Rows& w, Strip strip, Gradients& g) {
    for (Index k = strip.first; k < strip.last; ++k) {
      const Index n = batch(k).empty() ? 0 : batch(k)[0];
      g.row[k] = sample_row(k, n);
      if (!g.sample.empty()) g.sample[k] = n;
    }
    double* z = z_.data() + sampler_.offset(strip.first);
    if (sampler_.offset(strip.last) - sampler_.offset(strip.first) == strip.last - strip.first) {
      return multiply_rows(g.row.data(), w, strip, z);
    }
    predicted_.resize(block_.size());
    multiply_rows(g.row.data(), w, strip, predicted_.data());
    for (Index k = strip.first; k < strip.last; ++k) {
      if (!batch(k).empty()) *z++ = predicted_[k - strip.first];
    }
  }

  void gradient(Index k, const T* w, Evaluation& out) {
    const double* slopes = slopes_.data() + sampler_.offset(k);
    if (one_row_) {
      out.gradients.scale[k] = batch(k).empty() ? 0 : weight(k) * slopes[0];
      return;
    }
    T* g = out.written.as<T>(k);
    problem_.penalty_gradient(w, g);
    const double by = share(k);
    sum_samples(batch(k).size(), g, [&](std::size_t first, std::size_t last) {
      for (std::size_t j = first; j < last; ++j) features().add_scaled(by * slopes[j], sample(k, batch(k)[j]), g);
    });
  }

  void do_values_at(const Reach& reach, std::span<double> out) override {
    for (auto* buffer : {&reach_z_, &reach_targets_, &reach_losses_}) buffer->resize(out.size());
    rows_.resize(block_.size());
    Index most = 0;
    for (Index k = 0; k < block_.size(); ++k) most = std::max(most, batch_size(k));
    // One sample of each agent's batch at a time: its features against all points that the agent holds.
    losses_at(reach, 0, out);
    for (Index j = 1; j < most; ++j) {
      losses_at(reach, j, reach_losses_);
      for (Index k = 0; k < block_.size(); ++k) {
        if (j >= batch_size(k)) continue;  // an agent with a smaller batch is done
        for (Index e = reach.pattern.offset[k]; e < reach.pattern.offset[k + 1]; ++e) {
          out[e] += reach_losses_[e];
        }
      }
    }
    const bool penalised = problem_.l2() != 0;
    for (Index k = 0; k < block_.size(); ++k) {
      const double by = share(k);
      for (Index e = reach.pattern.offset[k]; e < reach.pattern.offset[k + 1]; ++e) {
        out[e] = by * out[e] + (penalised ? problem_.penalty(reach.row<T>(e)) : 0);
      }
    }
  }

  void do_values_along(const Rows& w, const Gradients& g, std::span<const Index> agents, std::span<const double> steps,
                       std::span<double> out) override {
    for (const Index k : agents) {
      const double a = steps[k] * g.scale[k];
      const T* at = one_row_ ? shift_prediction(k, w, a, g.at<T>(k)) : predict_along(k, w, a, g.at<T>(k));
      loss_.values(of_agent(z_, k), targets(k), of_agent(losses_, k));
      out[k] = value(k, of_agent(losses_, k), at);
    }
  }

  // The prediction h.(w - a d) = h.w - a h.d, without forming the point, which only a penalty would need.
  const T* shift_prediction(Index k, const Rows& w, double a, const T* d) {
    const T* at = w.as<T>(k);
    if (batch(k).empty()) return at;
    const Index n = batch(k)[0];
    of_agent(z_, k)[0] = prediction(k, n, at) - a * prediction(k, n, d);
    return at;
  }

  // The same for a batch, by forming the point.
  const T* predict_along(Index k, const Rows& w, double a, const T* d) {
    kernels::add_scaled(-a, d, w.as<T>(k), trial_.as<T>(), trial_.columns());
    double* z = z_.data() + sampler_.offset(k);
    for (const Index n : batch(k)) *z++ = prediction(k, n, trial_.as<T>());
    return trial_.as<T>();
  }

  // losses[e] = the loss of the j-th sample (or the last one, if there are fewer) of agent k at point l, e = (k, l). An
  // agent without samples gets those of a sample of zeros, with share 0.
  void losses_at(const Reach& reach, Index j, std::span<double> losses) {
    for (Index k = 0; k < block_.size(); ++k) {
      if (batch_size(k) == 0) {
        rows_[k] = zeros_.as<T>();
        for (auto* numbers : {&reach_z_, &reach_targets_}) {
          std::fill(numbers->begin() + reach.pattern.offset[k], numbers->begin() + reach.pattern.offset[k + 1],
                    double{0});
        }
        continue;
      }
      const Index chosen = std::min(j, batch_size(k) - 1);
      const Index n = batch(k)[chosen];
      if (dense_ != nullptr) {
        rows_[k] = row(k, n);
      } else {
        for (Index e = reach.pattern.offset[k]; e < reach.pattern.offset[k + 1]; ++e) {
          reach_z_[e] = features().dot(sample(k, n), reach.row<T>(e));
        }
      }
      std::fill(reach_targets_.begin() + reach.pattern.offset[k], reach_targets_.begin() + reach.pattern.offset[k + 1],
                targets(k)[chosen]);
    }
    if (dense_ != nullptr) {
      multiply_pairs(reach, rows_.data(), reach_z_.data());
    }
    loss_.values(reach_z_, reach_targets_, losses);
  }

  const Loss& loss_;
  const T* dense_ = nullptr;  // the features, if they are dense
  Index stride_ = 0;
  Index columns_ = 0;
  bool one_row_ = false;
  Rows trial_;                               // one row: a trial point; empty if gradients are one row
  Rows zeros_;                               // one row
  std::vector<double> predicted_;            // one per agent of a strip, if some have no samples
  std::vector<double> z_, slopes_, losses_;  // one per chosen sample
  std::vector<double> reach_z_, reach_targets_, reach_losses_;  // one per two-hop pair
  std::vector<const void*> rows_;
};

void expect_targets(const Dataset& data, const Loss& loss) {
  for (const double y : data.targets) {
    if (loss.task() == Task::two_classes && y != 1 && y != -1) {
      throw InputError("data", "found target " + shortest(y) + "; the classes of this loss are -1 and 1");
    }
    if (loss.task() == Task::counts && !(y >= 0 && std::isfinite(y))) {
      throw InputError("data", "found target " + shortest(y) + "; this loss is for counts, numbers from 0");
    }
  }
}

}  // namespace

LinearProblem::LinearProblem(Dataset data, std::shared_ptr<const Loss> loss, LinearOptions options)
    : DataProblem(std::move(data), std::move(options), 1), loss_(std::move(loss)) {
  expect_targets(this->data(), *loss_);
}

LinearProblem::LinearProblem(Dataset data, std::shared_ptr<const Loss> loss, double l2, Batch batch, Sampling sampling)
    : LinearProblem(std::move(data), std::move(loss), LinearOptions{l2, batch, sampling, false, {}}) {}

std::unique_ptr<Oracle> LinearProblem::oracle(Block block, std::uint64_t seed) const {
  return with_element(element(), [&](auto zero) -> std::unique_ptr<Oracle> {
    return std::make_unique<LinearOracle<decltype(zero)>>(*this, block, sampler(block, seed));
  });
}

Index LinearProblem::misclassified(Block block, const double* w) const {
  if (loss_->task() != Task::two_classes) return -1;
  Index wrong = 0;
  for (Index n = data().first(here(block.first)); n < data().first(here(block.last)); ++n) {
    const bool second = data().features.dot(n, w) > 0;
    if (second != (data().targets[n] > 0)) ++wrong;
  }
  return wrong;
}

void LinearProblem::losses_at_points(const double* z, Index /*stride*/, std::span<const double> targets,
                                     std::span<double> losses) const {
  loss_->values({z, losses.size()}, targets, losses);
}

}  // namespace polyhop
