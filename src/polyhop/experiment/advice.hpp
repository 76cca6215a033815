// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// Why a method's run may have ended this way, and what to do about it; empty for runs that went their way.
std::string advice(const Method& method, Status status);

/// What becomes of a batch that is larger than the number of an agent's samples; empty if it is not.
/// `samples`: the most that an agent has.
std::string batch_note(const Batch& batch, Index samples);
/// The same for synthetic data, from a resolved experiment; of other data the file does not say how many there are.
std::string batch_note(const Value& config);

}  // namespace polyhop
