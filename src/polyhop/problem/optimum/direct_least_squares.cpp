// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/optimum/direct_least_squares.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace polyhop::optimum {
namespace {

constexpr const char* normal_equations = "least squares, normal equations with refinement";

}  // namespace

Reference by_rank_revealing(const Pooled& cost) {
  const Vector root = cost.c.cwiseSqrt();
  const Matrix x = root.asDiagonal() * cost.h.dense();
  const Vector t = root.cwiseProduct(cost.y);
  const Eigen::CompleteOrthogonalDecomposition<Matrix> solver(x);
  Vector w = solver.solve(t);
  // One step of refinement; the gain it predicts is the accuracy.
  w += solver.solve(t - x * w);
  const Vector left = t - x * w;
  const double gain = 0.5 * (x * solver.solve(left)).squaredNorm();
  return finish(cost, w, gain, "least squares, complete orthogonal decomposition");
}

Reference by_dual_equations(const Pooled& cost, double l2) {
  const Vector root = cost.c.cwiseSqrt();
  const Matrix x = root.asDiagonal() * cost.h.dense();
  Matrix gram = x * x.transpose();
  gram.diagonal().array() += l2;
  const Eigen::LDLT<Matrix> solver(gram);
  Vector w = Vector::Zero(cost.h.cols());
  Vector dual = Vector::Zero(cost.h.rows());
  double gain = 0;
  for (int step = 0; step < 4; ++step) {
    const Vector left = root.cwiseProduct(cost.y) - x * w - l2 * dual;
    const Vector change = solver.solve(left);
    gain = 0.5 * std::abs(left.dot(left - l2 * change));
    dual += change;
    w = x.transpose() * dual;
  }
  return finish(cost, w, gain, normal_equations);
}

Reference by_normal_equations(Cost& cost) {
  Vector w = Vector::Zero(cost.penalty.size());
  cost.fix_curvature(w);
  const Eigen::LDLT<Matrix> solver(cost.hessian());
  double gain = 0;
  for (int step = 0; step < 4; ++step) {
    const Vector g = cost.gradient(w);
    const Vector change = solver.solve(-g);
    gain = 0.5 * std::abs(g.dot(change));
    w += change;
  }
  return finish(cost, w, gain, normal_equations);
}

Reference by_least_norm(Cost& cost) {
  Vector w = Vector::Zero(cost.penalty.size());
  cost.fix_curvature(w);
  const Matrix gram = cost.hessian();
  const Vector unit = even_units(gram.diagonal());
  const Matrix even = unit.asDiagonal() * gram * unit.asDiagonal();
  // Full rank is cheaper to detect, and to solve.
  if (Eigen::LDLT<Matrix>(even).vectorD().minCoeff() > 1e-9) return by_normal_equations(cost);
  const Eigen::SelfAdjointEigenSolver<Matrix> of(even);
  const auto size = static_cast<double>(w.size());
  const double least = 1e-14 * size * of.eigenvalues().maxCoeff();
  const Vector inverse = of.eigenvalues().unaryExpr([&](double x) { return x > least ? 1 / x : 0.0; });
  // Eigenvalues ascend.
  const auto lacking = std::ranges::count(inverse, 0.0);
  const Eigen::HouseholderQR<Matrix> none(unit.asDiagonal() * of.eigenvectors().leftCols(lacking));
  const Matrix basis = none.householderQ() * Matrix::Identity(w.size(), lacking);
  double gain = 0;
  for (int step = 0; step < 4; ++step) {
    const Vector g = cost.gradient(w);
    const Vector along = of.eigenvectors().transpose() * unit.cwiseProduct(g);
    const Vector change = -unit.cwiseProduct(of.eigenvectors() * inverse.cwiseProduct(along));
    gain = 0.5 * std::abs(g.dot(change));
    w += change;
    w -= basis * (basis.transpose() * w);
  }
  return finish(cost, w, gain, "least squares, eigenvalues of the normal equations with refinement");
}

}  // namespace polyhop::optimum
