// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
//
// data_dump FILE [columns N] [target NAME] [labels A,B,...] [features-only]: reads files as they are named in FILE's
// place or, for "-", in lines of standard input, and prints for each what was read, for data_oracle.py:
//   table ROWS COLUMNS dense|sparse, names, labels, target name (words as JSON has them), targets, a line for each row;
//   or "refused MESSAGE".
// A name that begins with "bundled:" is that of a bundled set.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/problem/bundled_data.hpp"
#include "polyhop/problem/data_file.hpp"

namespace {

using polyhop::DataFormat;
using polyhop::DataTable;
using polyhop::Index;

void print(const char* what, const std::vector<std::string>& words) {
  std::printf("%s", what);
  for (const std::string& word : words) std::printf("\t%s", polyhop::in_quotes(word).c_str());
  std::printf("\n");
}

void print(const DataTable& table) {
  const auto& features = table.features;
  std::printf("table %lld %lld %s\n", static_cast<long long>(features.rows()),
              static_cast<long long>(features.columns()), features.is_sparse() ? "sparse" : "dense");
  print("names", table.names);
  print("labels", table.labels);
  print("target", {table.target_name});
  std::printf("targets");
  for (const double y : table.targets) std::printf(" %a", y);
  std::printf("\n");
  for (Index n = 0; n < features.rows(); ++n) {
    if (features.is_sparse()) {
      const auto columns = features.columns_of(n);
      for (std::size_t e = 0; e < columns.size(); ++e) std::printf(" %d:%a", columns[e], features.values_of(n)[e]);
    } else {
      for (const double x : features.dense().row(n)) std::printf(" %a", x);
    }
    std::printf("\n");
  }
}

void dump(const std::string& file, const DataFormat& options) {
  const std::string bundled = "bundled:";
  try {
    print(file.starts_with(bundled) ? polyhop::read_bundled(file.substr(bundled.size()))
                                    : polyhop::read_data(file, options));
  } catch (const polyhop::InputError& error) {
    std::printf("refused %s\n", polyhop::in_quotes(error.what()).c_str());
  }
}

DataFormat parse(int argc, char** argv) {
  DataFormat options;
  for (int i = 2; i < argc; ++i) {
    const std::string key = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (key == "features-only") {
      options.has_targets = false;
      continue;
    }
    ++i;
    if (key == "columns") options.columns = std::stoll(value);
    if (key == "target") options.target = value;
    for (std::size_t at = 0; key == "labels" && at <= value.size();) {
      const std::size_t end = std::min(value.find(',', at), value.size());
      options.labels.push_back(value.substr(at, end - at));
      at = end + 1;
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    const DataFormat options = parse(argc, argv);
    const std::string file = argv[1];
    if (file != "-") dump(file, options);
    for (std::string line; file == "-" && std::getline(std::cin, line);) dump(line, options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
