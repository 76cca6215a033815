// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

namespace polyhop {

/// What crosses the whole network at once: global numbers for the record. It is given to the recorder alone, so that
/// no algorithm can cheat with it.
class Collective {
 public:
  virtual ~Collective() = default;
  /// Starting from zeros, every worker in order of its block does `turn` on the same numbers; afterwards all of them
  /// hold the result. A sum formed so runs in agent order, whatever the number of workers.
  virtual void in_order(std::span<double> numbers, const std::function<void(std::span<double>)>& turn) = 0;
};

}  // namespace polyhop
