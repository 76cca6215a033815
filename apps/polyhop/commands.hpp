// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace polyhop::app {

class CommandLine;

/// Exit codes, as listed in docs/interface.md.
enum ExitCode {
  done = 0,
  internal_error = 1,
  usage_error = 2,
  bad_input = 3,
  not_converged = 4,
  lost_peer = 5,
  no_room = 6
};

/// Each registers one command, whose callback does the work and returns the exit code. Errors are thrown; command.cpp
/// prints them.
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
/// `completion` and `--man`, for all commands registered so far.
void add_completion(CommandLine& line);
/// `help`, for all commands registered so far.
void add_help(CommandLine& line);

}  // namespace polyhop::app
