// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "json_output.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <variant>

#include "terminal.hpp"

namespace polyhop::app {

Json to_json(const Value& value) {
  struct Writer {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool b) const { return b; }
    Json operator()(std::int64_t n) const { return n; }
    Json operator()(double x) const { return x; }
    Json operator()(const std::string& s) const { return s; }
    Json operator()(const Value::Array& list) const {
      Json out = Json::array();
      for (const Value& entry : list) out.push_back(to_json(entry));
      return out;
    }
    Json operator()(const Value::Table& table) const {
      Json out = Json::object();
      for (const auto& [key, entry] : table) out[key] = to_json(entry);
      return out;
    }
  };
  return std::visit(Writer{}, value.data);
}

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
