// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "polyhop/core/index.hpp"
#include "polyhop/graph/weights.hpp"

namespace polyhop {

/// Topology "file": edge list (.txt .edges .csv), GraphML (.graphml .xml), Matrix Market (.mtx), dense matrix (.mat
/// .dense). With weights `given`, the file's weights are A: all entries of a matrix; or the weights of links in both
/// directions, where the diagonal is 1 minus the row's sum unless a self loop gives it. With any other rule, weights
/// and self loops are ignored. `agents`, if given, must agree with the file. Errors name the file and, if known, the
/// line. Files that are not regular, or exceed 1 GB, are rejected before they are read.
NetworkGraph read_network(const std::string& file, std::optional<Index> agents, Weights weights);

}  // namespace polyhop
