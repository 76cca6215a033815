// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/remembering_descent.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "polyhop/core/block.hpp"
#include "polyhop/core/random.hpp"

namespace polyhop {
namespace {

constexpr double forgetting = 1 - 1.0 / 32;
// How many numbers all agents together may keep of their samples, if these are models and gradients.
constexpr Index most_kept = Index{1} << 25;
// Without memory and without an end, steps have fallen by the root of 2 after so many iterations.
constexpr double knee = 200;

// What is kept of a sample: whether it was drawn, its predictions, its slopes.
Index entry_length(const SampleGradients& samples) { return 1 + 2 * samples.width(); }

double mean_share(const SampleGradients& samples, Index k) {
  return samples.factor(k) / std::max(1.0, static_cast<double>(samples.drawn(k).size()));
}

}  // namespace

bool RememberingDescent::suits(Oracle& oracle) {
  const SampleGradients* samples = oracle.samples();
  if (samples == nullptr) return false;
  if (samples->is_linear()) return std::isfinite(samples->max_curvature());
  return samples->has_values() && !oracle.is_exact();
}

RememberingDescent::RememberingDescent(const Rows& zeros, double mixing, const Setting& setting,
                                       CurvatureWatch* curvature)
    : correction_(zeros, mixing),
      mixing_(mixing),
      seed_(setting.seed),
      ends_(setting.iterations > 0),
      curvature_(curvature) {
  const SampleGradients& samples = *setting.oracle->samples();
  start_ = sum_ = difference_ = estimate_ = zeros;
  along_estimate_ = along(estimate_);
  signs_ = zeros.zeros(1);
  drawn_signs_.resize(zeros.columns());
  const Index agents = zeros.rows();
  begin_ = {0};
  Index most = 0;
  for (Index k = 0; k < agents; ++k) {
    begin_.push_back(begin_.back() + samples.width() * static_cast<Index>(samples.drawn(k).size()));
    const Index room =
        samples.is_linear() ? samples.count(k) : most_kept / setting.network.agents() / entry_length(samples);
    remembers_.push_back(samples.count(k) <= room);
    if (remembers_[k]) most = std::max(most, samples.count(k));
  }
  if (curvature_ != nullptr) {
    of_batches_.written = zeros;
    of_batches_.gradients = along(of_batches_.written);
    of_batches_.values.resize(agents);
  }
  for (auto* list : {&z_, &slopes_, &first_z_, &first_slopes_, &kept_, &scaled_}) list->resize(begin_.back());
  table_ = Rows(agents, most * entry_length(samples));
  drawn_.resize(agents);
  rho_.resize(agents);
  first_rho_.resize(agents);
  for (Mean* mean : {&num_, &den_, &a_, &b_}) {
    mean->value.resize(agents);
    mean->added.resize(agents);
  }
  for (auto* lists : {&folded_, &mixed_}) {
    for (auto& list : *lists) list.resize(agents);
  }
}

void RememberingDescent::register_state(StateRegistry& state) {
  correction_.register_state(state);
  state.number("descent.age", age_);
  state.rows("descent.start", start_);
  state.rows("descent.sum", sum_);
  state.rows("descent.samples", table_);
  state.scalars("descent.drawn", drawn_);
  state.scalars("descent.num", num_.value);
  state.scalars("descent.den", den_.value);
  state.scalars("descent.a", a_.value);
  state.scalars("descent.b", b_.value);
  state.scalars("descent.rho", rho_);
  state.scalars("descent.first_rho", first_rho_);
}

void RememberingDescent::step(Index i, Rows& w, Oracle& oracle, double share, std::span<double> mu, Network& network) {
  SampleGradients& samples = *oracle.samples();
  if (age_ == 0) copy(w, start_);
  look_at_batches(w, oracle);
  if (curvature_ != nullptr) meet_curvature(i, w, oracle);
  {
    const Network::StepAccount account(network);
    fold_differences(i, network);
    gossip(network);
  }
  estimate_from_batches(w, samples);
  // The first curvatures come from few samples each: with full steps from the start, gradients on a star diverged.
  const double most = curvature_ == nullptr || ends_ ? share : share / 2;
  const double whole = most * std::min(1.0, static_cast<double>(age_ + 1) / 8);
  const double fallen = 1 / std::sqrt(1 + static_cast<double>(age_) / knee);
  for (std::size_t k = 0; k < mu.size(); ++k) {
    const double ramp = remembers_[k] || ends_ ? whole : fallen * whole;
    mu[k] = rho_[k] > 0 ? ramp / (rho_[k] + samples.penalty_curvature()) : 0;
  }
  // Few agents have little to average out.
  const double averaged = std::min(1.0, static_cast<double>(network.agents()) / 4);
  if (curvature_ != nullptr) curvature_->limit(whole * averaged, mu);
  correction_.direction(along_estimate_);
  correction_.apply(w, mu, false, network);
  ++age_;
}

void RememberingDescent::look_at_batches(const Rows& w, Oracle& oracle) {
  SampleGradients& samples = *oracle.samples();
  Index new_to = 0;  // agents
  for (Index k = 0; k < w.rows(); ++k) {
    const auto is_new = [&](Index n) { return !is_known(k, n, samples); };
    if (std::ranges::any_of(samples.drawn(k), is_new)) ++new_to;
  }
  if (new_to > 0 && age_ > 0) {
    samples.slopes(start_, first_slopes_);
    write_points(start_, samples, first_z_);
    oracle.charge(new_to);
  }
  samples.slopes(w, slopes_);
  write_points(w, samples, z_);
  oracle.charge(w.rows());
  for (Index k = 0; k < w.rows(); ++k) look_at_batch(k, samples);
}

// Where slopes were taken: predictions, or models.
void RememberingDescent::write_points(const Rows& w, const SampleGradients& samples, std::vector<double>& out) {
  if (samples.is_linear()) {
    std::ranges::copy(samples.predictions(), out.begin());
    return;
  }
  for (Index k = 0; k < w.rows(); ++k) {
    const auto points = of_agent(out, k);
    const auto width = static_cast<std::size_t>(samples.width());
    for (std::size_t n = 0; n < points.size(); n += width) read_row(w, k, points.subspan(n, width));
  }
}

// Along the gradients of the batches, which are made of the slopes.
void RememberingDescent::meet_curvature(Index i, const Rows& w, Oracle& oracle) {
  SampleGradients& samples = *oracle.samples();
  for (Index k = 0; k < w.rows(); ++k) {
    const auto slopes = of_agent(slopes_, k);
    const auto scaled = of_agent(scaled_, k);
    for (std::size_t n = 0; n < slopes.size(); ++n) scaled[n] = mean_share(samples, k) * slopes[n];
    clear_row(of_batches_.written, k);
    samples.add(k, scaled, of_batches_.written);
  }
  std::ranges::copy(samples.values(), of_batches_.values.begin());
  oracle.charge(0, w.rows());
  curvature_->update({i, w, of_batches_, oracle});
  for (std::size_t k = 0; k < num_.added.size(); ++k) {
    if (rho_[k] > 0) continue;
    num_.added[k] = of_batches_.gradients.squared_norm(static_cast<Index>(k)) / curvature_->largest()[k];
  }
}

// e_k, and what agent k's batch adds to num, a and b; `kept_` holds its remembered slopes.
void RememberingDescent::look_at_batch(Index k, SampleGradients& samples) {
  const auto width = static_cast<std::size_t>(samples.width());
  const double share = mean_share(samples, k);
  const auto z = of_agent(z_, k);
  const auto slopes = of_agent(slopes_, k);
  const auto kept = of_agent(kept_, k);
  const auto scaled = of_agent(scaled_, k);
  const bool begins = rho_[k] == 0;
  double num = 0;
  double a = 0;
  double b = 0;
  std::size_t n = 0;
  for (const Index sample : samples.drawn(k)) {
    const bool known = is_known(k, sample, samples);
    const auto own = known ? entry(k, sample, samples) : std::span<double>();
    double explained = 0;
    double remembered = 0;
    for (std::size_t c = 0; c < width; ++c, ++n) {
      const double before = known ? own[1 + c] : of_agent(first_z_, k)[n];
      kept[n] = known ? own[1 + width + c] : of_agent(first_slopes_, k)[n];
      const double difference = begins ? slopes[n] : slopes[n] - kept[n];
      num += begins ? slopes[n] * slopes[n] / samples.max_curvature() : difference * (z[n] - before);
      scaled[n] = share * difference;
      explained += slopes[n] * kept[n];
      remembered += kept[n] * kept[n];
    }
    if (!known) continue;
    a += explained * samples.squared_norm(k, sample);
    b += remembered * samples.squared_norm(k, sample);
  }
  num_.added[k] = share * num;
  a_.added[k] = share * a;
  b_.added[k] = share * b;
  clear_row(difference_, k);
  samples.add(k, scaled, difference_);
}

// den: from q0, and P q0 with the neighbours' rows.
void RememberingDescent::fold_differences(Index i, Network& network) {
  Stream stream(seed_, Purpose::sketch, 0, i + 1);
  std::uint64_t bits = 0;
  for (std::size_t m = 0; m < drawn_signs_.size(); ++m, bits >>= 1) {
    if (m % 64 == 0) bits = stream.bits();
    drawn_signs_[m] = (bits & 1) != 0 ? 1 : -1;
  }
  write_row(drawn_signs_, signs_, 0);
  std::array<double, folds> own{};
  for (Index k = 0; k < difference_.rows(); ++k) {
    fold(difference_, k, signs_, own.data());
    for (std::size_t j = 0; j < own.size(); ++j) folded_[j][k] = own[j];
  }
  const Heard heard =
      network.hear({folded_[0], folded_[1], folded_[2], folded_[3], folded_[4], folded_[5], folded_[6], folded_[7]});
  for (std::size_t j = 0; j < own.size(); ++j) heard.combine(static_cast<int>(j), mixed_[j]);
  for (std::size_t k = 0; k < den_.added.size(); ++k) {
    double energy = 0;
    double den = 0;
    for (std::size_t j = 0; j < own.size(); ++j) {
      const double q0 = folded_[j][k];
      const double q = (1 - mixing_) * q0 + mixing_ * mixed_[j][k];
      energy += q0 * q0;
      den += 2 * q0 * q - q * q;
    }
    den_.added[k] = rho_[k] == 0 ? std::max(den, 0.1 * energy) : den;
  }
}

void RememberingDescent::gossip(Network& network) {
  // The first iteration's numbers, found by other means, must not mix with the rest.
  for (Mean* mean : {&num_, &den_, &a_, &b_}) {
    const bool restarts = age_ == 1 && (mean == &num_ || mean == &den_);
    for (std::size_t k = 0; k < mean->value.size(); ++k) {
      mean->added[k] += restarts ? 0 : forgetting * mean->value[k];
    }
  }
  const Heard heard = network.hear({num_.added, den_.added, a_.added, b_.added});
  int column = 0;
  for (Mean* mean : {&num_, &den_, &a_, &b_}) heard.combine(column++, mean->value);
  for (std::size_t k = 0; k < rho_.size(); ++k) {
    if (!(num_.value[k] > 0 && den_.value[k] > 0)) continue;
    const double found = den_.value[k] / num_.value[k];
    if (first_rho_[k] == 0) first_rho_[k] = found;
    rho_[k] = std::max(found, first_rho_[k] / 64);
  }
}

std::span<double> RememberingDescent::entry(Index k, Index sample, const SampleGradients& samples) {
  const Index length = entry_length(samples);
  return table_.row(k).subspan(sample * length, length);
}

double RememberingDescent::lambda(Index k) const {
  const double b = b_.value[k];
  return b > 0 ? std::clamp(a_.value[k] / b, 0.0, 1.0) : 0;
}

// v_k; then the new slopes replace the old ones.
void RememberingDescent::estimate_from_batches(const Rows& w, SampleGradients& samples) {
  const auto width = static_cast<std::size_t>(samples.width());
  for (Index k = 0; k < w.rows(); ++k) {
    const double share = mean_share(samples, k);
    const double explained = lambda(k);
    const auto slopes = of_agent(slopes_, k);
    const auto kept = of_agent(kept_, k);
    const auto scaled = of_agent(scaled_, k);
    double known = 0;
    std::size_t n = 0;
    for (const Index sample : samples.drawn(k)) {
      const bool known_before = is_known(k, sample, samples);
      known += known_before ? 1 : 0;
      for (std::size_t c = 0; c < width; ++c, ++n) {
        scaled[n] = share * (slopes[n] - (known_before ? explained * kept[n] : 0));
      }
    }
    samples.penalty(k, w, estimate_);
    if (known > 0) add_row(explained * share * known / drawn_[k], sum_, k, estimate_, k);
    samples.add(k, scaled, estimate_);
    if (remembers_[k]) remember(k, samples);
  }
}

void RememberingDescent::remember(Index k, SampleGradients& samples) {
  const auto width = static_cast<std::size_t>(samples.width());
  const auto z = of_agent(z_, k);
  const auto slopes = of_agent(slopes_, k);
  const auto scaled = of_agent(scaled_, k);
  std::size_t n = 0;
  for (const Index sample : samples.drawn(k)) {
    const auto own = entry(k, sample, samples);
    const bool known = own[0] != 0;
    if (!known) ++drawn_[k];
    own[0] = 1;
    for (std::size_t c = 0; c < width; ++c, ++n) {
      scaled[n] = slopes[n] - (known ? own[1 + width + c] : 0);
      own[1 + c] = z[n];
      own[1 + width + c] = slopes[n];
    }
  }
  samples.add(k, scaled, sum_);
}

}  // namespace polyhop
