// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/memory_limit.hpp"

namespace polyhop {

/// The content of a graph file, before any check of whether it makes sense. Parsers throw InputError with the line and
/// what was found there, leaving path and file empty.
struct GraphText {
  struct Entry {
    std::int32_t row = 0;
    std::int32_t column = 0;
    std::int32_t line = 0;
    double value = no_value;
  };
  static constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

  Index agents = 0;
  bool counted = true;  // the file states the number of agents; otherwise it is the largest number plus 1
  bool matrix = false;  // entries are a_kl, both triangles; otherwise links, a self loop being a_kk
  MeteredVector<Entry> entries;
};

/// Lines "k l" or "k l weight", separated by blanks or commas, agents counted from 0; # and % start a
/// comment. With `header`, a first line that does not start with a number is ignored.
GraphText parse_edge_list(std::string_view text, bool header);

/// Nodes in order of appearance, with any text as id; the weight of an edge is its attribute `weight`, in XML or as a
/// declared key.
GraphText parse_graphml(std::string_view text);

/// Matrix Market: coordinate; real, integer or pattern; general or symmetric.
GraphText parse_matrix_market(std::string_view text);

/// One line per row, numbers separated by blanks or commas; # and % start a comment.
GraphText parse_dense(std::string_view text);

}  // namespace polyhop
