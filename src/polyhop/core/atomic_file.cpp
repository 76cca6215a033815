// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 16;
constexpr mode_t permissions = 0777;

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(path_) {
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail("cannot write", errno);
  if (exists && S_ISDIR(status.st_mode)) fail("cannot write", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (file_ < 0) fail("cannot write", errno);
    return;
  }
  if (exists) {
    // Renaming would replace a read-only file without a word.
    if (::access(path_.c_str(), W_OK) != 0) fail("cannot write", errno);
    std::error_code error;
    const auto resolved = std::filesystem::canonical(path_, error);
    if (error) fail("cannot write", error.value());
    target_ = resolved.string();
  }
  open_temporary();
  if (exists && ::fchmod(file_, status.st_mode & permissions) != 0) fail("cannot write", errno);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      buffer_(std::move(other.buffer_)),
      file_(std::exchange(other.file_, -1)) {}

AtomicFile::~AtomicFile() { discard(); }

// Not mkstemp: it ignores the umask, and the file is to be as readable as any other.
void AtomicFile::open_temporary() {
  const std::filesystem::path target(target_);
  if (target.filename().empty()) fail("cannot write", path_.empty() ? ENOENT : EISDIR);
  constexpr int attempts = 1000;
  for (int i = 0; i < attempts; ++i) {
    const std::string suffix = "." + std::to_string(::getpid()) + "." + std::to_string(i) + ".tmp";
    // A name may have 255 bytes; the beginning is enough to recognise it.
    const std::string name = "." + target.filename().string().substr(0, 200) + suffix;
    temporary_ = (target.parent_path() / name).string();
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ >= 0) return;
    if (errno != EEXIST) break;
  }
  const int error = errno;
  temporary_.clear();
  fail("cannot write", error);
}

void AtomicFile::write(std::string_view bytes) {
  require_open();
  buffer_.append(bytes);
  if (buffer_.size() >= buffer_size) flush();
}

void AtomicFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t count = ::write(file_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot write", errno);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  buffer_.clear();
}

void AtomicFile::commit() {
  require_open();
  flush();
  // A full disk may show only here, and a renamed file without its bytes would be worse than none.
  if (!temporary_.empty() && ::fsync(file_) != 0) fail("cannot write", errno);
  if (::close(std::exchange(file_, -1)) != 0) fail("cannot write", errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot replace", errno);
  temporary_.clear();
}

void AtomicFile::discard() noexcept {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void AtomicFile::require_open() const {
  if (file_ < 0) throw Error("'" + path_ + "' was written to after it had been closed");
}

void AtomicFile::fail(const std::string& what, int error) {
  discard();
  const std::string text = what + " '" + path_ + "': " + std::generic_category().message(error);
  if (is_lack_of_room(error)) throw OutputError(text);
  throw Error(text);
}

}  // namespace polyhop
