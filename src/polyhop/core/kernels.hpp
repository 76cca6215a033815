// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "polyhop/core/real.hpp"

namespace polyhop {

/// A sparse matrix by rows: row r holds the entries offset[r] .. offset[r+1]; `slot` is the row of the dense
/// operand that an entry multiplies. Entries stand in order of the agents' numbers, which fixes the sums.
struct SparseView {
  const Index* offset = nullptr;
  const std::int32_t* slot = nullptr;
  const Real* weight = nullptr;
};

}  // namespace polyhop

/// The element loops of polyhop, all in one place. Their bits are a promise:
///  - a reduction along a row runs in `lanes` partial sums of fused multiply-adds, coordinate j in lane
///    j mod lanes, in order of j; the lanes are then added pairwise, lane l with lane l + lanes/2, and so on;
///  - every other output element is one chain of fused multiply-adds in the order of the formula.
/// So nothing depends on alignment, block, tile or CPU. tests/unit/core/plain_kernels.hpp holds the plain twins.
///
/// A row is a row of Rows: n numbers, then zeros up to a multiple of Rows::line. `dot`, `squared_distance`, `pairwise`
/// and `combine` run over the zeros too (which changes no sum and spares them every ragged end); the others touch
/// exactly n numbers and take any array.
namespace polyhop::kernels {

inline constexpr int lanes = 16;

/// Which of the compiled versions of these loops this machine runs: "x86-64-v4", "x86-64-v3" or "default".
const char* instruction_set();

/// x . y of two rows
double dot(const Real* x, const Real* y, Index n);

/// ||x - y||^2 of two rows
double squared_distance(const Real* x, const Real* y, Index n);

/// out = a x
void scale(Real a, const Real* x, Real* out, Index n);

/// out = y + a x; out may be y.
void add_scaled(Real a, const Real* x, const Real* y, Real* out, Index n);

/// out += a (x - y)
void add_difference(Real a, const Real* x, const Real* y, Real* out, Index n);

/// Moments of a gradient g = s h: m <- b1 m + (1 - b1) g, v <- b2 v + (1 - b2) g^2, element by element.
void moments(Real b1, Real b2, Real s, const Real* h, Real* m, Real* v, Index n);

/// u <- b u + (1 - b) max(u, v), element by element
void raise(Real b, const Real* v, Real* u, Index n);

/// out = x - a m / (sqrt(max(u, floor)) + shift), element by element; out may be x.
void scaled_step(Real a, const Real* m, const Real* u, Real floor, Real shift, const Real* x, Real* out, Index n);

/// Row r of out, for each r in rows[0 .. count): sum over its entries of weight * x row slot.
void combine(const SparseView& a, const std::int32_t* rows, Index count, const Real* x, Index x_stride, Index columns,
             Real* out, Index out_stride);

/// out[e] = x[r] . y row slot[e] for every entry e of each row r in [0, rows): dot products over a sparse pattern.
/// Where `mirror` is given, mirror[e] >= 0 names an earlier entry with the same value (where x is y the product
/// is symmetric to the bit), which is copied instead.
void pairwise(const SparseView& pattern, Index rows, const Real* const* x, const Real* y, Index y_stride, Index columns,
              const Index* mirror, Real* out);

/// How many points `products` works on at once; `points` is a multiple of it.
inline constexpr Index product_tile = 16;

/// out(r, p) = sum_j h(r, j) wt(j, p), one chain of fused multiply-adds in order of j for each element.
/// wt is columns x points, points a multiple of product_tile.
void products(const Real* h, Index h_stride, Index rows, const Real* wt, Index wt_stride, Index points, Index columns,
              Real* out, Index out_stride);

/// out[r * blocks + c] = x[r] . (block c of y), for `rows` rows and the `blocks` blocks of n numbers that stand one
/// behind the other in y, with no zeros between them: the whole lines of a block as in `dot`, the rest after them in
/// order. Several rows at a time, which share what is loaded of y.
void block_dots(const Real* const* x, Index rows, const Real* y, Index blocks, Index n, Real* out);

/// Block c of out += sum_r a[r * blocks + c] x[r], rows in order: the other way round.
void add_blocks(const Real* a, const Real* const* x, Index rows, Index blocks, Index n, Real* out);

}  // namespace polyhop::kernels
