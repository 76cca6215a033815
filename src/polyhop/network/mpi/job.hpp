// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "polyhop/network/team.hpp"

namespace polyhop::mpi {

/// How rows travel between two processes.
enum class Exchange {
  point_to_point,  // persistent requests, one for each pair of processes that share an edge
  neighbourhood    // MPI_Ineighbor_alltoallv on the graph of these pairs
};

struct Options {
  /// Seconds without a sign of life from a process that is waited for, after which it counts as lost.
  double peer_timeout = 60;
  Exchange exchange = Exchange::point_to_point;
  /// What is said after who was lost: what whoever reads that can do.
  std::string advice = {};
};

/// This process as one of a job that mpirun or srun started: MPI is initialised while it lives, and there is one at a
/// time. All processes of a job make the same calls. `launch` gives `body` the same network and bits as threads do,
/// with rows that reach other processes through MPI.
/// While it lives, a thread of its own tells the processes around that this one is alive, so that one which computes
/// for long is not taken for a lost one.
class Job final : public Team {
 public:
  explicit Job(const Options& options = {});
  ~Job() override;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] Index rank() const override;
  [[nodiscard]] Index size() const override;
  [[nodiscard]] std::string name(Index rank) const override;
  /// The words for the MPI library.
  [[nodiscard]] static std::string library();

  void launch(const CombinationMatrix& matrix, const Ownership& ownership, Index columns, Index workers,
              const Body& body) override;
  std::vector<std::string> tell(const std::string& text) override;
  Collective& collective() override;
  void together(const std::function<void()>& work) override;

  /// After a failure that may be this process's alone, in a call of its own: whether all others come to their end too,
  /// within so many seconds. If not they may wait for this one for ever: `abort`. No other call after this.
  [[nodiscard]] bool all_leave_within(double seconds);
  [[noreturn]] void abort(int code) override;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Runs `body` over all processes of the job: agents in contiguous shares of equal cost, by degree, in each of them
/// `threads` workers. For programs of one's own (examples/cluster.cpp).
void launch(Job& job, const CombinationMatrix& matrix, Index columns, const Body& body, Index threads = 1);

}  // namespace polyhop::mpi
