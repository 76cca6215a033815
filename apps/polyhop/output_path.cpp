// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "output_path.hpp"

#include <filesystem>
#include <system_error>

#include "polyhop/core/error.hpp"

namespace polyhop::app {
namespace {

// The folder of a file, if it does not exist; else "".
std::string absent_folder(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code unknown;
  const bool there = folder.empty() || std::filesystem::exists(folder, unknown) || unknown;
  return there ? "" : folder.string();
}

}  // namespace

void require_folder(const std::string& flag, const std::string& file) {
  const std::string folder = absent_folder(file);
  if (folder.empty()) return;
  throw InputError(flag, "cannot write '" + file + "': there is no folder '" + folder + "'; make it with mkdir -p " +
                             folder + ", or choose another");
}

std::string missing_folder(const std::string& file) {
  const std::string folder = absent_folder(file);
  return folder.empty() ? "" : "; there is no folder '" + folder + "'";
}

}  // namespace polyhop::app
