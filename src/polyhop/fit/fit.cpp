// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/fit/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/core/clock.hpp"
#include "polyhop/core/codec.hpp"
#include "polyhop/core/machine.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/experiment/instance.hpp"
#include "polyhop/fit/grid_sums.hpp"
#include "polyhop/fit/inner_scale.hpp"
#include "polyhop/fit/pooled_evaluation.hpp"
#include "polyhop/fit/shares.hpp"
#include "polyhop/graph/spanning_tree.hpp"
#include "polyhop/method/automatic.hpp"
#include "polyhop/method/averaged_iterate.hpp"
#include "polyhop/method/corrected_descent.hpp"
#include "polyhop/method/polyak_step.hpp"
#include "polyhop/method/quasi_newton.hpp"
#include "polyhop/method/rule_table.hpp"

namespace polyhop {
namespace {

std::uint64_t seed_of(const FitOptions& options) { return static_cast<std::uint64_t>(options.seed); }

// Splits off a share of every agent's samples, at least one, drawn at random because they may be sorted; returns the
// rest first. An agent's only sample is in both.
std::pair<Dataset, Dataset> split(const Dataset& data, double share, const Block& block, std::uint64_t seed) {
  std::vector<Index> kept, held;
  Dataset rest{{}, {}, {0}};
  Dataset out{{}, {}, {0}};
  for (Index k = 0; k < data.agents(); ++k) {
    const Index count = data.samples(k);
    const auto wanted = static_cast<Index>(std::ceil(share * static_cast<double>(count)));
    Index to_hold = std::clamp<Index>(wanted, 1, std::max<Index>(1, count - 1));
    Stream stream(seed, Purpose::held_out, block.agent(k));
    for (Index n = data.first(k); n < data.first(k + 1); ++n) {
      // Each of the remaining samples is equally likely.
      const bool is_held = stream.below(data.first(k + 1) - n) < to_hold;
      const double target = data.targets[n];
      if (!is_held || count == 1) {
        kept.push_back(n);
        rest.targets.push_back(target);
      }
      if (is_held) {
        --to_hold;
        held.push_back(n);
        out.targets.push_back(target);
      }
    }
    rest.offset.push_back(static_cast<Index>(kept.size()));
    out.offset.push_back(static_cast<Index>(held.size()));
  }
  rest.features = data.features.select(kept);
  out.features = data.features.select(held);
  return {std::move(rest), std::move(out)};
}

// The model with the lowest loss on held-out samples so far, and whether it is worth continuing: it is as long as the
// loss keeps falling by a fraction of at least `worth_it`.
class Best {
 public:
  Best(const Rows& models, double worth_it) : models_(models), worth_it_(worth_it) {}

  void show(Index iteration, double loss, const Rows& models) {
    if (loss < loss_) {
      loss_ = loss;
      iteration_ = iteration;
      copy(models, models_);
    }
    // Small gains add up.
    if (std::isinf(milestone_) || loss < milestone_ - worth_it_ * std::abs(milestone_)) {
      milestone_ = loss;
      reached_ = iteration;
    }
  }
  // The iteration of the last improvement.
  [[nodiscard]] Index reached() const { return reached_; }
  [[nodiscard]] const Rows& models() const { return models_; }
  [[nodiscard]] double loss() const { return loss_; }
  [[nodiscard]] Index iteration() const { return iteration_; }

 private:
  Rows models_;
  double worth_it_;
  double loss_ = std::numeric_limits<double>::infinity();
  double milestone_ = std::numeric_limits<double>::infinity();
  Index iteration_ = 0;
  Index reached_ = 0;
};

// One worker's part of a fit.
class Fitter {
 public:
  Fitter(const FitOptions& options, const LossSpec& loss, const FitControl& control, const DataProblem& problem,
         const Problem* held_out, const Start& start, Worker& worker)
      : options_(options),
        loss_(loss),
        control_(control),
        worker_(worker),
        network_(worker.network),
        problem_(problem),
        start_(start),
        oracle_(problem.oracle(network_.block(), seed_of(options))),
        w_(network_.block().size(), problem.dimension()),
        scratch_(w_),
        numbers_(w_.rows()) {
    if (held_out != nullptr) held_out_ = held_out->oracle(network_.block(), seed_of(options));
    place(start.model.row(0));
  }

  FitEnd run(const Setting& setting) {
    switch (options_.chosen_method()) {
      case FitMethod::tree:
        return over_the_tree();
      case FitMethod::exact_diffusion:
        return by_exact_diffusion();
      case FitMethod::automatic:
        return with_batches(setting);
    }
    return FitEnd::stopped;
  }

  // Sets everyone's model to the mean of all.
  void agree() {
    if (options_.chosen_method() == FitMethod::tree) return;
    network_.spread_sum(w_);
    scale(1 / static_cast<double>(network_.agents()), w_);
  }

  [[nodiscard]] const Rows& models() const { return w_; }
  [[nodiscard]] const FitState& state() const { return state_; }
  [[nodiscard]] const std::vector<FitState>& history() const { return history_; }
  [[nodiscard]] Index gradients() const { return oracle_->evaluations().gradients; }

 private:
  static double norm(const Gradients& y, Index k) { return std::sqrt(y.squared_norm(k)); }

  // Sets everybody's model.
  void place(std::span<const double> model) {
    for (Index k = 0; k < w_.rows(); ++k) std::ranges::copy(model, w_.row(k).begin());
  }

  // All agents know the same sums and take the same steps.
  FitEnd over_the_tree() {
    constexpr Index max_remembered = 100;  // sending costs more than computing
    constexpr Index max_numbers = 10'000'000;
    QuasiNewton descent(start_.model.row(0),
                        std::clamp<Index>(max_numbers / std::max<Index>(1, w_.columns()), 5, max_remembered));
    Best best(w_, 1e-4);
    GridSums sums(start_.slope, w_.rows());
    oracle_->draw(0);
    double first = 0;
    while (true) {
      place(descent.trial());
      const Evaluation& here = oracle_->evaluate(w_, true);
      const double share = 1 / static_cast<double>(network_.agents());
      const double value = share * sums.of(here, scratch_, network_);
      scale_row(share, scratch_, 0, scratch_, 0);
      const auto outcome = descent.take(value, scratch_.row(0));
      ++state_.evaluations;
      if (outcome == QuasiNewton::Outcome::searching) continue;
      if (outcome == QuasiNewton::Outcome::moved && state_.evaluations > 1) ++state_.iteration;
      place(descent.point());
      if (state_.evaluations == 1) first = descent.value();
      state_.gradient = descent.gradient_norm() / start_.slope;
      if (held_out_) {
        state_.held_out = held_out_loss();
        best.show(state_.iteration, state_.held_out, w_);
      }
      auto end = ask_whether_to_stop();
      if (!end) end = end_of(descent, outcome, first);
      if (!end && held_out_ && state_.iteration > 20 + 2 * best.reached()) end = FitEnd::plateau;
      if (!end) continue;
      if (held_out_ && *end != FitEnd::diverged) keep(best);
      return *end;
    }
  }

  std::optional<FitEnd> end_of(const QuasiNewton& descent, QuasiNewton::Outcome outcome, double first) {
    if (!std::isfinite(descent.value()) || !std::isfinite(state_.gradient)) return FitEnd::diverged;
    if (state_.gradient <= options_.tolerance) return FitEnd::converged;
    // The cost is next to 0, and no sample is on the wrong side.
    if (falls_for_ever() && descent.value() <= 1e-3 * first && mistakes(descent.point()) == 0) return FitEnd::separated;
    if (outcome == QuasiNewton::Outcome::stuck) {
      const bool at_rounding = descent.expected_gain() <= 1e-9 * std::max(std::abs(descent.value()), std::abs(first));
      return at_rounding ? FitEnd::converged : FitEnd::iterations;
    }
    if (state_.iteration >= options_.iterations) return FitEnd::iterations;
    return {};
  }

  // Whether separable classes leave the cost without a minimum.
  [[nodiscard]] bool falls_for_ever() const {
    return options_.model.l2 == 0 && (loss_.loss ? loss_.loss->has_tail() : loss_.task == Task::classes);
  }

  double mistakes(std::span<const double> model) {
    numbers_.assign(numbers_.size(), 0);
    numbers_[0] = static_cast<double>(problem_.misclassified(network_.block(), model.data()));
    network_.spread_sum({numbers_});
    return numbers_[0];
  }

  void keep(const Best& best) {
    copy(best.models(), w_);
    state_.held_out = best.loss();
    state_.kept = best.iteration();
  }

  FitEnd by_exact_diffusion() {
    constexpr Index between_checks = 20;
    Best best(w_, 1e-4);
    CorrectedDescent descent(w_.zeros(w_.rows()));
    std::vector<double> mu(numbers_.size());
    const auto ended = [&](FitEnd end) {
      if (held_out_ && end != FitEnd::diverged) keep(best);
      return end;
    };
    for (Index i = 0;; ++i) {
      oracle_->draw(i);
      const Evaluation& at_w = oracle_->evaluate(w_, true);
      const Gradients& y = descent.direction(at_w.gradients);
      if (i % between_checks == 0 || i == options_.iterations) {
        state_.iteration = i;
        const double gradient = largest([&](Index k) { return norm(y, k); });
        state_.gradient = gradient / start_.slope;
        state_.disagreement = disagreement();
        if (held_out_) {
          state_.held_out = held_out_loss();
          best.show(i, state_.held_out, w_);
        }
        if (const auto end = ask_whether_to_stop()) return ended(*end);
        if (!std::isfinite(gradient)) return ended(FitEnd::diverged);
        if (state_.gradient <= options_.tolerance && state_.disagreement <= options_.tolerance) {
          return ended(FitEnd::converged);
        }
        if (held_out_ && i > 400 + 2 * best.reached()) return ended(FitEnd::plateau);
        if (i == options_.iterations) return ended(FitEnd::iterations);
      }
      descent.move(w_, {i, w_, at_w, *oracle_}, 1, mu, network_);
    }
  }

  FitEnd with_batches(Setting setting) {
    setting.oracle = oracle_.get();
    setting.iterations = options_.iterations;
    Automatic algorithm(w_, {}, setting);
    AveragedIterate average(w_);
    const auto own = own_steps().build(setting);
    double epoch = static_cast<double>(std::max<Index>(50, oracle_->epoch()));
    numbers_.assign(numbers_.size(), epoch);
    network_.spread_max(numbers_);
    const auto length = static_cast<Index>(numbers_.empty() ? epoch : numbers_[0]);
    Best best(w_, 1e-3);
    // Averaged models have less noise; without noise the last ones are closer.
    const auto show = [&](Index i, const Rows& models) {
      copy(models, w_);
      const double loss = held_out_loss();
      best.show(i, loss, w_);
      return loss;
    };
    for (Index i = 0;; ++i) {
      if (i % length == 0 || i == options_.iterations) {
        state_.iteration = i;
        const double averaged = show(i, average.settled(algorithm.models()));
        state_.held_out = std::fmin(averaged, show(i, algorithm.models()));
        state_.disagreement = disagreement();
        auto end = ask_whether_to_stop();
        if (!end && !std::isfinite(state_.held_out)) end = FitEnd::diverged;
        if (!end && i >= best.reached() + 10 * length) end = FitEnd::plateau;
        if (!end && i == options_.iterations) end = FitEnd::iterations;
        if (end && *end != FitEnd::diverged) keep(best);
        if (end) return *end;
      }
      average.step(i, algorithm, *oracle_, *own, network_);
    }
  }

  // The largest value over the whole network of one number per agent; NaN counts as the largest.
  template <class F>
  double largest(F number) {
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
      const double x = number(static_cast<Index>(k));
      numbers_[k] = std::isnan(x) ? std::numeric_limits<double>::infinity() : x;
    }
    network_.spread_max(numbers_);
    return numbers_[0];
  }

  double disagreement() {
    network_.combine(w_, scratch_);
    const double size = largest([&](Index k) { return std::sqrt(dot(w_, k, w_, k)); });
    const double off = largest([&](Index k) { return std::sqrt(squared_distance(w_, k, scratch_, k)); });
    return off / std::max(size, start_.slope);
  }

  double held_out_loss() {
    held_out_->draw(0);
    const auto& values = held_out_->evaluate(w_, true).values;
    std::ranges::copy(values, numbers_.begin());
    network_.spread_sum({numbers_});
    return numbers_[0] / static_cast<double>(network_.agents());
  }

  // Reports progress; the first worker asks whether to continue, for all of them.
  std::optional<FitEnd> ask_whether_to_stop() {
    history_.push_back(state_);
    bool stops = false;
    if (worker_.number == 0) {
      if (control_.on_check) control_.on_check(state_);
      stops = control_.stop && control_.stop();
    }
    MessageReader in(worker_.collective.from_first(message(stops)));
    stops = in.take<bool>();
    in.end();
    if (stops) return FitEnd::stopped;
    return {};
  }

  const FitOptions& options_;
  const LossSpec& loss_;
  const FitControl& control_;
  Worker& worker_;
  Network& network_;
  const DataProblem& problem_;
  const Start& start_;
  std::unique_ptr<Oracle> oracle_;
  std::unique_ptr<Oracle> held_out_;
  Rows w_;
  Rows scratch_;
  std::vector<double> numbers_;
  FitState state_;
  std::vector<FitState> history_;
};

// Converts back to features as they are in the file: w.(h - mean)/scale + b = (w/scale).h + (b - w.mean/scale), first
// from the descent's scales, then from the requested ones.
void write_weights(const Rows& w, const InnerScale& inner, const Standardised& standardised, Model& model) {
  const auto blocks = static_cast<Index>(model.options.loss.task == Task::classes ? model.classes.size() : 1);
  const Index width = w.columns() / blocks;
  const bool has_intercept = model.options.intercept;
  const Index features = width - (has_intercept ? 1 : 0);
  model.weights = Rows(blocks, features);
  model.intercept.assign(blocks, 0);
  for (Index c = 0; c < blocks; ++c) {
    const auto row = w.row(0).subspan(c * width, width);
    double& intercept = model.intercept[c];
    if (has_intercept) intercept = row.back();
    for (Index j = 0; j < features; ++j) {
      double& weight = model.weights(c, j);
      weight = row[j];
      const auto undo = [&](const std::vector<double>& mean, const std::vector<double>& scale) {
        if (scale.empty()) return;
        weight /= scale[j];
        intercept -= weight * mean[j];
      };
      undo(inner.mean, inner.scale);
      undo(standardised.mean, standardised.scale);
    }
  }
  model.mean = standardised.mean;
  model.scale = standardised.scale;
}

// n_k K / n for each agent here: weights that make the mean of the agents' mean losses that of all n samples. Agents
// agree on n along the links.
std::vector<double> pooled_weights(const Dataset& data, const Shares& shares, Traffic& traffic) {
  Rows counts(data.agents(), 1);
  for (Index k = 0; k < data.agents(); ++k) counts(k, 0) = static_cast<double>(data.samples(k));
  const double all = shares.sum(counts, traffic)[0];
  std::vector<double> weights;
  for (Index k = 0; k < data.agents(); ++k)
    weights.push_back(counts(k, 0) * static_cast<double>(shares.agents()) / all);
  return weights;
}

// How good the model is on the samples of a problem, using its coefficients before conversion.
ModelEvaluation evaluation_of(const Model& model, const DataProblem& problem, const Rows& w, const Shares& shares) {
  const Dataset& data = problem.data();
  Rows blocks(problem.predictions(), problem.features());
  for (Index c = 0; c < blocks.rows(); ++c) {
    std::copy_n(w.row(0).begin() + c * blocks.columns(), blocks.columns(), blocks.row(c).begin());
  }
  std::vector<ScoredSamples> agents;
  for (Index k = 0; k < data.agents(); ++k) {
    auto& [scores, targets] = agents.emplace_back(ScoredSamples{Rows(blocks.rows(), data.samples(k)), {}});
    for (Index n = data.first(k); n < data.first(k + 1); ++n) {
      for (Index c = 0; c < blocks.rows(); ++c) {
        scores(c, n - data.first(k)) = data.features.dot(n, blocks.row(c).data());
      }
      targets.push_back(data.targets[n]);
    }
  }
  ModelEvaluation out;
  shares.team.launch(shares.matrix, shares.ownership, 1, 1,
                     [&](Worker& worker) { out = evaluate_pooled(model, agents, worker.collective); });
  return out;
}

// The mean of all agents' costs at the model, summed in order of the agents.
double mean_cost(const DataProblem& problem, const Rows& w, const Shares& shares) {
  std::array<double, 1> total{};
  shares.team.launch(shares.matrix, shares.ownership, 1, 1, [&](Worker& worker) {
    const Block block = worker.network.block();
    Rows costs(block.size(), 1);
    problem.costs(block, w, costs);
    worker.collective.by_agent(total, block.size(), [&](std::span<double> shared, Index k) {
      shared[0] += costs(k, 0) / static_cast<double>(shares.agents());
    });
  });
  return total[0];
}

}  // namespace

const FieldTable<FitOptions>& FitOptions::fields() {
  using O = FitOptions;
  static const auto table =
      FieldTable<O>()
          .embed(&O::model)
          .add("method", &O::method,
               "how agents find the model; tree: L-BFGS over a spanning tree; exact-diffusion: gossip with full "
               "gradients; auto: for batches, as in experiments (default: tree, or auto with --batch)")
          .add("held_out", &O::held_out,
               "fraction of every agent's samples to hold out: the model with the lowest loss on them is kept, and the "
               "fit ends when that loss stops falling (default: none; 0.05 with auto)",
               within(0.001, 0.9))
          .add("tolerance", &O::tolerance, "tree, exact-diffusion: stop when the relative gradient is this small",
               {above(0)})
          .add("iterations", &O::iterations, "the largest number of iterations", {count_from(1)})
          .add("seed", &O::seed, "seed of everything random", {count_from(0)})
          .add("graph", &O::graph, "the network");
  return table;
}

FitResult fit(const FitOptions& options, const FitControl& control) {
  FitResult result;
  Team& team = *control.team;
  const std::uint64_t seed = seed_of(options);
  ModelOptions how = options.model;
  std::optional<NetworkGraph> made;
  team.together([&] { made = make_network(options.graph, seed); });
  const CombinationMatrix& matrix = made->matrix;
  result.agents = matrix.agents();
  PreparedData prepared = prepare_data(options.data, how, matrix, seed, team, control.placement);
  DealtData& dealt = prepared.dealt;
  const Ownership& ownership = prepared.ownership;
  how.loss = dealt.loss;
  result.why_loss = dealt.why_loss;
  result.samples = dealt.samples;
  result.skipped = dealt.skipped;
  result.traffic += prepared.standardised.traffic;
  const Shares shares{matrix, ownership, team};

  std::unique_ptr<DataProblem> held_out;
  LinearOptions linear{
      .l2 = how.l2, .batch = how.batch, .sampling = how.sampling, .intercept = how.intercept, .share = prepared.share};
  const auto classes = static_cast<Index>(dealt.classes.size());
  InnerScale inner;
  if (!how.standardise) {
    if (how.l2 > 0) result.column_spread = column_spread(dealt.data, how.intercept, team);
    inner = scale_inside(dealt.data, how, matrix, ownership, team);
    linear.penalties = inner.penalties;
    result.traffic += inner.traffic;
  }
  FitPlan plan;
  plan.method = options.chosen_method();
  plan.agents = result.agents;
  if (!options.has_full_gradients() || options.held_out) {
    auto [rest, held] =
        split(dealt.data, options.held_out.value_or(FitOptions::held_out_by_default), shares.own(), seed);
    dealt.data = std::move(rest);
    linear.share = shares.of(dealt.data);
    // This compares how well samples are predicted, without the penalty.
    LinearOptions whole{.batch = {0, true}, .intercept = how.intercept};
    whole.share = shares.of(held);
    whole.weights = pooled_weights(held, shares, result.traffic);
    held_out = how.loss.build(std::move(held), classes, whole);
  }
  linear.weights = pooled_weights(dealt.data, shares, result.traffic);
  const Start start = start_of(dealt.data, how, classes, shares, result.traffic);
  plan.samples = linear.share.samples;
  plan.held_out = held_out ? held_out->samples() : 0;
  const auto problem = how.loss.build(std::move(dealt.data), classes, linear);

  result.null_cost = mean_cost(*problem, start.model, shares);
  plan.dimension = problem->dimension();
  plan.loss = how.loss.name;
  plan.why_loss = result.why_loss;
  plan.height = spanning_tree(matrix.rows()).height;
  plan.vectors = plan.method == FitMethod::tree ? 2 * (plan.agents - 1) : matrix.rows().entries() - plan.agents;
  if (control.on_plan && team.is_first()) control.on_plan(plan);

  const auto begin = Clock::now();
  const Index threads =
      std::min(usable_threads(options.threads, team.size(), iteration_work(matrix, *problem)), shares.own().size());
  Rows agreed(1, problem->dimension());
  std::array<double, 3> sent{};  // by this process's agents: vectors, scalars; and the gradients that they evaluated
  std::mutex mutex;
  team.launch(matrix, ownership, problem->dimension(), threads, [&](Worker& worker) {
    Fitter fitter(options, how.loss, control, *problem, held_out.get(), start, worker);
    const FitEnd end = fitter.run({worker.network, nullptr, {}, seed});
    fitter.agree();
    const std::lock_guard lock(mutex);
    // All agents know these; the process's first worker reports them.
    if (worker.network.block().first == shares.own().first) {
      result.end = end;
      result.history = fitter.history();
      result.state = fitter.state();
      result.null_held_out = result.history.front().held_out;
      std::ranges::copy(fitter.models().row(0), agreed.row(0).begin());
      result.traffic.rounds += worker.network.algorithm_traffic().rounds + worker.network.step_traffic().rounds;
    }
    for (const Traffic& traffic : {worker.network.algorithm_traffic(), worker.network.step_traffic()}) {
      sent[0] += static_cast<double>(traffic.vectors);
      sent[1] += static_cast<double>(traffic.scalars);
    }
    sent[2] += static_cast<double>(fitter.gradients());
  });
  result.seconds = since(begin);
  std::array<double, 3> of_all{};
  team.collective().in_order(of_all, [&](std::span<double> shared) {
    for (std::size_t n = 0; n < sent.size(); ++n) shared[n] += sent[n];
  });
  result.traffic += {0, static_cast<Index>(of_all[0]), static_cast<Index>(of_all[1])};
  result.gradients = static_cast<Index>(of_all[2]);
  result.cost = mean_cost(*problem, agreed, shares);

  Model& model = result.model;
  model.options = how;
  model.features = std::move(dealt.features);
  model.target = std::move(dealt.target);
  if (model.features.empty()) model.columns = std::move(dealt.columns);
  model.id = std::move(dealt.id);
  model.classes = std::move(dealt.classes);
  write_weights(agreed, inner, prepared.standardised, model);
  result.mean = how.standardise ? prepared.standardised.mean : std::move(inner.column_mean);
  result.deviation = how.standardise ? prepared.standardised.scale : std::move(inner.deviation);
  result.mean.resize(model.weights.columns());  // without the intercept's
  result.deviation.resize(model.weights.columns());
  result.constant = std::move(prepared.standardised.constant);
  for (std::size_t j = 0; j < result.deviation.size(); ++j) {
    if (result.deviation[j] == 0) result.constant.push_back(static_cast<Index>(j));
  }
  if (result.end != FitEnd::diverged) result.fitted = evaluation_of(model, *problem, agreed, shares);
  if (result.end != FitEnd::diverged && held_out) result.held_out = evaluation_of(model, *held_out, agreed, shares);
  const std::string source = options.data.bundled.empty() ? options.data.file : options.data.bundled;
  model.provenance = {{"polyhop", this_machine().version},
                      {"data", source},
                      {"samples", std::to_string(result.samples)},
                      {"agents", std::to_string(result.agents)},
                      {"graph", name_of(options.graph.topology)},
                      {"partition", name_of(how.partition.kind)},
                      {"method", name_of(plan.method)},
                      {"iterations", std::to_string(result.state.iteration)},
                      {"disagreement", shortest(result.state.disagreement)},
                      {"cost", shortest(result.cost)},
                      {"seed", std::to_string(options.seed)}};
  if (options.has_full_gradients()) model.provenance.emplace_back("relative gradient", shortest(result.state.gradient));
  if (held_out) model.provenance.emplace_back("held-out loss", shortest(result.state.held_out));
  return result;
}

}  // namespace polyhop
