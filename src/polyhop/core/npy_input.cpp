// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/npy_input.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "polyhop/core/error.hpp"
#include "polyhop/core/value.hpp"

namespace polyhop {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_header = 65536;
constexpr std::size_t chunk_size = std::size_t{1} << 18;

/// A header's dictionary, read from left to right: {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool take(std::string_view token) {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  bool at_end() { return take("") && rest_.empty(); }

  /// Text in quotes of either kind, without escapes.
  bool take_text(std::string& out) {
    const char quote = take("'") ? '\'' : '"';
    if (quote == '"' && !take("\"")) return false;
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) return false;
    out = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool take_shape(std::vector<Index>& shape) {
    if (!take("(")) return false;
    while (!take(")")) {
      Index n = 0;
      const auto [end, error] = (take(""), std::from_chars(rest_.data(), rest_.data() + rest_.size(), n));
      if (error != std::errc{} || n < 0) return false;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      shape.push_back(n);
      take("L");  // NumPy under Python 2
      if (!take(",") && !rest_.starts_with(")")) return false;
    }
    return true;
  }

 private:
  std::string_view rest_;
};

template <class T>
void decode(const char* bytes, bool swapped, std::span<double> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::array<char, sizeof(T)> raw{};
    std::memcpy(raw.data(), bytes + i * sizeof(T), sizeof(T));
    if (swapped) std::reverse(raw.begin(), raw.end());
    if constexpr (std::is_same_v<T, bool>) {
      out[i] = raw[0] != 0 ? 1 : 0;
    } else {
      out[i] = static_cast<double>(std::bit_cast<T>(raw));
    }
  }
}

using Decoder = void (*)(const char*, bool, std::span<double>);

/// nullptr for a type that is not supported.
Decoder decoder(char kind, std::size_t width) {
  switch (kind) {
    case 'b':
      return width == 1 ? decode<bool> : nullptr;
    case 'f':
      return width == 4 ? decode<float> : width == 8 ? decode<double> : nullptr;
    case 'i':
      return width == 1   ? decode<std::int8_t>
             : width == 2 ? decode<std::int16_t>
             : width == 4 ? decode<std::int32_t>
             : width == 8 ? decode<std::int64_t>
                          : nullptr;
    case 'u':
      return width == 1   ? decode<std::uint8_t>
             : width == 2 ? decode<std::uint16_t>
             : width == 4 ? decode<std::uint32_t>
             : width == 8 ? decode<std::uint64_t>
                          : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

NpyInput::NpyInput(Read read, Length length, std::string what)
    : read_(std::move(read)), what_(std::move(what)), known_length_(length.known) {
  static_assert(std::endian::native == std::endian::little, "numbers stand in memory as they do in most files");
  parse(header());
  Index needed = 0;
  bool fits = true;
  for (const Index n : shape_) fits = fits && !__builtin_mul_overflow(count_, n, &count_);
  fits = fits && !__builtin_mul_overflow(count_, static_cast<Index>(width_), &needed);
  const std::size_t rest = length.bytes - std::min(length.bytes, header_bytes_);
  const auto wanted = static_cast<std::size_t>(needed);
  if (!fits || (known_length_ ? wanted != rest : wanted > rest)) {
    refuse("has a shape that asks for " + (fits ? std::to_string(needed) : "too many") + " bytes of numbers, found " +
           (known_length_ ? "" : "at most ") + std::to_string(rest));
  }
  unread_ = static_cast<std::size_t>(count_);
}

void NpyInput::refuse(const std::string& message) const { throw InputError("", what_ + " " + message); }

std::string NpyInput::header() {
  std::array<char, 12> prefix{};
  if (read_(prefix.data(), 10) != 10 || std::string_view(prefix.data(), magic.size()) != magic) {
    refuse("is not a NumPy array");
  }
  const int version = prefix[6];
  if (version < 1 || version > 3) refuse("has the format " + std::to_string(version) + ", expected 1 to 3");
  const std::size_t digits = version == 1 ? 2 : 4;  // bytes of the header's length
  if (digits == 4 && read_(prefix.data() + 10, 2) != 2) refuse("ends inside its header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(prefix[8 + i])) << (8 * i);
  }
  if (length > max_header) refuse("has a header of " + std::to_string(length) + " bytes, expected at most 65536");
  std::string text(length, '\0');
  if (read_(text.data(), length) != length) refuse("ends inside its header");
  header_bytes_ = 8 + digits + length;
  return text;
}

void NpyInput::parse(const std::string& text) {
  Scanner scan(text);
  bool good = scan.take("{");
  std::string key;
  std::string descr;
  bool has_order = false;
  bool has_shape = false;
  while (good && !scan.take("}")) {
    good = scan.take_text(key) && scan.take(":");
    if (good && key == "descr") {
      // A list describes a record of several fields.
      if (!scan.take_text(descr)) refuse("holds records, expected numbers");
    } else if (good && key == "fortran_order") {
      fortran_order_ = scan.take("True");
      good = has_order = fortran_order_ || scan.take("False");
    } else if (good && key == "shape") {
      shape_.clear();
      good = has_shape = scan.take_shape(shape_);
    } else {
      good = false;
    }
    scan.take(",");
  }
  if (!good || !has_order || !has_shape || !scan.at_end()) refuse("has a header that is not NumPy's");
  parse_type(descr);
}

void NpyInput::parse_type(const std::string& descr) {
  std::string_view type = descr;
  if (!type.empty() && std::string_view("<>|=").find(type.front()) != std::string_view::npos) {
    swapped_ = type.front() == '>';
    type.remove_prefix(1);
  }
  kind_ = type.empty() ? '?' : type.front();
  width_ = 0;
  const char* end = type.data() + type.size();
  const bool whole = !type.empty() && std::from_chars(type.data() + 1, end, width_).ptr == end;
  if (!whole || decoder(kind_, width_) == nullptr) {
    refuse("has the type " + in_quotes(descr) + ", expected booleans, integers or floats of 4 or 8 bytes");
  }
}

void NpyInput::read(std::span<double> out) {
  const Decoder decode_numbers = decoder(kind_, width_);
  if (buffer_.empty()) buffer_.resize(chunk_size);
  while (!out.empty()) {
    const std::size_t count = std::min(out.size(), buffer_.size() / width_);
    if (read_(buffer_.data(), count * width_) != count * width_) refuse("ends too early");
    decode_numbers(buffer_.data(), swapped_, out.first(count));
    out = out.subspan(count);
    unread_ -= std::min(unread_, count);
  }
  char more = 0;
  if (!known_length_ && unread_ == 0 && read_(&more, 1) != 0) refuse("continues after the last number of its shape");
}

}  // namespace polyhop
