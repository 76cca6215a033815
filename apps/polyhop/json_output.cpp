// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "json_output.hpp"

#include <fmt/format.h>

#include "polyhop/core/json.hpp"
#include "terminal.hpp"

namespace polyhop::app {

Json to_json(const Value& value) { return Json::parse(json_text(value, true)); }

Json to_json(const FieldInfo& field) {
  return {{"name", field.name},
          {"type", field.type},
          {"constraint", field.constraint},
          {"default", field.default_text},
          {"help", field.help}};
}

void print_json(const Json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
  flush_output();
}

}  // namespace polyhop::app
