// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "experiment_run.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "commands.hpp"
#include "data_input.hpp"
#include "polyhop/core/atomic_file.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/npz_writer.hpp"
#include "polyhop/experiment/advice.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/experiment/store.hpp"
#include "polyhop/report/curves_csv.hpp"
#include "polyhop/report/export.hpp"
#include "polyhop/report/html_report.hpp"
#include "polyhop/report/summary_json.hpp"
#include "polyhop/report/text_table.hpp"
#include "terminal.hpp"

namespace polyhop::app {
namespace {

// The signal that asked to stop, or 0. A second one ends the process at once: the store is safe at any instant.
std::atomic<int> interrupted = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void interrupt(int signal) {
  // Slurm signals every process of a job, so that one signal comes twice: from it, and from the supervisor.
  if (interrupted.exchange(signal) != 0 && !is_supervised()) _exit(128 + signal);
}

// What a run writes, opened before it starts. When it fails before its first checkpoint, nothing stays of it.
class Outputs {
 public:
  /// For the experiment `name`: a folder with another one in it is refused, unless `fresh` forgets that.
  Outputs(const std::filesystem::path& place, const std::string& name, bool fresh) try
      : folder(place),
        is_new_(!exists("experiment.sqlite")),
        curves((refuse_foreign(place), folder.file("curves.csv"))),
        models(folder.file("models.npz")),
        summary(folder.file("summary.json")),
        page(folder.file("report.html")),
        store(std::make_unique<Store>(place.string(), Store::Mode::write)) {
    if (!fresh) refuse_another(place, name);
  } catch (const InputError&) {
    throw;
  } catch (const OutputError&) {
    throw;
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
  // A folder with other things in it belongs to something else; no experiment is put there.
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
  // The same name with other settings is the usual way of working: cells that are known are not run again.
  void refuse_another(const std::filesystem::path& place, const std::string& name) const {
    const std::string held = store->name();
    if (held.empty() || held == name) return;
    throw InputError("", "'" + place.string() + "' holds the experiment '" + held + "', not '" + name +
                             "'; choose another folder with -o, or forget what is there with --fresh");
  }
  bool is_new_;

 public:
  AtomicFile curves;
  NpzWriter models;
  AtomicFile summary;
  AtomicFile page;
  std::unique_ptr<Store> store;
};

// Models from the store, unless they are too many for one file made in memory. One of several processes has no more
// memory than its share of the agents takes.
bool export_models(const Store& store, bool shared, NpzWriter& out) {
  constexpr Index max_bytes = 1'000'000'000;
  constexpr Index max_shared = 16'000'000;
  if (store.model_bytes() > (shared ? max_shared : max_bytes)) return false;
  write_models(store.load(true), out);
  out.close();
  return true;
}

// The tables and the page of what was run.
void write_outputs(Outputs& outputs, bool shared, Outcome& out) {
  if (export_models(*outputs.store, shared, outputs.models)) out.models = outputs.folder.file("models.npz");
  write_curves(out.record, [&](std::string_view text) { outputs.curves.write(text); });
  outputs.curves.commit();
  outputs.summary.write(summary_json(out.record));
  outputs.summary.commit();
  outputs.page.write(html_report({out.record}));
  outputs.page.commit();
  out.page = outputs.page.path();
  out.curves = outputs.curves.path();
}

// What is worth knowing about data that were read.
void tell_about(const Instance& instance, const Config& config) {
  if (instance.skipped > 0) complain(skipped_text(instance.skipped));
  if (instance.samples == 0) return;
  const std::string note = batch_note(config.options.problem.model.batch, instance.samples);
  if (!note.empty()) tell(paragraph(note, error_width()));
}

Record run_config(const Config& config, const RunArguments& arguments, Progress& progress, Team& team,
                  std::optional<Outputs>& outputs) {
  RunOptions options;
  options.threads = arguments.threads;
  options.on_trial = [&](const std::string& method, Index tried, Index budget) {
    progress.trial(method, tried, budget);
  };
  options.on_trial_point = [&](const std::string& method, const TrialPoint& at, Index budget) {
    progress.trial_point(method, at, budget);
  };
  // Every seed deals the same rows.
  std::once_flag told;
  options.on_instance = [&](const Instance& instance) {
    if (!arguments.quiet) std::call_once(told, [&] { tell_about(instance, config); });
  };
  options.on_kept = [&](const std::string& method, double bytes) {
    if (!arguments.quiet) progress.note(printable(kept_note(method, bytes)));
  };
  options.on_begin = [&](Index finished, Index total) { progress.found(finished, total); };
  options.on_point = [&](const Cell& cell) { progress.point(cell); };
  options.on_cell = [&](const Cell& cell, Index finished, Index total) { progress.cell(cell, finished, total); };
  options.stop = [] { return interrupted != 0; };
  options.team = &team;
  options.placement = arguments.cluster.placed();
  try {
    team.together([&] {
      if (!team.is_first()) return;
      options.store = outputs->store.get();
      if (arguments.fresh) options.store->clear();
    });
    Record record = run(config, options);
    progress.end();
    return record;
  } catch (const InputError& e) {
    if (outputs) outputs->forget();
    throw config.sources.located(e);
  }
}

}  // namespace

OutputFolder::OutputFolder(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code failed;
  for (auto p = path_; !p.empty() && !std::filesystem::exists(p, failed) && p != p.parent_path(); p = p.parent_path()) {
    made_.push_back(p);
  }
  std::filesystem::create_directories(path_, failed);
  if (!failed) return;
  remove_empty();
  throw Error("cannot make the folder '" + path_.string() + "': " + failed.message());
}

void OutputFolder::remove_empty() const {
  std::error_code ignored;
  for (const auto& p : made_) std::filesystem::remove(p, ignored);
}

std::filesystem::path folder_name(const std::string& name, const std::string& file) {
  const std::filesystem::path folder(name);
  if (folder.filename() != folder || name == "." || name == "..") {
    throw InputError("name", in_quotes(name) + " cannot be the name of a folder; choose one with -o", 0, file);
  }
  return folder;
}

Outcome run_experiment(const Config& config, const std::filesystem::path& place, const RunArguments& arguments,
                       Progress& progress, Team& team) {
  std::optional<Outputs> opened;
  stop_on_signals();  // before a file is opened, which would stay behind
  team.together([&] {
    if (team.is_first()) opened.emplace(place, config.options.name, arguments.fresh);
  });
  Outcome out;
  out.record = run_config(config, arguments, progress, team, opened);
  if (!team.is_first() || out.record.cells.empty()) return out;
  // What was run is in the store, and all of it is needed at once here.
  try {
    with_enough_memory("record_every", [&] { write_outputs(*opened, team.size() > 1, out); });
  } catch (const InputError& e) {
    throw config.sources.located(e);
  }
  return out;
}

void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = interrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
}

int stop_signal() { return interrupted; }

int tell_failures(const Record& record, const std::string& prefix) {
  int code = done;
  for (const Cell& cell : record.cells) {
    if (cell.status != Status::failed) continue;
    if (code != internal_error) code = cell.bad_input ? bad_input : internal_error;
    complain("failed: " + prefix + cell.method + " seed " + std::to_string(cell.seed) + ": " + cell.message,
             {prefix + cell.method});
  }
  return code;
}

int ending(int code) { return interrupted != 0 ? 128 + interrupted : code; }

}  // namespace polyhop::app
