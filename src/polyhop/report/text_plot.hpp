// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// The median excess risk of every method against iterations, on a logarithmic scale, as lines of text at most `width`
/// columns wide: `height` lines of plot, an axis, and a legend with each method's mark. `plain` uses ASCII only.
/// Too small a plot is made as large as it has to be; a record without a number to show gives "".
std::string text_plot(const Record& record, Index width, Index height, bool plain = false);

}  // namespace polyhop
