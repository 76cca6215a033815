// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/atomic_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 16;
constexpr mode_t permissions = 0777;

// ".HOST", as used in the names of temporary files; without dots, so that no name is a suffix of another.
std::string host_part() {
  std::array<char, 65> name{};
  ::gethostname(name.data(), name.size() - 1);
  std::string host = name.data();
  std::ranges::replace(host, '.', '-');
  return "." + host;
}

// Whether a name ends in ".HOST.PID.NUMBER.tmp", with this host.
bool is_temporary_of_this_host(std::string_view name, const std::string& host) {
  constexpr std::string_view ending = ".tmp";
  if (!name.starts_with('.') || !name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  for (int numbers = 0; numbers < 2; ++numbers) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot + 1 == name.size()) return false;
    if (name.find_first_not_of("0123456789", dot + 1) != std::string_view::npos) return false;
    name.remove_suffix(name.size() - dot);
  }
  return name.ends_with(host);
}

bool is_same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// Removes a temporary file whose lock is free: its process was killed.
void remove_if_abandoned(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat opened {};
  struct stat named {};
  // While we hold the lock, the name still belongs to this file unless somebody renamed it before releasing the lock.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &opened) == 0 &&
      ::lstat(file.c_str(), &named) == 0 && S_ISREG(opened.st_mode) && is_same_file(opened, named)) {
    ::unlink(file.c_str());
  }
  ::close(descriptor);
}

// Files of other hosts that share the disk are left alone: their locks may be invisible here.
void remove_abandoned(const std::filesystem::path& folder, const std::string& host) {
  std::error_code error;
  std::filesystem::directory_iterator at(folder.empty() ? "." : folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    if (is_temporary_of_this_host(at->path().filename().string(), host)) remove_if_abandoned(at->path().string());
  }
}

// Tells others that this process lives; the system releases the lock when the process ends, however it ends. False if a
// process that looks for abandoned files was faster. On a file system without locks nobody can find one free.
bool lock_temporary(int descriptor) {
  struct stat status {};
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  return ::fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

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
    // Renaming would silently replace a read-only file.
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

// Not mkstemp: it ignores the umask, and the file should be as readable as any other.
void AtomicFile::open_temporary() {
  const std::filesystem::path target(target_);
  if (target.filename().empty()) fail("cannot write", path_.empty() ? ENOENT : EISDIR);
  const std::string host = host_part();
  remove_abandoned(target.parent_path(), host);
  constexpr int attempts = 1000;
  for (int i = 0; i < attempts; ++i) {
    const std::string suffix = host + "." + std::to_string(::getpid()) + "." + std::to_string(i) + ".tmp";
    // A name may have 255 bytes; its beginning is enough to recognise it.
    const std::string name = "." + target.filename().string().substr(0, 150) + suffix;
    temporary_ = (target.parent_path() / name).string();
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ >= 0 && lock_temporary(file_)) return;
    if (file_ < 0 && errno != EEXIST) break;
    if (file_ >= 0) ::close(std::exchange(file_, -1));
    errno = EEXIST;
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
  // Renamed while still open and locked: nobody takes it for an abandoned one.
  if (!temporary_.empty() && std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot replace", errno);
  temporary_.clear();
  if (::close(std::exchange(file_, -1)) != 0) fail("cannot write", errno);
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
