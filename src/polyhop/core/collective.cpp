// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/collective.hpp"

#include <array>
#include <cstring>

namespace polyhop {
namespace {

// How many numbers hold this many bytes.
std::size_t numbers_for(std::size_t bytes) { return (bytes + sizeof(double) - 1) / sizeof(double); }

}  // namespace

std::string Collective::from_first(const std::string& bytes) {
  bool is_first = false;
  std::array<double, 2> head{};  // whether anybody has spoken; how many bytes
  in_order(head, [&](std::span<double> shared) {
    is_first = shared[0] == 0;
    if (is_first) shared[0] = 1, shared[1] = static_cast<double>(bytes.size());
  });
  std::string out(static_cast<std::size_t>(head[1]), '\0');
  std::vector<double> numbers(numbers_for(out.size()));
  in_order(numbers, [&](std::span<double> shared) {
    if (is_first && !bytes.empty()) std::memcpy(shared.data(), bytes.data(), bytes.size());
  });
  if (!out.empty()) std::memcpy(out.data(), numbers.data(), out.size());
  return out;
}

std::vector<std::string> Collective::to_first(const std::string& bytes) {
  std::array<double, 2> head{};  // how many have spoken; where the next one's numbers begin
  std::size_t own = 0;
  std::size_t begin = 0;
  in_order(head, [&](std::span<double> shared) {
    own = static_cast<std::size_t>(shared[0]);
    begin = static_cast<std::size_t>(shared[1]);
    shared[0] += 1;
    shared[1] += static_cast<double>(1 + numbers_for(bytes.size()));
  });
  std::vector<double> numbers(static_cast<std::size_t>(head[1]));  // for each its length, then its bytes
  in_order(numbers, [&](std::span<double> shared) {
    shared[begin] = static_cast<double>(bytes.size());
    if (!bytes.empty()) std::memcpy(&shared[begin + 1], bytes.data(), bytes.size());
  });
  std::vector<std::string> out;
  for (std::size_t at = 0; own == 0 && at < numbers.size();) {
    std::string& text = out.emplace_back(static_cast<std::size_t>(numbers[at]), '\0');
    if (!text.empty()) std::memcpy(text.data(), &numbers[at + 1], text.size());
    at += 1 + numbers_for(text.size());
  }
  return out;
}

}  // namespace polyhop
