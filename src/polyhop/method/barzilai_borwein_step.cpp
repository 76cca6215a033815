// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/barzilai_borwein_step.hpp"

#include <algorithm>
#include <cstddef>

namespace polyhop {

const FieldTable<BarzilaiBorweinOptions>& BarzilaiBorweinOptions::fields() {
  using O = BarzilaiBorweinOptions;
  static const auto table = FieldTable<O>()
                                .add("kind", &O::kind, "s.s / s.z (long, BB1) or s.z / z.z (short, BB2)")
                                .add("first", &O::first, "the first step", {above(0)})
                                .add("min", &O::min, "lower limit on the step", {above(0)})
                                .add("max", &O::max, "upper limit on the step", {above(0)})
                                .add("agree", &O::agree, agree_help);
  return table;
}

void BarzilaiBorweinOptions::check(const std::string& path, int line) const {
  if (min <= max) return;
  throw InputError(path + ".min",
                   "found " + shortest(min) + ", which is above max = " + shortest(max) + "; expected min <= max",
                   line);
}

BarzilaiBorweinStep::BarzilaiBorweinStep(const BarzilaiBorweinOptions& options, const Setting& setting)
    : options_(options), differences_(setting.network.zeros(setting.network.block().size())) {
  options.check("step");
  own_.assign(setting.network.block().size(), std::clamp(options.first, options.min, options.max));
}

void BarzilaiBorweinStep::register_state(StateRegistry& state) {
  state.scalars("barzilai-borwein.own", own_);
  differences_.register_state(state, "barzilai-borwein");
}

void BarzilaiBorweinStep::do_choose(const Iterate& at, Network& network, std::span<double> mu) {
  if (differences_.update(at)) {
    for (std::size_t k = 0; k < own_.size(); ++k) {
      // Never true of a NaN.
      const bool curved = differences_.ss()[k] > 0 && differences_.sz()[k] > 0;
      if (curved) own_[k] = std::clamp(quotient(k), options_.min, options_.max);
    }
  }
  std::ranges::copy(own_, mu.begin());
  reconcile(options_.agree, network, mu);
}

double BarzilaiBorweinStep::quotient(std::size_t k) const {
  return options_.kind == Quotient::long_step ? differences_.ss()[k] / differences_.sz()[k]
                                              : differences_.sz()[k] / differences_.zz()[k];
}

}  // namespace polyhop
