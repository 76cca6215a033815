// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/value.hpp"

namespace polyhop::app {

/// Writes one JSON document to standard output; what JSON lacks (nan, inf) is null.
void print_json(const Value& value);

}  // namespace polyhop::app
