// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/graph_aware_polyak.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>

#include "polyhop/core/block.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/graph/spectrum.hpp"
#include "polyhop/method/polyak_step.hpp"

namespace polyhop {

Sweeps Codec<Sweeps>::read(const Value& v) {
  if (const auto* n = v.as<std::int64_t>(); n != nullptr && *n >= 1 && *n <= Sweeps::most) return {*n, false};
  if (const auto* text = v.as<std::string>(); text != nullptr && *text == "exact") return {0, true};
  throw_mismatch(v, "an integer from 1 to 1000000, or \"exact\"");
}

const FieldTable<GapOptions>& GapOptions::fields() {
  using O = GapOptions;
  static const auto table =
      FieldTable<O>()
          .add("bound", &O::bound,
               "what replaces c_k, the unknown progress along -g_k towards w^o: the published surrogate, convexity "
               "alone, convexity and smoothness, or the truth from a known w^o")
          .add(
              "damping", &O::damping,
              "alpha_k, the factor of a sweep: the published one, 1/sum_l |z_kl|, from norms, from the graph alone, or "
              "from sketches")
          .add("sketch_size", &O::sketch_size, "numbers per sketch of a gradient, for damping = \"sketch\"",
               {count_from(1)})
          .add("sweeps", &O::sweeps, "T, the number of sweeps over the linear system for the steps")
          .add("project", &O::project, "clip at 0 inside every sweep, not only at the end")
          .add("relaxation", &O::relaxation, "multiplies the step", {strictly_within(0, 2)})
          .add("optimum", &O::optimum, "what to use for Jhat_k(w^o)")
          .add("agree", &O::agree, agree_help)
          .add("cap", &O::cap, "upper limit on the step, for data that cannot be fitted")
          .add("sums", &O::sums, "how cap = \"distance\" accumulates gradient energy")
          .add("exchange", &O::exchange, "sweep over two-hop lists where gradients are held, or relay as in the paper")
          .add("products", &O::products,
               "products of gradients by single samples: those of all samples are formed once and looked up, or formed "
               "anew in every iteration; \"auto\": once if the run has 4 N^2 iterations or more, N the samples per "
               "agent, and they fit into memory. Results are bit-identical");
  return table;
}

GraphAwarePolyak::GraphAwarePolyak(const GapOptions& options, const Setting& setting)
    : options_(options),
      recursion_(setting.recursion),
      optimal_(options.optimum, setting),
      remembered_(options.products, setting.iterations) {
  refuse(setting);
  // Damping does not change an exact solution, only the way there, and the paper's damping may not lead there.
  if (options.sweeps.exact && options.damping == Damping::paper) options_.damping = Damping::rows;
  // Where every agent is on its own and X = W, the published bound is the linear one.
  if (is_diagonal() && options.bound == Bound::paper) options_.bound = Bound::linear;
  if (options.bound == Bound::oracle) minimiser_ = known_minimiser(setting, "bound = \"oracle\"");
  prepare_metric(setting.network);
  prepare_memory(setting);
}

void GraphAwarePolyak::refuse(const Setting& setting) const {
  if (!setting.network.matrix().non_negative()) {
    throw InputError("rule = \"gap\"",
                     "the combination matrix has negative weights; GAP needs a_kl >= 0 (weights "
                     "\"metropolis\", \"max-degree\", \"lazy\" or \"fastest-mixing\")");
  }
  if (options_.sweeps.exact && options_.bound == Bound::paper) {
    // Erratum: the published surrogate does not vanish with g_k, so the exact solution can grow like 1/||g_k||.
    throw InputError("sweeps",
                     "\"exact\" is refused with bound = \"paper\", whose exact solution diverges or stalls; "
                     "use bound = \"linear\" or \"tight\"");
  }
  const std::string on = " on algorithm " + in_quotes(recursion_.name);
  if (recursion_.rounds > 1) {
    throw InputError("rule = \"gap\"",
                     "needs one combination per iteration, since it reaches two hops; found rounds = " +
                         std::to_string(recursion_.rounds) + on);
  }
  if (recursion_.dual) {
    throw InputError("rule = \"gap\"", "gives steps of 0, which cut an agent off" + on +
                                           " in its dual form; use algorithm = { name = " + in_quotes(recursion_.name) +
                                           ", form = \"primal\" }");
  }
  if (options_.bound == Bound::paper && (recursion_.shifted || recursion_.tracked)) {
    throw InputError("bound",
                     "\"paper\", which is also the default, is the published bound for steps along an agent's own "
                     "gradient from where it was taken; use bound = \"linear\"" +
                         on);
  }
  if (options_.bound == Bound::tight && recursion_.tracked) {
    throw InputError("bound",
                     "\"tight\" needs the smoothness of the tracked cost, which no agent knows; use bound = "
                     "\"linear\"" +
                         on);
  }
}

// B = P^T P, P = (1 - c) I + c A, on the pattern of A^T A; b_kk; lambda_B.
void GraphAwarePolyak::prepare_metric(Network& network) {
  const double c = recursion_.mixing;
  const SparseRows& a = network.matrix().rows();
  const Block block = network.block();
  const auto own_weight = [&](Index agent) {
    const auto columns = a.columns_of(agent);
    return a.weights_of(agent)[std::ranges::lower_bound(columns, agent) - columns.begin()];
  };
  for (Index k = 0; k < block.size(); ++k) {
    double sum = 0;  // sum_m a_mk^2, because A is symmetric
    for (const double weight : a.weights_of(block.agent(k))) sum += weight * weight;
    b_kk_.push_back(c == 1 ? sum : (1 - c) * (1 - c) + 2 * c * (1 - c) * own_weight(block.agent(k)) + c * c * sum);
  }
  if (options_.damping == Damping::graph && !is_diagonal()) {
    SparseRows p = a;
    for (Index k = 0; k < a.rows(); ++k) {
      for (Index e = a.offset[k]; e < a.offset[k + 1]; ++e) {
        double& weight = p.weight[e];
        weight = c * weight + (a.column[e] == k ? 1 - c : 0.0);
      }
    }
    lambda_b_ = polyhop::two_hop_scale(p);
  }
  if (!holds_points() && !holds_gradients() && !holds_sketches()) return;
  network.prepare_two_hop();
  near_ = &network.two_hop();
  b_ = near_->weight;
  for (Index k = 0; k < block.size(); ++k) {
    const auto near = near_->columns_of(k);
    const auto begin = near_->offset[k];
    diagonal_.push_back(begin + (std::ranges::lower_bound(near, block.agent(k)) - near.begin()));
    if (c == 1) continue;
    for (std::size_t n = 0; n < near.size(); ++n) b_[begin + n] *= c * c;
    const auto columns = a.columns_of(block.agent(k));
    for (std::size_t n = 0; n < columns.size(); ++n) {
      const auto place = begin + (std::ranges::lower_bound(near, columns[n]) - near.begin());
      b_[place] += 2 * c * (1 - c) * a.weights_of(block.agent(k))[n];
    }
    b_[diagonal_.back()] = b_kk_[k];
  }
}

void GraphAwarePolyak::prepare_memory(const Setting& setting) {
  const Index agents = setting.network.block().size();
  const Rows zeros = setting.network.zeros(agents);
  z_.resize(holds_gradients() ? b_.size() : 0);
  values_.resize(holds_points() ? b_.size() : 0);
  for (auto* scalars : {&squared_norms_, &alpha_, &cbar_, &coupling_, &scratch_}) scalars->resize(agents);
  const bool relays = !holds_points() || !holds_gradients() || options_.exchange == StepsOverTwoHops::relay;
  if (relays) mixed_ = zeros;
  if (relays && recursion_.mixing > 0 && recursion_.mixing < 1) relayed_ = zeros;
  if (holds_sketches()) {
    signs_ = zeros.zeros(options_.sketch_size);
    std::vector<double> signs(signs_.columns());
    const double entry = 1 / std::sqrt(static_cast<double>(options_.sketch_size));
    for (Index r = 0; r < signs_.rows(); ++r) {
      Stream stream(setting.seed, Purpose::sketch, r);
      for (double& sign : signs) sign = stream.below(2) == 0 ? entry : -entry;
      write_row(signs, signs_, r);
    }
    projections_.resize(agents * options_.sketch_size);
  }
  cap_.emplace(options_.cap, options_.sums, zeros);
}

void GraphAwarePolyak::register_state(StateRegistry& state) {
  optimal_.register_state(state);
  cap_->register_state(state);
}

void GraphAwarePolyak::do_choose(const Iterate& at, Network& network, std::span<double> mu) {
  // None of these needs what another one sends, so they share rounds: in the first, say, agents send x and y, and in
  // the second they forward their neighbours' y and send (A X)_k.
  std::span<const double> optimal;
  network.share_rounds([&] { gather(at, network); },                        // z_kl, Jhat_k(w_l)
                       [&] { sketch(at, network); },                        // what stands for z_kl
                       [&] { damp(network); },                              // alpha_k  [eq:alpha_k]
                       [&] { optimal = optimal_.on_sample(at, network); },  // Jhat_k(w^o)
                       [&] { bound(at, optimal, network); });               // cbar_k   [eq:upperbound]
  sweep(at, network, mu);                                                   // mu_k^(T) [eq:step-size-rule]
  for (double& m : mu) m = options_.relaxation * std::max(m, 0.0);
  cap_->limit(at, cap_->needs_energy() ? energy(at, network) : std::span<const double>{}, network, mu);
  reconcile(options_.agree, network, mu);
}

// Fetches the two-hop lists that bound and damping need, and computes what follows from them directly.
void GraphAwarePolyak::gather(const Iterate& at, Network& network) {
  if (holds_points() && holds_gradients()) {
    at.oracle().values_at(network.reach(at.x(), at.y(), remembered_, z_), values_);
  } else if (holds_points()) {
    at.oracle().values_at(network.reach(at.x()), values_);
  } else if (holds_gradients()) {
    network.products(at.y(), remembered_, z_);
  }
  for (std::size_t k = 0; k < alpha_.size(); ++k) {
    // The lists already hold y_k.y_k.
    const double y2 = holds_gradients() ? z_[diagonal_[k]] : at.y().squared_norm(static_cast<Index>(k));
    squared_norms_[k] = y2 < vanishing_gradient ? 0 : y2;
  }
  for (std::size_t e = 0; e < z_.size(); ++e) z_[e] *= b_[e];
}

// scratch_[k] = sum_l b_kl |(S y_k).(S y_l)|, from lists of projections instead of gradients.
void GraphAwarePolyak::sketch(const Iterate& at, Network& network) {
  if (!holds_sketches()) return;
  const auto size = static_cast<std::size_t>(options_.sketch_size);
  for (std::size_t k = 0; k < alpha_.size(); ++k) {
    for (std::size_t r = 0; r < size; ++r) {
      projections_[k * size + r] = at.y().dot(static_cast<Index>(k), signs_, static_cast<Index>(r));
    }
  }
  const Reach list = network.reach(projections_, options_.sketch_size);
  for (std::size_t k = 0; k < alpha_.size(); ++k) {
    const double* own = projections_.data() + k * size;
    scratch_[k] = 0;
    for (Index e = near_->offset[k]; e < near_->offset[k + 1]; ++e) {
      const double product = std::inner_product(own, own + size, list.row(e), double{0});
      scratch_[k] += b_[e] * std::abs(product);
    }
  }
}

// alpha_k: how far an agent moves along its own row of Z u = -cbar. 0 if there is no gradient.
void GraphAwarePolyak::damp(Network& network) {
  if (options_.damping == Damping::norms && !is_diagonal()) {
    const double c = recursion_.mixing;
    for (std::size_t k = 0; k < alpha_.size(); ++k) scratch_[k] = std::sqrt(squared_norms_[k]);
    for (int hop = 0; hop < 2; ++hop) {  // (B n)_k
      std::ranges::copy(scratch_, coupling_.begin());
      network.hear({scratch_}).combine(0, scratch_);
      for (std::size_t k = 0; c < 1 && k < alpha_.size(); ++k) scratch_[k] = (1 - c) * coupling_[k] + c * scratch_[k];
    }
  }
  for (std::size_t k = 0; k < alpha_.size(); ++k) {
    const double y2 = squared_norms_[k];
    alpha_[k] = y2 == 0 ? 0 : is_diagonal() ? 1 / y2 : damping_of(k);
  }
}

double GraphAwarePolyak::damping_of(std::size_t k) const {
  const double y2 = squared_norms_[k];
  const double per_norm = 1 / std::sqrt(y2);
  double sum = 0;
  switch (options_.damping) {
    case Damping::paper:
      // b_kk ||y_k||^2 / sum_l (b_kl y_k.y_l)^2, divided through by ||y_k||^2 so that ||y_k||^4 never appears.
      for (Index e = near_->offset[k]; e < near_->offset[k + 1]; ++e) {
        const double x = z_[e] * per_norm;
        sum += x * x;
      }
      return b_kk_[k] / sum;
    case Damping::rows:
      for (Index e = near_->offset[k]; e < near_->offset[k + 1]; ++e) sum += std::abs(z_[e]);
      return 1 / sum;
    case Damping::norms:
      return per_norm / scratch_[k];
    case Damping::graph:
      return 1 / (lambda_b_ * b_kk_[k] * y2);
    case Damping::sketch:
      // A projection may show less of a gradient than there is, hence the margin; or none of it.
      sum = (1 + 2 / std::sqrt(static_cast<double>(options_.sketch_size))) * scratch_[k];
      return sum > 0 ? 1 / sum : 0;
  }
  return 0;
}

// mixed_ = P P x, relayed over two edges; x itself if P = I.
void GraphAwarePolyak::mix_twice(const Rows& x, Network& network) {
  if (is_diagonal()) {
    copy(x, mixed_);
    return;
  }
  if (recursion_.mixing == 1) {
    network.combine_twice(x, mixed_);
    return;
  }
  network.combine(x, mixed_);
  copy(x, relayed_);
  mix(recursion_.mixing, mixed_, relayed_);
  swap(mixed_, relayed_);
  mix_again(network);
}

// mixed_ <- P mixed_, if P is not A
void GraphAwarePolyak::mix_again(Network& network) {
  network.combine(mixed_, relayed_);
  mix(recursion_.mixing, relayed_, mixed_);
}

// cbar_k >= c_k, from Jhat_k(w^o) instead of w^o.
void GraphAwarePolyak::bound(const Iterate& at, std::span<const double> optimal, Network& network) {
  if (holds_points()) {
    bound_from_lists(optimal);
    return;
  }
  mix_twice(at.x(), network);  // (B X)_k
  const bool quadratic = at.oracle().is_quadratic();
  bool tight = options_.bound == Bound::tight;
  if (tight && !quadratic && !at.oracle().smoothness(scratch_)) {
    if (!allows_unknown_smoothness_) {
      throw InputError("bound", "\"tight\" needs a smoothness constant, and this cost has none; use \"linear\"");
    }
    tight = false;
  }
  // y_k.(w - (B X)_k), from the difference, which shrinks as agents agree; w = w^o gives c_k itself.
  const bool known = options_.bound == Bound::oracle;
  network.dot_differences(at.y(), known ? minimiser_ : at.w(), mixed_, cbar_);
  for (std::size_t k = 0; !known && k < cbar_.size(); ++k) {
    const double slope = cbar_[k];
    const double gap = optimal[k] - at.values()[k];
    if (!tight) {
      cbar_[k] = gap + slope;  // inequality (a) of [eq:upperbound]
    } else if (quadratic) {
      cbar_[k] = 2 * gap + slope;  // = c_k when the sample is fitted at w^o
    } else {
      // Co-coercivity. Samples without features have neither a gradient nor a curvature.
      const double gained = squared_norms_[k] > 0 ? squared_norms_[k] / (2 * scratch_[k]) : 0;
      cbar_[k] = gap - gained + slope;
    }
  }
}

// Erratum: [eq:upperbound] drops delta_k ||w_k - w_l||^2, which makes the step larger, not more conservative.
void GraphAwarePolyak::bound_from_lists(std::span<const double> optimal) {
  for (std::size_t k = 0; k < cbar_.size(); ++k) {
    double sum = 0;
    for (Index e = near_->offset[k]; e < near_->offset[k + 1]; ++e) {
      sum += b_[e] * (optimal[k] - values_[e]);
    }
    cbar_[k] = sum;
  }
}

void GraphAwarePolyak::sweep(const Iterate& at, Network& network, std::span<double> mu) {
  if (options_.sweeps.exact && !is_diagonal()) {
    sweep_until_exact(at, network, mu);
    return;
  }
  // For an agent on its own the first sweep is exact.
  const Index count = is_diagonal() ? 1 : options_.sweeps.count;
  for (Index t = 1; t <= count; ++t) sweep_once(at, network, mu, t == 1);
}

// mu_k <- mu_k - alpha_k (cbar_k + sum_l z_kl mu_l); the first sweep starts from 0 and needs no messages.
void GraphAwarePolyak::sweep_once(const Iterate& at, Network& network, std::span<double> mu, bool first) {
  if (!first) couple(at, network, mu);
  for (std::size_t k = 0; k < mu.size(); ++k) {
    const double before = first ? 0 : mu[k];
    const double rest = first ? cbar_[k] : cbar_[k] + coupling_[k];
    mu[k] = before - alpha_[k] * rest;
    if (options_.project || options_.sweeps.exact) mu[k] = std::max(mu[k], 0.0);
  }
}

// sum_l z_kl mu_l: with lists, from the two-hop step sizes alone; otherwise as printed in [alg:gap], by relaying v_k =
// sum_l p_kl mu_l y_l, then y_k . sum_l p_kl v_l.
void GraphAwarePolyak::couple(const Iterate& at, Network& network, std::span<const double> mu) {
  if (holds_gradients() && options_.exchange == StepsOverTwoHops::lists) {
    const Reach steps = network.reach(mu);
    for (std::size_t k = 0; k < mu.size(); ++k) {
      double sum = 0;
      for (Index e = near_->offset[k]; e < near_->offset[k + 1]; ++e) {
        sum += z_[e] * *steps.row(e);
      }
      coupling_[k] = sum;
    }
    return;
  }
  if (const double c = recursion_.mixing; c == 1) {
    network.combine_twice(mu, at.y(), mixed_);
  } else {
    network.combine(mu, at.y(), mixed_);
    for (Index k = 0; k < mixed_.rows(); ++k) {
      scale_row(c, mixed_, k, mixed_, k);
      at.y().add_to(k, (1 - c) * mu[k], mixed_, k, mixed_, k);
    }
    mix_again(network);
  }
  for (Index k = 0; k < at.agents(); ++k) {
    coupling_[k] = at.y().dot(k, mixed_, k);
  }
}

void GraphAwarePolyak::claim(const Iterate& at, Network& network, std::span<const double> mu, std::span<double> out) {
  couple(at, network, mu);
  for (std::size_t k = 0; k < mu.size(); ++k) out[k] = -mu[k] * (2 * cbar_[k] + coupling_[k]);
}

// Projected sweeps minimise a majoriser of q(u) = u^T Z u + 2 cbar^T u over u >= 0, so they converge; the agents stop
// together, when the largest move ||dmu_k g_k|| in the network is negligible against the largest step. For studies
// only: every sweep is sent and charged, and if Z is close to singular they give up after `most` sweeps.
void GraphAwarePolyak::sweep_until_exact(const Iterate& at, Network& network, std::span<double> mu) {
  constexpr int most = 20000;
  constexpr int between_checks = 20;
  constexpr double nothing = 1e-13;
  sweep_once(at, network, mu, true);
  for (int t = 1; t < most; ++t) {
    const bool check = t % between_checks == 0;
    if (check) std::ranges::copy(mu, scratch_.begin());
    sweep_once(at, network, mu, false);
    if (!check) continue;
    for (std::size_t k = 0; k < mu.size(); ++k) {
      const double norm = std::sqrt(squared_norms_[k]);
      scratch_[k] = std::abs(mu[k] - scratch_[k]) * norm;
      coupling_[k] = mu[k] * norm;
    }
    network.spread_max(scratch_);
    network.spread_max(coupling_);
    // Everyone holds the same two numbers; a NaN stops the loop too.
    if (!(scratch_[0] > nothing * coupling_[0])) return;
  }
}

// g_k.(B G)_k, the part of an agent's gradient that survives the averaging.
std::span<const double> GraphAwarePolyak::energy(const Iterate& at, Network& network) {
  if (is_diagonal()) {
    std::ranges::copy(squared_norms_, coupling_.begin());
  } else if (holds_gradients()) {
    for (std::size_t k = 0; k < coupling_.size(); ++k) {
      double sum = 0;
      for (Index e = near_->offset[k]; e < near_->offset[k + 1]; ++e) sum += z_[e];
      coupling_[k] = sum;
    }
  } else {
    std::ranges::fill(scratch_, 1.0);
    couple(at, network, scratch_);
  }
  return coupling_;
}

}  // namespace polyhop
