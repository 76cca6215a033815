// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace polyhop {

/// The size of an ordinary file. Throws InputError, with the file's name, for anything else: a missing file (naming a
/// similar one), a folder, a pipe or device, where reading might wait forever, or a file of more than `most` bytes.
std::uintmax_t input_file_size(const std::string& file, std::uintmax_t most = UINTMAX_MAX);

/// The name in the same folder that is nearest to a missing one; "" if none is near enough to be a typo.
std::string near_file(const std::string& file);

}  // namespace polyhop
