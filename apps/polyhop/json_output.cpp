// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "json_output.hpp"

#include <fmt/format.h>

#include "polyhop/core/json.hpp"
#include "terminal.hpp"

namespace polyhop::app {

void print_json(const Value& value) {
  fmt::print("{}", json_text(value, true));
  flush_output();
}

}  // namespace polyhop::app
