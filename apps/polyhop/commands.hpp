// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace polyhop::app {

/// What the command ends with, as docs/interface.md lists.
enum ExitCode { done = 0, internal_error = 1, usage_error = 2, bad_input = 3, not_converged = 4, lost_peer = 5 };

/// Each registers one command. When it is chosen, its callback does the work and sets `code`; errors are thrown, and
/// told in one place, main.cpp.
void add_run(CLI::App& app, int& code);
void add_fit(CLI::App& app, int& code);
void add_predict(CLI::App& app, int& code);
void add_evaluate(CLI::App& app, int& code);
void add_data(CLI::App& app, int& code);
void add_report(CLI::App& app, int& code);
void add_export(CLI::App& app, int& code);
void add_graph(CLI::App& app, int& code);
void add_methods(CLI::App& app, int& code);
void add_check(CLI::App& app, int& code);
void add_init(CLI::App& app, int& code);
void add_doctor(CLI::App& app, int& code);
/// `completion` and `--man`, made from all that the others registered.
void add_completion(CLI::App& app, int& code);

}  // namespace polyhop::app
