// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "polyhop/core/error.hpp"
#include "polyhop/graph/lanczos.hpp"
#include "polyhop/graph/spectrum.hpp"

namespace polyhop {
namespace {

using Vector = Lanczos::Vector;

/// C = D^-1/2 |A|^T |A| D^-1/2.
class ScaledTwoHop {
 public:
  explicit ScaledTwoHop(const SparseRows& a) : a_(a), root_(a.rows()), scaled_(root_.size()), middle_(root_.size()) {
    for (Index k = 0; k < a.rows(); ++k) {
      double b_kk = 0;
      for (const double a_kl : a.weights_of(k)) b_kk += a_kl * a_kl;
      if (!(b_kk > 0) || !std::isfinite(b_kk)) throw Error("row " + std::to_string(k) + " of A is zero or not finite");
      root_[k] = std::sqrt(b_kk);
    }
  }

  [[nodiscard]] const Vector& root() const { return root_; }

  void apply(const Vector& x, Vector& y) {
    for (std::size_t k = 0; k < x.size(); ++k) scaled_[k] = x[k] / root_[k];
    product(scaled_, middle_);
    product(middle_, y);
    for (std::size_t k = 0; k < y.size(); ++k) y[k] /= root_[k];
  }

 private:
  void product(const Vector& x, Vector& y) const {
    for (Index k = 0; k < a_.rows(); ++k) {
      double sum = 0;
      for (Index e = a_.offset[k]; e < a_.offset[k + 1]; ++e) sum += std::abs(a_.weight[e]) * x[a_.column[e]];
      y[k] = sum;
    }
  }

  const SparseRows& a_;
  Vector root_;  // sqrt(b_kk)
  Vector scaled_;
  Vector middle_;
};

/// max_k (C x)_k / x_k, which bounds the largest eigenvalue for every x > 0; nothing if x has other entries.
std::optional<double> collatz_wielandt(ScaledTwoHop& c, const Vector& x, Vector& image) {
  c.apply(x, image);
  double most = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!(x[k] > 0)) return std::nullopt;
    most = std::max(most, image[k] / x[k]);
  }
  // All terms are positive, so rounding is relative; this covers it by a wide margin.
  return most * (1 + 1e-11);
}

/// A lower estimate of the largest eigenvalue, accurate to a small part of the requested tightness.
double estimate(ScaledTwoHop& c) {
  constexpr Index max_steps = 400;
  Lanczos lanczos([&c](const Vector& x, Vector& y) { c.apply(x, y); }, c.root());
  double before = 0;
  while (true) {
    const bool more = lanczos.step();
    if (more && !lanczos.time_to_look()) continue;
    lanczos.look();
    const double now = lanczos.largest().value;
    if (!more || now - before <= 2e-5 * now || lanczos.steps() >= max_steps) return now;
    before = now;
  }
}

/// Conjugate gradients on (s I - C) x = 1. If s is above the spectrum, x is positive and proves a bound
/// of at most s or so; if not, a direction of negative curvature turns up, and there is no bound.
std::optional<double> certify(ScaledTwoHop& c, double s) {
  constexpr int max_steps = 3000;
  Vector x(c.root().size(), 0.0);
  Vector r(x.size(), 1.0);
  Vector p = r;
  Vector q(x.size());
  double r_r = Lanczos::dot(r, r);
  for (int i = 0; i < max_steps; ++i) {
    c.apply(p, q);
    for (std::size_t k = 0; k < q.size(); ++k) q[k] = s * p[k] - q[k];
    const double curvature = Lanczos::dot(p, q);
    if (!(curvature > 0)) return std::nullopt;
    const double alpha = r_r / curvature;
    double worst = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      x[k] += alpha * p[k];
      r[k] -= alpha * q[k];
      worst = std::max(worst, std::abs(r[k]));
    }
    // C x = s x - 1 + r < s x as soon as every entry of r is below 1.
    if (worst < 0.5) return collatz_wielandt(c, x, q);
    const double r_r_next = Lanczos::dot(r, r);
    for (std::size_t k = 0; k < p.size(); ++k) p[k] = r[k] + r_r_next / r_r * p[k];
    r_r = r_r_next;
  }
  return std::nullopt;
}

}  // namespace

double two_hop_scale(const SparseRows& a) {
  constexpr double tightness = 1e-3;
  constexpr int max_rounds = 40;
  ScaledTwoHop c(a);
  Vector image(c.root().size());
  double high = *collatz_wielandt(c, c.root(), image);  // max_k 1/b_kk when the rows of A sum to 1
  double low = estimate(c);
  bool certified = false;
  double reach = 0.9 * tightness;
  for (int round = 0; round < max_rounds && high > low * (1 + tightness); ++round, reach *= 2) {
    const double s = certified ? std::sqrt(low * high) : low * (1 + reach);
    if (const auto bound = certify(c, s)) {
      certified = true;
      high = std::min(high, *bound);
    } else {
      low = std::min(s, high);
    }
  }
  return high;
}

}  // namespace polyhop
