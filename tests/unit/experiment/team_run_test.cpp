// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Whole experiments by several processes (threads that hold only their own part), with the bits of one alone.
// This program's operator new notes the largest piece that anybody asks for.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/experiment/load.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/experiment/toml_reader.hpp"
#include "polyhop/experiment/tuning.hpp"
#include "support/launches_at_once.hpp"
#include "support/point_bits.hpp"
#include "support/sanitizer.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_team.hpp"

namespace {

std::atomic<std::size_t> largest_piece = 0;

#if !POLYHOP_SANITIZER_ALLOCATES
void note(std::size_t size) {
  std::size_t known = largest_piece.load(std::memory_order_relaxed);
  while (size > known && !largest_piece.compare_exchange_weak(known, size)) {
  }
}
#endif

}  // namespace

#if !POLYHOP_SANITIZER_ALLOCATES
[[gnu::noinline]] void* operator new(std::size_t size) {
  note(size);
  if (void* place = std::malloc(size > 0 ? size : 1)) return place;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  note(size);
  const auto line = static_cast<std::size_t>(alignment);
  // The size is a multiple of the alignment, and not zero.
  if (void* place = std::aligned_alloc(line, (size / line + 1) * line)) return place;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* place) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::size_t) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::align_val_t) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::size_t, std::align_val_t) noexcept { std::free(place); }
#endif

namespace polyhop {
namespace {

using test::ThreadTeam;

// Small enough for many runs; a search, rules that need two hops and sums over the network, a stalled one.
Config small(const std::string& more = "") {
  return read_config(read_toml(R"(
    name = "small"
    seeds = "3..4"
    iterations = 24
    record_every = 5
    target = 1e-2
    [graph]
    topology = "ring"
    agents = 7
    [problem]
    loss = "logistic"
    dimension = 5
    samples = 3
    l2 = 0.1
    sampling = "shuffle"
    [tuning]
    budget = 4
  )" + more + R"(
    [[method]]
    name = "gap"
    step = { rule = "gap", bound = "tight", damping = "rows", project = true, cap = "distance" }
    [[method]]
    name = "tuned"
    algorithm = "exact-diffusion"
    step = "tuned"
    [[method]]
    name = "half"
    algorithm = "exact-diffusion"
    step = { rule = "tuned", factor = 0.5 }
    [[method]]
    name = "auto"
    step = "auto"
  )"));
}

// How many processes shared a run decides what crossed between them.
std::vector<std::uint64_t> bits(const Point& point) { return test::point_bits(point, false); }

std::vector<std::uint64_t> bits(const Rows& rows) {
  std::vector<std::uint64_t> out;
  for (Index k = 0; k < rows.rows(); ++k) {
    for (const double x : rows.row(k)) out.push_back(std::bit_cast<std::uint64_t>(x));
  }
  return out;
}

void expect_same(const Cell& a, const Cell& b) {
  SCOPED_TRACE(a.method + ", seed " + std::to_string(a.seed));
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.message, b.message);
  EXPECT_EQ(a.reference_value, b.reference_value);
  EXPECT_EQ(a.recorded_agents, b.recorded_agents);
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t n = 0; n < a.points.size(); ++n) EXPECT_EQ(bits(a.points[n]), bits(b.points[n])) << "point " << n;
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (std::size_t n = 1; n < a.steps.size(); ++n) EXPECT_EQ(a.steps[n], b.steps[n]) << "point " << n;
  EXPECT_EQ(bits(a.models), bits(b.models));
  EXPECT_EQ(bits(a.averaged), bits(b.averaged));
}

void expect_same(const Record& a, const Record& b) {
  EXPECT_EQ(a.name, b.name);
  ASSERT_EQ(a.tunings.size(), b.tunings.size());
  for (std::size_t n = 0; n < a.tunings.size(); ++n) {
    EXPECT_EQ(a.tunings[n].value, b.tunings[n].value);
    EXPECT_EQ(a.tunings[n].trials, b.tunings[n].trials);
    EXPECT_EQ(a.tunings[n].iterations, b.tunings[n].iterations);
    EXPECT_EQ(a.tunings[n].vectors, b.tunings[n].vectors);
  }
  ASSERT_EQ(a.networks.size(), b.networks.size());
  ASSERT_EQ(a.cells.size(), b.cells.size());
  for (std::size_t n = 0; n < a.cells.size(); ++n) expect_same(a.cells[n], b.cells[n]);
}

// A team that does everything with another one's help, but for what a test changes.
class Wrapped : public Team {
 public:
  explicit Wrapped(Team& team) : team_(team) {}
  [[nodiscard]] Index rank() const override { return team_.rank(); }
  [[nodiscard]] Index size() const override { return team_.size(); }
  void launch(const CombinationMatrix& matrix, const Ownership& ownership, VectorType vectors, Index workers,
              const Body& body) override {
    team_.launch(matrix, ownership, vectors, workers, body);
  }
  std::vector<std::string> tell(const std::string& text) override { return team_.tell(text); }
  Collective& collective() override { return team_.collective(); }
  void together(const std::function<void()>& work) override { team_.together(work); }

 protected:
  Team& team_;
};

class TeamRun : public test::TemporaryFolder {
 protected:
  // Runs an experiment by so many processes, the first of which has the store in a folder, and gives what that has
  // then.
  Record stored_run(const Config& config, Index processes, const std::string& folder, RunOptions options = {}) {
    std::filesystem::create_directories(folder_ / folder);
    ThreadTeam::run(processes, [&](Team& team) {
      std::optional<Store> store;
      if (team.is_first()) store.emplace(file(folder), Store::Mode::write);
      RunOptions own = team.is_first() ? options : RunOptions{};
      own.placement = options.placement;
      own.store = store ? &*store : nullptr;
      own.team = &team;
      (void)run(config, own);
    });
    return load_record(file(folder), true);
  }
  Record alone_run(const Config& config) {
    std::filesystem::create_directories(folder_ / "alone");
    Store store(file("alone"), Store::Mode::write);
    RunOptions options;
    options.threads = 1;
    options.store = &store;
    (void)run(config, options);
    return store.load(true);
  }
};

// As searches and cells of an experiment do.
TEST_F(TeamRun, AProcessAloneLaunchesFromSeveralThreadsAtOnce) {
  ThreadTeam::run(1, [](Team& team) { EXPECT_EQ(test::wrong_launches(team), 0); });
}

TEST_F(TeamRun, GivesTheRecordAndTheModelsOfOneProcess) {
  const Config config = small();
  const Record alone = alone_run(config);
  ASSERT_EQ(alone.cells.size(), 8U);
  for (const Index processes : {1, 2, 3, 7}) {
    SCOPED_TRACE(processes);
    expect_same(stored_run(config, processes, std::to_string(processes)), alone);
  }
}

TEST_F(TeamRun, GivesTheSameWhereNeighboursAreBroughtTogether) {
  if (!has_metis()) GTEST_SKIP() << "METIS was not built in";
  const Config config = small();
  RunOptions options;
  options.placement = Placement::metis;
  expect_same(stored_run(config, 3, "metis", options), alone_run(config));
}

// Neighbours have far numbers.
Config geometric() {
  Config config = small();
  config.options.graph.topology = Topology::random_geometric;
  config.options.graph.agents = 120;
  config.options.graph.radius = 0.18;
  config.options.iterations = 12;
  config.options.record_every = 4;
  return config;
}

TEST_F(TeamRun, GivesTheSameWhereThreadsHoldNeighboursNearEachOther) {
  for (const Element precision : {Element::float64, Element::float32}) {
    Config config = geometric();
    config.options.problem.precision = precision;
    ASSERT_NE(make_instance(config.options, 3).ownership.numbering, nullptr);
    RunOptions by_number;
    by_number.threads = 1;
    by_number.placement = Placement::contiguous;
    const Record expected = run(config, by_number);
    for (const Index threads : {1, 2, 3}) {
      SCOPED_TRACE(threads);
      RunOptions options;
      options.threads = threads;
      expect_same(run(config, options), expected);
    }
  }
}

TEST_F(TeamRun, EveryCellGivesTheSameWhereThreadsHoldNeighboursNearEachOther) {
  // A cell on several threads: an experiment may give each of its cells one of them.
  Config config = geometric();
  config.options.faults.drop = 0.2;
  for (const Method& method : config.methods) {
    if (method.tuned) continue;
    const Instance by_number = make_instance(config.options, 3, alone(), Placement::contiguous);
    const Cell expected = run_cell(config.options, method, by_number, 3, 1);
    const Instance near = make_instance(config.options, 3);
    ASSERT_NE(near.ownership.numbering, nullptr);
    for (const Index workers : {1, 2, 3, 7}) {
      SCOPED_TRACE(workers);
      expect_same(run_cell(config.options, method, near, 3, workers), expected);
    }
  }
}

TEST_F(TeamRun, IsStoppedAndTakenUpInAnyOrderOfTheAgents) {
  Config config = geometric();
  config.options.record_every = 1;
  config.options.checkpoint_every = 1e-9;
  const Record expected = alone_run(config);
  std::filesystem::create_directories(folder_ / "stopped");
  std::size_t restarts = 0;
  for (bool finished = false; !finished; ++restarts) {
    ASSERT_LT(restarts, 100U);
    Store store(file("stopped"), Store::Mode::write);
    std::atomic<int> points = 0;
    RunOptions options;
    options.store = &store;
    options.placement = restarts % 2 == 0 ? Placement::automatic : Placement::contiguous;
    options.threads = 1 + static_cast<Index>(restarts % 3);
    options.on_point = [&](const Cell&) { ++points; };
    options.stop = [&] { return points >= 9; };
    const Record now = run(config, options);
    finished = now.cells.size() == expected.cells.size();
    for (const Cell& cell : now.cells) finished = finished && cell.status != Status::unfinished;
  }
  EXPECT_GT(restarts, 3U);
  expect_same(load_record(file("stopped"), true), expected);
}

TEST_F(TeamRun, EveryProcessKnowsHowACellEnded) {
  const Config config = small();
  const Instance whole = make_instance(config.options, 3);
  CellControl control;
  control.models = false;
  const Cell alone = run_cell(config.options, config.methods[0], whole, 3, 1, control);
  EXPECT_EQ(alone.models.rows(), 0);
  ThreadTeam::run(3, [&](Team& team) {
    const Instance instance = make_instance(config.options, 3, team);
    // What others are told to do is not looked at.
    const CellControl own = team.is_first() ? control : CellControl{};
    const Cell cell = run_cell(config.options, config.methods[0], instance, 3, 1, own, {}, team);
    EXPECT_EQ(cell.status, alone.status);
    EXPECT_EQ(cell.points.size(), team.is_first() ? alone.points.size() : 1U);
    EXPECT_EQ(bits(cell.points.back()), bits(alone.points.back()));
    EXPECT_EQ(cell.models.rows(), 0);
  });
}

TEST_F(TeamRun, IsStoppedAndTakenUpByAnyOtherNumberOfProcesses) {
  Config config = small();
  config.options.record_every = 1;
  config.options.checkpoint_every = 1e-9;
  const Record alone = alone_run(config);
  const std::vector<Index> processes = {2, 3, 1, 4, 7};
  std::size_t restarts = 0;
  for (bool finished = false; !finished; ++restarts) {
    ASSERT_LT(restarts, 100U);
    int points = 0;
    RunOptions options;
    options.on_point = [&](const Cell&) { ++points; };
    options.stop = [&] { return points >= 15; };
    const Record now = stored_run(config, processes[restarts % processes.size()], "stopped", options);
    finished = now.cells.size() == alone.cells.size();
    for (const Cell& cell : now.cells) finished = finished && cell.status != Status::unfinished;
  }
  EXPECT_GT(restarts, 3U);
  expect_same(load_record(file("stopped"), true), alone);
}

// What a store has saved of one method's run, stopped before iteration 10: name, and all rows in order.
using SavedState = std::map<std::string, std::vector<double>>;

TEST_F(TeamRun, WritesTheSameCheckpoint) {
  Config config = small();
  config.methods.resize(1);
  config.options.seeds.list = {3};
  config.options.record_every = 1;
  const auto saved = [&](Index processes) {
    int looks = 0;
    RunOptions options;
    options.stop = [&] { return looks++ > 10; };  // before the cell, then at every iteration
    const std::string folder = "saved" + std::to_string(processes);
    stored_run(config, processes, folder, options);
    const Store store(file(folder), Store::Mode::read);
    const std::string id = cell_key(config.options, config.methods[0], 3).id();
    const Checkpoint at = store.checkpoint(id).value();
    EXPECT_EQ(at.iteration, 10);
    SavedState out;
    out["totals"] = {static_cast<double>(at.totals.vectors), static_cast<double>(at.totals.gradients), at.first_risk};
    store.read_state(id, [&](const StatePart& part) {
      auto& rows = out[part.name];
      rows.insert(rows.end(), part.data.begin(), part.data.end());
    });
    return out;
  };
  const SavedState one = saved(1);
  EXPECT_EQ(one.at("w").size(), 35U);
  for (const Index processes : {2, 5}) {
    const SavedState many = saved(processes);
    ASSERT_EQ(many.size(), one.size());
    for (const auto& [name, rows] : one) {
      ASSERT_EQ(many.at(name).size(), rows.size()) << name;
      for (std::size_t n = 0; n < rows.size(); ++n) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(many.at(name)[n]), std::bit_cast<std::uint64_t>(rows[n])) << name;
      }
    }
  }
}

TEST_F(TeamRun, AStopDuringTheSearchEndsAllProcesses) {
  RunOptions options;
  options.stop = [] { return true; };
  EXPECT_TRUE(stored_run(small(), 3, "search", options).cells.empty());
}

TEST_F(TeamRun, ASearchIsFoundAgainByAllProcesses) {
  const Config config = small();
  std::atomic<int> trials = 0;
  RunOptions options;
  options.on_trial = [&](const std::string&, Index, Index) { ++trials; };
  const Record first = stored_run(config, 2, "found", options);
  EXPECT_GT(trials, 0);
  trials = 0;
  Config more = config;
  more.options.name = "again";
  Record second = stored_run(more, 3, "found", options);
  EXPECT_EQ(trials, 0);
  second.name = first.name;
  expect_same(second, first);
}

TEST_F(TeamRun, OutOfTimeByTheFirstProcessesClock) {
  Config config = small("[record]\nagents = 1\n");
  config.options.time_limit = 1e-9;
  for (const Cell& cell : stored_run(config, 3, "late").cells) {
    EXPECT_EQ(cell.status, Status::time_limit);
    EXPECT_EQ(cell.points.back().iteration, 5);
  }
}

// One process fails in whatever it does after the first cell.
class Failing final : public Wrapped {
 public:
  Failing(Team& team, Index rank, const std::atomic<int>& finished) : Wrapped(team), rank_(rank), finished_(finished) {}
  void launch(const CombinationMatrix& matrix, const Ownership& ownership, VectorType vectors, Index workers,
              const Body& body) override {
    const bool fails = finished_ == 1 && rank() == rank_;
    team_.launch(matrix, ownership, vectors, workers, [&](Worker& worker) {
      if (fails) throw Error("out of memory on one machine");
      body(worker);
    });
  }

 private:
  Index rank_;
  const std::atomic<int>& finished_;
};

TEST_F(TeamRun, ACellThatFailsInOneProcessIsKeptAndTheOthersGoOn) {
  Config config = small();
  config.methods = {config.methods[0], config.methods[3]};
  const Record alone = alone_run(config);
  std::vector<Status> told;
  std::atomic<int> finished = 0;
  ThreadTeam::run(3, [&](Team& threads) {
    Failing team(threads, 1, finished);
    std::optional<Store> store;
    if (team.is_first()) store.emplace(folder_.string(), Store::Mode::write);
    RunOptions options;
    options.store = store ? &*store : nullptr;
    options.team = &team;
    options.on_cell = [&](const Cell& cell, Index, Index) {
      told.push_back(cell.status);
      ++finished;
    };
    (void)run(config, options);
  });
  EXPECT_EQ(told, (std::vector<Status>{Status::done, Status::failed, Status::done, Status::done}));
  const Record record = load_record(folder_.string(), true);
  EXPECT_EQ(record.cells[1].message, "out of memory on one machine");
  for (const std::size_t n : {0, 2, 3}) expect_same(record.cells[n], alone.cells[n]);
  // Tried again, it ends like the others.
  expect_same(stored_run(config, 2, "."), alone);
}

TEST_F(TeamRun, WithoutAStoreAFailureEndsAllProcesses) {
  std::atomic<int> ended = 0;
  const std::atomic<int> one = 1;
  Config config = small();
  config.methods.resize(1);
  ThreadTeam::run(3, [&](Team& threads) {
    Failing team(threads, 2, one);
    RunOptions options;
    options.team = &team;
    EXPECT_THROW((void)run(config, options), Error);
    ++ended;
  });
  EXPECT_EQ(ended, 3);
}

TEST_F(TeamRun, WhatDoesNotFitIsRefusedInAllProcesses) {
  std::atomic<int> refused = 0;
  const Config config = small("[[method]]\nname = \"m\"\nstep = { rule = \"gap\", optimum = [1, 2] }\n");
  ThreadTeam::run(2, [&](Team& team) {
    RunOptions options;
    options.team = &team;
    try {
      (void)run(config, options);
    } catch (const InputError& e) {
      if (e.path() == "method.\"m\".step.optimum") ++refused;
    }
  });
  EXPECT_EQ(refused, 2);
}

// The disk is full in the middle of a checkpoint, whoever does the run.
TEST_F(TeamRun, AFailureWhileSavingEndsAllWithIt) {
  const Config config = small();
  CellControl control;
  control.checkpoint_every = 0;
  control.save = [](const Cell&, const Checkpoint&, const StateStream& state) {
    int parts = 0;
    state([&](const StatePart&) {
      if (++parts == 2) throw Error("the disk is full");
    });
  };
  const auto complaint = [&](Team& team, Index workers) -> std::string {
    const Instance instance = make_instance(config.options, 3, team);
    try {
      (void)run_cell(config.options, config.methods[0], instance, 3, workers, control, {}, team);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(complaint(alone(), 1), "the disk is full");
  EXPECT_EQ(complaint(alone(), 3), "the disk is full");
  ThreadTeam::run(3, [&](Team& team) { EXPECT_EQ(complaint(team, 1), "the disk is full"); });
}

#if !POLYHOP_SANITIZER_ALLOCATES
TEST_F(TeamRun, NobodyHoldsTheModelsOfAllAgents) {
  constexpr Index agents = 160;
  constexpr Index dimension = 40'000;  // 51 MB for all, 13 MB for one of four processes
  const Config config = read_config(read_toml(R"(
    iterations = 2
    checkpoint_every = 1e-9
    [graph]
    topology = "ring"
    agents = 160
    [problem]
    dimension = 40000
    samples = 1
    reference = 0.0
    [[method]]
    step = { rule = "constant", value = 1e-6 }
    average = false
  )"));
  constexpr std::size_t all = agents * dimension * sizeof(double);
  std::filesystem::create_directories(folder_ / "large");
  largest_piece = 0;
  ThreadTeam::run(4, [&](Team& team) {
    std::optional<Store> store;
    if (team.is_first()) store.emplace(file("large"), Store::Mode::write);
    int looks = 0;
    for (const int patience : {2, 1000}) {  // stopped once, and taken up again
      RunOptions options;
      options.stop = [&] { return looks++ >= patience; };
      options.store = store ? &*store : nullptr;
      options.team = &team;
      const Record record = run(config, options);
      if (team.is_first()) {
        EXPECT_EQ(record.cells[0].status, patience == 2 ? Status::unfinished : Status::done);
      }
    }
  });
  EXPECT_LT(largest_piece, all / 2);
  const Record record = load_record(file("large"), true);
  EXPECT_EQ(record.cells[0].models.rows(), agents);
  EXPECT_GE(largest_piece, all);  // which it does see
}
#endif

}  // namespace
}  // namespace polyhop
