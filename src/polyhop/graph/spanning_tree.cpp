// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/spanning_tree.hpp"

#include <cstddef>
#include <numeric>

namespace polyhop {

SpanningTree spanning_tree(const SparseRows& a) {
  SpanningTree tree;
  tree.depth.assign(a.rows(), -1);
  tree.above.assign(tree.depth.size(), 0);
  std::vector<Index> reached = {0};
  tree.depth[0] = 0;
  for (std::size_t n = 0; n < reached.size(); ++n) {
    for (const Index l : a.columns_of(reached[n])) {
      Index& depth = tree.depth[l];
      if (depth >= 0) continue;
      depth = tree.depth[reached[n]] + 1;
      tree.above[l] = reached[n];
      reached.push_back(l);
    }
  }
  tree.height = tree.depth[reached.back()];
  tree.begin.assign(tree.height + 2, 0);
  for (const Index k : reached) ++tree.begin[tree.depth[k] + 1];
  std::partial_sum(tree.begin.begin(), tree.begin.end(), tree.begin.begin());
  tree.by_depth.resize(reached.size());
  std::vector<Index> next = tree.begin;
  for (Index k = 0; k < a.rows(); ++k) {
    if (tree.depth[k] >= 0) tree.by_depth[next[tree.depth[k]]++] = static_cast<std::int32_t>(k);
  }
  return tree;
}

}  // namespace polyhop
