// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "command_line.hpp"

namespace polyhop::app {

/// What --help prints for a command or for the program (the first entry of `tree`; the others are its commands). No
/// line is wider than `width`.
std::string help_text(const CommandInfo& command, const std::vector<CommandInfo>& tree, Index width);

}  // namespace polyhop::app
