// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "polyhop/core/gradients.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/pair_tiles.hpp"
#include "polyhop/core/reach.hpp"
#include "polyhop/core/rows.hpp"

/// The operations on blocks. Outside core and problem, all work on rows of agents goes through them, so that
/// recursions read like their network equations, and only this file knows the number type of rows. X stands for rows, k
/// for one of them; a list of numbers has one per row.
namespace polyhop {

/// out = x
inline void copy(const Rows& x, Rows& out) {
  if (out.element() != x.element()) refuse_element(out.element());
  std::memcpy(out.place(0), x.place(0), static_cast<std::size_t>(x.bytes()));
}
/// Row j of out = row i of x; with `count`, for so many consecutive rows.
inline void copy_rows(const Rows& x, Index i, Rows& out, Index j, Index count = 1) {
  if (out.element() != x.element()) refuse_element(out.element());
  std::memcpy(out.place(j), x.place(i), static_cast<std::size_t>(count * x.stride() * bytes_of(x.element())));
}
/// Row j of out = 0
inline void clear_row(Rows& out, Index j) {
  std::memset(out.place(j), 0, static_cast<std::size_t>(out.stride() * bytes_of(out.element())));
}
/// out = row i of x, whatever its number type; and row j of out = x, rounded to its number type.
inline void read_row(const Rows& x, Index i, std::span<double> out) {
  with_element(x.element(), [&](auto zero) { std::copy_n(x.as<decltype(zero)>(i), x.columns(), out.begin()); });
}
inline void write_row(std::span<const double> x, Rows& out, Index j) {
  with_element(out.element(), [&](auto zero) {
    using T = decltype(zero);
    std::ranges::transform(x, out.as<T>(j), [](double number) { return static_cast<T>(number); });
  });
}
/// The same rows with another number type.
inline Rows converted(Rows x, Element element) {
  if (x.element() == element) return x;
  Rows out(x.rows(), x.columns(), 0, element);
  std::vector<double> row(x.columns());
  for (Index k = 0; k < x.rows(); ++k) {
    read_row(x, k, row);
    write_row(row, out, k);
  }
  return out;
}

/// Row j of out = a times row i of x; out may be x.
inline void scale_row(double a, const Rows& x, Index i, Rows& out, Index j) {
  with_element(x.element(), [&](auto zero) {
    using T = decltype(zero);
    kernels::scale(a, x.as<T>(i), out.as<T>(j), x.columns());
  });
}
/// x <- a x
inline void scale(double a, Rows& x) {
  with_element(x.element(), [&](auto zero) {
    auto* row = x.as<decltype(zero)>();
    for (Index k = 0; k < x.rows(); ++k, row += x.stride()) kernels::scale(a, row, row, x.columns());
  });
}

/// Row r of out = row j of y + a times row i of x
inline void add_rows(double a, const Rows& x, Index i, const Rows& y, Index j, Rows& out, Index r) {
  with_element(x.element(), [&](auto zero) {
    using T = decltype(zero);
    kernels::add_scaled(a, x.as<T>(i), y.as<T>(j), out.as<T>(r), x.columns());
  });
}
/// Row j of out += a times row i of x
inline void add_row(double a, const Rows& x, Index i, Rows& out, Index j) { add_rows(a, x, i, out, j, out, j); }
/// sum += row i of x
inline void add_row(const Rows& x, Index i, std::span<double> sum) {
  with_element(x.element(), [&](auto zero) {
    kernels::add_scaled(1, x.as<decltype(zero)>(i), sum.data(), sum.data(), x.columns());
  });
}
/// out += a x; sums of rows of float may be rows of double.
inline void add(double a, const Rows& x, Rows& out) {
  with_element(x.element(), [&](auto zero) {
    const auto* from = x.as<decltype(zero)>();
    with_element(out.element(), [&](auto wide) {
      auto* to = out.as<decltype(wide)>();
      if constexpr (sizeof wide >= sizeof zero) {
        for (Index k = 0; k < x.rows(); ++k, from += x.stride(), to += out.stride()) {
          kernels::add_scaled(a, from, to, to, x.columns());
        }
      } else {
        refuse_element(x.element());
      }
    });
  });
}

/// Row r of out += a times (row i of x - row j of y)
inline void add_difference(double a, const Rows& x, Index i, const Rows& y, Index j, Rows& out, Index r) {
  with_element(x.element(), [&](auto zero) {
    using T = decltype(zero);
    kernels::add_difference(a, x.as<T>(i), y.as<T>(j), out.as<T>(r), x.columns());
  });
}
/// x <- x + share (y - x): makes a lazy combination from an ordinary one, y = A x.
inline void mix(double share, const Rows& y, Rows& x) {
  with_element(x.element(), [&](auto zero) {
    const auto* from = y.as<decltype(zero)>();
    auto* to = x.as<decltype(zero)>();
    for (Index k = 0; k < x.rows(); ++k, from += y.stride(), to += x.stride()) {
      kernels::add_difference(share, from, to, to, x.columns());
    }
  });
}
/// out <- (1 - share) out + share x
inline void blend(double share, const Rows& x, Rows& out) {
  with_element(x.element(), [&](auto zero) {
    const auto* from = x.as<decltype(zero)>();
    with_element(out.element(), [&](auto wide) {
      auto* to = out.as<decltype(wide)>();
      if constexpr (sizeof wide >= sizeof zero) {
        for (Index k = 0; k < x.rows(); ++k, from += x.stride(), to += out.stride()) {
          kernels::blend(share, from, to, x.columns());
        }
      } else {
        refuse_element(x.element());
      }
    });
  });
}

/// Row i of x folded to a few numbers by a row of signs
inline constexpr Index folds = kernels::folds;
inline void fold(const Rows& x, Index i, const Rows& signs, double* out) {
  with_element(x.element(), [&](auto zero) {
    using T = decltype(zero);
    kernels::fold(x.as<T>(i), signs.as<T>(), x.columns(), out);
  });
}
/// x_i . y_j of two rows
inline double dot(const Rows& x, Index i, const Rows& y, Index j) {
  return with_element(x.element(), [&](auto zero) {
    using T = decltype(zero);
    return kernels::dot(x.as<T>(i), y.as<T>(j), x.columns());
  });
}
/// ||x_i - y_j||^2 of two rows, of any number types
inline double squared_distance(const Rows& x, Index i, const Rows& y, Index j) {
  if (x.element() != y.element()) {
    Rows wide(2, x.columns());
    read_row(x, i, wide.row(0));
    read_row(y, j, wide.row(1));
    return squared_distance(wide, 0, wide, 1);
  }
  return with_element(x.element(), [&](auto zero) {
    using T = decltype(zero);
    return kernels::squared_distance(x.as<T>(i), y.as<T>(j), x.columns());
  });
}

/// As many rows of x as stay in the second cache beside as many of two others. Fewer would do for the first cache, but
/// the start of each strip is then waited for.
inline Index near_rows(const Rows& x) {
  constexpr Index bytes = 96 * 1024;
  return std::max<Index>(1, bytes / (x.stride() * bytes_of(x.element())));
}
/// out = x - diag(mu) y for the agents of a strip; the block's rows of out begin at `first`, and out may be x.
inline void descend(const Rows& x, std::span<const double> mu, const Gradients& y, Rows& out, Index first,
                    Strip strip) {
  if (x.element() != y.element) refuse_element(y.element);
  with_element(x.element(), [&](auto zero) {
    using T = decltype(zero);
    constexpr Index most = 64;
    double factors[most];
    for (Index k = strip.first; k < strip.last; k += most) {
      const Index count = std::min(most, strip.last - k);
      for (Index n = 0; n < count; ++n) factors[n] = -mu[k + n] * y.scale[k + n];
      kernels::add_scaled_rows(factors, y.row.data() + k, x.as<T>(k), x.stride(), count, y.columns,
                               out.as<T>(first + k), out.stride());
    }
  });
}
/// The same for all.
inline void descend(const Rows& x, std::span<const double> mu, const Gradients& y, Rows& out, Index first = 0) {
  descend(x, mu, y, out, first, {0, x.rows()});
}
/// out += a y
inline void add(double a, const Gradients& y, Rows& out) {
  with_element(out.element(), [&](auto zero) {
    using T = decltype(zero);
    T* to = out.as<T>();
    for (Index k = 0; k < out.rows(); ++k, to += out.stride()) {
      kernels::add_scaled(a * y.scale[k], y.at<T>(k), to, to, y.columns);
    }
  });
}
/// out = y, or diag(c) y, written out as rows; out are the rows from `first` on
inline void write_out(const Gradients& y, Rows& out, Index first = 0, std::span<const double> c = {}) {
  with_element(out.element(), [&](auto zero) {
    using T = decltype(zero);
    T* to = out.as<T>(first);
    for (Index k = 0; k < y.size(); ++k, to += out.stride()) {
      kernels::scale((c.empty() ? 1 : c[k]) * y.scale[k], y.at<T>(k), to, y.columns);
    }
  });
}
/// out = the rows of y without their scales; out the rows from `first` on
inline void copy_rows(const Gradients& y, Rows& out, Index first) {
  if (out.element() != y.element) refuse_element(out.element());
  const auto bytes = static_cast<std::size_t>(out.stride() * bytes_of(out.element()));
  for (Index k = 0; k < y.size(); ++k) std::memcpy(out.place(first + k), y.row[k], bytes);
}
/// The rows as directions to step along; valid while the rows stay where they are.
inline Gradients along(const Rows& x) {
  Gradients y;
  y.columns = x.columns();
  y.element = x.element();
  y.scale.assign(x.rows(), 1.0);
  for (Index k = 0; k < x.rows(); ++k) y.row.push_back(x.place(k));
  return y;
}

/// Some columns of rows: from `first` to before `last`. The first begins a cache line.
struct SomeColumns {
  Index first = 0;
  Index last = 0;
  [[nodiscard]] Index size() const { return last - first; }
};
/// A row's sums are those of its pieces, in order (core/kernels.hpp): how many these are, and the columns of one.
inline Index pieces(const VectorType& type) {
  const Index length = kernels::piece(type.columns, type.element);
  return std::max<Index>(1, (type.columns + length - 1) / length);
}
inline SomeColumns piece(const VectorType& type, Index p) {
  const Index length = kernels::piece(type.columns, type.element);
  return {p * length, std::min(type.columns, (p + 1) * length)};
}
/// Where a row's columns begin.
inline const void* from_column(const void* row, Index column, Element element) {
  return static_cast<const std::byte*>(row) + column * bytes_of(element);
}
/// Calls use(rows, k, n) for a few rows at a time: where the columns of the n rows from row k on begin.
template <class Use>
void from_column(const void* const* x, Index count, Index column, Element element, Use use) {
  constexpr Index most = 64;
  const void* rows[most];
  for (Index k = 0; k < count; k += most) {
    const Index some = std::min(most, count - k);
    for (Index n = 0; n < some; ++n) rows[n] = from_column(x[k + n], column, element);
    use(rows, k, some);
  }
}
/// Some columns of x - diag(mu) y: the rows of out from `first` on, which begin with them.
inline void descend(const Rows& x, std::span<const double> mu, const Gradients& y, const SomeColumns& columns,
                    Rows& out, Index first) {
  if (x.element() != y.element) refuse_element(y.element);
  with_element(x.element(), [&](auto zero) {
    using T = decltype(zero);
    std::array<double, 64> factors;
    from_column(y.row.data(), x.rows(), columns.first, y.element, [&](const void* const* rows, Index k, Index count) {
      for (Index n = 0; n < count; ++n) factors[n] = -mu[k + n] * y.scale[k + n];
      kernels::add_scaled_rows(factors.data(), rows, x.as<T>(k) + columns.first, x.stride(), count, columns.size(),
                               out.as<T>(first + k), out.stride());
    });
  });
}
/// Some columns of x, or of diag(c) y: the rows of out from `first` on begin with them.
inline void copy_rows(const Rows& x, const SomeColumns& columns, Rows& out, Index first) {
  const auto bytes = static_cast<std::size_t>(Rows::padded(columns.size(), x.element()) * bytes_of(x.element()));
  for (Index k = 0; k < x.rows(); ++k) {
    std::memcpy(out.place(first + k), from_column(x.place(k), columns.first, x.element()), bytes);
  }
}
inline void write_out(const Gradients& y, const SomeColumns& columns, Rows& out, Index first,
                      std::span<const double> c) {
  with_element(out.element(), [&](auto zero) {
    using T = decltype(zero);
    for (Index k = 0; k < y.size(); ++k) {
      kernels::scale(c[k] * y.scale[k], y.at<T>(k) + columns.first, out.as<T>(first + k), columns.size());
    }
  });
}
/// out[k] = the product of a piece's columns of row x[k] and of row k of w.
inline void multiply_rows(const void* const* x, const Rows& w, const SomeColumns& columns, double* out) {
  with_element(w.element(), [&](auto zero) {
    using T = decltype(zero);
    from_column(x, w.rows(), columns.first, w.element(), [&](const void* const* rows, Index k, Index count) {
      kernels::dot_rows(rows, w.as<T>(k) + columns.first, w.stride(), count, columns.size(), out + k);
    });
  });
}
/// The same with row k of y less row k of z, rounded; one row of y is everyone's.
inline void dot_differences(const void* const* x, const Rows& y, const Rows& z, const SomeColumns& columns,
                            double* out) {
  const Index stride = y.rows() == 1 ? 0 : y.stride();
  with_element(z.element(), [&](auto zero) {
    using T = decltype(zero);
    from_column(x, z.rows(), columns.first, z.element(), [&](const void* const* rows, Index k, Index count) {
      kernels::dot_difference_rows(rows, y.as<T>() + k * stride + columns.first, stride, z.as<T>(k) + columns.first,
                                   z.stride(), count, columns.size(), out + k);
    });
  });
}

/// Moments of gradients: m <- b1 m + (1 - b1) g, v <- b2 v + (1 - b2) g^2, element by element.
inline void update_moments(double b1, double b2, const Gradients& g, Rows& m, Rows& v) {
  with_element(m.element(), [&](auto zero) {
    using T = decltype(zero);
    for (Index k = 0; k < m.rows(); ++k) {
      kernels::moments(b1, b2, g.scale[k], g.at<T>(k), m.as<T>(k), v.as<T>(k), m.columns());
    }
  });
}
/// u <- b u + (1 - b) max(u, v), element by element
inline void raise_rows(double b, const Rows& v, Rows& u) {
  with_element(u.element(), [&](auto zero) {
    using T = decltype(zero);
    for (Index k = 0; k < u.rows(); ++k) kernels::raise(b, v.as<T>(k), u.as<T>(k), u.columns());
  });
}
/// w <- w - diag(mu) m / (sqrt(max(u, floor)) + shift), element by element
inline void scaled_step(std::span<const double> mu, const Rows& m, const Rows& u, double floor, double shift, Rows& w) {
  with_element(w.element(), [&](auto zero) {
    using T = decltype(zero);
    for (Index k = 0; k < w.rows(); ++k) {
      kernels::scaled_step(mu[k], m.as<T>(k), u.as<T>(k), floor, shift, w.as<T>(k), w.as<T>(k), w.columns());
    }
  });
}

/// A running mean that takes in rows as they are computed: into <- (1 - share) into + share x, and before, if there is
/// an earlier share, the rows that are overwritten. Always of double.
struct BlendedRows {
  double share = 0;
  Rows* into = nullptr;
  double earlier_share = 0;
};
/// For each k in `which`, row k of out = the sum over its links of weight * x row slot; the mean, if there is one,
/// takes it in. The rows of out are those from `first` on.
inline void combine(const SparseView& links, std::span<const std::int32_t> which, const Rows& x, Rows& out,
                    const BlendedRows& also = {}, Index first = 0) {
  kernels::Blend blend;
  if (also.into != nullptr) blend = {also.share, also.into->data(), also.into->stride(), also.earlier_share};
  with_element(x.element(), [&](auto zero) {
    using T = decltype(zero);
    kernels::combine(links, which.data(), static_cast<Index>(which.size()), x.as<T>(), x.stride(), x.columns(),
                     out.as<T>(first), out.stride(), blend);
  });
}
/// The same in some columns, with which the rows of x begin.
inline void combine(const SparseView& links, std::span<const std::int32_t> which, const Rows& x,
                    const SomeColumns& columns, Rows& out, const BlendedRows& also) {
  kernels::Blend blend;
  if (also.into != nullptr) {
    blend = {also.share, also.into->data() + columns.first, also.into->stride(), also.earlier_share};
  }
  with_element(x.element(), [&](auto zero) {
    using T = decltype(zero);
    kernels::combine(links, which.data(), static_cast<Index>(which.size()), x.as<T>(), x.stride(), columns.size(),
                     out.as<T>() + columns.first, out.stride(), blend);
  });
}
/// out[e] = x_k . x_l over the entries of a reach, where x_k are the rows from `own` on; `places` is scratch memory for
/// the rows' addresses, reused between calls.
inline void pairwise(const Reach& x, Index own, std::vector<const void*>& places, std::span<double> out) {
  with_element(x.element, [&](auto zero) {
    places.resize(x.agents);
    for (Index k = 0; k < x.agents; ++k) places[k] = x.all<decltype(zero)>() + (own + k) * x.stride;
  });
  multiply_pairs(x, places.data(), out.data());
}

}  // namespace polyhop
