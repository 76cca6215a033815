// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// The samples that gradients are multiples of, if they do not change: row n of the block's k-th agent, of `count(k)`.
/// They are rows of Rows, with zeros behind them.
class SampleRows {
 public:
  virtual ~SampleRows() = default;
  [[nodiscard]] virtual Index count(Index k) const = 0;
  [[nodiscard]] virtual const void* sample_row(Index k, Index n) const = 0;
  /// Its product with itself, as kernels::dot gives it for rows of double.
  [[nodiscard]] virtual double squared_norm(Index k, Index n) const = 0;
};

/// Some of a block's agents: from `first` to before `last`.
struct Strip {
  Index first = 0;
  Index last = 0;
};

/// The gradients of a block: agent k's is scale[k] times row[k]. A dense gradient has scale 1; the gradient of a
/// linear model on one sample is a number times that sample's features, and is never written out. The rows are rows
/// of Rows, with zeros behind them. Agents are those of the block, from 0.
struct Gradients {
  std::vector<const void*> row;
  std::vector<double> scale;
  Index columns = 0;
  Element element = Element::float64;
  /// If all gradients, those of other blocks too, are numbers times single samples: the samples, and which one row[k]
  /// is.
  const SampleRows* samples = nullptr;
  std::vector<Index> sample = {};

  [[nodiscard]] Index size() const { return static_cast<Index>(row.size()); }
  /// The numbers of row[k]
  template <class T = double>
  [[nodiscard]] const T* at(Index k) const {
    if (element != element_of<T>) refuse_element(element);
    return static_cast<const T*>(row[k]);
  }
  /// ||g_k||^2
  [[nodiscard]] double squared_norm(Index k) const {
    if (samples != nullptr && element == Element::float64) {
      return scale[k] * scale[k] * samples->squared_norm(k, sample[k]);
    }
    return with_element(element, [&](auto zero) {
      using T = decltype(zero);
      return scale[k] * scale[k] * kernels::dot(at<T>(k), at<T>(k), columns);
    });
  }
  /// g_k . x_i, the i-th row of x
  [[nodiscard]] double dot(Index k, const Rows& x, Index i) const {
    return with_element(element, [&](auto zero) {
      using T = decltype(zero);
      return scale[k] * kernels::dot(at<T>(k), x.as<T>(i), columns);
    });
  }
  /// out[k] = g_k . (x_k - y_k) for all agents; differences are rounded first. If x is a single row, it is everyone's.
  void dot_differences(const Rows& x, const Rows& y, std::span<double> out) const {
    with_element(element, [&](auto zero) {
      using T = decltype(zero);
      if (x.element() != element) refuse_element(x.element());
      kernels::dot_difference_rows(row.data(), x.as<T>(), x.rows() == 1 ? 0 : x.stride(), y.as<T>(), y.stride(), size(),
                                   columns, out.data());
    });
    for (Index k = 0; k < size(); ++k) out[k] *= scale[k];
  }
  /// Row j of out = a g_k, written out
  void write(Index k, Rows& out, Index j, double a = 1) const {
    with_element(element, [&](auto zero) {
      using T = decltype(zero);
      kernels::scale(a * scale[k], at<T>(k), out.as<T>(j), columns);
    });
  }
  /// Row j of out = row i of x + a g_k; out may be x.
  void add_to(Index k, double a, const Rows& x, Index i, Rows& out, Index j) const {
    with_element(element, [&](auto zero) {
      using T = decltype(zero);
      kernels::add_scaled(a * scale[k], at<T>(k), x.as<T>(i), out.as<T>(j), columns);
    });
  }
};

}  // namespace polyhop
