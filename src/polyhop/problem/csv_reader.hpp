// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/problem/data_file.hpp"

namespace polyhop {

/// Makes two passes: one finds the records and checks that they are equally long, one reads the numbers into place.
DataTable read_csv(const std::string& file, const DataFormat& options);

/// The name of the target's column; empty if the columns have no names.
std::string csv_target(const std::string& file, const DataFormat& options);

}  // namespace polyhop
