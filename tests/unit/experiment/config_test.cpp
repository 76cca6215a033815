// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/config.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/experiment/toml_reader.hpp"

namespace polyhop::config_test {
namespace {

namespace fs = std::filesystem;
using Seed = std::vector<std::uint64_t>;

// The smallest experiment, in ten lines; `top` goes before its tables, `bottom` behind.
std::string experiment(const std::string& top = "", const std::string& bottom = "") {
  return top + R"([graph]
topology = "ring"
agents = 3
[problem]
dimension = 2
samples = 4
[[method]]
name = "GAP"
step = "gap"
)" + bottom;
}

Config read(const std::string& text, const std::string& folder = "") { return read_config(read_toml(text), folder); }

std::vector<std::string> names(const Config& config) {
  std::vector<std::string> out;
  for (const Method& method : config.methods) out.push_back(method.name);
  return out;
}

// The options of a method's rule as TOML.
std::string option(const Method& method, const char* key) {
  const Value* value = method.rule.options.find(key);
  return value != nullptr ? value->text() : "missing";
}

InputError error_of(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error;
  }
  ADD_FAILURE() << "accepted: " << text;
  return {"", ""};
}

void expect_refused(const std::string& text, const std::string& path, int line, const std::string& part) {
  const InputError error = error_of(text);
  EXPECT_EQ(error.path(), path) << error.what();
  EXPECT_EQ(error.line(), line) << error.what();
  EXPECT_NE(error.message().find(part), std::string::npos) << error.what();
}

Seed seeds(const std::string& value) { return read(experiment("seeds = " + value + "\n")).options.seeds.list; }

TEST(Config, ReadsHowAStepIsTuned) {
  const Config config = read(experiment("", R"([[method]]
name = "tuned"
step = { rule = "tuned", factor = [1, 0.5] }
[tuning]
seeds = [7, 9]
goal = "final-risk"
resolution = 0.01
budget = 12
)"));
  const TuningOptions& tuning = config.options.tuning;
  EXPECT_EQ(tuning.seeds->list, (Seed{7, 9}));
  EXPECT_EQ(tuning.goal, TuningGoal::final_risk);
  EXPECT_EQ(tuning.resolution, 0.01);
  EXPECT_EQ(tuning.budget, 12);
  ASSERT_EQ(names(config), (std::vector<std::string>{"GAP", "tuned factor=1", "tuned factor=0.5"}));
  EXPECT_FALSE(config.methods[0].tuned);
  EXPECT_EQ(config.methods[1].tuned->options.factor, 1);
  EXPECT_EQ(config.methods[2].tuned->options.factor, 0.5);
  // Read back from what it resolves to.
  EXPECT_EQ(resolved(read_config(resolved(config))).text(), resolved(config).text());
}

TEST(Config, RefusesATuningThatCannotBe) {
  expect_refused(experiment("", "[tuning]\nbudget = 0\n"), "tuning.budget", 11, "expected an integer >= 1");
  expect_refused(experiment("", "[tuning]\nresolution = 0.0\n"), "tuning.resolution", 11, "expected a number > 0");
  expect_refused(experiment("", "[tuning]\ngoal = \"speed\"\n"), "tuning.goal", 11, "unknown name \"speed\"");
}

TEST(Config, RefusesMoreRunsOrPointsThanMemoryHolds) {
  const auto message = [](const std::string& more) {
    const std::string text =
        "[graph]\ntopology = \"ring\"\nagents = 3\n[problem]\ndimension = 2\nsamples = 1\n"
        "[[method]]\nname = \"a\"\nstep = \"gap\"\n[[method]]\nname = \"b\"\nstep = \"polyak\"\n";
    try {
      read_config(read_toml(more + text));
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("seeds = \"0..49998\"\n"), "");
  EXPECT_EQ(message("seeds = \"0..49999\"\n"),
            "seeds: 2 methods on 50000 seeds are 1e+05 runs; at most 99999 are allowed");
  EXPECT_EQ(message("iterations = 9000000\nrecord_every = 1\n"), "");
  EXPECT_EQ(message("iterations = 500000000\nrecord_every = 1\n"),
            "record_every: found 1, which makes 1000000004 points; at most 2e7 are allowed: use 51 or more");
}

TEST(Config, ReadsThePaperExperiment) {
  const fs::path source = POLYHOP_SOURCE_DIR;
  const Config config = read_config_file((source / "examples/paper.toml").string());
  const ExperimentOptions& options = config.options;
  EXPECT_EQ(options.name, "paper");
  ASSERT_EQ(options.seeds.list.size(), 20U);
  EXPECT_EQ(options.seeds.list.front(), 0U);
  EXPECT_EQ(options.seeds.list.back(), 19U);
  EXPECT_EQ(options.iterations, 3000);
  EXPECT_EQ(options.record_every, 10);
  EXPECT_EQ(options.target, 1e-6);
  EXPECT_FALSE(options.stop_at_target);
  EXPECT_EQ(options.start, "zero");
  EXPECT_FALSE(options.time_limit);
  EXPECT_EQ(options.graph.topology, Topology::erdos_renyi);
  EXPECT_EQ(options.graph.agents, 8);
  EXPECT_EQ(options.graph.probability, 0.4);
  EXPECT_EQ(options.graph.weights, Weights::metropolis);
  EXPECT_FALSE(options.graph.seed);
  EXPECT_EQ(options.problem.model.loss.name, "least-squares");
  EXPECT_EQ(options.problem.dimension, 200);
  EXPECT_EQ(options.problem.samples, 10);
  EXPECT_EQ(options.problem.noise, 0);
  EXPECT_EQ(options.problem.model.batch.size, 1);
  EXPECT_FALSE(options.problem.model.batch.all);
  EXPECT_EQ(options.problem.model.sampling, Sampling::uniform);
  EXPECT_EQ(options.record.agents.kind, RecordedAgents::Kind::automatic);
  EXPECT_EQ(options.record.steps, RecordedSteps::summary);

  EXPECT_FALSE(options.tuning.seeds);
  EXPECT_EQ(options.tuning.goal, TuningGoal::iterations_to_target);

  ASSERT_EQ(names(config), (std::vector<std::string>{"GAP", "GAP tight", "tuned", "half of tuned", "backtracking"}));
  EXPECT_EQ(option(config.methods[0], "bound"), "\"paper\"");
  EXPECT_EQ(option(config.methods[0], "sweeps"), "2");
  EXPECT_EQ(option(config.methods[1], "bound"), "\"tight\"");
  EXPECT_EQ(option(config.methods[1], "damping"), "\"rows\"");
  EXPECT_EQ(option(config.methods[1], "project"), "true");
  EXPECT_EQ(option(config.methods[1], "relaxation"), "1.5");
  EXPECT_EQ(config.methods[2].tuned->options.factor, 1);
  EXPECT_EQ(config.methods[3].tuned->options.factor, 0.5);
  EXPECT_EQ(config.methods[4].rule.name, "backtracking");
  for (const Method& method : config.methods) {
    EXPECT_EQ(method.algorithm.name, "atc");
    EXPECT_TRUE(method.average);
  }
}

TEST(Config, HasTheDefaultsOfTheInterface) {
  const Config config = read(experiment());
  EXPECT_EQ(config.options.seeds.list, Seed{0});
  EXPECT_EQ(config.options.start, "zero");
  EXPECT_FALSE(config.options.stop_at_target);
  EXPECT_EQ(config.options.graph.weights, Weights::metropolis);
  EXPECT_EQ(config.options.problem.model.l2, 0);
  EXPECT_TRUE(config.options.problem.reference.solve);
  EXPECT_EQ(config.methods[0].algorithm.name, "atc");
  EXPECT_TRUE(config.methods[0].average);
  EXPECT_EQ(option(config.methods[0], "bound"), "\"paper\"");
  EXPECT_EQ(option(config.methods[0], "damping"), "\"paper\"");
  EXPECT_EQ(option(config.methods[0], "sweeps"), "2");
  EXPECT_EQ(option(config.methods[0], "optimum"), "\"zero\"");
}

TEST(Config, NamesAMethodWithoutNameAfterAlgorithmAndRule) {
  const Config config = read(experiment("", "[[method]]\nstep = \"polyak\"\n"));
  EXPECT_EQ(names(config), (std::vector<std::string>{"GAP", "atc polyak"}));
}

TEST(Config, MakesOneMethodForEachEntryOfAList) {
  const Config config =
      read(experiment("", "[[method]]\nname = \"c\"\nstep = { rule = \"constant\", value = [0.1, 1, 2e-3] }\n"));
  ASSERT_EQ(names(config), (std::vector<std::string>{"GAP", "c value=0.1", "c value=1", "c value=0.002"}));
  EXPECT_EQ(option(config.methods[1], "value"), "0.1");
  EXPECT_EQ(option(config.methods[2], "value"), "1.0");
  EXPECT_EQ(option(config.methods[3], "value"), "0.002");
}

TEST(Config, ANameCanSayWhereTheValueGoes) {
  const Config config = read(experiment("",
                                        "[[method]]\nname = \"GAP, {sweeps} sweeps\"\nstep = { rule = \"gap\", sweeps "
                                        "= [1, 5], bound = [\"tight\"] }\n"));
  EXPECT_EQ(names(config), (std::vector<std::string>{"GAP", "GAP, 1 sweeps bound=tight", "GAP, 5 sweeps bound=tight"}));
}

TEST(Config, CombinesTheListsOfAMethod) {
  const Config config =
      read(experiment("",
                      "[[method]]\nname = \"g\"\naverage = [true, false]\n"
                      "step = { rule = \"gap\", sweeps = [1, \"exact\"], bound = [\"linear\", \"tight\"] }\n"));
  ASSERT_EQ(names(config),
            (std::vector<std::string>{
                "GAP", "g average=true sweeps=1 bound=linear", "g average=true sweeps=1 bound=tight",
                "g average=true sweeps=exact bound=linear", "g average=true sweeps=exact bound=tight",
                "g average=false sweeps=1 bound=linear", "g average=false sweeps=1 bound=tight",
                "g average=false sweeps=exact bound=linear", "g average=false sweeps=exact bound=tight"}));
  EXPECT_TRUE(config.methods[4].average);
  EXPECT_EQ(option(config.methods[4], "sweeps"), "\"exact\"");
  EXPECT_EQ(option(config.methods[4], "bound"), "\"tight\"");
  EXPECT_FALSE(config.methods[5].average);
  EXPECT_EQ(option(config.methods[5], "sweeps"), "1");
  EXPECT_EQ(option(config.methods[5], "bound"), "\"linear\"");
}

TEST(Config, ExpandsTheListsOfAnAlgorithm) {
  const Config config = read(experiment("", R"([[method]]
name = "t"
algorithm = { name = "gradient-tracking", rounds = [1, 2] }
step = { rule = "constant", value = [0.1, 0.2] }
)"));
  ASSERT_EQ(names(config), (std::vector<std::string>{"GAP", "t rounds=1 value=0.1", "t rounds=1 value=0.2",
                                                     "t rounds=2 value=0.1", "t rounds=2 value=0.2"}));
  EXPECT_EQ(config.methods[2].algorithm.options.find("rounds")->text(), "1");
  EXPECT_EQ(config.methods[3].algorithm.options.find("rounds")->text(), "2");
  EXPECT_EQ(option(config.methods[3], "value"), "0.1");
  expect_refused(
      experiment("", "[[method]]\nalgorithm = { name = \"gradient-tracking\", rounds = [1, 0] }\nstep = \"polyak\"\n"),
      "method[1].algorithm.rounds", 11, "found 0, expected an integer in [1, 1000000]");
}

TEST(Config, AutoChoosesTheAlgorithmToo) {
  const Config config = read(experiment("", R"([[method]]
step = "auto"
[[method]]
name = "both"
algorithm = "auto"
step = { rule = "auto" }
[[method]]
name = "recursion"
algorithm = { name = "auto" }
)"));
  EXPECT_EQ(names(config), (std::vector<std::string>{"GAP", "auto", "both", "recursion"}));
  for (std::size_t n = 1; n < 4; ++n) {
    EXPECT_EQ(config.methods[n].algorithm.name, "auto") << n;
    EXPECT_EQ(config.methods[n].rule.gives, Steps::own) << n;
    EXPECT_EQ(config.methods[n].rule.name, config.methods[1].rule.name) << n;
  }
  // Read back from what it resolves to.
  EXPECT_EQ(resolved(read_config(resolved(config))).text(), resolved(config).text());
  for (const std::string name : {"dgd", "atc", "kuruzov"}) {
    expect_refused(experiment("", "[[method]]\nalgorithm = \"" + name + "\"\nstep = \"auto\"\n"), "method[1].step", 12,
                   "rule \"auto\" chooses the algorithm too; leave `algorithm` = \"" + name + "\" out");
  }
  expect_refused(experiment("", "[[method]]\nalgorithm = \"auto\"\nstep = \"gap\"\n"), "method[1].step", 12,
                 "rule \"gap\" does not go with algorithm \"auto\", which chooses its own steps; leave `step` out");
}

TEST(Config, MakesOneMethodForEachRuleOfAList) {
  const Config config = read(experiment("", "[[method]]\nstep = [\"polyak\", { rule = \"constant\", value = 1 }]\n"));
  ASSERT_EQ(config.methods.size(), 3U);
  EXPECT_EQ(config.methods[1].name, "step=polyak");
  EXPECT_EQ(config.methods[1].rule.name, "polyak");
  EXPECT_EQ(config.methods[2].rule.name, "constant");
}

TEST(Config, KeepsAListOfOptimaAsOneValue) {
  const Config config = read(experiment("", "[[method]]\nstep = { rule = \"polyak\", optimum = [1, 2, 3] }\n"));
  ASSERT_EQ(config.methods.size(), 2U);
  EXPECT_EQ(option(config.methods[1], "optimum"), "[1.0, 2.0, 3.0]");
}

TEST(Config, RefusesAnEmptyList) {
  expect_refused(experiment("", "[[method]]\nname = \"c\"\nstep = { rule = \"constant\", value = [] }\n"),
                 "method.value", 12, "an empty list");
}

TEST(Config, TellsWhichEntryOfAListIsWrong) {
  expect_refused(
      experiment("", "[[method]]\nname = \"c\"\n[method.step]\nrule = \"constant\"\nvalue = [\n0.1,\n-1,\n]\n"),
      "method[1].step.value", 16, "found -1, expected a number > 0");
}

TEST(Config, RefusesTwoMethodsOfOneName) {
  expect_refused(experiment("", "[[method]]\nname = \"GAP\"\nstep = \"polyak\"\n"), "method[1].name", 10,
                 "two methods are called \"GAP\"");
  expect_refused(experiment("", "[[method]]\nstep = \"polyak\"\n[[method]]\nstep = \"polyak\"\n"), "method[2].name", 12,
                 "two methods are called \"atc polyak\"");
  expect_refused(experiment("", "[[method]]\nstep = { rule = \"constant\", value = [1, 1] }\n"), "method[1].name", 10,
                 "two methods are called \"value=1\"");
}

TEST(Config, RefusesControlCharactersInNames) {
  for (const char* control : {"\\u001b", "\\n", "\\t", "\\u007f"}) {
    const std::string name = std::string("\"a") + control + "\"";
    expect_refused(experiment("name = " + name + "\n"), "name", 1, "expected a name without control characters");
    expect_refused(experiment("", "[[method]]\nname = " + name + "\nstep = \"polyak\"\n"), "method[1].name", 11,
                   "expected a name without control characters");
  }
  EXPECT_EQ(names(read(experiment("", "[[method]]\nname = \"µ, \\\"größer\\\" / 漢字\"\nstep = \"polyak\"\n")))[1],
            "µ, \"größer\" / 漢字");
}

TEST(Config, RefusesNamesOfMoreThanAThousandBytes) {
  const auto named = [](std::size_t bytes) { return experiment("name = \"" + std::string(bytes, 'x') + "\"\n"); };
  EXPECT_EQ(read(named(1000)).options.name.size(), 1000U);
  expect_refused(named(1001), "name", 1, "a name of 1001 bytes, expected at most 1000");
}

TEST(Config, WritesSeedsAsARangeWhereTheyAreOne) {
  EXPECT_EQ(Codec<Seeds>::write({{3, 4, 5}}).text(), "\"3..5\"");
  EXPECT_EQ(Codec<Seeds>::write({{3, 7, 5}}).text(), "[3, 7, 5]");
  EXPECT_EQ(Codec<Seeds>::write({{7}}).text(), "7");
}

TEST(Config, ReadsSeedsAsANumberAListOrARange) {
  EXPECT_EQ(seeds("7"), (Seed{7}));
  EXPECT_EQ(seeds("[5, 0, 9]"), (Seed{5, 0, 9}));
  EXPECT_EQ(seeds("\"3..6\""), (Seed{3, 4, 5, 6}));
  EXPECT_EQ(seeds("\"4..4\""), (Seed{4}));
  EXPECT_EQ(seeds("\"0..99998\"").size(), 99999U);
  EXPECT_EQ(seeds("\"9223372036854775806..9223372036854775807\""), (Seed{9223372036854775806U, 9223372036854775807U}));
}

TEST(Config, RefusesMalformedSeeds) {
  for (const char* value : {"-1",
                            "1.0",
                            "true",
                            "{}",
                            "[]",
                            "\"\"",
                            "\"..\"",
                            "\"3\"",
                            "\"3..\"",
                            "\"..3\"",
                            "\"6..3\"",
                            "\"0...3\"",
                            "\"0..3..5\"",
                            "\"-1..3\"",
                            "\"0..-3\"",
                            "\"+0..3\"",
                            "\" 0..3\"",
                            "\"0..3 \"",
                            "\"0 .. 3\"",
                            "\"a..b\"",
                            "\"0..0x3\"",
                            "\"0..1e1\"",
                            "\"0..99999\"",
                            "\"0..18446744073709551615\"",
                            "\"18446744073709551615..18446744073709551615\"",
                            "\"9223372036854775808..9223372036854775808\"",
                            "\"99999999999999999999..99999999999999999999\""}) {
    SCOPED_TRACE(value);
    expect_refused(experiment(std::string("seeds = ") + value + "\n"), "seeds", 1, "an integer >= 0, a list of them");
  }
  for (const char* value : {"[1, 1]", "[-1]", "[0, 1.5]", "[\"0..3\"]", "[[1]]"}) {
    SCOPED_TRACE(value);
    expect_refused(experiment(std::string("seeds = ") + value + "\n"), "seeds", 1, "different integers >= 0");
  }
}

TEST(Config, SuggestsTheNearestKeyAtEveryLevel) {
  expect_refused(experiment("iteration = 3\n"), "iteration", 1, "unknown key; did you mean 'iterations'?");
  expect_refused(experiment("") + "[grph]\n", "grph", 10, "unknown key; did you mean 'graph'?");
  expect_refused(experiment("", "[[methods]]\nstep = \"gap\"\n"), "methods", 10, "unknown key; did you mean 'method'?");
  expect_refused("[graph]\ntopology = \"ring\"\nagent = 3\n", "graph.agent", 3, "unknown key; did you mean 'agents'?");
  expect_refused("[graph]\ntopology = \"ring\"\nagents = 3\n[problem]\ndimensions = 3\n", "problem.dimensions", 5,
                 "unknown key; did you mean 'dimension'?");
  expect_refused(experiment("[record]\nagent = 3\n"), "record.agent", 2, "unknown key; did you mean 'agents'?");
  expect_refused(experiment("", "averag = true\n"), "method[0].averag", 10, "unknown key; did you mean 'average'?");
  expect_refused(experiment("", "[[method]]\nstep = { rule = \"gap\", sweep = 3 }\n"), "method[1].step.sweep", 11,
                 "unknown key; did you mean 'sweeps'?");
}

TEST(Config, TellsAllErrorsInTheOrderOfTheirLines) {
  try {
    (void)read(
        experiment("iteration = 3\n", "averag = true\n[[method]]\nstep = { rule = \"gap\", sweep = 3, cap = 0 }\n"));
    FAIL() << "expected an error";
  } catch (const InputError& e) {
    std::vector<std::string> paths;
    for (const InputError& each : e.all()) paths.push_back(each.path());
    EXPECT_EQ(paths,
              (std::vector<std::string>{"iteration", "method[0].averag", "method[1].step.sweep", "method[1].step.cap"}))
        << e.what();
    EXPECT_EQ(e.path(), "iteration");
  }
}

TEST(Config, ListsWhatIsAllowedWhereNothingIsNear) {
  expect_refused(experiment("[record]\nwhatever = 3\n"), "record.whatever", 2, "unknown key; allowed: agents, steps");
}

TEST(Config, SuggestsTheNearestName) {
  expect_refused("[graph]\ntopology = \"rings\"\n", "graph.topology", 2,
                 "unknown name \"rings\"; did you mean 'ring'?");
  expect_refused(experiment("", "algorithm = \"atcc\"\n"), "method[0].algorithm", 10,
                 "unknown name \"atcc\"; did you mean 'atc'?");
  expect_refused(experiment("", "[[method]]\nstep = \"pap\"\n"), "method[1].step.rule", 11,
                 "unknown name \"pap\"; did you mean 'gap'?");
}

TEST(Config, RefusesMissingTables) {
  expect_refused("", "graph", 1, "missing");
  expect_refused("[problem]\ndimension = 2\nsamples = 4\n", "graph", 1, "missing");
  expect_refused("[graph]\ntopology = \"ring\"\nagents = 3\n", "problem", 1, "missing");
  const std::string both = "[graph]\ntopology = \"ring\"\nagents = 3\n[problem]\ndimension = 2\nsamples = 4\n";
  expect_refused(both, "method", 0, "expected at least one [[method]]");
  expect_refused("method = []\n" + both, "method", 1, "expected at least one [[method]]");
  expect_refused(both + "[method]\nstep = \"gap\"\n", "method", 7,
                 "found one table, expected a list of tables; in a file, write [[method]]");
  expect_refused(experiment("", "[[method]]\nname = \"x\"\n"), "method[1].step", 10, "missing");
  expect_refused(experiment("", "[[method]]\nstep = { sweeps = 2 }\n"), "method[1].step", 11, "expected a rule");
  expect_refused("[graph]\nagents = 3\n", "graph.topology", 1, "missing");
  expect_refused(experiment("", "[[method]]\nstep = \"constant\"\n"), "method[1].step.value", 11, "missing");
}

TEST(Config, RefusesWrongTypesAndRanges) {
  expect_refused(experiment("iterations = \"many\"\n"), "iterations", 1, "found \"many\", expected an integer");
  expect_refused(experiment("iterations = 2.0\n"), "iterations", 1, "found 2.0, expected an integer");
  expect_refused(experiment("iterations = -1\n"), "iterations", 1, "found -1, expected an integer >= 0");
  expect_refused(experiment("record_every = 0\n"), "record_every", 1, "found 0, expected an integer >= 1");
  expect_refused(experiment("target = 0\n"), "target", 1, "found 0, expected a number > 0");
  expect_refused(experiment("target = nan\n"), "target", 1, "found nan, expected a number > 0");
  expect_refused(experiment("time_limit = inf\n"), "time_limit", 1, "found inf, expected a number > 0");
  expect_refused(experiment("stop_at_target = 1\n"), "stop_at_target", 1, "found 1, expected true or false");
  expect_refused(experiment("name = \"\"\n"), "name", 1, "an empty name");
  expect_refused(experiment("graph = 3\n").substr(0, 10), "graph", 1, "found 3, expected a table");
  expect_refused(experiment("record = { agents = 0 }\n"), "record.agents", 1, "\"auto\", \"all\" or an integer >= 1");
  expect_refused(experiment("record = { agents = \"some\" }\n"), "record.agents", 1,
                 "\"auto\", \"all\" or an integer >= 1");
  expect_refused(experiment("", "[[method]]\nstep = 3\n"), "method[1].step", 11, "expected a rule");
  expect_refused(experiment("method = [3]\n").substr(0, 13) +
                     "[graph]\ntopology = \"ring\"\nagents = 3\n[problem]\ndimension = 2\nsamples = 4\n",
                 "method[0]", 1, "expected a table");
}

TEST(Config, ReadsWhoseModelsAreRecorded) {
  EXPECT_EQ(read(experiment("record.agents = \"auto\"\n")).options.record.agents.kind, RecordedAgents::Kind::automatic);
  EXPECT_EQ(read(experiment("record.agents = \"all\"\n")).options.record.agents.kind, RecordedAgents::Kind::all);
  const RecordedAgents some = read(experiment("record.agents = 2\n")).options.record.agents;
  EXPECT_EQ(some.kind, RecordedAgents::Kind::some);
  EXPECT_EQ(some.count, 2);
}

TEST(Config, SettlesRelativeFileNamesAgainstTheFolder) {
  const std::string text =
      "start = \"first.txt\"\n[graph]\ntopology = \"file\"\nfile = \"../g.mtx\"\n[problem]\ndimension = 2\n"
      "samples = 4\n[[method]]\nstep = { rule = \"polyak\", optimum = { file = \"best.txt\" } }\n";
  const Config settled = read(text, "/data/exp");
  EXPECT_EQ(settled.options.start, "/data/exp/first.txt");
  EXPECT_EQ(settled.options.graph.file, "/data/exp/../g.mtx");
  EXPECT_EQ(option(settled.methods[0], "optimum"), "{ file = \"/data/exp/best.txt\" }");
  const Config here = read(text);
  EXPECT_EQ(here.options.start, "first.txt");
  EXPECT_EQ(here.options.graph.file, "../g.mtx");
  EXPECT_EQ(option(here.methods[0], "optimum"), "{ file = \"best.txt\" }");
}

TEST(Config, SettlesTheFileOfASchedule) {
  const std::string text =
      "[graph]\ntopology = \"ring\"\nagents = 4\n[problem]\ndimension = 2\nsamples = 4\n[[method]]\nstep = "
      "{ rule = \"schedule\", file = \"steps.txt\" }\n";
  EXPECT_EQ(option(read(text, "/data/exp").methods[0], "file"), "\"/data/exp/steps.txt\"");
  EXPECT_EQ(option(read(text).methods[0], "file"), "\"steps.txt\"");
}

TEST(Config, LeavesAbsoluteFileNamesAndTheNamesOfStarts) {
  const std::string text =
      "[graph]\ntopology = \"file\"\nfile = \"/g.mtx\"\n[problem]\ndimension = 2\nsamples = 4\n[[method]]\nstep = "
      "\"gap\"\n";
  EXPECT_EQ(read(text, "/data").options.graph.file, "/g.mtx");
  EXPECT_EQ(read("start = \"zero\"\n" + text, "/data").options.start, "zero");
  EXPECT_EQ(read("start = \"normal\"\n" + text, "/data").options.start, "normal");
  try {
    read("start = \"norml\"\n" + text, "/data");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(),
                 "line 1: start: found \"norml\", expected \"zero\", \"normal\", or a file; did you mean 'normal'?");
  }
  EXPECT_EQ(read("start = \"normal.txt\"\n" + text, "/data").options.start, "/data/normal.txt");
}

TEST(Config, ResolvedReadsBackToTheSameConfiguration) {
  const std::string text = R"toml(name = "é, \"quoted\""
seeds = [4, 1]
iterations = 12
record_every = 5
target = 0.1
stop_at_target = true
start = "normal"
time_limit = 2.5
[graph]
topology = "watts-strogatz"
agents = 5
degree = 2
rewire = 0.25
weights = "lazy"
seed = 3
[problem]
loss = "huber"
delta = 2.0
l2 = 1e-3
dimension = 2
samples = 4
noise = 0.1
batch = "all"
sampling = "cyclic"
reference = 0.5
seed = 8
[record]
agents = 2
steps = "agents"
[[method]]
name = "g"
average = false
step = { rule = "gap", bound = "tight", sweeps = ["exact", 3], cap = "0.5/sqrt(i+1)", optimum = [1, 2, 3, 4, 5] }
[[method]]
step = { rule = "sps", max = 3 }
)toml";
  const Config config = read(text);
  const Value spelt_out = resolved(config);
  const Config again = read_config(spelt_out);
  EXPECT_EQ(resolved(again).text(), spelt_out.text());
  EXPECT_EQ(names(again), (std::vector<std::string>{"g sweeps=exact", "g sweeps=3", "atc sps"}));
  EXPECT_EQ(again.options.name, "é, \"quoted\"");
  EXPECT_EQ(again.options.seeds.list, (Seed{4, 1}));
  EXPECT_EQ(again.options.time_limit, 2.5);
  EXPECT_EQ(again.options.graph.rewire, 0.25);
  EXPECT_EQ(again.options.problem.reference.value, 0.5);
  EXPECT_TRUE(again.options.problem.model.batch.all);
  EXPECT_EQ(again.options.record.agents.count, 2);
  EXPECT_EQ(again.options.record.steps, RecordedSteps::agents);
  EXPECT_FALSE(again.methods[0].average);
  EXPECT_EQ(option(again.methods[2], "c"), "0.5");
}

TEST(Config, ResolvedOfRealDataReadsBackWithoutTheSizesOfSyntheticData) {
  const std::string text =
      "[graph]\ntopology = \"ring\"\nagents = 4\n[problem]\nsource = \"file\"\ndata = \"/a.csv\"\n[[method]]\nstep = "
      "\"gap\"\n";
  const Value spelt_out = resolved(read(text));
  EXPECT_EQ(resolved(read_config(spelt_out)).text(), spelt_out.text());
  for (const char* key : {"dimension", "samples", "noise", "scale_spread", "minimiser_spread"}) {
    EXPECT_EQ(spelt_out.find("problem")->find(key), nullptr) << key;
  }
}

TEST(Config, ResolvedSpellsOutDefaultsAndShortensSeeds) {
  const Value plain = resolved(read(experiment("seeds = [2, 3, 4]\n")));
  EXPECT_EQ(plain.find("seeds")->text(), "\"2..4\"");
  EXPECT_EQ(plain.find("iterations")->text(), "1000");
  EXPECT_EQ(plain.find("record")->text(), "{ agents = \"auto\", steps = \"summary\" }");
  EXPECT_EQ(plain.find("time_limit"), nullptr);
  const Value& method = plain.find("method")->as<Value::Array>()->front();
  EXPECT_EQ(method.find("algorithm")->text(), "\"atc\"");
  EXPECT_EQ(method.find("step")->find("rule")->text(), "\"gap\"");
  EXPECT_EQ(method.find("step")->find("relaxation")->text(), "1.0");
  EXPECT_EQ(resolved(read(experiment("seeds = 5\n"))).find("seeds")->text(), "5");
  EXPECT_EQ(resolved(read(experiment("seeds = [5, 4]\n"))).find("seeds")->text(), "[5, 4]");
}

class ConfigFile : public testing::Test {
 protected:
  ConfigFile() {
    std::string name = (fs::temp_directory_path() / "polyhop_config_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    file_ = (folder_ / "e.toml").string();
  }
  ~ConfigFile() override { fs::remove_all(folder_); }
  void put(const std::string& text) const { std::ofstream(file_) << text; }

  fs::path folder_;
  std::string file_;
};

TEST_F(ConfigFile, TellsTheFileOfAnError) {
  put(experiment("iteration = 3\n"));
  try {
    read_config_file(file_);
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), file_ + ":1: iteration: unknown key; did you mean 'iterations'?");
  }
}

TEST_F(ConfigFile, TakesSettingsOnTop) {
  put(experiment("iterations = 3\n"));
  const Config config = read_config_file(
      file_, {"iterations=7", "graph.agents=5", "name=other", "method.GAP.step={ rule = \"gap\", sweeps = 4 }"});
  EXPECT_EQ(config.options.iterations, 7);
  EXPECT_EQ(config.options.graph.agents, 5);
  EXPECT_EQ(config.options.name, "other");
  EXPECT_EQ(option(config.methods[0], "sweeps"), "4");
}

TEST_F(ConfigFile, ItsFolderIsWhereFileNamesStart) {
  put(experiment("start = \"w.txt\"\n"));
  EXPECT_EQ(read_config_file(file_).options.start, (folder_ / "w.txt").string());
}

}  // namespace
}  // namespace polyhop::config_test
