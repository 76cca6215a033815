// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// The pages of report/page, as cmake/report_page.cmake puts them together, and d3, which draws all of them.
std::string_view report_page();
std::string_view scoreboard_page();
std::string_view fit_page();
std::string_view d3_script();

/// The points that a curve of a page may have, so that it opens at once.
inline constexpr Index curve_points = 600;

/// One of these pages as a file that needs no other: with its title, its data (JSON) and d3. Title and data may hold
/// texts from outside: the title is shown as text, and nothing in the data can end the element that holds it, or mean
/// anything to a parser of HTML.
std::string filled_page(std::string_view page, std::string_view title, std::string_view data);

}  // namespace polyhop
