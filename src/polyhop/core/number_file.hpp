// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "polyhop/core/real.hpp"

namespace polyhop {

/// The numbers in a text file, separated by white space or commas. Throws InputError for `path` when the file cannot
/// be read, is no ordinary file, or holds something that is not a finite number.
std::vector<Real> read_numbers(const std::string& path, const std::string& file);

}  // namespace polyhop
