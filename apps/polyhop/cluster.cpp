// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "experiment_run.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/fingerprint.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/value.hpp"
#include "terminal.hpp"
#ifdef POLYHOP_HAS_MPI
#include "polyhop/network/mpi/job.hpp"
#endif

namespace polyhop::app {
namespace {

// What Open MPI, MPICH and Slurm tell the processes that they start.
struct Announced {
  int rank = 0;
  int size = 1;
  const char* by = "";
};

Announced announced() {
  struct Names {
    const char* rank;
    const char* size;
    const char* by;
  };
  constexpr Names known[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpirun"},
                             {"PMI_RANK", "PMI_SIZE", "mpirun"},
                             {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun"}};
  for (const Names& names : known) {
    const char* rank = std::getenv(names.rank);
    const char* size = std::getenv(names.size);
    if (rank == nullptr || size == nullptr || std::atoi(size) <= 1) continue;
    return {std::atoi(rank), std::atoi(size), names.by};
  }
  return {};
}

// What to do when a rank is lost.
std::string command_name;
std::string advice() {
  return command_name == "run" ? "The same command resumes from the last checkpoint, even with fewer ranks."
                               : "Nothing was saved: start again, with fewer ranks if necessary.";
}

volatile pid_t child = 0;
bool supervised = false;
volatile std::sig_atomic_t forwarded = 0;

// The second time it is meant.
extern "C" void forward(int signal) {
  if (child > 0) kill(child, forwarded == signal ? SIGKILL : signal);
  forwarded = signal;
}

std::string host_name() {
  std::string host(256, '\0');
  gethostname(host.data(), host.size() - 1);
  return host.c_str();
}

// Waits for the child, passes signals on to it, and ends as it does.
[[noreturn]] void watch(const Announced& self) {
  struct sigaction action {};
  action.sa_handler = forward;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) _exit(internal_error);
  }
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  // Killed on demand: the launcher ends everybody.
  if (forwarded != 0) _exit(128 + forwarded);
  const std::string text = "polyhop: rank " + std::to_string(self.rank) + " on " + host_name() +
                           " was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) +
                           (signal == SIGKILL ? "; out of memory?" : "") + "). " + advice() + "\n";
  (void)!write(STDERR_FILENO, text.data(), text.size());
  _exit(lost_peer);
}

// What the working process has to do with the one that watches over it.
pid_t watcher = 0;
std::string watcher_gone;

// The watcher is no more; or someone else sent the signal. mpirun ends watchers, too, when the job is over: it asks
// first, and then there is nothing to tell.
extern "C" void on_hangup(int signal) {
  if (getppid() == watcher) {
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  if (stop_signal() == 0) sleep(1);  // what it asks may still be on its way
  if (stop_signal() == 0) (void)!write(STDERR_FILENO, watcher_gone.data(), watcher_gone.size());
  _exit(lost_peer);
}

bool is_watcher_stopped() {
  std::ifstream in("/proc/" + std::to_string(watcher) + "/stat");
  std::string text;
  std::getline(in, text);
  const std::size_t end = text.rfind(')');  // of the program's name
  return end != std::string::npos && text.substr(end).starts_with(") T");
}

// A stopped watcher would pass no signal on, and never tell mpirun that the work is done: it is woken. Not at once,
// since a job that goes on after all of it was stopped wakes one process after the other.
void keep_watcher_awake(const std::string& who) {
  const std::string text = "polyhop: the process that watches over " + who +
                           " was stopped; it was woken, since the job would never have ended. To pause a job, stop the "
                           "processes that work.\n";
  std::thread([text] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    for (bool before = false;;) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      const bool stopped = is_watcher_stopped();
      if (stopped && before) {
        (void)!write(STDERR_FILENO, text.data(), text.size());
        kill(watcher, SIGCONT);
      }
      before = stopped;
    }
  }).detach();
}

// This process works, and its parent watches.
void be_watched(const Announced& self, pid_t parent) {
  watcher = parent;
  const std::string who = "rank " + std::to_string(self.rank) + " on " + host_name();
  watcher_gone = "polyhop: the process that watches over " + who + " was killed, so the rank ends. " + advice() + "\n";
  // Signals come through the parent alone, and without it nobody would wait for this process. If this one is stopped
  // then, the system wakes it, since its group is left without a parent.
  setpgid(0, 0);
  std::signal(SIGHUP, on_hangup);
  std::signal(SIGPIPE, SIG_IGN);  // MPI may write to a peer that is lost before its silence is noticed
  prctl(PR_SET_PDEATHSIG, SIGHUP);
  if (getppid() != watcher) on_hangup(SIGHUP);
  keep_watcher_awake(who);
}

#ifdef POLYHOP_HAS_MPI
std::unique_ptr<mpi::Job> job;

// Ends the process when not all have joined in time: MPI waits for those that never come, and nobody could tell it to
// stop.
class StartLimit {
 public:
  StartLimit(const Announced& self, double seconds) {
    text_ = "polyhop: rank " + std::to_string(self.rank) + " on " + host_name() + " waited " + shortest(seconds) +
            " s for all " + std::to_string(self.size) +
            " processes to join. Do all of them run the same command? --peer-timeout gives them longer.\n";
    std::signal(SIGALRM, [](int) {
      (void)!write(STDERR_FILENO, text_.data(), text_.size());
      _exit(lost_peer);
    });
    alarm(static_cast<unsigned>(std::ceil(seconds)));
  }
  ~StartLimit() {
    alarm(0);
    std::signal(SIGALRM, SIG_DFL);
  }
  StartLimit(const StartLimit&) = delete;
  StartLimit& operator=(const StartLimit&) = delete;

 private:
  static inline std::string text_;
};
#endif

}  // namespace

Placement ClusterArguments::placed() const {
  for (const auto& [value, name] : EnumNames<Placement>::names) {
    if (name == placement) return value;
  }
  return Placement::automatic;
}

void add_cluster(Command& command, ClusterArguments& arguments) {
  command
      .option("--peer-timeout", arguments.peer_timeout,
              "under mpirun: seconds of silence after which another rank counts as lost (default: 60)")
      .within(1.0, 1e9);
  command
      .option(
          "--placement", arguments.placement,
          "the order of agents in memory; no result depends on it. contiguous: by number; metis: under mpirun, so that "
          "few links join two ranks; auto: by number, or on one machine with neighbours near each other if that is "
          "faster")
      .one_of({"auto", "contiguous", "metis"});
}

void supervise(const std::string& command) {
  command_name = command;
  const Announced self = announced();
  if (self.size == 1) return;
  std::signal(SIGCHLD, SIG_DFL);  // ignored, as some launchers leave it, it would hide how the child ends
  const pid_t parent = getpid();
  child = fork();
  if (child < 0) throw Error(std::string("cannot start the process that works: ") + std::strerror(errno));
  if (child > 0) watch(self);
  supervised = true;
  be_watched(self, parent);
  // mpirun reads the output through a terminal of its own making; where it goes from there, nobody here knows.
  setenv("NO_COLOR", "1", 0);
  if (self.rank == 0) return;
  mute();
  const int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
}

bool is_supervised() { return supervised; }

bool is_idle(const std::string& command) { return announced().rank > 0 && command != "run" && command != "fit"; }

Team& join_team(const ClusterArguments& arguments) {
  const Announced self = announced();
  if (self.size == 1) return alone();
#ifdef POLYHOP_HAS_MPI
  if (!job) {
    mpi::Options options;
    options.peer_timeout = arguments.peer_timeout;
    options.advice = advice();
    const StartLimit limit(self, arguments.peer_timeout);
    job = std::make_unique<mpi::Job>(options);
    if (job->size() != self.size) {
      throw InputError(self.by, "started " + std::to_string(self.size) + " processes, but " + mpi::Job::library() +
                                    ", which this polyhop is built with, knows of " + std::to_string(job->size()) +
                                    "; use the mpirun of that library, or `srun --mpi=pmix`");
    }
    // Before anything else that all of them do: another command would do other things.
    agree_on(*job, "command", command_name);
    share_memory(std::ranges::count(job->tell(host_name()), host_name()));
    agree_on(*job, "--placement or --peer-timeout", arguments.placement + " " + shortest(arguments.peer_timeout));
  }
  return *job;
#else
  (void)arguments;
  throw InputError(self.by, "started " + std::to_string(self.size) +
                                " processes, but this polyhop was built without MPI; install libopenmpi-dev and build "
                                "it again, or start it by hand");
#endif
}

std::string mpi_library() {
#ifdef POLYHOP_HAS_MPI
  return mpi::Job::library();
#else
  return "";
#endif
}

void leave_team(int code, const std::string& wrong) {
  if (supervised) kill(watcher, SIGCONT);  // it may have been stopped a moment ago, and is to see the end
#ifdef POLYHOP_HAS_MPI
  constexpr double patience = 10;
  if (job && !wrong.empty() && !job->all_leave_within(patience)) {
    // It went wrong here alone: the others are at work, and would wait for this process for ever.
    if (!job->is_first()) {
      std::fputs((wrong.substr(0, wrong.find('\n')) + " (" + job->name(job->rank()) + ")\n").c_str(), stderr);
    }
    job->abort(code);
  }
  // An error before joining is everyone's, and the first rank reports it. mpirun kills all as soon as one fails, so the
  // others give it time.
  if (!job && supervised && announced().rank > 0 && !wrong.empty()) sleep(1);
  job.reset();
#else
  (void)code;
  (void)wrong;
#endif
}

void abort_team(int code) {
  if (supervised) kill(watcher, SIGCONT);
#ifdef POLYHOP_HAS_MPI
  if (job) job->abort(code);
#endif
  std::_Exit(code);
}

void agree_on(Team& team, const std::string& what, const std::string& text) {
  // Not the text itself: every process is told what all of them say.
  Fingerprint of_text;
  of_text.add(text);
  const std::vector<std::string> all = team.tell(std::string(POLYHOP_VERSION) + '\0' + hexadecimal(of_text.value()));
  const auto version = [](const std::string& told) { return std::string(told.c_str()); };
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    const std::string who = team.name(static_cast<Index>(r));
    if (version(all[r]) != version(all[0])) {
      throw InputError("ranks", who + " runs polyhop " + version(all[r]) + ", " + team.name(0) + " runs " +
                                    version(all[0]) + "; all must run the same");
    }
    throw InputError("ranks", who + " has another " + what + " than " + team.name(0) + "; all must have the same");
  }
}

bool is_stopped(Team& team, bool here) {
  if (team.size() == 1) return here;
  return !team.tell(here ? "stop" : "")[0].empty();
}

}  // namespace polyhop::app
