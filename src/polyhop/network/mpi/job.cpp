// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/mpi/job.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "polyhop/core/codec.hpp"
#include "polyhop/core/fingerprint.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/network/mpi/crew.hpp"
#include "polyhop/network/mpi/link.hpp"

namespace polyhop::mpi {
namespace {

// How a process fared, as a message to the others: empty if well.
enum class Kind { abandoned, bad_input, error };

std::string described(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Abandoned&) {
    return message(Kind::abandoned);
  } catch (const InputError& e) {
    return message(Kind::bad_input, e.path(), e.message(), e.line(), e.file());
  } catch (const std::bad_alloc&) {
    return message(Kind::bad_input, "", out_of_memory().message(), 0, "");
  } catch (const std::exception& e) {
    return message(Kind::error, e.what());
  } catch (...) {
    return message(Kind::error, "an unknown failure");
  }
}

// `where`: whose failure it is, unless all failed alike.
[[noreturn]] void throw_described(const std::string& failure, const std::string& where) {
  MessageReader in(failure);
  if (in.take<Kind>() == Kind::error) throw Error(in.take<std::string>() + where);
  const auto path = in.take<std::string>();
  const auto what = in.take<std::string>() + where;
  const int line = in.take<int>();
  throw InputError(path, what, line, in.take<std::string>());
}

// What `tell` and `collective` pass where no graph is needed: one agent per process, and edges that are never used.
CombinationMatrix alone_each(Index processes) {
  SparseRows rows;
  for (Index r = 0; r < processes; ++r) {
    // A path, so that it is connected.
    const bool first = r == 0;
    const bool last = r == processes - 1;
    if (!first) rows.add(static_cast<std::int32_t>(r - 1), 0.25);
    rows.add(static_cast<std::int32_t>(r), 1 - (first ? 0 : 0.25) - (last ? 0 : 0.25));
    if (!last) rows.add(static_cast<std::int32_t>(r + 1), 0.25);
    rows.end_row();
  }
  return CombinationMatrix(std::move(rows));
}

Ownership one_each(Index processes) {
  Ownership out;
  for (Index r = 0; r <= processes; ++r) out.first.push_back(r);
  return out;
}

std::uint64_t fingerprint(const Ownership& ownership) {
  Fingerprint out;
  for (const Index first : ownership.first) out.add(first);
  if (ownership.numbering) {
    for (const std::int32_t agent : ownership.numbering->agent) out.add(agent);
  }
  return out.value();
}

}  // namespace

namespace {

// What all Jobs of this process share. MPI, if a Job initialised it, is finalised when the process exits; if a Job is
// still alive then, as a static one may be, when that Job ends.
std::mutex usage_mutex;
Index jobs_alive = 0;
bool initialised_by_a_job = false;
bool is_exiting = false;

void finalise_if_unused() {
  int done = 0;
  MPI_Finalized(&done);
  if (jobs_alive == 0 && done == 0) MPI_Finalize();
}

extern "C" void finalise_at_exit() {
  const std::lock_guard lock(usage_mutex);
  is_exiting = true;
  finalise_if_unused();
}

void initialise() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  initialised_by_a_job = true;
  // Registered after what the library itself registers, so that it runs before that.
  if (std::atexit(finalise_at_exit) != 0) throw Error("cannot register what finalises MPI at exit");
}

const char* thread_level(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    default:
      return "MPI_THREAD_SERIALIZED";
  }
}

// Several workers take turns calling MPI, and the heartbeat has its own thread.
void require_threads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) return;
  if (initialised_by_a_job) throw Error("this MPI library does not support threads; install another one");
  throw Error(std::string("MPI was initialised with ") + thread_level(level) +
              ", but polyhop needs MPI_THREAD_MULTIPLE; ask for that with MPI_Init_thread instead of MPI_Init, or in "
              "Python with mpi4py.rc.thread_level = \"multiple\"");
}

const Options& checked(const Options& options) {
  if (!(options.peer_timeout >= 0.1)) throw InputError("peer_timeout", "expected 0.1 seconds or more");
  return options;
}

// Keeps MPI alive as long as a Job needs it.
class Usage {
 public:
  enum class Communicator { world, given };
  explicit Usage(Communicator communicator) {
    const std::lock_guard lock(usage_mutex);
    int done = 0;
    MPI_Finalized(&done);
    if (done != 0) {
      throw Error("MPI is finalised already, and cannot be initialised again; finalise it after the last Job");
    }
    int begun = 0;
    MPI_Initialized(&begun);
    if (begun == 0 && communicator == Communicator::given) {
      throw Error("a Job was given a communicator before MPI was initialised");
    }
    if (begun == 0) initialise();
    require_threads();
    ++jobs_alive;
  }
  ~Usage() {
    const std::lock_guard lock(usage_mutex);
    --jobs_alive;
    if (is_exiting) finalise_if_unused();
  }
  Usage(const Usage&) = delete;
  Usage& operator=(const Usage&) = delete;
};

}  // namespace

class Job::Implementation {
 public:
  Implementation(const Options& chosen, Usage::Communicator whose, MPI_Comm parent)
      : options(checked(chosen)),
        usage(whose),
        link(parent, chosen.peer_timeout, chosen.advice),
        matrix(alone_each(link.size())),
        ownership(one_each(link.size())) {
    make_collective();
  }

  void make_collective() {
    crew = std::make_unique<Crew>(link, link.world(), matrix, ownership, 1);
    collective = std::make_unique<JobCollective>(*crew, 0);
  }

  // Every process reports how it fared; if any failed, all throw, each its own failure or the first one's.
  void agree(const std::exception_ptr& failure) {
    const std::vector<std::string> all = link.tell(failure ? described(failure) : "");
    const auto failed = [](const std::string& fared) { return !fared.empty(); };
    const auto told = [&](const std::string& fared) {
      return failed(fared) && MessageReader(fared).take<Kind>() != Kind::abandoned;
    };
    if (std::ranges::none_of(all, failed)) return;
    Index alarms = 0;
    for (std::size_t r = 0; r < all.size(); ++r) alarms += failed(all[r]) && static_cast<int>(r) != link.rank();
    link.blocking([&] { link.take_alarms(alarms); });
    // Messages that this collective left in transit must not meet the next call's.
    crew->leave_behind();
    make_collective();
    const auto first = std::ranges::find_if(all, told);
    if (first == all.end()) throw Abandoned();
    const bool everywhere = std::ranges::all_of(all, [&](const std::string& fared) { return fared == *first; });
    throw_described(*first, everywhere ? "" : " (" + link.name(static_cast<int>(first - all.begin())) + ")");
  }

  // Numbers workers across all processes, which may have different numbers of them. All must have dealt the agents in
  // the same way, or messages would not fit.
  void number_workers(Crew& of_launch) {
    const auto all = link.tell(message(of_launch.workers, fingerprint(of_launch.ownership)));
    std::uint64_t dealt_by_first = 0;
    int other = 0;  // a process that dealt differently
    of_launch.all_workers = 0;
    for (int rank = 0; rank < link.size(); ++rank) {
      MessageReader in(all[rank]);
      if (rank == link.rank()) of_launch.first_worker = of_launch.all_workers;
      of_launch.all_workers += in.take<Index>();
      const auto dealt = in.take<std::uint64_t>();
      in.end();
      if (rank == 0) dealt_by_first = dealt;
      if (dealt != dealt_by_first) other = rank;
    }
    if (other != 0) {
      throw InputError("placement", link.name(other) + " has assigned agents to ranks differently from " +
                                        link.name(0) + " (a different METIS?); use \"contiguous\"");
    }
  }

  static MPI_Comm handle(const Communicator& communicator) {
    MPI_Comm out = MPI_COMM_NULL;
    if (communicator.size_ != sizeof out) {
      throw InputError("communicator", "is not one of " + library() + ", which polyhop was built with");
    }
    std::memcpy(&out, &communicator.value_, sizeof out);
    return out;
  }

  Options options;
  Usage usage;
  Link link;
  CombinationMatrix matrix;
  Ownership ownership;
  std::unique_ptr<Crew> crew;
  std::unique_ptr<JobCollective> collective;
};

namespace {

// Alarms are heeded while it lives; afterwards as before.
class AlarmScope {
 public:
  explicit AlarmScope(Link& link) : link_(link), before_(link.heed_alarms(true)) {}
  ~AlarmScope() { link_.heed_alarms(before_); }
  AlarmScope(const AlarmScope&) = delete;
  AlarmScope& operator=(const AlarmScope&) = delete;

 private:
  Link& link_;
  bool before_;
};

}  // namespace

Communicator Communicator::at(const void* address) { return Communicator(*static_cast<const MPI_Comm*>(address)); }

Job::Job(const Options& options)
    : implementation_(std::make_unique<Implementation>(options, Usage::Communicator::world, MPI_COMM_WORLD)) {}

Job::Job(const Communicator& communicator, const Options& options)
    : implementation_(std::make_unique<Implementation>(options, Usage::Communicator::given,
                                                       Implementation::handle(communicator))) {}

Job::~Job() = default;

Index Job::rank() const { return implementation_->link.rank(); }
Index Job::size() const { return implementation_->link.size(); }
std::string Job::name(Index rank) const { return implementation_->link.name(static_cast<int>(rank)); }

std::string Job::library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string_view whole(text.data());
  std::string name(whole.substr(0, whole.find_first_of(",\n")));
  // MPICH writes a table.
  constexpr std::string_view heading = " Version:\t";
  if (const auto at = name.find(heading); at != std::string::npos) name.replace(at, heading.size(), " ");
  return name;
}

std::vector<std::string> Job::tell(const std::string& text) { return implementation_->link.tell(text); }
Collective& Job::collective() { return *implementation_->collective; }

void Job::together(const std::function<void()>& work) {
  Link& link = implementation_->link;
  const AlarmScope scope(link);
  std::exception_ptr failure;
  try {
    work();
  } catch (const LostPeer&) {
    throw;
  } catch (...) {
    failure = std::current_exception();
    link.raise_alarm();
  }
  link.heed_alarms(false);
  implementation_->agree(failure);
}

void Job::launch(const CombinationMatrix& matrix, const Ownership& ownership, VectorType vectors, Index workers,
                 const Body& body) {
  Link& link = implementation_->link;
  if (matrix.agents() < size()) {
    throw InputError("ranks", "there are " + std::to_string(size()) + " and only " + std::to_string(matrix.agents()) +
                                  " agents; start at most as many ranks as there are agents");
  }
  // A process that is alone runs experiments side by side, but a link serves only one thread.
  if (size() == 1) {
    Team::launch(matrix, ownership, vectors, workers, body);
    return;
  }
  Crew crew(link, link.world(), matrix, ownership, workers);
  implementation_->number_workers(crew);
  try {
    together([&] { run_crew(crew, vectors, body); });
  } catch (...) {
    crew.leave_behind();
    throw;
  }
}

bool Job::all_leave_within(double seconds) { return implementation_->link.all_leave_within(seconds); }

void Job::abort(int code) { implementation_->link.abort(code); }

void launch(Job& job, const CombinationMatrix& matrix, VectorType vectors, const Body& body, Index threads) {
  std::vector<double> cost;
  for (Index k = 0; k < matrix.agents(); ++k) cost.push_back(static_cast<double>(matrix.rows().columns_of(k).size()));
  job.launch(matrix, balanced_ownership(cost, std::min(job.size(), matrix.agents())), vectors, threads, body);
}

}  // namespace polyhop::mpi
