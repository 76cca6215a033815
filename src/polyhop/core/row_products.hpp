// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/gradients.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/rows.hpp"

namespace polyhop {

/// How each agent's row is multiplied by its row of w: by itself here; workers may also do it together.
class RowProducts {
 public:
  virtual ~RowProducts() = default;
  /// out[k] = x[k] . row k of w, for the agents of a strip. If it is the whole block, all workers call it.
  virtual void multiply(const void* const* x, const Rows& w, Strip strip, double* out) {
    with_element(w.element(), [&](auto zero) {
      kernels::dot_rows(x + strip.first, w.as<decltype(zero)>(strip.first), w.stride(), strip.last - strip.first,
                        w.columns(), out);
    });
  }
};

}  // namespace polyhop
