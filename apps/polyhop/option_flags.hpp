// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "polyhop/core/fields.hpp"

// Flags that are made from the field table of an options struct, so that an option is listed once.
namespace polyhop::app {

/// "--unit-rows" for the key "unit_rows".
std::string flag_name(const std::string& key);

/// The names in a field's type ("paper | linear | tight"), if it allows nothing else.
std::vector<std::string> names_in(const std::string& type);

/// The name in the help of a value that has no names itself, in capitals: INTEGER.
std::string value_name(const FieldInfo& field);

/// A flag for each field, whose value is put into `table`, which must live until the arguments are read. A boolean
/// takes no value: `--x` if it is false by default, `--no-x` if it is true. A table among the fields gets a flag for
/// each of its fields; the first is named after the table. `check` is called with each value alone, and throws
/// InputError if it is invalid, which is reported as a usage error.
void add_options(Command& command, const std::vector<FieldInfo>& fields, Value& table,
                 const std::function<void(const Value&)>& check);

}  // namespace polyhop::app
