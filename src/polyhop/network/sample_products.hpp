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
#include "polyhop/core/gradients.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/reach.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// How products of samples are formed: once for all samples, to be looked up, or in every iteration for the samples
/// drawn; `automatic`: whichever is faster and fits into memory.
enum class ProductUse { automatic, remembered, computed };
template <>
struct EnumNames<ProductUse> {
  static constexpr std::array<std::pair<ProductUse, std::string_view>, 3> names = {
      {{ProductUse::automatic, "auto"}, {ProductUse::remembered, "remembered"}, {ProductUse::computed, "computed"}}};
};

/// The products h_kn . h_lm of all samples n of a block's agents k with all samples m of the agents l within two hops,
/// each formed once: N^2 b numbers, if agents have N samples and B has b entries. A gradient by a single sample is a
/// number times a sample, so a product of two gradients is two numbers times one of these products. Network::products
/// fills them in when it first needs them. They are made of what was received: nothing is sent, counted or rounded
/// differently.
class SampleProducts {
 public:
  /// Gradients will be multiplied `times` times; 0: unknown.
  SampleProducts(ProductUse use, Index times) : use_(use), times_(times) {}
  [[nodiscard]] bool is_made() const { return state_ == State::made; }
  [[nodiscard]] double bytes() const { return 8.0 * static_cast<double>(total_); }

  /// Forming all products pays if gradients are multiplied at least this many times N^2: there are N^2 times as many as
  /// one iteration needs, symmetry saves half of them, and looking them up also has a cost.
  static constexpr double paying_share = 4;

 private:
  friend class Network;
  enum class State : std::uint8_t { undecided, none, made };

  /// Counts them: `counts[k]` samples of the block's agents, and of all agents that they reach.
  void lay_out(std::span<const double> counts, const Reach& reached);
  /// Whether they could be remembered at all; agents with a single sample need the shortest run.
  [[nodiscard]] bool is_open() const;
  /// Whether this block, which has this share of all agents, should compute them instead.
  [[nodiscard]] bool objects(double share) const;
  void make();
  /// products[e] are those of own samples n with samples m.
  void keep(Index n, Index m, std::span<const double> products);
  /// out[e] = s_k s_l h_k . h_l; `reached` has every agent's scale and the number of its sample, in this order.
  void look_up(const Gradients& y, const Reach& reached, std::span<double> out) const;

  ProductUse use_;
  Index times_;
  State state_ = State::undecided;
  Index total_ = 0;
  Index most_ = 0;                        // samples of an agent of the block
  std::vector<Index> count_;              // samples of the block's agents
  std::vector<Index> first_;              // where the products of each begin
  std::vector<Index> length_;             // how many there are with one of its samples
  MeteredVector<Index> offset_;           // of the entries of each agent
  MeteredVector<std::int32_t> place_;     // where those of entry e begin among the products of one sample, and
  MeteredVector<std::int32_t> count_at_;  // how many there are
  Rows product_;                          // one, in large pages
};

}  // namespace polyhop
