// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// A sparse matrix by rows: row r holds the entries offset[r] .. offset[r+1]; `slot` is the row of the dense operand
/// that an entry multiplies. Entries are in order of the agents' numbers, which fixes the sums.
struct SparseView {
  const Index* offset = nullptr;
  const std::int32_t* slot = nullptr;
  const double* weight = nullptr;
};

}  // namespace polyhop

/// The element loops of polyhop, all in one place, for rows of double and of float. Their bits are guaranteed:
///  - a reduction along a row is the sum of its pieces in order (see `piece`). A piece runs in `lanes` partial sums of
///    fused multiply-adds, coordinate j in lane j mod lanes, in order of j; the lanes are then added pairwise, lane l
///    with lane l + lanes/2, and so on;
///  - with rows of float, a piece has `float_lanes` sums in float; lane l + lanes is then added to lane l in double;
///  - every other output element is one chain of fused multiply-adds in the order of the formula, in the element of
///    the output, to which factors are rounded first; `add_squares` and what follows it round every product instead.
/// So nothing depends on alignment, block, tile or CPU. tests/unit/core/plain_kernels.hpp holds plain twins.
///
/// A row is a row of Rows: n numbers, then zeros up to the end of a cache line. `dot`,
/// `squared_distance`, `pairwise` and `combine`, and those named `_rows`, run over the zeros too (they change no sum,
/// and there are no ragged ends); the others touch exactly n numbers and take any array.
namespace polyhop::kernels {

/// Both are a cache line of numbers.
inline constexpr int lanes = 8;
inline constexpr int float_lanes = 16;

/// A row is cut into as few pieces of at most so many columns as possible, all of the same number of cache lines,
/// except that the last may be shorter. This is how many columns a piece has.
inline constexpr Index longest_piece = 512;
constexpr Index piece(Index columns, Element element) {
  if (columns <= longest_piece) return longest_piece;
  const Index line = Rows::line_of(element);
  const Index pieces = (columns + longest_piece - 1) / longest_piece;
  return (columns + pieces * line - 1) / (pieces * line) * line;
}

/// Each loop is compiled for several instruction sets, with the same bits. These are the ones that this machine can
/// run, best first: "x86-64-v4", "x86-64-v3", "plain".
std::span<const char* const> variants();
/// The one in use: the best, unless the environment variable POLYHOP_CPU names another of them.
const char* instruction_set();
/// Uses this variant from now on; false if there is no such variant. No kernel may be running.
bool use_variant(std::string_view name);

/// x . y of two rows
double dot(const double* x, const double* y, Index n);
double dot(const float* x, const float* y, Index n);

/// out[r] = x[r] . row r of y
void dot_rows(const void* const* x, const double* y, Index y_stride, Index rows, Index n, double* out);
void dot_rows(const void* const* x, const float* y, Index y_stride, Index rows, Index n, double* out);

/// ||x - y||^2 of two rows
double squared_distance(const double* x, const double* y, Index n);
double squared_distance(const float* x, const float* y, Index n);

/// out[r] = x[r] . (row r of y - row r of z), the difference rounded. A stride may be 0: the same row for all.
void dot_difference_rows(const void* const* x, const double* y, Index y_stride, const double* z, Index z_stride,
                         Index rows, Index n, double* out);
void dot_difference_rows(const void* const* x, const float* y, Index y_stride, const float* z, Index z_stride,
                         Index rows, Index n, double* out);

/// out = a x
void scale(double a, const double* x, double* out, Index n);
void scale(double a, const float* x, float* out, Index n);

/// out = y + a x; out may be y.
void add_scaled(double a, const double* x, const double* y, double* out, Index n);
void add_scaled(double a, const float* x, const float* y, float* out, Index n);
void add_scaled(double a, const float* x, const double* y, double* out, Index n);

/// Row r of out = row r of y + a[r] x[r]; out may be y.
void add_scaled_rows(const double* a, const void* const* x, const double* y, Index y_stride, Index rows, Index n,
                     double* out, Index out_stride);
void add_scaled_rows(const double* a, const void* const* x, const float* y, Index y_stride, Index rows, Index n,
                     float* out, Index out_stride);

/// out += a (x - y)
void add_difference(double a, const double* x, const double* y, double* out, Index n);
void add_difference(double a, const float* x, const float* y, float* out, Index n);

/// out = share x + (1 - share) out
void blend(double share, const double* x, double* out, Index n);
void blend(double share, const float* x, float* out, Index n);
void blend(double share, const float* x, double* out, Index n);

/// The following work element by element, in double for either number type, and round once: squares of small numbers
/// and sums over many iterations need that.
/// Moments of a gradient g = s h: m <- b1 m + (1 - b1) g, v <- b2 v + (1 - b2) g^2.
void moments(double b1, double b2, double s, const double* h, double* m, double* v, Index n);
void moments(double b1, double b2, double s, const float* h, float* m, float* v, Index n);

/// u <- b u + (1 - b) max(u, v)
void raise(double b, const double* v, double* u, Index n);
void raise(double b, const float* v, float* u, Index n);

/// out = x - a m / (sqrt(max(u, floor)) + shift); out may be x.
void scaled_step(double a, const double* m, const double* u, double floor, double shift, const double* x, double* out,
                 Index n);
void scaled_step(double a, const float* m, const float* u, double floor, double shift, const float* x, float* out,
                 Index n);

/// A vector folded to `folds` numbers: out[j] = sum of s_m x_m over m = j, j + folds, ..., in that order, in double,
/// with signs s. With random signs, the product of two folded vectors is on average that of the vectors.
inline constexpr Index folds = 8;
void fold(const double* x, const double* s, Index n, double* out);
void fold(const float* x, const float* s, Index n, double* out);

/// What else becomes of a row as it is made: row r of `into`, if there is any, <- (1 - share) times itself + share
/// times the row, with the bits of `blend`. With an earlier share, it first takes in that of the row that is
/// overwritten: a mean that takes in two rows at a time costs half of the memory traffic.
struct Blend {
  double share = 0;
  double* into = nullptr;
  Index stride = 0;
  double earlier_share = 0;
};
/// Row r of out, for each r in rows[0 .. count): sum over its entries of weight * x row slot.
void combine(const SparseView& a, const std::int32_t* rows, Index count, const double* x, Index x_stride, Index columns,
             double* out, Index out_stride, const Blend& also = {});
void combine(const SparseView& a, const std::int32_t* rows, Index count, const float* x, Index x_stride, Index columns,
             float* out, Index out_stride, const Blend& also = {});

/// Dot products of pairs of rows, x[r] . y[slot], in tiles of a few rows against a few others, which share what is
/// loaded. The code of a tile: its height and breadth, that many row numbers r, and that many slots. Its products
/// follow those of the tile before, row by row. The tiles of a panel are processed together, a piece of the columns at
/// a time. PairTiles makes panels.
inline constexpr int max_tile_height = 6;
inline constexpr int max_tile_breadth = 4;
struct PairPanel {
  const std::int32_t* begin = nullptr;
  const std::int32_t* end = nullptr;
};
void pairwise(const PairPanel& panel, const void* const* x, const void* const* y, Element element, Index columns,
              double* out);

/// How many points `products` handles at once, if not twice as many; `points` is a multiple of it.
inline constexpr Index product_tile = 8;

/// out(r, p) = sum_j h(r, j) wt(j, p), for each element one chain of fused multiply-adds in order of j, in double. wt
/// is columns x points, points a multiple of product_tile.
void products(const double* h, Index h_stride, Index rows, const double* wt, Index wt_stride, Index points,
              Index columns, double* out, Index out_stride);
void products(const float* h, Index h_stride, Index rows, const double* wt, Index wt_stride, Index points,
              Index columns, double* out, Index out_stride);

/// out[r * blocks + c] = x[r] . (block c of y), for `rows` rows and the `blocks` consecutive blocks of n numbers in y,
/// with no zeros between them: the whole lines of a block as in `dot`, the rest after them in order, in double. Takes
/// several rows at a time, which share what is loaded of y.
void block_dots(const double* const* x, Index rows, const double* y, Index blocks, Index n, double* out);
void block_dots(const float* const* x, Index rows, const float* y, Index blocks, Index n, double* out);

/// The reverse: block c of out += sum_r a[r * blocks + c] x[r], rows in order.
void add_blocks(const double* a, const double* const* x, Index rows, Index blocks, Index n, double* out);
void add_blocks(const double* a, const float* const* x, Index rows, Index blocks, Index n, float* out);

/// Symmetric and triangular matrices are handled in strips of so many columns, row after row with no gaps.
inline constexpr Index strip = 32;

/// out(c, l) += a(j, l) x[j][c] for l < strip, j = 0 .. samples in order, products rounded before they are added. a and
/// out are strips of `samples` and `columns` rows.
void add_squares(const double* a, const double* const* x, Index samples, Index columns, double* out);
void add_squares(const double* a, const float* const* x, Index samples, Index columns, double* out);

/// out(t, l) -= a(r, t) b(r, l) for l < strip, r = 0 .. count in order, products rounded before they are subtracted. b
/// and out are strips of `count` and `rows` rows; out may follow b.
void subtract_products(const double* a, Index a_stride, const double* b, Index count, double* out, Index rows);

/// x = x / a
void divide(double a, double* x, Index n);

/// out = (out + a x) + b y, products rounded before they are added
void add_two(double a, const double* x, double b, const double* y, double* out, Index n);

}  // namespace polyhop::kernels
