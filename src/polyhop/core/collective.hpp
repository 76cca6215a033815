// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// Whatever crosses the whole network at once: global numbers for the record, states for a checkpoint, sums for the
/// reference optimum. It serves the recorder, tuning, set-up and the reference optimum. No algorithm or rule is given
/// one, so none can cheat with it. Every worker makes the same calls in the same order.
class Collective {
 public:
  virtual ~Collective() = default;
  /// Starting from zeros, every worker does `turn` on the same numbers, in order of their blocks; afterwards all of
  /// them hold the result.
  virtual void in_order(std::span<double> numbers, const std::function<void(std::span<double>)>& turn) = 0;
  /// The same agent by agent, in order of the agents' numbers, whatever the blocks: `turn` gets the numbers and k, the
  /// position of the agent within the worker's block of `agents` agents. So a sum does not depend on the workers.
  virtual void by_agent(std::span<double> numbers, Index agents,
                        const std::function<void(std::span<double>, Index k)>& turn) {
    in_order(numbers, [&](std::span<double> shared) {
      for (Index k = 0; k < agents; ++k) turn(shared, k);
    });
  }
  /// Gathers rows of equal length at the first worker: `mine`, one row for each number in `rows`, become these rows of
  /// `all`, which stays empty in the others.
  virtual void gather(std::span<const Index> rows, std::span<const double> mine, std::span<double> all) = 0;
  /// The reverse: every worker gets the rows of `all` that it names, all of length `mine.size() / rows.size()`.
  virtual void scatter(std::span<const Index> rows, std::span<double> mine, std::span<const double> all) = 0;
  /// Sends the first worker's message (codec.hpp) to all; what the others pass is ignored.
  [[nodiscard]] virtual std::string from_first(const std::string& bytes);
  /// Sends each worker's message to the first one, in order; the others get nothing.
  [[nodiscard]] virtual std::vector<std::string> to_first(const std::string& bytes);
};

}  // namespace polyhop
