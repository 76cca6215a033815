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

/// Whether DATA on the command line is the name of a bundled set; a file of that name takes precedence. If it is
/// neither, throws InputError with files and sets of similar names.
bool is_bundled(const std::string& data);

/// The model of MODEL DATA; if they were swapped, the message says so.
Model load_model_before(const std::string& data, const std::string& model, std::span<const LossEntry> losses);

/// The samples of a file or, if there is none, of a bundled set, which knows its own format.
DataTable read_file_or_bundled(const std::string& data, const DataFormat& format);

/// "skipped 3 rows with missing values"
std::string skipped_text(Index rows);

/// Where a command's CSV goes: a file that appears as a whole, or standard output. Opened at once.
class CsvOutput {
 public:
  /// `path`: of -o; the standard output if it is - or not given. Throws InputError if it cannot be opened.
  explicit CsvOutput(const std::optional<std::string>& path);

  void write(std::string_view text);
  /// Writes what is left; the file appears, and its name is printed if `announce` is set.
  void finish(bool announce = true);

 private:
  static void print_lines(std::string_view text);

  std::optional<AtomicFile> file_;
};

}  // namespace polyhop::app
