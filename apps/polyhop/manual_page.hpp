// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "command_line.hpp"

namespace polyhop::app {

/// The program's manual page, in roff, made from CommandLine::tree.
std::string manual_page(const std::vector<CommandInfo>& tree);

}  // namespace polyhop::app
