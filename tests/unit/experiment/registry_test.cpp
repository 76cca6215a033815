// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/registry.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "polyhop/experiment/run.hpp"
#include "polyhop/experiment/toml_reader.hpp"
#include "polyhop/problem/objective.hpp"
#include "support/temporary_folder.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::registry_test {
namespace {

// c (z - y)^2 / 2: least squares, c times.
struct ScaledOptions {
  double factor = 1;
  static const FieldTable<ScaledOptions>& fields() {
    static const auto table =
        FieldTable<ScaledOptions>().add("factor", &ScaledOptions::factor, "of the square", {above(0)});
    return table;
  }
};

class Scaled final : public Loss {
 public:
  explicit Scaled(const ScaledOptions& options) : c_(options.factor) {}
  void values(std::span<const double> z, std::span<const double> y, std::span<double> value) const override {
    for (std::size_t n = 0; n < z.size(); ++n) value[n] = c_ * (0.5 * (z[n] - y[n]) * (z[n] - y[n]));
  }
  void slopes(std::span<const double> z, std::span<const double> y, std::span<double> slope) const override {
    for (std::size_t n = 0; n < z.size(); ++n) slope[n] = c_ * (z[n] - y[n]);
  }
  void curvatures(std::span<const double>, std::span<const double>, std::span<double> curvature) const override {
    for (double& x : curvature) x = c_;
  }
  [[nodiscard]] double max_curvature() const override { return c_; }

 private:
  double c_;
};

// The same step for everyone; like `constant`, under another name.
struct SteadyOptions {
  double size = 0.01;
  static const FieldTable<SteadyOptions>& fields() {
    static const auto table = FieldTable<SteadyOptions>().add("size", &SteadyOptions::size, "of the step", {above(0)});
    return table;
  }
};

class Steady final : public StepSize {
 public:
  Steady(const SteadyOptions& options, const Setting&) : size_(options.size) {}

 private:
  void do_choose(const Iterate&, Network&, std::span<double> mu) override {
    for (double& x : mu) x = size_;
  }
  double size_;
};

// ATC under another name, which counts its iterations where a checkpoint sees them.
class Counting final : public Algorithm {
 public:
  explicit Counting(Rows start, const NoOptions& = {}) : Algorithm(std::move(start)) {}
  static Recursion recursion(const NoOptions&) { return {.name = "counting"}; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override {
    if (count_ != i) throw Error("an iteration was lost");
    ++count_;
    const Iterate at = sample(i, w_, oracle, rule);
    rule.choose(at, network, mu_);
    network.adapt_combine(w_, mu_, at.gradients());
  }

 private:
  void register_more(StateRegistry& state) override { state.number("counting.count", count_); }
  Index count_ = 0;
};

// (w - target)^2 / 2 for every agent, the target its number times `apart`.
struct BowlOptions {
  double apart = 1;
  static const FieldTable<BowlOptions>& fields() {
    static const auto table = FieldTable<BowlOptions>().add("apart", &BowlOptions::apart, "how far targets differ");
    return table;
  }
};

class Bowl final : public Objective {
 public:
  explicit Bowl(double target) : target_(target) {}
  [[nodiscard]] Index dimension() const override { return 1; }
  [[nodiscard]] double value(std::span<const double> w, std::span<const Index>) const override {
    return 0.5 * (w[0] - target_) * (w[0] - target_);
  }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> g) const override {
    g[0] = w[0] - target_;
    return value(w, batch);
  }

 private:
  double target_;
};

std::unique_ptr<Problem> bowls(const BowlOptions& options, const ProblemSetting& setting) {
  std::vector<std::shared_ptr<const Objective>> all(setting.agents);
  for (Index k = 0; k < setting.block.size(); ++k) {
    const Index agent = setting.block.agent(k);
    all[agent] = std::make_shared<Bowl>(options.apart * static_cast<double>(agent));
  }
  return std::make_unique<ObjectiveProblem>(std::move(all), setting.batch, setting.sampling);
}

Registry mine() {
  Registry registry;
  registry.add(loss_entry<Scaled, ScaledOptions>("scaled", "least squares, some times"))
      .add(rule_entry<Steady, SteadyOptions>("steady", "one step", "nothing", Steps::constant, "size"))
      .add(algorithm_entry<Counting>("counting", "ATC that counts", "1 vector"))
      .add(problem_entry<BowlOptions>("bowls", "one parabola per agent", bowls));
  return registry;
}

const std::string head = R"(
iterations = 40
record_every = 8
[graph]
topology = "ring"
agents = 5
)";
const std::string on_scaled = head + R"([problem]
loss = "scaled"
factor = 2.0
dimension = 3
samples = 4
[[method]]
name = "mine"
algorithm = "counting"
step = { rule = "steady", size = 0.05 }
[[method]]
name = "tuned"
step = { rule = "tuned", of = "steady" }
[tuning]
budget = 3
)";
const std::string on_bowls = head + R"([problem]
source = "bowls"
apart = 0.5
[[method]]
step = { rule = "steady", size = 0.1 }
)";

TEST(Registry, RunsWhatItWasGiven) {
  const Record record = run(read_config(read_toml(on_scaled), "", mine()));
  ASSERT_EQ(record.cells.size(), 2U);
  // Twice the cost and a step of s is the same path as the cost itself and a step of 2 s.
  const std::string plain = head + R"([problem]
dimension = 3
samples = 4
[[method]]
name = "mine"
step = { rule = "constant", value = 0.1 }
)";
  const Record same = run(read_config(read_toml(plain)));
  const Point& end = record.cells[0].points.back();
  EXPECT_NEAR(end.excess_risk, 2 * same.cells[0].points.back().excess_risk, 1e-12 * end.excess_risk);
  EXPECT_EQ(end.vectors, same.cells[0].points.back().vectors);
  ASSERT_EQ(record.tunings.size(), 1U);
  EXPECT_GT(record.tunings[0].value, 0);
  EXPECT_EQ(record.config.find("problem")->find("factor")->text(), "2.0");
}

TEST(Registry, AProblemOfOnesOwnHasAReferenceAndAnExcessRisk) {
  const Record record = run(read_config(read_toml(on_bowls), "", mine()));
  const Cell& cell = record.cells.at(0);
  // Targets 0, 0.5, ..., 2: the mean is 1, where the cost is half their variance.
  EXPECT_NEAR(cell.reference_value, 0.25, 1e-12);
  EXPECT_NEAR(cell.points.front().excess_risk, 0.5, 1e-9);
  EXPECT_LT(cell.points.back().excess_risk_mean_model, 1e-3);
  // Written out and read again it is the same experiment.
  const Config config = read_config(read_toml(on_bowls), "", mine());
  const Value written = resolved(config);
  EXPECT_EQ(written.find("problem")->find("loss"), nullptr);
  EXPECT_EQ(resolved(read_config(written, "", mine())).text(), written.text());
}

// What is told of memory, and of trials, in order.
std::vector<std::string> told_of_memory(const std::string& text) {
  std::vector<std::string> told;
  RunOptions options;
  options.threads = 2;
  options.on_kept = [&](const std::string& method, double bytes) {
    told.push_back(method + " " + std::to_string(static_cast<Index>(bytes)));
  };
  options.on_trial = [&](const std::string& method, Index, Index) {
    if (told.empty() || told.back() != "trial of " + method) told.push_back("trial of " + method);
  };
  (void)run(read_config(read_toml(text), "", mine()), options);
  return told;
}

TEST(Registry, RowsKeptOfEverySampleAreToldBeforeTheFirstRunOrTrial) {
  const std::string methods = R"(
[[method]]
name = "plain"
step = { rule = "steady", size = 0.1 }
[[method]]
name = "saga"
gradient = "saga"
step = { rule = "tuned", of = "steady" }
[[method]]
name = "auto"
step = "auto"
[tuning]
budget = 3
)";
  const std::string bowls = "seeds = [0, 1]\n" + head + "[problem]\nsource = \"bowls\"\n";
  // A line of memory for each of five agents, each of one sample.
  EXPECT_EQ(told_of_memory(bowls + methods), (std::vector<std::string>{"saga 320", "trial of saga", "auto 320"}));
  EXPECT_EQ(told_of_memory(bowls + "batch = \"all\"\n" + methods), std::vector<std::string>{"trial of saga"});
  // A linear model needs few numbers.
  const std::string linear = "seeds = [0, 1]\n" + head + "[problem]\ndimension = 3\nsamples = 4\n";
  EXPECT_EQ(told_of_memory(linear + methods), std::vector<std::string>{"trial of saga"});
}

TEST(Registry, ItsEntriesAreRefusedLikeBuiltInOnes) {
  const auto refused = [](const std::string& text, const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return std::string(refusal([&] { return read_config(read_toml(changed), "", mine()); }).what());
  };
  EXPECT_NE(refused(on_scaled, "factor = 2.0", "factor = 0").find("problem.factor: found 0, expected a number > 0"),
            std::string::npos);
  EXPECT_NE(refused(on_scaled, "factor = 2.0", "facto = 2").find("problem.facto: unknown key; did you mean 'factor'?"),
            std::string::npos);
  EXPECT_NE(refused(on_scaled, "\"steady\", size", "\"stedy\", size").find("did you mean 'steady'?"),
            std::string::npos);
  EXPECT_NE(refused(on_scaled, "\"counting\"", "\"countin\"").find("did you mean 'counting'?"), std::string::npos);
  EXPECT_NE(refused(on_bowls, "apart = 0.5", "l2 = 0.5").find("problem.l2: is not a key of source = \"bowls\""),
            std::string::npos);
  EXPECT_NE(refused(on_bowls, "\"bowls\"", "\"bowl\"").find("did you mean 'bowls'?"), std::string::npos);
  // Without the registry nobody knows them.
  EXPECT_NE(
      std::string(refusal([] { return read_config(read_toml(on_scaled)); }).what()).find("unknown name \"scaled\""),
      std::string::npos);
}

TEST(Registry, RefusesNamesThatAreTaken) {
  Registry registry = mine();
  const auto again = [&](auto entry) { EXPECT_THROW(registry.add(std::move(entry)), Error); };
  again(loss_entry<Scaled, ScaledOptions>("huber", ""));
  again(loss_entry<Scaled, ScaledOptions>("scaled", ""));
  again(rule_entry<Steady, SteadyOptions>("gap", "", ""));
  again(algorithm_entry<Counting>("atc", "", ""));
  again(problem_entry<BowlOptions>("wine", "", bowls));
  again(problem_entry<BowlOptions>("synthetic", "", bowls));
  LossEntry unclear = loss_entry<Scaled, ScaledOptions>("other", "");
  unclear.options[0].name = "samples";
  again(unclear);
}

class StoredRegistry : public test::TemporaryFolder {};

TEST_F(StoredRegistry, WhatItRunsIsStoredAndResumed) {
  Config config = read_config(read_toml(on_scaled), "", mine());
  config.methods.pop_back();  // an interrupted search begins again
  const Record whole = run(config);
  int looks = 0;
  Record record;
  for (int attempt = 0; attempt < 40; ++attempt) {
    Store store(folder_.string(), Store::Mode::write);
    RunOptions options;
    options.store = &store;
    options.threads = 1 + attempt % 2;
    looks = 0;
    options.stop = [&] { return ++looks > 8; };  // some looks further each time
    record = run(config, options);
    bool finished = !record.cells.empty();
    for (const Cell& cell : record.cells) finished = finished && cell.status != Status::unfinished;
    if (finished) break;
  }
  ASSERT_EQ(record.cells.size(), whole.cells.size());
  for (std::size_t n = 0; n < whole.cells.size(); ++n) {
    ASSERT_EQ(record.cells[n].points.size(), whole.cells[n].points.size());
    for (std::size_t p = 0; p < whole.cells[n].points.size(); ++p) {
      EXPECT_EQ(record.cells[n].points[p].excess_risk, whole.cells[n].points[p].excess_risk);
    }
  }
}

}  // namespace
}  // namespace polyhop::registry_test
