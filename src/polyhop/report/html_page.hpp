// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// The pages of report/page, as cmake/report_page.cmake assembles them, and d3, which all of them draw with.
std::string_view report_page();
std::string_view scoreboard_page();
std::string_view fit_page();
std::string_view d3_script();

/// The most points that a curve of a page may have, so that the page opens at once.
inline constexpr Index curve_points = 600;

/// One of these pages as a self-contained file, with its title, its data (JSON) and d3. Title and data may hold
/// untrusted text: the title is shown as text, and nothing in the data can end the element that holds it, or mean
/// anything to an HTML parser.
std::string filled_page(std::string_view page, std::string_view title, std::string_view data);

}  // namespace polyhop
