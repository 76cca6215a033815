// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/problem/loss_table.hpp"

namespace polyhop {

/// Numbers that stand for classes are at most as many different ones as this.
constexpr std::size_t max_class_codes = 10;

/// A loss that nobody named, and what in the target speaks for it: "the target has 3 values: 0, 1, 2".
struct LossOfTarget {
  LossSpec loss;
  std::string why;
};

/// Two words: logistic; more: softmax. Numbers that stand for classes, which are -1 and 1, 0 to C - 1 or 1 to C with
/// C <= max_class_codes, and at least two samples for each: the same. All other numbers: least-squares.
/// `labels`: the different words, or none where the target is numbers; `values`: the different numbers, rising, of
/// which no more than max_class_codes + 1 need be given.
LossOfTarget loss_of_target(const std::vector<std::string>& labels, const std::vector<double>& values, Index samples);

/// The names of classes that have none: their values.
std::vector<std::string> value_names(const std::vector<double>& values);

}  // namespace polyhop
