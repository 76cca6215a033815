// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/report/scoreboard.hpp"

namespace polyhop {

/// For scripts: `methods` (over all instances, best first), `instances` (each with its methods), `profiles` (of each
/// score, each method's ratios to the best), `provenance`. What is not known or never reached is null.
std::string scoreboard_json(const Scoreboard& board);

/// One line for each method on each instance, numbers with all their digits: `inf` where it never got there, `nan`
/// where nothing is known.
std::string scoreboard_csv(const Scoreboard& board);

}  // namespace polyhop
