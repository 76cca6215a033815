// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace polyhop {

/// One guarantee, checked on this machine.
struct SelfTest {
  std::string promise;
  bool kept = false;
  std::string found;  // what was seen instead; empty if it holds
};

/// Checks the bits where they could differ: exp, log and random numbers, the kernels chosen on this machine, and a
/// small run on one and on two threads. Takes well under a second.
std::vector<SelfTest> self_test();

}  // namespace polyhop
