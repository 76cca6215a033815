// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// How a Job shares MPI with the program around it. MPI can be initialised once in a process, so the first argument says
// who does that and when, and chooses the tests for it.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "mpi/ranks.hpp"
#include "polyhop/network/mpi/job.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/trial.hpp"

namespace polyhop {
namespace {

using mpi::Communicator;
using mpi::Job;

bool is_initialised() {
  int yes = 0;
  MPI_Initialized(&yes);
  return yes != 0;
}

bool is_finalised() {
  int yes = 0;
  MPI_Finalized(&yes);
  return yes != 0;
}

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// Every other process of the world, the last one first: ranks in it are not those of the world.
class Half {
 public:
  Half() : number_(world_rank() % 2) { MPI_Comm_split(MPI_COMM_WORLD, number_, -world_rank(), &comm_); }
  ~Half() { MPI_Comm_free(&comm_); }
  Half(const Half&) = delete;
  Half& operator=(const Half&) = delete;

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }

 private:
  int number_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// Runs one of two experiments on the job and compares the states of its agents with those of one process alone.
void expect_the_bits_of_one_process(Job& job, int experiment) {
  constexpr std::uint64_t seed = 7;
  ProblemOptions options;
  options.model.loss = builtin_loss(experiment == 0 ? "least-squares" : "logistic");
  options.model.l2 = 0.1;
  options.dimension = experiment == 0 ? 9 : 33;
  options.samples = 4;
  const Index agents = experiment == 0 ? 14 : 17;
  const Index iterations = experiment == 0 ? 12 : 30;
  const auto topology = experiment == 0 ? Topology::ring : Topology::complete;
  const auto instance = test::synthetic_instance(test::network_of(topology, agents), options, seed);
  const Ownership own = balanced_ownership(std::vector<double>(agents, 1.0), job.size());
  const auto expected = test::follow(instance, test::gap(), iterations, test::serial(), seed);
  const auto found = test::follow(instance, test::gap(), iterations, test::over(job, own, 1), seed);
  ASSERT_EQ(found.states.size(), expected.states.size());
  for (std::size_t i = 0; i < found.states.size(); ++i) {
    EXPECT_TRUE(test::same_bits(found.states[i], expected.states[i], own.block(job.rank())))
        << "before iteration " << i;
  }
}

void expect_a_working_mpi() {
  EXPECT_FALSE(is_finalised());
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sum, world_size());
}

template <class Make>
std::string refusal_of(const Make& make) {
  try {
    make();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << '"' << text << "\" lacks \"" << part << '"';
}

// The program has initialised MPI.

TEST(InitialisedByTheProgram, JobsOnTheWorldFollowOneAnotherAndLeaveMpiToIt) {
  for (int again = 0; again < 2; ++again) {
    Job job{Communicator(MPI_COMM_WORLD)};
    EXPECT_EQ(job.size(), world_size());
    EXPECT_EQ(job.rank(), world_rank());
    expect_the_bits_of_one_process(job, 0);
  }
  expect_a_working_mpi();
}

TEST(InitialisedByTheProgram, AJobWithoutACommunicatorTakesTheWorld) {
  {
    Job job;
    EXPECT_EQ(job.size(), world_size());
    expect_the_bits_of_one_process(job, 0);
  }
  expect_a_working_mpi();
}

TEST(InitialisedByTheProgram, ItsOwnMessagesDoNotMeetThoseOfAJob) {
  const int to = (world_rank() + 1) % world_size();
  const int from = (world_rank() + world_size() - 1) % world_size();
  constexpr int tags = 8;  // a Job uses some of these
  std::array<MPI_Request, tags> sent{};
  std::array<char, tags> words{};
  for (int tag = 0; tag < tags; ++tag) {
    words[tag] = static_cast<char>('a' + tag);
    MPI_Isend(&words[tag], 1, MPI_CHAR, to, tag, MPI_COMM_WORLD, &sent[tag]);
  }
  {
    Job job{Communicator(MPI_COMM_WORLD)};
    expect_the_bits_of_one_process(job, 0);
  }
  for (int tag = 0; tag < tags; ++tag) {
    char word = 0;
    MPI_Recv(&word, 1, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(word, 'a' + tag);
  }
  MPI_Waitall(tags, sent.data(), MPI_STATUSES_IGNORE);
}

TEST(InitialisedByTheProgram, HalvesOfTheWorldRunTheirOwnExperiments) {
  const Half half;
  const MPI_Comm comm = half.comm();
  Job job(Communicator::at(&comm));
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  EXPECT_EQ(job.rank(), rank);
  EXPECT_EQ(job.size(), size);
  EXPECT_TRUE(job.name(size - 1).starts_with("rank " + std::to_string(size - 1) + " on "));
  expect_the_bits_of_one_process(job, half.number());
}

TEST(InitialisedByTheProgram, JobsOfTheWorldAndOfItsHalvesLiveSideBySide) {
  const Half half;
  Job all{Communicator(MPI_COMM_WORLD)};
  Job part{Communicator(half.comm())};
  for (int again = 0; again < 2; ++again) {
    expect_the_bits_of_one_process(part, half.number());
    expect_the_bits_of_one_process(all, 1);
  }
}

TEST(InitialisedByTheProgram, AFailureInOneHalfIsNoneInTheOther) {
  const Half half;
  Job job{Communicator(half.comm())};
  const CombinationMatrix matrix = test::network_of(Topology::ring, 8);
  const bool fails = half.number() == 0;
  const auto run = [&] {
    mpi::launch(job, matrix, 4, [&](Worker& worker) {
      Rows x(worker.network.block().size(), 4);
      for (int i = 0; i < 100; ++i) {
        if (fails && i == 50 && job.rank() == job.size() - 1) throw Error("a disk is full");
        worker.network.combine(x, x);
      }
    });
  };
  const std::string failure = refusal_of(run);
  EXPECT_EQ(failure.substr(0, failure.find(" (")), fails ? "a disk is full" : "");
  expect_the_bits_of_one_process(job, half.number());
}

TEST(InitialisedByTheProgram, ARankThatComputesForLongIsNotLostToItsHalf) {
  const Half half;
  Job job(Communicator(half.comm()), {.peer_timeout = 1});
  job.together([&] {
    if (job.rank() == job.size() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  });
}

TEST(InitialisedByTheProgram, WhatIsNoCommunicatorIsRefused) {
  expect_part(refusal_of([] { Job{Communicator(MPI_COMM_NULL)}; }), "MPI_COMM_NULL");
  expect_part(refusal_of([] { Job{Communicator(short{1})}; }), Job::library());
  EXPECT_THROW(Job(Communicator(MPI_COMM_WORLD), {.peer_timeout = std::numeric_limits<double>::quiet_NaN()}),
               InputError);
  if (world_size() == 1) return;
  const Half half;
  MPI_Comm both = MPI_COMM_NULL;
  // The first of each half is the last process of the world, or the one before it.
  const int last = world_size() - 1;
  const int leader_there = last % 2 == half.number() ? last - 1 : last;
  MPI_Intercomm_create(half.comm(), 0, MPI_COMM_WORLD, leader_there, 0, &both);
  expect_part(refusal_of([&] { Job{Communicator(both)}; }), "MPI_Intercomm_merge");
  MPI_Comm_free(&both);
}

// Nobody has initialised MPI.

TEST(InitialisedByAJob, NotByOneWithACommunicator) {
  ASSERT_FALSE(is_initialised());
  expect_part(refusal_of([] { Job{Communicator(MPI_COMM_WORLD)}; }), "before MPI was initialised");
  EXPECT_FALSE(is_initialised());
}

TEST(InitialisedByAJob, OthersFollow) {
  for (int again = 0; again < 2; ++again) {
    Job job;
    EXPECT_TRUE(test::all_ranks_are_here(job.size()));
    expect_the_bits_of_one_process(job, 0);
  }
  Job given{Communicator(MPI_COMM_WORLD)};
  expect_the_bits_of_one_process(given, 1);
  expect_a_working_mpi();
}

// The launcher reports processes that end without having finalised MPI.
std::unique_ptr<Job> static_job;

TEST(OutlivesMain, AStaticJobFinalisesMpi) {
  static_job = std::make_unique<Job>();
  expect_the_bits_of_one_process(*static_job, 0);
}

// What the program did to MPI leaves no room for a Job.

TEST(InitialisedForOneThread, SaysWhatToDo) {
  const std::string text = refusal_of([] { Job job; });
  expect_part(text, "MPI was initialised with MPI_THREAD_FUNNELED");
  expect_part(text, "MPI_Init_thread");
  EXPECT_EQ(refusal_of([] { Job{Communicator(MPI_COMM_WORLD)}; }), text);
  expect_a_working_mpi();
}

TEST(Finalised, SaysThatItIsTooLate) {
  ASSERT_TRUE(is_finalised());
  expect_part(refusal_of([] { Job job; }), "MPI is finalised already");
  expect_part(refusal_of([] { Job{Communicator(MPI_COMM_WORLD)}; }), "MPI is finalised already");
}

// One half works for ever. In the other a process goes silent; its neighbour notices and ends everybody.
[[noreturn]] void lose_a_process_of_one_half() {
  const Half half;
  Job job(Communicator(half.comm()), {.peer_timeout = 1});
  try {
    for (;;) {
      if (half.number() == 1 && job.rank() == 1) raise(SIGSTOP);
      (void)job.tell("");
    }
  } catch (const LostPeer& e) {
    std::fprintf(stderr, "half %d: %s\n", half.number(), e.what());
    job.abort(5);
  }
}

int initialise(int threads) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, threads, &provided);
  // As mpi4py does: a Job must not rely on errors that end the program.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (world_rank() != 0) test::report_failures_only();
  return test::all_ranks_are_here(world_size()) ? 0 : 1;
}

// A name that chooses no tests passes none.
int run_tests() {
  const int code = RUN_ALL_TESTS();
  return testing::UnitTest::GetInstance()->test_to_run_count() > 0 ? code : 1;
}

}  // namespace
}  // namespace polyhop

int main(int argc, char** argv) {
  using namespace polyhop;
  testing::InitGoogleTest(&argc, argv);
  const std::string_view how = argc > 1 ? argv[1] : "";
  testing::GTEST_FLAG(filter) = std::string(how) + ".*";
  if (how == "InitialisedByAJob" || how == "OutlivesMain") return run_tests();
  if (initialise(how == "InitialisedForOneThread" ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE) != 0) return 1;
  if (how == "lost") lose_a_process_of_one_half();
  if (how == "Finalised") MPI_Finalize();
  const int code = run_tests();
  if (!is_finalised()) MPI_Finalize();
  return code;
}
