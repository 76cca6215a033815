// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace polyhop {

/// A text as a cell of a CSV file: quoted if it needs quotes, and with a ' in front if a spreadsheet would take it for
/// a formula.
std::string csv_cell(std::string_view text);

}  // namespace polyhop
