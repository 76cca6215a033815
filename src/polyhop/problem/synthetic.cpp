// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/synthetic.hpp"

#include <utility>

#include "polyhop/core/elementary.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/random.hpp"

namespace polyhop {

Dataset synthesise(const SyntheticData& data, const Block& block, bool classes, std::uint64_t seed) {
  const Index m = data.dimension;
  Rows common(1, m);
  Stream(seed, Purpose::minimiser).normals(common.row(0));

  Dataset out;
  Rows features(block.size() * data.samples, m);
  out.offset = {0};
  Rows own(1, m);
  for (Index n = 0; n < block.size(); ++n) {
    const Index k = block.agent(n);
    Stream(seed, Purpose::minimiser_shift, k).normals(own.row(0), data.minimiser_spread);
    kernels::add_scaled(1, common.data(), own.data(), own.data(), m);
    const double factor = elementary::exp(data.scale_spread * Stream(seed, Purpose::feature_scale, k).normal());
    Stream values(seed, Purpose::features, k);
    Stream noise(seed, Purpose::noise, k);
    for (Index sample = 0; sample < data.samples; ++sample) {
      auto h = features.row(out.offset.back() + sample);
      values.normals(h, factor);
      const double y = kernels::dot(h.data(), own.data(), m) + data.noise * noise.normal();
      out.targets.push_back(classes ? (y < 0 ? -1.0 : 1.0) : y);
    }
    out.offset.push_back(out.offset.back() + data.samples);
  }
  out.features = std::move(features);
  return out;
}

}  // namespace polyhop
