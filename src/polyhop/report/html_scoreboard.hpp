// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/report/scoreboard.hpp"

namespace polyhop {

/// One HTML page that shows a scoreboard: the methods over all instances, performance profiles, the ratios on every
/// instance, what the searches took, provenance. Like the page of an experiment, it needs no other file and no network.
std::string html_scoreboard(const Scoreboard& board, const std::string& title);

}  // namespace polyhop
