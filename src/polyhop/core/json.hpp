// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "polyhop/core/value.hpp"

namespace polyhop {

/// A value as JSON, indented by two spaces, with a line break at its end. A text that is not UTF-8 is refused with
/// InputError, or mended where `replace` is set.
std::string json_text(const Value& value, bool replace = false);

/// Reads JSON. Throws InputError on what is none, and on what nests deeper than anything that polyhop writes.
Value parse_json(std::string_view text);

}  // namespace polyhop
