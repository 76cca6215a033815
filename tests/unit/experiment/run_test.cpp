// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/experiment/advice.hpp"
#include "polyhop/experiment/toml_reader.hpp"
#include "polyhop/problem/linear_problem.hpp"
#include "support/bowls.hpp"
#include "support/instance_data.hpp"
#include "support/losses.hpp"
#include "support/option_sets.hpp"
#include "support/point_bits.hpp"
#include "support/rule_run.hpp"

namespace polyhop::run_test {
namespace {

namespace fs = std::filesystem;

// Four agents on a path, two unknowns; `top` goes before the tables, `step` is that of the first method.
Config tiny(const std::string& top = "",
            const std::string& step = "{ rule = \"gap\", bound = \"tight\", damping = \"rows\" }",
            const std::string& bottom = "") {
  return read_config(read_toml("record_every = 4\n" + top + R"(
[graph]
topology = "path"
agents = 4
[problem]
dimension = 2
samples = 3
[[method]]
name = "m"
step = )" + step + "\n" + bottom));
}

std::vector<Index> iterations(const Cell& cell) {
  std::vector<Index> out;
  for (const Point& point : cell.points) out.push_back(point.iteration);
  return out;
}

std::vector<std::vector<double>> numbers(const Rows& rows) {
  std::vector<std::vector<double>> out;
  for (Index k = 0; k < rows.rows(); ++k) out.emplace_back(rows.row(k).begin(), rows.row(k).end());
  return out;
}

std::vector<std::uint64_t> bits(const Rows& rows) {
  std::vector<std::uint64_t> out;
  for (const auto& row : numbers(rows)) {
    for (const double x : row) out.push_back(std::bit_cast<std::uint64_t>(x));
  }
  return out;
}

void expect_same(const Cell& a, const Cell& b) {
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.status, b.status);
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t n = 0; n < a.points.size(); ++n)
    EXPECT_EQ(test::point_bits(a.points[n]), test::point_bits(b.points[n])) << "point " << n;
  EXPECT_EQ(bits(a.models), bits(b.models));
  EXPECT_EQ(bits(a.averaged), bits(b.averaged));
  EXPECT_EQ(a.reference_value, b.reference_value);
  EXPECT_EQ(a.recorded_agents, b.recorded_agents);
}

void expect_refused(const Config& config, const std::string& path, const std::string& part) {
  try {
    (void)run(config);
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), path) << error.what();
    EXPECT_NE(error.message().find(part), std::string::npos) << error.what();
  }
}

TEST(Run, RecordsAtMultiplesAndAtTheEnd) {
  EXPECT_EQ(iterations(run(tiny("iterations = 10\n")).cells[0]), (std::vector<Index>{0, 4, 8, 10}));
  EXPECT_EQ(iterations(run(tiny("iterations = 8\n")).cells[0]), (std::vector<Index>{0, 4, 8}));
  EXPECT_EQ(iterations(run(tiny("iterations = 3\n")).cells[0]), (std::vector<Index>{0, 3}));
  EXPECT_EQ(iterations(run(tiny("iterations = 0\n")).cells[0]), (std::vector<Index>{0}));
}

// Bowls that write down how many agents each worker has.
class Divided final : public Problem {
 public:
  explicit Divided(std::set<Index>& blocks) : blocks_(blocks) {}
  [[nodiscard]] Index agents() const override { return bowls_.agents(); }
  [[nodiscard]] Index dimension() const override { return bowls_.dimension(); }
  [[nodiscard]] std::unique_ptr<Oracle> oracle(Block block, std::uint64_t seed) const override {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    blocks_.insert(block.size());
    return bowls_.oracle(block, seed);
  }
  void costs(Block block, const Rows& points, Rows& out) const override { bowls_.costs(block, points, out); }

 private:
  ObjectiveProblem bowls_ = test::bowls({{{1}, {2}}, {{1}, {3}}, {{1}, {4}}, {{1}, {5}}});
  std::set<Index>& blocks_;
};

// How many agents workers had in a run of 4 agents with so many seeds.
std::set<Index> agents_of_workers(Index threads, const std::string& seeds) {
  std::set<Index> blocks;
  Config config = tiny("iterations = 2\nseeds = " + seeds + "\n", "{ rule = \"constant\", value = 0.1 }");
  config.options.problem.own =
      ProblemSpec{"divided", Value::Table{}, [&](const ProblemSetting&) { return std::make_unique<Divided>(blocks); }};
  RunOptions options;
  options.threads = threads;
  (void)run(config, options);
  blocks.erase(4);  // one worker has checked the methods on all agents
  return blocks;
}

TEST(Run, GivesASmallRunOneThreadUnlessSomebodyAsksForMore) {
  EXPECT_EQ(agents_of_workers(0, "[1]"), (std::set<Index>{}));
  EXPECT_EQ(agents_of_workers(1, "[1]"), (std::set<Index>{}));
  EXPECT_EQ(agents_of_workers(2, "[1]"), (std::set<Index>{2}));
  EXPECT_EQ(agents_of_workers(4, "[1, 2]"), (std::set<Index>{2}));
  EXPECT_EQ(agents_of_workers(2, "[1, 2]"), (std::set<Index>{}));  // side by side
}

TEST(Run, OrdersCellsBySeedThenByMethod) {
  const Config config =
      tiny("iterations = 1\nseeds = [5, 2]\n", "\"gap\"", "[[method]]\nname = \"n\"\nstep = \"polyak\"\n");
  std::vector<std::pair<std::uint64_t, std::string>> order;
  for (const Cell& cell : run(config).cells) order.emplace_back(cell.seed, cell.method);
  EXPECT_EQ(order, (std::vector<std::pair<std::uint64_t, std::string>>{{5, "m"}, {5, "n"}, {2, "m"}, {2, "n"}}));
}

TEST(Run, TellsOfEachFinishedCell) {
  const Config config = tiny("iterations = 1\nseeds = \"0..2\"\n");
  std::vector<Index> finished;
  std::set<std::uint64_t> seeds;
  (void)run(config, {2, [&](const Cell& cell, Index done, Index total) {
                       finished.push_back(done);
                       seeds.insert(cell.seed);
                       EXPECT_EQ(total, 3);
                     }});
  EXPECT_EQ(finished, (std::vector<Index>{1, 2, 3}));
  EXPECT_EQ(seeds, (std::set<std::uint64_t>{0, 1, 2}));
}

TEST(Run, ARunThatIsStoppedIsNotCountedAsFinished) {
  bool stopped = false;
  std::vector<Index> finished;
  RunOptions options;
  options.threads = 1;
  options.on_point = [&](const Cell&) { stopped = true; };
  options.stop = [&] { return stopped; };
  options.on_cell = [&](const Cell& cell, Index count, Index) {
    EXPECT_EQ(cell.status, Status::unfinished);
    finished.push_back(count);
  };
  (void)run(tiny("iterations = 100\n"), options);
  EXPECT_EQ(finished, (std::vector<Index>{0}));
}

TEST(Run, KeepsNameTargetAndResolvedConfiguration) {
  const Config config = tiny("name = \"x\"\ntarget = 0.25\niterations = 1\n");
  const Record record = run(config);
  EXPECT_EQ(record.name, "x");
  EXPECT_EQ(record.target, 0.25);
  EXPECT_EQ(record.config.text(), resolved(config).text());
}

TEST(Run, StopsAtTheFirstRecordedPointThatIsSolved) {
  const std::string top = "iterations = 400\ntarget = 1e-3\n";
  const Cell whole = run(tiny(top)).cells[0];
  const Cell ended = run(tiny(top + "stop_at_target = true\n")).cells[0];
  EXPECT_EQ(whole.status, Status::done);
  EXPECT_EQ(iterations(whole).back(), 400);
  EXPECT_EQ(ended.status, Status::target);
  ASSERT_GE(ended.points.size(), 2U);
  ASSERT_LT(ended.points.size(), whole.points.size());
  for (std::size_t n = 0; n < ended.points.size(); ++n) {
    EXPECT_EQ(test::point_bits(ended.points[n]), test::point_bits(whole.points[n]));
    EXPECT_EQ(ended.points[n].excess_risk <= 1e-3, n + 1 == ended.points.size()) << "point " << n;
  }
}

TEST(Run, CallsATargetThatIsNotReachedDone) {
  const Cell cell = run(tiny("iterations = 8\ntarget = 1e-30\nstop_at_target = true\n")).cells[0];
  EXPECT_EQ(cell.status, Status::done);
  EXPECT_EQ(iterations(cell), (std::vector<Index>{0, 4, 8}));
}

TEST(Run, ATimeLimitEndsARunAtARecordedPoint) {
  // Less time than anything takes: over at the first point after the start.
  const Cell cell = run(tiny("iterations = 100\ntime_limit = 1e-300\n")).cells[0];
  EXPECT_EQ(cell.status, Status::time_limit);
  EXPECT_EQ(iterations(cell), (std::vector<Index>{0, 4}));
  EXPECT_EQ(cell.points[0].seconds, 0);
  EXPECT_GT(cell.points[1].seconds, 0);
}

TEST(Run, SecondsNeverFall) {
  const Cell cell = run(tiny("iterations = 40\n")).cells[0];
  for (std::size_t n = 1; n < cell.points.size(); ++n) EXPECT_GE(cell.points[n].seconds, cell.points[n - 1].seconds);
}

TEST(Run, CountsSecondsOnFromItsCheckpoint) {
  const Config config = tiny("iterations = 8\n");
  const Instance instance = make_instance(config.options, 0);
  struct Part {
    StatePart part;
    std::vector<double> data;
  };
  std::vector<Part> parts;
  Checkpoint saved;
  CellControl first;
  first.stop = [] { return true; };
  first.save = [&](const Cell&, const Checkpoint& at, const StateStream& state) {
    saved = at;
    state([&](const StatePart& part) { parts.push_back({part, {part.data.begin(), part.data.end()}}); });
  };
  const Cell begun = run_cell(config.options, config.methods[0], instance, 0, 1, first);
  ASSERT_EQ(iterations(begun), (std::vector<Index>{0}));
  saved.seconds = 1000;
  CellControl second;
  second.resume = &saved;
  second.state = [&](const StateSink& sink) {
    for (Part& kept : parts) {
      kept.part.data = kept.data;
      sink(kept.part);
    }
  };
  const Cell cell = run_cell(config.options, config.methods[0], instance, 0, 1, second, begun);
  ASSERT_EQ(iterations(cell), (std::vector<Index>{0, 4, 8}));
  EXPECT_GT(cell.points[1].seconds, 1000);
}

// Agents with unlike numbers of samples remember unlike many gradients, and a worker's agents fewer than another's.
TEST(Run, TakesUpWhatAgentsWithUnlikeSharesOfTheDataRemember) {
  const Config config =
      read_config(read_toml("iterations = 40\nrecord_every = 4\n"
                            "[graph]\ntopology = \"ring\"\nagents = 5\n"
                            "[problem]\nsource = \"diabetes\"\nstandardise = true\n"
                            "partition = { kind = \"sizes\", alpha = 0.5 }\n"
                            "[[method]]\nalgorithm = \"exact-diffusion\"\ngradient = \"saga\"\n"
                            "step = { rule = \"constant\", value = 0.02 }\n"));
  const Instance instance = make_instance(config.options, 0);
  const Cell whole = run_cell(config.options, config.methods[0], instance, 0, 1);
  std::vector<std::pair<StatePart, std::vector<double>>> parts;
  Checkpoint saved;
  CellControl first;
  int looks = 0;
  first.stop = [&] { return ++looks > 4; };
  first.save = [&](const Cell&, const Checkpoint& at, const StateStream& state) {
    saved = at;
    state([&](const StatePart& part) { parts.emplace_back(part, std::vector(part.data.begin(), part.data.end())); });
  };
  const Cell begun = run_cell(config.options, config.methods[0], instance, 0, 2, first);
  ASSERT_GT(saved.iteration, 0);
  ASSERT_LT(saved.iteration, 40);
  CellControl second;
  second.resume = &saved;
  second.state = [&](const StateSink& sink) {
    for (auto& [part, data] : parts) {
      part.data = data;
      sink(part);
    }
  };
  const Cell cell = run_cell(config.options, config.methods[0], instance, 0, 3, second, begun);
  EXPECT_TRUE(test::same_bits(cell.models, whole.models));
}

TEST(Run, EndsADivergedRunAndKeepsItsLastPoint) {
  const Cell cell = run(tiny("iterations = 1000\n", "{ rule = \"constant\", value = 1e3 }")).cells[0];
  EXPECT_EQ(cell.status, Status::diverged);
  ASSERT_GE(cell.points.size(), 2U);
  EXPECT_LT(cell.points.back().iteration, 1000);
  EXPECT_FALSE(cell.points.back().excess_risk <= 1e9);
  EXPECT_EQ(cell.models.rows(), 4);
}

TEST(Run, EndsARunWhoseNumbersOverflow) {
  const Cell cell = run(tiny("iterations = 1000\n", "{ rule = \"constant\", value = 1e300 }")).cells[0];
  EXPECT_EQ(cell.status, Status::diverged);
  EXPECT_EQ(iterations(cell), (std::vector<Index>{0, 4}));
  EXPECT_FALSE(std::isfinite(cell.points.back().excess_risk));
}

TEST(Run, EndsARunWhoseExponentialsOverflow) {
  const Config config = tiny("iterations = 100\n", "{ rule = \"constant\", value = 1e3 }");
  Instance instance = make_instance(config.options, 0);
  Dataset data = test::data_of(instance);
  for (double& y : data.targets) y = std::round(std::abs(y));
  instance.problem = std::make_unique<LinearProblem>(std::move(data), make_loss("poisson"));
  const Cell cell = run_cell(config.options, config.methods[0], instance, 0, 2);
  EXPECT_EQ(cell.status, Status::diverged);
  EXPECT_FALSE(std::isfinite(cell.points.back().excess_risk));
}

TEST(Run, RefusesATightBoundOnACostWithoutSmoothness) {
  const Config config = tiny("iterations = 100\n");
  Instance instance = make_instance(config.options, 0);
  Dataset data = test::data_of(instance);
  for (double& y : data.targets) y = std::round(std::abs(y));
  instance.problem = std::make_unique<LinearProblem>(std::move(data), make_loss("poisson"));
  EXPECT_THROW((void)run_cell(config.options, config.methods[0], instance, 0, 1), InputError);
}

TEST(Run, DivergenceOfOneMethodLeavesTheOthersAlone) {
  const std::string other = "[[method]]\nname = \"n\"\nstep = { rule = \"constant\", value = 1e300 }\n";
  const Record both = run(tiny("iterations = 20\nseeds = \"0..1\"\n", "\"polyak\"", other), {1, {}});
  const Record alone = run(tiny("iterations = 20\nseeds = \"0..1\"\n", "\"polyak\""), {1, {}});
  expect_same(both.cells[0], alone.cells[0]);
  expect_same(both.cells[2], alone.cells[1]);
  EXPECT_EQ(both.cells[1].status, Status::diverged);
}

TEST(Run, StatusesHaveNames) {
  EXPECT_EQ(name_of(Status::done), "done");
  EXPECT_EQ(name_of(Status::target), "target");
  EXPECT_EQ(name_of(Status::diverged), "diverged");
  EXPECT_EQ(name_of(Status::time_limit), "time-limit");
  EXPECT_EQ(name_of(Status::stalled), "stalled");
}

TEST(Run, CallsARunStalledInWhichNobodyMovesAnyMore) {
  // No cost is above this optimum, so that every step is 0.
  const std::string too_high = "{ rule = \"polyak\", optimum = 1e6 }";
  for (const std::string& step : {too_high, std::string("{ rule = \"gap\", bound = \"linear\", damping = \"rows\", "
                                                        "project = true, optimum = 1e6 }")}) {
    const Config config = tiny("iterations = 8\n", step);
    const Cell cell = run(config).cells[0];
    EXPECT_EQ(cell.status, Status::stalled);
    EXPECT_EQ(iterations(cell).back(), 8);
    EXPECT_EQ(cell.points.back().step_max, 0);
    EXPECT_EQ(cell.message, advice(config.methods[0], Status::stalled));
    EXPECT_NE(cell.message.find("give a smaller optimum"), std::string::npos);
  }
  // From a start that differs, combining still moves.
  EXPECT_EQ(run(tiny("iterations = 8\nstart = \"normal\"\n", too_high)).cells[0].status, Status::done);
}

TEST(Run, DoesNotCallARunStalledThatIsSolvedOrMoves) {
  const std::string too_high = "{ rule = \"polyak\", optimum = 1e6 }";
  const Cell solved = run(tiny("iterations = 8\ntarget = 1e6\n", too_high)).cells[0];
  EXPECT_EQ(solved.status, Status::done);
  EXPECT_EQ(solved.points.back().step_max, 0);
  EXPECT_EQ(solved.message, "");
  const Cell moving = run(tiny("iterations = 8\n", "{ rule = \"constant\", value = 1e-3 }")).cells[0];
  EXPECT_EQ(moving.status, Status::done);
  EXPECT_EQ(moving.message, "");
  EXPECT_EQ(run(tiny("iterations = 0\n", too_high)).cells[0].status, Status::done);
}

// `auto` stops where nothing is lower; that nobody knows the minimum does not make it stalled.
TEST(Run, DoesNotCallAnAlgorithmStalledThatRestsAtAnUnknownMinimum) {
  for (const bool all : {false, true}) {
    Config config = tiny("iterations = 400\n", "\"auto\"");
    config.options.problem.noise = 1;
    config.options.problem.samples = 30;
    config.options.problem.model.batch.all = all;
    config.options.problem.reference = {.solve = false, .value = {}};
    const Cell cell = run(config).cells[0];
    EXPECT_GT(cell.points.back().excess_risk, config.options.target);
    EXPECT_EQ(cell.status, Status::done) << all;
    EXPECT_EQ(cell.message, "") << all;
  }
}

TEST(Run, TellsWhatToDoAboutDivergence) {
  const Config config = tiny("iterations = 1000\n", "{ rule = \"constant\", value = 1e3 }");
  const Cell cell = run(config).cells[0];
  EXPECT_EQ(cell.status, Status::diverged);
  EXPECT_EQ(cell.message, advice(config.methods[0], Status::diverged));
}

TEST(Run, RecordsTheLevelThatARuleHasEstimated) {
  const std::string noisy = "[[method]]\nname = \"fixed\"\nstep = { rule = \"polyak\", max = 1, optimum = 0.1 }\n";
  Config config = tiny("iterations = 400\n", "{ rule = \"polyak\", max = 1, optimum = \"estimate\" }", noisy);
  config.options.problem.noise = 1;
  config.options.problem.samples = 30;
  const auto cells = run(config).cells;
  double highest = 0;
  for (const Point& point : cells[0].points) {
    ASSERT_TRUE(point.level >= 0) << point.iteration;  // not NaN either
    // No level rises before two epochs of 50 are over.
    if (point.iteration < 100) {
      EXPECT_EQ(point.level, 0) << point.iteration;
    }
    highest = std::max(highest, point.level);
  }
  EXPECT_GT(highest, 0);
  for (const Point& point : cells[1].points) EXPECT_TRUE(std::isnan(point.level)) << point.iteration;
  // The mean over all agents, however they are spread over workers.
  const Instance instance = make_instance(config.options, 0);
  const auto by_hand =
      test::run_rule(instance.network.matrix, *instance.problem,
                     test::step_of("polyak", {{"max", 1.0}, {"optimum", "estimate"}}), Rows(4, 2), 400);
  const Cell spread = run_cell(config.options, config.methods[0], instance, 0, 3);
  ASSERT_EQ(spread.points.size(), cells[0].points.size());
  for (std::size_t n = 1; n < spread.points.size(); ++n) {
    const Point& point = spread.points[n];
    const auto& levels = by_hand.levels[point.iteration - 1];
    EXPECT_NEAR(point.level, (levels[0] + levels[1] + levels[2] + levels[3]) / 4, 1e-12) << point.iteration;
    EXPECT_EQ(point.level, cells[0].points[n].level) << point.iteration;
  }
}

TEST(Run, KnowsAutoByWhicheverNameItIsAskedFor) {
  const Config config = tiny("iterations = 2\n", "\"auto\"",
                             "[[method]]\nname = \"b\"\nalgorithm = \"auto\"\n"
                             "[[method]]\nname = \"c\"\nalgorithm = \"auto\"\nstep = \"auto\"\n"
                             "[[method]]\nname = \"d\"\nalgorithm = \"kuruzov\"\n"
                             "[[method]]\nname = \"e\"\nstep = \"gap\"\n");
  std::vector<std::string> ids;
  for (const Method& method : config.methods) ids.push_back(cell_key(config.options, method, 0).id());
  EXPECT_EQ(ids[1], ids[0]);
  EXPECT_EQ(ids[2], ids[0]);
  EXPECT_NE(ids[3], ids[0]);
  EXPECT_NE(ids[4], ids[0]);
}

TEST(Run, RecordsTheModelsOfAllOrOfSome) {
  EXPECT_EQ(run(tiny("iterations = 1\n")).cells[0].recorded_agents, 4);
  EXPECT_EQ(run(tiny("iterations = 1\nrecord.agents = \"all\"\n")).cells[0].recorded_agents, 4);
  EXPECT_EQ(run(tiny("iterations = 1\nrecord.agents = 2\n")).cells[0].recorded_agents, 2);
  EXPECT_EQ(run(tiny("iterations = 1\nrecord.agents = 9\n")).cells[0].recorded_agents, 4);
}

TEST(Run, WhatIsRecordedDoesNotChangeTheRun) {
  const Cell all = run(tiny("iterations = 9\n")).cells[0];
  const Cell some = run(tiny("iterations = 9\nrecord = { agents = 1, steps = \"agents\" }\n")).cells[0];
  EXPECT_EQ(numbers(all.models), numbers(some.models));
  EXPECT_EQ(numbers(all.averaged), numbers(some.averaged));
  EXPECT_EQ(all.points.back().vectors, some.points.back().vectors);
}

TEST(Run, RecordsTheStepsOfEveryAgentOfTheFirstSeedAndOthersWhenAsked) {
  const auto cells = run(tiny("iterations = 8\nseeds = [3, 4]\n")).cells;
  for (const Cell& cell : cells) EXPECT_EQ(cell.steps.size(), cell.seed == 3 ? cell.points.size() : 0U);
  for (const Cell& cell : cells) EXPECT_EQ(cell.distances.size(), cell.steps.size());
  const Cell cell = run(tiny("iterations = 8\nrecord.steps = \"agents\"\n")).cells[0];
  ASSERT_EQ(cell.steps.size(), 3U);
  for (const double mu : cell.steps[0]) EXPECT_TRUE(std::isnan(mu));
  for (std::size_t n = 1; n < 3; ++n) {
    ASSERT_EQ(cell.steps[n].size(), 4U);
    EXPECT_EQ(*std::ranges::min_element(cell.steps[n]), cell.points[n].step_min);
    EXPECT_EQ(*std::ranges::max_element(cell.steps[n]), cell.points[n].step_max);
    EXPECT_GT(cell.points[n].step_max, 0);
  }
}

TEST(Run, AveragesUnlessToldNotTo) {
  const Cell with = run(tiny("iterations = 4\n", "\"polyak\"")).cells[0];
  const Cell without = run(tiny("iterations = 4\n", "\"polyak\"", "average = false\n")).cells[0];
  EXPECT_EQ(with.averaged.rows(), 4);
  EXPECT_TRUE(std::isfinite(with.points.back().excess_risk_averaged));
  EXPECT_EQ(without.averaged.rows(), 0);
  EXPECT_TRUE(std::isnan(without.points.back().excess_risk_averaged));
  EXPECT_EQ(numbers(with.models), numbers(without.models));
}

TEST(Run, CountsOneVectorForEachDirectedEdgeOfDiffusion) {
  // A path of 4 has 6 directed edges; Polyak's own steps cost one value and one gradient per agent.
  const Cell cell = run(tiny("iterations = 8\n", "\"polyak\"")).cells[0];
  EXPECT_EQ(cell.points[1].rounds, 4);
  EXPECT_EQ(cell.points[1].vectors, 24);
  EXPECT_EQ(cell.points[1].scalars, 0);
  EXPECT_EQ(cell.points[1].step_vectors, 0);
  EXPECT_EQ(cell.points[1].values, 16);
  EXPECT_EQ(cell.points[1].gradients, 16);
  EXPECT_EQ(cell.points[2].vectors, 48);
  EXPECT_EQ(cell.points[0].vectors, 0);
}

TEST(Run, CountsWhatWasSentBeforeTheFirstIteration) {
  const Config config = tiny("iterations = 4\n", "\"polyak\"");
  const Instance instance = make_instance(config.options, 0);
  Stage stage(instance);
  stage.preparation = {2, 5, 7};
  for (const Index workers : {1, 2}) {
    const Cell cell = run_cell(config.options, config.methods[0], stage, 0, workers);
    EXPECT_EQ(cell.points[0].rounds, 2);
    EXPECT_EQ(cell.points[0].vectors, 5);
    EXPECT_EQ(cell.points[0].scalars, 7);
    EXPECT_EQ(cell.points[1].vectors, 5 + 24);
  }
}

// A cell's first recorded risks say which data it had.
std::vector<double> first_risks(const std::string& tables, const std::string& seeds) {
  const Config config = read_config(read_toml("iterations = 1\nstart = \"normal\"\nseeds = " + seeds + "\n" + tables +
                                              "[[method]]\nstep = \"polyak\"\n"));
  std::vector<double> out;
  for (const Cell& cell : run(config).cells) out.push_back(cell.points[0].excess_risk_mean_model);
  return out;
}

TEST(Run, AFixedGraphSeedFixesTheGraphAlone) {
  ExperimentOptions options = tiny().options;
  options.graph.topology = Topology::erdos_renyi;
  options.graph.agents = 5;
  options.graph.probability = 0.5;
  ExperimentOptions with_seed = options;
  with_seed.graph.seed = 3;
  const auto links = [](const Instance& instance) {
    std::vector<std::vector<std::int32_t>> out;
    for (Index k = 0; k < 5; ++k) {
      const auto near = instance.network.graph.neighbours(k);
      out.emplace_back(near.begin(), near.end());
    }
    return out;
  };
  std::set<std::vector<std::vector<std::int32_t>>> free;
  std::set<std::vector<std::vector<std::int32_t>>> fixed;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    free.insert(links(make_instance(options, seed)));
    fixed.insert(links(make_instance(with_seed, seed)));
  }
  EXPECT_GT(free.size(), 1U);
  EXPECT_EQ(fixed.size(), 1U);
  EXPECT_EQ(*fixed.begin(), links(make_instance(options, 3)));
  EXPECT_NE(test::data_of(make_instance(with_seed, 0)).targets, test::data_of(make_instance(with_seed, 1)).targets);
}

TEST(Run, AFixedProblemSeedFixesTheDataAlone) {
  ExperimentOptions options = tiny().options;
  options.problem.seed = 6;
  const Instance a = make_instance(options, 0);
  const Instance b = make_instance(options, 1);
  EXPECT_EQ(test::data_of(a).targets, test::data_of(b).targets);
  options.problem.seed.reset();
  EXPECT_EQ(test::data_of(make_instance(options, 6)).targets, test::data_of(a).targets);
  EXPECT_NE(test::data_of(make_instance(options, 7)).targets, test::data_of(a).targets);
}

TEST(Run, TheSeedStillChangesTheSamplingOfFixedData) {
  const std::string tables =
      "[graph]\ntopology = \"path\"\nagents = 4\nseed = 0\n[problem]\ndimension = 2\nsamples = 3\nseed = 0\n";
  const Config config =
      read_config(read_toml("iterations = 6\nseeds = [1, 2]\n" + tables + "[[method]]\nstep = \"polyak\"\n"));
  const Record record = run(config);
  EXPECT_EQ(record.cells[0].reference_value, record.cells[1].reference_value);
  EXPECT_EQ(record.cells[0].points[0].excess_risk, record.cells[1].points[0].excess_risk);
  EXPECT_NE(numbers(record.cells[0].models), numbers(record.cells[1].models));
}

TEST(Run, TheSeedChangesANormalStart) {
  const std::string tables =
      "[graph]\ntopology = \"path\"\nagents = 4\nseed = 0\n[problem]\ndimension = 2\nsamples = 3\nseed = 0\n";
  const std::vector<double> risks = first_risks(tables, "[1, 2]");
  EXPECT_NE(risks[0], risks[1]);
  EXPECT_EQ(first_risks(tables, "2")[0], risks[1]);
}

TEST(Run, StartsAtZeroUnlessToldOtherwise) {
  ExperimentOptions options;
  EXPECT_EQ(numbers(first_models(options, {0, 2}, 3, 2, 1)), (std::vector<std::vector<double>>{{0, 0, 0}, {0, 0, 0}}));
}

TEST(Run, ANormalStartDependsOnSeedAndAgentNotOnTheBlock) {
  ExperimentOptions options;
  options.start = "normal";
  const auto all = numbers(first_models(options, {0, 3}, 2, 3, 1));
  EXPECT_EQ(numbers(first_models(options, {1, 3}, 2, 3, 1)), (std::vector<std::vector<double>>{all[1], all[2]}));
  EXPECT_NE(all[0], all[1]);
  EXPECT_NE(numbers(first_models(options, {0, 3}, 2, 3, 2)), all);
}

class RunFromFile : public testing::Test {
 protected:
  RunFromFile() {
    std::string name = (fs::temp_directory_path() / "polyhop_run_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    options_.start = (folder_ / "start.txt").string();
  }
  ~RunFromFile() override { fs::remove_all(folder_); }
  void put(const std::string& text) const { std::ofstream(options_.start) << text; }
  [[nodiscard]] std::vector<std::vector<double>> start(Block block) const {
    return numbers(first_models(options_, block, 2, 3, 1));
  }
  [[nodiscard]] InputError refusal() const {
    try {
      (void)start({0, 3});
    } catch (const InputError& error) {
      return error;
    }
    ADD_FAILURE() << "accepted";
    return {"", ""};
  }

  fs::path folder_;
  ExperimentOptions options_;
};

TEST_F(RunFromFile, StartsEverybodyAtTheOneModelOfAFile) {
  put("1.5 -2\n");
  EXPECT_EQ(start({0, 3}), (std::vector<std::vector<double>>{{1.5, -2}, {1.5, -2}, {1.5, -2}}));
  EXPECT_EQ(start({2, 3}), (std::vector<std::vector<double>>{{1.5, -2}}));
}

TEST_F(RunFromFile, StartsEachAgentAtItsOwnModelOfAFile) {
  put("1, 2\n3, 4\n5, 6\n");
  EXPECT_EQ(start({0, 3}), (std::vector<std::vector<double>>{{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(start({1, 3}), (std::vector<std::vector<double>>{{3, 4}, {5, 6}}));
}

TEST_F(RunFromFile, RefusesAStartOfTheWrongSize) {
  for (const char* text : {"", "1", "1 2 3", "1 2 3 4", "1 2 3 4 5 6 7"}) {
    put(text);
    const InputError error = refusal();
    EXPECT_EQ(error.path(), "start");
    EXPECT_NE(error.message().find("expected 2 (one model for all) or 6 (one for each agent)"), std::string::npos)
        << error.what();
  }
}

TEST_F(RunFromFile, RefusesAStartThatIsNotNumbers) {
  put("1 2\n3 x\n");
  EXPECT_EQ(refusal().line(), 2);
  put("1 nan\n");
  EXPECT_EQ(refusal().line(), 1);
  fs::remove(options_.start);
  EXPECT_EQ(refusal().path(), "start");
  fs::create_directory(options_.start);
  EXPECT_EQ(refusal().path(), "start");
}

TEST_F(RunFromFile, RefusesAStartOfManyGigabytesWithoutReadingIt) {
  put("1 2\n");
  fs::resize_file(options_.start, std::uintmax_t{20'000'000'000});  // sparse: takes no room
  EXPECT_NE(refusal().message().find("has 20000000000 bytes"), std::string::npos);
}

TEST_F(RunFromFile, RunsFromTheStartOfAFile) {
  put("1 2 3 4 5 6 7 8\n");
  const Cell cell = run(tiny("iterations = 0\nstart = \"" + options_.start + "\"\n")).cells[0];
  EXPECT_EQ(numbers(cell.models), (std::vector<std::vector<double>>{{1, 2}, {3, 4}, {5, 6}, {7, 8}}));
  EXPECT_NEAR(cell.points[0].consensus_error, 10, 1e-13);  // (9 + 1 + 1 + 9) / 4 in each coordinate
}

TEST(Run, ThreadsGiveTheSameRecordButForSeconds) {
  const Config config = tiny("iterations = 30\nseeds = \"0..2\"\n", "\"gap\"",
                             "[[method]]\nname = \"t\"\nstep = { rule = \"gap\", bound = \"tight\", damping = "
                             "\"norms\", cap = \"distance\" }\n"
                             "[[method]]\nname = \"c\"\nstep = { rule = \"constant\", value = 1e300 }\n");
  const Record one = run(config, {1, {}});
  for (const Index threads : {2, 5}) {
    const Record many = run(config, {threads, {}});
    ASSERT_EQ(many.cells.size(), one.cells.size());
    for (std::size_t n = 0; n < one.cells.size(); ++n) expect_same(many.cells[n], one.cells[n]);
  }
}

TEST(Run, WorkersGiveTheSameCellButForSeconds) {
  for (const char* step :
       {"\"gap\"", "\"polyak\"", "{ rule = \"gap\", bound = \"tight\", damping = \"rows\", agree = \"mean\" }",
        "{ rule = \"gap\", bound = \"linear\", damping = \"graph\", sweeps = 4, cap = \"distance\" }"}) {
    SCOPED_TRACE(step);
    const Config config = tiny("iterations = 9\n", step);
    const Instance instance = make_instance(config.options, 0);
    const Cell one = run_cell(config.options, config.methods[0], instance, 0, 1);
    for (const Index workers : {2, 5})
      expect_same(run_cell(config.options, config.methods[0], instance, 0, workers), one);
  }
}

TEST(Run, TheSameSeedGivesTheSameRecord) {
  const Config config = tiny("iterations = 20\nseeds = [0, 1]\n");
  const Record a = run(config);
  const Record b = run(config);
  for (std::size_t n = 0; n < 2; ++n) expect_same(a.cells[n], b.cells[n]);
  EXPECT_NE(numbers(a.cells[0].models), numbers(a.cells[1].models));
}

TEST(Run, OneAgentIsPolyak) {
  const std::string text =
      "iterations = 25\n[graph]\ntopology = \"ring\"\nagents = 1\n[problem]\ndimension = 2\nsamples = 3\n"
      "[[method]]\nname = \"gap\"\nstep = { rule = \"gap\", sweeps = [1, 2, 7] }\n"
      "[[method]]\nname = \"polyak\"\nstep = \"polyak\"\n";
  const Record record = run(read_config(read_toml(text)));
  const Cell& polyak = record.cells.back();
  EXPECT_EQ(polyak.points.back().vectors, 0);
  EXPECT_EQ(polyak.points.back().consensus_error, 0);
  EXPECT_LT(polyak.points.back().excess_risk, polyak.points.front().excess_risk);
  for (std::size_t n = 0; n < 3; ++n) {
    for (Index j = 0; j < 2; ++j) {
      EXPECT_NEAR(record.cells[n].models(0, j), polyak.models(0, j), 1e-12) << record.cells[n].method;
    }
  }
}

TEST(Run, RefusesWhatDoesNotFitTheInstanceBeforeAnyCellRuns) {
  const Config list =
      tiny("iterations = 5\n", "\"polyak\"", "[[method]]\nname = \"b\"\nstep = { rule = \"gap\", optimum = [1, 2] }\n");
  expect_refused(list, "method.\"b\".step.optimum", "found 2 values, expected one for each of the 4 agents");
  bool ran = false;
  EXPECT_THROW((void)run(list, {1, [&](const Cell&, Index, Index) { ran = true; }}), InputError);
  EXPECT_FALSE(ran);
  expect_refused(tiny("start = \"/no/such/file\"\n"), "start", "no such file");
}

TEST(Run, RefusesGapOnNegativeWeights) {
  // The best constant of a star of 4 is 2/(4 + 1), so that its centre keeps 1 - 3 * 2/5 < 0 for itself.
  const std::string graph =
      "[graph]\ntopology = \"star\"\nagents = 4\nweights = \"best-constant\"\n[problem]\ndimension = 2\nsamples = 3\n";
  const auto config = [&](const std::string& step) {
    return read_config(read_toml("iterations = 5\n" + graph + "[[method]]\nname = \"m\"\nstep = " + step + "\n"));
  };
  expect_refused(config("\"gap\""), "method.\"m\".step.rule = \"gap\"", "negative weights");
  EXPECT_EQ(run(config("{ rule = \"constant\", value = 0.01 }")).cells[0].status, Status::done);
}

TEST(Run, AFailingInstanceEndsTheRun) {
  const std::string text =
      "seeds = \"0..9\"\n[graph]\ntopology = \"erdos-renyi\"\nagents = 5\nprobability = 0.0\n[problem]\n"
      "dimension = 2\nsamples = 3\n[[method]]\nstep = \"polyak\"\n";
  expect_refused(read_config(read_toml(text)), "graph.topology", "is connected; raise probability");
}

}  // namespace
}  // namespace polyhop::run_test
