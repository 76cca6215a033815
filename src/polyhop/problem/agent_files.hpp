// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// One file per agent, named by a pattern: "site-{agent}.csv" means site-0.csv, site-1.csv, ... for
/// agents 0, 1, ...; "site-{agent+1}.csv" means site-1.csv, site-2.csv, ...
class AgentFiles {
 public:
  /// Nothing where the text is an ordinary file's name. Throws InputError on a pattern that is not written as above.
  static std::optional<AgentFiles> from(const std::string& pattern);

  /// For a name that stands for several files in another way, such as "site-*.csv" or "site-{i}.csv": the same with
  /// {agent}, or with {agent+1} where the files start from 1. "" for any other name.
  static std::string pattern_instead_of(const std::string& name);

  [[nodiscard]] std::string of(Index agent) const;
  /// The number in the name of agent 0's file.
  [[nodiscard]] Index first() const { return first_; }
  /// The same files, with agent 0's numbered one higher.
  [[nodiscard]] AgentFiles from_next() const;
  /// "site-{agent+1}.csv"
  [[nodiscard]] std::string pattern() const;
  /// How many exist, counted from agent 0 on up to the first that does not.
  [[nodiscard]] Index existing() const;

 private:
  std::string before_, after_;  // the number
  Index first_ = 0;
};

}  // namespace polyhop
