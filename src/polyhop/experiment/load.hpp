// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// The experiment in a folder's store, as far as it got. Models only on request: they may be large. Throws InputError
/// if there is none, or none that this version can read.
Record load_record(const std::string& folder, bool with_models);

}  // namespace polyhop
