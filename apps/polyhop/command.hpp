// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/experiment/registry.hpp"

namespace polyhop {

/// The whole command, `polyhop run`, `fit` and all others, with everything in `registry`: a command of your own in
/// three lines (examples/own_command.cpp). In the target polyhop::command. Returns the exit code.
int main(int argc, char** argv, const Registry& registry = builtin());

}  // namespace polyhop
