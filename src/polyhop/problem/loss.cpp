// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/loss.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "polyhop/core/elementary.hpp"

namespace polyhop {
namespace {

template <class F>
void each(std::span<const Real> z, std::span<const Real> y, std::span<Real> out, F f) {
  for (std::size_t n = 0; n < z.size(); ++n) out[n] = f(z[n], y[n]);
}

class LeastSquares final : public Loss {
 public:
  void values(std::span<const Real> z, std::span<const Real> y, std::span<Real> value) const override {
    each(z, y, value, [](Real p, Real t) { return 0.5 * (p - t) * (p - t); });
  }
  void slopes(std::span<const Real> z, std::span<const Real> y, std::span<Real> slope) const override {
    each(z, y, slope, [](Real p, Real t) { return p - t; });
  }
  void curvatures(std::span<const Real>, std::span<const Real>, std::span<Real> curvature) const override {
    std::ranges::fill(curvature, 1.0);
  }
  [[nodiscard]] Real max_curvature() const override { return 1.0; }
  [[nodiscard]] bool is_quadratic() const override { return true; }
};

class Logistic final : public Loss {
 public:
  void values(std::span<const Real> z, std::span<const Real> y, std::span<Real> value) const override {
    // ln(1 + e^-m) = max(-m, 0) + ln(1 + e^-|m|): no overflow for any margin m.
    each(z, y, value, [](Real p, Real t) {
      const Real m = p * t;
      return std::max(-m, 0.0) + elementary::log1p(elementary::exp(-std::abs(m)));
    });
  }
  void slopes(std::span<const Real> z, std::span<const Real> y, std::span<Real> slope) const override {
    each(z, y, slope, [](Real p, Real t) { return -t * miss(p * t); });
  }
  void curvatures(std::span<const Real> z, std::span<const Real> y, std::span<Real> curvature) const override {
    each(z, y, curvature, [](Real p, Real t) { return miss(p * t) * miss(-p * t); });
  }
  [[nodiscard]] Real max_curvature() const override { return 0.25; }
  [[nodiscard]] bool is_classification() const override { return true; }
  [[nodiscard]] bool has_tail() const override { return true; }

 private:
  // 1 / (1 + e^m), without overflow.
  static Real miss(Real m) {
    const Real e = elementary::exp(-std::abs(m));
    return m > 0 ? e / (1 + e) : 1 / (1 + e);
  }
};

class Huber final : public Loss {
 public:
  explicit Huber(Real delta) : delta_(delta) {}
  void values(std::span<const Real> z, std::span<const Real> y, std::span<Real> value) const override {
    each(z, y, value, [d = delta_](Real p, Real t) {
      const Real r = std::abs(p - t);
      return r <= d ? 0.5 * r * r : d * (r - 0.5 * d);
    });
  }
  void slopes(std::span<const Real> z, std::span<const Real> y, std::span<Real> slope) const override {
    each(z, y, slope, [d = delta_](Real p, Real t) { return std::clamp(p - t, -d, d); });
  }
  void curvatures(std::span<const Real> z, std::span<const Real> y, std::span<Real> curvature) const override {
    each(z, y, curvature, [d = delta_](Real p, Real t) { return std::abs(p - t) <= d ? 1.0 : 0.0; });
  }
  [[nodiscard]] Real max_curvature() const override { return 1.0; }

 private:
  Real delta_;
};

class SmoothedHinge final : public Loss {
 public:
  void values(std::span<const Real> z, std::span<const Real> y, std::span<Real> value) const override {
    each(z, y, value, [](Real p, Real t) {
      const Real miss = 1 - p * t;
      if (miss >= 1) return miss - 0.5;
      return miss <= 0 ? 0.0 : 0.5 * miss * miss;
    });
  }
  void slopes(std::span<const Real> z, std::span<const Real> y, std::span<Real> slope) const override {
    each(z, y, slope, [](Real p, Real t) { return -t * std::clamp(1 - p * t, 0.0, 1.0); });
  }
  void curvatures(std::span<const Real> z, std::span<const Real> y, std::span<Real> curvature) const override {
    each(z, y, curvature, [](Real p, Real t) { return p * t > 0 && p * t < 1 ? t * t : 0.0; });
  }
  [[nodiscard]] Real max_curvature() const override { return 1.0; }
  [[nodiscard]] bool is_classification() const override { return true; }
};

class Poisson final : public Loss {
 public:
  void values(std::span<const Real> z, std::span<const Real> y, std::span<Real> value) const override {
    each(z, y, value, [](Real p, Real t) { return elementary::exp(p) - t * p; });
  }
  void slopes(std::span<const Real> z, std::span<const Real> y, std::span<Real> slope) const override {
    each(z, y, slope, [](Real p, Real t) { return elementary::exp(p) - t; });
  }
  void curvatures(std::span<const Real> z, std::span<const Real>, std::span<Real> curvature) const override {
    each(z, z, curvature, [](Real p, Real) { return elementary::exp(p); });
  }
  [[nodiscard]] Real max_curvature() const override { return std::numeric_limits<Real>::infinity(); }
  [[nodiscard]] bool is_count() const override { return true; }
};

}  // namespace

std::unique_ptr<Loss> make_loss(LossName name, Real huber_delta) {
  switch (name) {
    case LossName::least_squares:
      return std::make_unique<LeastSquares>();
    case LossName::logistic:
      return std::make_unique<Logistic>();
    case LossName::huber:
      return std::make_unique<Huber>(huber_delta);
    case LossName::smoothed_hinge:
      return std::make_unique<SmoothedHinge>();
    case LossName::poisson:
      return std::make_unique<Poisson>();
    case LossName::softmax:
      throw Error("softmax is a function of one prediction for each class: make a SoftmaxProblem");
  }
  throw Error("unknown loss");
}

}  // namespace polyhop
