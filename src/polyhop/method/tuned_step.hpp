// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/fields.hpp"

namespace polyhop {

/// mu_k = factor * (the best constant, found by a search over whole runs). A name for an experiment's file: the
/// experiment puts a ConstantStep in its place before anything runs, so there is no rule to build.
struct TunedStep {
  Real factor = 1;
  static const FieldTable<TunedStep>& fields();
};

}  // namespace polyhop
