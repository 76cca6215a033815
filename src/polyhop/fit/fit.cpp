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

#include "polyhop/core/clock.hpp"
#include "polyhop/core/machine.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/experiment/instance.hpp"
#include "polyhop/fit/pooled_evaluation.hpp"
#include "polyhop/method/automatic.hpp"
#include "polyhop/method/averaged_iterate.hpp"
#include "polyhop/method/corrected_descent.hpp"
#include "polyhop/method/polyak_step.hpp"
#include "polyhop/method/row_arithmetic.hpp"
#include "polyhop/method/rule_table.hpp"

namespace polyhop {
namespace {

std::uint64_t seed_of(const FitOptions& options) { return static_cast<std::uint64_t>(options.seed); }

// A share of every agent's samples, drawn at random because they may be sorted, one at least; and before them the rest.
// An agent's only sample is in both.
std::pair<Dataset, Dataset> split(const Dataset& data, Real share, const Block& block, std::uint64_t seed) {
  std::vector<Index> kept, held;
  Dataset rest{{}, {}, {0}};
  Dataset out{{}, {}, {0}};
  for (Index k = 0; k < data.agents(); ++k) {
    const Index count = data.samples(k);
    const auto wanted = static_cast<Index>(std::ceil(share * static_cast<Real>(count)));
    Index to_hold = std::clamp<Index>(wanted, 1, std::max<Index>(1, count - 1));
    Stream stream(seed, Purpose::held_out, block.agent(k));
    for (Index n = data.first(k); n < data.first(k + 1); ++n) {
      // Each of those that are left is as likely as the others.
      const bool is_held = stream.below(data.first(k + 1) - n) < to_hold;
      const Real target = data.targets[static_cast<std::size_t>(n)];
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

// Whether samples held out are predicted no better any more: some checks in a row without progress worth the while.
class Plateau {
 public:
  Plateau(int patience, Real worth_it) : patience_(patience), worth_it_(worth_it) {}

  bool reached(Real cost) {
    const bool progress = std::isinf(best_) || cost < best_ - worth_it_ * std::abs(best_);
    without_progress_ = progress ? 0 : without_progress_ + 1;
    if (progress) best_ = cost;  // small gains add up
    return without_progress_ == patience_;
  }

 private:
  int patience_;
  Real worth_it_;
  Real best_ = std::numeric_limits<Real>::infinity();
  int without_progress_ = 0;
};

// One worker's part of a fit.
class Fitter {
 public:
  Fitter(const FitOptions& options, const FitControl& control, const Problem& problem, const Problem* held_out,
         Worker& worker)
      : options_(options),
        control_(control),
        worker_(worker),
        network_(worker.network),
        oracle_(problem.oracle(network_.block(), seed_of(options))),
        w_(network_.block().size(), problem.dimension()),
        scratch_(w_),
        numbers_(static_cast<std::size_t>(w_.rows())) {
    if (held_out != nullptr) held_out_ = held_out->oracle(network_.block(), seed_of(options));
  }

  FitEnd with_full_gradients() {
    constexpr Index between_checks = 20;
    Plateau plateau(5, 1e-3);
    CorrectedDescent descent(w_.rows(), w_.columns());
    std::vector<Real> mu(numbers_.size());
    Real first = 0;
    for (Index i = 0;; ++i) {
      oracle_->draw(i);
      const Evaluation& at_w = oracle_->evaluate(w_, true);
      const Gradients& y = descent.direction(at_w.gradients);
      if (i % between_checks == 0 || i == options_.iterations) {
        state_.iteration = i;
        const Real gradient = largest([&](Index k) { return norm(y, k); });
        if (i == 0) first = gradient;
        state_.gradient = first > 0 ? gradient / first : 0;
        state_.disagreement = disagreement();
        if (held_out_) state_.held_out = held_out_cost();
        if (const auto end = told()) return *end;
        if (!std::isfinite(gradient)) return FitEnd::diverged;
        if (state_.gradient <= options_.tolerance && state_.disagreement <= options_.tolerance)
          return FitEnd::converged;
        if (held_out_ && plateau.reached(state_.held_out)) return FitEnd::plateau;
        if (i == options_.iterations) return FitEnd::iterations;
      }
      descent.move(w_, {i, w_, at_w, *oracle_}, 1, mu, network_);
    }
  }

  FitEnd with_batches(const Setting& setting) {
    Automatic algorithm(w_, {}, setting);
    AveragedIterate average(w_);
    const auto own = own_steps().build(setting);
    // Noise slows batches down long before they are at the end: Fashion-MNIST still gains a third of a point.
    Plateau plateau(20, 3e-4);
    Real epoch = static_cast<Real>(std::max<Index>(50, oracle_->epoch()));
    numbers_.assign(numbers_.size(), epoch);
    network_.spread_max(numbers_);
    const auto length = static_cast<Index>(numbers_.empty() ? epoch : numbers_[0]);
    for (Index i = 0;; ++i) {
      if (i % length == 0 || i == options_.iterations) {
        copy(average.models(), w_);
        state_.iteration = i;
        state_.disagreement = disagreement();
        state_.held_out = held_out_cost();
        if (const auto end = told()) return *end;
        if (!std::isfinite(state_.held_out)) return FitEnd::diverged;
        if (plateau.reached(state_.held_out)) return FitEnd::plateau;
        if (i == options_.iterations) return FitEnd::iterations;
      }
      algorithm.step(i, *oracle_, *own, network_);
      average.update(i, algorithm.models());
    }
  }

  // Everyone's model becomes the mean of all.
  void agree() {
    network_.spread_sum(w_);
    const Real share = 1 / static_cast<Real>(network_.agents());
    for (Index k = 0; k < w_.rows(); ++k) kernels::scale(share, w_.row(k).data(), w_.row(k).data(), w_.columns());
  }

  [[nodiscard]] const Rows& models() const { return w_; }
  [[nodiscard]] const std::vector<FitState>& history() const { return history_; }
  [[nodiscard]] Index gradients() const { return oracle_->evaluations().gradients; }

 private:
  static Real norm(const Gradients& y, Index k) { return std::sqrt(y.squared_norm(k)); }

  // The largest over the whole network of a number of each agent; a NaN is the largest of all.
  template <class F>
  Real largest(F number) {
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
      const Real x = number(static_cast<Index>(k));
      numbers_[k] = std::isnan(x) ? std::numeric_limits<Real>::infinity() : x;
    }
    network_.spread_max(numbers_);
    return numbers_[0];
  }

  Real disagreement() {
    network_.combine(w_, scratch_);
    const Real size =
        largest([&](Index k) { return std::sqrt(kernels::dot(w_.row(k).data(), w_.row(k).data(), w_.columns())); });
    const Real off = largest([&](Index k) {
      return std::sqrt(kernels::squared_distance(w_.row(k).data(), scratch_.row(k).data(), w_.columns()));
    });
    return size > 0 ? off / size : 0;
  }

  Real held_out_cost() {
    held_out_->draw(0);
    const auto& values = held_out_->evaluate(w_, true).values;
    std::ranges::copy(values, numbers_.begin());
    network_.spread_sum({numbers_});
    return numbers_[0] / static_cast<Real>(network_.agents());
  }

  // Tells whoever watches; the first worker asks whether to go on, for all of them.
  std::optional<FitEnd> told() {
    history_.push_back(state_);
    std::array<double, 1> stop{};
    worker_.collective.in_order(stop, [&](std::span<double> shared) {
      if (worker_.number != 0) return;
      if (control_.on_check) control_.on_check(state_);
      if (control_.stop && control_.stop()) shared[0] = 1;
    });
    if (stop[0] != 0) return FitEnd::stopped;
    return {};
  }

  const FitOptions& options_;
  const FitControl& control_;
  Worker& worker_;
  Network& network_;
  std::unique_ptr<Oracle> oracle_;
  std::unique_ptr<Oracle> held_out_;
  Rows w_;
  Rows scratch_;
  std::vector<Real> numbers_;
  FitState state_;
  std::vector<FitState> history_;
};

// Back to features as they stand in the file: w.(h - mean)/scale + b = (w/scale).h + (b - w.mean/scale).
void write_weights(const Rows& w, const Standardised& standardised, Model& model) {
  const auto blocks = static_cast<Index>(model.options.loss.task == Task::classes ? model.classes.size() : 1);
  const Index width = w.columns() / blocks;
  const bool has_intercept = model.options.intercept;
  const Index features = width - (has_intercept ? 1 : 0);
  model.weights = Rows(blocks, features);
  model.intercept.assign(static_cast<std::size_t>(blocks), 0);
  for (Index c = 0; c < blocks; ++c) {
    const auto row = w.row(0).subspan(static_cast<std::size_t>(c * width), static_cast<std::size_t>(width));
    Real& intercept = model.intercept[static_cast<std::size_t>(c)];
    if (has_intercept) intercept = row.back();
    for (Index j = 0; j < features; ++j) {
      const auto slot = static_cast<std::size_t>(j);
      model.weights(c, j) = model.options.standardise ? row[slot] / standardised.scale[slot] : row[slot];
      if (model.options.standardise) intercept -= model.weights(c, j) * standardised.mean[slot];
    }
  }
  model.mean = standardised.mean;
  model.scale = standardised.scale;
}

// The data that a process has of its agents, and those of all processes.
struct Shares {
  const CombinationMatrix& matrix;
  const Ownership& ownership;
  Team& team;

  [[nodiscard]] Block own() const { return ownership.block(team.rank()); }
  [[nodiscard]] Index agents() const { return matrix.agents(); }
  // Where each agent's samples begin, in order of the agents.
  [[nodiscard]] std::vector<Index> offsets(const Dataset& data) const {
    std::vector<double> counts(static_cast<std::size_t>(agents()));
    team.collective().in_order(counts, [&](std::span<double> shared) {
      for (Index k = 0; k < data.agents(); ++k) {
        shared[static_cast<std::size_t>(own().agent(k))] = static_cast<double>(data.samples(k));
      }
    });
    std::vector<Index> out = {0};
    for (const double count : counts) out.push_back(out.back() + static_cast<Index>(count));
    return out;
  }
  [[nodiscard]] DataShare of(const Dataset& data) const { return {own().first, agents(), offsets(data).back()}; }
};

// n_k K / n of each agent here: weights with which the mean of the agents' mean losses is that of all n samples. n is
// agreed on along the links.
std::vector<Real> pooled_weights(const Dataset& data, const Shares& shares, Traffic& traffic) {
  std::vector<Real> weights;
  for (Index k = 0; k < data.agents(); ++k) weights.push_back(static_cast<Real>(data.samples(k)));
  std::vector<Real> all = weights;
  shares.team.launch(shares.matrix, shares.ownership, 1, 1, [&](Worker& worker) {
    worker.network.spread_sum({all});
    traffic += of_all(worker.network.algorithm_traffic(), worker.collective);
  });
  for (std::size_t k = 0; k < weights.size(); ++k) weights[k] *= static_cast<Real>(shares.agents()) / all[k];
  return weights;
}

// How good the model is on the samples of a problem, from its coefficients as they were fitted.
ModelEvaluation evaluation_of(const Model& model, const DataProblem& problem, const Rows& w, const Shares& shares) {
  const Dataset& data = problem.data();
  Rows blocks(problem.predictions(), problem.features());
  for (Index c = 0; c < blocks.rows(); ++c) {
    std::copy_n(w.row(0).begin() + c * blocks.columns(), blocks.columns(), blocks.row(c).begin());
  }
  std::vector<ScoredSamples> agents;
  for (Index k = 0; k < data.agents(); ++k) {
    auto& [scores, targets] = agents.emplace_back(Rows(blocks.rows(), data.samples(k)));
    for (Index n = data.first(k); n < data.first(k + 1); ++n) {
      for (Index c = 0; c < blocks.rows(); ++c) {
        scores(c, n - data.first(k)) = data.features.dot(n, blocks.row(c).data());
      }
      targets.push_back(data.targets[static_cast<std::size_t>(n)]);
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
          .add("held_out", &O::held_out,
               "share of every agent's samples that is not fitted to: the fit ends when these are predicted no better "
               "(with batches 0.05 where none is given)",
               within(0.001, 0.9))
          .add("tolerance", &O::tolerance,
               "full gradients: stop when the gradient is this small, relative to the first", {above(0)})
          .add("iterations", &O::iterations, "at most", {count_from(1)})
          .add("seed", &O::seed, "of everything that is random", {count_from(0)})
          .add("graph", &O::graph, "the network");
  return table;
}

FitResult fit(const FitOptions& options, const FitControl& control) {
  FitResult result;
  Team& team = *control.team;
  const std::uint64_t seed = seed_of(options);
  const ModelOptions& how = options.model;
  std::optional<NetworkGraph> made;
  team.together([&] { made = make_network(options.graph, seed); });
  const CombinationMatrix& matrix = made->matrix;
  result.agents = matrix.agents();
  PreparedData prepared = prepare_data(options.data, how, matrix, seed, team, control.placement);
  DealtData& dealt = prepared.dealt;
  const Ownership& ownership = prepared.ownership;
  result.samples = dealt.samples;
  result.traffic += prepared.standardised.traffic;
  const Shares shares{matrix, ownership, team};

  std::unique_ptr<DataProblem> held_out;
  LinearOptions linear{how.l2, how.batch, how.sampling, how.intercept, {}, prepared.share};
  const auto classes = static_cast<Index>(dealt.classes.size());
  if (!how.batch.all || options.held_out) {
    auto [rest, held] =
        split(dealt.data, options.held_out.value_or(FitOptions::held_out_by_default), shares.own(), seed);
    dealt.data = std::move(rest);
    linear.share = shares.of(dealt.data);
    LinearOptions whole = linear;
    whole.batch = {0, true};
    whole.share = shares.of(held);
    whole.weights = pooled_weights(held, shares, result.traffic);
    held_out = how.loss.build(std::move(held), classes, whole);
  }
  linear.weights = pooled_weights(dealt.data, shares, result.traffic);
  const auto problem = how.loss.build(std::move(dealt.data), classes, linear);

  const auto begin = Clock::now();
  const Index threads =
      std::min(usable_threads(options.threads, team.size(), iteration_work(matrix, *problem)), shares.own().size());
  Rows agreed(1, problem->dimension());
  std::array<double, 3> sent{};  // vectors and scalars of this process's agents, and how many gradients they took
  std::mutex mutex;
  team.launch(matrix, ownership, problem->dimension(), threads, [&](Worker& worker) {
    Fitter fitter(options, control, *problem, held_out.get(), worker);
    const Setting setting = {worker.network, nullptr, {}, seed};
    const FitEnd end = how.batch.all ? fitter.with_full_gradients() : fitter.with_batches(setting);
    fitter.agree();
    const std::lock_guard lock(mutex);
    // All agents know these; the process's first worker tells.
    if (worker.network.block().first == shares.own().first) {
      result.end = end;
      result.history = fitter.history();
      result.state = result.history.back();
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
  model.classes = std::move(dealt.classes);
  write_weights(agreed, prepared.standardised, model);
  if (result.end != FitEnd::diverged) result.fitted = evaluation_of(model, *problem, agreed, shares);
  if (result.end != FitEnd::diverged && held_out) result.held_out = evaluation_of(model, *held_out, agreed, shares);
  const std::string source = options.data.bundled.empty() ? options.data.file : options.data.bundled;
  model.provenance = {{"polyhop", this_machine().version},
                      {"data", source},
                      {"samples", std::to_string(result.samples)},
                      {"agents", std::to_string(result.agents)},
                      {"graph", name_of(options.graph.topology)},
                      {"partition", name_of(how.partition.kind)},
                      {"algorithm", how.batch.all ? "exact diffusion, full gradients" : "auto, averaged"},
                      {"iterations", std::to_string(result.state.iteration)},
                      {"disagreement", shortest(result.state.disagreement)},
                      {"cost", shortest(result.cost)},
                      {"seed", std::to_string(options.seed)}};
  if (how.batch.all) model.provenance.emplace_back("relative gradient", shortest(result.state.gradient));
  if (held_out) model.provenance.emplace_back("held-out cost", shortest(result.state.held_out));
  return result;
}

}  // namespace polyhop
