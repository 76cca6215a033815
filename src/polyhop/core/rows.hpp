// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// The number type of a row. Only what fills rows has a choice: models, gradients, mail, features. Steps, losses, sums
/// and decisions are double.
enum class Element : std::uint8_t { float64, float32 };
template <class T>
inline constexpr Element element_of = std::is_same_v<T, float> ? Element::float32 : Element::float64;
constexpr Index bytes_of(Element element) { return element == Element::float32 ? 4 : 8; }

/// work(x), with x a zero of the number type: the one place where a type is chosen at run time.
template <class Work>
decltype(auto) with_element(Element element, Work&& work) {
  return element == Element::float32 ? work(float{}) : work(double{});
}

/// The shape of vectors: how many numbers, of which type.
struct VectorType {
  VectorType(Index numbers, Element of = Element::float64) : columns(numbers), element(of) {}  // NOLINT: a length alone
  Index columns;
  Element element;
};

/// Throws Error: the rows have another number type than their reader expects.
[[noreturn]] void refuse_element(Element found);

/// A row-major matrix with one agent (or one sample) per row: the shape of all state in polyhop. Every row starts on a
/// cache line and is followed by zeros up to the next one, which kernels read and leave zero. Its memory counts against
/// `memory_limit()`: creating one may throw OverMemoryLimit. `row`, `data` and `()` are for rows of double, and throw
/// for others; the operations in block.hpp are for all.
class Rows {
 public:
  static constexpr Index line_bytes = 64;
  /// Numbers per cache line: rows are padded to a multiple of this.
  static constexpr Index line_of(Element element) { return line_bytes / bytes_of(element); }
  static constexpr Index line = line_bytes / bytes_of(Element::float64);
  static constexpr Index padded(Index columns, Element element = Element::float64) {
    return (columns + line_of(element) - 1) / line_of(element) * line_of(element);
  }
  /// From one row to the next: a line more where the same columns of all rows would share few sets of a cache.
  static constexpr Index stride_of(Index columns, Element element) {
    constexpr Index crowded = 8;
    const Index numbers = padded(columns, element);
    return numbers / line_of(element) % crowded == 0 ? numbers + line_of(element) : numbers;
  }

  Rows() = default;
  Rows(Index rows, Index columns, double fill = 0, Element element = Element::float64);
  Rows(const Rows& other);
  Rows(Rows&& other) noexcept { swap(*this, other); }
  Rows& operator=(Rows other) noexcept {
    swap(*this, other);
    return *this;
  }
  ~Rows() { release(data_, bytes()); }

  /// This many rows of zeros, of the same length and number type.
  [[nodiscard]] Rows zeros(Index rows) const { return {rows, columns_, 0, element_}; }

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index columns() const { return columns_; }
  [[nodiscard]] Index stride() const { return stride_; }
  [[nodiscard]] Element element() const { return element_; }
  [[nodiscard]] Index bytes() const { return rows_ * stride_ * bytes_of(element_); }

  [[nodiscard]] double* data() { return as<double>(); }
  [[nodiscard]] const double* data() const { return as<double>(); }
  [[nodiscard]] std::span<double> row(Index r) { return {as<double>(r), static_cast<std::size_t>(columns_)}; }
  [[nodiscard]] std::span<const double> row(Index r) const {
    return {as<double>(r), static_cast<std::size_t>(columns_)};
  }
  double& operator()(Index r, Index c) { return as<double>(r)[c]; }
  double operator()(Index r, Index c) const { return as<double>(r)[c]; }

  /// Where row r begins, for rows of T.
  template <class T>
  [[nodiscard]] T* as(Index r = 0) {
    if (element_ != element_of<T>) refuse_element(element_);
    return static_cast<T*>(data_) + r * stride_;
  }
  template <class T>
  [[nodiscard]] const T* as(Index r = 0) const {
    if (element_ != element_of<T>) refuse_element(element_);
    return static_cast<const T*>(data_) + r * stride_;
  }
  /// The same for any number type.
  [[nodiscard]] void* place(Index r) { return static_cast<std::byte*>(data_) + r * stride_ * bytes_of(element_); }
  [[nodiscard]] const void* place(Index r) const {
    return static_cast<const std::byte*>(data_) + r * stride_ * bytes_of(element_);
  }

  friend void swap(Rows& a, Rows& b) noexcept {
    std::swap(a.rows_, b.rows_);
    std::swap(a.columns_, b.columns_);
    std::swap(a.stride_, b.stride_);
    std::swap(a.element_, b.element_);
    std::swap(a.data_, b.data_);
  }

 private:
  static void* allocate(double bytes);
  static void release(void* data, Index bytes) noexcept;

  Index rows_ = 0;
  Index columns_ = 0;
  Index stride_ = 0;
  Element element_ = Element::float64;
  void* data_ = nullptr;
};

}  // namespace polyhop
