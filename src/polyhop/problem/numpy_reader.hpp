// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/problem/data_file.hpp"

namespace polyhop {

/// One matrix. The last column is the target, unless the options give another one by number, or say that there is none.
DataTable read_npy(const std::string& file, const DataFormat& options);

/// The arrays features (or X, data) and targets (or y, target).
DataTable read_npz(const std::string& file, const DataFormat& options);

}  // namespace polyhop
