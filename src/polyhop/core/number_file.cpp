// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/number_file.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>

#include "polyhop/core/error.hpp"
#include "polyhop/core/input_file.hpp"
#include "polyhop/core/memory_limit.hpp"

namespace polyhop {
namespace {

bool separates(char c) { return c == ',' || std::isspace(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::vector<double> read_numbers(const std::string& path, const std::string& file) {
  std::vector<double> numbers;
  HeldMemory held;
  try {
    read_numbers(path, file, [&](Index, double x) {
      if (numbers.size() == numbers.capacity()) held.add(static_cast<double>(2 * numbers.size() + 1) * sizeof(double));
      numbers.push_back(x);
    });
  } catch (const OverMemoryLimit& e) {
    throw e.at(path, 0).in_file(file);
  }
  return numbers;
}

Index read_numbers(const std::string& path, const std::string& file,
                   const std::function<void(Index n, double x)>& take) {
  try {
    (void)input_file_size(file, 1'000'000'000);
  } catch (const InputError& e) {
    throw InputError(path, "'" + file + "': " + e.message());  // at the line that names the file
  }
  std::ifstream in(file);
  if (!in) throw InputError(path, "'" + file + "': cannot be read");
  Index count = 0;
  std::string line;
  for (int row = 1; std::getline(in, line); ++row) {
    const char* at = line.data();
    const char* end = at + line.size();
    while (true) {
      while (at != end && separates(*at)) ++at;
      if (at == end) break;
      double x = 0;
      const auto read = std::from_chars(at, end, x);
      // "1.2.3" is not 1.2 and then .3.
      const bool ends = read.ptr == end || separates(*read.ptr);
      if (read.ec != std::errc{} || !std::isfinite(x) || !ends) {
        throw InputError(path, "column " + std::to_string(at - line.data() + 1) + " is not a finite number", row, file);
      }
      take(count++, x);
      at = read.ptr;
    }
  }
  return count;
}

}  // namespace polyhop
