// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/include.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

namespace polyhop {
namespace {

// Lines of the n-th included file start after n times this many: no readable file has as many.
constexpr int lines_of_a_file = 1 << 24;
static_assert(TomlLimits::bytes <= lines_of_a_file);
constexpr std::size_t max_files = 100;

void move_lines(Value& value, int by) {
  if (value.line > 0) value.line += by;
  if (auto* list = value.as<Value::Array>()) {
    for (Value& entry : *list) move_lines(entry, by);
  }
  if (auto* table = value.as<Value::Table>()) {
    for (auto& [key, entry] : *table) move_lines(entry, by);
  }
}

bool holds_tables(const Value& value) {
  const auto* list = value.as<Value::Array>();
  return list != nullptr && !list->empty() &&
         std::ranges::all_of(*list, [](const Value& entry) { return entry.as<Value::Table>() != nullptr; });
}

void put_under(Value& upper, Value lower) {
  if (holds_tables(upper) && holds_tables(lower)) {
    auto& list = *lower.as<Value::Array>();
    for (Value& entry : *upper.as<Value::Array>()) list.push_back(std::move(entry));
    upper.data = std::move(lower.data);
  } else if (upper.as<Value::Table>() != nullptr && lower.as<Value::Table>() != nullptr) {
    for (auto& [key, value] : *lower.as<Value::Table>()) {
      if (upper.find(key) != nullptr) {
        put_under(upper[key], std::move(value));
      } else {
        upper[key] = std::move(value);
      }
    }
  }
}

// The line of the value at a path such as "graph.agents" or "method[1].step", or of the last table on the way there; 0
// if not even the start of the path exists.
int line_of(const Value& root, const std::string& path) {
  constexpr std::string_view by_name = "method.";
  const Value* methods = root.find("method");
  if (path.starts_with("method.\"") && methods != nullptr && methods->as<Value::Array>() != nullptr) {
    for (const Value& method : *methods->as<Value::Array>()) {
      const Value* name = method.find("name");
      const std::string quoted = name != nullptr ? name->text() : "";
      if (quoted.empty() || !path.substr(by_name.size()).starts_with(quoted + ".")) continue;
      const int line = line_of(method, path.substr(by_name.size() + quoted.size() + 1));
      return line != 0 ? line : method.line;
    }
    return 0;
  }
  const Value* place = &root;
  int line = 0;
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '.');) {
    const std::size_t bracket = part.find('[');
    place = place->find(part.substr(0, bracket));
    if (place != nullptr && bracket != std::string::npos) {
      const auto* list = place->as<Value::Array>();
      const std::size_t index = std::strtoul(part.c_str() + bracket + 1, nullptr, 10);
      place = list != nullptr && index < list->size() ? &(*list)[index] : nullptr;
    }
    if (place == nullptr) break;
    if (place->line != 0) line = place->line;
  }
  return line;
}

// "method[1].step" as "method."far".step", if that method has a name.
std::string with_method_name(const Value& root, const std::string& path) {
  constexpr std::string_view by_number = "method[";
  const Value* methods = root.find("method");
  const auto* list = methods != nullptr ? methods->as<Value::Array>() : nullptr;
  if (list == nullptr || !path.starts_with(by_number)) return path;
  const std::size_t index = std::strtoul(path.c_str() + by_number.size(), nullptr, 10);
  const Value* name = index < list->size() ? (*list)[index].find("name") : nullptr;
  if (name == nullptr || name->as<std::string>() == nullptr) return path;
  return "method." + name->text() + path.substr(path.find(']') + 1);
}

std::vector<std::string> included_names(const Value& include) {
  if (const auto* name = include.as<std::string>()) return {*name};
  std::vector<std::string> names;
  const auto* list = include.as<Value::Array>();
  const auto is_text = [](const Value& entry) { return entry.as<std::string>() != nullptr; };
  if (list == nullptr || list->size() > max_files || !std::ranges::all_of(*list, is_text)) {
    throw InputError("include", "found " + include.text() + ", expected the name of a file or a list of up to 100",
                     include.line);
  }
  for (const Value& entry : *list) names.push_back(*entry.as<std::string>());
  return names;
}

Value read_included(const std::string& path, const Value& include) {
  Value root;
  try {
    root = read_toml_file(path);
  } catch (const InputError& e) {
    // Errors inside the file name it; a file that cannot be read at all is the fault of the line that names it.
    if (e.line() > 0) throw;
    throw InputError("include", e.what(), include.line);
  }
  if (const Value* nested = root.find("include")) {
    throw InputError("include", "an included file cannot include others", nested->line, path);
  }
  return root;
}

}  // namespace

void Sources::add(const std::string& file, Value& root) {
  move_lines(root, lines_of_a_file * static_cast<int>(files_.size()));
  files_.push_back(file);
}

void Sources::apply(const std::vector<KeySetting>& settings, Value& root) {
  for (const KeySetting& setting : settings) {
    flags_.push_back(setting.flag);
    try {
      apply_setting(root, setting.text, -static_cast<int>(flags_.size()));
    } catch (const InputError& e) {
      throw e.in_file(setting.flag);
    }
  }
}

InputError Sources::located(const InputError& errors) const {
  // In the order of files and lines, with what is missing at the end, and then what flags say.
  std::vector<std::pair<int, InputError>> found;
  for (const InputError& error : errors.all()) {
    found.emplace_back(error.line() != 0 ? error.line() : line_of(root_, error.path()), error);
  }
  std::ranges::stable_sort(found, {}, [](const auto& each) {
    const auto& [line, error] = each;
    return std::tuple(line < 0, line == 0, error.message().starts_with("missing"), std::abs(line));
  });
  std::vector<InputError> out;
  for (const auto& [line, error] : found) {
    const std::string path = with_method_name(root_, error.path());
    if (!error.file().empty()) {
      out.push_back(error);
    } else if (line < 0) {
      out.emplace_back(path, error.message(), 0, flags_.at(-line - 1));
    } else {
      const auto file = static_cast<std::size_t>(line / lines_of_a_file);
      out.emplace_back(path, error.message(), line % lines_of_a_file, files_[std::min(file, files_.size() - 1)]);
    }
  }
  return InputError(out);
}

Sources carry_out_includes(Value& root, const std::string& file) {
  Sources sources(file);
  const Value* found = root.find("include");
  if (found == nullptr) return sources;
  const Value include = *found;
  std::erase_if(*root.as<Value::Table>(), [](const auto& entry) { return entry.first == "include"; });
  try {
    Value lower{Value::Table{}};
    for (const std::string& name : included_names(include)) {
      const std::string path = (std::filesystem::path(file).parent_path() / name).string();
      Value next = read_included(path, include);
      sources.add(path, next);
      put_under(next, std::move(lower));
      lower = std::move(next);
    }
    put_under(root, std::move(lower));
  } catch (const InputError& e) {
    throw sources.located(e);
  }
  return sources;
}

}  // namespace polyhop
