// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <memory>

#include "polyhop/core/index.hpp"
#include "polyhop/problem/features.hpp"

namespace polyhop::optimum {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using DenseFeatures = Eigen::Map<const RowMatrix, Eigen::Unaligned, Eigen::OuterStride<>>;

/// The features H of consecutive samples as a matrix, dense or sparse; a copy in double if they are in single
/// precision.
class Design {
 public:
  Design(const Features& h, Index first, Index last);
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return h_.columns(); }
  [[nodiscard]] bool is_sparse() const { return h_.is_sparse(); }
  [[nodiscard]] DenseFeatures dense() const;
  /// How many numbers it holds: what a product with a vector costs.
  [[nodiscard]] double size() const;
  /// H w^T, one row of w per prediction; w may be a vector.
  [[nodiscard]] RowMatrix times(const Eigen::Ref<const RowMatrix>& w) const;
  /// s^T H, the other way round.
  [[nodiscard]] RowMatrix gathered(const RowMatrix& s) const;
  /// H^T diag(weights) H, with dense rows taken a few thousand at a time.
  [[nodiscard]] Matrix gram(const Vector& weights) const;
  /// sum_n weights_n h_nj^2 of every column j
  [[nodiscard]] Vector squares(const Vector& weights) const;

 private:
  template <class F>
  void in_groups(F what) const;
  void add_square(Index n, double weight, Matrix& gram) const;

  std::shared_ptr<const Features> wide_;  // the copy
  const Features& h_;
  Index first_;
  Index rows_;
};

}  // namespace polyhop::optimum
