// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/fields.hpp"
#include "polyhop/core/index.hpp"

namespace polyhop {

/// uniform: b samples drawn independently, with replacement. shuffle: every epoch a new random order of the agent's
/// samples, taken b at a time; a batch may reach into the next epoch. cyclic: iteration i takes (i b + j) mod N, j < b.
enum class Sampling { uniform, shuffle, cyclic };

template <>
struct EnumNames<Sampling> {
  static constexpr std::array<std::pair<Sampling, std::string_view>, 3> names = {{
      {Sampling::uniform, "uniform"},
      {Sampling::shuffle, "shuffle"},
      {Sampling::cyclic, "cyclic"},
  }};
};

/// How many samples an iteration takes from each agent: a number, or "all".
struct Batch {
  static constexpr Index most = 1'000'000;  // per agent; a batch of all samples has no limit
  Index size = 1;
  bool all = false;
};

template <>
struct Codec<Batch> {
  static std::string type() { return "1 <= integer <= 1000000 | \"all\""; }
  static Batch read(const Value& v);
  static Value write(const Batch& b) { return b.all ? Value("all") : Value(b.size); }
};

/// Chooses the samples of each agent in each iteration, as a function of (seed, agent, iteration): there is no state to
/// save.
class Sampler {
 public:
  /// `samples[k]` is how many samples the block's k-th agent has; if 0, nothing is chosen.
  Sampler(Block block, std::vector<Index> samples, Batch batch, Sampling sampling, std::uint64_t seed);

  /// Chooses the samples of iteration i for every agent of the block.
  void draw(Index i);
  /// The chosen samples of the block's k-th agent, as numbers within the agent's own samples. Every draw writes them to
  /// the same place.
  [[nodiscard]] std::span<const Index> indices(Index k) const {
    return {chosen_.data() + offset_[k], chosen_.data() + offset_[k + 1]};
  }
  /// The position of the block's k-th agent in a flat list of all chosen samples.
  [[nodiscard]] Index offset(Index k) const { return offset_[k]; }
  [[nodiscard]] Index total() const { return offset_.back(); }
  /// True if every draw takes every sample.
  [[nodiscard]] bool takes_all() const { return batch_.all; }
  /// True when every draw takes one sample of every agent that has any.
  [[nodiscard]] bool takes_one() const { return !batch_.all && batch_.size == 1; }
  /// How many draws the agent with the most samples needs to draw as many as it has.
  [[nodiscard]] Index epoch() const;

 private:
  Index shuffled(Index k, Index position);

  Block block_;
  std::vector<Index> samples_;
  Batch batch_;
  Sampling sampling_;
  std::uint64_t seed_;
  std::vector<Index> offset_;
  std::vector<Index> chosen_;
  // Each agent's order in the current epoch (shuffle only): a cache, recomputed from (seed, agent, epoch).
  std::vector<std::vector<std::int32_t>> order_;
  std::vector<Index> epoch_;
};

}  // namespace polyhop
