// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/text_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
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

constexpr Index gap = 2;                  // blanks between columns
constexpr Index least_text = 9;           // of a column of texts that is wrapped
constexpr Index least_width = 4;          // of a column that is cut
constexpr std::size_t judged_rows = 200;  // of long tables: the first decide how wide columns are
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

Index longest_word(const std::string& text) {
  Index out = 0;
  for (const auto word : std::views::split(text, ' ')) {
    out = std::max(out, display_width(std::string_view(word.begin(), word.end())));
  }
  return out;
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

std::vector<std::string> wrapped(std::string_view text, Index width, Index indent) {
  std::vector<std::string> out;
  const auto put = [&](std::string_view line) { out.push_back(blanks(out.empty() ? 0 : indent).append(line)); };
  const auto room = [&] { return out.empty() ? width : std::max<Index>(1, width - indent); };
  while (width > 0 && display_width(text) > room()) {
    Index used = 0;
    std::size_t end = 0;
    std::size_t blank = std::string_view::npos;
    while (end < text.size()) {
      const Character c = character_at(text, end);
      if (c.code == ' ' && end > 0) blank = end;
      if (used + width_of(c.code) > room() && end > 0) break;
      used += width_of(c.code);
      end += c.bytes;
    }
    if (blank == std::string_view::npos) blank = end;
    put(text.substr(0, blank));
    text.remove_prefix(blank);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  if (!text.empty() || out.empty()) put(text);
  return out;
}

namespace {

// Stands for a blank at which a line is not broken. No printable text holds it.
constexpr char kept_blank = '\x1f';

void keep_blanks(std::string& text, std::size_t first, std::size_t last) {
  std::replace(text.begin() + static_cast<std::ptrdiff_t>(first), text.begin() + static_cast<std::ptrdiff_t>(last), ' ',
               kept_blank);
}

// Inside quotes. An apostrophe is none: an opening quote has no letter before it, a closing one none after it.
void keep_quoted(std::string& text) {
  const auto is_letter = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0);
  };
  for (std::size_t first = 0; first < text.size(); ++first) {
    const char quote = text[first];
    if ((quote != '\'' && quote != '"' && quote != '`') || (first > 0 && is_letter(first - 1))) continue;
    std::size_t last = text.find(quote, first + 1);
    while (last != std::string::npos && is_letter(last + 1)) last = text.find(quote, last + 1);
    if (last == std::string::npos) continue;
    keep_blanks(text, first, last);
    first = last;
  }
}

}  // namespace

std::vector<std::string> wrapped_message(std::string_view text, Index width, Index indent,
                                         std::span<const std::string> whole) {
  std::string kept(text);
  for (const std::string& name : whole) {
    if (name.empty()) continue;
    for (std::size_t at = kept.find(name); at != std::string::npos; at = kept.find(name, at + name.size())) {
      keep_blanks(kept, at, at + name.size());
    }
  }
  keep_quoted(kept);
  std::vector<std::string> out;
  for (const auto part : std::views::split(kept, ' ')) {
    const std::string_view word(part.begin(), part.end());
    const bool fits = !out.empty() && display_width(out.back()) + 1 + display_width(word) <= width;
    if (out.empty()) {
      out.emplace_back(word);
    } else if (fits || width == 0) {
      out.back().append(" ").append(word);
    } else {
      out.push_back(blanks(indent).append(word));
    }
  }
  for (std::string& line : out) std::ranges::replace(line, kept_blank, ' ');
  return out;
}

std::string paragraph(std::string_view text, Index width, Index indent) {
  if (text.empty()) return "\n";
  std::string out;
  for (const auto part : std::views::split(text, '\n')) {
    for (const auto& line : wrapped(std::string_view(part.begin(), part.end()), width, indent)) out += line + "\n";
  }
  return out;
}

std::string colored(const std::string& text, Ink ink) {
  static constexpr std::array<const char*, 5> codes = {"\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[31m"};
  return codes[static_cast<std::size_t>(ink)] + text + "\033[0m";
}

std::string significant(double x, int digits) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  if (x == 0) return "0";  // no "-0"
  std::array<char, 64> buffer{};
  const double size = std::abs(x);
  const int before_point = size < 9.5 || size >= 999.5 ? 1 : size < 99.5 ? 2 : 3;
  const int precision = std::clamp(digits, before_point, 17);
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

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.header = printable(column.header);
}

void TextTable::add(std::vector<std::string> cells, std::optional<Ink> ink) {
  if (cells.size() > columns_.size()) {
    throw Error("a row of " + std::to_string(cells.size()) + " cells in a table of " + std::to_string(columns_.size()) +
                " columns");
  }
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back({std::move(cells), ink});
}

// The width of a column where nothing is wrapped.
Index TextTable::natural(std::size_t column) const {
  Index out = display_width(columns_[column].header);
  for (const Row& row : rows_) out = std::max(out, display_width(row.cells[column]));
  return out;
}

// The width with which every word and number of a column is whole, and texts can be read.
Index TextTable::least(std::size_t column) const {
  Index out = longest_word(columns_[column].header);
  const bool is_text = columns_[column].align == Align::left;
  for (const Row& row : rows_) {
    out = std::max(out, is_text ? longest_word(row.cells[column]) : display_width(row.cells[column]));
  }
  return is_text ? std::max(out, std::min(natural(column), least_text)) : out;
}

// Which columns stand in which of the tables, one below the other.
std::vector<TextTable::Columns> TextTable::panels(Columns all, Index total) const {
  const auto first_text = std::ranges::find(columns_, Align::left, &Column::align) - columns_.begin();
  const auto fits = [&](const Columns& columns, Index name) {
    Index sum = -gap;
    for (const std::size_t j : columns) sum += gap + (static_cast<Index>(j) == first_text ? name : least(j));
    return sum <= total;
  };
  if (total <= 0 || first_text == std::ssize(all) || fits(all, least(first_text))) return {all};
  // Where there are several tables anyway, one more costs less than names in many lines.
  const Index name = std::max(least(first_text), std::min(natural(first_text), total / 2));
  const Columns keys(all.begin(), all.begin() + first_text + 1);
  std::vector<Columns> out = {keys};
  for (std::size_t j = keys.size(); j < all.size();) {
    std::size_t end = j + 1;
    while (end < all.size() && columns_[end].beside) ++end;
    Columns longer = out.back();
    longer.insert(longer.end(), all.begin() + static_cast<Index>(j), all.begin() + static_cast<Index>(end));
    if (fits(longer, name) || out.back().size() == keys.size()) {
      out.back() = std::move(longer);
    } else {
      out.push_back(keys);
      out.back().insert(out.back().end(), all.begin() + static_cast<Index>(j), all.begin() + static_cast<Index>(end));
    }
    j = end;
  }
  return out;
}

std::vector<Index> TextTable::widths(const Columns& columns, Index total) const {
  std::vector<Index> out;
  for (const std::size_t j : columns) out.push_back(natural(j));
  if (total <= 0 || out.empty()) return out;
  const Index room = total - gap * (std::ssize(out) - 1);
  const auto narrow = [&](auto least_of) {
    while (std::accumulate(out.begin(), out.end(), Index{0}) > room) {
      Index* widest = nullptr;
      for (std::size_t n = 0; n < out.size(); ++n) {
        if (out[n] > least_of(columns[n]) && (widest == nullptr || out[n] > *widest)) widest = &out[n];
      }
      if (widest == nullptr) return;
      --*widest;
    }
  };
  // The first text names the row: it stays whole if others can make room for it and still be read.
  constexpr Index readable = 12;
  const auto name = std::ranges::find(columns_, Align::left, &Column::align) - columns_.begin();
  const auto beside_name = [&](std::size_t j) {
    if (static_cast<Index>(j) == name) return natural(j);
    return columns_[j].align == Align::left ? std::max(least(j), std::min(natural(j), readable)) : least(j);
  };
  Index needed = 0;
  for (const std::size_t j : columns) needed += beside_name(j);
  if (needed <= room) narrow(beside_name);
  while (std::accumulate(out.begin(), out.end(), Index{0}) > room && narrow_cheapest(columns, out)) {
  }
  narrow([&](std::size_t j) { return columns_[j].align == Align::left ? least_text : least(j); });
  narrow([](std::size_t) { return least_width; });
  return out;
}

// How many lines the headers and the first rows take with these widths.
Index TextTable::height(const Columns& columns, const std::vector<Index>& sizes) const {
  Index out = 1;
  for (std::size_t n = 0; n < columns.size(); ++n) {
    out = std::max(out, std::ssize(wrapped(columns_[columns[n]].header, sizes[n])));
  }
  for (const Row& row : std::span(rows_).first(std::min(rows_.size(), judged_rows))) {
    Index lines = 1;
    for (std::size_t n = 0; n < columns.size(); ++n) {
      if (columns_[columns[n]].align == Align::left) {
        lines = std::max(lines, std::ssize(wrapped(row.cells[columns[n]], sizes[n])));
      }
    }
    out += lines;
  }
  return out;
}

// Whether a text of the last column would be in more lines than it is easily read in.
bool TextTable::takes_many_lines(const Columns& columns, Index width) const {
  constexpr std::ptrdiff_t few = 2;
  const Index size = widths(columns, width).back();
  return std::ranges::any_of(rows_, [&](const Row& row) { return std::ssize(wrapped(row.cells.back(), size)) > few; });
}

// Takes a blank from the column whose texts then need the fewest lines more, the widest of several; false if every
// column is as narrow as its words.
bool TextTable::narrow_cheapest(const Columns& columns, std::vector<Index>& sizes) const {
  Index* best = nullptr;
  Index fewest = 0;
  for (std::size_t n = 0; n < columns.size(); ++n) {
    if (sizes[n] <= least(columns[n])) continue;
    --sizes[n];
    const Index lines = height(columns, sizes);
    ++sizes[n];
    const bool is_better = best == nullptr || lines < fewest || (lines == fewest && sizes[n] > *best);
    if (!is_better) continue;
    best = &sizes[n];
    fewest = lines;
  }
  if (best != nullptr) --*best;
  return best != nullptr;
}

// One table of some of the columns; `remarks`: with the texts of the last column of all below its rows.
std::string TextTable::panel(const Columns& columns, Index width, bool color, bool remarks) const {
  const std::vector<Index> sizes = widths(columns, width);
  std::string out;
  const auto put = [&](const std::vector<std::string>& cells, std::optional<Ink> ink) {
    std::string line;
    for (std::size_t n = 0; n < cells.size(); ++n) {
      const std::string cell = shortened(cells[n], sizes[n]);
      const std::string fill = blanks(sizes[n] - display_width(cell));
      if (n > 0) line += blanks(gap);
      line += columns_[columns[n]].align == Align::right ? fill + cell : cell + fill;
    }
    line = trimmed(std::move(line));
    if (width > 0) line = shortened(line, width);
    out += (color && ink && !line.empty() ? colored(line, *ink) : line) + "\n";
  };
  // Texts and headers wrap into more lines; numbers are whole, or cut where they alone are too wide.
  const auto put_wrapped = [&](auto text_of, bool header, std::optional<Ink> ink) {
    std::vector<std::vector<std::string>> lines(1, std::vector<std::string>(columns.size()));
    for (std::size_t n = 0; n < columns.size(); ++n) {
      const bool wraps = header || columns_[columns[n]].align == Align::left;
      const auto parts = wraps ? wrapped(text_of(columns[n]), sizes[n]) : std::vector{text_of(columns[n])};
      if (parts.size() > lines.size()) lines.resize(parts.size(), std::vector<std::string>(columns.size()));
      for (std::size_t i = 0; i < parts.size(); ++i) lines[i][n] = parts[i];
    }
    for (const auto& cells : lines) put(cells, ink);
  };
  put_wrapped([&](std::size_t j) { return columns_[j].header; }, true, Ink::bold);
  std::vector<std::string> rule;
  for (const Index size : sizes) rule.emplace_back(static_cast<std::size_t>(size), '-');
  put(rule, {});
  const auto name = std::ranges::find(columns, Align::left, [&](std::size_t j) { return columns_[j].align; });
  Index indent = 2;
  for (auto before = columns.begin(); before != name; ++before) indent += sizes[before - columns.begin()] + gap;
  for (const Row& row : rows_) {
    put_wrapped([&](std::size_t j) { return row.cells[j]; }, false, row.ink);
    if (!remarks || row.cells.back().empty()) continue;
    for (const std::string& line : wrapped(blanks(indent) + row.cells.back(), width, indent)) {
      out += (color && row.ink ? colored(line, *row.ink) : line) + "\n";
    }
  }
  return out;
}

std::string TextTable::text(Index width, bool color) const {
  Columns all(columns_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<Columns> parts = panels(all, width);
  const bool below = !all.empty() && columns_.back().below && (parts.size() > 1 || takes_many_lines(all, width));
  if (below) {
    all.pop_back();
    parts = panels(all, width);
  }
  std::string out;
  for (const Columns& columns : parts) {
    out += (out.empty() ? "" : "\n") + panel(columns, width, color, below && out.empty());
  }
  return out;
}

}  // namespace polyhop
