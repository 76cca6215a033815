// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/problem.hpp"

namespace polyhop {

Reference unknown_reference(const std::string& why) {
  Reference reference;
  reference.known = false;
  reference.how = "unknown: " + why + "; excess risk is the risk itself";
  return reference;
}

Reference Problem::minimise(Collective& /*collective*/, const Block& /*here*/) const {
  return unknown_reference("this problem does not say where its minimum is");
}

}  // namespace polyhop
