// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/tuning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "polyhop/core/codec.hpp"
#include "polyhop/core/machine.hpp"
#include "polyhop/core/median.hpp"
#include "polyhop/experiment/from_first.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/experiment/tasks.hpp"

namespace polyhop {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// The method with this constant for its rule; a method that is not tuned gets a constant step.
Method with_constant(Method method, double constant) {
  method.rule = method.tuned ? method.tuned->with(constant) : with_constant(TunedStep{}, constant, "step");
  method.tuned.reset();
  return method;
}

// The search itself, which sees only steps and scores.
class Search {
 public:
  Search(const TuningOptions& options, const TrySteps& try_steps) : options_(options), try_steps_(try_steps) {}

  FoundStep from(double start) {
    best_.step = start;
    best_.score = attempt({start}, nullptr)[0];
    const bool larger_diverges = best_.score.diverged;
    while (best_.score.diverged && best_.tried < options_.budget) {
      best_.step /= 2;
      best_.score = attempt({best_.step}, nullptr)[0];
    }
    if (best_.score.diverged) return best_;
    const bool grew = !larger_diverges && move({2});
    while (grew && move({2})) {
    }
    while (!grew && move({0.5})) {
    }
    for (double ratio = 2; ratio > 1 + options_.resolution && best_.tried < options_.budget;) {
      ratio = std::sqrt(ratio);
      move({1 / ratio, ratio});
    }
    return best_;
  }

 private:
  std::vector<TrialScore> attempt(const std::vector<double>& steps, const TrialScore* to_beat) {
    best_.tried += static_cast<Index>(steps.size());
    return try_steps_(steps, to_beat);
  }

  // Tries the best step times each factor, as far as the budget allows; false if none of them is better.
  bool move(std::vector<double> factors) {
    const auto left = static_cast<std::size_t>(options_.budget - best_.tried);
    if (factors.size() > left) factors.resize(left);
    if (factors.empty()) return false;
    std::vector<double> steps;
    for (const double factor : factors) steps.push_back(best_.step * factor);
    const TrialScore to_beat = best_.score;
    const auto scores = attempt(steps, &to_beat);
    bool moved = false;
    for (std::size_t n = 0; n < steps.size(); ++n) {
      if (!is_better(scores[n], best_.score, options_.goal)) continue;
      best_.step = steps[n];
      best_.score = scores[n];
      moved = true;
    }
    return moved;
  }

  const TuningOptions& options_;
  const TrySteps& try_steps_;
  FoundStep best_;
};

struct Stopped {};

// Of the tuning seeds, the same for all searches of an experiment; made by the first one.
using Instances = std::vector<std::unique_ptr<Instance>>;

// Runs steps on the tuning seeds and adds up what that costs: trial runs concurrently, or one after the other if
// several processes share each of them.
class Trials {
 public:
  Trials(const ExperimentOptions& options, const Method& method, const TuningControl& control, Instances& instances)
      : options_(options),
        method_(method),
        team_(*control.team),
        threads_(usable_threads(control.threads)),
        seeds_(tuning_seeds(options)),
        instances_(instances) {
    control_.stop = control.stop;
    control_.models = false;
    on_point_ = control.on_trial_point;
    if (control.on_kept) {
      control_.on_kept = [on_kept = control.on_kept, name = method.name](double bytes) { on_kept(name, bytes); };
    }
    method_.average = options.tuning.goal == TuningGoal::final_risk_averaged;
    options_.record.steps = RecordedSteps::summary;
    options_.time_limit.reset();  // a clock must not decide the result
    options_.stop_at_target = options.tuning.goal == TuningGoal::iterations_to_target;
    if (!instances_.empty()) return;
    instances_.resize(seeds_.size());
    run_tasks(static_cast<Index>(seeds_.size()), beside(1), [&](Index n) {
      instances_[n] = std::make_unique<Instance>(make_instance(options_, seeds_[n], team_, control.placement));
    });
  }

  // 1 over the largest smoothness of the first samples: a safe start for a search.
  [[nodiscard]] double safe_step() const {
    double largest = 0;
    for (std::size_t s = 0; s < seeds_.size(); ++s) {
      const Block own = instances_[s]->ownership.block(team_.rank());
      const auto oracle = instances_[s]->problem->oracle(own, seeds_[s]);
      std::vector<double> smoothness(own.size());
      oracle->draw(0);
      if (oracle->smoothness(smoothness)) largest = std::max(largest, *std::ranges::max_element(smoothness));
    }
    const double here = largest;
    team_.collective().in_order(std::span(&largest, 1),
                                [&](std::span<double> shared) { shared[0] = std::max(shared[0], here); });
    return largest > 0 && std::isfinite(1 / largest) ? 1 / largest : 1;
  }

  /// `tried` steps came before these.
  std::vector<TrialScore> attempt(std::span<const double> steps, const TrialScore* to_beat, Index tried) {
    std::vector<TrialRun> runs;
    for (const double step : steps) {
      for (Index s = 0; s < std::ssize(seeds_); ++s) runs.push_back({step, s});
    }
    parts_.assign(runs.size(), 0);
    tried_ = tried;
    const Index limit = iterations_that_decide(to_beat);
    // More than half of the seeds can settle that a median is lost: the others run only if these have not.
    const Index majority = std::ssize(seeds_) / 2 + 1;
    run_where(runs, limit, [&](std::size_t n) { return runs[n].seed < majority; });
    run_where(runs, limit, [&](std::size_t n) { return runs[n].seed >= majority && may_win(runs, n, to_beat); });
    if (limit < options_.iterations) {
      // A step that may still win must also be shown not to diverge.
      run_where(runs, options_.iterations,
                [&](std::size_t n) { return runs[n].status == Status::done && may_win(runs, n, to_beat); });
    }
    std::vector<TrialScore> scores;
    for (std::size_t n = 0; n < steps.size(); ++n) scores.push_back(score(runs, n));
    made_.clear();
    return scores;
  }

  /// Gives it the runs that an earlier search has made of the next trial, and tells all of them after each other one.
  void keep_runs(std::vector<TrialRun> made, std::function<void(const std::vector<TrialRun>&)> keep) {
    made_ = std::move(made);
    keep_ = std::move(keep);
  }

  [[nodiscard]] const Tuning& cost() const { return cost_; }
  // Restores the cost up to an earlier trial.
  void set_cost(const Tuning& cost) { cost_ = cost; }

 private:
  // After this many iterations a median either beats the best one or never will. With an even number of runs it is the
  // mean of two, the smaller of which may be 0.
  [[nodiscard]] Index iterations_that_decide(const TrialScore* to_beat) const {
    if (to_beat == nullptr || options_.tuning.goal != TuningGoal::iterations_to_target) return options_.iterations;
    const double enough = to_beat->iterations * (seeds_.size() % 2 == 1 ? 1 : 2);
    return enough < static_cast<double>(options_.iterations) ? static_cast<Index>(enough) : options_.iterations;
  }

  // How many runs with that many workers fit side by side.
  [[nodiscard]] Index beside(Index workers) const { return team_.size() > 1 ? 1 : threads_ / workers; }

  // Runs those chosen by index, from the start, unless they are made already.
  void run_where(std::vector<TrialRun>& runs, Index iterations, const std::function<bool(std::size_t)>& chosen) {
    std::vector<std::size_t> places;
    std::vector<std::size_t> all_chosen;
    for (std::size_t n = 0; n < runs.size(); ++n) {
      if (chosen(n)) all_chosen.push_back(n);
    }
    for (const std::size_t n : all_chosen) {
      runs[n].iterations = iterations;
      const bool is_made = find_made(runs[n]);
      if (!is_made) places.push_back(n);
      parts_[n] = is_made ? 1 : 0;
    }
    const double work = iteration_work(instances_[0]->network.matrix, *instances_[0]->problem);
    const auto all = static_cast<Index>(places.size());
    const Index alone = team_.size() > 1 ? 0 : side_by_side(all, work, threads_);
    run_tasks(alone, threads_, [&](Index n) { make(runs, places[n], 1); });
    const Index workers = team_.size() > 1 ? threads_ : paying_threads(work, threads_);
    run_tasks(all - alone, beside(workers), [&](Index n) { make(runs, places[alone + n], workers); });
    for (const std::size_t n : all_chosen) charge(runs[n].last);
  }

  bool find_made(TrialRun& run) const {
    const auto found = std::ranges::find_if(made_, [&](const TrialRun& made) {
      return made.step == run.step && made.seed == run.seed && made.iterations == run.iterations;
    });
    if (found == made_.end()) return false;
    run = *found;
    return true;
  }

  void make(std::vector<TrialRun>& runs, std::size_t n, Index workers) {
    TrialRun& run = runs[n];
    ExperimentOptions options = options_;
    options.iterations = run.iterations;
    CellControl control = control_;
    if (on_point_) control.on_point = [&, n](const Cell& cell) { tell(run, n, cell.points.back()); };
    const Cell cell = run_cell(options, with_constant(method_, run.step), *instances_[run.seed], seeds_[run.seed],
                               workers, control, {}, team_);
    if (cell.status == Status::unfinished) throw Stopped{};
    run.status = cell.status;
    run.last = cell.points.back();
    const std::lock_guard lock(mutex_);
    parts_[n] = 1;
    made_.push_back(run);
    keep_(made_);
  }

  void tell(const TrialRun& run, std::size_t n, const Point& at) {
    const std::lock_guard lock(mutex_);
    parts_[n] = static_cast<double>(at.iteration) / static_cast<double>(run.iterations);
    const auto seeds = std::ssize(seeds_);
    const Index step = static_cast<Index>(n) / seeds;
    const auto first = parts_.begin() + step * seeds;
    const double part = std::accumulate(first, first + seeds, 0.0) / static_cast<double>(seeds);
    on_point_(method_.name, {tried_ + step + 1, run.step, seeds_[run.seed], part}, options_.tuning.budget);
  }

  void charge(const Point& last) {
    cost_.trials += 1;
    cost_.iterations += last.iteration;
    cost_.vectors += last.vectors;
    cost_.scalars += last.scalars;
    cost_.values += last.values;
    cost_.gradients += last.gradients;
    cost_.seconds += last.seconds;
  }

  // Whether the step of the n-th run can still win: it has not diverged, and would win if everything still unknown
  // about its runs were as good as possible.
  [[nodiscard]] bool may_win(const std::vector<TrialRun>& runs, std::size_t n, const TrialScore* to_beat) const {
    const TrialScore at_best = score(runs, n / seeds_.size(), 0, -never);
    return !at_best.diverged && (to_beat == nullptr || is_better(at_best, *to_beat, options_.tuning.goal));
  }

  // The score of the n-th step, with these values for the iterations of a run that was not made, and for the final risk
  // of one that was not made or was cut short. A run cut short counts as one that never reaches the target: it was cut
  // where that makes no difference.
  [[nodiscard]] TrialScore score(const std::vector<TrialRun>& runs, std::size_t n, double iterations_unknown = never,
                                 double risk_unknown = never) const {
    TrialScore out;
    std::vector<double> iterations;
    std::vector<double> risks;
    for (std::size_t s = 0; s < seeds_.size(); ++s) {
      const TrialRun& run = runs[n * seeds_.size() + s];
      const bool made = run.status != Status::unfinished;
      const bool whole = made && (run.status != Status::done || run.last.iteration == options_.iterations);
      out.diverged = out.diverged || run.status == Status::diverged;
      iterations.push_back(!made                          ? iterations_unknown
                           : run.status == Status::target ? static_cast<double>(run.last.iteration)
                                                          : never);
      const double risk = method_.average ? run.last.excess_risk_averaged : run.last.excess_risk;
      risks.push_back(!whole ? risk_unknown : std::isnan(risk) ? never : risk);
    }
    out.iterations = median(iterations);
    out.final_risk = median(risks);
    return out;
  }

  ExperimentOptions options_;
  Method method_;
  Team& team_;
  Index threads_;
  std::vector<std::uint64_t> seeds_;
  Instances& instances_;
  CellControl control_;
  Tuning cost_;
  std::function<void(const std::string&, const TrialPoint&, Index)> on_point_;
  std::function<void(const std::vector<TrialRun>&)> keep_;
  // Of the trial at hand, as several threads make its runs.
  std::mutex mutex_;
  Index tried_ = 0;
  std::vector<double> parts_;   // how much of each run is done
  std::vector<TrialRun> made_;  // the finished ones
};

constexpr std::array run_numbers = {&Point::seconds, &Point::excess_risk, &Point::excess_risk_averaged};
constexpr std::array run_counts = {&Point::iteration, &Point::vectors, &Point::scalars, &Point::values,
                                   &Point::gradients};

constexpr std::array cost_counts = {&Tuning::trials,  &Tuning::iterations, &Tuning::vectors,
                                    &Tuning::scalars, &Tuning::values,     &Tuning::gradients};

// A trial in progress begins with a number that no other one begins with.
constexpr double in_progress = -1;
constexpr std::size_t numbers_per_run = 4 + run_numbers.size() + run_counts.size();

std::vector<double> numbers_of(const std::vector<TrialRun>& runs) {
  std::vector<double> out = {in_progress};
  for (const TrialRun& run : runs) {
    out.insert(out.end(), {run.step, static_cast<double>(run.seed), static_cast<double>(run.iterations),
                           static_cast<double>(run.status)});
    for (const auto number : run_numbers) out.push_back(run.last.*number);
    for (const auto count : run_counts) out.push_back(static_cast<double>(run.last.*count));
  }
  return out;
}

std::optional<TuningTrial> trial_in_progress(std::span<const double> numbers) {
  if (numbers.size() % numbers_per_run != 1) return {};
  TuningTrial out;
  for (std::size_t n = 1; n < numbers.size();) {
    TrialRun& run = out.runs.emplace_back();
    run.step = numbers[n++];
    run.seed = static_cast<Index>(numbers[n++]);
    run.iterations = static_cast<Index>(numbers[n++]);
    run.status = static_cast<Status>(numbers[n++]);
    for (const auto number : run_numbers) run.last.*number = numbers[n++];
    for (const auto count : run_counts) run.last.*count = static_cast<Index>(numbers[n++]);
  }
  return out;
}

// The trials of an interrupted search, found by the first process for all.
std::vector<TuningTrial> find_trials(const TuningControl& control, const std::string& settings) {
  std::vector<TuningTrial> found;
  on_first(*control.team, [&] {
    if (control.find_trials) found = control.find_trials(settings);
  });
  MessageWriter out;
  out.add(static_cast<Index>(found.size()));
  for (const TuningTrial& trial : found) out.add(trial.numbers());
  MessageReader in(control.team->collective().from_first(out.bytes()));
  std::vector<TuningTrial> trials;
  for (auto left = in.take<Index>(); left > 0; --left) {
    trials.push_back(TuningTrial::from(in.take<std::vector<double>>()).value());
  }
  in.end();
  return trials;
}

// What the first process found earlier, for all.
std::optional<Tuning> find_earlier(const TuningControl& control, const std::string& settings) {
  std::optional<Tuning> found;
  on_first(*control.team, [&] {
    if (control.find) found = control.find(settings);
  });
  constexpr std::array reals = {&Tuning::value, &Tuning::factor, &Tuning::seconds};
  Tuning tuning = found.value_or(Tuning{});
  MessageWriter out;
  out.add(found.has_value());
  for (const auto real : reals) out.add(tuning.*real);
  for (const auto count : cost_counts) out.add(tuning.*count);
  MessageReader in(control.team->collective().from_first(out.bytes()));
  const bool is_known = in.take<bool>();
  for (const auto real : reals) tuning.*real = in.take<double>();
  for (const auto count : cost_counts) tuning.*count = in.take<Index>();
  in.end();
  if (!is_known) return {};
  return tuning;
}

}  // namespace

bool is_better(const TrialScore& a, const TrialScore& b, TuningGoal goal) {
  if (a.diverged != b.diverged) return b.diverged;
  if (a.diverged) return false;
  if (goal == TuningGoal::iterations_to_target && a.iterations != b.iterations) return a.iterations < b.iterations;
  return a.final_risk < b.final_risk;
}

std::vector<double> TuningTrial::numbers() const {
  if (!runs.empty()) return numbers_of(runs);
  std::vector<double> out = {static_cast<double>(steps.size()), cost.seconds};
  for (const auto count : cost_counts) out.push_back(static_cast<double>(cost.*count));
  for (std::size_t n = 0; n < steps.size(); ++n) {
    out.insert(out.end(), {steps[n], scores[n].diverged ? 1.0 : 0.0, scores[n].iterations, scores[n].final_risk});
  }
  return out;
}

std::optional<TuningTrial> TuningTrial::from(std::span<const double> numbers) {
  if (!numbers.empty() && numbers[0] == in_progress) return trial_in_progress(numbers);
  constexpr std::size_t head = 2 + cost_counts.size();
  constexpr std::size_t per_step = 4;
  if (numbers.size() < head || numbers.size() % per_step != head % per_step ||
      numbers[0] != static_cast<double>((numbers.size() - head) / per_step)) {
    return {};
  }
  TuningTrial out;
  out.cost.seconds = numbers[1];
  for (std::size_t c = 0; c < cost_counts.size(); ++c) out.cost.*cost_counts[c] = static_cast<Index>(numbers[2 + c]);
  for (std::size_t n = head; n < numbers.size(); n += per_step) {
    out.steps.push_back(numbers[n]);
    out.scores.push_back({numbers[n + 1] != 0, numbers[n + 2], numbers[n + 3]});
  }
  return out;
}

FoundStep search_step(double start, const TuningOptions& options, const TrySteps& try_steps) {
  return Search(options, try_steps).from(start);
}

std::vector<std::uint64_t> tuning_seeds(const ExperimentOptions& options) {
  const auto& reported = options.seeds.list;
  if (options.tuning.seeds) {
    for (const std::uint64_t seed : options.tuning.seeds->list) {
      if (std::ranges::find(reported, seed) == reported.end()) continue;
      throw InputError("tuning.seeds", "found " + std::to_string(seed) +
                                           ", which is one of the reported seeds; a step must be tuned on others");
    }
    return options.tuning.seeds->list;
  }
  constexpr std::size_t most = 5;
  std::vector<std::uint64_t> seeds;
  const std::uint64_t largest = *std::ranges::max_element(reported);
  for (std::size_t n = 1; n <= std::min(most, reported.size()); ++n) seeds.push_back(largest + n);
  return seeds;
}

TuningGoal goal_of(const ExperimentOptions& options, const Method& method) {
  return method.tuned ? method.tuned->options.goal.value_or(options.tuning.goal) : options.tuning.goal;
}

namespace {

std::optional<Tuning> tune(const ExperimentOptions& experiment, const Method& method, const TuningControl& control,
                           Instances& instances) try {
  ExperimentOptions options = experiment;
  options.tuning.goal = goal_of(experiment, method);
  Trials trials(options, method, control, instances);
  const Index budget = options.tuning.budget;
  const std::string settings = tuning_settings(experiment, method);
  std::vector<TuningTrial> earlier = find_trials(control, settings);
  Index tried = 0;
  Index number = 0;
  const auto keep = [&](const TuningTrial& trial) {
    on_first(*control.team, [&] {
      if (control.keep_trial) control.keep_trial(settings, number, trial);
    });
  };
  std::vector<TrialRun> made;
  if (!earlier.empty() && !earlier.back().runs.empty()) {
    made = std::move(earlier.back().runs);
    earlier.pop_back();
  }
  trials.keep_runs(std::move(made), [&](const std::vector<TrialRun>& runs) {
    TuningTrial trial;
    trial.runs = runs;
    keep(trial);
  });
  Index known = std::ssize(earlier);  // how many of them belong to this search
  const TrySteps try_steps = [&](std::span<const double> steps, const TrialScore* to_beat) {
    std::vector<TrialScore> scores;
    if (number < known && !std::ranges::equal(earlier[number].steps, steps)) known = number;
    if (number < known) {
      scores = earlier[number].scores;
      trials.set_cost(earlier[number].cost);
    } else {
      scores = trials.attempt(steps, to_beat, tried);
      keep({{steps.begin(), steps.end()}, scores, trials.cost()});
    }
    ++number;
    tried += static_cast<Index>(steps.size());
    if (control.team->is_first() && control.on_trial) control.on_trial(method.name, tried, budget);
    return scores;
  };
  const double start = trials.safe_step();
  const FoundStep found = search_step(start, options.tuning, try_steps);
  if (found.score.diverged) {
    throw InputError("method." + in_quotes(method.name) + ".step",
                     "every constant step from " + shortest(start) + " down to " + shortest(found.step) +
                         " diverges on some tuning seed; raise tuning.budget to try smaller ones");
  }
  Tuning tuning = trials.cost();
  tuning.method = method.name;
  tuning.goal = options.tuning.goal;
  tuning.value = found.step;
  return tuning;
} catch (const Stopped&) {
  return {};
}

}  // namespace

std::optional<Tuning> tune_constant(const ExperimentOptions& experiment, const Method& method,
                                    const TuningControl& control) {
  Instances instances;
  return tune(experiment, method, control, instances);
}

std::string tuning_settings(const ExperimentOptions& options, const Method& method) {
  ExperimentOptions searched = options;
  searched.seeds.list = tuning_seeds(options);
  searched.tuning.seeds = searched.seeds;
  searched.tuning.goal = goal_of(options, method);
  Value settings = identity(searched);
  std::erase_if(*settings.as<Value::Table>(), [](const auto& entry) {
    return entry.first == "name" || entry.first == "seeds" || entry.first == "stop_at_target" ||
           entry.first == "checkpoint_every" || entry.first == "time_limit";
  });
  settings["algorithm"] = to_value(method.algorithm);
  add_gradient(method, settings);
  if (method.tuned) settings["of"] = method.tuned->options.of;
  return settings.text();
}

std::optional<TunedConfig> resolve_tuned(Config config, const TuningControl& control) {
  TunedConfig out{std::move(config), {}};
  std::map<std::string, Tuning> searched;
  Instances instances;
  for (Method& method : out.config.methods) {
    if (!method.tuned) continue;
    const TuningGoal goal = goal_of(out.config.options, method);
    const std::string settings = tuning_settings(out.config.options, method);
    if (!searched.contains(settings)) {
      std::optional<Tuning> tuning = find_earlier(control, settings);
      if (!tuning) {
        tuning = tune(out.config.options, method, control, instances);
        if (!tuning) return {};
        on_first(*control.team, [&] {
          if (control.keep) control.keep(settings, *tuning);
        });
      }
      searched.emplace(settings, *tuning);
    }
    Tuning& tuning = out.tunings.emplace_back(searched.at(settings));
    tuning.method = method.name;
    tuning.goal = goal;  // one of an earlier store lacks it
    tuning.factor = method.tuned->options.factor;
    method = with_constant(std::move(method), tuning.factor * tuning.value);
  }
  return out;
}

}  // namespace polyhop
