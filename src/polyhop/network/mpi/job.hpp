// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "polyhop/network/team.hpp"

namespace polyhop::mpi {

struct Options {
  /// How many seconds a process may be silent while others wait for it, before it counts as lost.
  double peer_timeout = 60;
  /// Appended to the message about a lost process: advice for its reader.
  std::string advice = {};
};

/// The user's own communicator, held by the value of its MPI_Comm, so that this header needs no mpi.h.
class Communicator {
 public:
  /// `Communicator(MPI_COMM_WORLD)`, from the MPI library that polyhop was built with.
  template <class Comm>
  explicit Communicator(Comm comm) : size_(sizeof comm) {
    constexpr bool is_class_pointer = std::is_pointer_v<Comm> && std::is_class_v<std::remove_pointer_t<Comm>>;
    static_assert(is_class_pointer || std::is_integral_v<Comm>, "MPI_Comm is one of these in every MPI library");
    std::memcpy(&value_, &comm, sizeof comm);
  }
  /// The MPI_Comm at an address, as mpi4py's `PyMPIComm_Get` and `MPI._addressof` give it.
  [[nodiscard]] static Communicator at(const void* address);

 private:
  friend class Job;
  std::uintptr_t value_ = 0;
  std::size_t size_ = 0;
};

/// This process as a member of a job whose processes all make the same calls. `launch` gives `body` the same network
/// and bits as threads do, and sends rows to other processes through MPI. A thread of the Job tells its peers that this
/// process is alive, so that a long computation is not taken for a loss. MPI must therefore support
/// MPI_THREAD_MULTIPLE. Jobs may follow one another, and several may exist at once; all processes create them in the
/// same order. A Job works on a duplicate of its communicator, so its messages do not mix with the user's own.
class Job final : public Team {
 public:
  /// All processes that mpirun or srun started, MPI_COMM_WORLD. If MPI is not initialised yet, the Job initialises it,
  /// and MPI is finalised when the process exits, where all processes wait for each other: it cannot be initialised
  /// twice, and a later Job may need it.
  explicit Job(const Options& options = {});
  /// The processes of a communicator, with their ranks in it. Whoever initialised MPI finalises it, after the Job's
  /// end.
  explicit Job(const Communicator& communicator, const Options& options = {});
  ~Job() override;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] Index rank() const override;
  [[nodiscard]] Index size() const override;
  [[nodiscard]] std::string name(Index rank) const override;
  /// The name and version of the MPI library.
  [[nodiscard]] static std::string library();

  void launch(const CombinationMatrix& matrix, const Ownership& ownership, VectorType vectors, Index workers,
              const Body& body) override;
  std::vector<std::string> tell(const std::string& text) override;
  Collective& collective() override;
  void together(const std::function<void()>& work) override;

  /// After a failure that may concern this process alone: whether all others finish too within this many seconds. If
  /// not, they may wait for this one forever: call `abort`. Make no other call after this.
  [[nodiscard]] bool all_leave_within(double seconds);
  /// Ends all processes of MPI_COMM_WORLD, including those outside the job's communicator: not every MPI library can
  /// end only some.
  [[noreturn]] void abort(int code) override;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Runs `body` over all processes of the job: agents in contiguous shares of equal cost, by degree, with `threads`
/// workers in each process. For your own programs (examples/cluster.cpp).
void launch(Job& job, const CombinationMatrix& matrix, VectorType vectors, const Body& body, Index threads = 1);

}  // namespace polyhop::mpi
