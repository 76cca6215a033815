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

/// The names that a field's type lists ("paper | linear | tight"), where these are all there is to choose from.
std::vector<std::string> names_in(const std::string& type);

/// A flag for each field, whose value is put into `table`, which must live until the arguments are read. One that is
/// true or false takes no value: `--x` where it is false by default, `--no-x` where it is true. A table among the
/// fields gives a flag for each field of its own; the first is called after the table. `check` throws InputError on a
/// table with a single value that is refused: an error of usage.
void add_options(Command& command, const std::vector<FieldInfo>& fields, Value& table,
                 const std::function<void(const Value&)>& check);

}  // namespace polyhop::app
