// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/experiment/instance.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "polyhop/experiment/team_data.hpp"
#include "support/data_files.hpp"
#include "support/instance_data.hpp"
#include "support/thread_team.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::instance_test {
namespace {

using test::ThreadTeam;

ExperimentOptions on_ring(Index agents) {
  ExperimentOptions options;
  options.graph.topology = Topology::ring;
  options.graph.agents = agents;
  return options;
}

// A dataset's row as numbers.
std::vector<double> features(const Dataset& data, Index row) {
  std::vector<double> out(data.features.columns());
  if (!data.features.is_sparse()) {
    const auto values = data.features.dense().row(row);
    return {values.begin(), values.end()};
  }
  const auto columns = data.features.columns_of(row);
  for (std::size_t e = 0; e < columns.size(); ++e) {
    out[columns[e]] = data.features.values_of(row)[e];
  }
  return out;
}

void expect_same(const Reference& a, const Reference& b) {
  EXPECT_EQ(a.minimiser, b.minimiser);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.accuracy, b.accuracy);
  EXPECT_EQ(a.how, b.how);
  EXPECT_EQ(a.known, b.known);
}

// What a process of a team holds: the samples of its own agents, bit by bit those of `whole`, and no others.
void expect_own_part(const Instance& whole, const Instance& part, Index rank) {
  const Block block = part.ownership.block(rank);
  const Dataset& all = test::data_of(whole);
  const Dataset& own = test::data_of(part);
  EXPECT_EQ(part.problem->agents(), whole.problem->agents());
  EXPECT_EQ(part.problem->samples(), whole.problem->samples());
  EXPECT_EQ(part.problem->dimension(), whole.problem->dimension());
  ASSERT_EQ(own.agents(), block.size());
  EXPECT_EQ(own.features.rows(), own.offset.back());
  EXPECT_EQ(static_cast<Index>(own.targets.size()), own.offset.back());
  for (Index k = 0; k < block.size(); ++k) {
    const Index agent = block.agent(k);
    ASSERT_EQ(own.samples(k), all.samples(agent));
    for (Index n = 0; n < own.samples(k); ++n) {
      EXPECT_EQ(features(own, own.first(k) + n), features(all, all.first(agent) + n));
      EXPECT_EQ(own.targets[own.first(k) + n], all.targets[all.first(agent) + n]);
    }
  }
  EXPECT_EQ(part.preparation.rounds, whole.preparation.rounds);
  EXPECT_EQ(part.preparation.vectors, whole.preparation.vectors);
  EXPECT_EQ(part.preparation.scalars, whole.preparation.scalars);
  expect_same(part.reference, whole.reference);
}

void expect_same_for_all_teams(const ExperimentOptions& options) {
  const Instance whole = make_instance(options, 3);
  for (const Placement placement : {Placement::contiguous, Placement::metis}) {
    if (placement == Placement::metis && !has_metis()) continue;
    for (const Index processes : {1, 2, 3, 7}) {
      SCOPED_TRACE(std::to_string(processes) + " processes");
      ThreadTeam::run(processes, [&](Team& team) {
        expect_own_part(whole, make_instance(options, 3, team, placement), team.rank());
      });
    }
  }
}

TEST(Instance, SyntheticDataAreTheSameForAnyTeam) {
  ExperimentOptions options = on_ring(11);
  options.problem.dimension = 4;
  options.problem.samples = 3;
  options.problem.noise = 0.1;
  options.problem.scale_spread = 0.5;
  options.problem.minimiser_spread = 0.3;
  for (const std::string loss : {"least-squares", "logistic", "huber"}) {
    options.problem.model.loss = builtin_loss(loss);
    options.problem.model.l2 = loss == "huber" ? 0 : 0.1;
    expect_same_for_all_teams(options);
  }
}

TEST(Instance, AProcessSynthesisesItsOwnAgentsAlone) {
  ExperimentOptions options = on_ring(10);
  options.problem.dimension = 2;
  options.problem.samples = 5;
  ThreadTeam::run(5, [&](Team& team) {
    const Instance instance = make_instance(options, 1, team);
    EXPECT_EQ(test::data_of(instance).features.rows(), 10);
    EXPECT_EQ(instance.problem->samples(), 50);
  });
}

TEST(Instance, EveryProcessRefusesMoreProcessesThanAgents) {
  ExperimentOptions options = on_ring(3);
  options.problem.dimension = 2;
  options.problem.samples = 5;
  ThreadTeam::run(4, [&](Team& team) {
    EXPECT_EQ(refusal([&] { return make_instance(options, 1, team); }).path(), "graph.agents");
  });
}

TEST(Instance, BlocksOfAnyNumberingHaveTheFirstModelsOfTheirAgents) {
  const Numbering reversed = {{2, 1, 0}, {2, 1, 0}};
  ExperimentOptions options = on_ring(3);
  const auto check = [&] {
    const Rows all = first_models(options, {0, 3}, 2, 3, 5);
    const Rows part = first_models(options, {1, 3, &reversed}, 2, 3, 5);  // agents 1 and 0
    ASSERT_EQ(part.rows(), 2);
    for (Index j = 0; j < 2; ++j) {
      EXPECT_EQ(part(0, j), all(1, j));
      EXPECT_EQ(part(1, j), all(0, j));
    }
  };
  options.start = "normal";
  check();
  const std::string file = (std::filesystem::temp_directory_path() / "polyhop_instance_start").string();
  std::ofstream(file) << "1 2\n3 4\n5 6\n";
  options.start = file;
  check();
  EXPECT_EQ(first_models(options, {1, 3, &reversed}, 2, 3, 5)(1, 1), 2);
  std::filesystem::remove(file);
}

TEST(AgentCosts, CountRowsThatAreCombinedAndSamplesThatAreRead) {
  const CombinationMatrix star = make_network(on_ring(5).graph, 0).matrix;
  const std::vector<Index> samples = {1, 2, 3, 4, 50};
  EXPECT_EQ(agent_costs(star, {10, false}, samples), (std::vector<double>{5, 7, 9, 11, 23}));
  EXPECT_EQ(agent_costs(star, {0, true}, samples), (std::vector<double>{5, 7, 9, 11, 103}));
  EXPECT_EQ(agent_costs(star, {1, false}, {}), (std::vector<double>{3, 3, 3, 3, 3}));
}

TEST(IterationWork, IsThatOfCombiningRowsAndOfGradients) {
  const CombinationMatrix ring = make_network(on_ring(5).graph, 0).matrix;
  ProblemOptions options;
  options.dimension = 7;
  options.samples = 10;
  options.model.batch = {4, false};
  // 3 rows per agent, and 4 samples twice.
  EXPECT_EQ(iteration_work(ring, *make_problem(options, 5, 0)), 5 * 7 * (3 + 2 * 4));
  options.model.batch = {0, true};
  EXPECT_EQ(iteration_work(ring, *make_problem(options, 5, 0)), 5 * 7 * (3 + 2 * 10));
}

class InstanceOfFiles : public test::DataFiles {
 protected:
  // Three classes in words, or numbers.
  [[nodiscard]] static std::string csv(Index samples, bool words, Index from = 0) {
    std::string text = "height,width,kind\n";
    for (Index n = from; n < from + samples; ++n) {
      const std::string kind = std::to_string(n * 7 % 3);
      text += std::to_string(n * 37 % 11) + "." + std::to_string(n % 10) + "," + std::to_string(n * n % 17) + "," +
              (words ? "kind-" + kind : kind) + "\n";
    }
    return text;
  }
  [[nodiscard]] static std::string libsvm(Index samples, Index from = 0) {
    std::string text;
    for (Index n = from; n < from + samples; ++n) {
      text += std::string(n % 3 == 0 ? "-1" : "1") + " " + std::to_string(1 + n % 4) + ":" + std::to_string(n % 5 + 1) +
              " " + std::to_string(6 + n % 3) + ":0.5\n";
    }
    return text;
  }
  [[nodiscard]] static ExperimentOptions of(const std::string& data, const std::string& loss, Index agents = 9) {
    ExperimentOptions options = on_ring(agents);
    options.problem.source = "file";
    options.problem.data = data;
    options.problem.model.loss = builtin_loss(loss);
    options.problem.model.l2 = 0.05;
    return options;
  }
};

TEST_F(InstanceOfFiles, OneFileIsDealtTheSameForAnyTeam) {
  for (const auto kind : {PartitionKind::iid, PartitionKind::dirichlet, PartitionKind::label, PartitionKind::sizes}) {
    ExperimentOptions options = of(write("a.csv", csv(60, true)), "softmax");
    options.problem.model.partition = {kind, 0.7};
    options.problem.model.standardise = true;
    options.problem.model.intercept = true;
    expect_same_for_all_teams(options);
  }
  ExperimentOptions sparse = of(write("a.svm", libsvm(40)), "logistic");
  sparse.problem.model.standardise = true;
  expect_same_for_all_teams(sparse);
  ExperimentOptions numbers = of(write("b.csv", csv(40, false)), "least-squares");
  numbers.problem.model.unit_rows = true;
  expect_same_for_all_teams(numbers);
  expect_same_for_all_teams(of(write("c.csv", csv(40, false)), "softmax"));
}

TEST_F(InstanceOfFiles, AFixedProblemSeedFixesHowAFileIsDealt) {
  ExperimentOptions options = of(write("a.csv", csv(60, false)), "least-squares");
  const auto dealt = [&](std::uint64_t seed) { return test::data_of(make_instance(options, seed)).targets; };
  const auto second = dealt(2);
  EXPECT_NE(dealt(1), second);
  options.problem.seed = 2;
  EXPECT_EQ(dealt(1), second);
}

TEST_F(InstanceOfFiles, ABundledSetIsDealtTheSameForAnyTeam) {
  ExperimentOptions options = on_ring(8);
  options.problem.source = "wine";
  options.problem.model.loss = builtin_loss("softmax");
  options.problem.model.l2 = 0.1;
  options.problem.model.standardise = true;
  if (!test::has_bundled("wine")) GTEST_SKIP() << "wine is not installed: python3-sklearn";
  expect_same_for_all_teams(options);
}

// Each process sees a folder with the files of its own agents alone.
class InstanceOfSites : public InstanceOfFiles {
 protected:
  void write_site(const std::string& folder, Index agent, const std::string& text, const std::string& ending) {
    std::filesystem::create_directories(folder_ / folder);
    write(folder + "/site-" + std::to_string(agent) + ending, text);
  }
  template <class Text>
  void expect_same_with_own_files(const std::string& loss, const std::string& ending, Text text, Index agents = 7) {
    for (Index k = 0; k < agents; ++k) write_site("all", k, text(k), ending);
    ExperimentOptions options = of(file("all/site-{agent}" + ending), loss, agents);
    options.problem.model.standardise = true;
    const Instance whole = make_instance(options, 3);
    for (const Index processes : {1, 2, 3, 7}) {
      const std::string prefix = "team-" + std::to_string(processes) + "-";
      const auto costs = agent_costs(whole.network.matrix, {}, {});
      const Ownership ownership = choose_ownership(whole.network.matrix, costs, processes);
      for (Index r = 0; r < processes; ++r) {
        const Block block = ownership.block(r);
        for (Index k = block.first; k < block.last; ++k) {
          write_site(prefix + std::to_string(r), k, text(k), ending);
        }
      }
      ThreadTeam::run(processes, [&](Team& team) {
        ExperimentOptions own = options;
        own.problem.data = file(prefix + std::to_string(team.rank()) + "/site-{agent}" + ending);
        expect_own_part(whole, make_instance(own, 3, team), team.rank());
      });
    }
  }
  // What every process of two says of these files, which is the same.
  std::string refused_by_both(const ExperimentOptions& options) {
    std::mutex mutex;
    std::vector<std::string> said;
    ThreadTeam::run(2, [&](Team& team) {
      const InputError error = polyhop::refusal([&] { return make_instance(options, 3, team); });
      const std::lock_guard lock(mutex);
      said.emplace_back(error.what());
    });
    EXPECT_EQ(said.size(), 2U);
    EXPECT_EQ(said.front(), said.back());
    return said.front();
  }
};

TEST_F(InstanceOfSites, OnlyOwnFilesAreOpened) {
  // Not every site has every class, or every feature.
  expect_same_with_own_files("softmax", ".csv", [](Index k) { return csv(2 + k, true, 5 * k); });
  expect_same_with_own_files("softmax", ".tsv", [](Index k) { return csv(2 + k, false, 3 * k); });
  expect_same_with_own_files("logistic", ".svm", [](Index k) { return libsvm(1 + k % 3, 2 * k); });
}

TEST_F(InstanceOfSites, AMissingFileIsToldByAll) {
  for (const Index k : {0, 1, 2}) write_site("s", k, csv(3, false), ".csv");
  const ExperimentOptions options = of(file("s/site-{agent}.csv"), "least-squares", 4);
  const std::string said = refused_by_both(options);
  EXPECT_NE(said.find("site-3.csv: problem.data: no such file; each of the 4 agents needs its own, "),
            std::string::npos)
      << said;
}

TEST_F(InstanceOfSites, ColumnsThatDoNotFitAreToldByAll) {
  for (const Index k : {0, 1, 2, 3}) write_site("s", k, k < 3 ? csv(3, false) : "a,b\n1,2\n", ".csv");
  const ExperimentOptions options = of(file("s/site-{agent}.csv"), "least-squares", 4);
  const std::string alone_says = polyhop::refusal([&] { return make_instance(options, 3); }).what();
  EXPECT_EQ(refused_by_both(options), alone_says);
  EXPECT_NE(alone_says.find("its columns are not those of"), std::string::npos) << alone_says;
  EXPECT_NE(alone_says.find("instead of"), std::string::npos) << alone_says;
}

TEST_F(InstanceOfSites, AFileWithoutSamplesIsToldByAll) {
  for (const Index k : {0, 1, 2, 3}) {
    const std::string text = csv(3, false);
    write_site("s", k, k < 3 ? text : text.substr(0, text.find('\n') + 1), ".csv");
  }
  const ExperimentOptions options = of(file("s/site-{agent}.csv"), "least-squares", 4);
  const std::string alone_says = polyhop::refusal([&] { return make_instance(options, 3); }).what();
  EXPECT_EQ(refused_by_both(options), alone_says);
  EXPECT_NE(alone_says.find("site-3.csv: problem.data: holds no samples"), std::string::npos) << alone_says;
  EXPECT_NE(alone_says.find("polyhop fit"), std::string::npos) << alone_says;
}

TEST_F(InstanceOfSites, AFileThatIsAnotherElsewhereIsRefused) {
  for (const Index r : {0, 1}) write_site("r" + std::to_string(r), 0, csv(20 + r, false), ".csv");
  ThreadTeam::run(2, [&](Team& team) {
    const ExperimentOptions options = of(file("r" + std::to_string(team.rank()) + "/site-0.csv"), "least-squares", 4);
    const InputError error = polyhop::refusal([&] { return make_instance(options, 3, team); });
    EXPECT_EQ(error.message(), "process 1 found other samples there than process 0");
  });
}

}  // namespace
}  // namespace polyhop::instance_test
