// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/mpi/crew.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "polyhop/core/codec.hpp"
#include "polyhop/core/serial_collective.hpp"
#include "polyhop/network/network.hpp"

namespace polyhop::mpi {
namespace {

// The network of one worker of a process. All workers write into the same mail; the first worker sends other processes
// what they want of it, while the others, and then it too, combine the agents whose neighbours are all here.
class CrewNetwork final : public Network {
 public:
  // Mail for the agents that this process hears of along one hop; and, once messages of two hops are sent, along two.
  using MailBox = std::array<Mail, 2>;

  CrewNetwork(Crew& crew, Index worker, VectorType vectors, MailBox& mail)
      : Network(crew.matrix, crew.block(worker), vectors, &crew.plan(1).roster),
        crew_(crew),
        mail_(mail),
        leads_(worker == 0) {}

  [[nodiscard]] Traffic crossings() const override { return crossings_; }

 private:
  Mail& outbox(const Message& message) override {
    if (reading_) {
      crew_.barrier.arrive_and_wait();
      reading_ = false;
    }
    if (provided_.vectors < message.vectors || provided_.scalars < message.scalars) {
      const std::lock_guard lock(crew_.mutex);
      make_room(mail(), message);
      provided_.vectors = std::max(provided_.vectors, message.vectors);
      provided_.scalars = std::max(provided_.scalars, message.scalars);
    }
    return mail();
  }
  void begin(const Message& message) override {
    phase_ = crew_.barrier.arrive();
    if (!leads_) return;
    crew_.barrier.wait(phase_);
    wire(message, first_leg(message)).start();
  }
  const Mail& finish(const Message& message) override {
    if (leads_) {
      receive(wire(message, first_leg(message)));
      if (message.hops == 2) {
        wire(message, Leg::second).start();
        receive(wire(message, Leg::second));
      }
    } else {
      crew_.barrier.wait(phase_);
    }
    crew_.barrier.arrive_and_wait();
    reading_ = true;
    return mail();
  }
  const Roster* widen() override {
    reach_ = 2;
    provided_ = {};
    return &crew_.plan(reach_).roster;
  }

  Mail& mail() { return mail_[reach_ - 1]; }
  static Leg first_leg(const Message& message) {
    return message.level != 0 ? Leg::tree : message.hops == 1 ? Leg::one_hop : Leg::first;
  }
  Wire& wire(const Message& message, Leg leg) {
    const auto vectors = std::span(mail().vectors).subspan(message.first, message.vectors);
    return crew_.wire(reach_, leg, message.level, {vectors, &mail().scalars, message.scalars});
  }
  void receive(Wire& wire) {
    wire.finish();
    crossings_ += wire.received();
  }

  Crew& crew_;
  MailBox& mail_;
  bool leads_;
  std::uint32_t phase_ = 0;
  bool reading_ = false;
  int reach_ = 1;  // hops of the mail in use
  Message provided_{};
  Traffic crossings_;
};

}  // namespace

Crew::Crew(Link& link_used, MPI_Comm world, const CombinationMatrix& whole, const Ownership& owners, Index count)
    : link(link_used),
      comm(MPI_COMM_NULL),
      matrix(whole),
      ownership(owners),
      workers(std::clamp<Index>(count, 1, owners.block(link_used.rank()).size())),
      barrier(workers, link_used.processes_here()),
      words(workers),
      parts(workers) {
  link.blocking([&] { MPI_Comm_dup(world, &comm); });
}

Crew::~Crew() {
  if (left_behind_) {
    for (auto& [key, wire] : wires_) (void)wire.release();
    keep_for_ever(mail);
    return;
  }
  wires_.clear();
  link.blocking([&] { MPI_Comm_free(&comm); });
}

Block Crew::block(Index worker) const {
  const Block whole = ownership.block(link.rank());
  const Block part = block_of(whole.size(), workers, worker);
  return {whole.first + part.first, whole.first + part.last, whole.numbering};
}

const ExchangePlan& Crew::plan(int hops) {
  const std::lock_guard lock(mutex);
  auto& made = plans_[hops - 1];
  if (!made) {
    made = std::make_unique<ExchangePlan>(plan_exchange(matrix.rows(), ownership, link.rank(), hops));
    for (const Correspondence& peer : made->one_hop) link.know(peer.rank, peer.here, peer.there);
  }
  return *made;
}

const std::vector<Correspondence>& Crew::peers(int hops, Leg leg, Index level) {
  const ExchangePlan& all = plan(hops);
  if (leg != Leg::tree) return leg == Leg::one_hop ? all.one_hop : all.two_hops[leg == Leg::first ? 0 : 1];
  const auto [at, is_new] = levels_.try_emplace({hops, level});
  if (is_new) at->second = plan_level(matrix.tree(), ownership, link.rank(), all.roster, level);
  return at->second;
}

Wire& Crew::wire(int hops, Leg leg, Index level, const Wire::Load& load) {
  auto& made = wires_[{hops, leg, level, load.vectors.data(), load.vectors.size(), load.numbers}];
  if (!made) {
    made = std::make_unique<Wire>(link, comm, peers(hops, leg, level), load);
  }
  return *made;
}

const std::vector<Crew::Run>& Crew::runs() {
  if (!runs_.empty()) return runs_;
  int before = -1;
  for (Index first = 0; first < matrix.agents();) {
    const auto owner = [&](Index agent) { return static_cast<int>(ownership.owner(agent)); };
    const int rank = owner(first);
    Index last = first + 1;
    while (last < matrix.agents() && owner(last) == rank) ++last;
    if (rank == link.rank()) {
      runs_.push_back({first, last, before, last < matrix.agents() ? owner(last) : -1});
      for (const int peer : {runs_.back().before, runs_.back().after}) {
        if (peer >= 0) link.know(peer);
      }
    }
    before = rank;
    first = last;
  }
  return runs_;
}

JobCollective::JobCollective(Crew& crew, Index worker) : crew_(crew), worker_(worker), block_(crew.block(worker)) {}

// Process `from` has the result in `collected`: passes it to all processes, and in each of them to all workers.
void JobCollective::share(std::span<double> numbers, int from) {
  Link& link = crew_.link;
  if (leads()) {
    if (from != 0 && link.rank() == from) link.send(crew_.collected, 0, crew_.comm);
    if (from != 0 && link.rank() == 0) link.receive(crew_.collected, from, crew_.comm);
    link.broadcast(crew_.collected, crew_.comm);
  }
  crew_.barrier.arrive_and_wait();
  std::ranges::copy(crew_.collected, numbers.begin());
  crew_.barrier.arrive_and_wait();
}

void JobCollective::in_order(std::span<double> numbers, const std::function<void(std::span<double>)>& turn) {
  Link& link = crew_.link;
  const int last = link.size() - 1;
  if (leads()) {
    crew_.collected.assign(numbers.size(), 0.0);
    if (link.rank() > 0) link.receive(crew_.collected, link.rank() - 1, crew_.comm);
  }
  for (Index worker = 0; worker < crew_.workers; ++worker) {
    crew_.barrier.arrive_and_wait();
    if (worker == worker_) turn(crew_.collected);
  }
  crew_.barrier.arrive_and_wait();
  if (leads() && link.rank() < last) link.send(crew_.collected, link.rank() + 1, crew_.comm);
  share(numbers, last);
}

void JobCollective::by_agent(std::span<double> numbers, Index agents,
                             const std::function<void(std::span<double>, Index k)>& turn) {
  if (block_.numbering == nullptr) {
    Collective::by_agent(numbers, agents, turn);
    return;
  }
  Link& link = crew_.link;
  if (leads()) {
    (void)crew_.runs();
    crew_.collected.assign(numbers.size(), 0.0);
  }
  crew_.barrier.arrive_and_wait();
  for (const Crew::Run& run : crew_.runs()) {
    if (leads() && run.before >= 0) link.receive(crew_.collected, run.before, crew_.comm);
    crew_.barrier.arrive_and_wait();
    for (Index agent = run.first; agent < run.last; ++agent) {
      if (block_.holds(agent)) turn(crew_.collected, block_.place(agent) - block_.first);
      if (crew_.workers > 1) crew_.barrier.arrive_and_wait();
    }
    if (leads() && run.after >= 0) link.send(crew_.collected, run.after, crew_.comm);
    crew_.barrier.arrive_and_wait();
  }
  share(numbers, static_cast<int>(crew_.ownership.owner(crew_.matrix.agents() - 1)));
}

void JobCollective::register_part(const Crew::Part& part) {
  crew_.parts[worker_] = part;
  crew_.barrier.arrive_and_wait();
}

// What another process tells the first one: which rows it means, and how many numbers they have.
JobCollective::Request JobCollective::hear_request(int peer) {
  MessageReader in(crew_.link.receive_bytes(peer, crew_.comm));
  Request out;
  out.rows = in.take<std::vector<Index>>();
  out.values.resize(in.take<std::size_t>());
  in.end();
  return out;
}

void JobCollective::send_request(std::size_t numbers) {
  std::vector<Index> rows;
  for (const Crew::Part& part : crew_.parts) rows.insert(rows.end(), part.rows.begin(), part.rows.end());
  crew_.link.send_bytes(message(rows, numbers), 0, crew_.comm);
}

// Each process sends the numbers of its rows, and then the rows.
void JobCollective::gather(std::span<const Index> rows, std::span<const double> mine, std::span<double> all) {
  register_part({rows, mine, {}});
  Link& link = crew_.link;
  if (leads() && link.rank() == 0) {
    for (const Crew::Part& part : crew_.parts) SerialCollective().gather(part.rows, part.read, all);
    for (int peer = 1; peer < link.size(); ++peer) {
      Request request = hear_request(peer);
      link.receive(request.values, peer, crew_.comm);
      SerialCollective().gather(request.rows, request.values, all);
    }
  } else if (leads()) {
    std::vector<double> values;
    for (const Crew::Part& part : crew_.parts) values.insert(values.end(), part.read.begin(), part.read.end());
    send_request(values.size());
    link.send(std::move(values), 0, crew_.comm);
  }
  crew_.barrier.arrive_and_wait();
}

// Each process sends the numbers of the rows it wants, and gets them.
void JobCollective::scatter(std::span<const Index> rows, std::span<double> mine, std::span<const double> all) {
  register_part({rows, {}, mine});
  Link& link = crew_.link;
  if (leads() && link.rank() == 0) {
    for (const Crew::Part& part : crew_.parts) SerialCollective().scatter(part.rows, part.written, all);
    for (int peer = 1; peer < link.size(); ++peer) {
      Request request = hear_request(peer);
      SerialCollective().scatter(request.rows, request.values, all);
      link.send(std::move(request.values), peer, crew_.comm);
    }
  } else if (leads()) {
    std::size_t numbers = 0;
    for (const Crew::Part& part : crew_.parts) numbers += part.written.size();
    send_request(numbers);
    std::vector<double> values(numbers);
    link.receive(values, 0, crew_.comm);
    auto next = values.begin();
    for (const Crew::Part& part : crew_.parts) {
      std::copy_n(next, part.written.size(), part.written.begin());
      next += static_cast<std::ptrdiff_t>(part.written.size());
    }
  }
  crew_.barrier.arrive_and_wait();
}

std::string JobCollective::from_first(const std::string& bytes) {
  if (leads()) crew_.said = crew_.link.broadcast_bytes(bytes, crew_.comm);
  crew_.barrier.arrive_and_wait();
  std::string out = crew_.said;
  crew_.barrier.arrive_and_wait();
  return out;
}

std::vector<std::string> JobCollective::to_first(const std::string& bytes) {
  Link& link = crew_.link;
  crew_.words[worker_] = bytes;
  crew_.barrier.arrive_and_wait();
  std::vector<std::string> out;
  if (leads() && link.rank() == 0) {
    out = crew_.words;
    for (int peer = 1; peer < link.size(); ++peer) {
      MessageReader in(link.receive_bytes(peer, crew_.comm));
      std::ranges::move(in.take<std::vector<std::string>>(), std::back_inserter(out));
      in.end();
    }
  } else if (leads()) {
    link.send_bytes(message(crew_.words), 0, crew_.comm);
  }
  crew_.barrier.arrive_and_wait();
  std::string().swap(crew_.words[worker_]);  // it may be the entire data
  return out;
}

void run_crew(Crew& crew, VectorType vectors, const Body& body) {
  const auto mail = std::make_shared<CrewNetwork::MailBox>();
  crew.mail = mail;
  run_workers(crew.workers, crew.barrier, [&](Index worker) {
    CrewNetwork network(crew, worker, vectors, *mail);
    JobCollective collective(crew, worker);
    Worker self{network, collective, crew.first_worker + worker, crew.all_workers};
    body(self);
  });
}

}  // namespace polyhop::mpi
