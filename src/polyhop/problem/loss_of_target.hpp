// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/problem/loss_table.hpp"

namespace polyhop {

/// Numbers count as classes only if there are at most this many different ones.
constexpr std::size_t max_class_codes = 10;

/// A loss chosen by the target, and the reason: "the target has 3 values: 0, 1, 2".
struct LossOfTarget {
  LossSpec loss;
  std::string why;
};

/// Two words: logistic; more: softmax. The same for numbers that stand for classes: -1 and 1, 0 to C - 1 or 1 to C with
/// C <= max_class_codes, and at least two samples of each. All other numbers: least-squares. `labels`: the different
/// words, or none if the target is numbers; `values`: the different numbers, ascending; max_class_codes + 1 of them are
/// enough.
LossOfTarget loss_of_target(const std::vector<std::string>& labels, const std::vector<double>& values, Index samples);

/// Names for classes that have none: their values.
std::vector<std::string> value_names(const std::vector<double>& values);

}  // namespace polyhop
