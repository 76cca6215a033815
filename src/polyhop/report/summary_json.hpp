// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// The ranking and the results behind it, as JSON for scripts: name, target, seeds, methods (best first), tunings,
/// runs, config (every option spelt out), provenance; keys always in this order. A number that is unknown, or infinite
/// because most runs never got there, is written as null.
Value summary(const Record& record);
std::string summary_json(const Record& record);

}  // namespace polyhop
