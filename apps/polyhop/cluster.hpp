// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "polyhop/network/placement.hpp"
#include "polyhop/network/team.hpp"

// A command as one of the processes that mpirun or srun started.
namespace polyhop::app {

class Command;

/// How processes work together. For a single one, the placement says in which order it holds the agents.
struct ClusterArguments {
  double peer_timeout = 60;
  std::string placement = "auto";
  [[nodiscard]] Placement placed() const;
};
void add_cluster(Command& command, ClusterArguments& arguments);

/// Under mpirun or srun: a child does the work, and this process waits and reports how it ended. If the child is
/// killed, by anyone, the job ends with exit code 5. If the parent is killed, the child says so and ends; if it is
/// stopped, the child wakes it. Only the first rank writes to standard output, and `tell` is silent on the others. Does
/// nothing if the command was started by hand. `command`: its name, for the message about a lost rank.
void supervise(const std::string& command);

/// Whether another process watches this one, and ends it when a signal comes twice.
bool is_supervised();

/// True for all processes but the first, if the command needs only one.
bool is_idle(const std::string& command);

/// The processes that were started together, or this one alone. The first call starts MPI.
Team& join_team(const ClusterArguments& arguments);
/// Ends MPI, if it was started. Call it before the process ends normally. `wrong`: the error message that was printed,
/// or empty; if only this process failed, the message is printed again and the whole job ends with `code`.
void leave_team(int code, const std::string& wrong);
/// Ends the whole job.
[[noreturn]] void abort_team(int code);

/// Throws InputError in every process unless all agree on the version and on `text`, which messages call `what`.
void agree_on(Team& team, const std::string& what, const std::string& text);

/// The name of the MPI library that is built in; empty if there is none.
std::string mpi_library();

/// Whether the first process was asked to stop; the same answer for all.
bool is_stopped(Team& team, bool here);

}  // namespace polyhop::app
