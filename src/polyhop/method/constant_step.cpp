// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/constant_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "polyhop/core/elementary.hpp"
#include "polyhop/core/number_file.hpp"

namespace polyhop {

void GivenStep::do_choose(const Iterate& at, Network&, std::span<double> mu) { std::ranges::fill(mu, *given(at.i())); }

const FieldTable<ConstantOptions>& ConstantOptions::fields() {
  static const auto table =
      FieldTable<ConstantOptions>().require("value", &ConstantOptions::value, "the step size", {above(0)});
  return table;
}

std::optional<double> ConstantStep::given(Index) const { return options_.value; }

const FieldTable<DecayOptions>& DecayOptions::fields() {
  static const auto table =
      FieldTable<DecayOptions>()
          .require("value", &DecayOptions::value, "the first step size", {above(0)})
          .add("power", &DecayOptions::power, "how fast it falls: value / (i+1)^power", {at_least(0)});
  return table;
}

std::optional<double> DecayingStep::given(Index i) const {
  return options_.value * elementary::exp(-options_.power * elementary::log(static_cast<double>(i + 1)));
}

const FieldTable<ScheduleOptions>& ScheduleOptions::fields() {
  using O = ScheduleOptions;
  static const auto table =
      FieldTable<O>()
          .add("value", &O::value, "the step size after the warm-up; this or a file", above(0))
          .add("warmup", &O::warmup, "iterations to ramp up to it: value (i+1)/(warmup+1)", {count_from(0)})
          .add("every", &O::every, "iterations between drops; 0: never", {count_from(0)})
          .add("factor", &O::factor, "multiplies it at each drop", {above(0)})
          .add("file", &O::file, "a file of steps, one per iteration; the last one is repeated");
  return table;
}

void ScheduleOptions::check(const std::string& path, int line) const {
  if (value && file) throw InputError(path, "found both value and file; give one or the other", line);
  if (!value && !file) {
    throw InputError(path, "found neither value nor file; give a step size, value = 0.1, or a file of steps", line);
  }
}

ScheduledStep::ScheduledStep(const ScheduleOptions& options, const Setting&) : options_(options) {
  options.check("step");
  if (!options.file) return;
  listed_ = read_numbers("step.file", *options.file);
  if (listed_.empty()) throw InputError("step.file", in_quotes(*options.file) + " holds no steps");
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    if (listed_[i] >= 0 && std::isfinite(listed_[i])) continue;
    throw InputError("step.file", "found " + shortest(listed_[i]) + " for iteration " + std::to_string(i) + " in " +
                                      in_quotes(*options.file) + ", expected a finite step >= 0");
  }
}

namespace {

double power(double x, Index n) {
  double product = 1;
  for (; n > 0; n /= 2, x *= x) {
    if (n % 2 == 1) product *= x;
  }
  return product;
}

}  // namespace

double ScheduledStep::stairs(Index i) const {
  const double rise = std::min(1.0, static_cast<double>(i + 1) / (static_cast<double>(options_.warmup) + 1));
  const Index fallen = options_.every > 0 ? i / options_.every : 0;
  return *options_.value * rise * power(options_.factor, fallen);
}

std::optional<double> ScheduledStep::given(Index i) const {
  const auto last = static_cast<Index>(listed_.size()) - 1;
  return last < 0 ? stairs(i) : listed_[std::min(i, last)];
}

}  // namespace polyhop
