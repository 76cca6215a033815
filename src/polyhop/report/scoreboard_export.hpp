// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/report/scoreboard.hpp"

namespace polyhop {

/// For scripts: `methods` (over all instances, best first), `instances` (each with its methods), `profiles` (of each
/// score, each method's ratios to the best), `provenance`. Unknown or unreached values are null.
std::string scoreboard_json(const Scoreboard& board);

/// One line per method and instance, numbers with all their digits: `inf` if it never got there, `nan` if nothing is
/// known.
std::string scoreboard_csv(const Scoreboard& board);

}  // namespace polyhop
