// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/optimum/design.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "polyhop/core/kernels.hpp"

namespace polyhop::optimum {

Design::Design(const Features& h, Index first, Index last)
    : wide_(h.element() == Element::float64 ? nullptr : std::make_shared<const Features>(h.widened(first, last))),
      h_(wide_ == nullptr ? h : *wide_),
      first_(wide_ == nullptr ? first : 0),
      rows_(last - first) {}

// Some dense rows at a time: what(their positions, the first one's number, how many).
template <class F>
void Design::in_groups(F what) const {
  std::array<const double*, 12> group{};
  for (Index first = 0; first < rows();) {
    Index count = 0;
    for (; count < static_cast<Index>(group.size()) && first + count < rows(); ++count) {
      group[count] = h_.dense().row(first_ + first + count).data();
    }
    what(group.data(), first, count);
    first += count;
  }
}

// The lower half of gram += weight h h^T; columns ascend along a row.
void Design::add_square(Index n, double weight, Matrix& gram) const {
  const auto columns = h_.columns_of(first_ + n);
  const auto values = h_.values_of(first_ + n);
  for (std::size_t a = 0; a < columns.size(); ++a) {
    for (std::size_t b = a; b < columns.size(); ++b) gram(columns[b], columns[a]) += weight * values[a] * values[b];
  }
}

DenseFeatures Design::dense() const {
  const Index stride = h_.dense().stride();
  return {h_.dense().data() + first_ * stride, rows(), cols(), Eigen::OuterStride<>(stride)};
}

double Design::size() const {
  if (!is_sparse()) return static_cast<double>(rows()) * static_cast<double>(cols());
  double sum = 0;
  for (Index n = 0; n < rows(); ++n) sum += static_cast<double>(h_.columns_of(first_ + n).size());
  return sum;
}

RowMatrix Design::times(const Eigen::Ref<const RowMatrix>& w) const {
  RowMatrix z(rows(), w.rows());
  if (!is_sparse()) {
    in_groups([&](const double* const* group, Index first, Index count) {
      kernels::block_dots(group, count, w.data(), w.rows(), cols(), z.row(first).data());
    });
    return z;
  }
  for (Index n = 0; n < rows(); ++n) {
    for (Index c = 0; c < w.rows(); ++c) z(n, c) = h_.dot(first_ + n, w.row(c).data());
  }
  return z;
}

RowMatrix Design::gathered(const RowMatrix& s) const {
  RowMatrix g = RowMatrix::Zero(s.cols(), cols());
  if (!is_sparse()) {
    in_groups([&](const double* const* group, Index first, Index count) {
      kernels::add_blocks(s.row(first).data(), group, count, s.cols(), cols(), g.data());
    });
    return g;
  }
  for (Index n = 0; n < rows(); ++n) {
    for (Index c = 0; c < s.cols(); ++c) h_.add_scaled(s(n, c), first_ + n, g.row(c).data());
  }
  return g;
}

Matrix Design::gram(const Vector& weights) const {
  Matrix gram = Matrix::Zero(cols(), cols());
  constexpr Index chunk = 4096;
  for (Index n = 0; n < rows(); n += is_sparse() ? 1 : chunk) {
    if (is_sparse()) {
      add_square(n, weights(n), gram);
      continue;
    }
    const Index count = std::min(chunk, rows() - n);
    const Matrix part = weights.segment(n, count).cwiseSqrt().asDiagonal() * dense().middleRows(n, count);
    gram.selfadjointView<Eigen::Lower>().rankUpdate(part.transpose());
  }
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  return gram;
}

Vector Design::squares(const Vector& weights) const {
  Vector sums = Vector::Zero(cols());
  for (Index n = 0; n < rows(); ++n) {
    if (!is_sparse()) {
      sums += weights(n) * dense().row(n).cwiseAbs2().transpose();
      continue;
    }
    const auto columns = h_.columns_of(first_ + n);
    const auto values = h_.values_of(first_ + n);
    for (std::size_t e = 0; e < columns.size(); ++e) sums(columns[e]) += weights(n) * values[e] * values[e];
  }
  return sums;
}

}  // namespace polyhop::optimum
