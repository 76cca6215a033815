// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Fits that several processes do together.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "polyhop/core/random.hpp"
#include "polyhop/fit/fit.hpp"
#include "polyhop/graph/near_order.hpp"
#include "polyhop/graph/topology.hpp"
#include "support/data_files.hpp"
#include "support/thread_team.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::fit_team_test {
namespace {

using test::ThreadTeam;

void expect_same(const ModelEvaluation& a, const ModelEvaluation& b) {
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.metrics, b.metrics);
  EXPECT_EQ(a.confusion, b.confusion);
}

void expect_same_model(const FitResult& a, const FitResult& b) {
  ASSERT_EQ(a.model.weights.rows(), b.model.weights.rows());
  for (Index c = 0; c < a.model.weights.rows(); ++c) {
    const auto row = a.model.weights.row(c);
    const auto other = b.model.weights.row(c);
    EXPECT_EQ(std::vector<double>(row.begin(), row.end()), std::vector<double>(other.begin(), other.end()));
  }
  EXPECT_EQ(a.model.intercept, b.model.intercept);
  EXPECT_EQ(a.model.mean, b.model.mean);
  EXPECT_EQ(a.model.scale, b.model.scale);
  EXPECT_EQ(a.model.classes, b.model.classes);
  EXPECT_EQ(a.model.features, b.model.features);
  EXPECT_EQ(a.model.target, b.model.target);
  EXPECT_EQ(a.model.provenance, b.model.provenance);
}

void expect_same(const FitResult& a, const FitResult& b) {
  expect_same_model(a, b);
  EXPECT_EQ(a.end, b.end);
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t n = 0; n < a.history.size(); ++n) {
    EXPECT_EQ(a.history[n].iteration, b.history[n].iteration);
    EXPECT_EQ(a.history[n].gradient, b.history[n].gradient);
    EXPECT_EQ(a.history[n].disagreement, b.history[n].disagreement);
    EXPECT_EQ(a.history[n].held_out, b.history[n].held_out);
  }
  EXPECT_EQ(a.cost, b.cost);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.agents, b.agents);
  EXPECT_EQ(a.traffic.rounds, b.traffic.rounds);
  EXPECT_EQ(a.traffic.vectors, b.traffic.vectors);
  EXPECT_EQ(a.traffic.scalars, b.traffic.scalars);
  EXPECT_EQ(a.gradients, b.gradients);
}

class FitTeam : public test::DataFiles {
 protected:
  // Normal features and a noisy linear target, or one of three words for it.
  [[nodiscard]] static std::string table(Index samples, std::uint64_t seed, bool words) {
    Stream random(seed, Purpose::features);
    std::string text = "a,b,c,y\n";
    std::vector<double> h(3);
    for (Index n = 0; n < samples; ++n) {
      random.normals(h);
      const double y = 2 * h[0] - h[1] + 3 + random.normal();
      for (const double x : h) text += shortest(x) + ",";
      text += (words ? (y > 4 ? "high" : y > 2 ? "middle" : "low") : shortest(y)) + "\n";
    }
    return text;
  }
  [[nodiscard]] static FitOptions of(const std::string& data, const std::string& loss) {
    FitOptions options;
    options.data.file = data;
    options.model.partition = {PartitionKind::sizes, 1};
    options.model.loss = builtin_loss(loss);
    options.model.l2 = 0.1;
    options.model.standardise = true;
    options.graph.topology = Topology::grid;
    options.graph.rows = 3;
    options.graph.columns = 3;
    options.tolerance = 1e-6;
    options.iterations = 400;
    options.threads = 1;
    return options;
  }
  static void expect_same_for_all_teams(const FitOptions& options) {
    const FitResult whole = fit(options);
    for (const Placement placement : {Placement::contiguous, Placement::metis}) {
      if (placement == Placement::metis && !has_metis()) continue;
      for (const Index processes : {1, 2, 3, 7}) {
        SCOPED_TRACE(std::to_string(processes) + " processes");
        ThreadTeam::run(processes, [&](Team& team) {
          FitControl control;
          control.team = &team;
          control.placement = placement;
          const FitResult part = fit(options, control);
          expect_same(part, whole);
          if (!team.is_first()) return;
          expect_same(part.fitted, whole.fitted);
          ASSERT_EQ(part.held_out.has_value(), whole.held_out.has_value());
          if (part.held_out) expect_same(*part.held_out, *whole.held_out);
        });
      }
    }
  }
};

TEST_F(FitTeam, FullGradientsGiveTheSameForAnyTeam) {
  expect_same_for_all_teams(of(write("a.csv", table(70, 1, false)), "least-squares"));
  expect_same_for_all_teams(of(write("b.csv", table(70, 1, true)), "softmax"));
}

TEST_F(FitTeam, ThreadsThatHoldNeighboursNearEachOtherGiveTheSame) {
  for (const bool words : {false, true}) {
    FitOptions options = of(write("a.csv", table(300, 5, words)), words ? "softmax" : "least-squares");
    options.graph = {};
    options.graph.topology = Topology::random_geometric;
    options.graph.agents = 120;
    options.graph.radius = 0.18;
    options.held_out = 0.2;
    options.iterations = 30;
    FitControl by_number;
    by_number.placement = Placement::contiguous;
    const FitResult expected = fit(options, by_number);
    ASSERT_TRUE(paying_order(make_network(options.graph, options.seed).matrix.rows()).has_value());
    for (const Index threads : {1, 2, 3}) {
      SCOPED_TRACE(threads);
      options.threads = threads;
      const FitResult near = fit(options);
      expect_same(near, expected);
      expect_same(near.fitted, expected.fitted);
      expect_same(*near.held_out, *expected.held_out);
    }
  }
}

TEST_F(FitTeam, SamplesHeldOutGiveTheSameForAnyTeam) {
  FitOptions options = of(write("a.csv", table(70, 2, false)), "huber");
  options.held_out = 0.2;
  expect_same_for_all_teams(options);
}

TEST_F(FitTeam, BatchesGiveTheSameForAnyTeam) {
  FitOptions options = of(write("a.csv", table(70, 3, true)), "softmax");
  options.model.batch = {2, false};
  expect_same_for_all_teams(options);
}

TEST_F(FitTeam, EverySiteFitsWithItsOwnFileAlone) {
  constexpr Index sites = 4;
  FitOptions options = of("", "least-squares");
  options.graph = {};
  options.graph.agents = sites;
  for (Index k = 0; k < sites; ++k) {
    const std::string name = "site-" + std::to_string(k) + ".csv";
    const std::string text = table(5 + 3 * k, static_cast<std::uint64_t>(k), false);
    for (const std::string& folder : {std::string("all"), "rank-" + std::to_string(k)}) {
      std::filesystem::create_directories(folder_ / folder);
      write(folder + "/" + name, text);
    }
  }
  options.data.file = file("all/site-{agent}.csv");
  const FitResult whole = fit(options);
  ThreadTeam::run(sites, [&](Team& team) {
    FitOptions own = options;
    own.data.file = file("rank-" + std::to_string(team.rank()) + "/site-{agent}.csv");
    FitControl control;
    control.team = &team;
    FitResult part = fit(own, control);
    for (auto& [key, text] : part.model.provenance) {
      if (key == "data") text = options.data.file;
    }
    expect_same(part, whole);
  });
}

TEST_F(FitTeam, TheFirstProcessIsAskedWhetherToStop) {
  const FitOptions options = of(write("a.csv", table(70, 1, false)), "least-squares");
  std::atomic<int> asked = 0;
  ThreadTeam::run(3, [&](Team& team) {
    FitControl control;
    control.team = &team;
    control.stop = [&] {
      EXPECT_TRUE(team.is_first());
      return ++asked == 2;
    };
    EXPECT_EQ(fit(options, control).end, FitEnd::stopped);
  });
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace polyhop::fit_team_test
