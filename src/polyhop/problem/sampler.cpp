// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/sampler.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "polyhop/core/error.hpp"
#include "polyhop/core/random.hpp"

namespace polyhop {

namespace {

// A draw is held in memory as a whole.
void refuse_too_large(const Batch& batch, Index agents) {
  constexpr Index max_bytes = 4'000'000'000;
  if (batch.size <= Batch::most && batch.size * agents <= max_bytes / static_cast<Index>(sizeof(Index))) return;
  throw InputError("problem.batch", std::to_string(batch.size) + " samples of each of " + std::to_string(agents) +
                                        " agents per iteration; expected at most " + std::to_string(Batch::most) +
                                        " each, and 500000000 together");
}

}  // namespace

Batch Codec<Batch>::read(const Value& v) {
  if (const auto* n = v.as<std::int64_t>(); n != nullptr && *n >= 1 && *n <= Batch::most) return {*n, false};
  if (const auto* text = v.as<std::string>(); text != nullptr && *text == "all") return {0, true};
  throw_mismatch(v, "an integer from 1 to 1000000 or \"all\"");
}

Sampler::Sampler(Block block, std::vector<Index> samples, Batch batch, Sampling sampling, std::uint64_t seed)
    : block_(block), samples_(std::move(samples)), batch_(batch), sampling_(sampling), seed_(seed), offset_{0} {
  if (!batch_.all) refuse_too_large(batch_, static_cast<Index>(samples_.size()));
  for (const Index n : samples_) offset_.push_back(offset_.back() + (batch_.all || n == 0 ? n : batch_.size));
  chosen_.resize(offset_.back());
  if (batch_.all) {
    for (Index k = 0; k < block_.size(); ++k) {
      std::iota(chosen_.begin() + offset(k), chosen_.begin() + offset(k + 1), Index{0});
    }
  } else if (sampling_ == Sampling::shuffle) {
    epoch_.assign(samples_.size(), -1);
    for (const Index n : samples_) order_.emplace_back(static_cast<std::size_t>(n));
  }
}

Index Sampler::epoch() const {
  if (batch_.all || samples_.empty()) return 1;
  return (std::ranges::max(samples_) + batch_.size - 1) / batch_.size;
}

void Sampler::draw(Index i) {
  if (batch_.all) return;
  for (Index k = 0; k < block_.size(); ++k) {
    const Index n = samples_[k];
    Index* chosen = chosen_.data() + offset(k);
    if (n == 0) continue;
    if (sampling_ == Sampling::uniform) {
      Stream stream(seed_, Purpose::sampling, block_.agent(k), i);
      for (Index j = 0; j < batch_.size; ++j) chosen[j] = stream.below(n);
      continue;
    }
    for (Index j = 0; j < batch_.size; ++j) {
      const Index position = i * batch_.size + j;
      chosen[j] = sampling_ == Sampling::cyclic ? position % n : shuffled(k, position);
    }
  }
}

Index Sampler::shuffled(Index k, Index position) {
  auto& order = order_[k];
  const Index n = samples_[k];
  if (const Index epoch = position / n; epoch != epoch_[k]) {
    std::iota(order.begin(), order.end(), 0);
    Stream stream(seed_, Purpose::shuffle, block_.agent(k), epoch);
    for (Index last = n - 1; last > 0; --last) {
      std::swap(order[last], order[stream.below(last + 1)]);
    }
    epoch_[k] = epoch;
  }
  return order[position % n];
}

}  // namespace polyhop
