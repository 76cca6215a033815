// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/instance.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/number_file.hpp"
#include "polyhop/core/random.hpp"

namespace polyhop {
namespace {

// In an experiment an agent's cost is the mean loss of its own samples.
void refuse_empty_files(const DataSource& source, const DealtData& dealt) {
  if (dealt.without_samples.empty()) return;
  throw InputError(
      "problem.data",
      "holds no samples, and in an experiment each agent's cost is the mean over its own; leave this agent "
      "out, or use `polyhop fit`, which accepts such files",
      0, AgentFiles::from(source.file)->of(dealt.without_samples.front()));
}

// A problem on real data, which are read and dealt.
void add_real_problem(const ProblemOptions& options, std::uint64_t seed, Team& team, Placement placement,
                      Instance& instance) {
  const ModelOptions& model = options.model;
  const DataSource source = {options.source == "file" ? "" : options.source,
                             options.data.value_or(""),
                             options.target.value_or(""),
                             {listed(options.columns.value_or("")), listed(options.drop.value_or(""))},
                             options.skip_missing.value_or(false)};
  PreparedData read = prepare_data(source, model, instance.network.matrix, seed, team, placement);
  refuse_empty_files(source, read.dealt);
  instance.skipped = read.dealt.skipped;
  const Index agents = instance.network.matrix.agents();
  instance.samples = (read.dealt.samples + agents - 1) / agents;
  instance.preparation += read.standardised.traffic;
  instance.ownership = std::move(read.ownership);
  if (!model.standardise) instance.column_spread = column_spread(read.dealt.data, model.intercept, team);
  LinearOptions linear{.l2 = model.l2,
                       .batch = model.batch,
                       .sampling = model.sampling,
                       .intercept = model.intercept,
                       .share = read.share,
                       .element = options.precision};
  team.together([&] {
    instance.problem =
        model.loss.build(std::move(read.dealt.data), static_cast<Index>(read.dealt.classes.size()), std::move(linear));
  });
}

// A problem whose costs are made, not read: synthetic data, or your own problem.
void add_made_problem(const ProblemOptions& options, std::uint64_t seed, Team& team, Placement placement,
                      Instance& instance) {
  const CombinationMatrix& matrix = instance.network.matrix;
  const Index agents = matrix.agents();
  const std::vector<Index> samples(options.own ? 0 : static_cast<std::size_t>(agents), options.samples);
  const Batch& batch = options.model.batch;
  // Your own problem, if it is alone, sees agents by number.
  if (options.own && placement == Placement::automatic) placement = Placement::contiguous;
  instance.ownership = choose_ownership(matrix, agent_costs(matrix, batch, samples), team.size(), placement);
  const Block block = instance.ownership.block(team.rank());
  team.together([&] {
    if (options.own) {
      instance.problem = options.own->build(
          {block, agents, data_seed(options, seed), batch, options.model.sampling, options.precision});
      if (instance.problem->element() != options.precision) {
        throw InputError("problem.precision",
                         "source = " + in_quotes(options.source) + " supports double precision only");
      }
    } else {
      instance.problem = make_problem(options, block, agents, seed);
    }
  });
}

}  // namespace

PreparedData prepare_data(const DataSource& source, const ModelOptions& model, const CombinationMatrix& matrix,
                          std::uint64_t seed, Team& team, Placement placement) {
  const auto prepare = [&] {
    PreparedData out{read_data_of(source, model, matrix, seed, team, placement), {}};
    Dataset& data = out.dealt.data;
    if (model.unit_rows) scale_to_unit_rows(data);
    if (model.standardise) out.standardised = standardise(data, matrix, out.ownership, team);
    if (model.intercept) add_intercept(data);
    return out;
  };
  try {
    return with_enough_memory("", prepare);
  } catch (const InputError& e) {
    // Errors after dealing, or with one more column, do not name a file themselves.
    const bool nameless = e.path().empty() && e.file().empty();
    throw nameless ? e.in_file(source.bundled.empty() ? source.file : source.bundled) : e;
  }
}

Instance make_instance(const ExperimentOptions& options, std::uint64_t seed, Team& team, Placement placement) {
  const ProblemOptions& problem = options.problem;
  std::optional<NetworkGraph> network;
  team.together([&] { with_enough_memory("graph", [&] { network = make_network(options.graph, seed); }); });
  Instance out{std::move(*network), nullptr, {}, {}, {}};
  with_enough_memory("problem", [&] {
    if (problem.own || problem.source == "synthetic") {
      add_made_problem(problem, seed, team, placement, out);
    } else {
      add_real_problem(problem, data_seed(problem, seed), team, placement, out);
    }
  });
  team.launch(out.network.matrix, out.ownership, 1, 1, [&](Worker& worker) {
    with_enough_memory("problem.reference", [&] {
      out.reference = make_reference(problem.reference, *out.problem, worker.collective, worker.network.block());
    });
  });
  return out;
}

Rows first_models(const ExperimentOptions& options, Block block, Index dimension, Index agents, std::uint64_t seed) {
  Rows start(block.size(), dimension);
  if (options.start == "zero") return start;
  if (options.start == "normal") {
    for (Index k = 0; k < block.size(); ++k) Stream(seed, Purpose::start, block.agent(k)).normals(start.row(k));
    return start;
  }
  Rows common(1, dimension);
  const Index found = read_numbers("start", options.start, [&](Index n, double x) {
    const Index agent = n / dimension;
    if (agent == 0) common(0, n) = x;
    if (agent < agents && block.holds(agent)) start(block.place(agent) - block.first, n % dimension) = x;
  });
  if (found != dimension && found != agents * dimension) {
    throw InputError("start", "'" + options.start + "' holds " + std::to_string(found) + " numbers, expected " +
                                  std::to_string(dimension) + " (one model for all) or " +
                                  std::to_string(agents * dimension) + " (one for each agent)");
  }
  for (Index k = 0; found == dimension && k < block.size(); ++k) {
    std::ranges::copy(common.row(0), start.row(k).begin());
  }
  return start;
}

}  // namespace polyhop
