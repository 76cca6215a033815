// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/problem/data_table.hpp"

namespace polyhop {

/// A data set that a Debian package installs.
struct BundledSet {
  std::string name;     // "wine"
  std::string summary;  // what is predicted from what
  Index samples = 0;
  Index features = 0;
  Index classes = 0;    // 0: the target is a number
  std::string package;  // "python3-sklearn"
};

std::vector<BundledSet> bundled_sets();

/// Whether its package is installed under `root`.
bool is_installed(const BundledSet& set, const std::string& root = "/");

/// Throws InputError for an unknown name, or if the set's package is missing under `root`; the message names it.
/// `keep` is as in DataFormat.
DataTable read_bundled(const std::string& name, const std::string& root = "/",
                       const std::optional<std::vector<Index>>& keep = {});

}  // namespace polyhop
