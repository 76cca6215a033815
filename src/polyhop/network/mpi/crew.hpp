// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "polyhop/network/mpi/exchange_plan.hpp"
#include "polyhop/network/mpi/job.hpp"
#include "polyhop/network/mpi/link.hpp"
#include "polyhop/network/mpi/wire.hpp"
#include "polyhop/network/thread_barrier.hpp"

namespace polyhop::mpi {

/// What is being sent: a message of one hop, a phase of a message of two hops, or a round along the spanning tree.
enum class Leg { one_hop, first, second, tree };

/// What the workers of one process share in a launch: who is here, how to reach other processes, and what collectives
/// pass between threads. The first worker of a process talks to MPI for all of them.
struct Crew {
  /// All processes construct theirs at the same time.
  Crew(Link& link, MPI_Comm comm, const CombinationMatrix& matrix, const Ownership& ownership, Index workers);
  /// After a failure: some messages may never be received, so none of their memory is freed.
  void leave_behind() { left_behind_ = true; }
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  [[nodiscard]] Block block(Index worker) const;
  /// Made by the first worker that asks.
  const ExchangePlan& plan(int hops);
  Wire& wire(int hops, Leg leg, Index level, const Wire::Load& load);

  Link& link;
  MPI_Comm comm;
  const CombinationMatrix& matrix;
  const Ownership& ownership;
  Index workers;
  Index first_worker = 0;  // its number among those of all processes, and how many there are
  Index all_workers = 1;
  std::shared_ptr<void> mail;  // of the workers here: requests point into it
  ThreadBarrier barrier;
  std::mutex mutex;

  std::vector<double> collected;   // of in_order
  std::string said;                // by the first worker of all
  std::vector<std::string> words;  // of each worker, for the first one
  struct Part {
    std::span<const Index> rows;
    std::span<const double> read;
    std::span<double> written;
  };
  std::vector<Part> parts;  // the rows that each worker has or wants, when rows are gathered or scattered

  /// A run of agents with consecutive numbers that are all here; the processes with the agents before and after, or -1.
  struct Run {
    Index first = 0;
    Index last = 0;
    int before = -1;
    int after = -1;
  };
  [[nodiscard]] const std::vector<Run>& runs();

 private:
  std::array<std::unique_ptr<ExchangePlan>, 2> plans_;
  const std::vector<Correspondence>& peers(int hops, Leg leg, Index level);

  std::map<std::pair<int, Index>, std::vector<Correspondence>> levels_;
  std::map<std::tuple<int, Leg, Index, const Rows*, std::size_t, int>, std::unique_ptr<Wire>> wires_;
  std::vector<Run> runs_;
  bool left_behind_ = false;
};

class JobCollective final : public Collective {
 public:
  JobCollective(Crew& crew, Index worker);
  void in_order(std::span<double> numbers, const std::function<void(std::span<double>)>& turn) override;
  void by_agent(std::span<double> numbers, Index agents,
                const std::function<void(std::span<double>, Index k)>& turn) override;
  void gather(std::span<const Index> rows, std::span<const double> mine, std::span<double> all) override;
  void scatter(std::span<const Index> rows, std::span<double> mine, std::span<const double> all) override;
  [[nodiscard]] std::string from_first(const std::string& bytes) override;
  [[nodiscard]] std::vector<std::string> to_first(const std::string& bytes) override;

 private:
  void share(std::span<double> numbers, int from);
  void register_part(const Crew::Part& part);
  struct Request {
    std::vector<Index> rows;
    std::vector<double> values;
  };
  [[nodiscard]] Request hear_request(int peer);
  void send_request(std::size_t numbers);
  [[nodiscard]] bool leads() const { return worker_ == 0; }

  Crew& crew_;
  Index worker_;
  Block block_;
};

/// Runs `body` on all workers of the crew; throws the error of the first worker that failed, Abandoned if only another
/// process failed.
void run_crew(Crew& crew, VectorType vectors, const Body& body);

}  // namespace polyhop::mpi
