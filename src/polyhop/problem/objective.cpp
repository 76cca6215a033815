// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/objective.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "polyhop/core/block.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/problem/reference_optimum.hpp"
#include "polyhop/problem/sample_gradients.hpp"

namespace polyhop {
namespace {

using Objectives = std::vector<std::shared_ptr<const Objective>>;

// The objectives of the agents, called one after the other.
class SeparateCosts final : public Costs {
 public:
  explicit SeparateCosts(Objectives objectives) : objectives_(std::move(objectives)) {
    const auto first = std::ranges::find_if(objectives_, [](const auto& own) { return own != nullptr; });
    if (first == objectives_.end()) throw InputError("objectives", "found none, expected at least one agent");
    dimension_ = (*first)->dimension();
    for (std::size_t k = 0; k < objectives_.size(); ++k) {
      if (objectives_[k] == nullptr) continue;
      if (objectives_[k]->dimension() != dimension_) {
        throw InputError("objectives", "agent " + std::to_string(k) + " has dimension " +
                                           std::to_string(objectives_[k]->dimension()) + ", agent " +
                                           std::to_string(first - objectives_.begin()) + " has " +
                                           std::to_string(dimension_));
      }
      if (objectives_[k]->samples() < 1) {
        throw InputError("objectives", "agent " + std::to_string(k) + " has no samples");
      }
    }
  }
  [[nodiscard]] Index agents() const override { return static_cast<Index>(objectives_.size()); }
  [[nodiscard]] Index dimension() const override { return dimension_; }
  [[nodiscard]] Index samples(Index agent) const override { return of(agent).samples(); }
  void evaluate(const Rows& points, std::span<const Index> owners, std::span<const std::span<const Index>> batches,
                std::span<double> values, Rows* gradients) const override {
    for (std::size_t n = 0; n < owners.size(); ++n) {
      const Objective& own = of(owners[n]);
      const auto row = static_cast<Index>(n);
      const auto w = points.row(row);
      values[n] =
          gradients == nullptr ? own.value(w, batches[n]) : own.value_and_gradient(w, batches[n], gradients->row(row));
    }
  }

 private:
  [[nodiscard]] const Objective& of(Index agent) const { return *objectives_[agent]; }

  Objectives objectives_;
  Index dimension_ = 0;
};

// Points to be evaluated, as many per call as fit.
class Gathering {
 public:
  explicit Gathering(const Costs& costs) : costs_(costs) {}

  // Allocates this many points, or as many as fit into 32 MB. The memory is kept: iterations do not allocate.
  void reserve(Index wanted) {
    constexpr Index max_bytes = Index{1} << 25;
    const Index dimension = costs_.dimension();
    const Index fit = max_bytes / (Rows::padded(dimension) * static_cast<Index>(sizeof(double)));
    const Index room = std::min(wanted, std::max<Index>(fit, 1));
    if (room <= points_.rows()) return;
    points_ = Rows(room, dimension);
    owners_.resize(room);
    batches_.resize(room);
    values_.resize(room);
    outs_.resize(room);
  }

  // Adds a point, which the caller writes to the returned place. `out` gets the value by the next `finish`.
  std::span<double> add(Index owner, std::span<const Index> batch, double& out) {
    if (count_ == owners_.size()) finish();
    owners_[count_] = owner;
    batches_[count_] = batch;
    outs_[count_] = &out;
    return points_.row(static_cast<Index>(count_++));
  }
  void add(Index owner, std::span<const Index> batch, const Rows& points, Index p, double& out) {
    read_row(points, p, add(owner, batch, out));
  }

  void finish() {
    const std::size_t count = std::exchange(count_, 0);
    if (count == 0) return;
    costs_.evaluate(points_, std::span(owners_).first(count), std::span(batches_).first(count),
                    std::span(values_).first(count), nullptr);
    for (std::size_t n = 0; n < count; ++n) *outs_[n] = values_[n];
  }

 private:
  const Costs& costs_;
  Rows points_;
  std::vector<Index> owners_;
  std::vector<std::span<const Index>> batches_;
  std::vector<double> values_;
  std::vector<double*> outs_;
  std::size_t count_ = 0;
};

class ObjectiveOracle final : public Oracle, public SampleGradients {
 public:
  ObjectiveOracle(std::shared_ptr<const Costs> costs, std::vector<Index> owners, Sampler sampler, Element element)
      : costs_(std::move(costs)),
        owners_(std::move(owners)),
        sampler_(std::move(sampler)),
        element_(element),
        gathering_(*costs_) {
    for (Index k = 0; k < agents(); ++k) batches_.push_back(sampler_.indices(k));
  }

  void draw(Index i) override { sampler_.draw(i); }
  [[nodiscard]] bool is_exact() const override { return sampler_.takes_all(); }
  [[nodiscard]] Index epoch() const override { return sampler_.epoch(); }

  // A sample's slopes are its gradient: one call takes one sample of every agent.
  [[nodiscard]] SampleGradients* samples() override { return this; }
  [[nodiscard]] Index width() const override { return costs_->dimension(); }
  [[nodiscard]] Index count(Index k) const override { return costs_->samples(owners_[k]); }
  [[nodiscard]] std::span<const Index> drawn(Index k) const override { return batches_[k]; }
  [[nodiscard]] double factor(Index) const override { return 1; }
  void slopes(const Rows& w, std::span<double> out) override {
    if (owners_.empty()) return;
    if (one_each_.empty()) {
      one_each_.resize(owners_.size());
      values_.resize(owners_.size());
      means_.resize(owners_.size());
      wide_gradients_ = Rows(agents(), costs_->dimension());
      if (element_ != Element::float64) wide_points_ = wide_gradients_;
    }
    const Rows& points = widened(w);
    const std::size_t batch = batches_[0].size();  // the same for all
    std::ranges::fill(means_, 0.0);
    for (std::size_t j = 0; j < batch; ++j) {
      for (std::size_t k = 0; k < one_each_.size(); ++k) one_each_[k] = batches_[k].subspan(j, 1);
      costs_->evaluate(points, owners_, one_each_, values_, &wide_gradients_);
      for (Index k = 0; k < agents(); ++k) {
        const Index place = (k * static_cast<Index>(batch) + static_cast<Index>(j)) * width();
        std::ranges::copy(wide_gradients_.row(k), out.begin() + place);
        means_[k] += values_[k] / static_cast<double>(batch);
      }
    }
  }
  [[nodiscard]] std::span<const double> values() const override { return means_; }
  [[nodiscard]] bool has_values() const override { return true; }
  void add(Index k, std::span<const double> slopes, Rows& g) override {
    with_element(element_, [&](auto zero) {
      using T = decltype(zero);
      T* out = g.as<T>(k);
      for (std::size_t n = 0; n < slopes.size(); ++n) {
        T& sum = out[n % static_cast<std::size_t>(width())];
        sum = static_cast<T>(static_cast<double>(sum) + slopes[n]);
      }
    });
  }
  double penalty(Index k, const Rows&, Rows& g) override {
    clear_row(g, k);
    return 0;
  }
  double whole(Index k, const Rows& w, Rows& g) override {
    if (!all_) {
      all_ = std::make_unique<AllSamples>(*costs_, owners_);
      point_ = gradient_ = Rows(1, width());
    }
    read_row(w, k, point_.row(0));
    double value = 0;
    costs_->evaluate(point_, std::span(owners_).subspan(k, 1), all_->batches().subspan(k, 1), {&value, 1}, &gradient_);
    write_row(gradient_.row(0), g, k);
    return value;
  }

  void values_at_point(const Rows& w, std::span<double> out) override {
    gathering_.reserve(agents());
    for (std::size_t k = 0; k < owners_.size(); ++k) gathering_.add(owners_[k], batches_[k], w, 0, out[k]);
    gathering_.finish();
  }

 private:
  [[nodiscard]] Index agents() const { return static_cast<Index>(owners_.size()); }

  void do_evaluate(const Rows& w, bool, Evaluation& out) override {
    if (out.gradients.row.empty()) prepare(out);
    if (element_ == Element::float64) {
      costs_->evaluate(w, owners_, batches_, out.values, &out.written);
      return;
    }
    costs_->evaluate(widened(w), owners_, batches_, out.values, &wide_gradients_);
    for (Index k = 0; k < agents(); ++k) write_row(wide_gradients_.row(k), out.written, k);
  }

  // The points in double.
  const Rows& widened(const Rows& w) {
    if (element_ == Element::float64) return w;
    for (Index k = 0; k < agents(); ++k) read_row(w, k, wide_points_.row(k));
    return wide_points_;
  }

  void prepare(Evaluation& out) {
    out.values.resize(owners_.size());
    if (element_ != Element::float64) wide_points_ = wide_gradients_ = Rows(agents(), costs_->dimension());
    out.written = Rows(agents(), costs_->dimension(), 0, element_);
    out.gradients = along(out.written);
  }

  void do_values_at(const Reach& reach, std::span<double> out) override {
    gathering_.reserve(reach.entries);
    for (Index k = 0; k < reach.agents; ++k) {
      for (Index e = reach.pattern.offset[k]; e < reach.pattern.offset[k + 1]; ++e) {
        const std::span<double> point = gathering_.add(owners_[k], batches_[k], out[e]);
        with_element(element_,
                     [&](auto zero) { std::copy_n(reach.row<decltype(zero)>(e), reach.columns, point.begin()); });
      }
    }
    gathering_.finish();
  }

  void do_values_along(const Rows& w, const Gradients& g, std::span<const Index> agents_asked,
                       std::span<const double> steps, std::span<double> out) override {
    // Enough for all, because the next call may ask for more of them.
    gathering_.reserve(agents());
    for (const Index k : agents_asked) {
      const std::span<double> trial = gathering_.add(owners_[k], batches_[k], out[k]);
      read_row(w, k, trial);
      with_element(element_, [&](auto zero) {
        kernels::add_scaled(-steps[k] * g.scale[k], g.at<decltype(zero)>(k), trial.data(), trial.data(), g.columns);
      });
    }
    gathering_.finish();
  }

  std::shared_ptr<const Costs> costs_;
  std::vector<Index> owners_;  // the block's agents
  Sampler sampler_;
  Element element_;
  Rows wide_points_, wide_gradients_;            // converted from and to single precision
  std::vector<std::span<const Index>> batches_;  // where the sampler writes each agent's samples
  Gathering gathering_;
  std::vector<std::span<const Index>> one_each_;  // one sample of each agent
  std::vector<double> values_;                    // theirs
  std::vector<double> means_;                     // of every agent's batch
  std::unique_ptr<AllSamples> all_;               // of every agent
  Rows point_, gradient_;                         // one row each: for an agent on all its samples
};

}  // namespace

GradientCheck check_gradient(const Costs& costs, Index agent, std::span<const double> w) {
  const auto dimension = static_cast<std::size_t>(costs.dimension());
  if (w.size() != dimension) {
    throw InputError("w", "has " + std::to_string(w.size()) + " numbers, expected " + std::to_string(dimension));
  }
  const AllSamples all(costs, {&agent, 1});
  Rows point(1, costs.dimension());
  std::ranges::copy(w, point.row(0).begin());
  Rows gradient(1, costs.dimension());
  double value = 0;
  costs.evaluate(point, {&agent, 1}, all.batches(), {&value, 1}, &gradient);

  // The cube root of the rounding unit balances truncation against cancellation.
  const auto width = [&](std::size_t j) { return 6e-6 * std::max(1.0, std::abs(w[j])); };
  std::vector<double> up(dimension);
  std::vector<double> down(dimension);
  Gathering gathering(costs);
  gathering.reserve(2 * costs.dimension());
  for (std::size_t j = 0; j < dimension; ++j) {
    const auto column = static_cast<Index>(j);
    point(0, column) = w[j] + width(j);
    gathering.add(agent, all.batch(0), point, 0, up[j]);
    point(0, column) = w[j] - width(j);
    gathering.add(agent, all.batch(0), point, 0, down[j]);
    point(0, column) = w[j];
  }
  gathering.finish();

  GradientCheck check;
  for (std::size_t j = 0; j < dimension; ++j) {
    const double given = gradient.row(0)[j];
    const double expected = (up[j] - down[j]) / (2 * width(j));
    const double error = std::abs(given - expected) / std::max(1.0, std::abs(given));
    // Written so that a NaN counts as an error.
    if (!(error <= check.worst_error)) {
      check = {std::isnan(error) ? HUGE_VAL : error, static_cast<Index>(j), given, expected};
    }
  }
  return check;
}

GradientCheck check_gradient(const Objective& objective, std::span<const double> w) {
  // The objective belongs to the caller, and outlives this.
  const std::shared_ptr<const Objective> borrowed(std::shared_ptr<const Objective>(), &objective);
  return check_gradient(SeparateCosts({borrowed}), 0, w);
}

ObjectiveProblem::ObjectiveProblem(std::shared_ptr<const Costs> costs, Batch batch, Sampling sampling, Element element)
    : costs_(std::move(costs)), batch_(batch), sampling_(sampling), element_(element) {
  if (agents() < 1) throw InputError("costs", "found no agents, expected at least one");
  if (dimension() < 1) throw InputError("costs", "found dimension " + std::to_string(dimension()) + ", expected >= 1");
}

ObjectiveProblem::ObjectiveProblem(Objectives objectives, Batch batch, Sampling sampling, Element element)
    : ObjectiveProblem(std::make_shared<SeparateCosts>(std::move(objectives)), batch, sampling, element) {}

std::unique_ptr<Oracle> ObjectiveProblem::oracle(Block block, std::uint64_t seed) const {
  std::vector<Index> owners = agents_of(block);
  std::vector<Index> samples;
  for (const Index agent : owners) {
    samples.push_back(costs_->samples(agent));
    if (samples.back() < 1) throw InputError("costs", "agent " + std::to_string(agent) + " has no samples");
  }
  return std::make_unique<ObjectiveOracle>(costs_, std::move(owners),
                                           Sampler(block, std::move(samples), batch_, sampling_, seed), element_);
}

void ObjectiveProblem::costs(Block block, const Rows& points, Rows& out) const {
  const std::vector<Index> owners = agents_of(block);
  const AllSamples all(*costs_, owners);
  Gathering gathering(*costs_);
  gathering.reserve(block.size() * points.rows());
  for (Index k = 0; k < block.size(); ++k) {
    const Index owner = owners[k];
    for (Index p = 0; p < points.rows(); ++p) gathering.add(owner, all.batch(k), points, p, out(k, p));
  }
  gathering.finish();
}

Reference ObjectiveProblem::minimise(Collective& collective, const Block& here) const {
  return solve_reference(*costs_, collective, here);
}

}  // namespace polyhop
