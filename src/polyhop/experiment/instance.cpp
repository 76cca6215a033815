// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/instance.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/number_file.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/experiment/standardise.hpp"
#include "polyhop/experiment/team_data.hpp"

namespace polyhop {
namespace {

// A problem on data that were read and dealt.
void add_real_problem(const ProblemOptions& options, std::uint64_t seed, Team& team, Placement placement,
                      Instance& instance) {
  const CombinationMatrix& matrix = instance.network.matrix;
  const bool file = options.source == "file";
  const DataSource source = {file ? "" : options.source, options.data.value_or(""), options.target.value_or(""),
                             options.partition};
  TeamData read = read_data_of(source, options.loss, options.batch, matrix, seed, team, placement);
  Dataset& data = read.dealt.data;
  if (options.unit_rows) scale_to_unit_rows(data);
  if (options.standardise) instance.preparation += standardise(data, matrix, read.ownership, team).traffic;
  if (options.intercept) add_intercept(data);
  instance.ownership = std::move(read.ownership);
  LinearOptions linear{options.l2, options.batch, options.sampling, options.intercept, {}, read.share};
  team.together([&] {
    instance.problem = make_data_problem(std::move(data), options.loss, options.delta,
                                         static_cast<Index>(read.dealt.classes.size()), std::move(linear));
  });
}

void add_synthetic_problem(const ProblemOptions& options, std::uint64_t seed, Team& team, Placement placement,
                           Instance& instance) {
  const CombinationMatrix& matrix = instance.network.matrix;
  const Index agents = matrix.agents();
  const std::vector<Index> samples(static_cast<std::size_t>(agents), options.samples);
  instance.ownership = choose_ownership(matrix, agent_costs(matrix, options.batch, samples), team.size(), placement);
  team.together([&] { instance.problem = make_problem(options, instance.ownership.block(team.rank()), agents, seed); });
}

}  // namespace

Instance make_instance(const ExperimentOptions& options, std::uint64_t seed, Team& team, Placement placement) {
  const ProblemOptions& problem = options.problem;
  std::optional<NetworkGraph> network;
  team.together([&] { network = make_network(options.graph, seed); });
  Instance out{std::move(*network), nullptr, {}, {}, {}};
  if (problem.source == "synthetic") {
    add_synthetic_problem(problem, seed, team, placement, out);
  } else {
    add_real_problem(problem, data_seed(problem, seed), team, placement, out);
  }
  team.launch(out.network.matrix, out.ownership, 1, 1, [&](Worker& worker) {
    const AllAgents all = all_agents(worker);
    out.reference = make_reference(problem, *out.problem, &all);
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
  const Index found = read_numbers("start", options.start, [&](Index n, Real x) {
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
