// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// The number of samples of an agent that never runs out of them: there is then no mean over all. It allows batches of
/// a million in a million iterations.
inline constexpr Index endless_samples = Index{1} << 40;

/// The costs of all agents as one function of many points, for code that is fast on many points at once. Workers call
/// it at the same time, each for its own agents.
class Costs {
 public:
  virtual ~Costs() = default;
  [[nodiscard]] virtual Index agents() const = 0;
  [[nodiscard]] virtual Index dimension() const = 0;
  /// How many samples an agent can choose from; 1 for a deterministic cost. If several processes share the agents, each
  /// process is asked about its own only.
  [[nodiscard]] virtual Index samples(Index /*agent*/) const { return 1; }
  /// For each n below owners.size(): values[n] = the cost of agent owners[n] on its samples batches[n] at row n of
  /// `points`, and row n of `gradients` = its gradient, unless that is null. An agent may own several points. `points`
  /// and `gradients` may have more rows than needed.
  virtual void evaluate(const Rows& points, std::span<const Index> owners,
                        std::span<const std::span<const Index>> batches, std::span<double> values,
                        Rows* gradients) const = 0;
};

/// The numbers of the block's agents, as owners of one point each.
std::vector<Index> agents_of(Block block);

/// Batches of all samples, one for each of `owners`. Throws if the samples are endless.
class AllSamples {
 public:
  AllSamples(const Costs& costs, std::span<const Index> owners);
  AllSamples(const AllSamples&) = delete;
  AllSamples& operator=(const AllSamples&) = delete;
  [[nodiscard]] std::span<const std::span<const Index>> batches() const { return batches_; }
  [[nodiscard]] std::span<const Index> batch(Index n) const { return batches_[n]; }

 private:
  std::vector<Index> numbers_;  // 0, 1, ...; every batch is a prefix
  std::vector<std::span<const Index>> batches_;
};

}  // namespace polyhop
