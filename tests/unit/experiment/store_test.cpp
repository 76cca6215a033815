// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/experiment/load.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/experiment/toml_reader.hpp"
#include "support/bowls.hpp"
#include "support/point_bits.hpp"
#include "support/temporary_folder.hpp"

namespace polyhop::store_test {
namespace {

class StoreTest : public test::TemporaryFolder {
 protected:
  std::string folder = folder_.string();
};

Config config(const std::string& more = "") {
  return read_config(read_toml(R"(
    name = "small"
    seeds = "0..1"
    iterations = 60
    record_every = 7
    [graph]
    topology = "ring"
    agents = 5
    [problem]
    dimension = 9
    samples = 3
    noise = 0.3
    sampling = "shuffle"
    [[method]]
    name = "constant"
    step = { rule = "constant", value = 0.02 }
    [[method]]
    name = "capped"
    step = { rule = "gap", bound = "tight", damping = "rows", project = true, cap = "distance" }
  )" + more));
}

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(std::isnan(x) ? 0.0 : x); }

void expect_same_rows(const Rows& a, const Rows& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.columns(), b.columns());
  for (Index r = 0; r < a.rows(); ++r) {
    for (Index c = 0; c < a.columns(); ++c) EXPECT_EQ(bits(a(r, c)), bits(b(r, c)));
  }
}

// Everything but the times.
void expect_same(const Record& a, const Record& b) {
  ASSERT_EQ(a.cells.size(), b.cells.size());
  for (std::size_t n = 0; n < a.cells.size(); ++n) {
    const Cell& x = a.cells[n];
    const Cell& y = b.cells[n];
    EXPECT_EQ(x.method, y.method);
    EXPECT_EQ(x.seed, y.seed);
    EXPECT_EQ(x.status, y.status);
    EXPECT_EQ(x.reference_how, y.reference_how);
    EXPECT_EQ(bits(x.reference_value), bits(y.reference_value));
    EXPECT_EQ(bits(x.reference_accuracy), bits(y.reference_accuracy));
    EXPECT_EQ(bits(x.reference_error_rate), bits(y.reference_error_rate));
    EXPECT_EQ(x.recorded_agents, y.recorded_agents);
    EXPECT_EQ(x.message, y.message);
    ASSERT_EQ(x.points.size(), y.points.size());
    for (std::size_t p = 0; p < x.points.size(); ++p) {
      EXPECT_EQ(test::point_bits(x.points[p]), test::point_bits(y.points[p]))
          << x.method << " at " << x.points[p].iteration;
    }
    ASSERT_EQ(x.steps.size(), y.steps.size());
    for (std::size_t p = 0; p < x.steps.size(); ++p) {
      ASSERT_EQ(x.steps[p].size(), y.steps[p].size());
      for (std::size_t k = 0; k < x.steps[p].size(); ++k) EXPECT_EQ(bits(x.steps[p][k]), bits(y.steps[p][k]));
    }
    EXPECT_EQ(x.distances, y.distances);
    expect_same_rows(x.models, y.models);
    expect_same_rows(x.averaged, y.averaged);
  }
}

Record stored_run(const std::string& folder, const Config& c, Index threads = 1, std::function<bool()> stop = {}) {
  Store store(folder, Store::Mode::write);
  RunOptions options;
  options.threads = threads;
  options.store = &store;
  options.stop = std::move(stop);
  return run(c, options);
}

TEST_F(StoreTest, GivesBackWhatARunRecorded) {
  const Config c = config();
  stored_run(folder, c);
  expect_same(load_record(folder, true), run(c));
  const Record record = load_record(folder, false);
  EXPECT_EQ(record.name, "small");
  EXPECT_EQ(record.target, c.options.target);
  EXPECT_EQ(record.config.text(), resolved(c).text());
  ASSERT_EQ(record.networks.size(), 1U);
  EXPECT_EQ(record.networks[0].agents, 5);
  EXPECT_EQ(record.networks[0].edges.size(), 5U);
  EXPECT_EQ(record.cells[0].models.rows(), 0);
}

TEST_F(StoreTest, StoppedAtAnyLookARunGoesOnToTheSameBits) {
  Config c = config();
  c.options.checkpoint_every = 1e-9;
  const Record whole = run(c);
  for (const int after : {0, 1, 2, 3, 5, 8, 13, 21}) {
    int looks = 0;
    // Stops at the (after+1)-th look of whatever is running, then every third look again, until all is done.
    int restarts = 0;
    bool finished = false;
    while (!finished) {
      looks = 0;
      const int patience = restarts == 0 ? after : 3;
      stored_run(folder, c, 1 + restarts % 3, [&] { return looks++ >= patience; });
      finished = true;
      for (const Cell& cell : load_record(folder, false).cells)
        finished = finished && cell.status != Status::unfinished;
      ASSERT_LT(++restarts, 1000);
    }
    expect_same(load_record(folder, true), whole);
    Store(folder, Store::Mode::write).clear();
  }
}

TEST_F(StoreTest, DoesNotRunAgainWhatIsFinished) {
  stored_run(folder, config());
  Store store(folder, Store::Mode::write);
  RunOptions options;
  options.store = &store;
  int ran = 0;
  options.on_cell = [&](const Cell&, Index, Index) { ++ran; };
  std::vector<Index> begun;
  options.on_begin = [&](Index finished, Index total) { begun = {finished, total}; };
  run(config(), options);
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(begun, (std::vector<Index>{4, 4})) << "told before the first cell";
  // A changed method runs, the others do not; a renamed one does not.
  Config changed = config();
  changed.methods[0].name = "another name";
  run(changed, options);
  EXPECT_EQ(ran, 0);
  const Config third = config("[[method]]\nname = \"third\"\nstep = \"polyak\"\n");
  run(third, options);
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(begun, (std::vector<Index>{4, 6}));
  EXPECT_EQ(store.load(false).cells.size(), 6U);
}

TEST_F(StoreTest, RunsTheSameSettingsOnceUnderAllTheirNames) {
  Store store(folder_, Store::Mode::write);
  RunOptions options;
  options.store = &store;
  int ran = 0;
  options.on_cell = [&](const Cell&, Index, Index) { ++ran; };
  const Record record =
      run(config("[[method]]\nname = \"again\"\nstep = { rule = \"constant\", value = 0.02 }\n"), options);
  EXPECT_EQ(ran, 4);
  ASSERT_EQ(record.cells.size(), 6U);
  EXPECT_EQ(record.cells[2].method, "again");
  EXPECT_EQ(record.cells[2].points.back().excess_risk, record.cells[0].points.back().excess_risk);
}

TEST_F(StoreTest, GoesOnFromTheCheckpointOfACellThatFailed) {
  Config c = config();
  c.options.checkpoint_every = 1e-9;
  int looks = 0;
  stored_run(folder_, c, 1, [&] { return looks++ >= 4; });
  {
    Store store(folder_, Store::Mode::write);
    for (const Method& method : c.methods) {
      for (const std::uint64_t seed : c.options.seeds.list)
        store.fail(cell_key(c.options, method, seed).id(), "power cut");
    }
  }
  stored_run(folder_, c);
  expect_same(load_record(folder_, true), run(c));
}

TEST_F(StoreTest, StepsThatWereNotRecordedFromTheBeginningAreNotRecordedAtAll) {
  // Every agent's steps are recorded of the first seed alone; 0 is stopped as the second, and taken up as the first.
  Config c = config();
  c.methods.resize(1);
  c.options.seeds.list = {1, 0};
  {
    Store store(folder, Store::Mode::write);
    bool stopped = false;
    RunOptions options;
    options.threads = 1;
    options.store = &store;
    options.on_point = [&](const Cell& cell) { stopped = cell.seed == 0 && cell.points.back().iteration == 14; };
    options.stop = [&] { return stopped; };
    const Record record = run(c, options);
    EXPECT_EQ(record.cells[0].steps.size(), record.cells[0].points.size());
    ASSERT_EQ(record.cells[1].status, Status::unfinished);
  }
  c.options.seeds.list = {0};
  const Cell cell = stored_run(folder, c).cells.at(0);
  EXPECT_EQ(cell.status, Status::done);
  EXPECT_EQ(cell.points.front().iteration, 0);
  EXPECT_EQ(cell.points.back().iteration, 60);
  EXPECT_TRUE(cell.steps.empty());
  EXPECT_TRUE(cell.distances.empty());
}

TEST_F(StoreTest, TellsAnInputThatIsWrongFromOtherFailures) {
  Config c = config();
  c.methods.resize(1);
  c.options.seeds.list = {0, 1, 2};
  c.options.problem.own = ProblemSpec{
      "failing", Value::Table{}, [](const ProblemSetting& setting) {
        if (setting.seed == 1) throw InputError("problem", "no such thing");
        if (setting.seed == 2) throw Error("the disk is gone");
        return std::make_unique<ObjectiveProblem>(test::bowls(std::vector<test::Bowl>(5, test::Bowl({1}, {2}))));
      }};
  const Record record = stored_run(folder, c);
  EXPECT_EQ(record.cells[0].status, Status::done);
  EXPECT_EQ(record.cells[1].status, Status::failed);
  EXPECT_TRUE(record.cells[1].bad_input);
  EXPECT_EQ(record.cells[2].status, Status::failed);
  EXPECT_FALSE(record.cells[2].bad_input);
}

TEST_F(StoreTest, ACellThatFailedIsNoLongerSaidToHaveFailedOnceItGoesOn) {
  Config c = config();
  c.options.seeds.list = {0};
  c.methods.resize(1);
  c.options.checkpoint_every = 1e-9;
  const auto stopped_after = [&](int looks) { stored_run(folder_, c, 1, [&] { return looks-- <= 0; }); };
  stopped_after(3);
  Store(folder_, Store::Mode::write).fail(cell_key(c.options, c.methods[0], 0).id(), "power cut");
  stopped_after(3);
  const Cell cell = load_record(folder_, false).cells.at(0);
  EXPECT_EQ(cell.status, Status::unfinished);
  EXPECT_EQ(cell.message, "");
}

TEST_F(StoreTest, KeepsATargetTooSmallForTheCLibrary) {
  Config c = config();
  c.options.target = 1e-310;
  stored_run(folder_, c);
  EXPECT_EQ(load_record(folder_, false).target, 1e-310);
}

TEST_F(StoreTest, KeysDependOnWhatChangesTheNumbersOnly) {
  const Config a = config();
  const auto id = [](const Config& c, std::size_t method, std::uint64_t seed) {
    return cell_key(c.options, c.methods[method], seed).id();
  };
  EXPECT_EQ(id(a, 0, 0).size(), 32U);
  EXPECT_NE(id(a, 0, 0), id(a, 0, 1));
  EXPECT_NE(id(a, 0, 0), id(a, 1, 0));
  Config b = a;
  b.options.name = "other";
  b.options.seeds.list = {0, 5};
  b.options.checkpoint_every = 1;
  EXPECT_EQ(id(a, 0, 0), id(b, 0, 0));
  b.options.problem.noise = 0.31;
  EXPECT_NE(id(a, 0, 0), id(b, 0, 0));
  b = a;
  b.methods[0].average = false;  // a column more
  EXPECT_NE(id(a, 0, 0), id(b, 0, 0));
}

TEST_F(StoreTest, KeepsAFailedCellAndTriesItAgain) {
  {
    Store store(folder, Store::Mode::write);
    Record head;
    head.name = "x";
    head.config = Value(Value::Table{});
    const CellKey key{"m", 3, "settings"};
    EXPECT_EQ(store.name(), "");
    store.set_experiment(head, {key});
    EXPECT_EQ(store.name(), head.name);
    EXPECT_EQ(store.status(key.id()), Status::unfinished);
    store.fail(key.id(), "what went wrong");
  }
  const Record record = load_record(folder, false);
  ASSERT_EQ(record.cells.size(), 1U);
  EXPECT_EQ(record.cells[0].status, Status::failed);
  EXPECT_EQ(record.cells[0].message, "what went wrong");
}

// A store with one cell that stands at a checkpoint.
class SavedCell : public StoreTest {
 protected:
  SavedCell() {
    store_.set_experiment({}, {key_});
    cell_.reference_error_rate = 0.25;
    cell_.reference_accuracy = 0.125;
    cell_.points.resize(1);
    cell_.steps = {{1, 2}};
    cell_.distances = {{0.5, 0.25}};
    store_.save(id_, cell_, 0, Checkpoint{5, 2.5, 3.5, {}}, two_parts);
  }

  // The models of three agents, two of them in the first part.
  static void two_parts(const StateSink& sink) {
    sink({"models", 0, 2, 2, std::span(numbers).first(4)});
    sink({"models", 2, 1, 2, std::span(numbers).last(2)});
    sink({"count", 0, 1, 1, std::span(numbers).first(1)});
  }
  static constexpr std::array<double, 6> numbers = {1, 2, 3, 4, 5, 6};

  struct Read {
    std::string name;
    Index first;
    std::vector<double> data;
    bool operator==(const Read&) const = default;
  };
  [[nodiscard]] std::vector<Read> state() const {
    std::vector<Read> out;
    store_.read_state(id_, [&](const StatePart& part) {
      out.push_back({part.name, part.first, {part.data.begin(), part.data.end()}});
    });
    return out;
  }
  [[nodiscard]] Cell loaded() const { return store_.load_cell(id_, "m", 3, true); }

  Store store_{folder_, Store::Mode::write};
  CellKey key_{"m", 3, "settings"};
  std::string id_ = key_.id();
  Cell cell_;
};

TEST_F(SavedCell, GivesBackTheCheckpointAndItsStateInParts) {
  const auto at = store_.checkpoint(id_);
  ASSERT_TRUE(at);
  EXPECT_EQ(at->iteration, 5);
  EXPECT_EQ(at->seconds, 2.5);
  EXPECT_EQ(at->first_risk, 3.5);
  EXPECT_EQ(state(), (std::vector<Read>{{"models", 0, {1, 2, 3, 4}}, {"models", 2, {5, 6}}, {"count", 0, {1}}}));
  EXPECT_EQ(loaded().reference_error_rate, 0.25);
  EXPECT_EQ(loaded().reference_accuracy, 0.125);
  EXPECT_EQ(loaded().distances, cell_.distances);
}

TEST_F(SavedCell, KeepsTheLastCheckpointWhereTheNextOneCannotBeFinished) {
  const auto before = state();
  cell_.points.resize(2);
  cell_.points[1].iteration = 7;
  const auto torn = [](const StateSink& sink) {
    sink({"models", 0, 2, 2, std::span(numbers).last(4)});
    throw std::runtime_error("the other process is gone");
  };
  EXPECT_THROW(store_.save(id_, cell_, 1, Checkpoint{9, 4, 3.5, {}}, torn), std::runtime_error);
  EXPECT_EQ(store_.checkpoint(id_)->iteration, 5);
  EXPECT_EQ(state(), before);
  EXPECT_EQ(loaded().points.size(), 1U);
}

TEST_F(SavedCell, HasItsCheckpointStillAfterAFailure) {
  store_.fail(id_, "power cut");
  EXPECT_EQ(store_.status(id_), Status::failed);
  ASSERT_TRUE(store_.checkpoint(id_));
  EXPECT_EQ(store_.checkpoint(id_)->iteration, 5);
}

TEST_F(SavedCell, RestartedItHasNothing) {
  store_.fail(id_, "power cut");
  store_.restart(id_);
  const Cell cell = loaded();
  EXPECT_EQ(cell.status, Status::unfinished);
  EXPECT_EQ(cell.message, "");
  EXPECT_TRUE(cell.points.empty());
  EXPECT_TRUE(cell.steps.empty());
  EXPECT_FALSE(store_.checkpoint(id_));
  EXPECT_TRUE(state().empty());
}

TEST_F(SavedCell, ClearForgetsCellsAndSearches) {
  store_.save_tuning("a", Tuning{});
  store_.clear();
  EXPECT_FALSE(store_.status(id_));
  EXPECT_FALSE(store_.tuning("a"));
  EXPECT_TRUE(loaded().points.empty());
  EXPECT_TRUE(state().empty());
}

TEST_F(StoreTest, KeepsWhatASearchFound) {
  Store store(folder, Store::Mode::write);
  EXPECT_FALSE(store.tuning("a"));
  Tuning tuning;
  tuning.value = 0.017;
  tuning.trials = 14;
  tuning.iterations = 1234567890123;
  tuning.gradients = 7;
  tuning.seconds = 2.5;
  tuning.goal = TuningGoal::final_risk_averaged;
  store.save_tuning("a", tuning);
  ASSERT_TRUE(store.tuning("a"));
  EXPECT_EQ(store.tuning("a")->value, 0.017);
  EXPECT_EQ(store.tuning("a")->iterations, 1234567890123);
  EXPECT_EQ(store.tuning("a")->gradients, 7);
  EXPECT_EQ(store.tuning("a")->seconds, 2.5);
  EXPECT_EQ(store.tuning("a")->goal, TuningGoal::final_risk_averaged);
}

// Tuned for the experiment's goal, and for another one.
constexpr const char* two_goals = R"(
    [[method]]
    name = "last"
    step = "tuned"
    [[method]]
    name = "first"
    step = { rule = "tuned", goal = "iterations-to-target" }
    [tuning]
    goal = "final-risk"
    budget = 3
)";

std::vector<TuningGoal> goals_in(const std::string& folder) {
  std::vector<TuningGoal> out;
  for (const Tuning& tuning : load_record(folder, false).tunings) out.push_back(tuning.goal);
  return out;
}

TEST_F(StoreTest, KeepsWhatEachConstantIsBestFor) {
  stored_run(folder, config(two_goals));
  EXPECT_EQ(goals_in(folder), (std::vector{TuningGoal::final_risk, TuningGoal::iterations_to_target}));
}

TEST_F(StoreTest, GoalsThatAnOlderStoreLacksAreThoseOfItsExperiment) {
  const Config c = config(two_goals);
  stored_run(folder, c);
  {
    SQLite::Database database(Store::file_in(folder), SQLite::OPEN_READWRITE);
    for (const char* table : {"searches", "tunings"}) {
      database.exec(std::string("ALTER TABLE ") + table + " DROP COLUMN goal");
    }
  }
  const std::vector<TuningGoal> goals = {TuningGoal::final_risk, TuningGoal::iterations_to_target};
  EXPECT_EQ(goals_in(folder), goals);
  Store store(folder, Store::Mode::write);
  RunOptions options;
  options.store = &store;
  options.on_trial = [](const std::string&, Index, Index) { ADD_FAILURE() << "it is known"; };
  const Record again = run(c, options);
  ASSERT_EQ(again.tunings.size(), 2U);
  EXPECT_EQ(again.tunings[0].goal, goals[0]);
  EXPECT_EQ(again.tunings[1].goal, goals[1]);
}

TEST_F(StoreTest, AGoalThatNobodyKnowsIsDamage) {
  stored_run(folder, config(two_goals));
  SQLite::Database(Store::file_in(folder), SQLite::OPEN_READWRITE).exec("UPDATE tunings SET goal = 'glory'");
  EXPECT_THROW(load_record(folder, false), InputError);
}

std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST_F(StoreTest, SaysWhatIsWrongWithAFile) {
  EXPECT_NE(complaint([&] { Store(folder, Store::Mode::read); }).find("there is no experiment"), std::string::npos);
  {
    const Store first(folder, Store::Mode::write);
    EXPECT_NE(complaint([&] { Store(folder, Store::Mode::write); }).find("in use by another run"), std::string::npos);
  }
  std::ofstream(Store::file_in(folder)) << std::string(5000, 'x');
  EXPECT_NE(complaint([&] { Store(folder, Store::Mode::write); }).find("is not a polyhop store"), std::string::npos);
}

}  // namespace
}  // namespace polyhop::store_test
