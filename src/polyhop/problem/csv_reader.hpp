// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/problem/data_file.hpp"

namespace polyhop {

/// Two passes: one finds the records and holds their lengths against each other, one reads the numbers into place.
DataTable read_csv(const std::string& file, const DataFormat& options);

}  // namespace polyhop
