// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// One HTML page that shows experiments: ranking, curves, network, step sizes, tunings, settings, provenance. It needs
/// no other file and no network, and its policy allows no script but its own. Text from the records is kept as data and
/// shown as text. Curves are thinned, so that a page of a million points opens at once.
std::string html_report(const std::vector<Record>& records);

}  // namespace polyhop
