// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// Why a method's run may have ended this way, and what to do about it; empty if the run went well.
std::string advice(const Method& method, Status status);

/// What is worth knowing before a method runs that keeps a row of every sample.
std::string kept_note(const std::string& method, double bytes);

/// What happens to a batch that is larger than an agent's number of samples; empty if it is not. `samples`: the most
/// that any agent has.
std::string batch_note(const Batch& batch, Index samples);
/// The same for synthetic data, from a resolved experiment; for other data, the experiment's file does not say how many
/// samples there are.
std::string batch_note(const Value& config);

}  // namespace polyhop
