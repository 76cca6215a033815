// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

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

// COLUMNS, else the columns of the terminal that `file` is, else as many as most have.
Index width_for(int file) {
  constexpr Index usual = 80;
  const char* said = std::getenv("COLUMNS");
  const std::string_view text = said != nullptr ? said : "";
  Index columns = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size() && columns > 0) return columns;
  winsize size{};
  const bool known = isatty(file) != 0 && ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : usual;
}

bool muted = false;

}  // namespace

void mute() { muted = true; }

Index output_width() { return width_for(STDOUT_FILENO); }

Index error_width() { return width_for(STDERR_FILENO); }

bool wants_color() {
  if (color_choice() != "auto") return color_choice() == "always";
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return isatty(STDOUT_FILENO) != 0 && !dumb && !set_and_not_empty("NO_COLOR");
}

void add_color(Command& command) {
  command.option("--color", color_choice(), "when to use colours; auto: on a terminal, unless NO_COLOR is set")
      .one_of({"auto", "always", "never"});
}

std::string inked(const std::string& text, Ink ink) { return wants_color() ? colored(text, ink) : text; }

void say(const std::string& text, Index indent) { fmt::print("{}", paragraph(text, output_width(), indent)); }

void say_inked(const std::string& text, Ink ink) {
  for (const std::string& line : wrapped(text, output_width())) fmt::print("{}\n", inked(line, ink));
}

void tell(const std::string& text) {
  if (muted) return;
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

std::string complaint(const std::string& text, const std::vector<std::string>& whole) {
  std::vector<std::string> names;
  for (const std::string& name : whole) names.push_back(printable(name));
  const Index width = isatty(STDERR_FILENO) != 0 ? error_width() : 0;
  std::string out;
  for (const std::string& line : wrapped_message("polyhop: " + printable(text), width, 2, names)) out += line + "\n";
  return out;
}

void complain(const std::string& text, const std::vector<std::string>& whole) { tell(complaint(text, whole)); }

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
