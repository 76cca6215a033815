// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/core/index.hpp"

namespace polyhop::app {

class Command;

/// The columns of the terminal that the standard output goes to; 0 when it goes elsewhere.
Index terminal_width();

/// Adds `--color auto|always|never` to a command. Auto: on a terminal, unless NO_COLOR is set or TERM is "dumb".
void add_color(Command& command);

/// A text of ours for the standard output, with the terminal's colours where they are wanted.
enum class Ink { bold, dim, good, warning, bad };
std::string inked(const std::string& text, Ink ink);

/// A time for a reader: "4.2 s", "12 min", "2.5 h".
std::string duration(double seconds);

/// Writes to the standard error; where that cannot be written, nobody is there to be told.
void tell(const std::string& text);

/// From now on `tell` says nothing: another process speaks for this one.
void mute();

/// Opens the standard input, output and error on nothing where they are closed, so that no file of ours takes their
/// place.
void open_standard_files();

/// Brings what was printed out; throws Error when it cannot be written.
void flush_output();

}  // namespace polyhop::app
