// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/problem/column_choice.hpp"
#include "polyhop/problem/features.hpp"

namespace polyhop {

/// Samples as a file holds them, before they are dealt to agents.
struct DataTable {
  Features features;                // n x M
  MeteredVector<double> targets;    // n; class numbers if classes have names; empty if there are none
  std::vector<std::string> names;   // of the M features, or empty
  std::vector<std::string> labels;  // the classes' names, in order of their numbers, if targets were words; or empty
  std::string target_name;          // its number from 1 if the column has no name; or empty
  LearnedColumns columns = {};      // the features' positions in the file, if they have no names and some were left out
  std::string id_name = {};         // of the id column, as for the target
  std::vector<std::string> ids = {};          // of the samples, if requested and present
  Index skipped = 0;                          // rows that lack a value, if these were to be left out
  std::vector<std::string> not_dropped = {};  // names to drop that the file does not have
};

}  // namespace polyhop
