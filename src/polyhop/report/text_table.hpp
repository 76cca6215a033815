// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// A text from outside made harmless for a terminal: control characters, bytes that are not UTF-8 and characters that
/// turn the direction of writing are shown as escapes (\n, \x1b, \u202e); everything else stays.
std::string printable(std::string_view text);

/// The number of terminal columns of a printable text in UTF-8: two for East Asian wide characters and emoji, none for
/// combining marks, one for any other.
Index display_width(std::string_view text);

/// The beginning of a printable text, in at most `width` columns, with "…" as its last when something was cut off.
std::string shortened(std::string_view text, Index width);

/// A printable text in lines of at most `width` columns, broken at blanks, and inside words that are longer than that.
/// Nothing is lost but the blanks at the breaks; 0 is no limit. At least one line.
std::vector<std::string> wrapped(std::string_view text, Index width);

/// `x` with at most `digits` significant digits: 1.23e-07, 0.00123, 587, 1.23e+04, inf, nan.
std::string significant(double x, int digits);

/// The same for counts and sizes, with k, M, G, T from a thousand on: 587, 12.3k, 4.56M. `digits` >= 3.
std::string number(double x, int digits);

/// `number` with three digits, "-" for what is not finite.
std::string amount(double x);

/// A table for the terminal: headers, a rule, rows; columns stand two blanks apart, no line ends in blanks.
/// Cells are made printable, so they may come from anywhere.
class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string header;
    Align align = Align::left;
  };

  explicit TextTable(std::vector<Column> columns);

  /// A row; cells that are left out stay empty. Throws Error on more cells than columns.
  void add(std::vector<std::string> cells);
  [[nodiscard]] Index rows() const { return static_cast<Index>(rows_.size()); }

  /// The table, each line ended by '\n'. With `width` > 0 no line is wider: texts on the left go on in lines below, the
  /// widest columns first and words whole if possible; numbers on the right are cut only where that is not enough.
  [[nodiscard]] std::string text(Index width = 0) const;

 private:
  [[nodiscard]] Index longest_word(std::size_t column) const;
  [[nodiscard]] std::vector<Index> widths(Index total) const;
  [[nodiscard]] std::string line(const std::vector<std::string>& cells, const std::vector<Index>& widths) const;
  [[nodiscard]] std::vector<std::vector<std::string>> lines_of(const std::vector<std::string>& row,
                                                               const std::vector<Index>& widths) const;

  std::vector<Align> aligns_;
  std::vector<std::string> headers_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace polyhop
