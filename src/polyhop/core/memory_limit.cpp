// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/memory_limit.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "polyhop/core/machine.hpp"

namespace polyhop {
namespace {

std::atomic<std::int64_t> held_bytes = 0;
std::atomic<double> limit_bytes = 0;  // 0: not set
std::atomic<Index> sharing = 1;

// For systems that do not say how much memory there is.
constexpr double some_memory = 4e9;

std::string limit_text(double held, double limit) {
  return "the memory limit is " + memory_text(limit) + (held > 0 ? ", " + memory_text(held) + " of it in use" : "") +
         "; raise it with --memory-limit";
}

}  // namespace

OverMemoryLimit::OverMemoryLimit(double needed, double held, double limit)
    : InputError("", "needs " + memory_text(needed) + " more; " + limit_text(held, limit) +
                         ", or use fewer agents, samples or features") {}

double memory_limit() {
  const double set = limit_bytes;
  if (set > 0) return set;
  static const double all = usable_memory();
  return (all > 0 ? all : some_memory) / 2 / static_cast<double>(sharing.load());
}

void share_memory(Index processes) { sharing = std::max<Index>(1, processes); }

void set_memory_limit(double bytes) { limit_bytes = bytes; }

double memory_held() { return static_cast<double>(held_bytes.load()); }

double memory_left() { return std::max(0.0, memory_limit() - memory_held()); }

void take_memory(double bytes) {
  const double limit = memory_limit();
  // Compared first: an impossible size must not overflow the sum.
  if (bytes > limit) throw OverMemoryLimit(bytes, memory_held(), limit);
  const auto more = static_cast<std::int64_t>(bytes);
  const std::int64_t before = held_bytes.fetch_add(more);
  if (static_cast<double>(before) + bytes <= limit) return;
  held_bytes -= more;
  throw OverMemoryLimit(bytes, static_cast<double>(before), limit);
}

void return_memory(double bytes) noexcept { held_bytes -= static_cast<std::int64_t>(bytes); }

double parse_memory_size(std::string_view text) {
  constexpr double least = 1e6;
  constexpr double most = 1e18;
  const auto refuse = [&] {
    throw InputError("",
                     "found '" + std::string(text) + "', expected a size of at least 1MB, such as 512MB, 4GB or 2GiB");
  };
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{}) refuse();
  std::string unit(at, end);
  unit.erase(0, unit.find_first_not_of(' '));
  std::ranges::transform(unit, unit.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (unit.size() > 1 && unit.ends_with('b')) unit.pop_back();
  const bool binary = unit.size() == 2 && unit.ends_with('i');
  if (binary) unit.pop_back();
  constexpr std::string_view letters = "kmgt";
  const std::size_t power = unit.size() == 1 ? letters.find(unit.front()) : std::string_view::npos;
  if (power == std::string_view::npos) refuse();
  const double bytes = number * std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
  if (!(bytes >= least && bytes <= most)) refuse();
  return bytes;
}

std::string memory_text(double bytes) {
  constexpr std::array units = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%.3g ", bytes);
  return std::string(number.data()) + units[unit];
}

std::string memory_limit_text() { return limit_text(memory_held(), memory_limit()); }

InputError out_of_memory() {
  return {"", "the system has no memory left for it (" + memory_text(memory_held()) + " in use, the limit is " +
                  memory_text(memory_limit()) + "); end other programs, or use fewer agents, samples or features"};
}

}  // namespace polyhop
