// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace polyhop::app {

class Command;

/// --memory-limit, for commands that read data or make networks.
void add_memory_limit(Command& command);

}  // namespace polyhop::app
