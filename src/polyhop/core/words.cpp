// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/words.hpp"

#include <array>
#include <charconv>
#include <cstddef>

namespace polyhop {
namespace {

std::string written(double x, std::chars_format format, int precision) {
  std::array<char, 400> buffer{};  // the largest number has 309 digits
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x, format, precision);
  return {buffer.data(), end.ptr};
}

std::string significant_digits(double x) { return written(x, std::chars_format::general, 2); }

std::string fixed(double x, int digits) { return written(x, std::chars_format::fixed, digits); }

}  // namespace

std::string count_of(Index n, std::string_view one, std::string_view plural) {
  std::string out = std::to_string(n) + " ";
  out += n == 1 || plural.empty() ? one : plural;
  return n == 1 || !plural.empty() ? out : out + "s";
}

std::string series(const std::vector<std::string>& parts, std::string_view last) {
  std::string out;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    if (n > 0) out.append(n + 1 < parts.size() ? ", " : " " + std::string(last) + " ");
    out += parts[n];
  }
  return out;
}

std::string duration_text(double seconds) {
  if (seconds > 0 && seconds < 0.0995) return significant_digits(1000 * seconds) + " ms";
  if (!(seconds >= 9.95)) return significant_digits(seconds) + " s";
  if (seconds < 99.5) return fixed(seconds, 0) + " s";
  if (seconds < 5970) return fixed(seconds / 60, 0) + " min";
  const double hours = seconds / 3600;
  return fixed(hours, hours < 99.95 ? 1 : 0) + " h";
}

}  // namespace polyhop
