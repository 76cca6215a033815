// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace polyhop {

using Clock = std::chrono::steady_clock;

/// Seconds since `begin`.
inline double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace polyhop
