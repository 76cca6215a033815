// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace polyhop {

/// Anything polyhop rejects or cannot do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bad configuration or data: where (file, line, field path), what was found, what is allowed. `what()` reads
/// "file:line: path: message", without the parts that are not known; several errors take a line each.
class InputError : public Error {
 public:
  InputError(std::string path, std::string message, int line = 0, std::string file = {});
  /// Several errors, reported together, in order. At least one.
  explicit InputError(const std::vector<InputError>& errors);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] int line() const { return line_; }
  /// All errors, each by itself.
  [[nodiscard]] std::vector<InputError> all() const;
  /// The same error with its origin added; what is already known stays.
  [[nodiscard]] InputError in_file(const std::string& file) const;
  [[nodiscard]] InputError at(const std::string& path, int line) const;

 private:
  std::string path_;
  std::string message_;
  std::string file_;
  int line_;
  std::vector<InputError> others_;
};

/// Nowhere left to write: a full disk, a quota, a limit on file sizes.
class OutputError : public Error {
 public:
  using Error::Error;
};

/// Whether an error number of the operating system means that.
bool is_lack_of_room(int error);

/// The candidate nearest to `name` by edit distance, whatever its case, or else the only one that begins with it; "" if
/// none is near enough to be a typo.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

/// "; did you mean 'x'?" or, if nothing is near, "; allowed: a, b, c", or another word for what the candidates are. All
/// are quoted if one of them has blanks or commas.
std::string suggestion(std::string_view name, std::span<const std::string> candidates,
                       std::string_view they_are = "allowed");

}  // namespace polyhop
