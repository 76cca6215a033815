// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/index.hpp"

namespace polyhop {

/// One account for all memory of this process that grows with its input: rows, sparse features, graphs, two-hop lists,
/// recorded points. It is asked before memory is allocated, so that a file that unpacks to gigabytes is rejected by
/// name while it is read. What does not grow with the input (the program, its libraries, buffers of fixed size) is not
/// counted.
class OverMemoryLimit : public InputError {
 public:
  /// `needed`: bytes, in addition to the `held` ones.
  OverMemoryLimit(double needed, double held, double limit);
};

/// In bytes, for this process. Unless set, half of what the machine or its container has (`usable_memory`), shared
/// equally by the processes announced with `share_memory`.
double memory_limit();
void set_memory_limit(double bytes);
/// Announces that this many processes on this machine work together.
void share_memory(Index processes);

double memory_held();
/// How much can still be allocated.
double memory_left();

/// Throws OverMemoryLimit, and takes nothing, if less than that is left.
void take_memory(double bytes);
void return_memory(double bytes) noexcept;

/// "512MB", "4GB", "2GiB", "1.5g": bytes. Throws InputError for anything else, and for less than a megabyte.
double parse_memory_size(std::string_view text);
/// "1.5 GB"
std::string memory_text(double bytes);

/// For a forecast that needs more than is left: "the memory limit is 4 GB, 1 GB of it in use; raise it with
/// --memory-limit".
std::string memory_limit_text();

/// The system has no memory left, although the limit would allow more.
InputError out_of_memory();

/// Does the work; if the limit or the system has too little memory for it, throws InputError with the path of the key
/// that caused it, unless another path is known.
template <class Work>
decltype(auto) with_enough_memory(const std::string& path, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const OverMemoryLimit& e) {
    throw e.at(path, 0);
  } catch (const std::bad_alloc&) {
    throw out_of_memory().at(path, 0);
  } catch (const std::length_error&) {  // thrown by a container for an impossible size
    throw out_of_memory().at(path, 0);
  }
}

/// Memory that something else allocates, counted as long as this object lives.
class HeldMemory {
 public:
  HeldMemory() = default;
  explicit HeldMemory(double bytes) { add(bytes); }
  ~HeldMemory() { return_memory(bytes_); }
  HeldMemory(HeldMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  HeldMemory& operator=(HeldMemory&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  void add(double bytes) {
    take_memory(bytes);
    bytes_ += bytes;
  }
  /// The memory's new owner will return it.
  void keep() noexcept { bytes_ = 0; }

 private:
  double bytes_ = 0;
};

/// A standard allocator that asks the account first.
template <class T>
struct MeteredAllocator {
  using value_type = T;
  MeteredAllocator() = default;
  template <class U>
  MeteredAllocator(const MeteredAllocator<U>& /*other*/) noexcept {}  // NOLINT: allocators convert

  T* allocate(std::size_t count) {
    HeldMemory held(bytes(count));
    T* data = std::allocator<T>().allocate(count);
    held.keep();
    return data;
  }
  void deallocate(T* data, std::size_t count) noexcept {
    std::allocator<T>().deallocate(data, count);
    return_memory(bytes(count));
  }
  friend bool operator==(const MeteredAllocator& /*a*/, const MeteredAllocator& /*b*/) { return true; }

 private:
  static double bytes(std::size_t count) { return static_cast<double>(count) * sizeof(T); }
};

/// For anything that may become large.
template <class T>
using MeteredVector = std::vector<T, MeteredAllocator<T>>;

template <class T>
bool operator==(const MeteredVector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b);
}

}  // namespace polyhop
