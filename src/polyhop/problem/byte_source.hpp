// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "polyhop/core/index.hpp"
#include "polyhop/core/memory_limit.hpp"

namespace polyhop {

/// The bytes of an ordinary file from beginning to end, those of a gzip file (by its first bytes) unpacked.
/// Throws InputError with the file when it cannot be read, or its gzip data are damaged or cut off.
class ByteSource {
 public:
  explicit ByteSource(const std::string& file);
  ~ByteSource();
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) = delete;

  /// Fills what it is given, less only at the end, and returns how much.
  std::size_t read(char* out, std::size_t count);
  /// The length of the whole; of a gzip file, which is unpacked only once, the most that it can be: what it says of
  /// itself may be forged.
  [[nodiscard]] std::size_t max_bytes() const;
  [[nodiscard]] bool is_packed() const;
  [[nodiscard]] const std::string& file() const;

 private:
  struct Input;
  std::unique_ptr<Input> input_;
};

/// The lines of a text file, seen in place in a buffer of some MB. Refuses what holds NUL bytes, as text does not,
/// and lines of more than 128 MB.
class LineSource {
 public:
  explicit LineSource(const std::string& file);

  /// The next line without its end (LF or CRLF) and without a byte order mark; false at the end of the file.
  bool next(std::string_view& line);
  /// Adds the following line to the one that `next` gave, with the line end between them; false when there is none.
  bool extend(std::string_view& line);
  /// Where `next` found its line, from 1.
  [[nodiscard]] Index number() const { return number_; }

  /// InputError for this line. `at`: what is wrong there, for the column; nullptr for none.
  [[noreturn]] void refuse(const std::string& message, const char* at = nullptr) const;

 private:
  [[nodiscard]] std::size_t line_end(std::size_t from);
  bool refill();

  ByteSource source_;
  MeteredVector<char> buffer_;
  std::size_t line_ = 0;   // where the current line begins
  std::size_t next_ = 0;   // where the next one does
  std::size_t end_ = 0;    // of the bytes in the buffer
  bool finished_ = false;  // the source has no more
  Index number_ = 0;
  Index extended_ = 0;  // lines that the current one has taken
};

/// InputError for a line of a data file, whose number may be larger than an error can say.
[[noreturn]] void refuse_line(const std::string& file, Index line, const std::string& message);

/// For messages: in quotes, and not longer than a line.
std::string shown(std::string_view text);

/// The number that is all of `text`, with a sign or without; false when it is none. May be infinite or NaN.
bool parse_number(std::string_view text, double& out);

/// All the lines and colons of a text file, in one fast pass: upper bounds for what it holds. Zeros for a gzip file,
/// which is unpacked only once.
struct TextCount {
  std::size_t bytes = 0;
  std::size_t lines = 0;
  std::size_t colons = 0;
};
TextCount count_text(const std::string& file);

}  // namespace polyhop
