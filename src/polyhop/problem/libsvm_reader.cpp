// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/libsvm_reader.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/problem/byte_source.hpp"
#include "polyhop/problem/kept_rows.hpp"
#include "polyhop/problem/target_column.hpp"

namespace polyhop {
namespace {

constexpr Index max_index = std::numeric_limits<std::int32_t>::max();

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool ends_word(char c) { return is_blank(c) || c == '#'; }

class LibsvmReader {
 public:
  LibsvmReader(const std::string& file, const DataFormat& options)
      : file_(file), lines_(file), options_(options), targets_(options.labels), columns_(options.columns) {
    refuse_choice(options, file);
    const TextCount most = count_text(file);  // zero for a gzip file: memory then grows as it is read
    offset_.reserve(most.lines + 2);
    // A feature takes at least four bytes, " 1:2", so colons elsewhere cannot make memory grow without bound.
    const std::size_t features = std::min(most.colons, most.bytes / 4 + 1);
    column_.reserve(features);
    value_.reserve(features);
    if (options.has_targets) targets_.reserve(most.lines + 1);
    offset_.push_back(0);
  }

  DataTable read() {
    std::string_view line;
    KeptRows kept(options_);
    while (lines_.next(line)) {
      at_ = line.data();
      end_ = at_ + line.size();
      if (skip_blanks()) continue;
      read_label();
      read_features();
      if (kept.next()) {
        offset_.push_back(static_cast<Index>(column_.size()));
      } else {
        column_.resize(offset_.back());
        value_.resize(column_.size());
      }
    }
    if (kept.passed() == 0 && !options_.may_be_empty) throw InputError("", "holds no samples", 0, file_);
    if (columns_ == 0 && kept.passed() > 0) throw InputError("", "holds no features", 0, file_);
    DataTable out;
    if (options_.has_targets) targets_.finish(out);
    out.features = Features::sparse(columns_, std::move(offset_), std::move(column_), std::move(value_));
    return out;
  }

 private:
  /// Whether the line or its comment ends there.
  bool skip_blanks() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
    return at_ == end_ || *at_ == '#';
  }

  [[nodiscard]] std::string_view word() const { return {at_, std::find_if(at_, end_, ends_word)}; }

  void read_label() {
    const std::string_view label = word();
    const bool is_feature = label.find(':') != std::string_view::npos;
    if (!options_.has_targets) {
      if (!is_feature) at_ += label.size();
      return;
    }
    if (is_feature) lines_.refuse("found " + shown(label) + ", expected a label before the features", at_);
    if (label.find(',') != std::string_view::npos) {
      lines_.refuse("found " + shown(label) + ", expected one label; samples of several classes cannot be read", at_);
    }
    const std::string wrong = targets_.add(label);
    if (!wrong.empty()) lines_.refuse(wrong, at_);
    at_ += label.size();
  }

  void read_features() {
    Index last = 0;
    while (!skip_blanks()) {
      const char* begin = at_;
      const Index index = read_index();
      if (index <= last) refuse_order(begin, index, last);
      last = index;
      double value = 0;
      const char* digits = at_ != end_ && *at_ == '+' ? at_ + 1 : at_;
      const auto [after, error] = fast_float::from_chars(digits, end_, value);
      const bool whole = error != std::errc::invalid_argument && (after == end_ || ends_word(*after));
      if (!whole || !std::isfinite(value) || (digits != at_ && *digits == '-')) {
        lines_.refuse("found " + shown(word()) + " as the value of feature " + std::to_string(index) +
                          ", expected a finite number",
                      at_);
      }
      at_ = after;
      if (value == 0) continue;  // same as leaving it out
      column_.push_back(static_cast<std::int32_t>(index - 1));
      value_.push_back(value);
    }
    columns_ = std::max(columns_, last);
  }

  /// Digits and a colon.
  Index read_index() {
    const char* begin = at_;
    Index index = 0;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9' && index <= max_index) index = 10 * index + (*at_++ - '0');
    if (index > max_index) {
      at_ = begin;
      lines_.refuse("found " + shown(word()) + ", expected an index up to " + std::to_string(max_index), begin);
    }
    if (at_ == begin || at_ == end_ || *at_ != ':') {
      at_ = begin;
      lines_.refuse("found " + shown(word()) + ", expected index:value", begin);
    }
    ++at_;
    return index;
  }

  [[noreturn]] void refuse_order(const char* begin, Index index, Index last) const {
    if (index == 0) lines_.refuse("found the index 0, expected indices from 1", begin);
    lines_.refuse(
        "found the index " + std::to_string(index) + " after " + std::to_string(last) + ", expected ascending indices",
        begin);
  }

  std::string file_;
  LineSource lines_;
  const DataFormat& options_;
  TargetColumn targets_;
  Index columns_;
  MeteredVector<Index> offset_;
  MeteredVector<std::int32_t> column_;
  MeteredVector<double> value_;
  const char* at_ = nullptr;  // in the current line
  const char* end_ = nullptr;
};

}  // namespace

DataTable read_libsvm(const std::string& file, const DataFormat& options) { return LibsvmReader(file, options).read(); }

}  // namespace polyhop
