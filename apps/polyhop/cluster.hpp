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

/// Under mpirun or srun: the work is done in a child, and this process stays to tell how it ended. A child that is
/// killed, by whomever, ends the job with exit code 5. A parent that is killed ends its child, which says so; one that
/// is stopped is woken by it. Only the first rank writes to the standard output, and `tell` is silent on the others.
/// Nothing happens when the command was started by hand. `command`: its name, for what is said when a rank is lost.
void supervise(const std::string& command);

/// Whether another process watches this one, and ends it when a signal comes twice.
bool is_supervised();

/// True when this is a process of several that has nothing to do: all but the first, in commands of one process.
bool is_idle(const std::string& command);

/// The processes that were started together, or this one alone. The first call starts MPI.
Team& join_team(const ClusterArguments& arguments);
/// Ends MPI, if it was started. Call it before the process ends normally. `wrong`: the error message that was printed,
/// or empty; if only this process failed, the message is printed again and the whole job ends with `code`.
void leave_team(int code, const std::string& wrong);
/// Ends the whole job.
[[noreturn]] void abort_team(int code);

/// Throws InputError in every process unless all of them say the same: the version, and `text`, which `what` names.
void agree_on(Team& team, const std::string& what, const std::string& text);

/// The words for the MPI library that is built in; empty where none is.
std::string mpi_library();

/// Whether the first process was asked to stop; the same answer for all.
bool is_stopped(Team& team, bool here);

}  // namespace polyhop::app
