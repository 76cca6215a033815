// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/tree_newton.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "polyhop/core/block.hpp"
#include "polyhop/method/quasi_newton.hpp"

namespace polyhop {
namespace {

constexpr double share_of_traffic = 0.5;
// A gain of less than this share of the cost is rounding: whole Newton steps need no search then.
constexpr double lost = 1e-12;
// Where least squares fit, the cost itself falls to rounding: the squares of what is lost of the residuals.
double lost_of_first(Element models) { return models == Element::float64 ? 1e-24 : 1e-11; }
// Pivots of the matrix that are rounding of the rows in which it was sent.
double lost_of_pivots(Element models) { return models == Element::float64 ? 1e-11 : 1e-5; }

// Steps of about 0.618 n through n samples that meet each of them once.
Index stride_through(Index n) {
  auto stride = std::max<Index>(1, static_cast<Index>(0.618034 * static_cast<double>(n)));
  while (std::gcd(stride, n) != 1) ++stride;
  return stride;
}

}  // namespace

TreeNewton::TreeNewton(const Rows& models, Oracle& oracle)
    : columns_(models.columns()),
      width_(oracle.samples()->width()),
      at_(models.zeros(models.rows())),
      along_(at_),
      sums_(at_),
      penalty_(at_),
      point_(1, columns_),
      gradient_(1, columns_),
      last_gradient_(1, columns_),
      move_(1, columns_),
      direction_(1, columns_),
      chunk_(1, columns_),
      ridge_(1, columns_),
      matrix_(columns_),
      factor_(columns_, lost_of_pivots(models.element())),
      begin_{0},
      counts_(models.rows()),
      values_(models.rows()) {
  SampleGradients& samples = *oracle.samples();
  Index most = 0;
  for (Index k = 0; k < models.rows(); ++k) {
    const Index n = samples.count(k);
    most = std::max(most, n);
    begin_.push_back(begin_.back() + n);
    for (Index j = 0; j < n; ++j) order_.push_back(j * stride_through(n) % n);
  }
  for (auto* numbers : {&z_, &along_z_, &curvatures_}) numbers->resize(begin_.back() * width_);
  for (auto* numbers : {&slopes_, &trial_}) numbers->resize(most * width_);
  for (auto* lists : {&value_at_, &slope_at_}) {
    for (auto& list : *lists) list.resize(models.rows());
  }
  if (models.rows() == 0) return;
  // The penalty is a sum of squares: its gradient at a point of ones is its curvature.
  std::ranges::fill(chunk_.row(0), 1.0);
  write_row(chunk_.row(0), at_, 0);
  (void)samples.penalty(0, at_, penalty_);
  read_row(penalty_, 0, ridge_.row(0));
}

void TreeNewton::register_state(StateRegistry& state) {
  state.shared("newton.point", point_);
  state.shared("newton.gradient", gradient_);
  state.shared("newton.move", move_);
  matrix_.register_state(state, "newton.matrix");
  state.number("newton.begun", begun_);
  state.number("newton.first_value", first_value_);
  state.number("newton.matrices", matrices_);
  state.number("newton.rests", rests_);
}

void TreeNewton::step(Index i, double tested, Rows& w, Oracle& oracle, std::span<double> mu, Network& network) {
  if (rests_ != 0) return;
  SampleGradients& samples = *oracle.samples();
  const bool is_first = std::exchange(begun_, 1) == 0;
  if (is_first) begin(w, network);
  for (Index k = 0; k < w.rows(); ++k) {
    write_row(point_.row(0), at_, k);
    oracle.charge(samples.batches(k), samples.batches(k));
  }
  sum_gradients(samples, network);
  if (is_first) first_value_ = value_;
  if (matrices_ == 0 || can_afford_matrix(i, network)) {
    sum_curvatures(samples, network);
    for (Index k = 0; k < w.rows(); ++k) oracle.charge(samples.batches(k));
    ++matrices_;
  } else {
    correct();
  }
  if (w.rows() == 0) return;  // nobody's block
  choose_direction();
  const double a = search(tested, samples, network);
  is_lost_ = a == 0 && std::isfinite(value_) && std::abs(value_) > lost * std::abs(first_value_) &&
             dot(gradient_, 0, gradient_, 0) > 0;
  move(a, w);
  std::ranges::fill(mu, a);
}

void TreeNewton::begin(const Rows& w, Network& network) {
  copy(w, sums_);
  network.spread_sum(sums_);
  if (w.rows() == 0) return;
  read_row(sums_, 0, chunk_.row(0));
  add_row(1 / static_cast<double>(network.agents()), chunk_, 0, point_, 0);
}

double TreeNewton::share(Index k, const SampleGradients& samples) const {
  return samples.factor(k) / std::max(1.0, static_cast<double>(counts_[k]));
}

void TreeNewton::choose(double share) {
  for (std::size_t k = 0; k < counts_.size(); ++k) {
    const auto all = static_cast<double>(begin_[k + 1] - begin_[k]);
    counts_[k] = static_cast<Index>(std::ceil(share * all));
  }
}

void TreeNewton::sum_gradients(SampleGradients& samples, Network& network) {
  choose(1);
  copy(gradient_, last_gradient_);
  for (Index k = 0; k < at_.rows(); ++k) {
    const auto z = of(z_, k);
    const auto slopes = std::span(slopes_).first(z.size());
    samples.predict(k, chosen(k), at_, k, z);
    const double losses = samples.losses(k, chosen(k), z, slopes);
    for (double& slope : slopes) slope *= share(k, samples);
    values_[k] = share(k, samples) * losses + samples.penalty(k, at_, penalty_);
    copy_rows(penalty_, k, sums_, k);
    samples.add(k, chosen(k), slopes, sums_);
  }
  network.spread_sum(sums_, {values_});
  if (at_.rows() == 0) return;
  const double mean = 1 / static_cast<double>(network.agents());
  value_ = mean * values_[0];
  read_row(sums_, 0, gradient_.row(0));
  scale(mean, gradient_);
}

bool TreeNewton::can_afford_matrix(Index i, const Network& network) const {
  const auto each = static_cast<double>((network.agents() - 1) * (columns_ + 1));
  const auto links = static_cast<double>(network.matrix().rows().entries() - network.agents());
  return static_cast<double>(matrices_ + 1) * each <= share_of_traffic * links * static_cast<double>(i + 1);
}

// The triangle goes up and down the tree in pieces as long as a vector.
void TreeNewton::sum_curvatures(SampleGradients& samples, Network& network) {
  for (Index k = 0; k < at_.rows(); ++k) samples.curvatures(k, chosen(k), of(z_, k), of(curvatures_, k));
  const TriangleBands bands(columns_);
  const auto chunk = chunk_.row(0);
  for (Index first = 0; first < bands.numbers(); first += columns_) {
    const Index count = std::min(columns_, bands.numbers() - first);
    network.spread_sum_of(
        [&](Index k, Rows& rows, Index r) {
          const bool is_double = rows.element() == Element::float64;
          const auto out = is_double ? rows.row(r) : chunk;
          samples.write_curvature(k, chosen(k), of(curvatures_, k), share(k, samples), first, out.first(count));
          std::ranges::fill(out.subspan(count), 0.0);
          if (!is_double) write_row(chunk, rows, r);
        },
        sums_);
    if (at_.rows() == 0) continue;
    read_row(sums_, 0, chunk);
    scale(1 / static_cast<double>(network.agents()), chunk_);
    matrix_.set(bands, first, chunk.first(count));
  }
}

// BFGS: the matrix takes the last move s to the change y of the losses' gradient.
void TreeNewton::correct() {
  if (at_.rows() == 0) return;
  const auto s = move_.row(0);
  const auto y = chunk_.row(0);
  for (Index j = 0; j < columns_; ++j) y[j] = gradient_(0, j) - last_gradient_(0, j) - ridge_(0, j) * s[j];
  matrix_.multiply(s, direction_.row(0));
  const double before = dot(move_, 0, direction_, 0);
  const double now = dot(move_, 0, chunk_, 0);
  if (!(before > 0) || !(now > 1e-8 * before)) return;  // a move that tells nothing
  matrix_.add_squares(1 / now, y, -1 / before, direction_.row(0));
}

// p = -(H + the penalty's curvature)^-1 g, of what rows are made of.
void TreeNewton::choose_direction() {
  factor_.take(matrix_, ridge_.row(0));
  scale_row(-1, gradient_, 0, direction_, 0);
  factor_.solve(direction_.row(0));
  for (Index k = 0; k < along_.rows(); ++k) write_row(direction_.row(0), along_, k);
  read_row(along_, 0, direction_.row(0));
}

double TreeNewton::search(double tested, SampleGradients& samples, Network& network) {
  const double slope = dot(gradient_, 0, direction_, 0);
  if (!std::isfinite(value_) || !(slope < 0)) return 0;
  const bool is_exact = samples.has_constant_curvature();
  if (-slope <= lost * std::abs(value_) || (is_exact && -slope <= lost_of_first(at_.element()) * first_value_)) {
    rests_ = 1;
    return 1;
  }
  // The whole step is exact; what some samples say of it is not.
  if (tested < 1 && is_exact) return 1;
  for (Index k = 0; k < at_.rows(); ++k) samples.predict(k, chosen(k), along_, k, of(along_z_, k));
  choose(tested);
  // The penalty along the way is a parabola.
  const double fixed = samples.penalty(0, at_, penalty_);
  read_row(penalty_, 0, chunk_.row(0));
  const double tilt = dot(chunk_, 0, direction_, 0);
  (void)samples.penalty(0, along_, penalty_);
  read_row(penalty_, 0, chunk_.row(0));
  const double bend = dot(chunk_, 0, direction_, 0);
  const double mean = 1 / static_cast<double>(network.agents());
  // Where not all samples are tested, what the others add at the start is taken for constant, and their slope too. Up
  // to the whole step that slope may make up for what the tested ones lose: near the minimum, they are no judges of it.
  double other_value = 0;
  double other_slope = 0;
  if (tested < 1) {
    constexpr std::array<double, SlopeSearch::points> start{};
    look(start, samples, network);
    other_value = value_ - mean * value_at_[0][0] - fixed;
    other_slope = slope - mean * slope_at_[0][0] - tilt;
  }
  SlopeSearch search(value_, slope);
  std::array<double, SlopeSearch::points> values{};
  std::array<double, SlopeSearch::points> slopes{};
  for (bool found = false; !found;) {
    look(search.trials(), samples, network);
    for (std::size_t n = 0; n < values.size(); ++n) {
      const double a = search.trials()[n];
      const double made_up = a <= 1 ? a * std::min(other_slope, 0.0) : 0;
      values[n] = mean * value_at_[n][0] + other_value + made_up + fixed + a * (tilt + a * bend / 2);
      slopes[n] = mean * slope_at_[n][0] + other_slope + tilt + a * bend;
    }
    found = search.take(values, slopes);
  }
  return search.best();
}

// The sums of the agents' losses at w + a p, and of their slopes along p, for each a.
void TreeNewton::look(std::span<const double> at, SampleGradients& samples, Network& network) {
  for (Index k = 0; k < at_.rows(); ++k) {
    const auto z = of(z_, k);
    const auto along = of(along_z_, k);
    const auto trial = std::span(trial_).first(z.size());
    const auto slopes = std::span(slopes_).first(z.size());
    for (std::size_t n = 0; n < at.size(); ++n) {
      for (std::size_t j = 0; j < z.size(); ++j) trial[j] = z[j] + at[n] * along[j];
      value_at_[n][k] = share(k, samples) * samples.losses(k, chosen(k), trial, slopes);
      double slope = 0;
      for (std::size_t j = 0; j < z.size(); ++j) slope += slopes[j] * along[j];
      slope_at_[n][k] = share(k, samples) * slope;
    }
  }
  network.spread_sum({value_at_[0], value_at_[1], value_at_[2], value_at_[3], value_at_[4], value_at_[5], value_at_[6],
                      value_at_[7], slope_at_[0], slope_at_[1], slope_at_[2], slope_at_[3], slope_at_[4], slope_at_[5],
                      slope_at_[6], slope_at_[7]});
}

void TreeNewton::move(double a, Rows& w) {
  const double unit = unit_in(w.element());
  scale_row(a, direction_, 0, move_, 0);
  if (a == 0 || dot(move_, 0, move_, 0) <= unit * unit * dot(point_, 0, point_, 0)) rests_ = 1;
  if (a == 0) return;
  add_row(1, move_, 0, point_, 0);
  for (Index k = 0; k < w.rows(); ++k) write_row(point_.row(0), w, k);
  read_row(w, 0, point_.row(0));
}

}  // namespace polyhop
