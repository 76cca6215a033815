// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace polyhop::app {

/// The one experiment in the current folder, for a command that was given none, which then says so on the standard
/// error unless it is quiet. Throws UsageError where there is none or several.
std::string only_experiment_here(bool quiet);

}  // namespace polyhop::app
