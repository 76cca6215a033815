// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace polyhop::app {

/// If the folder of a file to be written does not exist, throws InputError with the flag and how to create the folder.
void require_folder(const std::string& flag, const std::string& file);

/// "; there is no folder 'DIR'", if that is why a file cannot be read; else "".
std::string missing_folder(const std::string& file);

}  // namespace polyhop::app
