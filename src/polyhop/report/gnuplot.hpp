// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace polyhop {

/// Runs `script` in the gnuplot on PATH, without a shell and without the user's settings, and returns its standard
/// output. Throws Error with gnuplot's message if it fails, or with the package to install if it is missing.
std::string gnuplot_output(const std::string& script);

/// `text` as a gnuplot string: in single quotes, in which gnuplot runs no commands and reads no escapes. Control
/// characters become visible. Enhanced text must be off where it is shown.
std::string gnuplot_string(std::string_view text);

}  // namespace polyhop
