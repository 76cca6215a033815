// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/rows.hpp"

#include <new>

#include "polyhop/core/memory_limit.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace polyhop {
namespace {

// Rows of other agents are read in no order: on small pages a large matrix costs a page walk for every row or two.
constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t bytes_of(Index count) { return static_cast<std::size_t>(count) * sizeof(Real); }

std::align_val_t alignment(std::size_t bytes) {
  constexpr std::size_t cache_line = 64;
  return std::align_val_t{bytes >= 2 * huge_page ? huge_page : cache_line};
}

}  // namespace

Real* Rows::allocate(Index rows, Index stride) {
  // As a number that cannot overflow.
  HeldMemory held(static_cast<double>(rows) * static_cast<double>(stride) * sizeof(Real));
  const std::size_t bytes = bytes_of(rows * stride);
  void* data = ::operator new(bytes, alignment(bytes));
#ifdef __linux__
  // Advice: where the kernel does not take it, nothing is lost.
  if (bytes >= 2 * huge_page) (void)madvise(data, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
  held.keep();
  return static_cast<Real*>(data);
}

void Rows::release(Real* data, Index count) noexcept {
  ::operator delete(data, alignment(bytes_of(count)));
  return_memory(static_cast<double>(bytes_of(count)));
}

}  // namespace polyhop
