// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
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
/// Nothing is lost but the blanks at the breaks; 0 is no limit. Lines after the first are indented. At least one line.
std::vector<std::string> wrapped(std::string_view text, Index width, Index indent = 0);

/// The same for a message that holds names and paths: it is broken at blanks alone, and not inside quotes ('a name',
/// "text", `a command`), nor inside what `whole` lists. So a line may be wider, if that is what a name takes.
std::vector<std::string> wrapped_message(std::string_view text, Index width, Index indent = 0,
                                         std::span<const std::string> whole = {});

/// The lines of `wrapped` as text, each ended by '\n'. Line breaks in the text stay.
std::string paragraph(std::string_view text, Index width, Index indent = 0);

/// How a piece of our text stands out on a terminal.
enum class Ink { bold, dim, good, warning, bad };
std::string colored(const std::string& text, Ink ink);

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
    bool beside = false;  // never parted from the column before it
  };

  explicit TextTable(std::vector<Column> columns);

  /// A row; cells that are left out stay empty. Throws Error on more cells than columns.
  void add(std::vector<std::string> cells, std::optional<Ink> ink = {});
  [[nodiscard]] Index rows() const { return static_cast<Index>(rows_.size()); }

  /// The table, each line ended by '\n'. With `width` > 0 no line is wider: texts and headers go on in lines below, the
  /// widest columns first and words whole; columns that have no room then follow in a table below, with the columns up
  /// to the first text, which say what a row is about, repeated. Names and numbers are broken only where one of them
  /// alone is too wide. In colour, headers are bold and rows have their ink.
  [[nodiscard]] std::string text(Index width = 0, bool color = false) const;

 private:
  using Columns = std::vector<std::size_t>;
  struct Row {
    std::vector<std::string> cells;
    std::optional<Ink> ink;
  };

  [[nodiscard]] Index natural(std::size_t column) const;
  [[nodiscard]] Index least(std::size_t column) const;
  [[nodiscard]] std::vector<Columns> panels(Index total) const;
  [[nodiscard]] std::vector<Index> widths(const Columns& columns, Index total) const;
  [[nodiscard]] std::string panel(const Columns& columns, Index width, bool color) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace polyhop
