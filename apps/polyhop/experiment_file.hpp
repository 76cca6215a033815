// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace polyhop::app {

/// The only experiment in the current folder, for a command that was given none; says so on standard error, unless
/// quiet. Throws UsageError if there is none or more than one.
std::string only_experiment_here(bool quiet);

/// The same for the only experiment with results in the folder out: its folder.
std::string only_results_here(bool quiet);

}  // namespace polyhop::app
