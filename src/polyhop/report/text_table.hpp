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

/// Untrusted text made harmless for a terminal: control characters, bytes that are not UTF-8 and characters that change
/// the writing direction are shown as escapes (\n, \x1b, \u202e); everything else stays.
std::string printable(std::string_view text);

/// The number of terminal columns of a printable text in UTF-8: two for East Asian wide characters and emoji, none for
/// combining marks, one for any other.
Index display_width(std::string_view text);

/// The beginning of a printable text, in at most `width` columns, the last of them "…" if something was cut off.
std::string shortened(std::string_view text, Index width);

/// A printable text in lines of at most `width` columns (0: no limit), broken at blanks, and inside words that are
/// longer than that. Only the blanks at the breaks are lost. Lines after the first are indented. At least one line.
std::vector<std::string> wrapped(std::string_view text, Index width, Index indent = 0);

/// The same for a message that holds names and paths: it is broken only at blanks, not inside quotes ('a name', "text",
/// `a command`) or the texts in `whole`. So a line may be wider if a name needs it.
std::vector<std::string> wrapped_message(std::string_view text, Index width, Index indent = 0,
                                         std::span<const std::string> whole = {});

/// The lines of `wrapped` as text, each ended by '\n'. Line breaks in the text stay.
std::string paragraph(std::string_view text, Index width, Index indent = 0);

/// How text stands out on a terminal.
enum class Ink { bold, dim, good, warning, bad };
std::string colored(const std::string& text, Ink ink);

/// `x` with at most `digits` significant digits: 1.23e-07, 0.00123, 587, 1.23e+04, inf, nan. Numbers below 1000 have
/// all digits before the point, even if those are more: 587, not 5.9e+02.
std::string significant(double x, int digits);

/// The same for counts and sizes, with k, M, G, T from 1000 on: 587, 12.3k, 4.56M. `digits` >= 3.
std::string number(double x, int digits);

/// `number` with three digits, "-" if it is not finite.
std::string amount(double x);

/// A table for the terminal: headers, a rule, rows; columns are two blanks apart, no line ends in blanks. Cells are
/// made printable, so they may be untrusted.
class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string header;
    Align align = Align::left;
    bool beside = false;  // always in the same table as the column before it
    bool below = false;   // of the last one: its texts stand below their rows where they would take many lines
  };

  explicit TextTable(std::vector<Column> columns);

  /// Adds a row; missing cells stay empty. Throws Error if there are more cells than columns.
  void add(std::vector<std::string> cells, std::optional<Ink> ink = {});
  [[nodiscard]] Index rows() const { return static_cast<Index>(rows_.size()); }

  /// The table, each line ended by '\n'. With `width` > 0, no line is wider: texts and headers are wrapped, words
  /// whole, so that rows take few lines. The first text, which names the row, is wrapped last. Columns without room
  /// follow in a table below, which repeats the columns up to the first text. Names and numbers are broken only if one
  /// of them alone is too wide. In colour, headers are bold and rows have their ink.
  [[nodiscard]] std::string text(Index width = 0, bool color = false) const;

 private:
  using Columns = std::vector<std::size_t>;
  struct Row {
    std::vector<std::string> cells;
    std::optional<Ink> ink;
  };

  [[nodiscard]] Index natural(std::size_t column) const;
  [[nodiscard]] Index least(std::size_t column) const;
  [[nodiscard]] std::vector<Columns> panels(Columns all, Index total) const;
  [[nodiscard]] std::vector<Index> widths(const Columns& columns, Index total) const;
  [[nodiscard]] Index height(const Columns& columns, const std::vector<Index>& sizes) const;
  [[nodiscard]] bool takes_many_lines(const Columns& columns, Index width) const;
  [[nodiscard]] bool narrow_cheapest(const Columns& columns, std::vector<Index>& sizes) const;
  [[nodiscard]] std::string panel(const Columns& columns, Index width, bool color, bool remarks) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace polyhop
