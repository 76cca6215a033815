// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "polyhop/core/atomic_file.hpp"
#include "polyhop/fit/model_file.hpp"
#include "polyhop/problem/data_file.hpp"
#include "polyhop/problem/data_table.hpp"

namespace polyhop::app {

/// Whether DATA on the command line is the name of a bundled set; a file of that name comes first.
/// Throws InputError that names what is near, files and sets, where it is neither.
bool is_bundled(const std::string& data);

/// The model of MODEL DATA; where DATA is one and MODEL is not, the message says in which order they come.
Model load_model_before(const std::string& data, const std::string& model, std::span<const LossEntry> losses);

/// The samples of a file, or else of a bundled set, which knows its own format.
DataTable read_file_or_bundled(const std::string& data, const DataFormat& format);

/// "skipped 3 rows with missing values"
std::string skipped_text(Index rows);

/// Where a command's CSV goes: a file that appears as a whole, or the standard output. Opened at once.
class CsvOutput {
 public:
  /// `path`: of -o. Throws InputError where it cannot be opened.
  explicit CsvOutput(const std::optional<std::string>& path);

  void write(std::string_view text);
  /// Brings everything out; the file appears, and its name is printed where `announce`.
  void finish(bool announce = true);

 private:
  static void print_lines(std::string_view text);

  std::optional<AtomicFile> file_;
};

}  // namespace polyhop::app
