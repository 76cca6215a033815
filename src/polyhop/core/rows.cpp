// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/rows.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#include "polyhop/core/error.hpp"
#include "polyhop/core/memory_limit.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace polyhop {
namespace {

// Rows of other agents are read in random order: with small pages, a large matrix costs a page walk every row or two.
constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t alignment(std::size_t bytes) {
  constexpr std::size_t cache_line = 64;
  return bytes >= 2 * huge_page ? huge_page : cache_line;
}

// Aligned by hand: glibc 2.36 (Debian 12) does not reuse aligned memory that was freed, so code that keeps making and
// dropping small rows, such as a recorder, would fill the machine. The pointer to the whole allocation is stored just
// before the data.
void* allocate_aligned(std::size_t bytes) {
  const std::size_t align = alignment(bytes);
  void* const whole = ::operator new(bytes + align);  // begins at a multiple of 16, so that a pointer fits in before it
  const auto data = (reinterpret_cast<std::uintptr_t>(whole) + align) / align * align;
  reinterpret_cast<void**>(data)[-1] = whole;
  return reinterpret_cast<void*>(data);
}

}  // namespace

void refuse_element(Element found) {
  throw Error(found == Element::float32
                  ? "these rows are of single precision: use the verbs of core/block.hpp, which take any rows, or "
                    "precision = \"double\""
                  : "these rows are of double precision, expected single");
}

Rows::Rows(Index rows, Index columns, double fill, Element element)
    : rows_(rows),
      columns_(columns),
      stride_(stride_of(columns, element)),
      element_(element),
      // As a floating-point number, which cannot overflow.
      data_(
          allocate(static_cast<double>(rows) * static_cast<double>(stride_) * static_cast<double>(bytes_of(element)))) {
  std::memset(data_, 0, static_cast<std::size_t>(bytes()));
  if (fill == 0) return;
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    for (Index r = 0; r < rows_; ++r) std::fill_n(as<T>(r), columns_, static_cast<T>(fill));
  });
}

Rows::Rows(const Rows& other)
    : rows_(other.rows_),
      columns_(other.columns_),
      stride_(other.stride_),
      element_(other.element_),
      data_(other.data_ == nullptr ? nullptr : allocate(static_cast<double>(other.bytes()))) {
  if (data_ != nullptr) std::memcpy(data_, other.data_, static_cast<std::size_t>(bytes()));
}

void* Rows::allocate(double wanted) {
  HeldMemory held(wanted);
  const auto bytes = static_cast<std::size_t>(wanted);
  void* data = allocate_aligned(bytes);
#ifdef __linux__
  // Only advice: if the kernel ignores it, nothing is lost.
  if (bytes >= 2 * huge_page) (void)madvise(data, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
  held.keep();
  return data;
}

void Rows::release(void* data, Index bytes) noexcept {
  if (data == nullptr) return;
  ::operator delete(static_cast<void**>(data)[-1]);
  return_memory(static_cast<double>(bytes));
}

}  // namespace polyhop
