// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "option_flags.hpp"

#include <algorithm>
#include <string_view>

#include "polyhop/core/error.hpp"
#include "polyhop/experiment/toml_reader.hpp"

namespace polyhop::app {
namespace {

// The value that a word on the command line stands for: a number where it reads as one, else a text.
Value value_of(const std::string& text, const FieldInfo& field) {
  if (field.type == "text") return text;
  try {
    const Value root = read_toml("x = " + text);
    const Value& value = *root.find("x");
    if (const auto* whole = value.as<std::int64_t>()) return *whole;
    if (const auto* number = value.as<double>()) return *number;
  } catch (const InputError&) {
    // A word.
  }
  return text;
}

std::string help_of(const FieldInfo& field) {
  if (field.default_text == "-" || field.default_text == "required") return field.help;
  std::string shown = field.default_text;
  std::erase(shown, '"');
  return field.help + " (default: " + shown + ")";
}

void add_option(Command& command, const std::string& flag, const FieldInfo& field, const std::function<Value&()>& place,
                const std::function<void()>& check) {
  if (field.type == Codec<bool>::type()) {
    const bool otherwise = field.default_text != "true";
    command.flag((otherwise ? "--" : "--no-") + flag.substr(2), [place, otherwise] { place() = Value(otherwise); },
                 otherwise ? field.help : "do not " + field.help);
    return;
  }
  const auto take = [place, check, field](const std::string& text) {
    place() = value_of(text, field);
    try {
      check();
    } catch (const InputError& e) {
      throw InputError("", e.message());
    }
  };
  Argument argument = command.option(flag, take, help_of(field));
  const std::vector<std::string> names = names_in(field.type);
  names.empty() ? argument.takes(value_name(field)) : argument.suggests(names);
}

}  // namespace

std::vector<std::string> names_in(const std::string& type) {
  constexpr std::string_view between = " | ";
  std::vector<std::string> out;
  if (type.find(between) == std::string::npos || type.find('"') != std::string::npos) return out;
  for (std::size_t begin = 0; begin != std::string::npos;) {
    const std::size_t end = type.find(between, begin);
    out.push_back(type.substr(begin, end - begin));
    begin = end == std::string::npos ? end : end + between.size();
  }
  return out;
}

std::string value_name(const FieldInfo& field) {
  if (field.type.find("integer") != std::string::npos) {
    return field.type.find("\"all\"") != std::string::npos ? "INTEGER or all" : "INTEGER";
  }
  return field.type == "number" ? "NUMBER" : field.type == "text" ? "TEXT" : field.type;
}

std::string flag_name(const std::string& key) {
  std::string out = "--" + key;
  std::ranges::replace(out, '_', '-');
  return out;
}

void add_options(Command& command, const std::vector<FieldInfo>& fields, Value& table,
                 const std::function<void(const Value&)>& check) {
  for (const FieldInfo& field : fields) {
    if (field.fields.empty()) {
      add_option(
          command, flag_name(field.name), field, [&table, key = field.name]() -> Value& { return table[key]; },
          [&table, check, key = field.name] {
            check(Value::Table{{key, table[key]}});
          });
    }
    for (const FieldInfo& inner : field.fields) {
      const bool is_first = &inner == &field.fields.front();
      add_option(
          command, flag_name(is_first ? field.name : inner.name), inner,
          [&table, key = field.name, name = inner.name]() -> Value& { return table[key][name]; },
          [&table, check, key = field.name, name = inner.name] {
            check(Value::Table{{key, Value::Table{{name, table[key][name]}}}});
          });
    }
  }
}

}  // namespace polyhop::app
