// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/csv_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/problem/byte_source.hpp"
#include "polyhop/problem/kept_rows.hpp"
#include "polyhop/problem/target_column.hpp"

namespace polyhop {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_number(std::string_view text) {
  double ignored = 0;
  return parse_number(text, ignored);
}

/// A cell that stands for a missing value, in any case.
bool is_missing(std::string_view text) {
  if (text.size() > 4) return false;
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower.empty() || lower == "na" || lower == "n/a" || lower == "nan" || lower == "null" || lower == "?";
}

/// "1,5", which many countries write for 1.5.
bool is_decimal_comma(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return false;
  std::string pointed(text);
  pointed[comma] = '.';
  return is_number(pointed);
}

/// The separator that occurs most often outside quotes.
char guessed_separator(std::string_view line) {
  constexpr std::string_view separators = ",;\t";
  std::size_t counts[separators.size()] = {};
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    const std::size_t which = separators.find(c);
    if (!quoted && which != std::string_view::npos) ++counts[which];
  }
  return separators[std::max_element(counts, counts + separators.size()) - counts];
}

/// The records of a CSV file and their cells, without quotes and the blanks around them.
class Records {
 public:
  explicit Records(const std::string& file) : lines_(file) {}

  /// Skips blank lines; false at the end.
  bool next() {
    std::string_view record;
    do {
      if (!lines_.next(record)) return false;
    } while (trimmed(record).empty());
    quoted_ = record.find('"') != std::string_view::npos;
    if (quoted_) complete(record);
    if (separator_ == '\0') separator_ = guessed_separator(record);
    quoted_ ? split_quoted(record) : split(record);
    return true;
  }

  [[nodiscard]] const MeteredVector<std::string_view>& cells() const { return cells_; }
  [[nodiscard]] Index number() const { return lines_.number(); }
  [[noreturn]] void refuse(const std::string& message) const { lines_.refuse(message); }

 private:
  /// Completes a record: a quoted cell may continue on the next line.
  void complete(std::string_view& record) {
    std::size_t quotes = 0;
    std::size_t seen = 0;
    for (;;) {
      quotes +=
          static_cast<std::size_t>(std::count(record.begin() + static_cast<std::ptrdiff_t>(seen), record.end(), '"'));
      seen = record.size();
      if (quotes % 2 == 0) return;
      if (!lines_.extend(record)) lines_.refuse("a quotation mark that is never closed");
    }
  }

  void split(std::string_view record) {
    cells_.clear();
    const char* at = record.data();
    const char* end = at + record.size();
    for (;;) {
      const void* found = std::memchr(at, separator_, static_cast<std::size_t>(end - at));
      const char* stop = found == nullptr ? end : static_cast<const char*>(found);
      cells_.push_back(trimmed({at, stop}));
      if (found == nullptr) return;
      at = stop + 1;
    }
  }

  void split_quoted(std::string_view record) {
    cells_.clear();
    unquoted_.clear();
    unquoted_.reserve(record.size());  // so that views into it stay valid
    for (std::size_t at = 0;;) {
      while (at < record.size() && record[at] == ' ') ++at;
      std::size_t end = 0;
      if (at < record.size() && record[at] == '"') {
        end = take_quoted(record, at + 1);
      } else {
        end = std::min(record.find(separator_, at), record.size());
        cells_.push_back(trimmed(record.substr(at, end - at)));
        if (cells_.back().find('"') != std::string_view::npos) {
          lines_.refuse("a quotation mark inside " + shown(cells_.back()) + ", expected quotes around the whole cell");
        }
      }
      if (end == record.size()) return;
      at = end + 1;
    }
  }

  /// The quoted cell that begins at `at`; returns the position of its separator.
  std::size_t take_quoted(std::string_view record, std::size_t at) {
    const std::size_t begin = unquoted_.size();
    for (;; ++at) {
      const std::size_t quote = record.find('"', at);
      if (quote == std::string_view::npos) lines_.refuse("a quotation mark that is never closed");
      unquoted_.append(record.substr(at, quote - at));
      at = quote + 1;
      if (at == record.size() || record[at] != '"') break;
      unquoted_ += '"';
    }
    cells_.push_back(trimmed(std::string_view(unquoted_).substr(begin)));
    while (at < record.size() && record[at] == ' ') ++at;
    if (at < record.size() && record[at] != separator_) {
      lines_.refuse("text after the closing quote of " + shown(cells_.back()));
    }
    return at;
  }

  LineSource lines_;
  char separator_ = '\0';
  bool quoted_ = false;
  MeteredVector<std::string_view> cells_;
  std::string unquoted_;
};

/// 0, 1, 2, ... or 1, 2, 3, ...: names that a program gave to unnamed columns.
bool counts_up(const std::vector<std::string>& cells, std::size_t apart_from) {
  double previous = 0;
  bool first = true;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    double x = 0;
    if (c == apart_from) continue;
    if (!parse_number(cells[c], x) || (first ? x != 0 && x != 1 : x != previous + 1)) return false;
    previous = x;
    first = false;
  }
  return true;
}

/// Rows that come one by one, in a matrix that grows if it was made too small.
class GrowingRows {
 public:
  GrowingRows(Index expected, Index columns) : rows_(std::max<Index>(expected, 1), columns) {}

  std::span<double> add() {
    if (count_ == rows_.rows()) resize(2 * count_);
    return rows_.row(count_++);
  }
  Rows finish() {
    if (count_ != rows_.rows()) resize(count_);
    return std::move(rows_);
  }

 private:
  void resize(Index rows) {
    Rows other(rows, rows_.columns());
    std::copy_n(rows_.data(), count_ * rows_.stride(), other.data());
    swap(rows_, other);
  }

  Rows rows_;
  Index count_ = 0;
};

class CsvReader {
 public:
  CsvReader(const std::string& file, const DataFormat& options)
      : file_(file), options_(options), targets_(options.labels) {}

  DataTable read() {
    read_head();
    try {
      find_columns();
    } catch (const InputError& e) {
      throw e.in_file(file_);
    }
    const Index expected = expected_samples();
    KeptRows kept(options_);
    GrowingRows rows(kept.count(expected), check_features());
    std::vector<double> dropped(first_.size());
    if (options_.has_targets) targets_.reserve(expected);
    Records records(file_);
    if (has_header_) records.next();
    while (records.next()) {
      require_as_long(records);
      if (options_.skip_missing && lacks_value(records)) {
        ++skipped_;
        continue;
      }
      read_sample(records, kept.next() ? rows.add() : std::span<double>(dropped));
    }
    tell_unusable(kept.passed());
    if (kept.passed() == 0 && !options_.may_be_empty) {
      refuse(skipped_ > 0 ? "every row lacks a value" : "holds no samples, only a header");
    }
    DataTable out;
    out.skipped = skipped_;
    out.features = rows.finish();
    name_columns(out);
    out.ids = std::move(ids_);
    if (options_.has_targets) targets_.finish(out);
    return out;
  }

  /// The name of the target's column; empty if columns have no names.
  std::string target_name() {
    read_head();
    find_columns();
    return has_header_ && target_ != none ? first_[target_] : "";
  }

 private:
  [[noreturn]] void refuse(const std::string& message) const { throw InputError("", message, 0, file_); }

  /// The first two records show whether there is a header.
  void read_head() {
    Records records(file_);
    if (!records.next()) refuse("holds no samples");
    constexpr double bytes_a_column = 256;  // its name, its position, and the index from name to position
    columns_held_.add(bytes_a_column * static_cast<double>(records.cells().size()));
    first_.assign(records.cells().begin(), records.cells().end());
    std::vector<std::string> second;
    if (records.next()) {
      require_as_long(records);
      second.assign(records.cells().begin(), records.cells().end());
    }
    chosen_ = choose_by_number(options_.choice, first_.size());
    has_header_ = is_header(second);
  }

  void find_columns() {
    const std::vector<std::string> nameless;
    if (!by_learned_places()) {
      chosen_ = choose_columns(options_.choice, has_header_ ? first_ : nameless, first_.size(),
                               options_.may_lack_dropped || options_.with_ids);
      find_target();
      find_features();
      return;
    }
    const std::size_t named = options_.target.empty() ? none : target_place();
    if (!options_.target.empty() && named == none) refuse_target();
    PlacedColumns placed = place_columns(options_.learned, first_.size(), named, options_.has_targets);
    target_ = placed.target;
    is_feature_ = std::move(placed.is_feature);
    if (first_.size() == static_cast<std::size_t>(options_.learned.width)) {
      chosen_ = choose_columns(options_.choice, nameless, first_.size(), false);
    }
  }

  /// Whether the features keep their positions in the file that a model was trained on.
  [[nodiscard]] bool by_learned_places() const { return !options_.learned.empty(); }

  void require_as_long(const Records& records) const {
    const std::size_t found = records.cells().size();
    if (found == first_.size()) return;
    records.refuse("found " + std::to_string(found) + (found == 1 ? " cell" : " cells") + ", expected " +
                   std::to_string(first_.size()) + " as in the first line");
  }

  /// At least as many as there are, if the file can be counted quickly. A cell and its separator take at least two
  /// bytes, so empty lines cannot make memory grow without bound.
  [[nodiscard]] Index expected_samples() const {
    const TextCount most = count_text(file_);
    if (most.lines == 0) return 0;
    return static_cast<Index>(std::min(most.lines, most.bytes / (2 * first_.size()) + 1)) - (has_header_ ? 1 : 0);
  }

  /// Whether the first record names the columns: it contains a word, other than the label of a sample.
  [[nodiscard]] bool is_header(const std::vector<std::string>& second) const {
    const auto is_word = [](const std::string& cell) { return !is_number(cell) && !is_missing(cell); };
    const std::size_t target = numbered_target();
    std::ptrdiff_t words = 0;  // columns that are not dropped
    for (std::size_t c = 0; c < first_.size(); ++c) {
      if (is_word(first_[c]) && (c == target || chosen_.may_be_feature(c))) ++words;
    }
    if (words != 1 || target >= first_.size() || !is_word(first_[target])) return words > 0;
    const auto& labels = options_.labels;
    if (!labels.empty()) return std::ranges::find(labels, first_[target]) == labels.end();
    return (!second.empty() && !is_word(second[target])) || counts_up(first_, target);
  }

  /// The target's column if it is given by number; too large if it is given by name, or there is none.
  [[nodiscard]] std::size_t numbered_target() const {
    if (options_.target.empty()) return options_.has_targets ? chosen_.last() : first_.size();
    std::size_t number = 0;
    const char* end = options_.target.data() + options_.target.size();
    const auto [at, error] = std::from_chars(options_.target.data(), end, number);
    return error == std::errc{} && at == end ? number - 1 : first_.size();
  }

  /// The position of the column that has the target's name.
  [[nodiscard]] std::size_t named_target() const {
    const auto named =
        has_header_ && !options_.target.empty() ? std::ranges::find(first_, options_.target) : first_.end();
    return named == first_.end() ? none : static_cast<std::size_t>(named - first_.begin());
  }

  /// The position of the target, by name or else by number, or none.
  [[nodiscard]] std::size_t target_place() const {
    const std::size_t named = named_target();
    const std::size_t number = numbered_target();
    return named != none ? named : number < first_.size() ? number : none;
  }

  void find_target() {
    target_ = named_target();
    if (target_ != none) return;
    const bool complete = options_.columns == static_cast<Index>(first_.size());
    if (options_.has_targets || !complete) target_ = target_place();
    if (target_ == none && options_.has_targets) {
      if (options_.target.empty()) refuse("has no column that is not dropped");
      refuse_target();
    }
  }

  [[noreturn]] void refuse_target() const {
    refuse("has no column '" + options_.target + "'" +
           (has_header_ ? suggestion(options_.target, first_, "its columns")
                        : "; without a header, columns go by number, 1 to " + std::to_string(first_.size())));
  }

  /// Which columns are features; those and the target must have different names.
  void find_features() {
    const auto& wanted = options_.features;
    const bool some = has_header_ && !wanted.empty();
    const std::set<std::string> names(wanted.begin(), wanted.end());
    std::map<std::string, std::size_t> seen;
    is_feature_ = chosen_.features(target_, !options_.target.empty());
    for (std::size_t c = 0; c < first_.size(); ++c) {
      if (some && !names.contains(first_[c])) is_feature_[c] = false;
      if (!has_header_ || (c != target_ && !is_feature_[c])) continue;
      const auto [before, is_new] = seen.emplace(first_[c], c);
      if (is_new) continue;
      refuse("columns " + std::to_string(before->second + 1) + " and " + std::to_string(c + 1) + " are both called '" +
             first_[c] + "'; each needs its own name");
    }
    for (const std::string& name : wanted) {
      if (some && !seen.contains(name))
        refuse("has no column '" + name + "'" + suggestion(name, first_, "its columns"));
    }
  }

  /// How many features there are.
  [[nodiscard]] Index check_features() const {
    const Index features = std::ranges::count(is_feature_, true);
    if (features == 0) {
      refuse(options_.choice.empty() ? "has no column besides the target, expected features"
                                     : "has no column left besides the target, expected features");
    }
    if (!by_learned_places() && options_.columns > 0 && features != options_.columns) {
      refuse("has " + std::to_string(features) + " columns of features, expected " + std::to_string(options_.columns) +
             (target_ == none ? "; if one of them is the target, name it" : ""));
    }
    return features;
  }

  /// Whether a needed cell, a feature or the target, is empty.
  [[nodiscard]] bool lacks_value(const Records& records) const {
    for (std::size_t c = 0; c < records.cells().size(); ++c) {
      const bool needed = c == target_ ? options_.has_targets : is_feature_[c];
      if (needed && is_missing(records.cells()[c])) return true;
    }
    return false;
  }

  void read_sample(const Records& records, std::span<double> row) {
    std::size_t feature = 0;
    bool is_complete = true;
    for (std::size_t c = 0; c < records.cells().size(); ++c) {
      const std::string_view cell = records.cells()[c];
      if (options_.with_ids && c == chosen_.id) add_id(cell);
      if (c == target_) {
        if (!options_.has_targets) continue;
        if (is_missing(cell)) {
          note(missing_, c, records, cell);
          is_complete = false;
        } else {
          read_target(records, cell);
        }
        continue;
      }
      if (!is_feature_[c]) continue;
      double& x = row[feature++];
      if (parse_number(cell, x) && std::isfinite(x)) continue;
      if (is_number(cell) && !is_missing(cell)) {
        records.refuse(column_name(c) + ": found " + shown(cell) + ", expected a finite number");
      }
      note(is_missing(cell) ? missing_ : text_, c, records, cell);
      is_complete = is_complete && !is_missing(cell);
    }
    if (!is_complete) ++incomplete_;
  }

  /// Unusable cells of a column: how many, and the first of them.
  struct Unusable {
    Index count = 0;
    Index line = 0;
    std::string cell;
    bool is_decimal_comma = false;                      // the first of them
    bool repeats = false;                               // two of the first thousands are the same
    std::set<std::string, std::less<>> different = {};  // of the first thousands
  };
  using UnusableColumns = std::map<std::size_t, Unusable>;

  static void note(UnusableColumns& columns, std::size_t column, const Records& records, std::string_view cell) {
    Unusable& seen = columns[column];
    if (seen.count++ == 0) {
      seen.line = records.number();
      seen.cell = shown(cell);
      seen.is_decimal_comma = is_decimal_comma(cell);
    }
    constexpr std::size_t enough = 4096;
    if (seen.different.size() == enough) return;
    seen.repeats = !seen.different.emplace(cell).second || seen.repeats;
  }

  /// Rejects all cells that are missing or hold text at once, with advice.
  void tell_unusable(Index rows) const {
    std::vector<InputError> errors;
    const auto add = [&](const UnusableColumns& columns, const std::string& message) {
      if (columns.empty()) return;
      const auto line = [](const auto& entry) { return entry.second.line; };
      try {
        refuse_line(file_, line(*std::ranges::min_element(columns, {}, line)), message);
      } catch (const InputError& e) {
        errors.push_back(e);
      }
    };
    add(text_, text_message(rows));
    add(missing_, missing_message(rows));
    if (!errors.empty()) throw InputError(errors);
  }

  [[nodiscard]] std::string text_message(Index rows) const {
    if (text_.empty()) return "";
    const auto& [column, first] = *text_.begin();
    const bool has_comma = std::ranges::any_of(text_, [](const auto& entry) { return entry.second.is_decimal_comma; });
    const std::string cure = std::string(has_comma ? "; write 1.5, not 1,5; turn other text" : "; turn text") +
                             " into numbers first" + leaving_out(text_) + naming_target() + naming_samples(rows);
    if (text_.size() == 1) return column_name(column) + ": found " + first.cell + ", expected a number" + cure;
    std::string names;
    for (const auto& [c, seen] : text_) names += (names.empty() ? "" : ", ") + column_name(c) + " (" + seen.cell + ")";
    return "expected numbers, but found text in " + names + cure;
  }

  [[nodiscard]] std::string missing_message(Index rows) const {
    if (missing_.empty()) return "";
    const auto& [column, first] = *missing_.begin();
    if (missing_.size() == 1 && first.count == 1) {
      const std::string column_out = leaving_out(missing_);
      return column_name(column) + ": a value is missing" + (first.cell == "\"\"" ? "" : " (" + first.cell + ")") +
             "; fill it in" + (column_out.empty() ? ", or " : ", ") + row_out("leave the row out") + column_out;
    }
    std::string where;
    for (const auto& [c, seen] : missing_) {
      where += (where.empty() ? "" : ", ") + column_name(c) + " (" + std::to_string(seen.count) + ")";
    }
    const std::string columns_out = leaving_out(missing_);
    return "values are missing in " + std::to_string(incomplete_) + " of " + std::to_string(rows) + " rows: " + where +
           "; fill them in" + (columns_out.empty() ? ", or " : ", ") + row_out("leave these rows out") + columns_out;
  }

  /// Whether an experiment reads the file: one never reads a model's data.
  [[nodiscard]] bool by_keys() const { return is_for_training() && !options_.choice.by_flags; }

  /// How to leave rows out.
  [[nodiscard]] std::string row_out(const std::string& what) const {
    return what + ": " + (by_keys() ? "skip_missing = true" : "--skip-missing");
  }

  /// Whether no model says which columns it needs.
  [[nodiscard]] bool is_for_training() const {
    return options_.features.empty() && options_.columns == 0 && options_.has_targets;
  }

  void add_id(std::string_view cell) {
    ids_held_.add(static_cast<double>(2 * sizeof(std::string) + cell.size()));
    ids_.emplace_back(cell);
  }

  void read_target(const Records& records, std::string_view cell) {
    const std::string wrong = targets_.add(cell);
    if (!wrong.empty()) records.refuse(column_name(target_) + ": " + wrong);
  }

  /// A training file may be read without these columns; a model needs what it was trained on.
  [[nodiscard]] std::string leaving_out(const UnusableColumns& columns) const {
    if (!is_for_training()) return "";
    if (!chosen_.unknown.empty()) {
      const std::string& name = chosen_.unknown.front();
      return ", or leave the column out: there is no '" + name + "' to drop" + suggestion(name, first_, "its columns");
    }
    std::string names;
    const std::size_t likely = likely_target();
    for (const auto& [column, seen] : columns) {
      if (column != target_ && column != likely) names += (names.empty() ? "" : ",") + name_in_list(column);
    }
    if (names.empty()) return "";
    return std::string(", or leave the ") + (columns.contains(likely) ? "other " : "") +
           (columns.size() == 1 ? "column" : "columns") + " out: " + setting(options_.choice, "drop", names);
  }

  /// The first column that holds one of two words in every row, where no target is named; else none.
  [[nodiscard]] std::size_t likely_target() const {
    if (!options_.target.empty() || !is_for_training() || target_ == none) return none;
    const auto found = std::ranges::find_if(text_, [&](const auto& entry) {
      return entry.first != target_ && entry.second.different.size() == 2 && entry.second.repeats &&
             !missing_.contains(entry.first);
    });
    return found == text_.end() ? none : found->first;
  }

  /// Where such a column stands before the last.
  [[nodiscard]] std::string naming_target() const {
    const std::size_t likely = likely_target();
    if (likely == none) return "";
    return "; the target is " + column_name(target_) + ", the last; if it should be " + column_name(likely) +
           ", write " + setting(options_.choice, "target", name_in_list(likely));
  }

  /// Of a column of text without equals, which may be the samples' names: the flag of `fit` that takes it as such.
  [[nodiscard]] std::string naming_samples(Index rows) const {
    if (!is_for_training() || chosen_.id != none || !chosen_.unknown.empty()) return "";
    for (const auto& [column, seen] : text_) {
      if (column == target_ || seen.repeats || seen.is_decimal_comma || rows < 3 || seen.count != rows) continue;
      return "; if " + (text_.size() == 1 ? "it" : column_name(column)) + " names the samples, " +
             (by_keys() ? "`polyhop fit` takes it with " : "write ") + "--id " + shell_word(name_in_list(column));
    }
    return "";
  }

  /// The column's name as --drop and --id take it. A list cannot hold a name with a comma.
  [[nodiscard]] std::string name_in_list(std::size_t column) const {
    const bool by_name = has_header_ && first_[column].find(',') == std::string::npos;
    return by_name ? first_[column] : std::to_string(column + 1);
  }

  /// "column 3 ('age')"
  [[nodiscard]] std::string column_name(std::size_t column) const {
    return "column " + std::to_string(column + 1) + (has_header_ ? " ('" + first_[column] + "')" : "");
  }

  void name_columns(DataTable& out) const {
    for (std::size_t c = 0; has_header_ && c < first_.size(); ++c) {
      if (is_feature_[c]) out.names.push_back(first_[c]);
    }
    if (options_.has_targets) out.target_name = has_header_ ? first_[target_] : std::to_string(target_ + 1);
    if (!has_header_ && !options_.choice.empty()) {
      out.columns = {{}, static_cast<Index>(first_.size()), target_ == none ? 0 : static_cast<Index>(target_) + 1};
      for (std::size_t c = 0; c < first_.size(); ++c) {
        if (is_feature_[c]) out.columns.features.push_back(static_cast<Index>(c) + 1);
      }
    }
    if (chosen_.id != none) out.id_name = has_header_ ? first_[chosen_.id] : std::to_string(chosen_.id + 1);
    out.not_dropped = chosen_.unknown;
  }

  static constexpr std::size_t none = ChosenColumns::none;

  std::string file_;
  const DataFormat& options_;
  TargetColumn targets_;
  HeldMemory columns_held_;
  std::vector<std::string> first_;  // the cells of the first record
  bool has_header_ = false;
  ChosenColumns chosen_;
  std::size_t target_ = none;     // its column
  std::vector<bool> is_feature_;  // for each column
  HeldMemory ids_held_;
  std::vector<std::string> ids_;
  UnusableColumns text_;     // feature columns that contain text
  UnusableColumns missing_;  // columns that lack values
  Index incomplete_ = 0;     // rows that lack a value
  Index skipped_ = 0;        // rows left out for that reason
};

}  // namespace

DataTable read_csv(const std::string& file, const DataFormat& options) { return CsvReader(file, options).read(); }

std::string csv_target(const std::string& file, const DataFormat& options) {
  return CsvReader(file, options).target_name();
}

}  // namespace polyhop
