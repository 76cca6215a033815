// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/problem/data_file.hpp"

namespace polyhop {

/// Lines "label index:value ...". Makes two passes, one to count, one to read, so that memory holds little more than
/// what is kept.
DataTable read_libsvm(const std::string& file, const DataFormat& options);

}  // namespace polyhop
