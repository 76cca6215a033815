// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "polyhop/core/fields.hpp"
#include "polyhop/problem/problem.hpp"

namespace polyhop {

/// The gradients of the agents' costs that an iteration uses, from a batch b of n_k samples' losses l_kn:
/// plain: the batch's own gradient, mean_b grad l_kn(w_k), whose noise does not fade.
/// saga: remembers every sample's last gradient a_kn, 0 at first (Defazio et al. 2014):
///   v_k = mean_b (grad l_kn(w_k) - a_kn) + mean_n a_kn,   then a_kn <- grad l_kn(w_k) for n in b.
/// lsvrg: keeps the gradient of all samples at a point u_k (Kovalev et al. 2020):
///   v_k = mean_b (grad l_kn(w_k) - grad l_kn(u_k)) + mean_n grad l_kn(u_k),
///   u_k <- w_k, before that, in the first iteration and then with probability |b| / n_k.
/// Each adds the penalty's gradient at w_k. The last two have no bias under uniform sampling, and no noise left once
/// the models settle. Neither sends anything.
enum class GradientEstimate { plain, saga, lsvrg };
template <>
struct EnumNames<GradientEstimate> {
  static constexpr std::array<std::pair<GradientEstimate, std::string_view>, 3> names = {
      {{GradientEstimate::plain, "plain"}, {GradientEstimate::saga, "saga"}, {GradientEstimate::lsvrg, "lsvrg"}}};
};

/// A block's view of the problem, with gradients that are such estimates. saga stores one number per sample of a linear
/// model, one per class for softmax, and a gradient per sample for any other cost; lsvrg stores two models per agent,
/// and evaluates every batch twice. If a batch holds all samples, there is nothing to estimate. Throws InputError if
/// there is nothing to remember.
std::unique_ptr<Oracle> make_oracle(const Problem& problem, const Block& block, std::uint64_t seed,
                                    GradientEstimate gradient);

}  // namespace polyhop
