// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/spectrum.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/graph/generators.hpp"
#include "polyhop/graph/lanczos.hpp"
#include "polyhop/graph/topology.hpp"

namespace polyhop::spectrum_test {
namespace {

constexpr double pi = 3.14159265358979323846;

CombinationMatrix matrix_of(Topology topology, Index agents, Weights weights = Weights::metropolis) {
  GraphOptions options;
  options.topology = topology;
  options.agents = agents;
  options.weights = weights;
  return make_network(options, 0).matrix;
}

// Time enough on any machine.
constexpr double for_ever = std::numeric_limits<double>::infinity();

/// Row k has weight((l - k) mod agents) in column l: its eigenvalues are lambda_j = sum_d weight(d) cos(2 pi j
/// d/agents).
template <class Weight>
CombinationMatrix circulant(Index agents, Weight weight) {
  std::vector<double> weights;
  for (Index d = 0; d < agents; ++d) weights.push_back(weight(d));
  SparseRows rows;
  for (Index k = 0; k < agents; ++k) {
    for (Index l = 0; l < agents; ++l) {
      const double a_kl = weights[(l - k + agents) % agents];
      if (a_kl != 0) rows.add(static_cast<std::int32_t>(l), a_kl);
    }
    rows.end_row();
  }
  return CombinationMatrix(std::move(rows), Sign::any);
}

Eigen::MatrixXd dense_of(const SparseRows& a) {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(a.rows(), a.rows());
  for (Index k = 0; k < a.rows(); ++k) {
    for (Index e = a.offset[k]; e < a.offset[k + 1]; ++e) dense(k, a.column[e]) = a.weight[e];
  }
  return dense;
}

double dense_scale(const SparseRows& a) {
  const Eigen::MatrixXd dense = dense_of(a);
  const Eigen::MatrixXd b = dense.transpose() * dense;
  const Eigen::VectorXd root = b.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd scaled = root.asDiagonal() * b * root.asDiagonal();
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(scaled).eigenvalues()[a.rows() - 1];
}

TEST(SpectralGap, IsOneForUniformAveragingAndForOneAgent) {
  EXPECT_NEAR(spectral_gap(matrix_of(Topology::complete, 5, Weights::uniform)).value, 1, 1e-14);
  EXPECT_EQ(spectral_gap(matrix_of(Topology::ring, 1)).value, 1);
}

TEST(SpectralGap, OfTheRingIsKnown) {
  // lambda_2 = 1/3 + 2/3 cos(2 pi/K), lambda_K >= -1/3.
  for (const Index agents : {5, 600}) {
    const Estimate gap = spectral_gap(matrix_of(Topology::ring, agents), for_ever);
    ASSERT_TRUE(gap.computed);
    EXPECT_NEAR(gap.value, 2. / 3 * (1 - std::cos(2 * pi / static_cast<double>(agents))), gap.tolerance);
    EXPECT_LE(gap.tolerance, 1.1e-6);
  }
}

TEST(SpectralGap, CountsTheMostNegativeEigenvalue) {
  // Every agent keeps 1/10 and shares 9/10 among those at odd distances: the eigenvalues are 1, 1/10 and -8/10.
  for (const Index agents : {6, 600}) {
    const auto weight = [&](Index d) { return d == 0 ? 0.1 : d % 2 == 1 ? 1.8 / static_cast<double>(agents) : 0.0; };
    const Estimate gap = spectral_gap(circulant(agents, weight), for_ever);
    ASSERT_TRUE(gap.computed);
    EXPECT_NEAR(gap.value, 0.2, gap.tolerance);
    EXPECT_LE(gap.tolerance, 1.1e-6);
  }
}

// One eigenvalue, 0.85, stands far above the others and is found at once. The others crowd towards -0.855, which takes
// longer to tell from what is farther in.
TEST(SpectralGap, WaitsForTheEndThatIsKnownLater) {
  constexpr Index agents = 600;
  const auto eigenvalue = [](Index j) {
    return j == 0 ? 1 : j == 1 ? 0.85 : -0.3775 - 0.4775 * std::cos(pi * static_cast<double>(j - 2) / 298);
  };
  const CombinationMatrix a = circulant(agents, [&](Index d) {
    double sum = 0;
    for (Index j = 0; j < agents; ++j) {
      sum += eigenvalue(std::min(j, agents - j)) * std::cos(2 * pi * static_cast<double>(j * d % agents) / agents);
    }
    return sum / agents;
  });
  const Estimate gap = spectral_gap(a, for_ever, 1e-3);
  ASSERT_TRUE(gap.computed);
  EXPECT_NEAR(gap.value, 0.145, gap.tolerance);
  EXPECT_LE(gap.tolerance, 1e-3 + 1e-13);
}

TEST(SpectralGap, SaysWhyItWasNotComputed) {
  const Estimate gap = spectral_gap(matrix_of(Topology::ring, 20000), 0.0);
  EXPECT_FALSE(gap.computed);
  EXPECT_EQ(gap.reason, "the Lanczos iteration did not converge to 1e-06 within 0 s and 0 steps");
}

TEST(LeastEigenvalue, IsATightLowerBound) {
  for (const Topology topology : {Topology::ring, Topology::path, Topology::star, Topology::complete,
                                  Topology::binary_tree, Topology::exponential}) {
    for (const Index agents : {2, 3, 5, 64, 101}) {
      for (const Weights weights : {Weights::metropolis, Weights::lazy, Weights::best_constant}) {
        const CombinationMatrix a = matrix_of(topology, agents, weights);
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense_of(a.rows()));
        const double exact = std::min(0.0, solver.eigenvalues()[0]);
        EXPECT_LE(a.least_eigenvalue(), exact + 1e-13) << agents;
        EXPECT_GE(a.least_eigenvalue(), exact - 1e-6) << agents;
      }
    }
  }
  EXPECT_EQ(matrix_of(Topology::ring, 1).least_eigenvalue(), 0);
}

// -1/3, the end of a dense band, which 300 steps do not tell to 1e-6.
TEST(LeastEigenvalue, IsGershgorinsWhereLookingLongerIsTooDear) {
  EXPECT_DOUBLE_EQ(matrix_of(Topology::path, 100000).least_eigenvalue(), -1.0 / 3);
}

TEST(LaplacianRange, IsKnownForRingAndStar) {
  // Ring: 2 - 2 cos(2 pi/K) and 4 (even K). Star: 1 and K.
  for (const Index agents : {4, 1000}) {
    const LaplacianRange ring = laplacian_range(Graph::from_edges(agents, generate::ring(agents)));
    EXPECT_NEAR(ring.second, 2 - 2 * std::cos(2 * pi / static_cast<double>(agents)), 1e-9);
    EXPECT_NEAR(ring.largest, 4, 1e-9);
    const LaplacianRange star = laplacian_range(Graph::from_edges(agents, generate::star(agents)));
    EXPECT_NEAR(star.second, 1, 1e-6);
    EXPECT_NEAR(star.largest, static_cast<double>(agents), 1e-6);
  }
}

TEST(TwoHopScale, IsTheNumberOfAgentsForUniformAveraging) {
  // B = A with all entries 1/K, so C has all entries 1.
  EXPECT_NEAR(two_hop_scale(matrix_of(Topology::complete, 4, Weights::uniform).rows()), 4, 1e-9);
  EXPECT_NEAR(two_hop_scale(matrix_of(Topology::ring, 1).rows()), 1, 1e-9);
}

TEST(TwoHopScale, IsATightUpperBound) {
  for (const Topology topology :
       {Topology::ring, Topology::path, Topology::star, Topology::binary_tree, Topology::exponential}) {
    for (const Index agents : {2, 3, 5, 64}) {
      for (const Weights weights : {Weights::metropolis, Weights::lazy}) {
        const SparseRows a = matrix_of(topology, agents, weights).rows();
        const double exact = dense_scale(a);
        EXPECT_GE(two_hop_scale(a), exact * (1 - 1e-14));
        EXPECT_LE(two_hop_scale(a), exact * (1 + 1e-3));
      }
    }
  }
}

TEST(TwoHopScale, StaysABoundWithNegativeWeights) {
  const SparseRows a = matrix_of(Topology::star, 6, Weights::best_constant).rows();
  SparseRows magnitudes = a;
  for (double& weight : magnitudes.weight) weight = std::abs(weight);
  EXPECT_GE(two_hop_scale(a), dense_scale(a));
  EXPECT_GE(two_hop_scale(a), dense_scale(magnitudes) * (1 - 1e-14));
  EXPECT_LE(two_hop_scale(a), dense_scale(magnitudes) * (1 + 1e-3));
}

TEST(TwoHopScale, RefusesAnEmptyRow) {
  SparseRows a;
  a.end_row();
  EXPECT_THROW(static_cast<void>(two_hop_scale(a)), Error);
}

TEST(Lanczos, FindsBothEndsOfADiagonalMatrix) {
  const auto product = [](const Lanczos::Vector& x, Lanczos::Vector& y) {
    for (std::size_t k = 0; k < x.size(); ++k) y[k] = (static_cast<double>(k) - 1) * x[k];
  };
  Lanczos lanczos(product, {1, 1, 1, 1});
  while (lanczos.step() && lanczos.steps() < 4) {
  }
  lanczos.look();
  EXPECT_NEAR(lanczos.largest().value, 2, 1e-12);
  EXPECT_NEAR(lanczos.smallest().value, -1, 1e-12);
  EXPECT_LT(lanczos.largest().residual, 1e-10);
}

TEST(Lanczos, KnowsHowFarItIs) {
  // One step from (1, 1)/sqrt(2) on diag(0, 2): the Ritz value 1 is 1 away from both eigenvalues.
  const auto product = [](const Lanczos::Vector& x, Lanczos::Vector& y) { y = {0, 2 * x[1]}; };
  Lanczos lanczos(product, {1, 1});
  lanczos.step();
  lanczos.look();
  EXPECT_NEAR(lanczos.largest().value, 1, 1e-14);
  EXPECT_NEAR(lanczos.largest().residual, 1, 1e-14);
}

TEST(Lanczos, MovesOnToAnEigenvalueThatItHardlySawBefore) {
  // diag(0, 1, 5, 6) from a vector that is almost in the span of the first two: two steps settle on 1, but the third
  // meets 5 and 6, though it does not know them well.
  const auto product = [](const Lanczos::Vector& x, Lanczos::Vector& y) { y = {0, x[1], 5 * x[2], 6 * x[3]}; };
  Lanczos lanczos(product, {1, 1, 1e-6, 1e-6});
  lanczos.step();
  lanczos.step();
  lanczos.look();
  EXPECT_NEAR(lanczos.largest().value, 1, 1e-4);
  EXPECT_LT(lanczos.largest().residual, 1e-4);
  lanczos.step();
  lanczos.look();
  EXPECT_GT(lanczos.largest().value, 5);
  EXPECT_GT(lanczos.largest().residual, 0.1);
}

}  // namespace
}  // namespace polyhop::spectrum_test
