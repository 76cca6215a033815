// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop export: an experiment that was run, as files that other programs read.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "command_line.hpp"
#include "commands.hpp"
#include "experiment_file.hpp"
#include "memory_flag.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/experiment/load.hpp"
#include "polyhop/report/export.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

int export_command(const std::string& folder, const std::string& output) {
  const Record record = load_record(folder, true);
  try {
    export_record(record, output);
  } catch (const InputError&) {
    throw;
  } catch (const OutputError&) {
    throw;
  } catch (const Error& e) {
    throw InputError("-o", e.what());
  }
  for (const char* name : {"curves.csv", "models.npz", "steps.npz", "summary.json"}) {
    fmt::print("Written: {}\n", printable((std::filesystem::path(output) / name).string()));
  }
  flush_output();
  return done;
}

}  // namespace

void add_export(CommandLine& line) {
  struct Arguments {
    std::string folder, output;
  };
  const auto arguments = std::make_shared<Arguments>();
  Command command = line.command("export", "write curves.csv, models.npz, steps.npz and summary.json of an experiment");
  command.option("DIR", arguments->folder, "a folder that run wrote (default: the one in out, if there is only one)");
  command.option("-o,--output", arguments->output, "the folder to write to").required().writes("DIR");
  add_memory_limit(command);
  command.callback([arguments] {
    if (arguments->folder.empty()) arguments->folder = only_results_here(false);
    return export_command(arguments->folder, arguments->output);
  });
}

}  // namespace polyhop::app
