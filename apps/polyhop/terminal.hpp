// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/report/text_table.hpp"

namespace polyhop::app {

class Command;

/// The columns that text on the standard output may fill: what COLUMNS says, else those of the terminal, else 80.
/// Python counts them in the same way.
Index output_width();

/// The same of text on the standard error.
Index error_width();

/// Adds `--color auto|always|never` to a command. Auto: on a terminal, unless NO_COLOR is set or TERM is "dumb".
void add_color(Command& command);

/// Whether the standard output gets colours.
bool wants_color();

/// Text for the standard output, in colour if colours are wanted.
std::string inked(const std::string& text, Ink ink);

/// Prints a text in lines that fit; those after the first are indented.
void say(const std::string& text, Index indent = 0);
/// The same in one ink.
void say_inked(const std::string& text, Ink ink);

/// Writes to the standard error; a failure to do so is ignored.
void tell(const std::string& text);

/// Tells what is wrong: "polyhop: ", and the text made printable. On a terminal it is wrapped to its width, but neither
/// quoted names nor what `whole` lists are broken; elsewhere, as in a log, each message is one line.
std::string complaint(const std::string& text, const std::vector<std::string>& whole = {});
void complain(const std::string& text, const std::vector<std::string>& whole = {});

/// From now on `tell` prints nothing: another process speaks for this one.
void mute();

/// Opens /dev/null for the standard input, output and error if they are closed, so that no other file takes their
/// place.
void open_standard_files();

/// Flushes the standard output; throws OutputError if it cannot be written.
void flush_output();

}  // namespace polyhop::app
