// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/advice.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "polyhop/experiment/toml_reader.hpp"
#include "polyhop/method/constant_step.hpp"
#include "polyhop/method/rule_table.hpp"

namespace polyhop::advice_test {
namespace {

// A method with this step; `more` stands before it.
Method method(const std::string& step, const std::string& more = "") {
  const std::string text =
      "[graph]\ntopology = \"path\"\nagents = 4\n[problem]\ndimension = 2\nsamples = 3\n"
      "[[method]]\nname = \"m\"\n";
  return read_config(read_toml(text + more + (step.empty() ? "" : "step = " + step + "\n"))).methods[0];
}

std::string after_divergence(const std::string& step, const std::string& more = "") {
  return advice(method(step, more), Status::diverged);
}

TEST(Advice, SaysNothingOfRunsThatWentTheirWay) {
  for (const Status status : {Status::done, Status::target, Status::time_limit, Status::unfinished, Status::failed}) {
    EXPECT_EQ(advice(method("\"gap\""), status), "") << name_of(status);
  }
}

TEST(Advice, SaysWhatSamplesTake) {
  EXPECT_EQ(kept_note("saga", 1.5e9), "'saga' remembers its samples' last gradients, which takes 1.5 GB per run.");
}

TEST(Advice, LetsTheSearchFindAStepThatIsTooLarge) {
  for (const std::string rule : {"constant", "decay", "schedule"}) {
    const std::string search = rule == "constant" ? "\"tuned\"" : "{ rule = \"tuned\", of = \"" + rule + "\" }";
    EXPECT_EQ(after_divergence("{ rule = \"" + rule + "\", value = 9 }"),
              "the step is too large; step = " + search +
                  " finds the best one on other seeds, and with factor = 0.5 takes half of it");
    EXPECT_TRUE(method(search).tuned) << "what is advised must be possible";
  }
}

TEST(Advice, TakesAShareOfAStepThatASearchFound) {
  EXPECT_EQ(after_divergence("\"tuned\""),
            "the step found on other seeds is too large for these; factor = 0.5 takes half of it");
}

TEST(Advice, LetsTheSearchFindTheConstantOfOnesOwnRule) {
  std::vector<RuleEntry> mine = rules();
  mine.push_back(rule_entry<ConstantStep, ConstantOptions>("steady", "", "", Steps::constant, "value"));
  Method steady = method("\"gap\"");
  steady.rule = read_rule(Value::Table{{"rule", "steady"}, {"value", 9.0}}, "step", mine);
  EXPECT_NE(advice(steady, Status::diverged).find("of = \"steady\" } finds the best one"), std::string::npos);
}

TEST(Advice, RepairsThePublishedRule) {
  const std::string published = after_divergence("\"gap\"");
  EXPECT_NE(published.find("can diverge (docs/failures.md)"), std::string::npos) << published;
  EXPECT_NE(published.find("use bound = \"tight\""), std::string::npos) << published;
  // No other option makes up for the published bound.
  EXPECT_EQ(after_divergence("{ rule = \"gap\", damping = \"rows\", project = true, cap = \"distance\" }"), published);
  const std::string sweeps = "sweeps cannot diverge with damping = \"rows\" and project = true";
  EXPECT_EQ(after_divergence("{ rule = \"gap\", bound = \"linear\", project = true }"), sweeps);
  EXPECT_EQ(after_divergence("{ rule = \"gap\", bound = \"tight\", damping = \"rows\" }"), sweeps);
}

TEST(Advice, LimitsGraphAwareStepsAmongNoise) {
  const std::string repaired = "{ rule = \"gap\", bound = \"tight\", damping = \"rows\", project = true";
  EXPECT_EQ(after_divergence(repaired + " }"),
            "the optimum given to the rule may be too low for noisy samples; use cap = \"distance\", or step = "
            "\"auto\"");
  EXPECT_EQ(after_divergence(repaired + ", cap = \"distance\" }"), "use step = \"auto\"");
  EXPECT_EQ(after_divergence(repaired + ", cap = 3 }"), "use step = \"auto\"");
}

TEST(Advice, KnowsWhatEachRuleLacks) {
  for (const char* rule : {"polyak", "sps"}) {
    EXPECT_EQ(after_divergence(std::string("\"") + rule + "\""), "limit the step: max = ..., or use step = \"auto\"");
  }
  for (const char* rule : {"adgd", "barzilai-borwein"}) {
    EXPECT_EQ(after_divergence(std::string("\"") + rule + "\""),
              "made for full gradients (problem.batch = \"all\"); use agree = \"min\", or step = \"auto\"");
  }
  for (const char* rule : {"decsps", "backtracking"}) {
    EXPECT_EQ(after_divergence(std::string("\"") + rule + "\""), "use step = \"auto\"");
  }
  EXPECT_EQ(after_divergence("", "algorithm = \"kuruzov\"\n"), "use step = \"auto\"");
  EXPECT_EQ(method("\"auto\"").algorithm.name, "auto");
  EXPECT_EQ(after_divergence("\"auto\""), "use step = \"tuned\"; its search rejects steps that diverge");
}

TEST(Advice, OfAStallIsASmallerOptimum) {
  const std::string text = advice(method("{ rule = \"polyak\", optimum = 9 }"), Status::stalled);
  EXPECT_EQ(text,
            "every agent's step is 0: the cost is at or below the optimum given to the rule; give a smaller optimum");
}

}  // namespace
}  // namespace polyhop::advice_test
