// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "memory_flag.hpp"

#include <string>

#include "command_line.hpp"
#include "polyhop/core/memory_limit.hpp"

namespace polyhop::app {

void add_memory_limit(Command& command) {
  command
      .option(
          "--memory-limit", [](const std::string& text) { set_memory_limit(parse_memory_size(text)); },
          "memory limit for data, networks and results in each process, such as 512MB, 4GB or 2GiB (default: half "
          "the memory of the machine or container, shared by its ranks under mpirun)")
      .takes("SIZE");
}

}  // namespace polyhop::app
