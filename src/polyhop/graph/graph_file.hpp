// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "polyhop/core/index.hpp"
#include "polyhop/graph/weights.hpp"

namespace polyhop {

/// Topology "file": edge list (.txt .edges .csv), GraphML (.graphml .xml), Matrix Market (.mtx), dense matrix
/// (.mat .dense). With weights `given` the file's weights are A: all entries of a matrix; for links, both
/// directions, the diagonal being 1 minus the row's sum unless a self loop gives it. With any other rule, weights and
/// self loops are ignored. `agents`, if given, must agree with the file. Errors name the file and, where known, the
/// line. Refused before reading: what is not a regular file, what exceeds 1 GB.
NetworkGraph read_network(const std::string& file, std::optional<Index> agents, Weights weights);

}  // namespace polyhop
