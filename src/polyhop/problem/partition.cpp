// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/partition.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>

#include "polyhop/core/elementary.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/core/words.hpp"

namespace polyhop {
namespace {

void shuffle(std::span<Index> x, Stream& random) {
  for (Index last = static_cast<Index>(x.size()) - 1; last > 0; --last) {
    std::swap(x[last], x[random.below(last + 1)]);
  }
}

// Gamma(alpha, 1) by Marsaglia and Tsang (2000); below 1 through alpha + 1.
double gamma_variate(double alpha, Stream& random) {
  if (alpha < 1) {
    const double u = std::max(random.uniform(), 0x1p-53);
    return gamma_variate(alpha + 1, random) * elementary::exp(elementary::log(u) / alpha);
  }
  const double d = alpha - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal();
    const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (v <= 0) continue;
    const double u = std::max(random.uniform(), 0x1p-53);
    if (elementary::log(u) < 0.5 * x * x + d - d * v + d * elementary::log(v)) return d * v;
  }
}

// How many of `count` each agent gets, by shares from Dirichlet(alpha): the ends of the shares are rounded.
std::vector<Index> uneven_shares(Index count, Index agents, double alpha, Stream& random) {
  std::vector<double> share(agents);
  constexpr double even = 1e6;  // beyond this the shares are indistinguishable from even ones
  for (double& s : share) s = gamma_variate(std::min(alpha, even), random);
  const double total = std::accumulate(share.begin(), share.end(), double{0});
  std::vector<Index> out;
  double sum = 0;
  Index before = 0;
  for (const double s : share) {
    sum += s;
    // A very small alpha may give nothing but zeros: then the last agent gets everything.
    const Index end = total > 0 ? static_cast<Index>(std::llround(sum / total * static_cast<double>(count))) : before;
    out.push_back(std::min(end, count) - before);
    before += out.back();
  }
  out.back() += count - before;
  return out;
}

// No agent may be left without a sample: those with the most give one each.
void leave_nobody_out(std::vector<std::vector<Index>>& owned) {
  for (auto& own : owned) {
    if (!own.empty()) continue;
    auto& richest = *std::ranges::max_element(owned, {}, [](const auto& x) { return x.size(); });
    own.push_back(richest.back());
    richest.pop_back();
  }
}

Partition joined(const std::vector<std::vector<Index>>& owned) {
  Partition out;
  out.offset.push_back(0);
  for (const auto& own : owned) {
    out.order.insert(out.order.end(), own.begin(), own.end());
    out.offset.push_back(static_cast<Index>(out.order.size()));
  }
  return out;
}

Partition equal_shares(std::vector<Index> order, Index agents) {
  Partition out{std::move(order), {0}};
  const auto count = static_cast<Index>(out.order.size());
  for (Index k = 0; k < agents; ++k) out.offset.push_back(block_of(count, agents, k).last);
  return out;
}

// The class of each sample; without classes, the tenth of the targets that it falls into.
std::vector<Index> groups(std::span<const double> targets, Index classes, const std::vector<Index>& sorted) {
  std::vector<Index> out(targets.size());
  constexpr Index tenths = 10;
  for (std::size_t n = 0; n < sorted.size(); ++n) {
    const auto sample = static_cast<std::size_t>(sorted[n]);
    out[sample] = classes > 0 ? static_cast<Index>(targets[sample])
                              : static_cast<Index>(n) * tenths / static_cast<Index>(sorted.size());
  }
  return out;
}

}  // namespace

const FieldTable<PartitionOptions>& PartitionOptions::fields() {
  using O = PartitionOptions;
  static const auto table = FieldTable<O>()
                                .add("kind", &O::kind,
                                     "how samples are dealt; iid: shuffled; blocks: in order; label: by label; "
                                     "dirichlet: uneven shares of each label; sizes: uneven amounts")
                                .add("alpha", &O::alpha, "dirichlet, sizes: smaller is less even", {above(0)});
  return table;
}

Partition deal(const PartitionOptions& options, std::span<const double> targets, Index classes, Index agents,
               std::uint64_t seed) {
  const auto count = static_cast<Index>(targets.size());
  if (count < agents) {
    throw InputError("graph.agents", std::string(count == 1 ? "there is " : "there are ") + count_of(count, "sample") +
                                         " for " + count_of(agents, "agent") + "; every agent needs at least one");
  }
  std::vector<Index> order(targets.size());
  std::iota(order.begin(), order.end(), Index{0});
  Stream random(seed, Purpose::partition);
  const auto by_target = [&](Index n) { return targets[n]; };
  switch (options.kind) {
    case PartitionKind::blocks:
      break;
    case PartitionKind::label:
      std::ranges::stable_sort(order, {}, by_target);
      break;
    case PartitionKind::iid:
      shuffle(order, random);
      break;
    case PartitionKind::sizes: {
      shuffle(order, random);
      std::vector<std::vector<Index>> owned;
      auto next = order.begin();
      for (const Index share : uneven_shares(count, agents, options.alpha, random)) {
        owned.emplace_back(next, next + share);
        next += share;
      }
      leave_nobody_out(owned);
      return joined(owned);
    }
    case PartitionKind::dirichlet: {
      std::vector<Index> sorted = order;
      std::ranges::stable_sort(sorted, {}, by_target);
      const auto group = groups(targets, classes, sorted);
      std::vector<std::vector<Index>> owned(agents);
      for (Index g = 0; g <= *std::ranges::max_element(group); ++g) {
        std::vector<Index> members;
        std::ranges::copy_if(order, std::back_inserter(members), [&](Index n) { return group[n] == g; });
        shuffle(members, random);
        const auto shares = uneven_shares(static_cast<Index>(members.size()), agents, options.alpha, random);
        auto next = members.begin();
        for (std::size_t k = 0; k < owned.size(); ++k) {
          owned[k].insert(owned[k].end(), next, next + shares[k]);
          next += shares[k];
        }
      }
      leave_nobody_out(owned);
      return joined(owned);
    }
  }
  return equal_shares(std::move(order), agents);
}

}  // namespace polyhop
