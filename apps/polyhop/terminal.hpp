// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/report/text_table.hpp"

namespace polyhop::app {

class Command;

/// The width for text on standard output: COLUMNS if it is set, otherwise the terminal's, otherwise 80. The same as
/// Python's.
Index output_width();

/// The same for standard error.
Index error_width();

/// Adds `--color auto|always|never` to a command. Auto: on a terminal, unless NO_COLOR is set or TERM is "dumb".
void add_color(Command& command);

/// Whether standard output gets colours.
bool wants_color();

/// Text for standard output, in colour if colours are wanted.
std::string inked(const std::string& text, Ink ink);

/// Prints a text in lines that fit; those after the first are indented.
void say(const std::string& text, Index indent = 0);
/// The same in one colour.
void say_inked(const std::string& text, Ink ink);

/// Writes to standard error; failure to do so is ignored.
void tell(const std::string& text);

/// Prints an error: "polyhop: " and the text made printable. On a terminal it is wrapped, but not inside quoted names
/// or the texts in `whole`; elsewhere, as in a log, each message is one line.
std::string complaint(const std::string& text, const std::vector<std::string>& whole = {});
void complain(const std::string& text, const std::vector<std::string>& whole = {});

/// From now on `tell` prints nothing: another process reports instead.
void mute();

/// Opens /dev/null for the standard input, output and error if they are closed, so that no other file takes their
/// place.
void open_standard_files();

/// Flushes the standard output; throws OutputError if it cannot be written.
void flush_output();

}  // namespace polyhop::app
