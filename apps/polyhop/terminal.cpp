// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "command_line.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/report/text_table.hpp"

namespace polyhop::app {
namespace {

// The choice of --color, one for the process as the standard output is.
std::string& color_choice() {
  static std::string choice = "auto";
  return choice;
}

bool set_and_not_empty(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool wants_color() {
  if (color_choice() != "auto") return color_choice() == "always";
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return isatty(STDOUT_FILENO) != 0 && !dumb && !set_and_not_empty("NO_COLOR");
}

const char* code_of(Ink ink) {
  switch (ink) {
    case Ink::bold:
      return "\033[1m";
    case Ink::dim:
      return "\033[2m";
    case Ink::good:
      return "\033[32m";
    case Ink::warning:
      return "\033[33m";
    case Ink::bad:
      return "\033[31m";
  }
  return "";
}

bool muted = false;

}  // namespace

void mute() { muted = true; }

Index terminal_width() {
  winsize size{};
  return isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void add_color(Command& command) {
  command.option("--color", color_choice(), "colours: auto is on a terminal, unless NO_COLOR is set")
      .one_of({"auto", "always", "never"});
}

std::string inked(const std::string& text, Ink ink) { return wants_color() ? code_of(ink) + text + "\033[0m" : text; }

std::string duration(double seconds) {
  if (seconds < 100) return significant(seconds, 2) + " s";
  if (seconds < 6000) return fmt::format("{:.0f} min", std::ceil(seconds / 60));
  return significant(std::ceil(seconds / 360) / 10, 3) + " h";
}

void tell(const std::string& text) {
  if (muted) return;
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

void open_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) != -1) continue;
    // The lowest free number is the one that was closed.
    (void)open("/dev/null", file == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  }
}

void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw OutputError("cannot write the results to the standard output");
  }
}

}  // namespace polyhop::app
