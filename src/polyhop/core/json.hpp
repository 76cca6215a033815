// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "polyhop/core/value.hpp"

namespace polyhop {

/// A value as JSON, indented by two spaces, with a line break at its end. Throws InputError on a text that is not
/// UTF-8.
std::string json_text(const Value& value);

/// Reads JSON. Throws InputError on what is none, and on what nests deeper than anything that polyhop writes.
Value parse_json(std::string_view text);

}  // namespace polyhop
