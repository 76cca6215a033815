// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyhop/core/collective.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/problem/oracle.hpp"

namespace polyhop {

/// A minimiser w^o of J and its cost, and how accurately they are known.
struct Reference {
  std::optional<std::vector<double>> minimiser;                // empty if J has no minimum, or it was not computed
  double value = 0;                                            // J(w^o), or the infimum
  double accuracy = std::numeric_limits<double>::quiet_NaN();  // estimate of J(minimiser) - min J
  std::string how;                                             // text for the report
  bool known = true;                                           // false: w^o was not found, and `value` is 0
};

/// A reference that says why no minimiser is known.
Reference unknown_reference(const std::string& why);

/// The costs J_1 .. J_K of all agents, on which an experiment runs.
class Problem {
 public:
  virtual ~Problem() = default;
  [[nodiscard]] virtual Index agents() const = 0;
  [[nodiscard]] virtual Index dimension() const = 0;
  /// The number type of models, gradients and messages.
  [[nodiscard]] virtual Element element() const { return Element::float64; }
  [[nodiscard]] VectorType vectors() const { return {dimension(), element()}; }
  /// How many samples all agents have together; 1 per agent if costs are not sums.
  [[nodiscard]] virtual Index samples() const { return agents(); }
  /// About how many multiply-adds it takes to compute one gradient, on a batch, for every agent that is here.
  [[nodiscard]] virtual double gradient_work() const {
    return 2 * static_cast<double>(agents()) * static_cast<double>(dimension());
  }
  /// The view of one block; `seed` is the seed of the sampling.
  [[nodiscard]] virtual std::unique_ptr<Oracle> oracle(Block block, std::uint64_t seed) const = 0;
  /// out(k, p) = J_k(point p), points in double, k over the block's agents: the full cost, not a batch. One matrix
  /// product for linear models.
  virtual void costs(Block block, const Rows& points, Rows& out) const = 0;
  /// Minimises J = (1/K) sum_k J_k, bit-identical for any number of processes; `here`: the agents whose costs this
  /// process has. Every process makes the same calls. By default the minimum is unknown.
  [[nodiscard]] virtual Reference minimise(Collective& collective, const Block& here) const;
  /// How many of the block's samples the model w (a row of Rows) misclassifies; -1 if there are no classes.
  [[nodiscard]] virtual Index misclassified(Block /*block*/, const double* /*w*/) const { return -1; }
};

}  // namespace polyhop
