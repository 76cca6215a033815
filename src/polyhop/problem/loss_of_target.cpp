// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/loss_of_target.hpp"

#include <algorithm>
#include <cmath>

#include "polyhop/core/value.hpp"

namespace polyhop {
namespace {

// "0, 1, 2", with "..." in place of those after the tenth.
std::string some_of(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t n = 0; n < std::min(names.size(), max_class_codes); ++n) out += (n > 0 ? ", " : "") + names[n];
  return out + (names.size() > max_class_codes ? ", ..." : "");
}

bool are_class_codes(const std::vector<double>& values) {
  if (values.size() < 2 || values.size() > max_class_codes) return false;
  if (values.size() == 2 && values[0] == -1 && values[1] == 1) return true;
  if (values[0] != 0 && values[0] != 1) return false;
  for (std::size_t n = 1; n < values.size(); ++n) {
    if (values[n] != values[n - 1] + 1) return false;
  }
  return true;
}

LossOfTarget for_classes(const std::vector<std::string>& names, const std::string& what) {
  return {builtin_loss(names.size() == 2 ? "logistic" : "softmax"),
          "the target has " + std::to_string(names.size()) + " " + what + " (" + some_of(names) + ")"};
}

}  // namespace

std::vector<std::string> value_names(const std::vector<double>& values) {
  std::vector<std::string> names;
  for (const double value : values) {
    names.push_back(value == std::round(value) && std::abs(value) < 1e15 ? std::to_string(std::llround(value))
                                                                         : shortest(value));
  }
  return names;
}

LossOfTarget loss_of_target(const std::vector<std::string>& labels, const std::vector<double>& values, Index samples) {
  if (!labels.empty()) return for_classes(labels, labels.size() == 1 ? "value" : "values");
  const std::vector<std::string> names = value_names(values);
  const bool codes = are_class_codes(values);
  if (codes && samples >= 2 * static_cast<Index>(values.size())) return for_classes(names, "values");
  std::string why = "the target has more than " + std::to_string(max_class_codes) + " values";
  if (codes) {
    why = "there are too few samples to treat " + some_of(names) + " as classes";
  } else if (values.size() <= max_class_codes) {
    why = "the target's values are numbers, not classes";
  }
  return {builtin_loss("least-squares"), why};
}

}  // namespace polyhop
