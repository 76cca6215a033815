// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/machine.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <thread>

#include "polyhop/core/clock.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/kernels.hpp"
#include "polyhop/core/value.hpp"

namespace polyhop {
namespace {

// The text after "name :" in a file of names and values; "" if there is no such line.
std::string entry(const std::filesystem::path& file, const std::string& name) {
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

constexpr double unlimited = std::numeric_limits<double>::infinity();

// The number in a file; no number ("max"), or no file, means no limit.
double limit_in(const std::filesystem::path& file) {
  double bytes = 0;
  return std::ifstream(file) >> bytes && bytes > 0 ? bytes : unlimited;
}

// The least that a group or one above it allows. Inside a container a group may appear at the top.
double group_limit(const std::filesystem::path& top, std::filesystem::path group, const char* name) {
  group = group.relative_path();
  double least = limit_in(top / name);
  for (; !group.empty(); group = group.parent_path()) least = std::min(least, limit_in(top / group / name));
  return least;
}

// Lines are "0::GROUP" (version 2), or "NUMBER:CONTROLLERS:GROUP".
double container_limit(const std::filesystem::path& root) {
  const std::filesystem::path groups = root / "sys/fs/cgroup";
  double least = unlimited;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      least = std::min(
          {least, group_limit(groups, group, "memory.max"), group_limit(groups / "unified", group, "memory.max")});
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, group_limit(groups / "memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

double address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  return static_cast<double>(limit.rlim_cur);
}

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

void check_kernels_asked_for() {
  const char* wish = std::getenv("POLYHOP_CPU");
  if (wish == nullptr || std::string_view(wish) == kernels::instruction_set()) return;
  std::string names;
  for (const char* name : kernels::variants()) names += (names.empty() ? "" : ", ") + in_quotes(name);
  throw InputError("POLYHOP_CPU", "found " + in_quotes(wish) + "; this machine can run kernels for " + names);
}

double usable_memory(const std::string& root) {
  const double machine = kilobytes(entry(std::filesystem::path(root) / "proc/meminfo", "MemTotal"));
  const double least = std::min({machine > 0 ? machine : unlimited, container_limit(root), address_space_limit()});
  return least < unlimited ? least : 0;
}

Index usable_threads(Index asked, Index processes) {
  if (asked > 0) return asked;
  return processes > 1 ? 1 : std::max<Index>(1, static_cast<Index>(std::thread::hardware_concurrency()));
}

namespace {
constexpr double far_round_trip = 0.25e-6;
}

Index paying_threads(double work, Index threads, double round_trip) {
  // About 30 microseconds. On an idle machine a tenth of that would do; on a busy one, where threads share cores with
  // other programs and must be woken up, this is the break-even point. Between caches, moving rows is what takes time.
  const double least_work = round_trip > far_round_trip ? 3e6 : 150e3;
  return static_cast<Index>(std::clamp(work / least_work, 1.0, static_cast<double>(std::max<Index>(1, threads))));
}

Index paying_threads(double work, Index threads) {
  const Index near = paying_threads(work, threads, 0);
  return near == paying_threads(work, threads, 1) ? near : paying_threads(work, threads, round_trip());
}

double round_trip() {
  constexpr int batches = 10;  // the best counts: either thread may be interrupted
  constexpr int messages = 20;
  constexpr double patience = 5e-3;  // seconds; the other thread may have no core of its own
  constexpr int stop = -1;
  alignas(64) std::atomic<int> sent = 0;
  alignas(64) std::atomic<int> answered = stop;
  const std::jthread other([&, core = current_core()] {
    if (current_core() == core) leave_core(core);  // a new thread may begin where the one that made it runs
    answered = 0;
    answered.notify_one();
    for (int seen = 0; seen != stop;) answered.store(seen = sent.load(std::memory_order_acquire));
  });
  answered.wait(stop);
  const auto begin = Clock::now();
  double best = 1;
  for (int n = 1; n <= batches * messages && since(begin) < patience;) {
    const auto start = Clock::now();
    for (const int end = n + messages; n < end; ++n) {
      sent.store(n);
      for (int tries = 1; answered.load(std::memory_order_acquire) != n; ++tries) {
        if (tries % 1024 == 0 && since(begin) > patience) break;
      }
    }
    best = std::min(best, since(start) / messages);
  }
  sent.store(stop);
  return best;
}

Index usable_threads(Index asked, Index processes, double work) {
  return asked > 0 ? asked : paying_threads(work, usable_threads(0, processes));
}

#ifdef __linux__
int current_core() { return sched_getcpu(); }

int leave_core(int core) {
  cpu_set_t allowed;
  if (core < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return core;
  cpu_set_t others = allowed;
  CPU_CLR(core, &others);
  // Fails, and changes nothing, if no core is left.
  if (sched_setaffinity(0, sizeof others, &others) != 0) return core;
  const int now = current_core();
  sched_setaffinity(0, sizeof allowed, &allowed);
  return now;
}
#else
int current_core() { return -1; }
int leave_core(int core) { return core; }
#endif

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
