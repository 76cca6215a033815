// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/generators.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "polyhop/core/elementary.hpp"

namespace polyhop::generate {
namespace {

Edge link(Index k, Index l) { return {static_cast<std::int32_t>(k), static_cast<std::int32_t>(l)}; }

/// Visits each pair k < l < agents with the given probability: the gaps between visited pairs are geometric, so the
/// work is proportional to the pairs visited, not to all pairs.
template <class Visit>
void random_pairs(Index agents, double probability, Stream& random, Visit visit) {
  if (probability <= 0) return;
  const double log_miss = elementary::log(1.0 - probability);
  if (log_miss == 0) return;  // below 1e-16: no pair would be met in any draw of this size
  const auto pairs = static_cast<double>(agents) * static_cast<double>(agents);
  Index l = 1;
  Index k = -1;
  while (l < agents) {
    const double gap = std::floor(elementary::log(1.0 - random.uniform()) / log_miss);
    if (gap >= pairs) return;
    k += 1 + static_cast<Index>(gap);
    while (k >= l && l < agents) k -= l++;
    if (l < agents) visit(k, l);
  }
}

template <class T>
void shuffle(std::vector<T>& items, Stream& random) {
  for (Index i = static_cast<Index>(items.size()) - 1; i > 0; --i) std::swap(items[i], items[random.below(i + 1)]);
}

/// Used for membership only, never for iteration: the iteration order would be the standard library's, not ours.
class LinkSet {
 public:
  bool insert(Index k, Index l) { return set_.insert(key(k, l)).second; }
  void erase(Index k, Index l) { set_.erase(key(k, l)); }
  [[nodiscard]] bool holds(Index k, Index l) const { return set_.contains(key(k, l)); }

 private:
  static std::uint64_t key(Index k, Index l) {
    return static_cast<std::uint64_t>(std::min(k, l)) << 32 | static_cast<std::uint64_t>(std::max(k, l));
  }
  std::unordered_set<std::uint64_t> set_;
};

struct Point {
  double x, y;
};

/// Agents sorted into square cells no smaller than the radius: neighbours are in one of nine cells.
class Cells {
 public:
  Cells(const std::vector<Point>& points, double radius)
      : side_(std::clamp<Index>(static_cast<Index>(std::min(1.0 / radius, 1e6)), 1,
                                std::max<Index>(1, static_cast<Index>(std::sqrt(static_cast<double>(points.size())))))),
        start_(side_ * side_ + 1, 0),
        member_(points.size()) {
    for (const Point& p : points) ++start_[cell(p) + 1];
    for (Index c = 0; c < side_ * side_; ++c) start_[c + 1] += start_[c];
    std::vector<Index> place = start_;
    for (Index k = 0; k < static_cast<Index>(points.size()); ++k) member_[place[cell(points[k])]++] = k;
  }

  template <class Visit>
  void visit_around(const Point& p, Visit visit) const {
    const Index row = place(p.y);
    const Index column = place(p.x);
    for (Index r = std::max<Index>(0, row - 1); r <= std::min(side_ - 1, row + 1); ++r) {
      for (Index c = std::max<Index>(0, column - 1); c <= std::min(side_ - 1, column + 1); ++c) {
        for (Index i = start_[r * side_ + c]; i < start_[r * side_ + c + 1]; ++i) visit(member_[i]);
      }
    }
  }

 private:
  [[nodiscard]] Index place(double x) const {
    return std::min(side_ - 1, static_cast<Index>(x * static_cast<double>(side_)));
  }
  [[nodiscard]] Index cell(const Point& p) const { return place(p.y) * side_ + place(p.x); }

  Index side_;
  std::vector<Index> start_;
  std::vector<Index> member_;
};

/// Whether any two of the agents that still have stubs are not linked yet: if none are, the draw is stuck.
bool can_go_on(std::vector<std::int32_t> stubs, const LinkSet& links) {
  std::sort(stubs.begin(), stubs.end());
  stubs.erase(std::unique(stubs.begin(), stubs.end()), stubs.end());
  for (std::size_t i = 0; i < stubs.size(); ++i) {
    for (std::size_t j = i + 1; j < stubs.size(); ++j) {
      if (!links.holds(stubs[i], stubs[j])) return true;
    }
  }
  return false;
}

/// One pairing of stubs; false if it got stuck. Up to degree 3 an impossible pair spoils the whole draw: that makes all
/// graphs equally likely, at a price of e^((d^2 - 1)/4) draws. Above that, such pairs are drawn again, which is uniform
/// only for many agents.
bool pair_stubs(Index agents, Index degree, Stream& random, Edges& edges) {
  edges.clear();
  LinkSet links;
  std::vector<std::int32_t> stubs;
  for (Index i = 0; i < agents * degree; ++i) stubs.push_back(static_cast<std::int32_t>(i / degree));
  while (!stubs.empty()) {
    shuffle(stubs, random);
    std::vector<std::int32_t> left;
    for (std::size_t i = 0; i + 1 < stubs.size(); i += 2) {
      if (stubs[i] != stubs[i + 1] && links.insert(stubs[i], stubs[i + 1])) {
        edges.emplace_back(stubs[i], stubs[i + 1]);
      } else {
        left.push_back(stubs[i]);
        left.push_back(stubs[i + 1]);
      }
    }
    if (!left.empty() && (degree <= 3 || !can_go_on(left, links))) return false;
    stubs = std::move(left);
  }
  return true;
}

Edges complement(Index agents, const Edges& edges) {
  const Graph graph = Graph::from_edges(agents, edges);
  Edges out;
  for (Index k = 0; k < agents; ++k) {
    const auto taken = graph.neighbours(k);
    auto next = std::upper_bound(taken.begin(), taken.end(), k);
    for (Index l = k + 1; l < agents; ++l) {
      if (next != taken.end() && *next == l) {
        ++next;
      } else {
        out.push_back(link(k, l));
      }
    }
  }
  return out;
}

Edges random_cycle(Index agents, Stream& random) {
  std::vector<std::int32_t> order;
  for (Index k = 0; k < agents; ++k) order.push_back(static_cast<std::int32_t>(k));
  shuffle(order, random);
  Edges edges;
  for (Index k = 0; k < agents; ++k) edges.emplace_back(order[k], order[(k + 1) % agents]);
  return edges;
}

}  // namespace

Edges path(Index agents) {
  Edges edges;
  for (Index k = 1; k < agents; ++k) edges.push_back(link(k - 1, k));
  return edges;
}

Edges ring(Index agents) {
  Edges edges = path(agents);
  if (agents > 2) edges.push_back(link(agents - 1, 0));
  return edges;
}

Edges star(Index agents) {
  Edges edges;
  for (Index k = 1; k < agents; ++k) edges.push_back(link(0, k));
  return edges;
}

Edges complete(Index agents) {
  Edges edges;
  edges.reserve(agents * (agents - 1) / 2);
  for (Index k = 0; k < agents; ++k) {
    for (Index l = k + 1; l < agents; ++l) edges.push_back(link(k, l));
  }
  return edges;
}

Edges grid(Index rows, Index columns) {
  Edges edges;
  for (Index k = 0; k < rows * columns; ++k) {
    if (k % columns + 1 < columns) edges.push_back(link(k, k + 1));
    if (k / columns + 1 < rows) edges.push_back(link(k, k + columns));
  }
  return edges;
}

Edges torus(Index rows, Index columns) {
  Edges edges = grid(rows, columns);
  for (Index r = 0; r < rows && columns > 2; ++r) edges.push_back(link(r * columns + columns - 1, r * columns));
  for (Index c = 0; c < columns && rows > 2; ++c) edges.push_back(link((rows - 1) * columns + c, c));
  return edges;
}

Edges hypercube(Index agents) {
  Edges edges;
  for (Index k = 0; k < agents; ++k) {
    for (Index bit = 1; bit < agents; bit *= 2) {
      if ((k & bit) == 0) edges.push_back(link(k, k | bit));
    }
  }
  return edges;
}

Edges binary_tree(Index agents) {
  Edges edges;
  for (Index k = 1; k < agents; ++k) edges.push_back(link((k - 1) / 2, k));
  return edges;
}

Edges exponential(Index agents) {
  Edges edges;
  for (Index k = 0; k < agents; ++k) {
    for (Index hop = 1; hop < agents; hop *= 2) edges.push_back(link(k, (k + hop) % agents));
  }
  return edges;
}

Edges erdos_renyi(Index agents, double probability, Stream& random) {
  Edges edges;
  random_pairs(agents, probability, random, [&](Index k, Index l) { edges.push_back(link(k, l)); });
  return edges;
}

Edges random_geometric(Index agents, double radius, Stream& random) {
  std::vector<Point> points(agents);
  for (Point& p : points) {
    p.x = random.uniform();
    p.y = random.uniform();
  }
  const Cells cells(points, radius);
  Edges edges;
  for (Index k = 0; k < agents; ++k) {
    cells.visit_around(points[k], [&](Index l) {
      const double dx = points[k].x - points[l].x;
      const double dy = points[k].y - points[l].y;
      if (k < l && dx * dx + dy * dy <= radius * radius) edges.push_back(link(k, l));
    });
  }
  return edges;
}

Edges watts_strogatz(Index agents, Index degree, double rewire, Stream& random) {
  Edges edges;
  LinkSet links;
  std::vector<Index> degree_of(agents, degree);
  for (Index hop = 1; hop <= degree / 2; ++hop) {
    for (Index k = 0; k < agents; ++k) {
      edges.push_back(link(k, (k + hop) % agents));
      links.insert(k, (k + hop) % agents);
    }
  }
  for (auto& [k, l] : edges) {
    if (random.uniform() >= rewire || degree_of[k] >= agents - 1) continue;
    Index target = 0;
    do {
      target = random.below(agents);
    } while (target == k || links.holds(k, target));
    links.erase(k, l);
    links.insert(k, target);
    --degree_of[l];
    ++degree_of[target];
    l = static_cast<std::int32_t>(target);
  }
  return edges;
}

Edges barabasi_albert(Index agents, Index attach, Stream& random) {
  // Every agent appears in `ends` once per link, so a uniform choice picks agents by degree.
  std::vector<std::int32_t> ends;
  std::vector<Index> chosen_by(agents, -1);
  Edges edges = star(std::min(agents, attach + 1));
  for (const auto& [k, l] : edges) ends.insert(ends.end(), {k, l});
  for (Index k = attach + 1; k < agents; ++k) {
    const auto known = static_cast<Index>(ends.size());
    for (Index made = 0; made < attach;) {
      const std::int32_t l = ends[random.below(known)];
      if (chosen_by[l] == k) continue;
      chosen_by[l] = k;
      edges.push_back(link(k, l));
      ends.insert(ends.end(), {static_cast<std::int32_t>(k), l});
      ++made;
    }
  }
  return edges;
}

Edges random_regular(Index agents, Index degree, Stream& random) {
  if (degree == 0) return {};
  if (degree == 2) return random_cycle(agents, random);
  if (2 * degree >= agents) {
    const Index missing = agents - 1 - degree;
    Edges sparse;
    while (missing > 0 && !pair_stubs(agents, missing, random, sparse)) {
    }
    return complement(agents, sparse);
  }
  Edges edges;
  while (!pair_stubs(agents, degree, random, edges)) {
  }
  return edges;
}

Edges stochastic_block(Index agents, Index blocks, double within, double between, Stream& random) {
  Edges edges;
  std::vector<Index> block(agents);
  for (Index b = 0; b < blocks; ++b) {
    const Block members = block_of(agents, blocks, b);
    for (Index k = members.first; k < members.last; ++k) block[k] = b;
    random_pairs(members.size(), within, random,
                 [&](Index k, Index l) { edges.push_back(link(members.first + k, members.first + l)); });
  }
  random_pairs(agents, between, random, [&](Index k, Index l) {
    if (block[k] != block[l]) edges.push_back(link(k, l));
  });
  return edges;
}

}  // namespace polyhop::generate
