// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/optimum.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "polyhop/core/block.hpp"
#include "polyhop/core/number_file.hpp"

namespace polyhop {

Optimum Codec<Optimum>::read(const Value& v) {
  Optimum optimum;
  if (const auto* text = v.as<std::string>()) {
    if (*text == "zero") return optimum;
    if (*text == "per-sample") {
      optimum.kind = Optimum::Kind::per_sample;
      return optimum;
    }
    if (*text == "estimate") {
      optimum.kind = Optimum::Kind::estimate;
      return optimum;
    }
  } else if (v.as<double>() != nullptr || v.as<std::int64_t>() != nullptr) {
    optimum.number = Codec<double>::read(v);
    if (std::isfinite(optimum.number)) return optimum;
  } else if (v.as<Value::Array>() != nullptr) {
    optimum.kind = Optimum::Kind::list;
    optimum.list = Codec<std::vector<double>>::read(v);
    return optimum;
  } else if (const Value* file = v.find("file"); file != nullptr && v.as<Value::Table>()->size() == 1) {
    optimum.kind = Optimum::Kind::file;
    optimum.file = Codec<std::string>::read(*file);
    return optimum;
  }
  throw_mismatch(v, in_words(type()));
}

Value Codec<Optimum>::write(const Optimum& optimum) {
  switch (optimum.kind) {
    case Optimum::Kind::number:
      return optimum.number == 0 ? Value("zero") : Value(optimum.number);
    case Optimum::Kind::list:
      return Codec<std::vector<double>>::write(optimum.list);
    case Optimum::Kind::file:
      return Value::Table{{"file", optimum.file}};
    case Optimum::Kind::per_sample:
      return "per-sample";
    case Optimum::Kind::estimate:
      return "estimate";
  }
  return {};
}

OptimalValues::OptimalValues(const Optimum& optimum, const Setting& setting) {
  const Block block = setting.network.block();
  values_.assign(block.size(), optimum.number);
  if (optimum.kind == Optimum::Kind::estimate) {
    estimate_.emplace(block.size());
    return;
  }
  if (optimum.kind == Optimum::Kind::number) return;
  if (setting.recursion.tracked) {
    know_average(optimum, setting);
    return;
  }
  if (optimum.kind == Optimum::Kind::per_sample) {
    minimiser_ = known_minimiser(setting, "optimum = \"per-sample\"");
    return;
  }
  const auto list = optimum.kind == Optimum::Kind::file ? read_numbers("optimum.file", optimum.file) : optimum.list;
  if (static_cast<Index>(list.size()) != setting.network.agents()) {
    throw InputError("optimum", "found " + std::to_string(list.size()) + " values, expected one for each of the " +
                                    std::to_string(setting.network.agents()) + " agents");
  }
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (!std::isfinite(list[k]))
      throw InputError("optimum", "the value of agent " + std::to_string(k) + " is not finite");
  }
  for (std::size_t k = 0; k < values_.size(); ++k) {
    values_[k] = list[block.agent(static_cast<Index>(k))];
  }
}

// Tracked values follow the network's average, whose optimum is the same for all.
void OptimalValues::know_average(const Optimum& optimum, const Setting& setting) {
  const std::string algorithm = "algorithm " + in_quotes(setting.recursion.name);
  if (optimum.kind != Optimum::Kind::per_sample) {
    throw InputError("optimum", algorithm +
                                    " tracks the network's average cost, so one number, J(w^o), is needed, not "
                                    "one for each agent");
  }
  if (setting.reference == nullptr || !setting.reference->known) {
    throw InputError(
        "optimum = \"per-sample\"",
        "is J(w^o) with " + algorithm + ", which is not known here (problem.reference = \"solve\" finds it)");
  }
  std::ranges::fill(values_, static_cast<double>(setting.reference->value));
}

std::span<const double> OptimalValues::on_sample(const Iterate& at, Network& network) {
  if (minimiser_.rows() > 0) at.oracle().values_at_point(minimiser_, values_);
  if (estimate_) {
    std::ranges::copy(estimate_->levels(), values_.begin());
    estimate_->observe(at, network);
  }
  return values_;
}

std::span<const double> OptimalValues::levels() const {
  return estimate_ ? estimate_->levels() : std::span<const double>{};
}

void OptimalValues::register_state(StateRegistry& state) {
  if (estimate_) estimate_->register_state(state);
}

Rows known_minimiser(const Setting& setting, const std::string& path) {
  if (setting.reference == nullptr || !setting.reference->minimiser) {
    throw InputError(path,
                     "needs a known minimiser w^o, and there is none here (problem.reference = \"solve\" finds one "
                     "where the cost has a minimum)");
  }
  Rows row = setting.network.zeros(1);
  write_row(*setting.reference->minimiser, row, 0);
  return row;
}

}  // namespace polyhop
