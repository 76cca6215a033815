// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/sample_products.hpp"

#include <algorithm>
#include <cstddef>

namespace polyhop {

void SampleProducts::lay_out(std::span<const double> counts, const Reach& reached) {
  count_.clear();
  first_.clear();
  length_.clear();
  offset_.assign(reached.pattern.offset, reached.pattern.offset + reached.agents + 1);
  place_.clear();
  count_at_.clear();
  total_ = 0;
  most_ = 0;
  for (Index k = 0; k < reached.agents; ++k) {
    count_.push_back(static_cast<Index>(counts[k]));
    most_ = std::max(most_, count_.back());
    Index length = 0;
    for (Index e = offset_[k]; e < offset_[k + 1]; ++e) {
      const auto count = static_cast<std::int32_t>(*reached.row(e));
      place_.push_back(static_cast<std::int32_t>(length));
      count_at_.push_back(count);
      length += count;
    }
    first_.push_back(total_);
    length_.push_back(length);
    total_ += count_.back() * length;
  }
}

bool SampleProducts::is_open() const {
  return use_ == ProductUse::remembered ||
         (use_ == ProductUse::automatic && static_cast<double>(times_) >= paying_share);
}

bool SampleProducts::objects(double share) const {
  if (use_ == ProductUse::remembered) return false;
  const auto samples = static_cast<double>(most_);
  // A part of the memory that is left, so that what is made later finds some too.
  constexpr double part = 0.25;
  return static_cast<double>(times_) < paying_share * samples * samples || bytes() > part * share * memory_left();
}

void SampleProducts::make() {
  product_ = Rows(1, total_);
  state_ = State::made;
}

void SampleProducts::keep(Index n, Index m, std::span<const double> products) {
  for (std::size_t k = 0; k < count_.size(); ++k) {
    if (n >= count_[k]) continue;
    double* row = product_.data() + first_[k] + n * length_[k];
    for (Index e = offset_[k]; e < offset_[k + 1]; ++e) {
      if (m < count_at_[e]) row[place_[e] + m] = products[e];
    }
  }
}

void SampleProducts::look_up(const Gradients& y, const Reach& reached, std::span<double> out) const {
  const auto address = [&](std::size_t k, Index e) {
    const double* row = product_.data() + first_[k] + y.sample[k] * length_[k];
    return row + place_[e] + static_cast<Index>(reached.row(e)[1]);
  };
  // Samples are drawn at random, so their products are far away unless all fit into a cache: those of an agent are on
  // their way while other agents' are used.
  constexpr double near_bytes = 8 << 20;
  const std::size_t ahead = bytes() > near_bytes ? 2 : 0;
  const auto fetch = [&](std::size_t k) {
    for (Index e = offset_[k]; e < offset_[k + 1]; ++e) __builtin_prefetch(address(k, e));
  };
  for (std::size_t k = 0; k < std::min(ahead, count_.size()); ++k) fetch(k);
  for (std::size_t k = 0; k < count_.size(); ++k) {
    if (ahead > 0 && k + ahead < count_.size()) fetch(k + ahead);
    for (Index e = offset_[k]; e < offset_[k + 1]; ++e) out[e] = y.scale[k] * *reached.row(e) * *address(k, e);
  }
}

}  // namespace polyhop
