// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/graph/combination_matrix.hpp"
#include "polyhop/network/runtime.hpp"

namespace polyhop {

/// Which process owns which agents: process r of a team owns the places first[r] .. first[r + 1]. The numbering, if
/// there is one, says which agents are at these places.
struct Ownership {
  std::vector<Index> first;
  std::shared_ptr<const Numbering> numbering;

  [[nodiscard]] Block block(Index rank) const { return {first[rank], first[rank + 1], numbering.get()}; }
  /// The process that an agent belongs to.
  [[nodiscard]] Index owner(Index agent) const {
    return std::ranges::upper_bound(first, block(0).place(agent)) - first.begin() - 1;
  }
};

/// Contiguous shares of about equal cost, with at least one agent each; `cost` has one number per agent.
Ownership balanced_ownership(std::span<const double> cost, Index processes);

/// Another process of a team no longer answers. The team cannot continue: whoever catches this reports it and calls
/// `Team::abort`.
class LostPeer : public Error {
 public:
  using Error::Error;
};

/// The processes that share a run: this one alone, or the ranks of a job on several machines. All of them make
/// the same calls in the same order.
class Team {
 public:
  virtual ~Team() = default;
  [[nodiscard]] virtual Index rank() const { return 0; }
  [[nodiscard]] virtual Index size() const { return 1; }
  [[nodiscard]] bool is_first() const { return rank() == 0; }
  /// One of the processes and where it runs, as text.
  [[nodiscard]] virtual std::string name(Index /*rank*/) const { return "this process"; }

  /// Runs `body` on all agents: every process runs it on those it owns, on `workers` threads. The first failure in any
  /// process ends all of them and is thrown in each. Several threads of a single process may launch at once.
  virtual void launch(const CombinationMatrix& matrix, const Ownership& ownership, VectorType vectors, Index workers,
                      const Body& body);
  /// Every process's text, in order of the ranks, for all of them.
  virtual std::vector<std::string> tell(const std::string& text) { return {text}; }
  /// The collective of all processes, one worker each, outside of `launch`.
  virtual Collective& collective();
  /// Does `work` in every process. If it fails in any, all of them throw the error of the first one that failed.
  virtual void together(const std::function<void()>& work) { work(); }
  /// Ends all processes at once with an exit code, whatever they are doing.
  [[noreturn]] virtual void abort(int code);
};

/// The team that consists of this process only.
Team& alone();

}  // namespace polyhop
