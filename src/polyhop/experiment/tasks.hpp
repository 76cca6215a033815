// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// Runs tasks 0 .. count-1 on `threads` threads, starting them in order; the first exception ends them all.
void run_tasks(Index count, Index threads, const std::function<void(Index)>& task);

/// How many of `runs`, each with iterations of so many multiply-adds, get one thread each: the largest multiple of
/// `threads`, since such runs need not wait for each other; none if runs are so large that each needs the last cache
/// and the memory to itself. The others come after them, with as many threads as pay for one run.
Index side_by_side(Index runs, double work, Index threads);

}  // namespace polyhop
