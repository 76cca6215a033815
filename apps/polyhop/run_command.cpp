// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// polyhop run: an experiment file in, a ranking and files out.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/experiment/store.hpp"
#include "polyhop/report/atomic_file.hpp"
#include "polyhop/report/curves_csv.hpp"
#include "polyhop/report/export.hpp"
#include "polyhop/report/html_report.hpp"
#include "polyhop/report/npz_writer.hpp"
#include "polyhop/report/ranking.hpp"
#include "polyhop/report/summary_json.hpp"
#include "polyhop/report/text_plot.hpp"
#include "polyhop/report/text_table.hpp"
#include "progress.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

struct RunArguments {
  std::string file;
  std::optional<std::string> output;
  std::vector<std::string> settings;
  std::optional<std::string> seeds;
  Index threads = 0;
  bool fresh = false;
  bool json = false;
  bool quiet = false;
};

// The signal that asked to stop, or 0. A second one ends the process at once: the store is safe at any instant.
std::atomic<int> interrupted = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void interrupt(int signal) {
  if (interrupted.exchange(signal) != 0) _exit(128 + signal);
}

void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = interrupt;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

// A folder made with its parents. Those that had to be made go again when nothing is in them at the end.
class OutputFolder {
 public:
  explicit OutputFolder(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code failed;
    for (auto p = path_; !p.empty() && !std::filesystem::exists(p, failed) && p != p.parent_path();
         p = p.parent_path()) {
      made_.push_back(p);
    }
    std::filesystem::create_directories(path_, failed);
    if (!failed) return;
    remove_empty();
    throw Error("cannot make the folder '" + path_.string() + "': " + failed.message());
  }
  ~OutputFolder() { remove_empty(); }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  void remove_empty() const {
    std::error_code ignored;
    for (const auto& p : made_) std::filesystem::remove(p, ignored);
  }
  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  // deepest first
};

// What a run writes, opened before it starts. When it fails before its first checkpoint, nothing stays of it.
class Outputs {
 public:
  explicit Outputs(const std::filesystem::path& place) try
      : folder(place),
        is_new_(!exists("experiment.sqlite")),
        curves((refuse_foreign(place), folder.file("curves.csv"))),
        models(folder.file("models.npz")),
        summary(folder.file("summary.json")),
        page(folder.file("report.html")),
        store(std::make_unique<Store>(place.string(), Store::Mode::write)) {
  } catch (const Error& e) {
    throw InputError("-o", e.what());
  }
  /// Leaves no trace of a store that was made for a run that could not begin.
  void forget() {
    if (!is_new_) return;
    store.reset();
    std::error_code ignored;
    for (const char* end : {"", "-wal", "-shm", "-journal"}) {
      std::filesystem::remove(folder.file(std::string("experiment.sqlite") + end), ignored);
    }
  }

  OutputFolder folder;

 private:
  [[nodiscard]] bool exists(const char* name) const { return std::filesystem::exists(folder.file(name)); }
  // A folder with other things in it is somebody's; an experiment is not put among them.
  void refuse_foreign(const std::filesystem::path& place) const {
    if (!is_new_) return;
    for (const auto& entry : std::filesystem::directory_iterator(place)) {
      const std::string name = entry.path().filename().string();
      static const std::set<std::string> ours = {"curves.csv", "models.npz",   "steps.npz",
                                                 "figures",    "summary.json", "report.html"};
      if (ours.contains(name) || name.ends_with(".tmp")) continue;
      throw Error("'" + place.string() + "' holds something else (" + name + "); choose an empty or a new folder");
    }
  }
  bool is_new_;

 public:
  AtomicFile curves;
  NpzWriter models;
  AtomicFile summary;
  AtomicFile page;
  std::unique_ptr<Store> store;
};

std::filesystem::path output_folder(const RunArguments& arguments, const std::string& name) {
  if (arguments.output) return *arguments.output;
  const std::filesystem::path folder(name);
  if (folder.filename() != folder || name == "." || name == "..") {
    throw InputError("name", in_quotes(name) + " cannot be the name of a folder; choose one with -o", 0,
                     arguments.file);
  }
  return std::filesystem::path("out") / folder;
}

Record run_config(const Config& config, const RunArguments& arguments, Outputs& outputs) {
  const auto runs = static_cast<Index>(config.methods.size() * config.options.seeds.list.size());
  Progress progress(arguments.quiet, config.options.iterations, runs);
  RunOptions options;
  options.threads = arguments.threads;
  options.on_trial = [&](const std::string& method, Index tried, Index budget) {
    progress.trial(method, tried, budget);
  };
  options.on_point = [&](const Cell& cell) { progress.point(cell); };
  options.on_cell = [&](const Cell& cell, Index finished, Index total) { progress.cell(cell, finished, total); };
  options.stop = [] { return interrupted != 0; };
  options.store = outputs.store.get();
  stop_on_signals();
  try {
    if (arguments.fresh) outputs.store->clear();
    Record record = run(config, options);
    progress.end();
    return record;
  } catch (const InputError& e) {
    outputs.forget();
    throw e.in_file(arguments.file);
  }
}

// Models, one cell after the other from the store, unless they are too many for one file made in memory.
bool export_models(const Store& store, const Config& config, const Record& record, NpzWriter& out) {
  constexpr double most_bytes = 1e9;
  const auto agents =
      static_cast<double>(std::max<Index>(1, record.networks.empty() ? 100000 : record.networks[0].agents));
  const double bytes = agents * static_cast<double>(config.options.problem.dimension) * sizeof(Real) * 2 *
                       static_cast<double>(record.cells.size());
  if (bytes > most_bytes) return false;
  write_models(store.load(true), out);
  out.close();
  return true;
}

void print_results(const Record& record, std::size_t seeds) {
  Index finished = 0;
  for (const Cell& cell : record.cells) finished += cell.status != Status::unfinished && cell.status != Status::failed;
  const std::string runs = finished == static_cast<Index>(record.cells.size())
                               ? fmt::format("{} run{}", finished, finished == 1 ? "" : "s")
                               : fmt::format("{} of {} runs", finished, record.cells.size());
  fmt::print("{}: {}, {}; iterations, vectors, evaluations and seconds are those to reach {}\n", printable(record.name),
             runs, seeds == 1 ? "one seed" : fmt::format("medians over {} seeds", seeds),
             significant(record.target, 3));
  const Index width = terminal_width();
  fmt::print("{}", ranking_text(record, width));
  constexpr Index usual_width = 80;
  constexpr Index height = 14;
  fmt::print("\n{}", text_plot(record, width > 0 ? std::min(width, usual_width) : usual_width, height));
}

// Names the runs that ended by an error, and how; the exit code that follows.
int tell_failures(const Record& record) {
  int code = done;
  for (const Cell& cell : record.cells) {
    if (cell.status != Status::failed) continue;
    if (code != internal_error) code = cell.bad_input ? bad_input : internal_error;
    tell("polyhop: failed: " + printable(cell.method) + " seed " + std::to_string(cell.seed) + ": " +
         printable(cell.message) + "\n");
  }
  return code;
}

int ending(int failures) { return interrupted != 0 ? 128 + interrupted : failures; }

int run_command(RunArguments arguments) {
  if (arguments.seeds) arguments.settings.push_back("seeds=" + *arguments.seeds);
  const Config config = read_config_file(arguments.file, arguments.settings);
  Outputs outputs(output_folder(arguments, config.options.name));

  const Record record = run_config(config, arguments, outputs);
  if (record.cells.empty()) {
    fmt::print("Stopped while searching for a constant; the same command begins the search again.\n");
    return 128 + interrupted;
  }
  const bool with_models = export_models(*outputs.store, config, record, outputs.models);
  write_curves(record, [&](std::string_view text) { outputs.curves.write(text); });
  outputs.curves.commit();
  outputs.summary.write(summary_json(record));
  outputs.summary.commit();
  outputs.page.write(html_report({record}));
  outputs.page.commit();

  const int failures = tell_failures(record);
  if (arguments.json) {
    fmt::print("{}", summary_json(record));
    if (std::fflush(stdout) != 0) throw Error("cannot write the results to the standard output");
    return ending(failures);
  }
  print_results(record, config.options.seeds.list.size());
  fmt::print("\nThe page: {}\nThe data: {}{}\n", printable(outputs.page.path()), printable(outputs.curves.path()),
             with_models ? ", " + printable(outputs.folder.file("models.npz"))
                         : "; the models are many: `polyhop export` writes them");
  if (interrupted != 0) fmt::print("Stopped on the way; the same command goes on from here.\n");
  if (std::fflush(stdout) != 0) throw Error("cannot write the results to the standard output");
  return ending(failures);
}

}  // namespace

void add_run(CLI::App& app, int& code) {
  const auto arguments = std::make_shared<RunArguments>();
  auto* run = app.add_subcommand("run", "run an experiment file and rank its methods");
  run->add_option("FILE", arguments->file, "the experiment, a TOML file")->required();
  run->add_option("-o,--output", arguments->output,
                  "folder of the experiment (default: out/NAME); running again goes on from what is there");
  run->add_option("--set", arguments->settings, "change a key: --set graph.agents=20 --set method.GAP.step.sweeps=5")
      ->allow_extra_args(false);
  run->add_option("--seeds", arguments->seeds, "instead of the file's: 3, \"[1, 5]\" or 0..19");
  run->add_option("--threads", arguments->threads, "how many to use (default: all cores)")->check(CLI::Range(1, 4096));
  run->add_flag("--fresh", arguments->fresh, "forget what the folder's store holds and start over");
  run->add_flag("--json", arguments->json, "the ranking as JSON on the standard output, as in summary.json");
  run->add_flag("--quiet", arguments->quiet, "no progress on the standard error");
  run->callback([arguments, &code] { code = run_command(*arguments); });
}

}  // namespace polyhop::app
