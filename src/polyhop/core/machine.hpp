// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyhop/core/index.hpp"

namespace polyhop {

/// What runs depend on, or may want to report: this build and this machine.
struct Machine {
  std::string version;  // polyhop's
  std::string compiler;
  std::string build;            // "optimised" or "debug"
  std::string cpu;              // as the system names it, or ""
  std::string instruction_set;  // of the kernels in use
  std::string system;           // kernel and architecture
  Index cores = 1;
  double memory_bytes = 0;  // 0 if unknown
  double free_bytes = 0;    // available memory
};

Machine this_machine();

/// Throws InputError if the environment variable POLYHOP_CPU asks for kernels that this machine cannot run.
void check_kernels_asked_for();

/// How many bytes this process may use at most: the machine's memory, its container's (a control group), or what a
/// limit on its address space leaves, whichever is least; 0 if unknown. `root`: where /proc and /sys are.
double usable_memory(const std::string& root = "/");

/// How many threads to use: `asked` or, if that is 0, as many as there are cores; one if several processes run
/// together.
Index usable_threads(Index asked, Index processes = 1);

/// How many of `threads` are worth using in an iteration of that many multiply-adds, in which they wait for each other
/// a few times, on cores whose messages take `round_trip` seconds. See docs/benchmarks.md for where they start to pay.
Index paying_threads(double work, Index threads, double round_trip);
/// The same on this machine's cores as they are now.
Index paying_threads(double work, Index threads);

/// How long a message to another thread and its answer take, in seconds, through a word of memory that both look at.
/// Cores that share a cache take 0.1 us; others take 0.5 us, and then writing what the other one has read takes five
/// times as long. Which cores a virtual machine gets may change from minute to minute.
double round_trip();

/// How many threads to use for such iterations: `asked` or, if that is 0, as many as there are cores and as pay off;
/// one if several processes run together.
Index usable_threads(Index asked, Index processes, double work);

/// The core that this thread runs on, and moving it to another of those it may run on, if there is one: returns where
/// it is then. It stays free to move. Negative where the system does not say.
int current_core();
int leave_core(int core);

/// The full path of a program on PATH.
std::optional<std::string> find_program(const std::string& name);

}  // namespace polyhop
