// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// No allocation inside an iteration. This program's operator new counts how often it is called.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include "polyhop/network/thread_barrier.hpp"
#include "support/algorithm_sets.hpp"
#include "support/bowls.hpp"
#include "support/counted_costs.hpp"
#include "support/networks.hpp"
#include "support/own_costs.hpp"
#include "support/sanitizer.hpp"
#include "support/trial.hpp"

namespace {

std::atomic<long> allocations = 0;

}  // namespace

#if !POLYHOP_SANITIZER_ALLOCATES
// The forms for arrays and without exceptions end in these. Inlined, a pair of them looks like a mismatch to g++.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* place = std::malloc(size > 0 ? size : 1)) return place;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto line = static_cast<std::size_t>(alignment);
  // The size is a multiple of the alignment, and not zero.
  if (void* place = std::aligned_alloc(line, (size / line + 1) * line)) return place;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* place) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::size_t) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::align_val_t) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::size_t, std::align_val_t) noexcept { std::free(place); }
#endif

namespace polyhop {
namespace {

constexpr Index warm_up = 60;  // beyond iteration 50, where cap = "distance" begins
constexpr Index measured = 50;

// How often anyone allocated during the measured iterations.
long allocated(const CombinationMatrix& matrix, const Problem& problem, const Reference* reference, const Value& step,
               Index workers, const Value& algorithm = "atc") {
  const Index dimension = problem.dimension();
  const Index first = test::is_exact(step) ? 2 : warm_up;
  const Index last = first + (test::is_exact(step) ? 2 : measured);
  ThreadBarrier barrier(workers);
  long before = 0;
  long after = 0;
  launch(matrix, dimension, workers, [&](Worker& worker) {
    test::Solver solver(problem, reference, step, worker.network,
                        test::normal_models(worker.network.block(), dimension, 1), 1, algorithm);
    for (Index i = 0; i < first; ++i) solver.iterate(i, worker.network);
    barrier.arrive_and_wait();
    if (worker.number == 0) before = allocations;
    barrier.arrive_and_wait();
    for (Index i = first; i < last; ++i) solver.iterate(i, worker.network);
    barrier.arrive_and_wait();
    if (worker.number == 0) after = allocations;
    barrier.arrive_and_wait();
  });
  return after - before;
}

long allocated(const test::Instance& instance, const Value& step, Index workers, const Value& algorithm = "atc") {
  return allocated(instance.matrix, *instance.problem, &instance.reference, step, workers, algorithm);
}

TEST(Allocation, IsCounted) {
  if (POLYHOP_SANITIZER_ALLOCATES) GTEST_SKIP() << "the sanitizer brings its own operator new";
  const long before = allocations;
  const Rows rows(3, 5);
  const std::string text(100, 'x');
  EXPECT_EQ(allocations - before, 2) << rows.rows() << text.size();
}

TEST(Allocation, HappensInNoIterationOfAnyRule) {
  if (POLYHOP_SANITIZER_ALLOCATES) GTEST_SKIP() << "the sanitizer brings its own operator new";
  const Sampling samplings[] = {Sampling::uniform, Sampling::shuffle, Sampling::cyclic};
  const Batch batches[] = {{1, false}, {2, false}, {0, true}};
  const std::string losses[] = {"least-squares", "logistic", "huber"};
  const auto steps = test::all_sets();
  for (std::size_t n = 0; n < steps.size(); ++n) {
    ProblemOptions options;
    options.model.loss = builtin_loss(losses[n % 3]);
    options.model.l2 = options.model.loss.name == "logistic" ? 0.1 : 0;
    options.dimension = 9;
    options.samples = 3;
    options.model.sampling = samplings[n / 3 % 3];
    options.model.batch = batches[n / 9 % 3];
    const auto instance = test::synthetic_instance(test::network_of(Topology::ring, 5), options, 2);
    for (const Index workers : {1, 3}) {
      EXPECT_EQ(allocated(instance, steps[n], workers), 0) << steps[n].text() << ", " << workers << " workers";
    }
  }
}

TEST(Allocation, HappensInNoIterationOfAnyAlgorithm) {
  if (POLYHOP_SANITIZER_ALLOCATES) GTEST_SKIP() << "the sanitizer brings its own operator new";
  ProblemOptions options;
  options.dimension = 9;
  options.samples = 3;
  for (const test::Pair& pair : test::algorithm_sets()) {
    options.model.batch = pair.of({1, false});
    const auto instance = test::synthetic_instance(test::network_of(Topology::ring, 5), options, 2);
    for (const Index workers : {1, 3}) {
      EXPECT_EQ(allocated(instance, pair.step, workers, pair.algorithm), 0) << pair.text();
    }
  }
}

TEST(Allocation, HappensInNoIterationOnCostsOfTheUser) {
  if (POLYHOP_SANITIZER_ALLOCATES) GTEST_SKIP() << "the sanitizer brings its own operator new";
  const auto objectives = test::as_objectives(
      {{{{1, 4}, {1, 0}}, {{10, 3}, {2, 1}}, {{2, 2}, {-3, 5}}, {{3, 5}, {0, -1}}, {{1, 1}, {1, 1}}}});
  const auto costs = std::make_shared<test::CountedCosts>(objectives);
  costs->is_counting = false;
  const ObjectiveProblem together(costs);
  const ObjectiveProblem apart(objectives);
  const CombinationMatrix matrix = test::network_of(Topology::ring, 5);
  ProblemOptions options;
  options.dimension = 3;
  options.samples = 4;
  options.noise = 3;
  const auto sampled = std::make_shared<test::OwnCosts>(make_problem(options, 5, 2), "logistic", 0.01);
  for (const Batch batch : {Batch{1, false}, Batch{2, false}, Batch{0, true}}) {
    for (const Index workers : {1, 3}) {
      EXPECT_EQ(allocated(matrix, ObjectiveProblem(sampled, batch), nullptr, {}, workers, "auto"), 0) << workers;
    }
  }
  // Gradients, values within two hops, values along the gradient.
  for (const Value& step : {test::step_of("constant", {{"value", 0.01}}), test::gap(), test::step_of("backtracking")}) {
    for (const ObjectiveProblem* problem : {&together, &apart}) {
      for (const Index workers : {1, 3}) {
        EXPECT_EQ(allocated(matrix, *problem, nullptr, step, workers), 0) << step.text() << ", " << workers;
      }
    }
  }
}

}  // namespace
}  // namespace polyhop
