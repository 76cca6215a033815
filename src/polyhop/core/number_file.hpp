// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// The numbers in a text file, separated by white space or commas. Throws InputError for `path` if the file cannot be
/// read, is not an ordinary file, or holds something that is not a finite number.
std::vector<double> read_numbers(const std::string& path, const std::string& file);

/// The same one by one, for callers that do not want to hold them all: take(n, x) for n = 0, 1, ... Returns how many
/// there are.
Index read_numbers(const std::string& path, const std::string& file,
                   const std::function<void(Index n, double x)>& take);

}  // namespace polyhop
