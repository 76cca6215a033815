// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/combination_matrix.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/graph/topology.hpp"
#include "support/memory_scope.hpp"

namespace polyhop::combination_matrix_test {
namespace {

using Dense = std::vector<std::vector<double>>;

/// Zeros included, so that what is to be left out can be seen to be.
SparseRows rows_of(const Dense& dense) {
  SparseRows rows;
  for (const auto& row : dense) {
    for (std::size_t l = 0; l < row.size(); ++l) rows.add(static_cast<std::int32_t>(l), row[l]);
    rows.end_row();
  }
  return rows;
}

std::string flaw_of(const SparseRows& rows) {
  const auto found = first_flaw(rows, Sign::non_negative);
  return found ? found->message : "";
}
std::string flaw(const Dense& dense) { return flaw_of(rows_of(dense)); }

TEST(CombinationMatrix, LeavesOutZerosButNotTheDiagonal) {
  const CombinationMatrix a(rows_of({{0, 0.5, 0.5}, {0.5, 0.5, 0}, {0.5, 0, 0.5}}));
  EXPECT_EQ(a.rows().column, (std::vector<std::int32_t>{0, 1, 2, 0, 1, 0, 2}));
  EXPECT_EQ(a.rows().weight, (std::vector<double>{0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}));
  EXPECT_EQ(a.rows().offset, (std::vector<Index>{0, 3, 5, 7}));
}

TEST(CombinationMatrix, AddsAMissingDiagonal) {
  // [0 1; 1 0], of which the first 0 is not listed.
  SparseRows rows;
  rows.column = {1, 0, 1};
  rows.weight = {0.5, 0.5, 0.5};
  rows.offset = {0, 1, 3};
  EXPECT_EQ(flaw_of(rows), "row 0 (counted from 0) sums to 0.5, expected 1 to within 1e-9");
  rows.weight = {1, 1, 0};
  EXPECT_EQ(flaw_of(rows), "not primitive: every diagonal entry is 0, expected some agent k with a_kk > 0");
}

TEST(CombinationMatrix, SymmetrisesWhatIsSymmetricToRounding) {
  const CombinationMatrix a(rows_of({{0.5, 0.5 + 1e-10}, {0.5 - 1e-10, 0.5}}));
  EXPECT_EQ(a.rows().weight[1], a.rows().weight[2]);
  EXPECT_DOUBLE_EQ(a.rows().weight[1], 0.5);
}

TEST(CombinationMatrix, NamesTheFirstFlaw) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(flaw({}), "the matrix is empty, expected at least one agent");
  EXPECT_EQ(flaw({{1, 0}}),
            "row 0 has an entry in column 1, expected ascending columns of a square matrix with 1 rows");
  EXPECT_EQ(flaw({{1, nan}, {0, 1}}), "row 0, column 1 (counted from 0) is nan, expected a finite number");
  EXPECT_EQ(flaw({{0.5, 0.5}, {0.4, 0.6}}),
            "not symmetric: row 0, column 1 (counted from 0) is 0.5, but row 1, column 0 (counted from 0) is 0.4");
  EXPECT_EQ(flaw({{0.5, 0.5}, {0.5, 0.25}}), "row 1 (counted from 0) sums to 0.75, expected 1 to within 1e-9");
  EXPECT_EQ(flaw({{-0.5, 1.5}, {1.5, -0.5}}), "row 0, column 0 (counted from 0) is -0.5, expected no negative weight");
  EXPECT_EQ(flaw({{1, 0}, {0, 1}}), "not connected: agent 1 cannot be reached from agent 0");
  EXPECT_EQ(flaw({{0, 1}, {1, 0}}), "not primitive: every diagonal entry is 0, expected some agent k with a_kk > 0");
  EXPECT_EQ(flaw({{1}}), "");
}

TEST(CombinationMatrix, ThrowsItsFlaw) { EXPECT_THROW(CombinationMatrix(rows_of({{1, 0}, {0, 1}})), InputError); }

TEST(CombinationMatrix, KnowsWhetherItIsNonNegative) {
  EXPECT_TRUE(CombinationMatrix(rows_of({{1}})).non_negative());
  const Dense negative = {{-0.2, 0.6, 0.6}, {0.6, 0.4, 0}, {0.6, 0, 0.4}};
  EXPECT_FALSE(CombinationMatrix(rows_of(negative), Sign::any).non_negative());
  EXPECT_THROW(CombinationMatrix{rows_of(negative)}, InputError);
}

NetworkGraph network(Topology topology, Index agents) {
  GraphOptions options;
  options.topology = topology;
  options.agents = agents;
  return make_network(options, 0);
}

TEST(TwoHop, OfThePathOfThreeIsCheckedByHand) {
  // A = 1/3 [2 1 0; 1 1 1; 0 1 2], A A = 1/9 [5 3 1; 3 3 3; 1 3 5].
  const SparseRows b = two_hop(network(Topology::path, 3).matrix, {0, 3});
  const std::vector<double> expected = {5, 3, 1, 3, 3, 3, 1, 3, 5};
  ASSERT_EQ(b.weight.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(9 * b.weight[i], expected[i], 1e-14);
}

TEST(TwoHop, EqualsTheDenseProduct) {
  GraphOptions options;
  options.topology = Topology::erdos_renyi;
  options.agents = 40;
  options.probability = 0.12;
  const CombinationMatrix a = make_network(options, 7).matrix;
  Dense dense(40, std::vector<double>(40, 0));
  for (Index k = 0; k < 40; ++k) {
    for (Index e = a.rows().offset[k]; e < a.rows().offset[k + 1]; ++e)
      dense[k][a.rows().column[e]] = a.rows().weight[e];
  }
  const SparseRows b = two_hop(a, {0, 40});
  Index non_zero = 0;
  for (Index k = 0; k < 40; ++k) {
    std::vector<double> row(40, 0);
    for (Index e = b.offset[k]; e < b.offset[k + 1]; ++e) row[b.column[e]] = b.weight[e];
    for (Index l = 0; l < 40; ++l) {
      double sum = 0;
      for (Index m = 0; m < 40; ++m) sum += dense[m][k] * dense[m][l];
      EXPECT_EQ(row[l], sum);  // bit by bit: the order of the sum is part of the promise
      non_zero += sum != 0;
    }
  }
  EXPECT_EQ(b.entries(), non_zero);
}

TEST(TwoHop, RowsDoNotDependOnTheBlockTheyAreBuiltIn) {
  const CombinationMatrix a = network(Topology::exponential, 20).matrix;
  const SparseRows whole = two_hop(a, {0, 20});
  const SparseRows part = two_hop(a, {5, 9});
  ASSERT_EQ(part.rows(), 4);
  for (Index k = 0; k < 4; ++k) {
    const auto expected = whole.weights_of(5 + k);
    const auto found = part.weights_of(k);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.begin(), found.end()));
  }
}

TEST(TwoHop, HasAnEntryForEveryPairWithinTwoHops) {
  EXPECT_EQ(two_hop(network(Topology::path, 5).matrix, {0, 5}).entries(), 3 + 4 + 5 + 4 + 3);
  EXPECT_EQ(two_hop(network(Topology::ring, 5).matrix, {0, 5}).entries(), 25);
  EXPECT_EQ(two_hop(network(Topology::ring, 100).matrix, {0, 100}).entries(), 500);
}

TEST(TwoHop, MayTakeAllTheMemoryThatIsAllowed) {
  const CombinationMatrix a = network(Topology::path, 3).matrix;  // 9 entries: a weight and a column each
  EXPECT_EQ(two_hop(a, {0, 3}, 9 * 12).entries(), 9);
  EXPECT_THROW(static_cast<void>(two_hop(a, {0, 3}, 9 * 12 - 1)), InputError);
}

TEST(TwoHop, RefusesTheStarOfAHundredThousandBeforeAllocating) {
  const CombinationMatrix a = network(Topology::star, 100000).matrix;
  try {
    const MemoryScope scope(4e9);
    static_cast<void>(two_hop(a, {0, 100000}));
    FAIL() << "expected a refusal";
  } catch (const InputError& e) {
    const std::string text = e.what();
    EXPECT_TRUE(
        text.starts_with("graph: the two-hop lists of agents 0 to 99999 have 10000000000 entries or more and "
                         "would take at least 120 GB; the memory limit is 4 GB"))
        << text;
    EXPECT_TRUE(
        text.ends_with("raise it with --memory-limit, or use damping \"norms\" or \"graph\" with bound "
                       "\"linear\" or \"tight\", which needs no two-hop lists"))
        << text;
  }
  EXPECT_EQ(two_hop(a, {0, 2}).entries(), 200000);
}

}  // namespace
}  // namespace polyhop::combination_matrix_test
