// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// One NumPy array (.npy, format 1 to 3) read number by number: booleans, integers and floats of 4 or 8 bytes, in
/// either byte order. Rejected unless the stream has exactly the bytes that its shape requires: checked at the header
/// if the length is known, otherwise at the last number.
class NpyInput {
 public:
  /// Fills the buffer, less only at the end, and returns how much.
  using Read = std::function<std::size_t(char*, std::size_t)>;

  /// The length of the whole stream or, if unknown, an upper bound.
  struct Length {
    std::size_t bytes = 0;
    bool known = true;
  };

  /// `what` begins every message: "the array 'x'". Throws InputError without a file name, which the caller adds.
  NpyInput(Read read, Length length, std::string what);

  [[nodiscard]] const std::vector<Index>& shape() const { return shape_; }
  [[nodiscard]] bool fortran_order() const { return fortran_order_; }
  /// All the numbers.
  [[nodiscard]] Index count() const { return count_; }
  /// The next numbers, in the file's order.
  void read(std::span<double> out);

 private:
  std::string header();
  void parse(const std::string& text);
  void parse_type(const std::string& descr);
  [[noreturn]] void refuse(const std::string& message) const;

  Read read_;
  std::string what_;
  std::vector<Index> shape_;
  bool fortran_order_ = false;
  char kind_ = 'f';        // b, i, u, f, as in NumPy
  bool swapped_ = false;   // big-endian
  std::size_t width_ = 8;  // bytes per number
  Index count_ = 1;
  std::size_t unread_ = 0;  // numbers
  bool known_length_;
  std::size_t header_bytes_ = 0;
  std::vector<char> buffer_;
};

}  // namespace polyhop
