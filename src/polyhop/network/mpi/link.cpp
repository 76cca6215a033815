// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/mpi/link.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "polyhop/core/codec.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/network/team.hpp"
#include "polyhop/network/thread_barrier.hpp"

namespace polyhop::mpi {
namespace {

constexpr int data_tag = 1;
constexpr int bytes_tag = 2;
constexpr int alarm_tag = 3;
constexpr int life_tag = 4;

// Errors on the copy end the program, even if the original returns them (as mpi4py sets it): no call here checks.
MPI_Comm duplicate(MPI_Comm parent) {
  if (parent == MPI_COMM_NULL) {
    throw InputError("communicator", "is MPI_COMM_NULL: only a communicator's own processes can make a Job of it");
  }
  int joins_two = 0;
  MPI_Comm_test_inter(parent, &joins_two);
  if (joins_two != 0) throw InputError("communicator", "joins two groups; merge them with MPI_Intercomm_merge");
  MPI_Comm copy = MPI_COMM_NULL;
  if (MPI_Comm_dup(parent, &copy) != MPI_SUCCESS) throw InputError("communicator", "MPI cannot duplicate it");
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_ARE_FATAL);
  return copy;
}

}  // namespace

int as_count(std::size_t numbers) {
  if (numbers > static_cast<std::size_t>(1) << 30) throw Error("more than 8 GB to send to another process at once");
  return static_cast<int>(numbers);
}

void keep_for_ever(std::shared_ptr<const void> memory) {
  // Jobs in several threads may each have memory to keep.
  static std::mutex mutex;
  static auto* kept = new std::vector<std::shared_ptr<const void>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(memory));
}

Link::Link(MPI_Comm parent, double peer_timeout, std::string advice)
    : timeout_(peer_timeout), advice_(std::move(advice)), world_(duplicate(parent)) {
  for (MPI_Comm* comm : {&alarm_, &heart_}) MPI_Comm_dup(world_, comm);
  MPI_Comm_rank(world_, &rank_);
  MPI_Comm_size(world_, &size_);
  silent_ = std::vector<std::atomic<double>>(size_);
  // The peers in collectives: before, behind, and along the tree.
  for (const int peer : {rank_ - 1, rank_ + 1}) {
    if (peer >= 0 && peer < size_) know(peer);
  }
  if (rank_ > 0) know(tree_parent());
  for (const int child : tree_children()) know(child);
  // All processes ask the first one, and the last one tells it.
  if (rank_ > 0) know(0);
  for (int peer = 1; rank_ == 0 && peer < size_; ++peer) know(peer);
  heartbeat_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  hosts_.assign(size_, "?");
  hosts_ = tell(std::string(name.data(), static_cast<std::size_t>(length)));
  processes_here_ = std::ranges::count(hosts_, hosts_[rank_]);
  crowded_ = processes_here_ > static_cast<Index>(std::thread::hardware_concurrency());
}

Link::~Link() {
  // Others may still work for long: until all are here, each says that it is alive.
  if (!leaves_) blocking([&] { meet([] {}); });
  heartbeat_.request_stop();
  bell_.notify_all();
  heartbeat_.join();
  // What is still on its way is taken off the wire once nobody sends any more.
  for (auto& [rank, peer] : peers_) {
    for (int done = 0; peer.beat != MPI_REQUEST_NULL && done == 0; hear()) {
      MPI_Test(&peer.beat, &done, MPI_STATUS_IGNORE);
    }
  }
  meet([&] { hear(); });
  hear();
  for (MPI_Comm* comm : {&world_, &alarm_, &heart_}) MPI_Comm_free(comm);
}

bool Link::has_met() {
  int done = 0;
  MPI_Test(&meeting_, &done, MPI_STATUS_IGNORE);
  if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  return done != 0;
}

// Waits until all processes are here, doing `meanwhile` in the meantime.
void Link::meet(const std::function<void()>& meanwhile) {
  MPI_Ibarrier(world_, &meeting_);
  do meanwhile();
  while (!has_met());
}

bool Link::all_leave_within(double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  MPI_Ibarrier(world_, &meeting_);
  while (!leaves_ && Clock::now() < end) leaves_ = has_met();
  return leaves_;
}

void Link::know(int peer, Index here, Index there) {
  const std::lock_guard lock(mutex_);
  Peer& known = peers_[peer];
  if (here >= 0) known.here = here, known.there = there;
}

// Tells the peers that this process is alive, and listens, several times per allowed silence.
void Link::beat(const std::stop_token& stop) {
  const auto period = std::chrono::duration<double>(std::clamp(timeout_ / 10, 0.02, 1.0));
  std::mutex asleep;
  auto before = Clock::now();
  while (!stop.stop_requested()) {
    const auto now = Clock::now();
    const double passed = std::min<std::chrono::duration<double>>(now - before, 2 * period).count();
    before = now;
    count_silence(passed);
    tell_alive();
    hear();
    look_for_lost();
    std::unique_lock lock(asleep);
    bell_.wait_for(lock, stop, period, [] { return false; });
  }
}

// Counts for known peers, from when they became known.
void Link::count_silence(double seconds) {
  const std::lock_guard lock(mutex_);
  for (const auto& [rank, peer] : peers_) {
    auto& silent = silent_[rank];
    silent = silent + seconds;
  }
}

void Link::tell_alive() {
  const std::lock_guard lock(mutex_);
  for (auto& [rank, peer] : peers_) {
    int done = 1;
    if (peer.beat != MPI_REQUEST_NULL) MPI_Test(&peer.beat, &done, MPI_STATUS_IGNORE);
    if (done != 0) MPI_Isend(&peer.word, 1, MPI_CHAR, rank, life_tag, heart_, &peer.beat);
  }
}

void Link::hear() {
  for (;;) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, life_tag, heart_, &there, &status);
    if (there == 0) return;
    char word = 0;
    MPI_Recv(&word, 1, MPI_CHAR, status.MPI_SOURCE, life_tag, heart_, MPI_STATUS_IGNORE);
    silent_[status.MPI_SOURCE] = 0;
    know(status.MPI_SOURCE);
  }
}

// The message about a lost peer.
std::string Link::loss(int peer) const {
  Index here = -1;
  Index there = -1;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = peers_.find(peer); found != peers_.end()) {
      here = found->second.here;
      there = found->second.there;
    }
  }
  std::string text = name(peer) + " has been silent for " + std::to_string(static_cast<int>(silence(peer))) + " s; " +
                     name(rank_) + " waited for it";
  if (here >= 0) text += ", along the edge from agent " + std::to_string(there) + " to agent " + std::to_string(here);
  return text + (advice_.empty() ? "." : ". " + advice_);
}

// For calls that cannot check for lost peers themselves.
void Link::look_for_lost() {
  if (!blocked_) return;
  std::vector<int> peers;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [rank, peer] : peers_) peers.push_back(rank);
  }
  for (const int peer : peers) {
    if (silence(peer) <= timeout_ || !blocked_) continue;
    std::fputs(("polyhop: " + loss(peer) + "\n").c_str(), stderr);
    constexpr int lost_peer = 5;
    abort(lost_peer);
  }
}

void Link::look_around(std::span<const int> peers) const {
  int there = 0;
  if (heeds_alarms_) MPI_Iprobe(MPI_ANY_SOURCE, alarm_tag, alarm_, &there, MPI_STATUS_IGNORE);
  if (there != 0) throw Abandoned();
  for (const int peer : peers) {
    if (silence(peer) > timeout_) throw LostPeer(loss(peer));
  }
}

template <class Done>
void Link::wait_until(Done done, std::span<const int> peers) {
  using std::chrono::milliseconds;
  const auto begin = Clock::now();
  auto looked = begin;
  for (int tries = 1; !done(); ++tries) {
    // If cores are few, the process that is waited for may need this one's.
    if (crowded_ || tries > 50) std::this_thread::yield();
    if (tries % 64 != 0) continue;
    const auto now = Clock::now();
    if (now - looked < milliseconds(20)) continue;
    looked = now;
    look_around(peers);
    // It takes long: no need to look thousands of times per second.
    while (now - begin > milliseconds(100)) {
      std::this_thread::sleep_for(milliseconds(1));
      if (done()) return;
      look_around(peers);
    }
  }
}

void Link::wait(std::span<MPI_Request> requests, std::span<const int> peers) {
  const auto all_are_done = [&] {
    int done = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  };
  wait_until(all_are_done, peers);
}

template <class Vector>
void Link::send(Vector&& content, MPI_Datatype type, std::span<const int> peers, int tag, MPI_Comm comm) {
  const auto own = std::make_shared<const std::decay_t<Vector>>(std::forward<Vector>(content));
  std::vector<MPI_Request> requests;
  for (const int peer : peers) {
    MPI_Isend(own->data(), as_count(own->size()), type, peer, tag, comm, &requests.emplace_back(MPI_REQUEST_NULL));
  }
  try {
    wait(requests, peers);
  } catch (const Abandoned&) {
    keep_for_ever(own);
    throw;
  }
}

void Link::receive(void* content, std::size_t count, MPI_Datatype type, int from, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(content, as_count(count), type, from, tag, comm, &request);
  try {
    wait({&request, 1}, {&from, 1});
  } catch (const Abandoned&) {
    // Nothing may be written there any more; a message already in transit still arrives.
    MPI_Cancel(&request);
    blocking([&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
    throw;
  }
}

void Link::send(std::vector<double> numbers, int to, MPI_Comm comm) {
  send(std::move(numbers), MPI_DOUBLE, {&to, 1}, data_tag, comm);
}

void Link::receive(std::span<double> numbers, int from, MPI_Comm comm) {
  receive(numbers.data(), numbers.size(), MPI_DOUBLE, from, data_tag, comm);
}

// The parent of rank r is r with its lowest set bit cleared.
std::vector<int> Link::tree_children() const {
  std::vector<int> out;
  for (int bit = 1; rank_ + bit < size_ && (rank_ & bit) == 0; bit *= 2) out.push_back(rank_ + bit);
  std::ranges::reverse(out);  // the largest subtree first
  return out;
}

void Link::broadcast(std::span<double> numbers, MPI_Comm comm) {
  if (rank_ > 0) receive(numbers, tree_parent(), comm);
  const std::vector<int> children = tree_children();
  if (!children.empty()) send(std::vector(numbers.begin(), numbers.end()), MPI_DOUBLE, children, data_tag, comm);
}

void Link::send_bytes(std::string bytes, int to, MPI_Comm comm) {
  send(std::move(bytes), MPI_CHAR, {&to, 1}, bytes_tag, comm);
}

std::string Link::receive_bytes(int from, MPI_Comm comm) {
  // The receive buffer cannot be allocated before the length is known.
  MPI_Status status;
  const auto is_there = [&] {
    int there = 0;
    MPI_Iprobe(from, bytes_tag, comm, &there, &status);
    return there != 0;
  };
  wait_until(is_there, {&from, 1});
  int length = 0;
  MPI_Get_count(&status, MPI_CHAR, &length);
  std::string bytes(length, '\0');
  receive(bytes.data(), bytes.size(), MPI_CHAR, from, bytes_tag, comm);
  return bytes;
}

std::string Link::broadcast_bytes(std::string bytes, MPI_Comm comm) {
  if (rank_ > 0) bytes = receive_bytes(tree_parent(), comm);
  const std::vector<int> children = tree_children();
  if (!children.empty()) send(std::string(bytes), MPI_CHAR, children, bytes_tag, comm);
  return bytes;
}

// Everything goes to the first process, which sends it to all in one message.
std::vector<std::string> Link::tell(const std::string& text) {
  if (rank_ > 0) send_bytes(text, 0, world_);
  MessageWriter out;
  for (int peer = 0; rank_ == 0 && peer < size_; ++peer) out.add(peer == 0 ? text : receive_bytes(peer, world_));
  MessageReader in(broadcast_bytes(out.bytes(), world_));
  std::vector<std::string> all(size_);
  for (std::string& one : all) one = in.take<std::string>();
  in.end();
  return all;
}

void Link::raise_alarm() {
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) continue;
    static const char word = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(&word, 1, MPI_CHAR, peer, alarm_tag, alarm_, &request);
    MPI_Request_free(&request);
  }
}

void Link::take_alarms(Index count) {
  for (Index n = 0; n < count; ++n) {
    char word = 0;
    MPI_Recv(&word, 1, MPI_CHAR, MPI_ANY_SOURCE, alarm_tag, alarm_, MPI_STATUS_IGNORE);
  }
}

void Link::abort(int code) {
  // The library may try to tell the others first, and they may be out of reach.
  std::thread([code] {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    _exit(code);
  }).detach();
  MPI_Abort(MPI_COMM_WORLD, code);
  _exit(code);
}

}  // namespace polyhop::mpi
