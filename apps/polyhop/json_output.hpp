// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "polyhop/core/fields.hpp"
#include "polyhop/core/value.hpp"

namespace polyhop::app {

/// Keys in the order in which they are set.
using Json = nlohmann::ordered_json;

Json to_json(const Value& value);
Json to_json(const FieldInfo& field);

/// Writes one JSON text to the standard output; what JSON lacks (nan, inf) is null.
void print_json(const Json& json);

}  // namespace polyhop::app
