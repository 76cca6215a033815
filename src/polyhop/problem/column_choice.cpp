// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/column_choice.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

// Columns first to last, counted from 1.
using ColumnRange = std::pair<std::size_t, std::size_t>;

std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t number = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || at != text.data() + text.size()) return {};
  return number;
}

// "4" or "3-7"
std::optional<ColumnRange> range_of(std::string_view text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  const auto first = whole_number(text.substr(0, dash));
  const auto last = dash == text.size() ? first : whole_number(text.substr(dash + 1));
  if (!first || !last) return {};
  return ColumnRange{*first, *last};
}

class ColumnFinder {
 public:
  ColumnFinder(const std::vector<std::string>& names, std::size_t count) : names_(names), count_(count) {}

  // Marks the columns of an entry; false if it is a name that the table does not have. A name comes first, because it
  // may read as a number.
  [[nodiscard]] bool mark(const std::string& entry, const char* key, std::vector<bool>& marks) const {
    bool named = false;
    for (std::size_t c = 0; c < names_.size(); ++c) {
      if (names_[c] == entry) named = marks[c] = true;
    }
    if (named) return true;
    const auto range = range_of(entry);
    if (!range) return false;
    const auto [first, last] = *range;
    if (first < 1 || last < first || last > count_) {
      throw InputError(std::string("problem.") + key, "found '" + entry + "', expected column numbers from 1 to " +
                                                          std::to_string(count_) + ", such as 3 or 3-7");
    }
    std::fill(marks.begin() + static_cast<std::ptrdiff_t>(first - 1), marks.begin() + static_cast<std::ptrdiff_t>(last),
              true);
    return true;
  }

  [[noreturn]] void refuse(const std::string& entry, const char* key) const {
    throw InputError(std::string("problem.") + key,
                     "there is no column '" + entry + "'" +
                         (names_.empty() ? "; without a header, columns go by number, 1 to " + std::to_string(count_)
                                         : by_number(entry) + suggestion(entry, names_, "its columns")));
  }

  // Advice for a piece of a name with a comma, which a list cannot hold.
  [[nodiscard]] std::string by_number(const std::string& piece) const {
    for (std::size_t c = 0; c < names_.size(); ++c) {
      if (names_[c].find(',') == std::string::npos || !std::ranges::count(listed(names_[c]), piece)) continue;
      return "; a column with a comma in its name goes by number: '" + names_[c] + "' is " + std::to_string(c + 1);
    }
    return "";
  }

 private:
  const std::vector<std::string>& names_;
  std::size_t count_;
};

ChosenColumns nothing_chosen(const ColumnChoice& choice, std::size_t count) {
  const bool some = !choice.columns.empty();
  return {std::vector<bool>(count, !some), std::vector<bool>(count), some, choice.by_flags};
}

}  // namespace

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string_view entry = text.substr(begin, end - begin);
    while (entry.starts_with(' ')) entry.remove_prefix(1);
    while (entry.ends_with(' ')) entry.remove_suffix(1);
    if (!entry.empty()) out.emplace_back(entry);
    begin = end + 1;
  }
  return out;
}

std::string shell_word(const std::string& text) {
  if (!text.empty() && text.find_first_of(" '\"`\\!#~$&()[]{}<>;|*?\t\n") == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string setting(const ColumnChoice& choice, const std::string& key, const std::string& value) {
  return choice.by_flags ? "--" + key + " " + shell_word(value) : key + " = \"" + value + "\"";
}

std::size_t ChosenColumns::last() const {
  for (std::size_t c = dropped.size(); c > 0; --c) {
    if (!dropped[c - 1]) return c - 1;
  }
  return none;
}

std::vector<bool> ChosenColumns::features(std::size_t target, bool named) const {
  if (target != none && dropped[target]) {
    throw InputError("problem.target", "is a column that is also dropped, or the id: choose another");
  }
  if (target != none && some && !named && chosen[target]) {
    throw InputError("problem.columns", "has column " + std::to_string(target + 1) +
                                            " in it, the last, which is the target unless you name one: " +
                                            (by_flags ? "--target" : "target = ..."));
  }
  std::vector<bool> out(chosen.size());
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = c != target && may_be_feature(c);
  return out;
}

ChosenColumns choose_columns(const ColumnChoice& choice, const std::vector<std::string>& names, std::size_t count,
                             bool may_lack) {
  const ColumnFinder finder(names, count);
  ChosenColumns out = nothing_chosen(choice, count);
  for (const std::string& entry : choice.columns) {
    if (!finder.mark(entry, "columns", out.chosen)) finder.refuse(entry, "columns");
  }
  for (const std::string& entry : choice.drop) {
    if (finder.mark(entry, "drop", out.dropped)) continue;
    if (!may_lack) finder.refuse(entry, "drop");
    out.unknown.push_back(entry);
  }
  if (choice.id.empty()) return out;
  std::vector<bool> id(count);
  if (finder.mark(choice.id, "id", id)) {
    out.id = static_cast<std::size_t>(std::ranges::find(id, true) - id.begin());
    for (std::size_t c = 0; c < count; ++c) out.dropped[c] = out.dropped[c] || id[c];
  } else if (may_lack) {
    out.unknown.push_back(choice.id);
  } else {
    finder.refuse(choice.id, "id");
  }
  return out;
}

ChosenColumns choose_by_number(const ColumnChoice& choice, std::size_t count) {
  const std::vector<std::string> nameless;
  const ColumnFinder finder(nameless, count);
  ChosenColumns out = nothing_chosen(choice, count);
  const auto mark = [&](const std::string& entry, const char* key, std::vector<bool>& marks) {
    const auto range = range_of(entry);
    if (!range || range->first < 1 || range->second > count) return false;
    return finder.mark(entry, key, marks);
  };
  bool all = true;
  for (const std::string& entry : choice.columns) all = mark(entry, "columns", out.chosen) && all;
  if (!all) out.chosen.assign(count, true);  // a name may stand for any column
  for (const std::string& entry : choice.drop) (void)mark(entry, "drop", out.dropped);
  if (!choice.id.empty()) (void)mark(choice.id, "id", out.dropped);
  return out;
}

PlacedColumns place_columns(const LearnedColumns& learned, std::size_t count, std::size_t target, bool needs_target) {
  const auto width = static_cast<std::size_t>(learned.width);
  const auto learned_target = static_cast<std::size_t>(learned.target);  // from 1
  const bool named = target != ChosenColumns::none;
  PlacedColumns out{std::vector<bool>(count), target};
  if (count == width) {
    if (!named && learned.target > 0) out.target = learned_target - 1;
    for (const Index number : learned.features) out.is_feature[number - 1] = true;
    if (out.target != ChosenColumns::none) out.is_feature[out.target] = false;
    return out;
  }
  const std::size_t others = count - (named ? 1 : 0);
  if (others == learned.features.size() && (named || !needs_target || learned.target == 0)) {
    for (std::size_t c = 0; c < count; ++c) out.is_feature[c] = c != target;
    return out;
  }
  if (!needs_target && !named && learned.target > 0 && count + 1 == width) {
    for (const Index number : learned.features) {
      out.is_feature[number - (number > learned.target ? 2 : 1)] = true;
    }
    return out;
  }
  throw InputError("", "has " + std::to_string(count) + (count == 1 ? " column" : " columns") +
                           "; the model was trained on a table of " + std::to_string(learned.width) +
                           " columns without names; give it a table like that, or one with the " +
                           std::to_string(learned.features.size()) + " features alone" +
                           (needs_target ? " and the target, named with --target" : ""));
}

}  // namespace polyhop
