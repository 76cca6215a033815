// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "polyhop/core/rows.hpp"
#include "polyhop/network/mpi/exchange_plan.hpp"
#include "polyhop/network/mpi/job.hpp"
#include "polyhop/network/mpi/link.hpp"
#include "polyhop/network/traffic.hpp"

namespace polyhop::mpi {

/// Rows on their way between this process and those around it, in one phase of a plan, for messages of one shape:
/// packed, so that whatever lies between them in memory stays at home.
class Wire {
 public:
  struct Shape {
    int vectors = 0;
    int scalars = 0;
    Index columns = 0;  // of a vector
  };
  Wire(Link& link, MPI_Comm comm, Exchange exchange, const std::vector<Correspondence>& peers, const Shape& shape);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Packs the rows of the mail and sends them off; `rows` are its vectors.
  void start(std::span<const Rows> vectors, const Rows& scalars);
  /// Waits for the others' rows and puts them into the mail.
  void finish(std::span<Rows> vectors, Rows& scalars);
  /// The rows that this process receives: vectors and scalars.
  [[nodiscard]] Traffic received() const {
    return {0, rows_received_ * shape_.vectors, rows_received_ * shape_.scalars};
  }

 private:
  Link& link_;
  MPI_Comm comm_;
  Exchange exchange_;
  const std::vector<Correspondence>& peers_;
  Shape shape_;
  Index rows_received_ = 0;
  std::vector<double> out_, in_;
  std::vector<int> out_counts_, in_counts_, out_begins_, in_begins_;
  std::vector<int> ranks_;  // whom the requests depend on, one by one; of a collective, all peers
  std::vector<MPI_Request> requests_;
};

}  // namespace polyhop::mpi
