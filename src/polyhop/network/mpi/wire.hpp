// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "polyhop/core/rows.hpp"
#include "polyhop/network/mpi/exchange_plan.hpp"
#include "polyhop/network/mpi/job.hpp"
#include "polyhop/network/mpi/link.hpp"
#include "polyhop/network/traffic.hpp"

namespace polyhop::mpi {

/// Rows on their way between this process and its peers, in one phase of a plan, for messages of one shape. Each
/// vector, and the scalars, go to every peer as separate messages. Consecutive rows are sent from, and received into,
/// the mail itself; others are packed.
class Wire {
 public:
  /// The rows to move: vectors, and scalars of which the first few are sent.
  struct Load {
    std::span<Rows> vectors;
    Rows* scalars = nullptr;
    int numbers = 0;
  };
  Wire(Link& link, MPI_Comm comm, const std::vector<Correspondence>& peers, const Load& load);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Starts sending what is in the mail's rows.
  void start();
  /// Waits for the others' rows, which are then in the mail.
  void finish();
  /// The rows that this process receives: vectors and scalars.
  [[nodiscard]] Traffic received() const { return received_; }

 private:
  // One peer's rows in one list of the mail, packed: the first bytes of each.
  struct Packed {
    const std::vector<std::int32_t>* slots;
    Rows* rows;
    std::size_t bytes;  // per row
    std::size_t begin;  // in the buffer
  };
  void add_peer(const Correspondence& peer, Rows& rows, Index width, bool stays, int tag);
  void open_requests();

  struct Part {
    int rank;
    int tag;
    void* place;        // in the mail; null if packed
    std::size_t begin;  // in the buffer, if packed
    std::size_t count;
    MPI_Datatype type;
  };

  Link& link_;
  MPI_Comm comm_;
  Traffic received_;
  std::vector<Part> in_parts_, out_parts_;
  std::vector<Packed> in_packed_, out_packed_;
  std::vector<std::byte> out_, in_;
  std::vector<int> ranks_;  // the ranks that the requests depend on, in order
  std::vector<MPI_Request> requests_;
};

}  // namespace polyhop::mpi
