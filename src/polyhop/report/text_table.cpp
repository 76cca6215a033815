// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/text_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <ranges>
#include <span>
#include <utility>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

constexpr Index gap = 2;          // blanks between columns
constexpr Index least_text = 9;   // of a column of texts, while numbers are whole
constexpr Index least_width = 4;  // of a column that is cut
constexpr std::string_view ellipsis = "\u2026";

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Blocks of wide characters: coarse, but right for texts that people write.
constexpr std::array<Range, 11> wide = {{{0x1100, 0x115f},
                                         {0x2e80, 0x303e},
                                         {0x3041, 0xa4cf},
                                         {0xa960, 0xa97f},
                                         {0xac00, 0xd7a3},
                                         {0xf900, 0xfaff},
                                         {0xfe30, 0xfe6f},
                                         {0xff00, 0xff60},
                                         {0xffe0, 0xffe6},
                                         {0x1f300, 0x1faff},
                                         {0x20000, 0x3fffd}}};
constexpr std::array<Range, 6> combining = {
    {{0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}}};
// C0 and C1 controls, invisible characters, line separators, changes of direction, byte order mark.
constexpr std::array<Range, 7> harmful = {{{0x00, 0x1f},
                                           {0x7f, 0x9f},
                                           {0x061c, 0x061c},
                                           {0x200b, 0x200f},
                                           {0x2028, 0x202e},
                                           {0x2060, 0x206f},
                                           {0xfeff, 0xfeff}}};

bool holds(std::span<const Range> ranges, std::uint32_t c) {
  return std::any_of(ranges.begin(), ranges.end(), [c](const Range& r) { return c >= r.first && c <= r.last; });
}

/// One character of a text: its code point and its bytes; `valid` is false for a byte that is not UTF-8.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = true;
};

Character character_at(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  const std::uint32_t first = byte(i);
  if (first < 0x80) return {first, 1, true};
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0) return {first, 1, false};
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xc0U) != 0x80) return {first, 1, false};
    code = (code << 6) | (byte(i + k) & 0x3fU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (overlong || surrogate || code > 0x10ffff) return {first, 1, false};
  return {code, length, true};
}

Index width_of(std::uint32_t code) { return holds(combining, code) ? 0 : holds(wide, code) ? 2 : 1; }

std::string escape(const Character& c) {
  if (c.valid && c.code == '\n') return "\\n";
  if (c.valid && c.code == '\r') return "\\r";
  if (c.valid && c.code == '\t') return "\\t";
  static constexpr const char* digits = "0123456789abcdef";
  const bool is_byte = !c.valid || c.code < 0x80;
  std::string out = is_byte ? "\\x" : "\\u";
  for (int shift = is_byte ? 4 : 12; shift >= 0; shift -= 4) out += digits[(c.code >> shift) & 15U];
  return out;
}

std::string blanks(Index count) { return std::string(std::max<Index>(count, 0), ' '); }

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    if (!c.valid || holds(harmful, c.code)) {
      out += escape(c);
    } else {
      out += text.substr(i, c.bytes);
    }
    i += c.bytes;
  }
  return out;
}

Index display_width(std::string_view text) {
  Index width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    width += width_of(c.code);
    i += c.bytes;
  }
  return width;
}

std::string shortened(std::string_view text, Index width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= 0) return "";
  Index used = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const Character c = character_at(text, end);
    if (used + width_of(c.code) > width - 1) break;
    used += width_of(c.code);
    end += c.bytes;
  }
  return std::string(text.substr(0, end)).append(ellipsis);
}

std::vector<std::string> wrapped(std::string_view text, Index width) {
  std::vector<std::string> out;
  while (width > 0 && display_width(text) > width) {
    Index used = 0;
    std::size_t end = 0;
    std::size_t blank = std::string_view::npos;
    while (end < text.size()) {
      const Character c = character_at(text, end);
      if (c.code == ' ' && end > 0) blank = end;
      if (used + width_of(c.code) > width && end > 0) break;
      used += width_of(c.code);
      end += c.bytes;
    }
    if (blank == std::string_view::npos) blank = end;
    out.emplace_back(text.substr(0, blank));
    text.remove_prefix(blank);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  if (!text.empty() || out.empty()) out.emplace_back(text);
  return out;
}

std::string significant(double x, int digits) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  if (x == 0) return "0";  // no "-0"
  std::array<char, 64> buffer{};
  const int precision = std::clamp(digits, 1, 17);
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), x, std::chars_format::general, precision);
  return {buffer.data(), result.ptr};
}

std::string number(double x, int digits) {
  static constexpr std::array<const char*, 5> suffixes = {"", "k", "M", "G", "T"};
  const int kept = std::max(digits, 3);
  double scaled = x;
  for (const char* suffix : suffixes) {
    // Rounding may carry 999.9 over to the next suffix.
    const double half_a_digit = 0.5 * std::pow(10.0, 3 - kept);
    if (std::abs(scaled) < 1000.0 - half_a_digit) return significant(scaled, kept) + suffix;
    scaled /= 1000.0;
  }
  return significant(x, kept);
}

std::string amount(double x) { return std::isfinite(x) ? number(x, 3) : "-"; }

TextTable::TextTable(std::vector<Column> columns) {
  for (const Column& column : columns) {
    headers_.push_back(printable(column.header));
    aligns_.push_back(column.align);
  }
}

void TextTable::add(std::vector<std::string> cells) {
  if (cells.size() > headers_.size()) {
    throw Error("a row of " + std::to_string(cells.size()) + " cells in a table of " + std::to_string(headers_.size()) +
                " columns");
  }
  cells.resize(headers_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

Index TextTable::longest_word(std::size_t column) const {
  Index out = display_width(headers_[column]);
  for (const auto& row : rows_) {
    for (const auto word : std::views::split(row[column], ' ')) {
      out = std::max(out, display_width(std::string_view(word.begin(), word.end())));
    }
  }
  return out;
}

std::vector<Index> TextTable::widths(Index total) const {
  std::vector<Index> out;
  for (std::size_t j = 0; j < headers_.size(); ++j) {
    Index width = display_width(headers_[j]);
    for (const auto& row : rows_) width = std::max(width, display_width(row[j]));
    out.push_back(width);
  }
  if (total <= 0 || out.empty()) return out;
  const Index room = total - gap * (static_cast<Index>(out.size()) - 1);
  const auto narrow = [&](auto least) {
    while (std::accumulate(out.begin(), out.end(), Index{0}) > room) {
      Index* widest = nullptr;
      for (std::size_t j = 0; j < out.size(); ++j) {
        if (out[j] > least(j) && (widest == nullptr || out[j] > *widest)) widest = &out[j];
      }
      if (widest == nullptr) return;
      --*widest;
    }
  };
  const auto texts = [&](auto least) {
    narrow([&, least](std::size_t j) { return aligns_[j] == Align::left ? least(j) : total; });
  };
  texts([&](std::size_t j) { return std::max(least_text, longest_word(j)); });
  texts([](std::size_t) { return least_text; });
  narrow([](std::size_t) { return least_width; });
  return out;
}

// A row as one or more lines: texts on the left are wrapped.
std::vector<std::vector<std::string>> TextTable::lines_of(const std::vector<std::string>& row,
                                                          const std::vector<Index>& widths) const {
  std::vector<std::vector<std::string>> out(1, std::vector<std::string>(row.size()));
  for (std::size_t j = 0; j < row.size(); ++j) {
    const auto parts = aligns_[j] == Align::left ? wrapped(row[j], widths[j]) : std::vector{row[j]};
    if (parts.size() > out.size()) out.resize(parts.size(), std::vector<std::string>(row.size()));
    for (std::size_t n = 0; n < parts.size(); ++n) out[n][j] = parts[n];
  }
  return out;
}

std::string TextTable::line(const std::vector<std::string>& cells, const std::vector<Index>& widths) const {
  std::string out;
  for (std::size_t j = 0; j < cells.size(); ++j) {
    const std::string cell = shortened(cells[j], widths[j]);
    const std::string fill = blanks(widths[j] - display_width(cell));
    if (j > 0) out += blanks(gap);
    out += aligns_[j] == Align::right ? fill + cell : cell + fill;
  }
  return trimmed(std::move(out));
}

std::string TextTable::text(Index width) const {
  const std::vector<Index> column_widths = widths(width);
  std::vector<std::string> rule;
  for (const Index w : column_widths) rule.emplace_back(static_cast<std::size_t>(w), '-');
  std::string out;
  const auto put = [&](const std::vector<std::string>& cells) {
    const std::string whole = line(cells, column_widths);
    out += (width > 0 ? shortened(whole, width) : whole) + "\n";
  };
  const auto put_row = [&](const std::vector<std::string>& row) {
    for (const auto& cells : lines_of(row, column_widths)) put(cells);
  };
  put_row(headers_);
  put(rule);
  for (const auto& row : rows_) put_row(row);
  return out;
}

}  // namespace polyhop
