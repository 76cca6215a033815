// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/bundled_data.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "polyhop/core/error.hpp"
#include "polyhop/problem/byte_source.hpp"
#include "polyhop/problem/data_file.hpp"

namespace polyhop {
namespace {

namespace fs = std::filesystem;

/// A set, and where its package keeps it.
struct Packaged {
  BundledSet set;
  const char* file;
};

const std::array<Packaged, 6>& packaged_sets() {
  static const std::string sklearn = "python3-sklearn";
  static const std::string fashion = "dataset-fashion-mnist";
  static const std::array<Packaged, 6> all = {{
      {{"diabetes", "disease progression after one year", 442, 10, 0, sklearn}, "diabetes_data_raw.csv.gz"},
      {{"breast-cancer", "malignant or benign tumours", 569, 30, 2, sklearn}, "breast_cancer.csv"},
      {{"digits", "handwritten digits, 8 x 8 pixels", 1797, 64, 10, sklearn}, "digits.csv.gz"},
      {{"wine", "three cultivars by chemical analysis", 178, 13, 3, sklearn}, "wine_data.csv"},
      {{"fashion-mnist", "articles of clothing, 28 x 28 pixels", 60000, 784, 10, fashion},
       "train-images-idx3-ubyte.gz"},
      {{"fashion-mnist-test", "the test set of fashion-mnist", 10000, 784, 10, fashion}, "t10k-images-idx3-ubyte.gz"},
  }};
  return all;
}

/// Where the packages may have put their files.
std::vector<fs::path> folders(const std::string& package, const fs::path& root) {
  if (package == "dataset-fashion-mnist") return {root / "usr/share/datasets/fashion-mnist"};
  std::vector<fs::path> out;
  for (const char* place : {"usr/lib", "usr/local/lib"}) {
    std::error_code error;
    std::vector<fs::path> pythons;
    for (fs::directory_iterator at(root / place, error), end; !error && at != end; at.increment(error)) {
      if (at->path().filename().string().starts_with("python3")) pythons.push_back(at->path());
    }
    std::ranges::sort(pythons);
    for (const fs::path& python : pythons) {
      for (const char* packages : {"dist-packages", "site-packages"}) {
        out.push_back(python / packages / "sklearn/datasets/data");
      }
    }
  }
  return out;
}

/// Empty if its package is missing.
std::string find_file(const Packaged& packaged, const fs::path& root) {
  std::error_code error;
  for (const fs::path& folder : folders(packaged.set.package, root)) {
    const fs::path path = folder / packaged.file;
    if (fs::exists(path, error)) return path.string();
  }
  return "";
}

/// The numbers of a line, separated by commas or blanks.
void append_numbers(const LineSource& lines, std::string_view line, MeteredVector<double>& out) {
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(", "), line.size());
    double x = 0;
    if (!parse_number(line.substr(0, end), x))
      lines.refuse("found " + shown(line.substr(0, end)) + ", expected a number");
    out.push_back(x);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
}

/// scikit-learn's own CSV: numbers alone, or after a line "samples,features,class names"; without a `targets` file the
/// last column holds them.
DataTable read_sklearn(const Packaged& packaged, const std::string& file, const std::string& targets) {
  const BundledSet& set = packaged.set;
  LineSource lines(file);
  std::string_view line;
  MeteredVector<double> numbers;
  DataTable out;
  const std::string counts = std::to_string(set.samples) + "," + std::to_string(set.features) + ",";
  while (lines.next(line)) {
    if (lines.number() == 1 && line.starts_with(counts)) {
      for (std::string_view rest = line.substr(counts.size()); !rest.empty();) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        out.labels.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      continue;
    }
    append_numbers(lines, line, numbers);
  }
  if (!targets.empty()) {
    LineSource more(targets);
    while (more.next(line)) append_numbers(more, line, out.targets);
  }
  const Index width = set.features + (targets.empty() ? 1 : 0);
  const bool complete = targets.empty() || static_cast<Index>(out.targets.size()) == set.samples;
  if (!complete || static_cast<Index>(numbers.size()) != set.samples * width) {
    throw InputError("", "is not the file that polyhop expects", 0, file);
  }
  Rows rows(set.samples, set.features);
  for (Index n = 0; n < set.samples; ++n) {
    const auto row = numbers.begin() + n * width;
    std::copy_n(row, set.features, rows.row(n).begin());
    if (targets.empty()) out.targets.push_back(row[set.features]);
  }
  out.features = std::move(rows);
  return out;
}

}  // namespace

std::vector<BundledSet> bundled_sets() {
  std::vector<BundledSet> out;
  for (const Packaged& packaged : packaged_sets()) out.push_back(packaged.set);
  return out;
}

bool is_installed(const BundledSet& set, const std::string& root) {
  const auto found = std::ranges::find(packaged_sets(), set.name, [](const Packaged& s) { return s.set.name; });
  return found != packaged_sets().end() && !find_file(*found, root).empty();
}

DataTable read_bundled(const std::string& name, const std::string& root,
                       const std::optional<std::vector<Index>>& keep) {
  const auto found = std::ranges::find(packaged_sets(), name, [](const Packaged& s) { return s.set.name; });
  if (found == packaged_sets().end()) {
    std::vector<std::string> names;
    for (const Packaged& packaged : packaged_sets()) names.push_back(packaged.set.name);
    throw InputError("", "there is no bundled set '" + name + "'" + suggestion(name, names));
  }
  const std::string file = find_file(*found, root);
  if (file.empty()) {
    throw InputError("", "the data of '" + name + "' are in the Debian package " + found->set.package +
                             ", which is not installed; run: apt install " + found->set.package);
  }
  if (found->set.package == "dataset-fashion-mnist") {
    DataFormat format;
    format.keep = keep;
    return read_data(file, format);
  }
  const std::string targets =
      name == "diabetes" ? (fs::path(file).parent_path() / "diabetes_target.csv.gz").string() : "";
  DataTable out = read_sklearn(*found, file, targets);
  if (keep) out.features = out.features.select(*keep);
  return out;
}

}  // namespace polyhop
