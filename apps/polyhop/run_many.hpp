// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "experiment_run.hpp"

namespace polyhop::app {

/// Whether the arguments name several experiments, or a folder of them.
bool is_many(const RunArguments& arguments);

/// Runs every experiment into its own folder below the output folder, continues if one fails, and then makes the
/// scoreboard from their stores. All files are read and checked before the first one runs. The exit code is the worst
/// of all.
int run_many(const RunArguments& arguments);

}  // namespace polyhop::app
