// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/quasi_newton.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "polyhop/core/random.hpp"

namespace polyhop::quasi_newton_test {
namespace {

using Vector = Eigen::VectorXd;
using Outcome = QuasiNewton::Outcome;
// The value at a point, and the gradient there.
using Cost = std::function<double(const Vector&, Vector&)>;

struct Descent {
  Vector point;
  double value = 0;
  double gradient = 0;
  int evaluations = 0;
  Outcome last = Outcome::searching;
};

Descent descended(const Cost& cost, const Vector& start, double tolerance, int most = 2000, Index memory = 30) {
  QuasiNewton descent({start.data(), static_cast<std::size_t>(start.size())}, memory);
  Descent out;
  Vector g(start.size());
  while (out.evaluations < most) {
    const auto at = descent.trial();
    const double value = cost(Eigen::Map<const Vector>(at.data(), start.size()), g);
    ++out.evaluations;
    out.last = descent.take(value, {g.data(), static_cast<std::size_t>(g.size())});
    if (out.last == Outcome::stuck) break;
    if (out.last == Outcome::moved && descent.gradient_norm() <= tolerance) break;
  }
  out.point = Eigen::Map<const Vector>(descent.point().data(), start.size());
  out.value = descent.value();
  out.gradient = descent.gradient_norm();
  return out;
}

Vector normals(Index size, std::uint64_t seed) {
  Vector out(size);
  Stream(seed, Purpose::start).normals({out.data(), static_cast<std::size_t>(size)});
  return out;
}

// (1/2) sum_j c_j (w_j - t_j)^2 in turned coordinates, c from 1 to `condition`.
struct Quadratic {
  Quadratic(Index size, double condition) : target(normals(size, 2)), curvature(size) {
    for (Index j = 0; j < size; ++j) {
      curvature(j) = std::pow(condition, static_cast<double>(j) / static_cast<double>(size - 1));
    }
    const Vector v = normals(size, 3).normalized();
    turn = Eigen::MatrixXd::Identity(size, size) - 2 * v * v.transpose();
  }
  double operator()(const Vector& w, Vector& g) const {
    const Vector off = turn * (w - target);
    g = turn.transpose() * curvature.cwiseProduct(off);
    return 0.5 * off.dot(curvature.cwiseProduct(off));
  }
  Vector target, curvature;
  Eigen::MatrixXd turn;
};

TEST(QuasiNewton, FindsTheMinimumOfAnIllConditionedQuadratic) {
  const Quadratic cost(20, 1e5);
  const Descent found = descended(cost, Vector::Zero(20), 1e-9);
  EXPECT_LE(found.gradient, 1e-9);
  EXPECT_LT((found.point - cost.target).norm(), 1e-8);
  EXPECT_LT(found.evaluations, 300);  // steepest descent would take hundreds of thousands
}

TEST(QuasiNewton, DoesNotStopAtAStepBehindWhichTheCostIsAsSteepAsBefore) {
  // (w - 100)^2 / 2 from 0: the first step has length 1, and two slopes say where the minimum is.
  const std::vector<double> start = {0};
  QuasiNewton descent(start, 5);
  const auto take = [&] {
    const double off = descent.trial()[0] - 100;
    return descent.take(off * off / 2, std::span(&off, 1));
  };
  EXPECT_EQ(take(), Outcome::moved);
  EXPECT_EQ(descent.trial()[0], 1);
  EXPECT_EQ(take(), Outcome::searching);
  EXPECT_EQ(descent.point()[0], 0);
  EXPECT_NEAR(descent.trial()[0], 20, 1e-12);  // at most twenty times as far
}

TEST(QuasiNewton, NeedsFewStepsWhereItRemembersAsManyAsThereAreDirections) {
  const Quadratic cost(8, 100);
  EXPECT_LT(descended(cost, Vector::Zero(8), 1e-9).evaluations, 40);
}

TEST(QuasiNewton, ComesBackFromWhereValuesAreNotFinite) {
  // sum_j e^{s_j w_j} - s_j w_j has its minimum at 0; far out on one side it overflows.
  const Vector s = Vector::LinSpaced(6, 0.5, 40);
  const Cost cost = [&](const Vector& w, Vector& g) {
    const Eigen::ArrayXd e = (s.cwiseProduct(w)).array().exp();
    g = s.array() * (e - 1);
    return (e - s.array() * w.array()).sum();
  };
  const Descent found = descended(cost, Vector::Constant(6, -12), 1e-8);
  EXPECT_LE(found.gradient, 1e-8);
  EXPECT_LT(found.point.norm(), 1e-6);
}

TEST(QuasiNewton, FindsAMinimumFarNearerThanTheFirstStepOnACostThatIsStraightBehindIt) {
  // Nine of ten samples in one class, one in the other, and a feature in large units: the slope of the cost is -0.4
  // units at 0, and 0.1 far behind the minimum, ln 9 / units.
  for (const double units : {1e3, 1e6, 1e9, 1e12}) {
    const auto cost = [&](const Vector& w, Vector& g) {
      const double z = units * w(0);
      g(0) = units * (0.1 - 1 / (1 + std::exp(z)));
      // ln(1 + e^-z) of nine tenths, ln(1 + e^z) of one.
      return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))) - 0.9 * z;
    };
    const Descent found = descended(cost, Vector::Zero(1), 1e-9 * units);
    EXPECT_LE(found.gradient, 1e-9 * units) << units;
    EXPECT_NEAR(found.point(0) * units, std::log(9.0), 1e-6) << units;
    EXPECT_LT(found.evaluations, 60) << units;
  }
}

TEST(QuasiNewton, GetsAsFarAsRoundingAllowsAndSaysSo) {
  // A large constant drowns what is left of the value long before the gradient vanishes.
  const Quadratic quadratic(10, 1e3);
  const Cost cost = [&](const Vector& w, Vector& g) { return 1e6 + quadratic(w, g); };
  const Descent found = descended(cost, Vector::Zero(10), 0);
  EXPECT_LT(found.gradient, 1e-7);  // by values alone it would end at about 1e-4
}

TEST(QuasiNewton, NeverAcceptsAHigherValue) {
  const Cost cost = [](const Vector& w, Vector& g) {
    g = w.array().tanh();
    return w.array().cosh().log().sum();
  };
  const Vector start = 5 * normals(7, 4);
  QuasiNewton descent({start.data(), 7}, 5);
  Vector g(7);
  double before = std::numeric_limits<double>::infinity();
  for (int n = 0; n < 60; ++n) {
    const double value = cost(Eigen::Map<const Vector>(descent.trial().data(), 7), g);
    if (descent.take(value, {g.data(), 7}) != Outcome::moved) continue;
    EXPECT_LE(descent.value(), before + 1e-12 * std::abs(before));
    before = descent.value();
  }
  EXPECT_LT(descent.gradient_norm(), 1e-8);
}

TEST(QuasiNewton, RestsWhereAStepIsLostInRounding) {
  const Quadratic cost(5, 10);
  for (const bool is_there : {true, false}) {
    const Vector start = is_there ? cost.target : Vector::Zero(5);
    QuasiNewton descent({start.data(), 5}, 10);
    Vector g(5);
    int evaluations = 0;
    while (evaluations < 100) {
      ++evaluations;
      const double value = cost(Eigen::Map<const Vector>(descent.trial().data(), 5), g);
      if (descent.take(value, {g.data(), 5}) == Outcome::moved && descent.is_at_rest()) break;
    }
    EXPECT_LT((Eigen::Map<const Vector>(descent.point().data(), 5) - cost.target).norm(), 1e-14);
    EXPECT_LE(evaluations, is_there ? 1 : 40);
  }
}

TEST(QuasiNewton, StaysAtAMinimumWhereItStarts) {
  const Quadratic cost(5, 10);
  const Descent found = descended(cost, cost.target, 1e-12);
  EXPECT_EQ(found.evaluations, 1);
  EXPECT_EQ(found.point, cost.target);
}

}  // namespace
}  // namespace polyhop::quasi_newton_test
