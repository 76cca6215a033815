// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/problem_options.hpp"

#include <cmath>

#include "polyhop/problem/bundled_data.hpp"
#include "polyhop/problem/softmax_problem.hpp"
#include "polyhop/problem/synthetic.hpp"

namespace polyhop {

ReferenceChoice Codec<ReferenceChoice>::read(const Value& v) {
  if (const auto* text = v.as<std::string>()) {
    if (*text == "solve") return {};
    if (*text == "none") return {false, {}};
  } else if (v.as<double>() != nullptr || v.as<std::int64_t>() != nullptr) {
    const Real x = Codec<Real>::read(v);
    if (std::isfinite(x)) return {false, x};
  }
  throw_mismatch(v, type());
}

Value Codec<ReferenceChoice>::write(const ReferenceChoice& choice) {
  if (choice.value) return *choice.value;
  return choice.solve ? "solve" : "none";
}

const FieldTable<ProblemOptions>& ProblemOptions::fields() {
  using O = ProblemOptions;
  static const auto table =
      FieldTable<O>()
          .add("loss", &O::loss, "the loss of the linear model")
          .add("l2", &O::l2, "adds (l2/2)||w||^2 to every agent's cost", {at_least(0)})
          .add("delta", &O::delta, "where the Huber loss turns from a square into a line", {above(0)})
          .add("source", &O::source, "where the data come from: \"synthetic\", \"file\", or a set of `polyhop data`")
          .add("dimension", &O::dimension, "synthetic, needed: M, the number of features", {count_from(1)})
          .add("samples", &O::samples, "synthetic, needed: N, the samples of each agent", {count_from(1)})
          .add("noise", &O::noise, "synthetic: standard deviation added to the targets (before the sign, for classes)",
               {at_least(0)})
          .add("scale_spread", &O::scale_spread, "synthetic: sigma of a log-normal factor on an agent's features",
               {at_least(0)})
          .add("minimiser_spread", &O::minimiser_spread,
               "synthetic: how far agents' own minimisers lie from the common one", {at_least(0)})
          .add("data", &O::data, "file: its name; with {agent} in it, a file of each agent's own, from 0 on")
          .add("target", &O::target, "file: the column that is predicted, by name or number; default: the last")
          .add("partition", &O::partition, "how the samples of one file are dealt to the agents")
          .add("standardise", &O::standardise, "features with mean 0 and deviation 1, agreed on along the links")
          .add("unit_rows", &O::unit_rows, "every sample's features divided by their norm")
          .add("intercept", &O::intercept, "a last feature that is always 1, and not penalised")
          .add("batch", &O::batch, "samples an agent takes in an iteration")
          .add("sampling", &O::sampling, "how they are chosen")
          .add("reference", &O::reference, "how J(w^o) is known")
          .add("seed", &O::seed, "fixes the data, whatever the experiment's seed", count_from(0));
  return table;
}

void check(const ProblemOptions& options) {
  const auto refuse = [&](const std::string& key, const std::string& message) {
    throw InputError("problem." + key, message);
  };
  if (options.source == "synthetic") {
    if (options.dimension < 1) refuse("dimension", "missing; expected integer >= 1");
    if (options.samples < 1) refuse("samples", "missing; expected integer >= 1");
    if (options.data) refuse("data", "is for source = \"file\"");
    if (options.loss == LossName::softmax || options.loss == LossName::poisson) {
      refuse("loss",
             in_quotes(name_of(options.loss)) + " needs real data: source = \"file\", or a set of `polyhop data`");
    }
    return;
  }
  if (options.dimension > 0) refuse("dimension", "is for synthetic data; a file says it itself");
  if (options.samples > 0) refuse("samples", "is for synthetic data; a file says it itself");
  if (options.source == "file") {
    if (!options.data) refuse("data", "missing; expected the name of a data file");
    return;
  }
  std::vector<std::string> names = {"synthetic", "file"};
  for (const BundledSet& set : bundled_sets()) {
    if (set.name == options.source) return;
    names.push_back(set.name);
  }
  refuse("source", "unknown name " + in_quotes(options.source) + suggestion(options.source, names));
}

std::uint64_t data_seed(const ProblemOptions& options, std::uint64_t seed) {
  return options.seed ? static_cast<std::uint64_t>(*options.seed) : seed;
}

std::unique_ptr<DataProblem> make_data_problem(Dataset data, LossName loss, Real delta, Index classes,
                                               LinearOptions options) {
  if (loss == LossName::softmax) return std::make_unique<SoftmaxProblem>(std::move(data), classes, std::move(options));
  return std::make_unique<LinearProblem>(std::move(data), make_loss(loss, delta), std::move(options));
}

std::unique_ptr<LinearProblem> make_problem(const ProblemOptions& options, const Block& block, Index agents,
                                            std::uint64_t seed) {
  constexpr double most_bytes = 16e9;
  const double bytes = static_cast<double>(block.size()) * static_cast<double>(options.samples) *
                       static_cast<double>(options.dimension) * static_cast<double>(sizeof(Real));
  if (bytes > most_bytes) {
    throw InputError("problem", std::to_string(block.size()) + " agents x " + std::to_string(options.samples) +
                                    " samples x " + std::to_string(options.dimension) + " features need " +
                                    shortest(bytes / 1e9) + " GB; at most 16 GB are allowed in one process");
  }
  std::shared_ptr<const Loss> loss = make_loss(options.loss, options.delta);
  const SyntheticData synthetic = {options.dimension, options.samples, options.noise, options.scale_spread,
                                   options.minimiser_spread};
  Dataset data = synthesise(synthetic, block, loss->is_classification(), data_seed(options, seed));
  LinearOptions linear{.l2 = options.l2, .batch = options.batch, .sampling = options.sampling};
  linear.share = {block.first, agents, agents * options.samples};
  return std::make_unique<LinearProblem>(std::move(data), std::move(loss), std::move(linear));
}

Reference make_reference(const ProblemOptions& options, const Problem& problem, const AllAgents* all) {
  if (options.reference.solve) return problem.minimise(all == nullptr ? all_in_one_process(problem.agents()) : *all);
  Reference reference;
  reference.value = options.reference.value.value_or(0);
  reference.known = options.reference.value.has_value();
  reference.how = options.reference.value ? "given" : "none: excess risk is the risk itself";
  return reference;
}

}  // namespace polyhop
