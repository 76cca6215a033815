// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"
#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/record.hpp"
#include "polyhop/graph/combination_matrix.hpp"
#include "polyhop/method/averaged_iterate.hpp"
#include "polyhop/network/network.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop {

/// How to solve a problem. You need not choose anything: `auto` needs no step size.
struct SolveOptions {
  Value step = "auto";   // a rule as in an experiment's file: "gap", or Value::Table{{"rule", "gap"}, ...}
  Value algorithm = {};  // an algorithm, as in a file; default "atc", unless the rule chooses the algorithm too
  GradientEstimate gradient = GradientEstimate::plain;
  Index iterations = 1000;  // at most
  Index record_every = 10;  // the iterations between two points of the curves
  /// The excess risk that counts as solved; default: 1e-6. If J(w^o) is unknown, a level of the risk itself; default:
  /// none.
  std::optional<double> target = {};
  bool stop_at_target = true;             // the first recorded point that is solved is the last
  std::optional<double> time_limit = {};  // seconds
  Rows start = {};                        // one model for all, or one row per agent; empty: zeros
  bool average = true;                    // keep averaged models too
  ReferenceChoice reference = {};         // where J(w^o) comes from: computed, given, or unknown
  std::uint64_t seed = 0;                 // of the random samples
  Index threads = 0;                      // 0: as many as pay off. No result depends on it.
  /// Called with every recorded point; return true to end the run.
  std::function<bool(const Point& point)> callback = {};
  /// Polled a few times per second: true ends the run.
  std::function<bool()> stop = {};
  /// Called before the first iteration if the method keeps a row of every sample, with the bytes that this takes.
  std::function<void(double bytes)> on_kept = {};
  bool every_step = false;            // record every agent's step size too
  RecordedAgents record_agents = {};  // agents whose models the excess risk is averaged over
  FaultOptions faults = {};           // lost messages
};

/// The result of solve(), and why it stopped.
struct Summary {
  Rows models;                               // K x M: the last iterate
  Rows averaged;                             // K x M: the averaged iterates, or empty
  Status status = Status::done;              // `unfinished` if the callback or `stop` ended it
  std::string message;                       // what to do about a run that diverged or stalled; otherwise empty
  MeteredVector<Point> curves;               // the recorded points
  std::vector<MeteredVector<double>> steps;  // every agent's at each of them, if requested; otherwise empty
  Index vectors = 0, scalars = 0;            // sent in all, over all edges and directions
  Index values = 0, gradients = 0;           // evaluations of agents' costs and gradients
  double seconds = 0;                        // inside iterations
  double reference = 0;                      // J(w^o)
  std::string reference_how;                 // where that number comes from
  bool reference_known = true;               // if false, excess risk is the risk itself
  std::string method;                        // the algorithm and the rule

  /// The models' mean: the answer of the network as a whole.
  [[nodiscard]] std::vector<double> mean_model() const;
  /// The excess risk at the end; 0 where rounding alone can make it.
  [[nodiscard]] std::string shown_risk() const;
  /// One line: how it ended, how far it got, what it cost.
  [[nodiscard]] std::string brief() const;
  /// Everything except the models, in lines.
  [[nodiscard]] std::string full() const;
};

/// Minimises (1/K) sum_k J_k(w) over the network. Throws InputError if options do not fit.
///   const Summary summary = solve(problem, make_network(graph, 0).matrix);
///   std::puts(summary.brief().c_str());
Summary solve(const Problem& problem, const CombinationMatrix& network, const SolveOptions& options = {},
              const Registry& registry = builtin());

/// A method applied to a problem, one iteration at a time: solve() and experiments call it in a loop, and so can
/// programs with a loop of their own.
class Run {
 public:
  /// On all agents, in the calling thread. The problem and the matrix must outlive it.
  Run(const Problem& problem, const CombinationMatrix& network, const SolveOptions& options = {},
      const Registry& registry = builtin());
  /// On the agents of a worker's block, in any runtime: `launch`, mpi::launch. `start`: their first models;
  /// `reference`: for rules that study a known optimum; `faults`: of the network, from the first step on. All of it
  /// must outlive the run.
  Run(const Problem& problem, Network& network, const Method& method, const Reference& reference, Rows start,
      std::uint64_t seed, const FaultOptions& faults = {}, Index iterations = 0);

  /// Samples, chooses the steps, moves; then updates the averaged models.
  void step();
  /// How many steps have been made.
  [[nodiscard]] Index iteration() const { return i_; }
  /// The current models, one row per agent of the block.
  [[nodiscard]] const Rows& models() const { return algorithm_->models(); }
  /// Their averages so far; only if the method averages.
  [[nodiscard]] const Rows& averaged() { return *average(); }
  /// The step sizes of the last iteration.
  [[nodiscard]] std::span<const double> steps() const { return algorithm_->steps(); }
  /// The counts of what was sent, and of evaluated costs.
  [[nodiscard]] const Network& network() const { return *network_; }
  [[nodiscard]] const Oracle& oracle() const { return *oracle_; }
  /// The bytes of the rows that the method keeps of every sample; 0 if it keeps none, or a few numbers of each.
  [[nodiscard]] Index kept_bytes() const { return oracle_->kept_bytes() + algorithm_->kept_bytes(); }

  /// The state that checkpoints keep. After restoring it, `resume` sets the next iteration.
  [[nodiscard]] StateRegistry& state() {
    (void)average();
    return state_;
  }
  void resume(Index i) { i_ = i; }

  /// Call it after the last step: frees the memory that only steps need, to make room for the models.
  void end() { rule_.reset(); }

  /// The run's parts, for recording.
  [[nodiscard]] const Algorithm& algorithm() const { return *algorithm_; }
  [[nodiscard]] const StepSize& rule() const { return *rule_; }
  /// The averages, or null. Asking may cost a pass over them.
  [[nodiscard]] const Rows* average() { return average_ ? &average_->settled(models()) : nullptr; }

 private:
  void build(const Problem& problem, const Method& method, const Reference& reference, Rows start, std::uint64_t seed,
             const FaultOptions& faults, Index iterations);

  std::unique_ptr<Network> own_;       // if no runtime gave one
  std::unique_ptr<Reference> solved_;  // if none was given
  Network* network_;
  std::unique_ptr<Oracle> oracle_;
  std::unique_ptr<StepSize> rule_;
  std::unique_ptr<Algorithm> algorithm_;
  std::optional<AveragedIterate> average_;
  StateRegistry state_;
  Index i_ = 0;
};

}  // namespace polyhop
