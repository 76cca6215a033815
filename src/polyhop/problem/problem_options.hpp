// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "polyhop/core/fields.hpp"
#include "polyhop/problem/linear_problem.hpp"

namespace polyhop {

/// Where data come from.
enum class Source { synthetic };
template <>
struct EnumNames<Source> {
  static constexpr std::array<std::pair<Source, std::string_view>, 1> names = {{{Source::synthetic, "synthetic"}}};
};

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
  Source source = Source::synthetic;
  Index dimension = 0;
  Index samples = 0;
  Real noise = 0;
  Real scale_spread = 0;
  Real minimiser_spread = 0;
  Batch batch;
  Sampling sampling = Sampling::uniform;
  ReferenceChoice reference;
  std::optional<Index> seed;
  static const FieldTable<ProblemOptions>& fields();
};

/// Makes the problem for `agents` agents; `options.seed` overrides `seed`.
std::unique_ptr<LinearProblem> make_problem(const ProblemOptions& options, Index agents, std::uint64_t seed);

/// w^o and J(w^o) as the options ask for.
Reference make_reference(const ProblemOptions& options, const LinearProblem& problem);

}  // namespace polyhop
