// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// What is promised of GAP on every graph, sample by sample, seen on random ones.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "support/dense_system.hpp"
#include "support/networks.hpp"
#include "support/option_sets.hpp"
#include "support/trial.hpp"

namespace polyhop::gap_guarantee_test {
namespace {

using test::DenseSystem;
using test::gap;
using Numbers = std::vector<double>;

std::uint64_t any_seed() { return static_cast<std::uint64_t>(*rc::gen::inRange<int>(0, 1 << 30)); }
Index any_index(Index low, Index high) {
  return static_cast<Index>(*rc::gen::inRange<int>(static_cast<int>(low), static_cast<int>(high) + 1));
}
double any_real(double low, double high) { return low + (high - low) * *rc::gen::inRange<int>(0, 1001) / 1000; }
std::string any_of(const std::vector<const char*>& words) {
  return *rc::gen::elementOf(std::vector<std::string>(words.begin(), words.end()));
}

CombinationMatrix any_network() { return test::random_network(any_index(1, 12), any_real(0, 1), any_seed()); }

Numbers normal_vector(Index size, std::uint64_t seed) {
  Numbers x(static_cast<std::size_t>(size));
  Stream(seed, Purpose::noise).normals(x);
  return x;
}

// Data of any loss; where all samples are fitted, they are by w^o = 0, which is no rounding's victim.
std::unique_ptr<LinearProblem> any_problem(Index agents, const std::vector<const char*>& losses, bool fitted) {
  ProblemOptions options;
  options.model.loss = builtin_loss(any_of(losses));
  options.dimension = any_index(1, 20);
  options.samples = any_index(1, 5);
  options.noise = any_real(0, 2);
  options.scale_spread = any_real(0, 1);
  options.minimiser_spread = any_real(0, 1);
  const auto made = make_problem(options, agents, any_seed());
  Dataset data = made->data();
  if (fitted) std::ranges::fill(data.targets, 0.0);
  const double l2 = any_index(0, 1) == 0 ? 0 : any_real(0, 1);
  const Batch batch{any_index(1, 4), any_index(0, 3) == 0};
  const auto sampling = *rc::gen::element(Sampling::uniform, Sampling::shuffle, Sampling::cyclic);
  return std::make_unique<LinearProblem>(std::move(data), options.model.loss.loss, l2, batch, sampling);
}

RC_GTEST_PROP(GapGuarantee, FiniteDifferencesOfPhiAreTwiceCPlusZu, ()) {
  const CombinationMatrix matrix = any_network();
  const auto problem = any_problem(matrix.agents(), {"least-squares", "logistic", "huber"}, false);
  const Rows models = test::normal_models({0, matrix.agents()}, problem->dimension(), any_seed());
  const Numbers minimiser = normal_vector(problem->dimension(), any_seed());
  const DenseSystem system(matrix, *problem, models);
  Numbers u = normal_vector(matrix.agents(), any_seed());
  const Numbers half = system.residual(system.c(minimiser), u);
  const double scale = std::max(1.0, system.phi(minimiser, u));
  for (std::size_t k = 0; k < u.size(); ++k) {
    // phi is quadratic: its central difference has no error but rounding.
    const double at = u[k];
    const double h = 0.01;
    u[k] = at + h;
    const double up = system.phi(minimiser, u);
    u[k] = at - h;
    const double down = system.phi(minimiser, u);
    u[k] = at;
    RC_ASSERT(std::abs((up - down) / (2 * h) - 2 * half[k]) <= 1e-10 * scale);
  }
}

RC_GTEST_PROP(GapGuarantee, PhiIsTheSquaredDistanceAfterTheStep, ()) {
  const CombinationMatrix matrix = any_network();
  const auto problem = any_problem(matrix.agents(), {"least-squares", "logistic", "huber"}, false);
  const Rows models = test::normal_models({0, matrix.agents()}, problem->dimension(), any_seed());
  const Numbers minimiser = normal_vector(problem->dimension(), any_seed());
  const Reference reference = test::known(minimiser);
  const Value step = gap({{"bound", Value(any_of({"paper", "linear", "oracle"}))},
                          {"damping", Value(any_of({"paper", "rows", "norms", "graph"}))},
                          {"optimum", "per-sample"},
                          {"sweeps", any_index(1, 4)}});
  const auto after = test::one_step(matrix, *problem, step, models, &reference);
  const double expected = DenseSystem(matrix, *problem, models).phi(minimiser, after.mu);
  RC_ASSERT(std::abs(test::squared_distance_to(minimiser, after.w) - expected) <= 1e-10 * std::max(1.0, expected));
}

RC_GTEST_PROP(GapGuarantee, DampingKeepsTheSweepsConvergent, ()) {
  const CombinationMatrix matrix = any_network();
  const auto problem = any_problem(matrix.agents(), {"least-squares", "logistic", "huber"}, false);
  Rows shared(matrix.agents(), problem->dimension());
  const Numbers point = normal_vector(problem->dimension(), any_seed());
  for (Index k = 0; k < shared.rows(); ++k) std::ranges::copy(point, shared.row(k).begin());
  const DenseSystem system(matrix, *problem, shared);
  // An agent that is fitted shows no alpha.
  RC_PRE(*std::ranges::min_element(system.j) > 1e-6);
  for (const char* damping : {"rows", "norms", "graph"}) {
    RC_ASSERT(system.damped_norm(test::damping_factors(damping, matrix, *problem, shared, system)) <= 1 + 1e-9);
  }
  // Erratum: the paper's damping may exceed 1, by a bound that grows with the two-hop neighbourhoods.
  Index largest = 0;
  for (const auto& row : system.b) {
    largest = std::max(largest, static_cast<Index>(std::ranges::count_if(row, [](double x) { return x > 0; })));
  }
  RC_ASSERT(system.damped_norm(test::damping_factors("paper", matrix, *problem, shared, system)) <=
            (1 + std::sqrt(static_cast<double>(largest))) / 2 + 1e-9);
}

// Runs 20 iterations from normal models and asserts that the distance to w^o never grows, but for the rounding of models
// that are there: none if w^o = 0.
void assert_never_farther(const CombinationMatrix& matrix, const LinearProblem& problem, const Numbers& minimiser,
                          const Value& step) {
  const Reference reference = test::known(minimiser);
  const std::uint64_t seed = any_seed();
  const double length = std::sqrt(std::inner_product(minimiser.begin(), minimiser.end(), minimiser.begin(), 0.0));
  const double rounding = 1e-14 * std::sqrt(static_cast<double>(matrix.agents())) * length;
  launch_serial(matrix, problem.dimension(), [&](Worker& worker) {
    test::Solver solver(problem, &reference, step, worker.network,
                        test::normal_models({0, matrix.agents()}, problem.dimension(), seed), seed);
    double before = std::sqrt(test::squared_distance_to(minimiser, solver.algorithm->models()));
    for (Index i = 0; i < 20; ++i) {
      solver.iterate(i, worker.network);
      const double after = std::sqrt(test::squared_distance_to(minimiser, solver.algorithm->models()));
      RC_ASSERT(after <= before * (1 + 1e-12) + rounding);
      before = after;
    }
  });
}

Value guaranteed(const char* bound, const char* optimum) {
  return gap({{"bound", bound},
              {"optimum", optimum},
              {"damping", Value(any_of({"rows", "norms", "graph"}))},
              {"sweeps", any_index(1, 6)},
              {"project", true},
              {"relaxation", any_real(0.001, 1.999)},
              {"exchange", Value(any_of({"lists", "relay"}))}});
}

// Convexity asks nothing of w^o but its value on the sample: it may be any point at all.
RC_GTEST_PROP(GapGuarantee, LinearBoundNeverMovesAwayOnAnyConvexProblem, ()) {
  const CombinationMatrix matrix = any_network();
  const auto problem = any_problem(matrix.agents(), {"least-squares", "logistic", "huber"}, false);
  const Numbers minimiser = normal_vector(problem->dimension(), any_seed());
  assert_never_farther(matrix, *problem, minimiser, guaranteed("linear", "per-sample"));
}

RC_GTEST_PROP(GapGuarantee, LinearBoundNeverMovesAwayUnderInterpolation, ()) {
  const CombinationMatrix matrix = any_network();
  const auto problem = any_problem(matrix.agents(), {"least-squares", "huber"}, true);
  assert_never_farther(matrix, *problem, Numbers(problem->dimension()), guaranteed("linear", "zero"));
}

RC_GTEST_PROP(GapGuarantee, TightBoundNeverMovesAwayUnderInterpolation, ()) {
  const CombinationMatrix matrix = any_network();
  const auto problem = any_problem(matrix.agents(), {"least-squares", "huber"}, true);
  assert_never_farther(matrix, *problem, Numbers(problem->dimension()), guaranteed("tight", "zero"));
}

RC_GTEST_PROP(GapGuarantee, KnownMinimiserIsNeverLeft, ()) {
  const CombinationMatrix matrix = any_network();
  const auto problem = any_problem(matrix.agents(), {"least-squares", "logistic", "huber"}, false);
  assert_never_farther(matrix, *problem, normal_vector(problem->dimension(), any_seed()), guaranteed("oracle", "zero"));
}

}  // namespace
}  // namespace polyhop::gap_guarantee_test
