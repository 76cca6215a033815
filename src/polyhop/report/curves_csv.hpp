// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// Writes the recorded points as CSV, one per line, with the columns of docs/interface.md and all digits of the
/// numbers. `status` says how the run ended, on each of its lines.
void write_curves(const Record& record, const std::function<void(std::string_view)>& write);

}  // namespace polyhop
