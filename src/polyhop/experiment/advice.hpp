// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// Why a method's run may have ended this way, and what to do about it; empty for runs that went their way.
std::string advice(const Method& method, Status status);

}  // namespace polyhop
