// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/target_column.hpp"

#include <cmath>
#include <utility>

#include "polyhop/core/value.hpp"
#include "polyhop/problem/byte_source.hpp"

namespace polyhop {

TargetColumn::TargetColumn(const std::vector<std::string>& labels) : labels_(labels) {
  for (const std::string& label : labels_) {
    const auto number = static_cast<double>(classes_.size());
    classes_.emplace(label, number);
    double value = 0;
    if (parse_number(label, value)) numbers_.emplace(value, number);
  }
}

std::string TargetColumn::unknown(std::string_view text) const {
  constexpr std::size_t most = 10;
  std::string all;
  for (std::size_t i = 0; i < labels_.size() && i < most; ++i) all += (i == 0 ? "" : ", ") + labels_[i];
  return "found the label " + shown(text) + ", which is not in the training data; its labels are: " + all +
         (labels_.size() > most ? ", ..." : "");
}

std::string TargetColumn::add_trained(std::string_view text, bool is_number, double value) {
  const auto found = classes_.find(text);
  if (found != classes_.end()) {
    values_.push_back(found->second);
    return {};
  }
  // "1" and "1.0" are the same class.
  const auto same = is_number ? numbers_.find(value) : numbers_.end();
  if (same == numbers_.end()) return unknown(text);
  values_.push_back(same->second);
  return {};
}

std::string TargetColumn::add(std::string_view text) {
  double value = 0;
  const bool is_number = parse_number(text, value);
  if (!labels_.empty()) return add_trained(text, is_number, value);
  if (values_.empty()) words_ = !is_number;
  if (words_) {
    // Looked up first, so that a word is copied only when it is new.
    auto found = classes_.find(text);
    if (found == classes_.end()) {
      constexpr std::size_t bytes_a_node = 128;  // of the map, and of the list made from it
      words_held_.add(static_cast<double>(bytes_a_node + 2 * text.size()));
      found = classes_.emplace(std::string(text), static_cast<double>(classes_.size())).first;
    }
    values_.push_back(found->second);
    return {};
  }
  if (!is_number) return "found " + shown(text) + " as a target, expected a number as in the lines above";
  if (!std::isfinite(value)) return "found " + shown(text) + " as a target, expected a finite number";
  values_.push_back(value);
  return {};
}

std::string TargetColumn::add(double value) {
  if (!std::isfinite(value)) return "found " + shortest(value) + " as a target, expected a finite number";
  if (!labels_.empty()) return add_trained(shortest(value), true, value);
  values_.push_back(value);
  return {};
}

void TargetColumn::finish(DataTable& table) {
  if (!labels_.empty()) {
    table.labels = std::move(labels_);
  } else if (words_) {
    std::vector<double> sorted(classes_.size());  // by order of appearance
    for (const auto& [word, number] : classes_) {
      sorted[static_cast<std::size_t>(number)] = static_cast<double>(table.labels.size());
      table.labels.push_back(word);
    }
    for (double& value : values_) value = sorted[static_cast<std::size_t>(value)];
  }
  table.targets = std::move(values_);
}

}  // namespace polyhop
