// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop check: validates an experiment, shows it in full, and estimates its cost.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>

#include "command_line.hpp"
#include "commands.hpp"
#include "experiment_file.hpp"
#include "json_output.hpp"
#include "key_arguments.hpp"
#include "memory_flag.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/machine.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/words.hpp"
#include "polyhop/experiment/advice.hpp"
#include "polyhop/experiment/forecast.hpp"
#include "polyhop/experiment/toml_writer.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

struct CheckArguments {
  std::string file;
  KeyArguments keys;
  Index threads = 0;
  bool json = false;
};

// As comments, so that all of the output is the experiment in TOML.
void print_comment(const std::string& text) {
  constexpr Index mark = 2;  // columns of "# "
  for (const std::string& line : wrapped(text, std::max<Index>(1, output_width() - mark))) {
    fmt::print("{}\n", inked("# " + line, Ink::dim));
  }
}

void print_table_in_comments(const TextTable& table) {
  constexpr Index mark = 2;
  std::istringstream lines(table.text(std::max<Index>(1, output_width() - mark)));
  for (std::string line; std::getline(lines, line);) {
    fmt::print("{}\n", inked(line.empty() ? "#" : "# " + line, Ink::dim));
  }
}

void print_forecast(const CheckArguments& arguments, const Config& config, const Forecast& forecast, Index threads) {
  print_comment(fmt::format("{}: valid. {}: {}, {}, {} each.", printable(arguments.file),
                            count_of(forecast.cells, "run"), count_of(std::ssize(config.methods), "method"),
                            count_of(std::ssize(config.options.seeds.list), "seed"),
                            count_of(config.options.iterations, "iteration")));
  print_comment(fmt::format("Estimate: {} on {} and {} of memory, from a few iterations on seed {}.",
                            duration_text(forecast.seconds), count_of(threads, "thread"), memory_text(forecast.bytes),
                            config.options.seeds.list.front()));
  TextTable table({{"method"}, {"time per run", TextTable::Align::right}, {"measured"}, {"tuning"}});
  for (const MethodForecast& method : forecast.methods) {
    const std::string search = method.trials > 0
                                   ? fmt::format("up to {} on {}", count_of(config.options.tuning.budget, "step"),
                                                 count_of(method.trials / config.options.tuning.budget, "seed"))
                                   : "-";
    table.add({method.method, method.seconds ? duration_text(*method.seconds) : "-",
               method.seconds ? "on " + count_of(method.measured, "iteration") : "no, time was up", search});
  }
  print_table_in_comments(table);
  const Batch& batch = config.options.problem.model.batch;
  const std::string note = forecast.samples > 0 ? batch_note(batch, forecast.samples) : batch_note(resolved(config));
  if (!note.empty()) print_comment(note);
}

Value forecast_json(const Config& config, const Forecast& forecast, Index threads) {
  Value::Array methods;
  for (const MethodForecast& method : forecast.methods) {
    methods.push_back(Value::Table{{"name", method.method},
                                   {"seconds", method.seconds ? Value(*method.seconds) : Value()},
                                   {"measured_iterations", method.measured},
                                   {"trials", method.trials}});
  }
  return Value::Table{{"config", resolved(config)},
                      {"agents", forecast.agents},
                      {"dimension", forecast.dimension},
                      {"cells", forecast.cells},
                      {"estimate", Value::Table{{"seconds", forecast.seconds},
                                                {"threads", threads},
                                                {"memory_bytes", forecast.bytes},
                                                {"instance_seconds", forecast.instance_seconds},
                                                {"methods", methods}}}};
}

Forecast forecast_of(const Config& config, Index threads) {
  try {
    return forecast(config, threads);
  } catch (const InputError& e) {
    throw config.sources.located(e);
  }
}

void check_command(const CheckArguments& arguments, const Registry& registry) {
  const Config config = read_config_file(arguments.file, settings_of(arguments.keys), registry);
  const Index threads = arguments.threads > 0 ? arguments.threads : this_machine().cores;
  const Forecast forecast = forecast_of(config, threads);
  if (arguments.json) return print_json(forecast_json(config, forecast, threads));
  print_forecast(arguments, config, forecast, threads);
  fmt::print("\n{}", to_toml(resolved(config)));
  flush_output();
}

}  // namespace

void add_check(CommandLine& line) {
  const auto arguments = std::make_shared<CheckArguments>();
  Command check = line.command("check", "validate an experiment, show it in full, estimate its cost");
  check.option("FILE", arguments->file,
               "the experiment, a TOML file (default: the one in the current folder, if there is only one)");
  add_keys(check, arguments->keys, "change a key: --set graph.agents=20");
  check.option("--threads", arguments->threads, "for the estimate (default: all cores)").within(1, 4096);
  check.flag("--json", arguments->json, "print JSON");
  add_memory_limit(check);
  add_color(check);
  check.callback([arguments, &registry = line.registry()] {
    if (arguments->file.empty()) arguments->file = only_experiment_here(arguments->json);
    check_command(*arguments, registry);
    return done;
  });
}

}  // namespace polyhop::app
