// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// One file per agent, named by a pattern: "site-{agent}.csv" stands for site-0.csv, site-1.csv, ... for agents 0, 1,
/// ...; "site-{agent+1}.csv" stands for site-1.csv, site-2.csv, ...
class AgentFiles {
 public:
  /// Empty if the text is an ordinary file name. Throws InputError on a malformed pattern.
  static std::optional<AgentFiles> from(const std::string& pattern);

  /// If a name stands for several files in another way, such as "site-*.csv" or "site-{i}.csv": the same name with
  /// {agent}, or with {agent+1} if the files start from 1. "" for any other name.
  static std::string pattern_instead_of(const std::string& name);

  [[nodiscard]] std::string of(Index agent) const;
  /// The number in the name of agent 0's file.
  [[nodiscard]] Index first() const { return first_; }
  /// The same files, with agent 0's number one higher.
  [[nodiscard]] AgentFiles from_next() const;
  /// "site-{agent+1}.csv"
  [[nodiscard]] std::string pattern() const;
  /// How many files exist, counting from agent 0 to the first that is missing.
  [[nodiscard]] Index existing() const;

 private:
  std::string before_, after_;  // what surrounds the number
  Index first_ = 0;
};

}  // namespace polyhop
