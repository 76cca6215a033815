// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "polyhop/core/fields.hpp"
#include "polyhop/problem/model_options.hpp"
#include "polyhop/problem/problem_table.hpp"

namespace polyhop {

template <>
struct EnumNames<Element> {
  static constexpr std::array<std::pair<Element, std::string_view>, 2> names = {
      {{Element::float64, "double"}, {Element::float32, "single"}}};
};

/// Where J(w^o) comes from: computed, unknown, or given.
struct ReferenceChoice {
  bool solve = true;
  std::optional<double> value;
};
template <>
struct Codec<ReferenceChoice> {
  static std::string type() { return "\"solve\" | \"none\" | number"; }
  static ReferenceChoice read(const Value& v);
  static Value write(const ReferenceChoice& choice);
};

/// The [problem] table.
struct ProblemOptions {
  ModelOptions model;
  std::string source = "synthetic";  // or "file", or the name of a bundled set or of your own problem
  Index dimension = 0;
  Index samples = 0;
  double noise = 0;
  double scale_spread = 0;
  double minimiser_spread = 0;
  std::optional<std::string> data;
  std::optional<std::string> target;
  std::optional<std::string> columns = {};
  std::optional<std::string> drop = {};
  std::optional<bool> skip_missing = {};
  ReferenceChoice reference;
  Element precision = Element::float64;
  std::optional<Index> seed;
  std::optional<ProblemSpec> own = {};  // your own problem, if `source` names it
  static const FieldTable<ProblemOptions>& fields();
};

/// Looks up the loss or your own problem in the tables, and reads its options, which are among these. Rejects options
/// that do not go together: keys of another source, and keys that a source needs and lacks.
void settle(ProblemOptions& options, std::span<const LossEntry> losses = polyhop::losses(),
            std::span<const ProblemEntry> problems = {});

/// All options that apply, with their values, as in a file.
Value written(const ProblemOptions& options);

/// Whether a key of [problem] has an effect on synthetic data alone.
bool is_for_synthetic(std::string_view key);

/// The seed of the data: the options' own, or the run's.
std::uint64_t data_seed(const ProblemOptions& options, std::uint64_t seed);

/// Makes the problem from synthetic data for `agents` agents, with the samples of the block's agents only.
std::unique_ptr<DataProblem> make_problem(const ProblemOptions& options, const Block& block, Index agents,
                                          std::uint64_t seed);
inline std::unique_ptr<DataProblem> make_problem(const ProblemOptions& options, Index agents, std::uint64_t seed) {
  return make_problem(options, Block{0, agents}, agents, seed);
}

/// w^o and J(w^o) as requested, by one process that has the costs of all agents.
Reference make_reference(const ReferenceChoice& choice, const Problem& problem);
/// The same by several processes; this one has the costs of the agents in `here`.
Reference make_reference(const ReferenceChoice& choice, const Problem& problem, Collective& collective,
                         const Block& here);

}  // namespace polyhop
