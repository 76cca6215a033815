// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "polyhop/core/memory_limit.hpp"

namespace polyhop {

/// While it lives, the memory limit is so many bytes, whatever the machine has.
class MemoryScope {
 public:
  explicit MemoryScope(double bytes) { set_memory_limit(bytes); }
  ~MemoryScope() { set_memory_limit(0); }
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;
};

}  // namespace polyhop
