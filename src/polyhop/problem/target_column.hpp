// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/problem/data_table.hpp"

namespace polyhop {

/// The targets of a file, read one after the other. The first one decides whether they are numbers, kept as they are,
/// or words, numbered as classes in sorted order. With training labels, every target must be one of them.
class TargetColumn {
 public:
  explicit TargetColumn(const std::vector<std::string>& labels);

  void reserve(std::size_t count) { values_.reserve(count); }
  /// Returns "", or what is wrong with the target; the caller adds the place.
  [[nodiscard]] std::string add(std::string_view text);
  [[nodiscard]] std::string add(double value);
  /// Moves targets and labels into the table.
  void finish(DataTable& table);

 private:
  [[nodiscard]] std::string unknown(std::string_view text) const;
  [[nodiscard]] std::string add_trained(std::string_view text, bool is_number, double value);

  MeteredVector<double> values_;
  HeldMemory words_held_;
  std::map<std::string, double, std::less<>> classes_;  // words, each with its number
  std::map<double, double> numbers_;                    // training labels that are numbers, each with its class number
  std::vector<std::string> labels_;                     // of training
  bool words_ = false;
};

}  // namespace polyhop
