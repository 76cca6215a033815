// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/core/value.hpp"

namespace polyhop {

/// A table as TOML text that `read_toml` reads back to the same values: plain keys first, then a [table] for each table
/// of the root and a [[table]] for each entry of a list of tables. Deeper tables take one line or, if that is too long,
/// have their own header.
std::string to_toml(const Value& root);

}  // namespace polyhop
