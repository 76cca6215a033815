// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// Runs tasks 0 .. count-1 on `threads` threads, starting them in order; the first exception ends them all.
void run_tasks(Index count, Index threads, const std::function<void(Index)>& task);

}  // namespace polyhop
