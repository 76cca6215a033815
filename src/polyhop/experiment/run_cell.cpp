// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/run_cell.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "polyhop/core/clock.hpp"
#include "polyhop/core/codec.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/experiment/advice.hpp"
#include "polyhop/experiment/agent_stream.hpp"
#include "polyhop/experiment/from_first.hpp"
#include "polyhop/experiment/recorder.hpp"
#include "polyhop/experiment/solve.hpp"
#include "polyhop/network/runtime.hpp"

namespace polyhop {
namespace {

// Decides, for all workers alike, when to attend to a run: at recorded points, and a few times per second in between.
class Watch {
 public:
  enum Action { go_on, save, stop };

  Watch(const CellControl& control, bool active, Worker& worker, Index first)
      : control_(control), worker_(worker), active_(active), last_(first), next_(first) {}

  [[nodiscard]] bool due(Index i) const { return active_ && i == next_; }

  /// What to do before iteration i. The first worker decides and tells all.
  Action look(Index i) {
    if (!active_) return go_on;
    std::string decision;
    if (worker_.number == 0) {
      constexpr double between_looks = 0.2;
      const double passed = std::max(since(last_time_), 1e-9);
      const double pace = static_cast<double>(i - last_) / passed;
      const auto ahead = static_cast<Index>(std::clamp(pace * between_looks, 1.0, 1e6));
      decision = message(decide(), i + ahead);
    }
    MessageReader in(worker_.collective.from_first(decision));
    last_ = i;
    last_time_ = Clock::now();
    const auto action = in.take<Action>();
    next_ = in.take<Index>();
    in.end();
    return action;
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

// Whether the run is not solved and no agent moved between the last two points. Then none will: a sample that happens
// to be fitted gives a step of 0 now and then, but not to all agents at both points. Algorithms that choose their own
// steps rest where they find nothing lower, which is where they should, even if nobody knows the minimum.
bool is_stalled(const Cell& cell, const Method& method, const ExperimentOptions& options) {
  if (cell.points.size() < 2) return false;
  const Point& last = cell.points.back();
  if (method.algorithm.takes == Steps::own && std::isfinite(last.excess_risk)) return false;
  const Point& before = cell.points[cell.points.size() - 2];
  return last.excess_risk > options.target && last.step_max == 0 && before.step_max == 0 &&
         last.excess_risk == before.excess_risk && last.excess_risk_mean_model == before.excess_risk_mean_model &&
         last.consensus_error == before.consensus_error;
}

// The part of the first process's control that every worker must know.
struct Orders {
  bool watched = false;  // stopped or saved now and then
  bool saved = false;
  bool finished = false;  // the models are streamed at the end
  bool kept = false;      // they are put into the cell
  bool resumed = false;
  Index recorded = -1;   // the last point recorded by the checkpoint
  Checkpoint from = {};  // where to resume; the totals concern only the first worker
};

Orders orders_of(const CellControl& control, const Cell& begun, Worker& worker) {
  Orders out;
  if (worker.number == 0) {
    out.saved = static_cast<bool>(control.save);
    out.watched = out.saved || control.stop;
    out.finished = static_cast<bool>(control.finish);
    out.kept = control.models && !out.finished;
    out.resumed = control.resume != nullptr;
    if (out.resumed && !begun.points.empty()) out.recorded = begun.points.back().iteration;
    if (out.resumed) out.from = *control.resume;
  }
  MessageReader in(worker.collective.from_first(message(out.watched, out.saved, out.finished, out.kept, out.resumed,
                                                        out.recorded, out.from.iteration, out.from.first_risk)));
  for (bool* word : {&out.watched, &out.saved, &out.finished, &out.kept, &out.resumed}) *word = in.take<bool>();
  out.recorded = in.take<Index>();
  out.from.iteration = in.take<Index>();
  out.from.first_risk = in.take<double>();
  in.end();
  return out;
}

// The first models of the block's agents.
Rows start_of(const ExperimentOptions& options, const CellControl& control, const Problem& problem, const Block& block,
              std::uint64_t seed) {
  if (control.start == nullptr) return first_models(options, block, problem.dimension(), problem.agents(), seed);
  Rows out(block.size(), problem.dimension());
  for (Index k = 0; k < block.size(); ++k) {
    std::ranges::copy(control.start->row(block.agent(k)), out.row(k).begin());
  }
  return out;
}

// One worker's share of a run.
class WorkerRun {
 public:
  WorkerRun(const ExperimentOptions& options, const Method& method, const Stage& stage, std::uint64_t seed,
            const CellControl& control, Worker& worker, Cell& cell)
      : options_(options),
        method_(method),
        control_(control),
        worker_(worker),
        cell_(cell),
        orders_(orders_of(control, cell, worker)),
        recorder_(options, stage.problem, stage.reference, worker, cell, control.every_step),
        run_(stage.problem, worker.network, method, stage.reference,
             start_of(options, control, stage.problem, worker.network.block(), seed), seed, options.faults,
             options.iterations) {
    recorder_.charge(stage.preparation);
    tell_kept();
    if (!orders_.resumed) return;
    receive_state(worker, run_.state(), control.state);
    run_.resume(orders_.from.iteration);
    recorder_.resume(orders_.from);
  }

  // Observe, step, repeat.
  void run() {
    double seconds = orders_.from.seconds;
    Watch watch(control_, orders_.watched, worker_, run_.iteration());
    auto begin = Clock::now();
    for (;; run_.step()) {
      const Index i = run_.iteration();
      const bool record = recorder_.due(i) && i != orders_.recorded;
      if (record || watch.due(i)) {
        (void)run_.average();  // averaging is a part of iterations
        seconds += i == 0 ? 0 : since(begin);
        if (record && observe(i, seconds)) break;
        const auto action = watch.look(i);
        if (action != Watch::go_on && orders_.saved) save(i, seconds);
        if (action == Watch::stop) {
          if (is_first()) cell_.status = Status::unfinished;
          if (orders_.kept) recorder_.finish(run_.algorithm(), run_.average());
          return;
        }
        begin = Clock::now();
      }
    }
    finish();
  }

 private:
  [[nodiscard]] bool is_first() const { return worker_.number == 0; }

  void tell_kept() {
    double kept = 0;
    worker_.collective.in_order({&kept, 1},
                                [&](std::span<double> shared) { shared[0] += static_cast<double>(run_.kept_bytes()); });
    if (is_first() && kept > 0 && control_.on_kept) control_.on_kept(kept);
  }

  // True when the run has ended.
  bool observe(Index i, double seconds) {
    const auto end =
        recorder_.observe(i, seconds, run_.algorithm(), run_.average(), run_.oracle(), run_.rule().levels());
    if (is_first() && end) {
      cell_.status = *end == Status::done && is_stalled(cell_, method_, options_) ? Status::stalled : *end;
      cell_.message = advice(method_, cell_.status);
    }
    if (is_first() && !end && control_.on_point) control_.on_point(cell_);
    return end.has_value();
  }

  // The others send what they have; the first worker has it written as it arrives.
  void save(Index i, double seconds) {
    const Checkpoint checkpoint = recorder_.standing(i, seconds, run_.oracle());
    const StateStream stream = [&](const StateSink& sink) { send_state(worker_, run_.state(), sink); };
    if (is_first()) {
      control_.save(cell_, checkpoint, stream);
    } else {
      stream({});
    }
  }

  void finish() {
    run_.end();
    if (orders_.kept) recorder_.finish(run_.algorithm(), run_.average());
    if (!orders_.finished) return;
    const StateStream stream = [&](const StateSink& sink) {
      recorder_.send_models(run_.algorithm(), run_.average(), sink);
    };
    if (is_first()) {
      control_.finish(cell_, stream);
    } else {
      stream({});
    }
  }

  const ExperimentOptions& options_;
  const Method& method_;
  const CellControl& control_;
  Worker& worker_;
  Cell& cell_;
  Orders orders_;
  Recorder recorder_;
  Run run_;
};

// The first process tells the others how the run ended.
void tell_end(Cell& cell, Team& team) {
  Point last = cell.points.empty() ? Point{} : cell.points.back();
  const auto each_number = [&](auto action) {
    for (const PointColumn& column : point_columns) {
      std::visit([&](const auto number) { action(last.*number); }, column.number);
    }
  };
  MessageWriter out;
  out.add(cell.status);
  out.add(!cell.points.empty());
  each_number([&](const auto& number) { out.add(number); });
  MessageReader in(team.collective().from_first(out.bytes()));
  if (team.is_first()) return;
  cell.status = in.take<Status>();
  const bool has_points = in.take<bool>();
  each_number([&](auto& number) { number = in.take<std::decay_t<decltype(number)>>(); });
  in.end();
  if (has_points) cell.points = {last};
}

}  // namespace

Cell run_cell(const ExperimentOptions& options, const Method& method, const Stage& stage, std::uint64_t seed,
              Index workers, const CellControl& control, Cell begun, Team& team) {
  Cell cell = std::move(begun);
  cell.method = method.name;
  cell.seed = seed;
  team.launch(stage.matrix, stage.ownership != nullptr ? *stage.ownership : Ownership{}, stage.problem.vectors(),
              workers, [&](Worker& worker) {
                with_enough_memory("method." + method.name,
                                   [&] { WorkerRun(options, method, stage, seed, control, worker, cell).run(); });
              });
  tell_end(cell, team);
  return cell;
}

std::vector<double> check_methods(const Config& config, const Instance& instance, std::uint64_t seed, Team& team) {
  const Problem& problem = *instance.problem;
  std::vector<double> kept(config.methods.size());
  team.launch(instance.network.matrix, instance.ownership, problem.vectors(), 1, [&](Worker& worker) {
    const Rows start =
        first_models(config.options, worker.network.block(), problem.dimension(), problem.agents(), seed);
    std::vector<double> here;
    for (const Method& method : config.methods) {
      with_enough_memory("method." + method.name, [&] {
        const Run fits(problem, worker.network, method, instance.reference, start, seed);
        here.push_back(static_cast<double>(fits.kept_bytes()));
      });
    }
    worker.collective.in_order(kept, [&](std::span<double> shared) {
      for (std::size_t m = 0; m < here.size(); ++m) shared[m] += here[m];
    });
  });
  return kept;
}

}  // namespace polyhop
