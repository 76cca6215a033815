// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// Which of `count` consecutive points to draw if `most` (>= 2) are enough: all of them, or the first, the last, and
/// between them one half evenly spaced, the other half in geometric progression, so that a chart is smooth on linear
/// and on logarithmic axes. In order, without repetition.
std::vector<Index> thinned(Index count, Index most);

}  // namespace polyhop
