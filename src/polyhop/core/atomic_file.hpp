// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace polyhop {

/// An output file that appears completely or not at all. It is opened at once, under a temporary name beside the
/// target, so that a missing folder or missing permission shows before any work is done; `commit` flushes it to disk
/// and renames it into place. Without `commit` nothing is left behind and an older file stays as it was.
///
/// The temporary file is locked as long as its process lives. Opening a file removes temporary files that killed
/// processes of this host left in the same folder.
///
/// An existing file's permissions are kept and a symbolic link is followed. What is neither a file nor a folder
/// (/dev/null, /dev/stdout, a pipe) cannot be replaced: it is written to directly. Every failure throws Error with the
/// path and the system's reason, and discards the temporary file.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void open_temporary();
  void flush();
  void discard() noexcept;
  void require_open() const;
  [[noreturn]] void fail(const std::string& what, int error);

  std::string path_;       // as the user gave it, for messages
  std::string target_;     // the file to be replaced
  std::string temporary_;  // empty if the target is written to directly
  std::string buffer_;
  int file_ = -1;
};

}  // namespace polyhop
