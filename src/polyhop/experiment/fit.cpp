// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/fit.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/experiment/machine.hpp"
#include "polyhop/experiment/standardise.hpp"
#include "polyhop/experiment/tasks.hpp"
#include "polyhop/method/automatic.hpp"
#include "polyhop/method/averaged_iterate.hpp"
#include "polyhop/method/differences.hpp"
#include "polyhop/method/polyak_step.hpp"
#include "polyhop/method/row_arithmetic.hpp"
#include "polyhop/method/rule_table.hpp"
#include "polyhop/network/runtime.hpp"
#include "polyhop/problem/problem_options.hpp"

namespace polyhop {
namespace {

using Clock = std::chrono::steady_clock;

// J_k weighs K n_k / n, so that (1/K) sum_k J_k is the pooled mean; n is agreed on along the links.
std::vector<Real> pooled_weights(const Dataset& data, const CombinationMatrix& matrix, Traffic& traffic) {
  std::vector<Real> count;
  for (Index k = 0; k < data.agents(); ++k) count.push_back(static_cast<Real>(data.samples(k)));
  std::vector<Real> weights = count;
  launch_serial(matrix, 1, [&](Worker& worker) {
    worker.network.spread_sum({count});
    traffic += worker.network.algorithm_traffic();
  });
  for (std::size_t k = 0; k < weights.size(); ++k) weights[k] *= static_cast<Real>(weights.size()) / count[k];
  return weights;
}

// The last share of every agent's samples, one at least, and the rest; an agent's only sample is in both.
std::pair<Dataset, Dataset> split(const Dataset& data, Real share) {
  std::vector<Index> kept, held;
  Dataset rest{{}, {}, {0}};
  Dataset out{{}, {}, {0}};
  for (Index k = 0; k < data.agents(); ++k) {
    const Index count = data.samples(k);
    const auto wanted = static_cast<Index>(std::ceil(share * static_cast<Real>(count)));
    const Index first_held = data.first(k + 1) - std::clamp<Index>(wanted, 1, std::max<Index>(1, count - 1));
    for (Index n = data.first(k); n < data.first(k + 1); ++n) {
      const Real target = data.targets[static_cast<std::size_t>(n)];
      if (n < first_held || count == 1) {
        kept.push_back(n);
        rest.targets.push_back(target);
      }
      if (n >= first_held) {
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

// One worker's part of a fit.
class Fitter {
 public:
  Fitter(const FitOptions& options, const FitControl& control, const Problem& problem, const Problem* held_out,
         Worker& worker)
      : options_(options),
        control_(control),
        worker_(worker),
        network_(worker.network),
        oracle_(problem.oracle(network_.block(), options.seed)),
        w_(network_.block().size(), problem.dimension()),
        scratch_(w_),
        numbers_(static_cast<std::size_t>(w_.rows())) {
    if (held_out != nullptr) held_out_ = held_out->oracle(network_.block(), options.seed);
  }

  FitEnd with_full_gradients() {
    constexpr Index between_checks = 20;
    DualCorrection correction(w_.rows(), w_.columns(), 0.5);
    CurvatureWatch curvature(w_.rows());
    Differences differences(w_.rows(), w_.columns());
    std::vector<Real> steepest(numbers_.size());  // the largest ||dg|| / ||dw|| so far
    std::vector<Real> mu(numbers_.size());
    Real first = 0;
    for (Index i = 0;; ++i) {
      oracle_->draw(i);
      const Evaluation& at_w = oracle_->evaluate(w_, true);
      const Gradients& y = correction.direction(at_w.gradients);
      if (i % between_checks == 0 || i == options_.iterations) {
        state_.iteration = i;
        const Real gradient = largest([&](Index k) { return norm(y, k); });
        if (i == 0) first = gradient;
        state_.gradient = first > 0 ? gradient / first : 0;
        state_.disagreement = disagreement();
        if (const auto end = told()) return *end;
        if (!std::isfinite(gradient)) return FitEnd::diverged;
        if (state_.gradient <= options_.tolerance && state_.disagreement <= options_.tolerance)
          return FitEnd::converged;
        if (i == options_.iterations) return FitEnd::iterations;
      }
      curvature.update(w_, at_w, *oracle_);
      // Curvature along g_k alone may miss the directions in which agents move, g_k + d_k.
      const bool moved = differences.update({i, w_, at_w, *oracle_, w_, y, at_w.values});
      for (std::size_t k = 0; k < mu.size(); ++k) {
        // Not where dg is nothing but rounding.
        const Real lost = 1e-24 * squared_norm(at_w.gradients, static_cast<Index>(k));
        if (moved && differences.ss()[k] > 0 && differences.zz()[k] > lost) {
          steepest[k] = std::max(steepest[k], std::sqrt(differences.zz()[k] / differences.ss()[k]));
        }
        const Real largest = std::max(curvature.largest()[k], steepest[k]);
        mu[k] = largest > 0 ? 1 / largest : 1;  // a step of 0 would cut the agent off
      }
      correction.apply(w_, mu, false, network_);
    }
  }

  FitEnd with_batches(const Setting& setting) {
    constexpr int patience = 5;
    constexpr Real worth_it = 1e-3;
    Automatic algorithm(w_, {}, setting);
    AveragedIterate average(w_);
    const auto own = own_steps().build(setting);
    Real epoch = static_cast<Real>(std::max<Index>(50, oracle_->epoch()));
    numbers_.assign(numbers_.size(), epoch);
    network_.spread_max(numbers_);
    const auto length = static_cast<Index>(numbers_.empty() ? epoch : numbers_[0]);
    Real best = std::numeric_limits<Real>::infinity();
    int without_progress = 0;
    for (Index i = 0;; ++i) {
      if (i % length == 0 || i == options_.iterations) {
        copy(average.models(), w_);
        state_.iteration = i;
        state_.disagreement = disagreement();
        state_.held_out = held_out_cost();
        if (const auto end = told()) return *end;
        if (!std::isfinite(state_.held_out)) return FitEnd::diverged;
        without_progress =
            std::isinf(best) || state_.held_out < best - worth_it * std::abs(best) ? 0 : without_progress + 1;
        best = std::min(best, state_.held_out);
        if (without_progress == patience) return FitEnd::plateau;
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
  [[nodiscard]] const FitState& state() const { return state_; }
  [[nodiscard]] Index gradients() const { return oracle_->evaluations().gradients; }

 private:
  static Real norm(const Gradients& y, Index k) { return std::sqrt(squared_norm(y, k)); }

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
};

// Back to features as they stand in the file: w.(h - mean)/scale + b = (w/scale).h + (b - w.mean/scale).
void write_weights(const Rows& w, const FitOptions& options, const Standardised& standardised, Model& model) {
  const auto blocks = static_cast<Index>(options.loss == LossName::softmax ? model.classes.size() : 1);
  const Index width = w.columns() / blocks;
  const Index features = width - (options.intercept ? 1 : 0);
  model.weights = Rows(blocks, features);
  model.intercept.assign(static_cast<std::size_t>(blocks), 0);
  for (Index c = 0; c < blocks; ++c) {
    const auto row = w.row(0).subspan(static_cast<std::size_t>(c * width), static_cast<std::size_t>(width));
    Real& intercept = model.intercept[static_cast<std::size_t>(c)];
    if (options.intercept) intercept = row.back();
    for (Index j = 0; j < features; ++j) {
      const auto slot = static_cast<std::size_t>(j);
      model.weights(c, j) = options.standardise ? row[slot] / standardised.scale[slot] : row[slot];
      if (options.standardise) intercept -= model.weights(c, j) * standardised.mean[slot];
    }
  }
  if (!options.standardise) return;
  model.mean = standardised.mean;
  model.scale = standardised.scale;
}

}  // namespace

FitResult fit(const FitOptions& options, const FitControl& control) {
  FitResult result;
  const NetworkGraph network = make_network(options.graph, options.seed);
  result.agents = network.matrix.agents();
  DealtData dealt = read_dealt(options.data, options.loss, result.agents, options.seed);
  result.samples = dealt.data.features.rows();
  Standardised standardised;
  if (options.standardise) {
    standardised = standardise(dealt.data, network.matrix);
    result.traffic += standardised.traffic;
  }
  if (options.intercept) add_intercept(dealt.data);

  std::unique_ptr<Problem> held_out;
  LinearOptions linear{options.l2, options.batch, Sampling::shuffle, options.intercept, {}};
  const auto classes = static_cast<Index>(dealt.classes.size());
  const auto build = [&](Dataset data, const LinearOptions& how) {
    return make_data_problem(std::move(data), options.loss, options.delta, classes, how);
  };
  if (!options.batch.all) {
    auto [rest, held] = split(dealt.data, options.held_out);
    dealt.data = std::move(rest);
    LinearOptions whole = linear;
    whole.batch = {0, true};
    whole.weights = pooled_weights(held, network.matrix, result.traffic);
    held_out = build(std::move(held), whole);
  }
  linear.weights = pooled_weights(dealt.data, network.matrix, result.traffic);
  const auto problem = build(std::move(dealt.data), linear);

  const auto begin = Clock::now();
  const Index threads = usable_threads(options.threads);
  Rows agreed(1, problem->dimension());
  std::mutex mutex;
  launch(network.matrix, problem->dimension(), std::min(threads, result.agents), [&](Worker& worker) {
    Fitter fitter(options, control, *problem, held_out.get(), worker);
    const Setting setting = {worker.network, nullptr, {}, options.seed};
    const FitEnd end = options.batch.all ? fitter.with_full_gradients() : fitter.with_batches(setting);
    fitter.agree();
    const std::lock_guard lock(mutex);
    if (worker.number == 0) {
      result.end = end;
      result.state = fitter.state();
      std::ranges::copy(fitter.models().row(0), agreed.row(0).begin());
      result.traffic.rounds += worker.network.algorithm_traffic().rounds + worker.network.step_traffic().rounds;
    }
    for (const Traffic& traffic : {worker.network.algorithm_traffic(), worker.network.step_traffic()}) {
      result.traffic.vectors += traffic.vectors;
      result.traffic.scalars += traffic.scalars;
    }
    result.gradients += fitter.gradients();
  });
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();

  Rows costs(result.agents, 1);
  problem->costs({0, result.agents}, agreed, costs);
  for (Index k = 0; k < result.agents; ++k) result.cost += costs(k, 0) / static_cast<double>(result.agents);

  Model& model = result.model;
  model.loss = name_of(options.loss);
  model.delta = options.delta;
  model.l2 = options.l2;
  model.features = std::move(dealt.features);
  model.target = std::move(dealt.target);
  model.classes = std::move(dealt.classes);
  write_weights(agreed, options, standardised, model);
  const std::string source = options.data.bundled.empty() ? options.data.file : options.data.bundled;
  model.provenance = {{"polyhop", this_machine().version},
                      {"data", source},
                      {"samples", std::to_string(result.samples)},
                      {"agents", std::to_string(result.agents)},
                      {"graph", name_of(options.graph.topology)},
                      {"partition", name_of(options.data.partition.kind)},
                      {"algorithm", options.batch.all ? "exact diffusion, full gradients" : "auto, averaged"},
                      {"iterations", std::to_string(result.state.iteration)},
                      options.batch.all
                          ? std::pair<std::string, std::string>("relative gradient", shortest(result.state.gradient))
                          : std::pair<std::string, std::string>("held-out cost", shortest(result.state.held_out)),
                      {"disagreement", shortest(result.state.disagreement)},
                      {"cost", shortest(result.cost)},
                      {"seed", std::to_string(options.seed)}};
  return result;
}

}  // namespace polyhop
