// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/method/differences.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "polyhop/core/block.hpp"
#include "support/networks.hpp"
#include "support/trial.hpp"

namespace polyhop::differences_test {
namespace {

using test::problem_of;
using test::rows_of;

constexpr Batch everything{0, true};
constexpr Batch one{1, false};

// Two agents; agent 0 has J = (1/2) (w_1^2 + 4 w_2^2)/2 on all samples, agent 1 one sample h = (1, 1).
std::unique_ptr<LinearProblem> two_agents(Batch batch) {
  return problem_of({{{1, 0, 0}, {0, 2, 0}}, {{1, 1, 0}, {1, 1, 0}}}, "least-squares", 0, batch);
}

// The products after each of these points; what the recursion steps along is of no account.
struct Seen {
  std::vector<bool> known;
  std::vector<double> ss, sz, zz;
  Index gradients = 0;
};

Seen see(const Problem& problem, const std::vector<Rows>& points) {
  const auto oracle = problem.oracle({0, problem.agents()}, 0);
  const Rows elsewhere(problem.agents(), problem.dimension(), 99);
  const Gradients y = along(elsewhere);
  Differences differences(Rows(problem.agents(), problem.dimension()));
  Seen out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    oracle->draw(static_cast<Index>(i));
    const Evaluation& at_w = oracle->evaluate(points[i], false);
    out.known.push_back(
        differences.update(Iterate(static_cast<Index>(i), points[i], at_w, *oracle).from(elsewhere).along(y)));
  }
  out.ss.assign(differences.ss().begin(), differences.ss().end());
  out.sz.assign(differences.sz().begin(), differences.sz().end());
  out.zz.assign(differences.zz().begin(), differences.zz().end());
  out.gradients = oracle->evaluations().gradients;
  return out;
}

using Reals = std::vector<double>;

TEST(Differences, AreNoneAtTheFirstIterate) {
  EXPECT_EQ(see(*two_agents(everything), {Rows(2, 2)}).known, (std::vector<bool>{false}));
}

TEST(Differences, AreThoseOfTheAgentsOwnGradients) {
  // s = (2, 1) for both. Agent 0: z = (2/2, 4/2). Agent 1: z = 3 (1, 1).
  const Seen seen = see(*two_agents(everything), {rows_of({{1, 1}, {0, 1}}), rows_of({{3, 2}, {2, 2}})});
  EXPECT_EQ(seen.known, (std::vector<bool>{false, true}));
  EXPECT_EQ(seen.ss, (Reals{5, 5}));
  EXPECT_EQ(seen.sz, (Reals{4, 9}));
  EXPECT_EQ(seen.zz, (Reals{5, 18}));
}

TEST(Differences, CostNothingWhereEverySampleIsTaken) {
  const std::vector<Rows> points = {Rows(2, 2, 1.0), Rows(2, 2, 2.0), Rows(2, 2, 4.0)};
  EXPECT_EQ(see(*two_agents(everything), points).gradients, 2 * 3);
  EXPECT_EQ(see(*two_agents(one), points).gradients, 2 * (3 + 2));
}

TEST(Differences, CompareGradientsOfTheCurrentSample) {
  const std::vector<Rows> points = {Rows(2, 2, 1.0), Rows(2, 2, 2.0), Rows(2, 2, 4.0)};
  // Cyclic: agent 0 has h = (0, 2) at iteration 1, so from s = (1, 1) z = (0, 4); at iteration 2 h = (1, 0).
  const Seen second = see(*two_agents(one), {points[0], points[1]});
  EXPECT_EQ(second.sz, (Reals{4, 4}));
  EXPECT_EQ(second.zz, (Reals{16, 8}));
  const Seen third = see(*two_agents(one), points);
  EXPECT_EQ(third.ss, (Reals{8, 8}));
  EXPECT_EQ(third.sz, (Reals{4, 16}));
  EXPECT_EQ(third.zz, (Reals{4, 32}));
}

TEST(Differences, AreExactlyZeroBetweenIdenticalPoints) {
  // 0.1 and 1/3 are rounded when they are multiplied; both gradients in the same way.
  const auto problem = problem_of({{{0.1, 1.0 / 3, 0.7}}, {{1.0 / 7, 0.3, 0.1}}});
  for (const Batch batch : {one, everything}) {
    const auto same = problem_of({{{0.1, 1.0 / 3, 1}}, {{1.0 / 7, 0.3, -1}}}, "logistic", 0.1, batch);
    for (const Problem* p : {static_cast<const Problem*>(problem.get()), static_cast<const Problem*>(same.get())}) {
      const Rows w = rows_of({{0.3, 1.1}, {0.9, 1.7}});
      const Seen seen = see(*p, {w, w});
      EXPECT_EQ(seen.ss, (Reals{0, 0}));
      EXPECT_EQ(seen.sz, (Reals{0, 0}));
      EXPECT_EQ(seen.zz, (Reals{0, 0}));
    }
  }
}

}  // namespace
}  // namespace polyhop::differences_test
