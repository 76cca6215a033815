// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/npy_input.hpp"

namespace polyhop {

/// Reads what `numpy.savez`, `numpy.savez_compressed` or NpzWriter wrote: arrays by name, and members of plain text.
/// A header is held against the bytes that are there before memory is taken for it.
/// Throws InputError with the file when it is no such archive, lacks what is asked for, or is damaged.
class NpzReader {
 public:
  struct Array {
    std::vector<Index> shape;
    std::vector<double> data;  // C order
  };

  explicit NpzReader(std::string path);
  ~NpzReader();
  NpzReader(NpzReader&&) noexcept;
  NpzReader& operator=(NpzReader&&) = delete;

  /// The arrays' names, in the archive's order.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool has(const std::string& name) const;
  /// Asks whether the memory limit allows it; the caller, who keeps it, has it counted if it is to be.
  [[nodiscard]] Array array(const std::string& name) const;
  /// The same array as a stream, for one that is not to be held twice; the reader must outlive it.
  [[nodiscard]] NpyInput stream(const std::string& name) const;

  [[nodiscard]] bool has_text(const std::string& member) const;
  /// At most 64 MB.
  [[nodiscard]] std::string text(const std::string& member) const;

 private:
  struct Archive;
  std::string path_;
  std::unique_ptr<Archive> archive_;
};

}  // namespace polyhop
