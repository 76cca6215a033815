// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "polyhop/problem/data_file.hpp"

namespace polyhop {

/// Which samples' features a reader keeps; the reader asks for each sample in turn.
class KeptRows {
 public:
  /// `options` must outlive this.
  explicit KeptRows(const DataFormat& options) : keep_(options.keep ? &*options.keep : nullptr) {}

  /// Whether the next sample's features are kept.
  bool next() {
    const Index sample = passed_++;
    if (keep_ == nullptr) return true;
    if (place_ == keep_->size() || (*keep_)[place_] != sample) return false;
    ++place_;
    return true;
  }
  /// How many samples it was asked about.
  [[nodiscard]] Index passed() const { return passed_; }
  /// How many of a file's samples are kept.
  [[nodiscard]] Index count(Index samples) const {
    return keep_ == nullptr ? samples : static_cast<Index>(keep_->size());
  }

 private:
  const std::vector<Index>* keep_;
  std::size_t place_ = 0;
  Index passed_ = 0;
};

}  // namespace polyhop
