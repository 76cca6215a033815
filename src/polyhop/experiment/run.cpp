// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/run.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <ctime>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/codec.hpp"
#include "polyhop/core/machine.hpp"
#include "polyhop/experiment/from_first.hpp"
#include "polyhop/experiment/tasks.hpp"
#include "polyhop/experiment/tuning.hpp"

namespace polyhop {
namespace {

// The instance of one seed, made by the first who needs it and dropped by the last.
class SharedInstance {
 public:
  const Instance& get(const ExperimentOptions& options, std::uint64_t seed, const RunOptions& run) {
    std::call_once(made_, [&] {
      instance_ = std::make_unique<Instance>(make_instance(options, seed, *run.team, run.placement));
      if (run.on_instance && run.team->is_first()) run.on_instance(*instance_);
    });
    return *instance_;
  }
  void release(Index methods) {
    if (++used_ == methods) instance_.reset();
  }

 private:
  std::once_flag made_;
  std::unique_ptr<Instance> instance_;
  std::atomic<Index> used_ = 0;
};

}  // namespace

namespace {

// Whether products of gradients may be products of single samples, which earlier versions rounded differently.
bool multiplies_samples(const ExperimentOptions& options, const Method& method) {
  const Value* damping = method.rule.options.find("damping");
  const std::string* name = damping == nullptr ? nullptr : damping->as<std::string>();
  const ModelOptions& model = options.problem.model;
  return name != nullptr && (*name == "paper" || *name == "rows") && model.l2 == 0 && !model.batch.all &&
         model.batch.size == 1;
}

}  // namespace

CellKey cell_key(const ExperimentOptions& options, const Method& method, std::uint64_t seed) {
  Value settings = identity(options);
  // Removes what does not change a run's numbers: names, other seeds, how often it is saved.
  std::erase_if(*settings.as<Value::Table>(), [](const auto& entry) {
    return entry.first == "name" || entry.first == "seeds" || entry.first == "checkpoint_every" ||
           entry.first == "tuning";
  });
  settings["algorithm"] = to_value(method.algorithm);
  settings["rule"] = Value(method.rule.name);
  settings["step"] = method.rule.options;
  settings["average"] = Value(method.average);
  add_gradient(method, settings);
  // Whether products are remembered changes no number.
  if (method.rule.name == "gap") {
    std::erase_if(*settings["step"].as<Value::Table>(), [](const auto& entry) { return entry.first == "products"; });
    if (multiplies_samples(options, method) && settings.find("arithmetic") == nullptr)
      settings["arithmetic"] = Value(2);
  }
  // Earlier versions had other rules of this name, whose runs are not this one's.
  if (method.algorithm.name == "auto") settings["revision"] = Value(10);
  return {method.name, seed, settings.text()};
}

namespace {

bool is_finished(const std::optional<Status>& status) {
  return status && *status != Status::unfinished && *status != Status::failed;
}

// Searches are found again by the hash of their settings, as cells are.
std::string search_id(const std::string& settings) { return CellKey{"", 0, settings}.id(); }

// Where and with what a run was made.
std::vector<std::pair<std::string, std::string>> provenance() {
  const Machine machine = this_machine();
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%d %H:%M:%S UTC", &utc);
  return {{"polyhop", machine.version},
          {"date", date.data()},
          {"compiler", machine.compiler},
          {"processor", machine.cpu},
          {"kernels", machine.instruction_set},
          {"system", machine.system},
          {"cores", std::to_string(machine.cores)}};
}

// An experiment in progress: the cells, their instances, and who gets told what. If several processes do it together,
// the first one has the store and the record, and decides what is run; all of them run it.
class Experiment {
 public:
  Experiment(const Config& config, const RunOptions& options, Record head)
      : config_(config),
        run_(options),
        team_(*options.team),
        stored_(first_says(team_, [&] { return options.store != nullptr; })),
        record_(std::move(head)) {
    const auto& seeds = config.options.seeds.list;
    instances_ = std::vector<SharedInstance>(seeds.size());
    for (const std::uint64_t seed : seeds) {
      for (const Method& method : config.methods) keys_.push_back(cell_key(config.options, method, seed));
    }
    record_.cells.resize(keys_.size());
  }

  Record run(Index threads) {
    const std::uint64_t first_seed = config_.options.seeds.list.front();
    team_.together([&] {
      const NetworkGraph network = make_network(config_.options.graph, first_seed);
      if (team_.is_first()) draw(network.graph, first_seed);
    });
    find_finished();
    if (team_.is_first() && run_.on_begin) run_.on_begin(finished_, static_cast<Index>(keys_.size()));
    double work = 0;  // of an iteration
    if (!waiting_.empty()) {
      const auto s = static_cast<std::size_t>(waiting_.front() / methods());
      const std::uint64_t seed = config_.options.seeds.list[s];
      const Instance& instance = instances_[s].get(config_.options, seed, run_);
      const std::vector<double> kept = check_methods(config_, instance, seed, team_);
      for (std::size_t m = 0; m < kept.size(); ++m) {
        if (kept[m] > 0 && team_.is_first() && run_.on_kept) run_.on_kept(config_.methods[m].name, kept[m]);
      }
      work = iteration_work(instance.network.matrix, *instance.problem);
    }
    if (stored_) on_first(team_, [&] { run_.store->set_experiment(record_, keys_); });
    const auto all = static_cast<Index>(waiting_.size());
    const Index beside = team_.size() > 1 ? 0 : side_by_side(all, work, threads);
    run_tasks(beside, threads, [&](Index n) { run_waiting(n, 1); });
    const Index workers = workers_for(work, threads, all - beside);
    run_tasks(all - beside, team_.size() > 1 ? 1 : threads / workers,
              [&](Index n) { run_waiting(beside + n, workers); });
    for (const auto& [cell, twin] : twins_) {
      record_.cells[cell] = record_.cells[twin];
      record_.cells[cell].method = keys_[cell].method;
    }
    return std::move(record_);
  }

 private:
  // How many threads each of so many other runs gets: as many as pay off. A number that the user gave is used fully
  // even if there are few runs.
  [[nodiscard]] Index workers_for(double work, Index threads, Index runs) const {
    if (team_.size() > 1) return threads;
    runs = std::max<Index>(1, runs);
    return std::max(paying_threads(work, threads), run_.threads > 0 ? threads / runs : 1);
  }
  [[nodiscard]] Index methods() const { return static_cast<Index>(config_.methods.size()); }

  void draw(const Graph& graph, std::uint64_t seed) {
    constexpr Index max_agents = 2000;
    if (graph.agents() > max_agents) return;
    NetworkPicture picture{seed, graph.agents(), {}};
    for (std::int32_t k = 0; k < graph.agents(); ++k) {
      for (const std::int32_t l : graph.neighbours(k)) {
        if (k < l) picture.edges.emplace_back(k, l);
      }
    }
    record_.networks.push_back(std::move(picture));
  }

  // Takes from the store what it already has; the rest is left to run.
  void find_finished() {
    std::vector<char> known(keys_.size());
    if (stored_) on_first(team_, [&] { load_finished(known); });
    MessageReader in(team_.collective().from_first(message(known)));
    known = in.take<std::vector<char>>();
    in.end();
    for (std::size_t n = 0; n < keys_.size(); ++n) {
      const CellKey& key = keys_[n];
      if (known[n] != 0) {
        ++finished_;
        instances_[n / static_cast<std::size_t>(methods())].release(methods());
      } else if (const auto [twin, is_new] = first_of_.try_emplace(key.id(), n); !is_new) {
        // The same run under another name.
        twins_.emplace_back(n, twin->second);
        ++finished_;
        instances_[n / static_cast<std::size_t>(methods())].release(methods());
      } else {
        waiting_.push_back(static_cast<Index>(n));
      }
    }
  }

  void load_finished(std::span<char> known) {
    for (std::size_t n = 0; n < keys_.size(); ++n) {
      const CellKey& key = keys_[n];
      if (!is_finished(run_.store->status(key.id()))) continue;
      record_.cells[n] = run_.store->load_cell(key.id(), key.method, key.seed, false);
      known[n] = 1;
    }
  }

  void run_waiting(Index number, Index workers) {
    const auto n = static_cast<std::size_t>(waiting_[number]);
    if (first_says(team_, run_.stop)) {
      on_first(team_, [&] { record_.cells[n] = stored(keys_[n]); });
      return;
    }
    const auto s = n / static_cast<std::size_t>(methods());
    Cell& cell = record_.cells[n];
    try {
      cell = run_one(n, instances_[s].get(config_.options, keys_[n].seed, run_), workers);
    } catch (const LostPeer&) {
      throw;  // the others cannot continue either
    } catch (const OutputError&) {
      throw;  // no room for the others, nor for recording this in the store
    } catch (const std::exception& e) {
      if (!stored_) throw;
      on_first(team_, [&] {
        run_.store->fail(keys_[n].id(), e.what());
        cell = stored(keys_[n]);
        cell.bad_input = dynamic_cast<const InputError*>(&e) != nullptr;
      });
    }
    instances_[s].release(methods());
    const std::lock_guard lock(mutex_);
    if (cell.status != Status::unfinished) ++finished_;
    if (team_.is_first() && run_.on_cell) run_.on_cell(cell, finished_, static_cast<Index>(keys_.size()));
  }

  // The cell as stored so far.
  Cell stored(const CellKey& key) const {
    if (run_.store != nullptr) return run_.store->load_cell(key.id(), key.method, key.seed, false);
    Cell cell;
    cell.method = key.method;
    cell.seed = key.seed;
    cell.status = Status::unfinished;
    return cell;
  }

  Cell run_one(std::size_t n, const Instance& instance, Index workers) {
    const Method& method = config_.methods[n % static_cast<std::size_t>(methods())];
    CellControl control;
    control.stop = run_.stop;
    control.models = team_.size() == 1;  // otherwise nobody has room for those of all agents
    // For the page: the first seed of a small network records every agent's steps.
    constexpr Index few_agents = 256;
    control.every_step = n < static_cast<std::size_t>(methods()) && instance.problem->agents() <= few_agents;
    if (run_.on_point) {
      control.on_point = [this](const Cell& cell) {
        const std::lock_guard lock(mutex_);
        run_.on_point(cell);
      };
    }
    std::optional<Checkpoint> checkpoint;
    Cell begun;
    std::size_t committed = 0;
    if (stored_) {
      on_first(team_, [&] {
        begun = take_up(keys_[n], checkpoint, control);
        committed = begun.points.size();
        keep_in_store(keys_[n].id(), committed, control);
      });
    }
    begun.column_spread = instance.column_spread;
    return run_cell(config_.options, method, instance, keys_[n].seed, workers, control, std::move(begun), team_);
  }

  // The cell as stored, and its checkpoint, if there is one.
  Cell take_up(const CellKey& key, std::optional<Checkpoint>& checkpoint, CellControl& control) {
    const std::string id = key.id();
    checkpoint = run_.store->checkpoint(id);
    if (!checkpoint) {
      run_.store->restart(id);
      return {};
    }
    control.resume = &*checkpoint;
    control.state = [this, id](const StateSink& sink) { run_.store->read_state(id, sink); };
    Cell begun = stored(key);
    begun.message.clear();
    std::erase_if(begun.points, [&](const Point& point) { return point.iteration > checkpoint->iteration; });
    // Steps that were not recorded from the start are not recorded at all.
    control.every_step = control.every_step && begun.steps.size() == begun.points.size();
    if (!control.every_step && config_.options.record.steps == RecordedSteps::summary) begun.steps.clear();
    if (begun.steps.empty() || begun.distances.size() != begun.points.size()) begun.distances.clear();
    return begun;
  }

  void keep_in_store(const std::string& id, std::size_t& committed, CellControl& control) {
    control.checkpoint_every = config_.options.checkpoint_every;
    control.save = [this, id, &committed](const Cell& cell, const Checkpoint& at, const StateStream& state) {
      run_.store->save(id, cell, committed, at, state);
      committed = cell.points.size();
    };
    control.finish = [this, id, &committed](const Cell& cell, const StateStream& models) {
      run_.store->finish(id, cell, committed, models);
    };
  }

  const Config& config_;
  const RunOptions& run_;
  Team& team_;
  bool stored_;  // the first process has a store
  Record record_;
  std::vector<CellKey> keys_;
  std::vector<SharedInstance> instances_;                   // of each seed
  std::vector<Index> waiting_;                              // cells still to run
  std::map<std::string, std::size_t> first_of_;             // the cell that runs for all with the same settings
  std::vector<std::pair<std::size_t, std::size_t>> twins_;  // the others, each with that one
  std::mutex mutex_;
  Index finished_ = 0;
};

}  // namespace

Record run(const Config& config, const RunOptions& given) {
  RunOptions options = given;
  std::mutex telling;
  std::set<std::string> told;
  if (given.on_kept) {
    options.on_kept = [&](const std::string& method, double bytes) {
      const std::lock_guard lock(telling);
      if (told.insert(method).second) given.on_kept(method, bytes);
    };
  }
  Team& team = *options.team;
  const Index threads = usable_threads(options.threads, team.size());
  TuningControl control{.threads = threads,
                        .on_trial = options.on_trial,
                        .on_trial_point = options.on_trial_point,
                        .on_kept = options.on_kept,
                        .stop = options.stop,
                        .team = &team,
                        .placement = options.placement};
  if (options.store != nullptr) {
    control.find = [&](const std::string& settings) { return options.store->tuning(search_id(settings)); };
    control.keep = [&](const std::string& settings, const Tuning& found) {
      options.store->save_tuning(search_id(settings), found);
    };
    control.find_trials = [&](const std::string& settings) {
      std::vector<TuningTrial> trials;
      for (const std::vector<double>& numbers : options.store->trials(search_id(settings))) {
        const auto trial = TuningTrial::from(numbers);
        if (!trial) break;
        trials.push_back(*trial);
      }
      return trials;
    };
    control.keep_trial = [&](const std::string& settings, Index number, const TuningTrial& trial) {
      options.store->save_trial(search_id(settings), number, trial.numbers());
    };
  }
  Record head;
  head.name = config.options.name;
  head.target = config.options.target;
  head.config = resolved(config);
  head.provenance = provenance();
  if (team.size() > 1) head.provenance.emplace_back("processes", std::to_string(team.size()));
  const auto tuned = resolve_tuned(config, control);
  if (!tuned) return head;  // stopped during the search
  head.tunings = tuned->tunings;
  return Experiment(tuned->config, options, std::move(head)).run(threads);
}

}  // namespace polyhop
