// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/gnuplot.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <system_error>

#include "polyhop/core/error.hpp"
#include "polyhop/report/text_table.hpp"

namespace polyhop {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail(const std::string& what, int error) {
  const std::string text = "cannot " + what + " for gnuplot: " + std::generic_category().message(error);
  if (is_lack_of_room(error)) throw OutputError(text + "; make room, or set TMPDIR to where there is some");
  throw Error(text);
}

// Files without names, not pipes: a program that reads and writes in its own order cannot block on them.
File scratch_file() {
  File file(std::tmpfile());
  if (!file) fail("make a temporary file", errno);
  return file;
}

std::string contents(std::FILE* file) {
  std::rewind(file);
  std::string out;
  std::array<char, 1 << 16> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file)) out.append(buffer.data(), count);
  if (std::ferror(file) != 0) fail("read what gnuplot wrote", errno);
  return out;
}

/// Which files a program starts with.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  void give(std::FILE* file, int as) { posix_spawn_file_actions_adddup2(&actions_, ::fileno(file), as); }
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

pid_t start_gnuplot(std::FILE* in, std::FILE* out, std::FILE* messages) {
  FileActions actions;
  actions.give(in, STDIN_FILENO);
  actions.give(out, STDOUT_FILENO);
  actions.give(messages, STDERR_FILENO);
  std::string name = "gnuplot";
  std::string no_settings = "-d";
  std::array<char*, 3> arguments = {name.data(), no_settings.data(), nullptr};
  pid_t id = 0;
  const int error = ::posix_spawnp(&id, name.c_str(), actions.get(), nullptr, arguments.data(), environ);
  if (error == ENOENT) {
    throw Error("figures are drawn by gnuplot, which is not on PATH; install it: apt-get install gnuplot-nox");
  }
  if (error != 0) fail("start gnuplot", error);
  return id;
}

int exit_status(pid_t id) {
  int status = 0;
  while (::waitpid(id, &status, 0) < 0) {
    if (errno != EINTR) fail("wait for gnuplot", errno);
  }
  return status;
}

// The last of its words: before them it repeats what it read.
std::string last_lines(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : "..." + text.substr(text.size() - most);
}

}  // namespace

std::string gnuplot_output(const std::string& script) {
  const File in = scratch_file();
  const File out = scratch_file();
  const File messages = scratch_file();
  if (std::fwrite(script.data(), 1, script.size(), in.get()) != script.size() || std::fflush(in.get()) != 0) {
    fail("write a temporary file", errno);
  }
  std::rewind(in.get());
  const int status = exit_status(start_gnuplot(in.get(), out.get(), messages.get()));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw Error("gnuplot failed: " + last_lines(contents(messages.get()), 500));
  }
  return contents(out.get());
}

// A quote stands in a string of its own: gnuplot 5.4 misreads two of them in a row at either end of a string.
std::string gnuplot_string(std::string_view text) {
  std::string shown = printable(text);
  // gnuplot writes ]]> into an SVG as it is, where XML does not allow it: a space without width keeps it apart.
  for (std::size_t at = shown.find("]]>"); at != std::string::npos; at = shown.find("]]>", at)) {
    shown.insert(at + 2, "\u200b");
  }
  std::string out = "('";
  for (const char c : shown) out += c == '\'' ? std::string("'.\"'\".'") : std::string(1, c);
  return out + "')";
}

}  // namespace polyhop
