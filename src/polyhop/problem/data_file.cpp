// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/data_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>

#include "polyhop/core/error.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/problem/byte_source.hpp"
#include "polyhop/problem/csv_reader.hpp"
#include "polyhop/problem/idx_reader.hpp"
#include "polyhop/problem/libsvm_reader.hpp"
#include "polyhop/problem/numpy_reader.hpp"

namespace polyhop {
namespace {

using Reader = DataTable (*)(const std::string&, const DataFormat&);

/// What the name says: nullptr for nothing. A final .gz is ignored.
Reader by_name(const std::string& file) {
  std::string name = std::filesystem::path(file).filename().string();
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
  if (ends(".svm") || ends(".libsvm") || ends(".txt")) return read_libsvm;
  if (ends(".csv") || ends(".tsv")) return read_csv;
  if (ends(".npy")) return read_npy;
  if (ends(".npz")) return read_npz;
  if (ends("-idx3-ubyte")) return read_idx;
  return nullptr;
}

Reader by_first_bytes(const std::string& file) {
  std::array<char, 6> head{};
  const std::string_view bytes(head.data(), ByteSource(file).read(head.data(), head.size()));
  if (bytes.starts_with("\x93NUMPY")) return read_npy;
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06")) return read_npz;
  if (bytes.starts_with(std::string_view("\0\0\x08\x03", 4))) return read_idx;
  return nullptr;
}

/// Whether the first line with a sample has separators, and no word in it is index:value.
bool looks_like_csv(const std::string& file) {
  LineSource lines(file);
  std::string_view line;
  while (lines.next(line)) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    constexpr std::string_view digits = "0123456789";
    for (std::size_t at = line.find(':'); at != std::string_view::npos; at = line.find(':', at + 1)) {
      const std::size_t word = line.substr(0, at).find_last_not_of(digits);
      const bool begins = word == std::string_view::npos || line[word] == ' ' || line[word] == '\t';
      if (begins && at > 0 && digits.find(line[at - 1]) != std::string_view::npos) return false;
    }
    return line.find_first_of(",;\t") != std::string_view::npos;
  }
  return false;
}

}  // namespace

void refuse_choice(const DataFormat& options, const std::string& file) {
  const ColumnChoice& choice = options.choice;
  if (choice.empty()) return;
  throw InputError(!choice.columns.empty() ? "problem.columns"
                   : !choice.drop.empty()  ? "problem.drop"
                                           : "problem.id",
                   "chooses among the columns of CSV, NPY and NPZ files; write these data as one of those (a bundled "
                   "set with `polyhop data NAME -o FILE.csv`)",
                   0, file);
}

namespace {

DataTable read_as_it_is(const std::string& file, const DataFormat& options) {
  Reader reader = by_name(file);
  char first = 0;
  // Without samples a LIBSVM file holds nothing at all; other formats at least name their columns.
  const bool may_be_empty = options.may_be_empty && reader == read_libsvm;
  if (ByteSource(file).read(&first, 1) == 0 && !may_be_empty) {
    const bool needs_header = options.may_be_empty && reader == read_csv;
    throw InputError(
        "", needs_header ? "is empty; an agent without samples needs the line that names the columns" : "is empty", 0,
        file);
  }
  if (reader == nullptr) reader = by_first_bytes(file);
  if (reader == nullptr || reader == read_libsvm) reader = looks_like_csv(file) ? read_csv : read_libsvm;
  return reader(file, options);
}

}  // namespace

std::string target_in(const std::string& file, const DataFormat& options) {
  return by_name(file) == read_csv ? csv_target(file, options) : "";
}

DataTable read_data(const std::string& file, const DataFormat& options) {
  try {
    return with_enough_memory("", [&] { return read_as_it_is(file, options); });
  } catch (const InputError& e) {
    throw e.in_file(file);
  }
}

}  // namespace polyhop
