// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/rows.hpp"

#include <cstdint>
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

std::size_t alignment(std::size_t bytes) {
  constexpr std::size_t cache_line = 64;
  return bytes >= 2 * huge_page ? huge_page : cache_line;
}

// Aligned by hand: memory that glibc 2.36 (Debian 12) aligned and got back it does not give out again, so that whoever
// makes and drops small rows for ever, such as a recorder, would fill the machine. Before the memory stands where the
// whole of it begins.
void* allocate_aligned(std::size_t bytes) {
  const std::size_t align = alignment(bytes);
  void* const whole = ::operator new(bytes + align);  // begins at a multiple of 16, so that a pointer fits in between
  const auto data = (reinterpret_cast<std::uintptr_t>(whole) + align) / align * align;
  reinterpret_cast<void**>(data)[-1] = whole;
  return reinterpret_cast<void*>(data);
}

}  // namespace

Real* Rows::allocate(Index rows, Index stride) {
  // As a number that cannot overflow.
  HeldMemory held(static_cast<double>(rows) * static_cast<double>(stride) * sizeof(Real));
  const std::size_t bytes = bytes_of(rows * stride);
  void* data = allocate_aligned(bytes);
#ifdef __linux__
  // Advice: where the kernel does not take it, nothing is lost.
  if (bytes >= 2 * huge_page) (void)madvise(data, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
  held.keep();
  return static_cast<Real*>(data);
}

void Rows::release(Real* data, Index count) noexcept {
  if (data == nullptr) return;
  ::operator delete(reinterpret_cast<void**>(data)[-1]);
  return_memory(static_cast<double>(bytes_of(count)));
}

}  // namespace polyhop
