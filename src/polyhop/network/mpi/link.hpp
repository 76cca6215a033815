// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "polyhop/core/clock.hpp"
#include "polyhop/core/index.hpp"

namespace polyhop::mpi {

/// Memory that is never freed, because MPI may still read and write it after a failure, until the process ends.
void keep_for_ever(std::shared_ptr<const void> memory);

/// A count as MPI takes it; throws Error if it is too large for one message.
int as_count(std::size_t numbers);

/// How one process of a job reaches the others: it sends and receives messages and, while it waits, checks whether the
/// sender is alive and whether a process has raised the alarm.
class Link {
 public:
  /// The processes of `parent`, all of which construct theirs at the same time. `advice` is appended to the message
  /// about a lost process.
  Link(MPI_Comm parent, double peer_timeout, std::string advice);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// The number of processes on this machine.
  [[nodiscard]] Index processes_here() const { return processes_here_; }
  [[nodiscard]] MPI_Comm world() const { return world_; }
  /// "rank 2 on HOST"
  [[nodiscard]] std::string name(int rank) const { return "rank " + std::to_string(rank) + " on " + hosts_[rank]; }

  /// Waits for all requests; `peers` are the processes they depend on. Throws LostPeer if one of these has been silent
  /// for too long, Abandoned if a process has raised the alarm.
  void wait(std::span<MPI_Request> requests, std::span<const int> peers);
  /// Sends one message and waits. If that ends with Abandoned, nobody may ever receive the message, and MPI goes on
  /// reading it: so the link owns the numbers.
  void send(std::vector<double> numbers, int to, MPI_Comm comm);
  void receive(std::span<double> numbers, int from, MPI_Comm comm);
  /// From the first process to all, along a binomial tree.
  void broadcast(std::span<double> numbers, MPI_Comm comm);
  /// The same for bytes, of any length.
  void send_bytes(std::string bytes, int to, MPI_Comm comm);
  [[nodiscard]] std::string receive_bytes(int from, MPI_Comm comm);
  [[nodiscard]] std::string broadcast_bytes(std::string bytes, MPI_Comm comm);
  /// Every process's text, in order of the ranks, for all.
  std::vector<std::string> tell(const std::string& text);

  /// Whether waiting ends with Abandoned when a process has raised the alarm. Only for work after which all processes
  /// report how they fared: elsewhere an alarm comes from a process that is ahead, and has failed at something this one
  /// has yet to begin. Returns the previous setting.
  bool heed_alarms(bool heeded) { return std::exchange(heeds_alarms_, heeded); }
  /// Tells everybody that this process has failed: those who wait throw Abandoned.
  void raise_alarm();
  /// Receives the alarms of `count` processes, once all processes know of the failures.
  void take_alarms(Index count);

  /// From now on this process and the peer tell each other that they are alive; the peer starts when it first hears so.
  /// The edge between two agents is for the message about a lost peer.
  void know(int peer, Index here = -1, Index there = -1);
  /// Whether all processes finish within this many seconds. If not, some are doing work in which they will wait for
  /// this one.
  [[nodiscard]] bool all_leave_within(double seconds);

  /// For MPI calls that wait for other processes and cannot be interrupted. If one of these is lost meanwhile, the
  /// heartbeat reports it and ends this process.
  template <class Call>
  void blocking(Call call) {
    blocked_ = true;
    call();
    blocked_ = false;
  }

  /// Ends all processes without waiting for any: after a peer was lost.
  [[noreturn]] void abort(int code);

 private:
  void look_around(std::span<const int> peers) const;
  template <class Done>
  void wait_until(Done done, std::span<const int> peers);
  [[nodiscard]] double silence(int peer) const { return silent_[peer]; }
  [[nodiscard]] std::string loss(int peer) const;
  void look_for_lost();
  void beat(const std::stop_token& stop);
  void count_silence(double seconds);
  void tell_alive();
  void hear();
  bool has_met();
  void meet(const std::function<void()>& meanwhile);
  [[nodiscard]] std::vector<int> tree_children() const;
  [[nodiscard]] int tree_parent() const { return rank_ & (rank_ - 1); }
  template <class Vector>
  void send(Vector&& content, MPI_Datatype type, std::span<const int> peers, int tag, MPI_Comm comm);
  void receive(void* content, std::size_t count, MPI_Datatype type, int from, int tag, MPI_Comm comm);

  double timeout_;
  std::string advice_;
  int rank_ = 0;
  int size_ = 1;
  MPI_Comm world_ = MPI_COMM_NULL;
  MPI_Comm alarm_ = MPI_COMM_NULL;
  MPI_Comm heart_ = MPI_COMM_NULL;
  std::vector<std::string> hosts_;
  bool heeds_alarms_ = false;
  Index processes_here_ = 1;
  bool crowded_ = false;  // more processes on this machine than cores

  struct Peer {
    Index here = -1;
    Index there = -1;
    MPI_Request beat = MPI_REQUEST_NULL;
    char word = 0;
  };
  std::atomic<bool> blocked_ = false;
  mutable std::mutex mutex_;
  std::map<int, Peer> peers_;
  /// Seconds since each process was heard. The heartbeat counts at most the time between two beats at once, so that a
  /// suspended job that resumes has not been silent.
  std::vector<std::atomic<double>> silent_;
  MPI_Request meeting_ = MPI_REQUEST_NULL;
  bool leaves_ = false;  // so do all others
  std::condition_variable_any bell_;
  std::jthread heartbeat_;
};

}  // namespace polyhop::mpi
