// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/agent_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/core/codec.hpp"
#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

// The agents of a worker's block in order of their numbers, and their rows, which are gathered or scattered.
class Members {
 public:
  explicit Members(Worker& worker) : worker_(worker) {
    const Block& block = worker.network.block();
    for (Index k = 0; k < block.size(); ++k) agents_.emplace_back(block.agent(k), k);
    std::ranges::sort(agents_);
  }

  // Sends the rows of the agents first .. first + count to `all`; `copy(k, out)` gives that of the block's k-th.
  template <class F>
  void gather(Index first, Index count, Index columns, std::span<double> all, F copy) {
    choose(first, count, columns);
    for (std::size_t n = 0; n < rows_.size(); ++n) copy(chosen_[n].second, part(n, columns));
    worker_.collective.gather(rows_, mine_, all);
  }

  // The way back.
  template <class F>
  void scatter(Index first, Index count, Index columns, std::span<const double> all, F copy) {
    choose(first, count, columns);
    worker_.collective.scatter(rows_, mine_, all);
    for (std::size_t n = 0; n < rows_.size(); ++n) copy(chosen_[n].second, part(n, columns));
  }

 private:
  using Member = std::pair<Index, Index>;  // an agent's number, and its position in the block

  void choose(Index first, Index count, Index columns) {
    const auto begin = std::ranges::lower_bound(agents_, first, {}, &Member::first);
    const auto end = std::ranges::lower_bound(agents_, first + count, {}, &Member::first);
    chosen_ = {begin, end};
    rows_.clear();
    for (const Member& member : chosen_) rows_.push_back(member.first - first);
    mine_.resize(rows_.size() * columns);
  }
  std::span<double> part(std::size_t n, Index columns) { return std::span(mine_).subspan(n * columns, columns); }

  Worker& worker_;
  std::vector<Member> agents_;
  std::span<const Member> chosen_;
  std::vector<Index> rows_;
  std::vector<double> mine_;
};

template <class F>
void send(Worker& worker, Members& members, const std::string& name, Index columns, const StateSink& sink, F copy) {
  const bool is_first = worker.number == 0;
  const Index agents = worker.network.agents();
  const Index at_once = std::min(agents, rows_at_once(columns));
  std::vector<double> all(is_first ? static_cast<std::size_t>(at_once * columns) : 0);
  for (Index first = 0; first < agents; first += at_once) {
    const Index count = std::min(at_once, agents - first);
    const auto chunk = std::span(all).first(is_first ? static_cast<std::size_t>(count * columns) : 0);
    members.gather(first, count, columns, chunk, copy);
    if (is_first) sink({name, first, count, columns, chunk});
  }
}

// What the first worker says about the next part.
struct Announcement {
  std::size_t entry = 0;
  Index first = 0;             // of its agents, or of the shared rows
  Index count = 0;             // of these
  std::vector<double> shared;  // the content of shared rows
};

// Empty: there are no more parts.
std::optional<Announcement> announce(Worker& worker, const std::optional<Announcement>& mine) {
  Announcement out = mine.value_or(Announcement{});
  MessageReader in(
      worker.collective.from_first(message(mine.has_value(), out.entry, out.first, out.count, out.shared)));
  const bool is_there = in.take<bool>();
  out.entry = in.take<std::size_t>();
  out.first = in.take<Index>();
  out.count = in.take<Index>();
  out.shared = in.take<std::vector<double>>();
  in.end();
  if (!is_there) return {};
  return out;
}

// Receives the announced part; the same on every worker.
void receive(Members& members, StateRegistry& state, const std::vector<StateRegistry::Entry>& entries,
             const Announcement& next, std::span<const double> all) {
  const std::size_t n = next.entry;
  if (!entries[n].per_agent) {
    const auto columns = static_cast<std::size_t>(entries[n].columns);
    for (Index r = 0; r < next.count; ++r) {
      state.copy_in(n, next.first + r, std::span(next.shared).subspan(static_cast<std::size_t>(r) * columns, columns));
    }
    return;
  }
  members.scatter(next.first, next.count, entries[n].columns, all,
                  [&](Index k, std::span<const double> row) { state.copy_in(n, k, row); });
}

// What is registered, with the greatest row length of any worker.
std::vector<StateRegistry::Entry> agreed_entries(Worker& worker, const StateRegistry& state) {
  auto entries = state.entries();
  std::vector<double> columns(entries.size());
  worker.collective.in_order(columns, [&](std::span<double> shared) {
    for (std::size_t n = 0; n < entries.size(); ++n) {
      shared[n] = std::max(shared[n], static_cast<double>(entries[n].columns));
    }
  });
  for (std::size_t n = 0; n < entries.size(); ++n) entries[n].columns = static_cast<Index>(columns[n]);
  return entries;
}

// Writes the first worker's copy of what every worker holds.
void write_shared(const StateRegistry& state, std::size_t n, const StateRegistry::Entry& entry, const StateSink& sink) {
  const auto columns = static_cast<std::size_t>(entry.columns);
  const Index at_once = std::min(entry.rows, rows_at_once(entry.columns));
  std::vector<double> part(static_cast<std::size_t>(at_once) * columns);
  for (Index first = 0; first < entry.rows; first += at_once) {
    const Index count = std::min(at_once, entry.rows - first);
    for (Index r = 0; r < count; ++r) {
      state.copy_out(n, first + r, std::span(part).subspan(static_cast<std::size_t>(r) * columns, columns));
    }
    sink({entry.name, first, count, entry.columns, std::span(part).first(static_cast<std::size_t>(count) * columns)});
  }
}

}  // namespace

void send_state(Worker& worker, const StateRegistry& state, const StateSink& sink) {
  Members members(worker);
  const auto entries = agreed_entries(worker, state);
  for (std::size_t n = 0; n < entries.size(); ++n) {
    if (entries[n].per_agent) {
      send(worker, members, entries[n].name, entries[n].columns, sink,
           [&](Index k, std::span<double> out) { state.copy_out(n, k, out); });
    } else if (worker.number == 0) {
      write_shared(state, n, entries[n], sink);
    }
  }
}

void send_rows(Worker& worker, const std::string& name, const Rows& rows, const StateSink& sink) {
  Members members(worker);
  send(worker, members, name, rows.columns(), sink, [&](Index k, std::span<double> out) { read_row(rows, k, out); });
}

void receive_state(Worker& worker, StateRegistry& state, const StateStream& stream) {
  Members members(worker);
  const auto entries = agreed_entries(worker, state);
  if (worker.number != 0) {
    while (const auto next = announce(worker, {})) receive(members, state, entries, *next, {});
    return;
  }
  StateMatching matching(entries, worker.network.agents());
  stream([&](const StatePart& part) {
    const std::size_t n = matching.find(part);
    Announcement mine{n, part.first, part.rows, {}};
    if (!entries[n].per_agent) mine.shared.assign(part.data.begin(), part.data.end());
    receive(members, state, entries, *announce(worker, mine), part.data);
  });
  matching.end();
  (void)announce(worker, {});
}

}  // namespace polyhop
