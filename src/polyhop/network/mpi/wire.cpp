// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/mpi/wire.hpp"

#include <algorithm>
#include <cstring>

#include "polyhop/core/error.hpp"

namespace polyhop::mpi {
namespace {

constexpr int first_row_tag = 5;  // each list of the mail has its own tag: requests may start in any order

bool follow_each_other(const std::vector<std::int32_t>& slots) {
  return std::ranges::adjacent_find(slots, [](std::int32_t a, std::int32_t b) { return b != a + 1; }) == slots.end();
}

}  // namespace

Wire::Wire(Link& link, MPI_Comm comm, const std::vector<Correspondence>& peers, const Load& load)
    : link_(link), comm_(comm) {
  for (const Correspondence& peer : peers) {
    int tag = first_row_tag;
    for (Rows& rows : load.vectors) add_peer(peer, rows, rows.stride(), true, tag++);
    // Scalars are reallocated when more of them are needed.
    if (load.numbers > 0) add_peer(peer, *load.scalars, load.numbers, false, tag);
    const auto count = static_cast<Index>(peer.received.size());
    received_ += {0, count * static_cast<Index>(load.vectors.size()), count * load.numbers};
  }
  open_requests();
}

void Wire::add_peer(const Correspondence& peer, Rows& rows, Index width, bool stays, int tag) {
  const MPI_Datatype type = rows.element() == Element::float32 ? MPI_FLOAT : MPI_DOUBLE;
  const auto add = [&](const std::vector<std::int32_t>& slots, std::vector<Part>& parts, std::vector<Packed>& packed,
                       std::vector<std::byte>& buffer) {
    if (slots.empty()) return;
    const auto count = slots.size() * static_cast<std::size_t>(width);
    const auto number = static_cast<std::size_t>(bytes_of(rows.element()));
    if (stays && follow_each_other(slots)) {
      parts.push_back({peer.rank, tag, rows.place(slots.front()), 0, count, type});
      return;
    }
    parts.push_back({peer.rank, tag, nullptr, buffer.size(), count, type});
    packed.push_back({&slots, &rows, static_cast<std::size_t>(width) * number, buffer.size()});
    constexpr std::size_t line = 64;  // so that every part is aligned
    buffer.resize(buffer.size() + (count * number + line - 1) / line * line);
  };
  add(peer.received, in_parts_, in_packed_, in_);
  add(peer.sent, out_parts_, out_packed_, out_);
}

void Wire::open_requests() {
  for (const Part& part : in_parts_) {
    ranks_.push_back(part.rank);
    MPI_Recv_init(part.place != nullptr ? part.place : in_.data() + part.begin, as_count(part.count), part.type,
                  part.rank, part.tag, comm_, &requests_.emplace_back());
  }
  for (const Part& part : out_parts_) {
    ranks_.push_back(part.rank);
    MPI_Send_init(part.place != nullptr ? part.place : out_.data() + part.begin, as_count(part.count), part.type,
                  part.rank, part.tag, comm_, &requests_.emplace_back());
  }
}

Wire::~Wire() {
  for (MPI_Request& request : requests_) MPI_Request_free(&request);
}

void Wire::start() {
  for (const Packed& packed : out_packed_) {
    std::byte* out = out_.data() + packed.begin;
    for (const Index slot : *packed.slots) {
      std::memcpy(out, packed.rows->place(slot), packed.bytes);
      out += packed.bytes;
    }
  }
  if (!requests_.empty()) MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
}

void Wire::finish() {
  link_.wait(requests_, ranks_);
  for (const Packed& packed : in_packed_) {
    const std::byte* in = in_.data() + packed.begin;
    for (const Index slot : *packed.slots) {
      std::memcpy(packed.rows->place(slot), in, packed.bytes);
      in += packed.bytes;
    }
  }
}

}  // namespace polyhop::mpi
