// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "polyhop/core/value.hpp"

namespace polyhop {

/// A value as JSON, indented by two spaces, ending in a line break. Text that is not UTF-8 is rejected with InputError,
/// or repaired if `replace` is set.
std::string json_text(const Value& value, bool replace = false);

/// Reads JSON. Throws InputError on anything else, and on deeper nesting than polyhop ever writes.
Value parse_json(std::string_view text);

}  // namespace polyhop
