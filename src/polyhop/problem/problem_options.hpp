// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "polyhop/core/fields.hpp"
#include "polyhop/problem/linear_problem.hpp"
#include "polyhop/problem/partition.hpp"
#include "polyhop/problem/reference_optimum.hpp"

namespace polyhop {

/// How J(w^o) is known: solved for, not at all, or given.
struct ReferenceChoice {
  bool solve = true;
  std::optional<Real> value;
};
template <>
struct Codec<ReferenceChoice> {
  static std::string type() { return "\"solve\" | \"none\" | number"; }
  static ReferenceChoice read(const Value& v);
  static Value write(const ReferenceChoice& choice);
};

/// The [problem] table.
struct ProblemOptions {
  LossName loss = LossName::least_squares;
  Real l2 = 0;
  Real delta = 1;
  std::string source = "synthetic";  // or "file", or the name of a bundled set
  Index dimension = 0;
  Index samples = 0;
  Real noise = 0;
  Real scale_spread = 0;
  Real minimiser_spread = 0;
  std::optional<std::string> data;
  std::optional<std::string> target;
  PartitionOptions partition;
  bool standardise = false;
  bool unit_rows = false;
  bool intercept = false;
  Batch batch;
  Sampling sampling = Sampling::uniform;
  ReferenceChoice reference;
  std::optional<Index> seed;
  static const FieldTable<ProblemOptions>& fields();
};

/// Refuses options that do not go together: keys of another source, what a source lacks. `line`: of the table.
void check(const ProblemOptions& options);

/// The seed of the data: the options' own, or that of the run.
std::uint64_t data_seed(const ProblemOptions& options, std::uint64_t seed);

/// Makes the problem of synthetic data for `agents` agents, with the samples of the block's agents alone.
std::unique_ptr<LinearProblem> make_problem(const ProblemOptions& options, const Block& block, Index agents,
                                            std::uint64_t seed);
inline std::unique_ptr<LinearProblem> make_problem(const ProblemOptions& options, Index agents, std::uint64_t seed) {
  return make_problem(options, Block{0, agents}, agents, seed);
}

/// A linear model on these data. `classes`: how many the targets number; only softmax asks.
std::unique_ptr<DataProblem> make_data_problem(Dataset data, LossName loss, Real delta, Index classes,
                                               LinearOptions options);

/// w^o and J(w^o) as the options ask for. `all`: where several processes share the agents.
Reference make_reference(const ProblemOptions& options, const Problem& problem, const AllAgents* all = nullptr);

}  // namespace polyhop
