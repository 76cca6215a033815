// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// Runs tasks 0 .. count-1 on `threads` threads, starting them in order; the first exception ends them all.
void run_tasks(Index count, Index threads, const std::function<void(Index)>& task);

/// How many of `runs`, each with iterations of so many multiply-adds, get one thread each: all for which there are as
/// many as threads, since they need not wait for each other; none if they are so large that they would rather have the
/// last cache and the memory to themselves. The others come after them, with the threads that pay for one run.
Index side_by_side(Index runs, double work, Index threads);

}  // namespace polyhop
