// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "data_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/problem/bundled_data.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {

DataTable read_file_or_bundled(const std::string& data, const DataFormat& format) {
  std::error_code error;
  if (std::filesystem::exists(data, error)) return read_data(data, format);
  std::vector<std::string> names;
  for (const BundledSet& set : bundled_sets()) names.push_back(set.name);
  if (std::ranges::find(names, data) != names.end()) return read_bundled(data);
  const std::string near = nearest_name(data, names);
  throw InputError("", "there is no file " + in_quotes(data) + ", and no bundled set of that name" +
                           (near.empty() ? "; `polyhop data` lists those" : "; did you mean '" + near + "'?"));
}

CsvOutput::CsvOutput(const std::optional<std::string>& path) {
  if (!path) return;
  try {
    file_.emplace(*path);
  } catch (const Error& e) {
    throw InputError("-o", e.what());
  }
}

void CsvOutput::write(std::string_view text) {
  if (file_) {
    file_->write(text);
  } else {
    fmt::print("{}", text);
  }
}

void CsvOutput::finish(bool announce) {
  if (file_) file_->commit();
  if (file_ && announce) fmt::print("Written: {}\n", printable(file_->path()));
  flush_output();
}

}  // namespace polyhop::app
