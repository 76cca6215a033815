// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop check: is this experiment sound, what exactly does it say, and what will it take?
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>

#include "command_line.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "key_arguments.hpp"
#include "memory_flag.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/machine.hpp"
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
void print_forecast(const CheckArguments& arguments, const Config& config, const Forecast& forecast, Index threads) {
  const auto comment = [](const std::string& text) { fmt::print("{}\n", inked("# " + text, Ink::dim)); };
  const auto count = [](std::size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  comment(fmt::format("{}: sound. {}: {}, {}, {} iterations each.", printable(arguments.file),
                      count(forecast.cells, "run"), count(config.methods.size(), "method"),
                      count(config.options.seeds.list.size(), "seed"), config.options.iterations));
  comment(fmt::format("Estimated: {} on {} threads and {}B of memory, from a few iterations on seed {}.",
                      duration(forecast.seconds), threads, number(forecast.bytes, 3),
                      config.options.seeds.list.front()));
  TextTable table({{"method"}, {"a run, about", TextTable::Align::right}, {""}});
  for (const MethodForecast& method : forecast.methods) {
    const std::string search =
        method.trials > 0 ? fmt::format("; its step is searched for by at most {} runs", method.trials) : "";
    table.add(
        {method.method, method.seconds ? duration(*method.seconds) : "-",
         (method.seconds ? fmt::format("from {} iterations", method.measured) : "not measured, time was up") + search});
  }
  std::string text = table.text();
  text.pop_back();
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 3) text.replace(at, 1, "\n# ");
  comment(text);
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
  Command check = line.command("check", "validate an experiment, spell it out, and estimate what it will take");
  check.option("FILE", arguments->file, "the experiment, a TOML file").required();
  add_keys(check, arguments->keys, "change a key: --set graph.agents=20");
  check.option("--threads", arguments->threads, "for the estimate (default: all cores)").within(1, 4096);
  check.flag("--json", arguments->json, "print JSON");
  add_memory_limit(check);
  add_color(check);
  check.callback([arguments, &registry = line.registry()] {
    check_command(*arguments, registry);
    return done;
  });
}

}  // namespace polyhop::app
