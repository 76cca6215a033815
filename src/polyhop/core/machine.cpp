// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "polyhop/core/kernels.hpp"

namespace polyhop {
namespace {

// What follows "name :" in a file of lines of names and values; "" where there is no such line.
std::string entry(const char* file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name)) continue;
    const auto colon = line.find(':');
    const auto text = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    if (text != std::string::npos) return line.substr(text);
  }
  return "";
}

double kilobytes(const std::string& text) { return text.empty() ? 0 : 1024 * std::strtod(text.c_str(), nullptr); }

std::string system_text() {
  utsname name{};
  if (uname(&name) != 0) return "";
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.version = POLYHOP_VERSION;
#if defined(__clang__)
  machine.compiler = __VERSION__;
#else
  machine.compiler = std::string("g++ ") + __VERSION__;
#endif
#ifdef NDEBUG
  machine.build = "optimised";
#else
  machine.build = "debug";
#endif
  machine.cpu = entry("/proc/cpuinfo", "model name");
  machine.instruction_set = kernels::instruction_set();
  machine.system = system_text();
  machine.cores = usable_threads(0);
  machine.memory_bytes = kilobytes(entry("/proc/meminfo", "MemTotal"));
  machine.free_bytes = kilobytes(entry("/proc/meminfo", "MemAvailable"));
  return machine;
}

Index usable_threads(Index asked, Index processes) {
  if (asked > 0) return asked;
  return processes > 1 ? 1 : std::max<Index>(1, static_cast<Index>(std::thread::hardware_concurrency()));
}

Index paying_threads(double work, Index threads) {
  // About 30 microseconds. On an idle machine a tenth of it would do; on a busy one, where threads share cores with
  // others and have to be woken, this is where they lose no more than they gain.
  constexpr double least_work = 150e3;
  return static_cast<Index>(std::clamp(work / least_work, 1.0, static_cast<double>(std::max<Index>(1, threads))));
}

Index usable_threads(Index asked, Index processes, double work) {
  return asked > 0 ? asked : paying_threads(work, usable_threads(0, processes));
}

std::optional<std::string> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto file = std::filesystem::path(folder.empty() ? "." : folder) / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) return file.string();
  }
  return {};
}

}  // namespace polyhop
