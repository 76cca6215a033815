// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// The command line: reads arguments, calls the library, prints. No numerics here.
#include "polyhop/command.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "cluster.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/machine.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

int parse_and_run(int argc, char** argv, const Registry& registry) {
  CommandLine line("polyhop: decentralized optimization over networks, with step sizes that know the graph",
                   std::string("polyhop ") + POLYHOP_VERSION, registry);
  add_run(line);
  add_fit(line);
  add_predict(line);
  add_evaluate(line);
  add_data(line);
  add_report(line);
  add_export(line);
  add_graph(line);
  add_methods(line);
  add_check(line);
  add_init(line);
  add_doctor(line);
  add_completion(line);
  add_help(line);
  return line.run(argc, argv);
}

}  // namespace
}  // namespace polyhop::app

namespace polyhop {

int main(int argc, char** argv, const Registry& registry) {
  app::open_standard_files();
  std::signal(SIGXFSZ,
              SIG_IGN);  // a file that may not grow is an error like a full disk, and no reason to die silently
  int code = app::internal_error;
  std::string wrong;
  try {
    app::supervise(argc > 1 ? argv[1] : "");
    if (argc > 1 && app::is_idle(argv[1])) return app::done;
    check_kernels_asked_for();
    code = app::parse_and_run(argc, argv, registry);
  } catch (const LostPeer& e) {
    // Whoever waits for a lost process tells of it: others may be out of reach.
    std::fputs(app::complaint(e.what()).c_str(), stderr);
    app::abort_team(app::lost_peer);
  } catch (const app::UsageError& e) {
    wrong = app::complaint(e.what()) + "Run with --help for more information.\n";
    code = app::usage_error;
  } catch (const InputError& e) {
    for (const InputError& each : e.all()) wrong += app::complaint(each.what(), {each.file(), each.path()});
    code = app::bad_input;
  } catch (const std::bad_alloc&) {
    wrong = app::complaint(argv[1] + (": " + out_of_memory().message()));
    code = app::bad_input;
  } catch (const OutputError& e) {
    wrong = app::complaint(e.what());
    code = app::no_room;
  } catch (const std::exception& e) {
    wrong = app::complaint(e.what());
  }
  app::tell(wrong);
  app::leave_team(code, wrong);
  return code;
}

}  // namespace polyhop
