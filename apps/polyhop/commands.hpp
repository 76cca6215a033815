// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace polyhop::app {

class CommandLine;

/// What the command ends with, as docs/interface.md lists.
enum ExitCode {
  done = 0,
  internal_error = 1,
  usage_error = 2,
  bad_input = 3,
  not_converged = 4,
  lost_peer = 5,
  no_room = 6
};

/// Each registers one command. When it is chosen, its callback does the work and gives the exit code; errors are
/// thrown, and told in one place, main.cpp.
void add_run(CommandLine& line);
void add_fit(CommandLine& line);
void add_predict(CommandLine& line);
void add_evaluate(CommandLine& line);
void add_data(CommandLine& line);
void add_report(CommandLine& line);
void add_export(CommandLine& line);
void add_graph(CommandLine& line);
void add_methods(CommandLine& line);
void add_check(CommandLine& line);
void add_init(CommandLine& line);
void add_doctor(CommandLine& line);
/// `completion` and `--man`, made from all that the others registered.
void add_completion(CommandLine& line);
/// `help`, of all that the others registered.
void add_help(CommandLine& line);

}  // namespace polyhop::app
