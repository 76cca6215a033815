// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/run.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "polyhop/core/number_file.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/experiment/advice.hpp"
#include "polyhop/experiment/machine.hpp"
#include "polyhop/experiment/recorder.hpp"
#include "polyhop/experiment/standardise.hpp"
#include "polyhop/experiment/tasks.hpp"
#include "polyhop/experiment/tuning.hpp"
#include "polyhop/method/averaged_iterate.hpp"
#include "polyhop/network/runtime.hpp"
#include "polyhop/problem/dealt_data.hpp"

namespace polyhop {
namespace {

// A method on one block.
struct Built {
  std::unique_ptr<StepSize> rule;
  std::unique_ptr<Algorithm> algorithm;
};

// Its objections come with the method's name before them.
Built build(const Method& method, Rows start, Network& network, const Reference& reference, std::uint64_t seed) {
  const Setting setting = {network, &reference, method.algorithm.recursion, seed};
  try {
    return {method.rule.build(setting), method.algorithm.build(std::move(start), setting)};
  } catch (const InputError& e) {
    throw InputError("method." + in_quotes(method.name) + ".step." + e.path(), e.message(), e.line(), e.file());
  }
}

// Builds everything once, so that what does not fit the instance shows before any work is done.
void check(const Config& config, const Instance& instance, std::uint64_t seed) {
  const Index agents = instance.problem->agents();
  const Index dimension = instance.problem->dimension();
  const Rows start = first_models(config.options, {0, agents}, dimension, agents, seed);
  launch_serial(instance.network.matrix, dimension, [&](Worker& worker) {
    for (const Method& method : config.methods) (void)build(method, start, worker.network, instance.reference, seed);
  });
}

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Decides, for all workers alike, when a run is looked after: at recorded points, and a few times a second between.
class Watch {
 public:
  enum Action { go_on, save, stop };

  Watch(const CellControl& control, Worker& worker, Index first)
      : control_(control), worker_(worker), active_(control.save || control.stop), last_(first), next_(first) {}

  [[nodiscard]] bool due(Index i) const { return active_ && i == next_; }

  /// What to do before iteration i. The first worker decides; the answer travels to all.
  Action look(Index i) {
    if (!active_) return go_on;
    std::array<double, 2> answer{};
    worker_.collective.in_order(answer, [&](std::span<double> shared) {
      if (worker_.number != 0) return;
      constexpr double between_looks = 0.2;
      const double passed = std::max(since(last_time_), 1e-9);
      const double pace = static_cast<double>(i - last_) / passed;
      const auto ahead = static_cast<Index>(std::clamp(pace * between_looks, 1.0, 1e6));
      shared[0] = decide();
      shared[1] = static_cast<double>(i + ahead);
    });
    last_ = i;
    last_time_ = Clock::now();
    next_ = static_cast<Index>(answer[1]);
    return static_cast<Action>(static_cast<int>(answer[0]));
  }

 private:
  Action decide() {
    if (control_.stop && control_.stop()) return stop;
    if (!control_.save || since(saved_) < control_.checkpoint_every) return go_on;
    saved_ = Clock::now();
    return save;
  }

  const CellControl& control_;
  Worker& worker_;
  bool active_;
  Index last_;
  Index next_;
  Clock::time_point last_time_ = Clock::now();
  Clock::time_point saved_ = Clock::now();
};

// Not solved, and nobody has moved between the last two points. Nor will they: a sample that happens to be fitted gives
// a step of 0 now and then, but not all agents at both points.
bool is_stalled(const Cell& cell, const ExperimentOptions& options) {
  if (cell.points.size() < 2) return false;
  const Point& last = cell.points.back();
  const Point& before = cell.points[cell.points.size() - 2];
  return last.excess_risk > options.target && last.step_max == 0 && before.step_max == 0 &&
         last.excess_risk == before.excess_risk && last.excess_risk_mean_model == before.excess_risk_mean_model &&
         last.consensus_error == before.consensus_error;
}

// One worker's share of a run: observe, step, and again.
void work(const ExperimentOptions& options, const Method& method, const Instance& instance, std::uint64_t seed,
          const CellControl& control, Worker& worker, Cell& cell, Checkpoint& shared) {
  const Problem& problem = *instance.problem;
  Network& network = worker.network;
  const Block block = network.block();
  const auto start = [&] { return first_models(options, block, problem.dimension(), problem.agents(), seed); };
  const auto oracle = problem.oracle(block, seed);
  auto [rule, algorithm] = build(method, start(), network, instance.reference, seed);
  std::optional<AveragedIterate> average;
  if (method.average) average.emplace(start());
  const AveragedIterate* averaged = average ? &*average : nullptr;

  StateRegistry state;
  algorithm->register_state(state);
  rule->register_state(state);
  oracle->register_state(state);
  if (average) average->register_state(state);

  Recorder recorder(options, problem, instance.reference, worker, cell, control.every_step);
  recorder.charge(instance.preparation);
  Index i = 0;
  double seconds = 0;
  Index recorded_before = -1;
  if (control.resume != nullptr) {
    state.restore(block, control.resume->state);
    recorder.resume(*control.resume);
    i = control.resume->iteration;
    seconds = control.resume->seconds;
    if (!cell.points.empty()) recorded_before = cell.points.back().iteration;
  }
  Watch watch(control, worker, i);
  auto begin = Clock::now();
  for (;; ++i) {
    const bool record = recorder.due(i) && i != recorded_before;
    if (record || watch.due(i)) {
      seconds += i == 0 ? 0 : since(begin);
      if (record) {
        if (const auto end = recorder.observe(i, seconds, *algorithm, averaged, *oracle, rule->levels())) {
          if (worker.number == 0) {
            cell.status = *end == Status::done && is_stalled(cell, options) ? Status::stalled : *end;
            cell.message = advice(method, cell.status);
          }
          break;
        }
        if (worker.number == 0 && control.on_point) control.on_point(cell);
      }
      const auto action = watch.look(i);
      if (action != Watch::go_on && control.save) {
        recorder.save(i, seconds, state, *oracle, shared);
        if (worker.number == 0) {
          control.save(cell, shared);
          shared = {};  // as large as the run's own state
        }
      }
      if (action == Watch::stop) {
        if (worker.number == 0) cell.status = Status::unfinished;
        return;
      }
      begin = Clock::now();
    }
    algorithm->step(i, *oracle, *rule, network);
    if (average) average->update(i, algorithm->models());
  }
  rule.reset();  // its memory may be wanted for the models
  recorder.finish(*algorithm, averaged);
}

// The instance of one seed, made by whoever needs it first and dropped by whoever needs it last.
class SharedInstance {
 public:
  const Instance& get(const ExperimentOptions& options, std::uint64_t seed) {
    std::call_once(made_, [&] { instance_ = std::make_unique<Instance>(make_instance(options, seed)); });
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

// A problem on data that were read and dealt.
std::unique_ptr<DataProblem> real_problem(const ProblemOptions& options, const CombinationMatrix& matrix,
                                          std::uint64_t seed, Traffic& traffic) {
  const bool file = options.source == "file";
  const DataSource source = {file ? "" : options.source, options.data.value_or(""), options.target.value_or(""),
                             options.partition};
  DealtData dealt = read_dealt(source, options.loss, matrix.agents(), seed);
  if (options.unit_rows) scale_to_unit_rows(dealt.data);
  if (options.standardise) traffic += standardise(dealt.data, matrix).traffic;
  if (options.intercept) add_intercept(dealt.data);
  return make_data_problem(std::move(dealt.data), options.loss, options.delta, static_cast<Index>(dealt.classes.size()),
                           {options.l2, options.batch, options.sampling, options.intercept, {}});
}

}  // namespace

Instance make_instance(const ExperimentOptions& options, std::uint64_t seed) {
  NetworkGraph network = make_network(options.graph, seed);
  Traffic preparation;
  std::unique_ptr<DataProblem> problem =
      options.problem.source == "synthetic"
          ? make_problem(options.problem, network.matrix.agents(), seed)
          : real_problem(options.problem, network.matrix, data_seed(options.problem, seed), preparation);
  Reference reference = make_reference(options.problem, *problem);
  return {std::move(network), std::move(problem), std::move(reference), preparation};
}

Rows first_models(const ExperimentOptions& options, Block block, Index dimension, Index agents, std::uint64_t seed) {
  Rows start(block.size(), dimension);
  if (options.start == "zero") return start;
  if (options.start == "normal") {
    for (Index k = 0; k < block.size(); ++k) Stream(seed, Purpose::start, block.first + k).normals(start.row(k));
    return start;
  }
  const std::vector<Real> numbers = read_numbers("start", options.start);
  const auto found = static_cast<Index>(numbers.size());
  if (found != dimension && found != agents * dimension) {
    throw InputError("start", "'" + options.start + "' holds " + std::to_string(found) + " numbers, expected " +
                                  std::to_string(dimension) + " (one model for all) or " +
                                  std::to_string(agents * dimension) + " (one for each agent)");
  }
  for (Index k = 0; k < block.size(); ++k) {
    const Index first = found == dimension ? 0 : (block.first + k) * dimension;
    std::copy_n(numbers.begin() + first, dimension, start.row(k).begin());
  }
  return start;
}

Cell run_cell(const ExperimentOptions& options, const Method& method, const Instance& instance, std::uint64_t seed,
              Index workers, const CellControl& control, Cell begun) {
  Cell cell = std::move(begun);
  cell.method = method.name;
  cell.seed = seed;
  Checkpoint shared;
  launch(instance.network.matrix, instance.problem->dimension(), workers,
         [&](Worker& worker) { work(options, method, instance, seed, control, worker, cell, shared); });
  return cell;
}

CellKey cell_key(const ExperimentOptions& options, const Method& method, std::uint64_t seed) {
  Value settings = ExperimentOptions::fields().write(options);
  // What does not change a run's numbers: the names, the other seeds, how often it is saved.
  std::erase_if(*settings.as<Value::Table>(), [](const auto& entry) {
    return entry.first == "name" || entry.first == "seeds" || entry.first == "checkpoint_every" ||
           entry.first == "tuning";
  });
  settings["algorithm"] = named(method.algorithm);
  settings["rule"] = Value(method.rule.name);
  settings["step"] = method.rule.options;
  settings["average"] = Value(method.average);
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

// An experiment on its way: the cells, their instances, and what is told to whom.
class Experiment {
 public:
  Experiment(const Config& config, const RunOptions& options, Record head)
      : config_(config), run_(options), record_(std::move(head)) {
    const auto& seeds = config.options.seeds.list;
    instances_ = std::vector<SharedInstance>(seeds.size());
    for (const std::uint64_t seed : seeds) {
      for (const Method& method : config.methods) keys_.push_back(cell_key(config.options, method, seed));
    }
    record_.cells.resize(keys_.size());
  }

  Record run(Index threads) {
    const std::uint64_t first_seed = config_.options.seeds.list.front();
    const NetworkGraph network = make_network(config_.options.graph, first_seed);
    draw(network.graph, first_seed);
    find_finished();
    Index dimension = 1;
    if (!waiting_.empty()) {
      const auto s = static_cast<std::size_t>(waiting_.front() / methods());
      const std::uint64_t seed = config_.options.seeds.list[s];
      const Instance& instance = instances_[s].get(config_.options, seed);
      check(config_, instance, seed);
      dimension = instance.problem->dimension();
    }
    if (run_.store != nullptr) run_.store->set_experiment(record_, keys_);
    const Index workers = workers_for(network.graph.agents(), dimension, threads);
    run_tasks(static_cast<Index>(waiting_.size()), threads / workers, [&](Index n) { run_waiting(n, workers); });
    for (const auto& [cell, twin] : twins_) {
      record_.cells[cell] = record_.cells[twin];
      record_.cells[cell].method = keys_[cell].method;
    }
    return std::move(record_);
  }

 private:
  [[nodiscard]] Index methods() const { return static_cast<Index>(config_.methods.size()); }

  void draw(const Graph& graph, std::uint64_t seed) {
    constexpr Index most_agents = 2000;
    if (graph.agents() > most_agents) return;
    NetworkPicture picture{seed, graph.agents(), {}};
    for (std::int32_t k = 0; k < graph.agents(); ++k) {
      for (const std::int32_t l : graph.neighbours(k)) {
        if (k < l) picture.edges.emplace_back(k, l);
      }
    }
    record_.networks.push_back(std::move(picture));
  }

  // What the store knows already is taken from it; the rest waits for its turn.
  void find_finished() {
    for (std::size_t n = 0; n < keys_.size(); ++n) {
      const CellKey& key = keys_[n];
      if (run_.store != nullptr && is_finished(run_.store->status(key.id()))) {
        record_.cells[n] = run_.store->load_cell(key.id(), key.method, key.seed, false);
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

  void run_waiting(Index number, Index workers) {
    const auto n = static_cast<std::size_t>(waiting_[static_cast<std::size_t>(number)]);
    if (run_.stop && run_.stop()) {
      record_.cells[n] = stored(keys_[n]);
      return;
    }
    const auto s = n / static_cast<std::size_t>(methods());
    Cell& cell = record_.cells[n];
    try {
      cell = run_one(n, instances_[s].get(config_.options, keys_[n].seed), workers);
    } catch (const std::exception& e) {
      if (run_.store == nullptr) throw;
      run_.store->fail(keys_[n].id(), e.what());
      cell = stored(keys_[n]);
      cell.bad_input = dynamic_cast<const InputError*>(&e) != nullptr;
    }
    instances_[s].release(methods());
    const std::lock_guard lock(mutex_);
    if (cell.status != Status::unfinished) ++finished_;
    if (run_.on_cell) run_.on_cell(cell, finished_, static_cast<Index>(keys_.size()));
  }

  // The cell as far as the store has it.
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
    const std::string id = keys_[n].id();
    CellControl control;
    control.stop = run_.stop;
    // A page wants something to show: the first seed of a small network records every agent's steps.
    constexpr Index few_agents = 256;
    control.every_step = n < static_cast<std::size_t>(methods()) && instance.problem->agents() <= few_agents;
    if (run_.on_point) {
      control.on_point = [this](const Cell& cell) {
        const std::lock_guard lock(mutex_);
        run_.on_point(cell);
      };
    }
    if (run_.store == nullptr) return run_cell(config_.options, method, instance, keys_[n].seed, workers, control);

    const std::optional<Checkpoint> checkpoint = run_.store->checkpoint(id);
    Cell begun;
    if (checkpoint) {
      control.resume = &*checkpoint;
      begun = stored(keys_[n]);
      begun.message.clear();
      std::erase_if(begun.points, [&](const Point& point) { return point.iteration > checkpoint->iteration; });
      // Steps that were not recorded from the beginning are not recorded at all.
      control.every_step = control.every_step && begun.steps.size() == begun.points.size();
      if (!control.every_step && config_.options.record.steps == RecordedSteps::summary) begun.steps.clear();
    } else {
      run_.store->restart(id);
    }
    std::size_t committed = begun.points.size();
    control.checkpoint_every = config_.options.checkpoint_every;
    control.save = [&](const Cell& cell, const Checkpoint& at) {
      run_.store->save(id, cell, committed, at);
      committed = cell.points.size();
    };
    Cell cell = run_cell(config_.options, method, instance, keys_[n].seed, workers, control, std::move(begun));
    if (cell.status == Status::unfinished) return cell;
    run_.store->finish(id, cell, committed);
    // The store has them now.
    cell.models = Rows();
    cell.averaged = Rows();
    return cell;
  }

  const Config& config_;
  const RunOptions& run_;
  Record record_;
  std::vector<CellKey> keys_;
  std::vector<SharedInstance> instances_;                   // of each seed
  std::vector<Index> waiting_;                              // cells still to be run
  std::map<std::string, std::size_t> first_of_;             // the cell that runs for all of the same settings
  std::vector<std::pair<std::size_t, std::size_t>> twins_;  // the others, and that one
  std::mutex mutex_;
  Index finished_ = 0;
};

}  // namespace

Record run(const Config& config, const RunOptions& options) {
  const Index threads = usable_threads(options.threads);
  TuningControl control{.threads = threads, .on_trial = options.on_trial, .stop = options.stop};
  if (options.store != nullptr) {
    control.find = [&](const std::string& settings) { return options.store->tuning(search_id(settings)); };
    control.keep = [&](const std::string& settings, const Tuning& found) {
      options.store->save_tuning(search_id(settings), found);
    };
  }
  Record head;
  head.name = config.options.name;
  head.target = config.options.target;
  head.config = resolved(config);
  head.provenance = provenance();
  const auto tuned = resolve_tuned(config, control);
  if (!tuned) return head;  // stopped during the search
  head.tunings = tuned->tunings;
  return Experiment(tuned->config, options, std::move(head)).run(threads);
}

}  // namespace polyhop
