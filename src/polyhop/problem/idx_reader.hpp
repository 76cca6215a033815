// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/problem/data_file.hpp"

namespace polyhop {

/// Images of bytes, one row each, in the file's order; their labels come from the file beside them.
DataTable read_idx(const std::string& file, const DataFormat& options);

}  // namespace polyhop
