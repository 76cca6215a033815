// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "polyhop/core/collective.hpp"

namespace polyhop {

/// The collective of a single worker.
class SerialCollective : public Collective {
 public:
  void in_order(std::span<double> numbers, const std::function<void(std::span<double>)>& turn) override {
    std::ranges::fill(numbers, 0.0);
    turn(numbers);
  }
  void gather(std::span<const Index> rows, std::span<const double> mine, std::span<double> all) override {
    if (rows.empty()) return;
    const std::size_t width = mine.size() / rows.size();
    for (std::size_t n = 0; n < rows.size(); ++n) {
      std::ranges::copy(mine.subspan(n * width, width), all.begin() + rows[n] * static_cast<Index>(width));
    }
  }
  void scatter(std::span<const Index> rows, std::span<double> mine, std::span<const double> all) override {
    if (rows.empty()) return;
    const std::size_t width = mine.size() / rows.size();
    for (std::size_t n = 0; n < rows.size(); ++n) {
      std::ranges::copy(all.subspan(static_cast<std::size_t>(rows[n]) * width, width),
                        mine.begin() + static_cast<Index>(n * width));
    }
  }
  [[nodiscard]] std::string from_first(const std::string& bytes) override { return bytes; }
  [[nodiscard]] std::vector<std::string> to_first(const std::string& bytes) override { return {bytes}; }
};

}  // namespace polyhop
