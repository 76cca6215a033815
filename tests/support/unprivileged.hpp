// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <exception>
#include <filesystem>
#include <stdexcept>

namespace polyhop::test {

/// Root may read and write everything, so that a test of permissions is somebody else as long as this lives, and the
/// folder is theirs. Whoever is not root stays who they are.
class Unprivileged {
 public:
  explicit Unprivileged(const std::filesystem::path& folder) : was_root_(::geteuid() == 0) {
    if (!was_root_) return;
    constexpr uid_t nobody = 65534;
    if (::chown(folder.c_str(), nobody, nobody) != 0 || ::setresuid(nobody, nobody, 0) != 0) {
      throw std::runtime_error("cannot give up the rights of root");
    }
  }
  ~Unprivileged() {
    if (was_root_ && ::setresuid(0, 0, 0) != 0) std::terminate();
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  bool was_root_;
};

}  // namespace polyhop::test
