// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "polyhop/core/kernels.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/core/state.hpp"

namespace polyhop {

/// wbar <- wbar + 4/(i+4) (w - wbar) after iteration i = 0, 1, ...: an average that forgets the start, for any
/// algorithm and rule. No communication.
class AveragedIterate {
 public:
  explicit AveragedIterate(Rows start) : average_(std::move(start)) {}
  void update(Index i, const Rows& w) {
    const Real share = 4.0 / static_cast<Real>(i + 4);
    for (Index k = 0; k < w.rows(); ++k) {
      Real* average = average_.row(k).data();
      kernels::scale(1 - share, average, average, w.columns());
      kernels::add_scaled(share, w.row(k).data(), average, average, w.columns());
    }
  }
  [[nodiscard]] const Rows& models() const { return average_; }
  void register_state(StateRegistry& state) { state.rows("averaged", average_); }

 private:
  Rows average_;
};

}  // namespace polyhop
