// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "data_input.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "output_path.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/input_file.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/core/words.hpp"
#include "polyhop/problem/agent_files.hpp"
#include "polyhop/problem/bundled_data.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {

bool is_bundled(const std::string& data) {
  std::error_code error;
  if (std::filesystem::is_directory(data, error)) {
    const std::string pattern = (std::filesystem::path(data) / "{agent}.csv").string();
    throw InputError("", "is a folder; name a file in it, or one file per agent, such as '" + pattern + "'", 0, data);
  }
  if (std::filesystem::exists(data, error)) {
    if (std::filesystem::path(data).extension() != ".toml") return false;
    throw InputError("", "is an experiment, not data; `polyhop run " + data + "` runs it", 0, data);
  }
  std::vector<std::string> names;
  for (const BundledSet& set : bundled_sets()) names.push_back(set.name);
  if (std::ranges::find(names, data) != names.end()) return true;
  if (const std::string pattern = AgentFiles::pattern_instead_of(data); !pattern.empty()) {
    const Index files = AgentFiles::from(pattern)->existing();
    throw InputError("", "there is no file " + in_quotes(data) + "; one file per agent is written '" + pattern + "'" +
                             (files > 0 ? ", of which there are " + std::to_string(files)
                                        : ", with agents numbered from 0, but no such file is there"));
  }
  if (const std::string folder = missing_folder(data); !folder.empty()) {
    throw InputError("", "there is no file " + in_quotes(data) + folder);
  }
  const std::string nearest = nearest_name(data, names);
  const std::string file = nearest.empty() ? near_file(data) : "";
  const std::string near = nearest.empty() ? file : nearest;
  throw InputError("", "there is no file " + in_quotes(data) + ", and no bundled set of that name" +
                           (near.empty() ? "; `polyhop data` lists those" : "; did you mean '" + near + "'?"));
}

namespace {

bool is_model(const std::string& file, std::span<const LossEntry> losses) {
  try {
    (void)load_model(file, losses);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

Model load_model_before(const std::string& data, const std::string& model, std::span<const LossEntry> losses) {
  try {
    return load_model(model, losses);
  } catch (const InputError& e) {
    if (!is_model(data, losses)) throw;
    throw InputError(e.path(), e.message() + "; the order is MODEL DATA", e.line(), e.file());
  }
}

DataTable read_file_or_bundled(const std::string& data, const DataFormat& format) {
  return is_bundled(data) ? read_bundled(data) : read_data(data, format);
}

std::string skipped_text(Index rows) { return "skipped " + count_of(rows, "row") + " with missing values"; }

CsvOutput::CsvOutput(const std::optional<std::string>& path) {
  if (!path || *path == "-") return;
  require_folder("-o", *path);
  try {
    file_.emplace(*path);
  } catch (const Error& e) {
    throw InputError("-o", e.what());
  }
}

// A terminal must not obey control characters in a file; anything else gets the text as it is.
void CsvOutput::print_lines(std::string_view text) {
  if (isatty(STDOUT_FILENO) == 0) {
    fmt::print("{}", text);
    return;
  }
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    fmt::print("{}\n", printable(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  fmt::print("{}", printable(text));
}

void CsvOutput::write(std::string_view text) {
  if (file_) {
    file_->write(text);
  } else {
    print_lines(text);
  }
}

void CsvOutput::finish(bool announce) {
  if (file_) file_->commit();
  if (file_ && announce) fmt::print("Written: {}\n", printable(file_->path()));
  flush_output();
}

}  // namespace polyhop::app
