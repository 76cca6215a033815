// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/tuned_step.hpp"

namespace polyhop {

const FieldTable<TunedStep>& TunedStep::fields() {
  static const auto table =
      FieldTable<TunedStep>().add("factor", &TunedStep::factor, "the step is this times the best constant", {above(0)});
  return table;
}

}  // namespace polyhop
