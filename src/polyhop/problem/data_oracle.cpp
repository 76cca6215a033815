// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/data_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace polyhop {

DataOracle::DataOracle(const DataProblem& problem, Block block, Sampler sampler)
    : problem_(problem), block_(block), sampler_(std::move(sampler)) {
  targets_.resize(sampler_.total());
  scaled_.resize(together * kernels::strip);
}

void DataOracle::draw(Index i) {
  sampler_.draw(i);
  for (Index k = 0; k < block_.size(); ++k) {
    double* targets = targets_.data() + sampler_.offset(k);
    for (const Index n : batch(k)) *targets++ = problem_.data().targets[sample(k, n)];
  }
}

bool DataOracle::smoothness(std::span<double> out) {
  const double curvature = problem_.max_curvature();
  if (!std::isfinite(curvature)) return false;
  for (Index k = 0; k < block_.size(); ++k) {
    double sum = 0;
    for (const Index n : batch(k)) sum += problem_.squared_norm(sample(k, n));
    const double mean = curvature * sum / static_cast<double>(std::max<Index>(1, batch_size(k)));
    out[k] = weight(k) * mean + problem_.penalty_curvature();
  }
  return true;
}

void DataOracle::prepare(Evaluation& out, bool written) const {
  const auto agents = static_cast<std::size_t>(block_.size());
  out.values.resize(agents);
  out.gradients.columns = problem_.dimension();
  out.gradients.element = problem_.element();
  out.gradients.row.resize(agents);
  out.gradients.scale.assign(agents, 1.0);
  if (!written) return;
  out.written = Rows(block_.size(), out.gradients.columns, 0, problem_.element());
  for (Index k = 0; k < block_.size(); ++k) out.gradients.row[k] = out.written.place(k);
}

}  // namespace polyhop
