// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/include.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "polyhop/experiment/config.hpp"
#include "polyhop/experiment/run.hpp"
#include "polyhop/experiment/toml_reader.hpp"
#include "support/temporary_folder.hpp"

namespace polyhop::include_test {
namespace {

const std::string network = "[graph]\ntopology = \"ring\"\nagents = 4\n[problem]\ndimension = 3\nsamples = 5\n";
const std::string gap = "[[method]]\nname = \"GAP\"\nstep = \"gap\"\n";

class Include : public test::TemporaryFolder {
 protected:
  void put(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }

  // The content of a.toml with what it includes.
  [[nodiscard]] std::string merged() const {
    Value root = read_toml_file(file("a.toml"));
    (void)carry_out_includes(root, file("a.toml"));
    return root.text();
  }

  [[nodiscard]] std::string refusal(const std::vector<KeySetting>& settings = {}) const {
    try {
      (void)read_config_file(file("a.toml"), settings);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(Include, OwnKeysWin) {
  put("a.toml", "include = \"b.toml\"\nx = 1\n");
  put("b.toml", "x = 2\ny = 3\n");
  EXPECT_EQ(merged(), "{ x = 1, y = 3 }");
}

TEST_F(Include, TablesAreMergedKeyByKey) {
  put("a.toml", "include = \"b.toml\"\n[t]\nx = 1\n[t.u]\np = 1\n");
  put("b.toml", "[t]\nx = 2\ny = 3\n[t.u]\nq = 2\n[s]\nz = 4\n");
  EXPECT_EQ(merged(), "{ t = { x = 1, u = { p = 1, q = 2 }, y = 3 }, s = { z = 4 } }");
}

TEST_F(Include, ListsOfTablesAreJoinedTheIncludedFirst) {
  put("a.toml", "include = \"b.toml\"\nseeds = [1]\n[[m]]\nx = 1\n");
  put("b.toml", "seeds = [2, 3]\n[[m]]\nx = 2\n[[m]]\nx = 3\n");
  EXPECT_EQ(merged(), "{ seeds = [1], m = [{ x = 2 }, { x = 3 }, { x = 1 }] }");
}

TEST_F(Include, OfSeveralFilesTheLaterWins) {
  put("a.toml", "include = [\"b.toml\", \"c.toml\"]\n[[m]]\nx = 1\n");
  put("b.toml", "p = 1\nq = 1\n[[m]]\nx = 2\n");
  put("c.toml", "q = 2\n[[m]]\nx = 3\n");
  EXPECT_EQ(merged(), "{ m = [{ x = 2 }, { x = 3 }, { x = 1 }], q = 2, p = 1 }");
}

TEST_F(Include, NamesStartFromTheFolderOfTheFile) {
  std::filesystem::create_directory(folder_ / "sub");
  put("a.toml", "include = \"sub/b.toml\"\n");
  put("sub/b.toml", "x = 1\n");
  EXPECT_EQ(merged(), "{ x = 1 }");
}

TEST_F(Include, AFileWithoutItStaysAsItIs) {
  put("a.toml", "x = 1\n");
  EXPECT_EQ(merged(), "{ x = 1 }");
}

TEST_F(Include, MakesNoDifferenceToARun) {
  put("b.toml", gap);
  put("a.toml", "include = \"b.toml\"\n" + network);
  const Config in_two = read_config_file(file("a.toml"));
  put("a.toml", network + gap);
  const Config in_one = read_config_file(file("a.toml"));
  EXPECT_EQ(resolved(in_two).text(), resolved(in_one).text());
  EXPECT_EQ(cell_key(in_two.options, in_two.methods[0], 0).id(), cell_key(in_one.options, in_one.methods[0], 0).id());
}

TEST_F(Include, SettingsReachWhatIsIncluded) {
  put("a.toml", "include = \"b.toml\"\n" + network);
  put("b.toml", gap);
  const Config config = read_config_file(file("a.toml"), {"method.GAP.step={ rule = \"gap\", sweeps = 4 }"});
  EXPECT_EQ(config.methods[0].rule.options.find("sweeps")->text(), "4");
}

TEST_F(Include, ErrorsNameTheFileAndLineTheyAreIn) {
  put("b.toml", "\n" + gap + "[[method]]\nstep = \"gpa\"\n");
  put("a.toml", "include = \"b.toml\"\n" + network);
  EXPECT_EQ(refusal(), file("b.toml") + ":6: method[1].step.rule: unknown name \"gpa\"; did you mean 'gap'?");

  put("b.toml", gap);
  put("a.toml", "include = \"b.toml\"\nitrations = 3\n" + network);
  EXPECT_EQ(refusal(), file("a.toml") + ":2: itrations: unknown key; did you mean 'iterations'?");

  put("b.toml", "[graph]\nagents = 1.5\n" + gap);
  put("a.toml", "include = \"b.toml\"\n[graph]\ntopology = \"ring\"\n[problem]\ndimension = 3\nsamples = 5\n");
  EXPECT_EQ(refusal(), file("b.toml") + ":2: graph.agents: found 1.5, expected an integer");

  put("c.toml", "\n\nseeds = -1\n");
  put("a.toml", "include = [\"b.toml\", \"c.toml\"]\n" + network);
  EXPECT_EQ(refusal().substr(0, file("c.toml").size() + 10), file("c.toml") + ":3: seeds:");
}

TEST_F(Include, SyntaxErrorsNameTheIncludedFile) {
  put("a.toml", "include = \"b.toml\"\n" + network);
  put("b.toml", "x = 1\ny =\n");
  EXPECT_EQ(refusal().substr(0, file("b.toml").size() + 3), file("b.toml") + ":2:");
}

TEST_F(Include, AMissingFileIsTheFaultOfTheLineThatNamesIt) {
  put("a.toml", "name = \"a\"\ninclude = \"nowhere.toml\"\n" + network);
  const std::string text = refusal();
  EXPECT_TRUE(text.starts_with(file("a.toml") + ":2: include: " + file("nowhere.toml") + ": ")) << text;
}

TEST_F(Include, IncludedFilesIncludeNothing) {
  put("a.toml", "include = \"b.toml\"\n" + network);
  put("b.toml", "x = 1\ninclude = \"c.toml\"\n");
  EXPECT_EQ(refusal(), file("b.toml") + ":2: include: an included file cannot include others");
}

TEST_F(Include, OnlyNamesAreTaken) {
  for (const std::string bad : {"3", "[\"b.toml\", 3]", "{ file = \"b.toml\" }"}) {
    put("a.toml", "\ninclude = " + bad + "\n" + network);
    EXPECT_EQ(refusal(),
              file("a.toml") + ":2: include: found " + bad + ", expected the name of a file or a list of up to 100");
  }
}

TEST_F(Include, WhatASettingGaveIsToldByItsFlag) {
  put("a.toml", "[graph]\ntopology = \"ring\"\nagents = 4\n[problem]\ndimension = 2\nsamples = 2\n" + gap);
  EXPECT_EQ(refusal({"iterations=3", "graph.agent=2"}),
            "--set graph.agent=2: graph.agent: unknown key; did you mean 'agents'?");
  EXPECT_EQ(refusal({{"seeds=-1", "--seeds -1"}}).substr(0, 24), "--seeds -1: seeds: found");
  EXPECT_EQ(refusal({"method.GAP.step={ rule = \"gap\", bond = 1 }"}).substr(0, 30), "--set method.GAP.step={ rule =");
}

TEST_F(Include, WhatIsFoundWrongLaterIsToldByWhereItsKeyStands) {
  put("a.toml", "include = \"b.toml\"\n[graph]\ntopology = \"ring\"\nagents = 4\n");
  put("b.toml", "[problem]\ndimension = 2\nsamples = 2\n" + gap);
  const Sources sources = read_config_file(file("a.toml"), {"graph.weights=given"}).sources;
  const auto told = [&](const std::string& path) { return std::string(sources.located(InputError(path, "x")).what()); };
  EXPECT_EQ(told("graph.agents"), file("a.toml") + ":4: graph.agents: x");
  EXPECT_EQ(told("graph.radius"), file("a.toml") + ":2: graph.radius: x");
  EXPECT_EQ(told("graph.weights"), "--set graph.weights=given: graph.weights: x");
  EXPECT_EQ(told("problem.samples"), file("b.toml") + ":3: problem.samples: x");
  EXPECT_EQ(told("method[0].step"), file("b.toml") + ":6: method.\"GAP\".step: x");
  EXPECT_EQ(told("method.\"GAP\".step.sweeps"), file("b.toml") + ":6: method.\"GAP\".step.sweeps: x");
  EXPECT_EQ(told("method.\"other\".step"), file("a.toml") + ": method.\"other\".step: x");
  EXPECT_EQ(told("nothing"), file("a.toml") + ": nothing: x");
}

}  // namespace
}  // namespace polyhop::include_test
