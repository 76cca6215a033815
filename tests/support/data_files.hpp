// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/problem/bundled_data.hpp"
#include "polyhop/problem/data_file.hpp"
#include "support/temporary_folder.hpp"

namespace polyhop::test {

/// Whether a set of `polyhop data` is on this machine.
inline bool has_bundled(const std::string& name) {
  for (const BundledSet& set : bundled_sets()) {
    if (set.name == name) return is_installed(set);
  }
  return false;
}

/// A test that writes data files and reads them back.
class DataFiles : public TemporaryFolder {
 protected:
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }

  /// The bytes of a gzip file with this text.
  [[nodiscard]] std::string packed(std::string_view text) const {
    gzFile out = gzopen(file("packed").c_str(), "wb");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
    return content("packed");
  }

  [[nodiscard]] DataTable read(const std::string& name, std::string_view bytes, const DataFormat& options = {}) const {
    return read_data(write(name, bytes), options);
  }

  /// The line and the message that a file is refused with: "3: found ...", without the line where there is none.
  [[nodiscard]] std::string refusal(const std::string& name, std::string_view bytes,
                                    const DataFormat& options = {}) const {
    write(name, bytes);
    return refusal_of(file(name), options);
  }

  static std::string refusal_of(const std::string& path, const DataFormat& options = {}) {
    try {
      read_data(path, options);
    } catch (const InputError& e) {
      EXPECT_EQ(e.file(), path);
      return (e.line() > 0 ? std::to_string(e.line()) + ": " : "") + e.message();
    }
    return "not refused";
  }

  static std::vector<double> row(const DataTable& table, Index n) {
    const auto values = table.features.dense().row(n);
    return {values.begin(), values.end()};
  }
};

using Numbers = std::vector<double>;
using Words = std::vector<std::string>;

}  // namespace polyhop::test
