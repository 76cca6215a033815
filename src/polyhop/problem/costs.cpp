// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/costs.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "polyhop/core/error.hpp"

namespace polyhop {

std::vector<Index> agents_of(Block block) {
  std::vector<Index> out;
  for (Index k = 0; k < block.size(); ++k) out.push_back(block.agent(k));
  return out;
}

AllSamples::AllSamples(const Costs& costs, std::span<const Index> owners) {
  Index most = 0;
  for (const Index agent : owners) {
    const Index samples = costs.samples(agent);
    if (samples >= endless_samples) {
      throw Error("agent " + std::to_string(agent) +
                  " has infinitely many samples, so there is no mean over all of them");
    }
    most = std::max(most, samples);
  }
  numbers_.resize(most);
  std::iota(numbers_.begin(), numbers_.end(), Index{0});
  for (const Index agent : owners) {
    batches_.push_back(std::span(numbers_).first(costs.samples(agent)));
  }
}

}  // namespace polyhop
