// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "polyhop/core/fields.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/network/network.hpp"

namespace polyhop {

/// What agents do with the steps that they chose: keep them, or take the neighbourhood's minimum or mean.
enum class Agree { none, min, mean };
template <>
struct EnumNames<Agree> {
  static constexpr std::array<std::pair<Agree, std::string_view>, 3> names = {
      {{Agree::none, "none"}, {Agree::min, "min"}, {Agree::mean, "mean"}}};
};

inline constexpr const char* agree_help =
    "replace mu_k by the minimum, or the a_kl-weighted mean, over the neighbourhood";

/// Replaces the block's steps with the agreed ones. 1 scalar, unless `none`.
inline void reconcile(Agree how, Network& network, std::span<double> mu) {
  if (how == Agree::min) network.hear({mu}).min(0, mu);
  if (how == Agree::mean) network.hear({mu}).combine(0, mu);
}

}  // namespace polyhop
