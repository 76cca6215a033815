// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "polyhop/core/index.hpp"

// Numbers as words of a sentence.
namespace polyhop {

/// "1 run", "3 runs": a number and its noun; the plural is the noun with an s, or `plural`.
std::string count_of(Index n, std::string_view one, std::string_view plural = "");

/// "a", "a and b", "a, b and c"; or with another word than "and".
std::string series(const std::vector<std::string>& parts, std::string_view last = "and");

/// A time to read: "42 ms", "4.2 s", "42 s", "12 min", "2.5 h".
std::string duration_text(double seconds);

}  // namespace polyhop
