// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/mpi/wire.hpp"

#include <algorithm>
#include <limits>

#include "polyhop/core/error.hpp"

namespace polyhop::mpi {
namespace {

constexpr int row_tag = 5;

}  // namespace

Wire::Wire(Link& link, MPI_Comm comm, Exchange exchange, const std::vector<Correspondence>& peers, const Shape& shape)
    : link_(link), comm_(comm), exchange_(exchange), peers_(peers), shape_(shape) {
  const Index width = shape.vectors * shape.columns + shape.scalars;
  const auto lay_out = [&](auto rows, std::vector<int>& counts, std::vector<int>& begins, std::vector<double>& buffer) {
    Index total = 0;
    for (const Correspondence& peer : peers) {
      const auto count = static_cast<Index>((peer.*rows).size()) * width;
      begins.push_back(static_cast<int>(total));
      counts.push_back(static_cast<int>(count));
      total += count;
      if (total > std::numeric_limits<int>::max())
        throw Error("more than 16 GB to exchange with other processes at once");
    }
    buffer.resize(static_cast<std::size_t>(total));
  };
  lay_out(&Correspondence::sent, out_counts_, out_begins_, out_);
  lay_out(&Correspondence::received, in_counts_, in_begins_, in_);
  for (const Correspondence& peer : peers) rows_received_ += static_cast<Index>(peer.received.size());
  if (exchange == Exchange::neighbourhood) {
    for (const Correspondence& peer : peers) ranks_.push_back(peer.rank);
    requests_.push_back(MPI_REQUEST_NULL);
    return;
  }
  for (std::size_t n = 0; n < peers.size(); ++n) {
    if (in_counts_[n] == 0) continue;
    ranks_.push_back(peers[n].rank);
    MPI_Recv_init(in_.data() + in_begins_[n], in_counts_[n], MPI_DOUBLE, peers[n].rank, row_tag, comm,
                  &requests_.emplace_back());
  }
  for (std::size_t n = 0; n < peers.size(); ++n) {
    if (out_counts_[n] == 0) continue;
    ranks_.push_back(peers[n].rank);
    MPI_Send_init(out_.data() + out_begins_[n], out_counts_[n], MPI_DOUBLE, peers[n].rank, row_tag, comm,
                  &requests_.emplace_back());
  }
}

Wire::~Wire() {
  if (exchange_ == Exchange::neighbourhood) return;
  for (MPI_Request& request : requests_) MPI_Request_free(&request);
}

void Wire::start(std::span<const Rows> vectors, const Rows& scalars) {
  double* out = out_.data();
  for (const Correspondence& peer : peers_) {
    for (const Index slot : peer.sent) {
      for (int v = 0; v < shape_.vectors; ++v) {
        out = std::copy_n(vectors[static_cast<std::size_t>(v)].row(slot).data(), shape_.columns, out);
      }
      if (shape_.scalars > 0) out = std::copy_n(scalars.row(slot).data(), shape_.scalars, out);
    }
  }
  if (exchange_ == Exchange::neighbourhood) {
    MPI_Ineighbor_alltoallv(out_.data(), out_counts_.data(), out_begins_.data(), MPI_DOUBLE, in_.data(),
                            in_counts_.data(), in_begins_.data(), MPI_DOUBLE, comm_, requests_.data());
  } else if (!requests_.empty()) {
    MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
  }
}

void Wire::finish(std::span<Rows> vectors, Rows& scalars) {
  link_.wait(requests_, ranks_);
  const double* in = in_.data();
  for (const Correspondence& peer : peers_) {
    for (const Index slot : peer.received) {
      for (int v = 0; v < shape_.vectors; ++v) {
        std::copy_n(in, shape_.columns, vectors[static_cast<std::size_t>(v)].row(slot).data());
        in += shape_.columns;
      }
      if (shape_.scalars == 0) continue;
      std::copy_n(in, shape_.scalars, scalars.row(slot).data());
      in += shape_.scalars;
    }
  }
}

}  // namespace polyhop::mpi
