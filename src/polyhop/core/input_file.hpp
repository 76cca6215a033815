// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace polyhop {

/// The size of an ordinary file. Throws InputError, with the file, for anything else: nothing there (naming what is
/// near), a folder, a pipe or device, which would be waited for without end, and one of more than `most` bytes.
std::uintmax_t input_file_size(const std::string& file, std::uintmax_t most = UINTMAX_MAX);

/// The name in the same folder that is nearest to one that is not there; "" when none is near enough to be a typo.
std::string near_file(const std::string& file);

}  // namespace polyhop
