// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace polyhop {

/// What gnuplot, found on PATH, writes to its standard output when it is given `script`; no shell and no settings of
/// the user's take part. Throws Error with gnuplot's own words when it fails, and with the package to install when it
/// is missing.
std::string gnuplot_output(const std::string& script);

/// `text` as a gnuplot expression that stands for itself: in single quotes, inside which gnuplot runs no commands and
/// reads no escapes. Control characters become visible. Where it is shown, enhanced text must be off.
std::string gnuplot_string(std::string_view text);

}  // namespace polyhop
