// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop run: an experiment file in, a ranking and files out; of many experiments, a scoreboard.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "command_line.hpp"
#include "commands.hpp"
#include "experiment_file.hpp"
#include "experiment_run.hpp"
#include "key_arguments.hpp"
#include "memory_flag.hpp"
#include "polyhop/core/words.hpp"
#include "polyhop/report/ranking.hpp"
#include "polyhop/report/summary_json.hpp"
#include "polyhop/report/text_plot.hpp"
#include "polyhop/report/text_table.hpp"
#include "progress.hpp"
#include "run_many.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

Index ended_runs(const Record& record) {
  return std::ranges::count_if(record.cells, [](const Cell& cell) {
    return cell.status != Status::unfinished && cell.status != Status::failed;
  });
}

void print_results(const Record& record, std::size_t seeds) {
  const Index finished = ended_runs(record);
  const std::string over = seeds == 1 ? "one seed" : fmt::format("medians over {} seeds", seeds);
  const std::string text = finished == static_cast<Index>(record.cells.size())
                               ? count_of(finished, "run") + ", " + over
                               : fmt::format("{} of {} runs ended", finished, record.cells.size());
  fmt::print("{}: {}\n", inked(printable(record.name), Ink::bold), text);
  const Index width = output_width();
  fmt::print("{}", ranking_text(record, width, wants_color()));
  constexpr Index height = 14;
  fmt::print("\n{}", text_plot(record, std::min(width, widest_plot), height));
}

int run_one(const RunArguments& arguments) {
  const std::string& file = arguments.files.front();
  Team& team = join_team(arguments.cluster);
  std::optional<Config> read;
  team.together([&] { read = read_config_file(file, arguments.settings, *arguments.registry); });
  const Config& config = *read;
  agree_on(team, file, resolved(config).text());
  const auto place =
      arguments.output ? std::filesystem::path(*arguments.output) : "out" / folder_name(config.options.name, file);
  Progress progress(arguments.quiet, config.options.iterations,
                    static_cast<Index>(config.methods.size() * config.options.seeds.list.size()));
  const Outcome outcome = run_experiment(config, place, arguments, progress, team);
  if (!team.is_first()) return done;
  if (outcome.record.cells.empty()) {
    say("Stopped while searching for a constant; run the same command to continue.");
    return ending(done);
  }
  const int failures = tell_failures(outcome.record);
  const bool stopped = stop_signal() != 0;
  if (stopped && !arguments.json && ended_runs(outcome.record) == 0) {
    say("Stopped before any run ended; run the same command to continue.");
  } else if (arguments.json) {
    fmt::print("{}", summary_json(outcome.record));
  } else {
    print_results(outcome.record, config.options.seeds.list.size());
    fmt::print("\nThe page: {}\nThe data: {}{}\n", printable(outcome.page), printable(outcome.curves),
               !outcome.models.empty() ? ", " + printable(outcome.models)
                                       : "; there are many models: `polyhop export` writes them");
    if (stopped) say("Stopped early; run the same command to continue.");
  }
  flush_output();
  return ending(failures);
}

}  // namespace

void add_run(CommandLine& line) {
  const auto a = std::make_shared<RunArguments>();
  a->registry = &line.registry();
  const auto keys = std::make_shared<KeyArguments>();
  Command run = line.command("run", "run experiments and rank their methods, or compare them over many experiments");
  run.option(
      "FILE", a->files,
      "experiments: TOML files, or folders whose *.toml are run in order, except those that begin with _ (default: "
      "the experiment in the current folder, if there is only one)");
  run.option(
         "-o,--output", a->output,
         "the output folder (default: out/NAME; several experiments have a folder each, in out/DIR for one DIR, else "
         "in out); running again resumes from what is there")
      .writes("DIR");
  add_keys(run, *keys, "change a key: --set graph.agents=20 --set method.GAP.step.sweeps=5");
  run.option("--threads", a->threads, "number of threads (default: all cores; under mpirun 1 per rank)")
      .within(1, 4096);
  run.flag("--fresh", a->fresh, "discard earlier results in the folder and start over");
  run.flag("--json", a->json, "print the ranking as JSON, as in summary.json (several experiments: the scoreboard)");
  run.flag("--quiet", a->quiet, "no progress on the standard error");
  add_cluster(run, a->cluster);
  add_memory_limit(run);
  add_color(run);
  run.callback([a, keys] {
    a->settings = settings_of(*keys);
    if (a->files.empty()) a->files.push_back(only_experiment_here(a->quiet));
    return is_many(*a) ? run_many(*a) : run_one(*a);
  });
}

}  // namespace polyhop::app
