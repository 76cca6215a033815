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

/// The bytes of an ordinary file from beginning to end; a gzip file (recognised by its first bytes) is unpacked. Throws
/// InputError with the file's name if it cannot be read, or if its gzip data are damaged or cut off.
class ByteSource {
 public:
  explicit ByteSource(const std::string& file);
  ~ByteSource();
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) = delete;

  /// Fills the buffer, except at the end of the file, and returns how many bytes it read.
  std::size_t read(char* out, std::size_t count);
  /// The length of the content. For a gzip file, which is unpacked only once, it is an upper bound, because the length
  /// that the file states may be forged.
  [[nodiscard]] std::size_t max_bytes() const;
  [[nodiscard]] bool is_packed() const;
  [[nodiscard]] const std::string& file() const;

 private:
  struct Input;
  std::unique_ptr<Input> input_;
};

/// The lines of a text file, seen in place in a buffer of some MB. Rejects files with NUL bytes, which are not text,
/// and lines of more than 128 MB.
class LineSource {
 public:
  explicit LineSource(const std::string& file);

  /// The next line without its end (LF or CRLF) and without a byte order mark; false at the end of the file.
  bool next(std::string_view& line);
  /// Adds the next line to the one that `next` gave, with the line end between them; false if there is none.
  bool extend(std::string_view& line);
  /// The number of the line that `next` found, from 1.
  [[nodiscard]] Index number() const { return number_; }

  /// Throws InputError for this line. `at`: the place of the error, for the column; nullptr if there is none.
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
  Index extended_ = 0;  // lines that the current one spans
};

/// Throws InputError for a line of a data file, whose number may be too large for an error's line field.
[[noreturn]] void refuse_line(const std::string& file, Index line, const std::string& message);

/// For messages: in quotes, cut to one line.
std::string shown(std::string_view text);

/// Reads all of `text`, with or without a sign, as a number, which may be infinite or NaN; false if it is not a number.
bool parse_number(std::string_view text, double& out);

/// All the lines and colons of a text file, counted in one fast pass: upper bounds for what it holds. Zeros for a gzip
/// file, which is unpacked only once.
struct TextCount {
  std::size_t bytes = 0;
  std::size_t lines = 0;
  std::size_t colons = 0;
};
TextCount count_text(const std::string& file);

}  // namespace polyhop
