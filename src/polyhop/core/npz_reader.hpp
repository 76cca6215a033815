// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "polyhop/core/index.hpp"
#include "polyhop/core/npy_input.hpp"

namespace polyhop {

/// Reads what `numpy.savez`, `numpy.savez_compressed` or NpzWriter wrote: arrays by name, and members of plain text. A
/// header is checked against the bytes present before memory is allocated for it. Throws InputError with the file's
/// name if it is not such an archive, lacks what is requested, or is damaged.
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
  /// Checks that the memory limit allows it; a caller who keeps the array must have it counted.
  [[nodiscard]] Array array(const std::string& name) const;
  /// The same array as a stream, to avoid holding it twice; the reader must outlive it.
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
