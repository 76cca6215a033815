// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/graph_aware_polyak.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "polyhop/core/kernels.hpp"
#include "polyhop/graph/spectrum.hpp"
#include "polyhop/method/polyak_step.hpp"

namespace polyhop {

Sweeps Codec<Sweeps>::read(const Value& v) {
  if (const auto* n = v.as<std::int64_t>(); n != nullptr && *n >= 1) return {*n, false};
  if (const auto* text = v.as<std::string>(); text != nullptr && *text == "exact") return {0, true};
  throw_mismatch(v, "an integer >= 1 or \"exact\"");
}

Cap Codec<Cap>::read(const Value& v) {
  if (const auto* text = v.as<std::string>()) {
    if (*text == "none") return {};
    if (*text == "distance") return {Cap::Kind::distance, 0};
    // "0.5/sqrt(i+1)"
    Real gamma = 0;
    const char* end = text->data() + text->size();
    const auto number = std::from_chars(text->data(), end, gamma);
    if (number.ec == std::errc{} && std::string_view(number.ptr, end) == "/sqrt(i+1)" && gamma > 0 &&
        std::isfinite(gamma)) {
      return {Cap::Kind::decaying, gamma};
    }
  } else if (v.as<double>() != nullptr || v.as<std::int64_t>() != nullptr) {
    const Real x = Codec<Real>::read(v);
    if (x > 0 && std::isfinite(x)) return {Cap::Kind::constant, x};
  }
  throw_mismatch(v, type());
}

Value Codec<Cap>::write(const Cap& cap) {
  switch (cap.kind) {
    case Cap::Kind::none:
      return "none";
    case Cap::Kind::constant:
      return cap.value;
    case Cap::Kind::decaying:
      return shortest(cap.value) + "/sqrt(i+1)";
    case Cap::Kind::distance:
      return "distance";
  }
  return {};
}

const FieldTable<GapOptions>& GapOptions::fields() {
  using O = GapOptions;
  static const auto table =
      FieldTable<O>()
          .add("bound", &O::bound,
               "what stands for c: the published surrogate, convexity alone, convexity and "
               "smoothness, or the truth from a known w^o")
          .add("damping", &O::damping,
               "alpha_k: the published one, 1/sum_l |z_kl|, from norms, or from the graph alone")
          .add("sweeps", &O::sweeps, "T, how often the linear system is swept")
          .add("project", &O::project, "clip at 0 inside every sweep, not only at the end")
          .add("relaxation", &O::relaxation, "the step is multiplied by it", {strictly_within(0, 2)})
          .add("optimum", &O::optimum, "what is taken for Jhat_k(w^o)")
          .add("agree", &O::agree, "replace mu_k by the minimum, or the a_kl-weighted mean, over the neighbourhood")
          .add("cap", &O::cap, "upper limit on the step, for noise that does not interpolate")
          .add("sums", &O::sums, "how cap = \"distance\" accumulates gradient energy")
          .add("exchange", &O::exchange, "sweeps over two-hop lists where gradients are held, or relayed as printed");
  return table;
}

GraphAwarePolyak::GraphAwarePolyak(const GapOptions& options, const Setting& setting)
    : options_(options), optimal_(options.optimum, setting) {
  Network& network = setting.network;
  if (!network.matrix().non_negative()) {
    throw InputError("rule = \"gap\"",
                     "the combination matrix has negative weights; GAP needs a_kl >= 0 (weights "
                     "\"metropolis\", \"max-degree\", \"lazy\" or \"fastest-mixing\")");
  }
  if (options.sweeps.exact && options.bound == Bound::paper) {
    // Erratum: the published surrogate does not vanish with g_k, so the exact solution can grow like 1/||g_k||.
    throw InputError("sweeps",
                     "\"exact\" is refused with bound = \"paper\", whose exact solution diverges or stalls; "
                     "use bound = \"linear\" or \"tight\"");
  }
  // An exact solution does not depend on the damping, only the way there does, and the paper's may not lead there.
  if (options.sweeps.exact && options.damping == Damping::paper) options_.damping = Damping::rows;
  if (options.bound == Bound::oracle) minimiser_ = known_minimiser(setting, "bound = \"oracle\"");
  if (options.damping == Damping::graph) lambda_b_ = polyhop::two_hop_scale(network.matrix().rows());
  if (options.bound == Bound::paper || holds_gradients()) {
    network.prepare_two_hop();
    z_.resize(static_cast<std::size_t>(holds_gradients() ? network.two_hop().entries() : 0));
    values_.resize(static_cast<std::size_t>(options.bound == Bound::paper ? network.two_hop().entries() : 0));
  }
  const Index agents = network.block().size();
  for (Index k = 0; k < agents; ++k) {
    Real sum = 0;  // b_kk = sum_m a_mk^2, A being symmetric
    for (const Real a : network.matrix().rows().weights_of(network.block().first + k)) sum += a * a;
    b_kk_.push_back(sum);
    if (!holds_gradients()) continue;
    const auto near = network.two_hop().columns_of(k);
    diagonal_.push_back(network.two_hop().offset[static_cast<std::size_t>(k)] +
                        (std::ranges::lower_bound(near, network.block().first + k) - near.begin()));
  }
  for (auto* scalars : {&squared_norms_, &alpha_, &cbar_, &coupling_, &scratch_}) {
    scalars->resize(static_cast<std::size_t>(agents));
  }
  const bool relays = options.bound != Bound::paper || !holds_gradients() || options.exchange == Exchange::relay;
  if (relays) mixed_ = Rows(agents, network.columns());
  if (options.cap.kind == Cap::Kind::distance) {
    sum_.resize(static_cast<std::size_t>(agents));
    radius_.resize(static_cast<std::size_t>(agents));
    start_ = Rows(agents, network.columns());
  }
}

void GraphAwarePolyak::register_state(StateRegistry& state) {
  if (options_.cap.kind != Cap::Kind::distance) return;
  state.scalars("gap.sum", sum_);
  state.scalars("gap.radius", radius_);
  state.rows("gap.start", start_);
}

void GraphAwarePolyak::do_choose(const Iterate& at, Network& network, std::span<Real> mu) {
  gather(at, network);     // z_kl, Jhat_k(w_l)
  damp(at, network);       // alpha_k       [eq:alpha_k]
  bound(at, network);      // cbar_k        [eq:upperbound]
  sweep(at, network, mu);  // mu_k^(T)      [eq:step-size-rule]
  for (Real& m : mu) m = options_.relaxation * std::max(m, 0.0);
  limit(at, network, mu);
  if (options_.agree == Agree::min) network.hear({mu}).min(0, mu);
  if (options_.agree == Agree::mean) network.hear({mu}).combine(0, mu);
}

// Fetches the two-hop lists that bound and damping need, and what follows from them at once.
void GraphAwarePolyak::gather(const Iterate& at, Network& network) {
  const Gradients& g = at.at_w.gradients;
  const bool points = options_.bound == Bound::paper;
  if (points && holds_gradients()) {
    const auto lists = network.reach(at.w, g);
    pattern_ = lists.points.pattern;
    at.oracle.values_at(lists.points, values_);
    network.pairwise(lists.gradients, z_);
  } else if (points) {
    const Reach list = network.reach(at.w);
    pattern_ = list.pattern;
    at.oracle.values_at(list, values_);
  } else if (holds_gradients()) {
    const Reach list = network.reach(g);
    pattern_ = list.pattern;
    network.pairwise(list, z_);
  }
  for (std::size_t k = 0; k < alpha_.size(); ++k) {
    // The lists hold g_k.g_k already.
    const Real g2 =
        holds_gradients() ? z_[static_cast<std::size_t>(diagonal_[k])] : squared_norm(g, static_cast<Index>(k));
    squared_norms_[k] = g2 < vanishing_gradient ? 0 : g2;
  }
  for (std::size_t e = 0; e < z_.size(); ++e) z_[e] *= pattern_.weight[e];
}

// alpha_k: how far an agent moves along its own row of Z u = -cbar. 0 where there is no gradient.
void GraphAwarePolyak::damp(const Iterate&, Network& network) {
  if (options_.damping == Damping::norms) {
    for (std::size_t k = 0; k < alpha_.size(); ++k) scratch_[k] = std::sqrt(squared_norms_[k]);
    network.hear({scratch_}).combine(0, scratch_);
    network.hear({scratch_}).combine(0, scratch_);  // (B n)_k
  }
  for (std::size_t k = 0; k < alpha_.size(); ++k) {
    const Real g2 = squared_norms_[k];
    if (g2 == 0) {
      alpha_[k] = 0;
      continue;
    }
    Real sum = 0;
    const Real per_norm = 1 / std::sqrt(g2);
    switch (options_.damping) {
      case Damping::paper:
        // b_kk ||g_k||^2 / sum_l (b_kl g_k.g_l)^2, divided through by ||g_k||^2 so that ||g_k||^4 never appears.
        for (Index e = pattern_.offset[k]; e < pattern_.offset[k + 1]; ++e) {
          const Real x = z_[static_cast<std::size_t>(e)] * per_norm;
          sum += x * x;
        }
        alpha_[k] = b_kk_[k] / sum;
        break;
      case Damping::rows:
        for (Index e = pattern_.offset[k]; e < pattern_.offset[k + 1]; ++e) {
          sum += std::abs(z_[static_cast<std::size_t>(e)]);
        }
        alpha_[k] = 1 / sum;
        break;
      case Damping::norms:
        alpha_[k] = per_norm / scratch_[k];
        break;
      case Damping::graph:
        alpha_[k] = 1 / (lambda_b_ * b_kk_[k] * g2);
        break;
    }
  }
}

// cbar_k >= c_k, from Jhat_k(w^o) instead of w^o.
void GraphAwarePolyak::bound(const Iterate& at, Network& network) {
  const auto optimal = optimal_.on_sample(at.oracle);
  if (options_.bound == Bound::paper) {
    bound_from_lists(optimal);
    return;
  }
  network.combine(at.w, mixed_);
  network.combine(mixed_, mixed_);  // (B W)_k, relayed over two edges
  const bool quadratic = at.oracle.is_quadratic();
  if (options_.bound == Bound::tight && !quadratic && !at.oracle.smoothness(scratch_)) {
    throw InputError("bound", "\"tight\" needs a smoothness constant, and this cost has none; use \"linear\"");
  }
  const Gradients& g = at.at_w.gradients;
  for (std::size_t k = 0; k < cbar_.size(); ++k) {
    Real* row = mixed_.row(static_cast<Index>(k)).data();
    const bool known = options_.bound == Bound::oracle;
    // g_k.(w - (B W)_k), from the difference, which shrinks as agents agree; w = w^o gives c_k itself.
    const Real* from = known ? minimiser_.data() : at.w.row(static_cast<Index>(k)).data();
    kernels::add_scaled(-1, row, from, row, g.columns);
    const Real slope = g.scale[k] * kernels::dot(g.row[k], row, g.columns);
    if (known) {
      cbar_[k] = slope;
      continue;
    }
    const Real gap = optimal[k] - at.at_w.values[k];
    if (options_.bound == Bound::linear) {
      cbar_[k] = gap + slope;  // inequality (a) of [eq:upperbound]
    } else if (quadratic) {
      cbar_[k] = 2 * gap + slope;  // = c_k when the sample is fitted at w^o
    } else {
      cbar_[k] = gap - squared_norms_[k] / (2 * scratch_[k]) + slope;  // co-coercivity
    }
  }
}

// Erratum: [eq:upperbound] drops delta_k ||w_k - w_l||^2, which makes the step larger, not more conservative.
void GraphAwarePolyak::bound_from_lists(std::span<const Real> optimal) {
  for (std::size_t k = 0; k < cbar_.size(); ++k) {
    Real sum = 0;
    for (Index e = pattern_.offset[k]; e < pattern_.offset[k + 1]; ++e) {
      sum += pattern_.weight[e] * (optimal[k] - values_[static_cast<std::size_t>(e)]);
    }
    cbar_[k] = sum;
  }
}

void GraphAwarePolyak::sweep(const Iterate& at, Network& network, std::span<Real> mu) {
  if (options_.sweeps.exact) {
    sweep_until_exact(at, network, mu);
    return;
  }
  for (Index t = 1; t <= options_.sweeps.count; ++t) sweep_once(at, network, mu, t == 1);
}

// mu_k <- mu_k - alpha_k (cbar_k + sum_l z_kl mu_l); the first starts from 0 and needs nobody.
void GraphAwarePolyak::sweep_once(const Iterate& at, Network& network, std::span<Real> mu, bool first) {
  if (!first) couple(at, network, mu);
  for (std::size_t k = 0; k < mu.size(); ++k) {
    const Real before = first ? 0 : mu[k];
    const Real rest = first ? cbar_[k] : cbar_[k] + coupling_[k];
    mu[k] = before - alpha_[k] * rest;
    if (options_.project || options_.sweeps.exact) mu[k] = std::max(mu[k], 0.0);
  }
}

// sum_l z_kl mu_l: over the lists, from the two-hop step sizes alone; or as printed in [alg:gap], by relaying
// v_k = sum_l a_kl mu_l g_l, then g_k . sum_l a_kl v_l.
void GraphAwarePolyak::couple(const Iterate& at, Network& network, std::span<const Real> mu) {
  if (holds_gradients() && options_.exchange == Exchange::lists) {
    const Reach steps = network.reach(mu);
    for (std::size_t k = 0; k < mu.size(); ++k) {
      Real sum = 0;
      for (Index e = pattern_.offset[k]; e < pattern_.offset[k + 1]; ++e) {
        sum += z_[static_cast<std::size_t>(e)] * *steps.row(e);
      }
      coupling_[k] = sum;
    }
    return;
  }
  const Gradients& g = at.at_w.gradients;
  network.combine(mu, g, mixed_);
  network.combine(mixed_, mixed_);
  for (std::size_t k = 0; k < mu.size(); ++k) {
    coupling_[k] = g.scale[k] * kernels::dot(g.row[k], mixed_.row(static_cast<Index>(k)).data(), g.columns);
  }
}

// Projected sweeps minimise a majoriser of q(u) = u^T Z u + 2 cbar^T u over u >= 0, so they converge; the agents stop
// together, when the largest move ||dmu_k g_k|| in the network is nothing against the largest step. For studies: every
// sweep is sent and charged, and where Z is close to singular they give up after `most` of them.
void GraphAwarePolyak::sweep_until_exact(const Iterate& at, Network& network, std::span<Real> mu) {
  constexpr int most = 20000;
  constexpr int between_checks = 20;
  constexpr Real nothing = 1e-13;
  sweep_once(at, network, mu, true);
  for (int t = 1; t < most; ++t) {
    const bool check = t % between_checks == 0;
    if (check) std::ranges::copy(mu, scratch_.begin());
    sweep_once(at, network, mu, false);
    if (!check) continue;
    for (std::size_t k = 0; k < mu.size(); ++k) {
      const Real norm = std::sqrt(squared_norms_[k]);
      scratch_[k] = std::abs(mu[k] - scratch_[k]) * norm;
      coupling_[k] = mu[k] * norm;
    }
    network.spread_max(scratch_);
    network.spread_max(coupling_);
    // Everyone holds the same two numbers; a NaN ends it as well.
    if (!(scratch_[0] > nothing * coupling_[0])) return;
  }
}

void GraphAwarePolyak::limit(const Iterate& at, Network& network, std::span<Real> mu) {
  switch (options_.cap.kind) {
    case Cap::Kind::none:
      return;
    case Cap::Kind::constant:
      for (Real& m : mu) m = std::min(m, options_.cap.value);
      return;
    case Cap::Kind::decaying:
      for (Real& m : mu) m = std::min(m, options_.cap.value / std::sqrt(static_cast<Real>(at.i + 1)));
      return;
    case Cap::Kind::distance:
      limit_by_distance(at, network, mu);
  }
}

// Distance over gradients (after DoG, Ivgi et al. 2023), graph-aware: cap_k = r_k / sqrt(S_k), with S_k the gradient
// energy g_k.(B G)_k that survives the averaging, and r_k the farthest that anyone near has moved.
void GraphAwarePolyak::limit_by_distance(const Iterate& at, Network& network, std::span<Real> mu) {
  constexpr Index first_limited = 50;
  if (at.i == 0) {
    for (Index k = 0; k < at.w.rows(); ++k) std::ranges::copy(at.w.row(k), start_.row(k).begin());
  }
  if (holds_gradients()) {
    for (std::size_t k = 0; k < mu.size(); ++k) {
      Real sum = 0;
      for (Index e = pattern_.offset[k]; e < pattern_.offset[k + 1]; ++e) sum += z_[static_cast<std::size_t>(e)];
      coupling_[k] = sum;
    }
  } else {
    std::ranges::fill(scratch_, 1.0);
    couple(at, network, scratch_);
  }
  for (std::size_t k = 0; k < mu.size(); ++k) {
    sum_[k] += std::max(coupling_[k], 0.0);
    const Real* w = at.w.row(static_cast<Index>(k)).data();
    const Real* from = start_.row(static_cast<Index>(k)).data();
    radius_[k] = std::max(radius_[k], std::sqrt(kernels::squared_distance(w, from, at.w.columns())));
  }
  if (options_.sums == Sums::mixed) {
    const Heard heard = network.hear({sum_, radius_});
    heard.combine(0, sum_);
    heard.max(1, radius_);
  } else {
    network.hear({radius_}).max(0, radius_);
  }
  if (at.i < first_limited) return;
  for (std::size_t k = 0; k < mu.size(); ++k) {
    if (sum_[k] > 0) mu[k] = std::min(mu[k], radius_[k] / std::sqrt(sum_[k]));
  }
}

}  // namespace polyhop
