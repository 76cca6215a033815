// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/input_file.hpp"

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace fs = std::filesystem;

std::string near_file(const std::string& file) {
  const fs::path path(file);
  constexpr std::size_t most = 10'000;  // names looked at
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end && names.size() < most; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  const std::string name = path.filename().string();
  for (const std::string& other : names) {
    if (!name.empty() && other.starts_with(name + ".")) return other;  // "exp" for "exp.toml"
  }
  return nearest_name(name, names);
}

std::uintmax_t input_file_size(const std::string& file, std::uintmax_t most) {
  const auto refuse = [&](const std::string& message) { throw InputError("", message, 0, file); };
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) {
    const std::string near = near_file(file);
    refuse("no such file" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  if (!fs::status_known(status)) refuse("cannot be read: " + error.message());
  if (fs::is_directory(status)) refuse("is a folder; expected a file");
  if (!fs::is_regular_file(status)) refuse("is a pipe, device or socket, expected a regular file");
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) refuse("cannot be read: " + error.message());
  if (size > most) refuse("has " + std::to_string(size) + " bytes, expected at most " + std::to_string(most));
  return size;
}

}  // namespace polyhop
