// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/core/npz_writer.hpp"
#include "polyhop/experiment/record.hpp"

namespace polyhop {

/// Adds every run's models: METHOD/SEED, K x M, the last iterate, and METHOD/SEED/averaged if recorded.
void write_models(const Record& record, NpzWriter& out);

/// Adds every agent's steps, if they were recorded: METHOD/SEED, points x K.
void write_steps(const Record& record, NpzWriter& out);

/// Writes files for users' own scripts into a folder, and creates it if necessary: curves.csv, models.npz, steps.npz,
/// summary.json. All files are opened before the first is written, and each appears as a whole.
void export_record(const Record& record, const std::string& folder);

}  // namespace polyhop
