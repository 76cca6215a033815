// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace polyhop {

/// A number that almost certainly differs if what was added differs: FNV-1a over the bytes, which needs no library and
/// never changes. Not a defence against forgery.
class Fingerprint {
 public:
  explicit Fingerprint(std::uint64_t start = 0xcbf29ce484222325U) : hash_(start) {}

  void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
  }
  void add(std::integral auto number) {
    auto bits = static_cast<std::uint64_t>(number);
    for (int byte = 0; byte < 8; ++byte, bits >>= 8) add_byte(bits & 0xff);
  }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
  void add(std::span<const double> numbers) {
    for (const double x : numbers) add(x);
  }

  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  void add_byte(std::uint64_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3U; }

  std::uint64_t hash_;
};

inline std::string hexadecimal(std::uint64_t bits) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(bits >> shift) & 15U];
  return text;
}

}  // namespace polyhop
