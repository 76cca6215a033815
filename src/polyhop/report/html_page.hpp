// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace polyhop {

/// A JSON text in which nothing can end the element that holds it, or mean anything to a parser of HTML.
std::string harmless_json(std::string json);

/// A page of report/page, as cmake/report_page.cmake put it together, with its title (from outside, shown as text) and
/// its data (harmless JSON) filled in.
std::string filled_page(std::string_view page, std::string_view title, std::string_view data);

}  // namespace polyhop
