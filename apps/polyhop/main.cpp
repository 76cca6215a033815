// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// The command line: reads arguments, calls the library, prints. No numerics here.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cluster.hpp"
#include "commands.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

// What is wrong with the arguments; for a command or flag that does not exist, with the nearest that does.
std::string usage_message(const CLI::App& app, const std::string& otherwise) {
  const std::vector<std::string> unknown = app.remaining(true);
  const auto chosen = app.get_subcommands();
  if (chosen.empty() && !unknown.empty() && !unknown.front().starts_with('-')) {
    std::vector<std::string> names;
    for (const auto* subcommand : app.get_subcommands({})) names.push_back(subcommand->get_name());
    return "unknown command '" + unknown.front() + "'" + suggestion(unknown.front(), names);
  }
  std::vector<std::string> names;
  for (const auto* option : (chosen.empty() ? app : *chosen.front()).get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const auto& argument : unknown) {
    const std::string name = argument.substr(0, argument.find('='));
    if (argument.size() > 1 && argument.starts_with('-'))
      return "unknown flag '" + name + "'" + suggestion(name, names);
  }
  return otherwise;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"polyhop: decentralized optimization over networks, with step sizes that know the graph"};
  app.set_version_flag("--version", std::string("polyhop ") + POLYHOP_VERSION);
  app.require_subcommand(1);
  int code = done;
  add_run(app, code);
  add_fit(app, code);
  add_predict(app, code);
  add_evaluate(app, code);
  add_data(app, code);
  add_report(app, code);
  add_export(app, code);
  add_graph(app, code);
  add_methods(app, code);
  add_check(app, code);
  add_init(app, code);
  add_doctor(app, code);
  add_completion(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    tell("polyhop: " + printable(usage_message(app, e.what())) + "\nRun with --help for more information.\n");
    return usage_error;
  }
  return code;
}

}  // namespace
}  // namespace polyhop::app

int main(int argc, char** argv) {
  using namespace polyhop;
  app::open_standard_files();
  int code = app::internal_error;
  try {
    app::supervise();
    if (argc > 1 && app::is_idle(argv[1])) return app::done;
    code = app::parse_and_run(argc, argv);
  } catch (const LostPeer& e) {
    // Whoever waits for a lost process tells of it: others may be out of reach.
    std::fputs(("polyhop: " + printable(e.what()) + "\n").c_str(), stderr);
    app::abort_team(app::lost_peer);
  } catch (const InputError& e) {
    app::tell("polyhop: " + printable(e.what()) + "\n");
    code = app::bad_input;
  } catch (const std::exception& e) {
    app::tell("polyhop: " + printable(e.what()) + "\n");
  }
  app::leave_team();
  return code;
}
