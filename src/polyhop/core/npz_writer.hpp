// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/atomic_file.hpp"
#include "polyhop/core/index.hpp"

namespace polyhop {

/// Writes arrays for `numpy.load`: a zip file with one member NAME.npy (format 1.0, little-endian float64, C order,
/// uncompressed) per array. The same arrays give the same bytes: time stamps are fixed. The file is opened at once and
/// appears on `close`, complete; without `close` nothing is left behind. Keeps a copy of every array until then, and
/// `close` holds them twice. Throws Error if the file cannot be written, a name is taken, or a shape does not fit its
/// data.
class NpzWriter {
 public:
  explicit NpzWriter(std::string path);

  /// Names may contain slashes: "GAP tight/3" and "GAP tight/3/averaged" are two arrays.
  void add(const std::string& name, std::span<const double> data, const std::vector<Index>& shape);
  /// A member of plain text under exactly this name, for example "model.json"; NpzReader::text reads it back.
  void add_text(const std::string& member, std::string text);
  void close();

 private:
  void take_name(const std::string& name, const std::string& member);

  AtomicFile file_;
  std::vector<std::pair<std::string, std::string>> members_;  // name and bytes
  std::set<std::string> names_;                               // of members
};

}  // namespace polyhop
