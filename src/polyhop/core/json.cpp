// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/json.hpp"

#include <nlohmann/json.hpp>
#include <variant>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

using Json = nlohmann::ordered_json;

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

Value to_value(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return json.get<bool>();
    case Json::value_t::number_integer:
      return json.get<std::int64_t>();
    case Json::value_t::number_unsigned:
      if (json.get<std::uint64_t>() <= INT64_MAX) return json.get<std::int64_t>();
      return json.get<double>();
    case Json::value_t::number_float:
      return json.get<double>();
    case Json::value_t::string:
      return json.get<std::string>();
    case Json::value_t::array: {
      Value::Array list;
      for (const Json& entry : json) list.push_back(to_value(entry));
      return list;
    }
    case Json::value_t::object: {
      Value::Table table;
      for (const auto& [key, entry] : json.items()) table.emplace_back(key, to_value(entry));
      return table;
    }
    default:
      return {};
  }
}

}  // namespace

std::string json_text(const Value& value, bool replace) {
  const auto errors = replace ? Json::error_handler_t::replace : Json::error_handler_t::strict;
  try {
    return to_json(value).dump(2, ' ', false, errors) + "\n";
  } catch (const Json::exception&) {
    throw InputError("", "text that is not UTF-8 cannot be written as JSON");
  }
}

Value parse_json(std::string_view text) {
  // The parser does not recurse, but code that walks through the result does.
  constexpr int deepest = 64;
  const auto refuse_deep = [](int depth, Json::parse_event_t event, const Json&) {
    const bool opens = event == Json::parse_event_t::array_start || event == Json::parse_event_t::object_start;
    if (opens && depth >= deepest) throw InputError("", "nests deeper than " + std::to_string(deepest) + " levels");
    return true;
  };
  try {
    return to_value(Json::parse(text, refuse_deep));
  } catch (const Json::exception&) {
    throw InputError("", "is not JSON");
  }
}

}  // namespace polyhop
