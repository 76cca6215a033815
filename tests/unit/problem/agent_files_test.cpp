// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/agent_files.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/data_files.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::agent_files_test {
namespace {

class AgentFilesOf : public test::DataFiles {};

TEST(AgentFiles, AreNumberedFromZeroUnlessThePatternSaysOtherwise) {
  EXPECT_EQ(AgentFiles::from("site-{agent}.csv")->of(3), "site-3.csv");
  EXPECT_EQ(AgentFiles::from("site-{agent+1}.csv")->of(3), "site-4.csv");
  EXPECT_EQ(AgentFiles::from("{agent+100}/a.csv")->of(0), "100/a.csv");
  EXPECT_EQ(AgentFiles::from("site-{agent}.csv")->from_next().pattern(), "site-{agent+1}.csv");
}

TEST(AgentFiles, OrdinaryNamesAreNoPattern) {
  for (const std::string name : {"site.csv", "agent.csv", "{agents}.csv", "{agent", "{}.csv"}) {
    EXPECT_FALSE(AgentFiles::from(name)) << name;
  }
}

TEST(AgentFiles, APatternThatIsMiswrittenIsRefused) {
  for (const std::string name : {"{agent-1}", "{agent+}", "{agent+x}", "{agent+ 1}", "{agent+-1}"}) {
    const InputError error = polyhop::refusal([&] { return AgentFiles::from(name); });
    EXPECT_NE(error.message().find(name), std::string::npos);
    EXPECT_NE(error.message().find("{agent+1}"), std::string::npos);
  }
}

TEST_F(AgentFilesOf, AreCountedUpToTheFirstThatIsMissing) {
  for (const char* name : {"s-1.csv", "s-2.csv", "s-4.csv"}) write(name, "x");
  EXPECT_EQ(AgentFiles::from(file("s-{agent}.csv"))->existing(), 0);
  EXPECT_EQ(AgentFiles::from(file("s-{agent+1}.csv"))->existing(), 2);
}

}  // namespace
}  // namespace polyhop::agent_files_test
