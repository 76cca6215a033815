// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Writes runs of polyhop for method_oracle.py to recompute: method_dump FOLDER makes FOLDER/0, FOLDER/1, ... of one
// run each, over all algorithms and rules.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "support/algorithm_sets.hpp"
#include "support/dumped_run.hpp"

namespace polyhop::test {
namespace {

// Problems of every kind: one sample that interpolates, some that do not, all of agents that disagree.
const RunCase one = {};
const RunCase some = {
    .topology = "ring", .agents = 7, .loss = "logistic", .l2 = 0.1, .noise = 1.0, .batch = 3, .start = "normal"};
const RunCase whole = {.topology = "star",
                       .agents = 5,
                       .dimension = 4,
                       .samples = 9,
                       .loss = "huber",
                       .noise = 0.5,
                       .minimiser_spread = 0.5,
                       .batch = "all"};
const RunCase squares = {
    .dimension = 4, .samples = 9, .noise = 0.5, .minimiser_spread = 1.0, .batch = "all", .start = "normal"};
const RunCase noisy = {.topology = "path", .agents = 5, .samples = 8, .noise = 0.5, .batch = 2, .start = "normal"};
const RunCase one_of_many = {
    .topology = "path", .agents = 5, .dimension = 4, .samples = 60, .noise = 1.0, .start = "normal"};

const RunCase margins = {.topology = "star",
                         .agents = 6,
                         .samples = 9,
                         .loss = "smoothed-hinge",
                         .l2 = 0.05,
                         .noise = 1.0,
                         .batch = 2,
                         .start = "normal"};

const Value primal = algorithm_of("exact-diffusion", {{"form", "primal"}});

class Cases {
 public:
  void add(Value algorithm, Value step, RunCase base = one) {
    base.algorithm = std::move(algorithm);
    base.step = std::move(step);
    all_.push_back(std::move(base));
  }
  [[nodiscard]] bool has(const Value& rule) const {
    return std::ranges::any_of(all_, [&](const RunCase& run) {
      const Value* name = run.step.find("rule");
      return name != nullptr && name->text() == rule.text();
    });
  }
  [[nodiscard]] std::vector<RunCase> take() { return std::move(all_); }

 private:
  std::vector<RunCase> all_;
};

/// The same for another number of iterations.
RunCase lasting(RunCase base, Index iterations) {
  base.iterations = iterations;
  return base;
}

/// Every algorithm with a constant, on every kind of problem.
void add_constants(Cases& cases) {
  const Value algorithms[] = {
      "atc",
      "cta",
      "dgd",
      "exact-diffusion",
      algorithm_of("exact-diffusion", {{"form", "primal"}}),
      algorithm_of("exact-diffusion", {{"mixing", 0.3}}),
      algorithm_of("exact-diffusion", {{"form", "primal"}, {"mixing", 0.3}}),
      "extra",
      "gradient-tracking",
      algorithm_of("gradient-tracking", {{"rounds", 3}}),
      "diging",
      "next",
      algorithm_of("next", {{"gamma", 0.5}, {"theta", 0.2}}),
      "dadam",
      algorithm_of("dadam", {{"beta1", 0.5}, {"beta2", 0.9}, {"beta3", 0.3}, {"epsilon", 1e-2}}),
      "damsgrad",
      algorithm_of("damsgrad", {{"beta1", 0.5}, {"beta2", 0.9}, {"epsilon", 1e-2}})};
  for (const Value& algorithm : algorithms) {
    for (const RunCase& problem : {one, some, whole}) {
      cases.add(algorithm, step_of("constant", {{"value", 0.03}}), problem);
    }
  }
  for (const RunCase& problem : {squares, some, whole}) cases.add("kuruzov", {}, problem);
  cases.add(
      algorithm_of("kuruzov", {{"growth", 1.5}, {"shrink", 0.7}, {"delta", 0.5}, {"first", 10.0}, {"mixing", 0.3}}), {},
      squares);
}

/// L-BFGS, until rounding decides which way it goes.
void add_quasi_newton(Cases& cases) {
  const RunCase long_rows = {.topology = "path",
                             .agents = 5,
                             .dimension = 30,
                             .samples = 40,
                             .loss = "logistic",
                             .l2 = 1e-3,
                             .noise = 1.0,
                             .batch = "all",
                             .start = "normal"};
  const RunCase far = {
      .agents = 8, .dimension = 12, .samples = 20, .noise = 0.5, .minimiser_spread = 30.0, .batch = "all"};
  const RunCase counts = {
      .topology = "ring", .agents = 6, .dimension = 5, .samples = 9, .loss = "poisson", .batch = "all"};
  for (const RunCase& problem :
       {lasting(whole, 8), lasting(squares, 8), lasting(long_rows, 30), lasting(far, 12), lasting(counts, 8)}) {
    for (const Index memory : {20, 3}) {
      cases.add(algorithm_of("quasi-newton", {{"memory", Value(memory)}}), {}, problem);
    }
  }
  RunCase alone = lasting(squares, 6);
  alone.agents = 1;
  cases.add("quasi-newton", {}, alone);
}

/// As much of the neighbours as the network allows.
void add_mixing(Cases& cases) {
  const Value most = algorithm_of("exact-diffusion", {{"form", "primal"}, {"mixing", "auto"}});
  const Value tight =
      gap({{"bound", "tight"}, {"damping", "rows"}, {"project", true}, {"sweeps", 5}, {"relaxation", 1.5}});
  for (const RunCase& problem : {one, some, whole}) {
    cases.add(most, step_of("constant", {{"value", 0.03}}), problem);
    cases.add(most, tight, problem);
    cases.add(algorithm_of("exact-diffusion", {{"mixing", "auto"}}), step_of("constant", {{"value", 0.03}}), problem);
    cases.add(algorithm_of("exact-diffusion", {{"mixing", "auto"}}), step_of("adgd"), lasting(problem, 15));
  }
}

/// Gradients that remember, with whatever takes gradients alone.
void add_estimates(Cases& cases) {
  for (const GradientEstimate gradient : {GradientEstimate::saga, GradientEstimate::lsvrg}) {
    for (RunCase problem : {one, some, noisy, one_of_many}) {
      problem.gradient = gradient;
      for (const char* algorithm :
           {"atc", "cta", "dgd", "exact-diffusion", "extra", "gradient-tracking", "diging", "next", "dadam"}) {
        cases.add(algorithm, step_of("constant", {{"value", 0.03}}), problem);
      }
      cases.add(primal, step_of("decay", {{"value", 0.05}}), problem);
      cases.add("atc", step_of("barzilai-borwein", {{"max", 0.1}}), lasting(problem, 20));
      cases.add("exact-diffusion", step_of("adgd"), lasting(problem, 20));
    }
  }
}

/// A loss that is exactly 0 beyond its margin, with gradients that remember and in `auto`: passes of Newton's method,
/// and the descent that remembers.
void add_margins(Cases& cases) {
  for (const GradientEstimate gradient : {GradientEstimate::saga, GradientEstimate::lsvrg}) {
    RunCase problem = margins;
    problem.gradient = gradient;
    for (const char* algorithm : {"atc", "exact-diffusion", "gradient-tracking", "damsgrad"}) {
      cases.add(algorithm, step_of("constant", {{"value", 0.03}}), problem);
    }
  }
  RunCase passes = lasting(margins, 37);
  passes.samples = 12;
  passes.l2 = 0.1;
  passes.start = "zero";
  passes.known_end = true;
  cases.add("auto", {}, passes);
  cases.add("auto", {}, lasting(margins, 200));
  cases.add("auto", {}, lasting(passes, 16));  // the last pass tests a third of the samples
}

/// Steps common to all that change with time, where they are taken.
void add_common(Cases& cases) {
  const Value steps[] = {step_of("decay", {{"value", 0.05}, {"power", 0.75}}), step_of("schedule", {{"value", 0.05}}),
                         step_of("schedule", {{"value", 0.05}, {"warmup", 10}, {"every", 25}, {"factor", 0.3}})};
  for (const Value& step : steps) {
    for (const char* algorithm :
         {"atc", "cta", "dgd", "exact-diffusion", "gradient-tracking", "diging", "dadam", "damsgrad"}) {
      cases.add(algorithm, step, some);
    }
    cases.add(primal, step, some);
  }
}

/// Rules that look at each agent's own cost.
void add_local(Cases& cases) {
  const Value adgd[] = {step_of("adgd"), step_of("adgd", {{"first", 1e-3}, {"agree", "min"}}),
                        step_of("adgd", {{"agree", "mean"}})};
  const Value bb[] = {step_of("barzilai-borwein", {{"first", 1e-2}, {"max", 0.2}}),
                      step_of("barzilai-borwein", {{"kind", "short"}, {"agree", "min"}}),
                      step_of("barzilai-borwein", {{"kind", "long"}, {"min", 1e-2}, {"max", 0.3}, {"agree", "mean"}})};
  for (const RunCase& problem : {one, some, whole, squares}) {
    // Differences of points that hardly move any more are rounding errors.
    const RunCase moving = problem.batch.as<std::string>() == nullptr ? problem : lasting(problem, 15);
    for (const Value& step : adgd) cases.add("atc", step, moving);
    for (const Value& step : bb) cases.add("atc", step, moving);
    cases.add("atc", step_of("decsps"), problem);
    cases.add("cta", step_of("polyak", {{"max", 0.3}}), problem);
    cases.add("dgd", step_of("sps", {{"c", 0.7}, {"max", 0.2}}), problem);
    cases.add("cta", step_of("backtracking"), problem);
    cases.add("dgd", step_of("backtracking", {{"reach", "network"}, {"growth", 1.1}}), problem);
  }
  cases.add("atc", step_of("decsps", {{"c0", 3.0}, {"optimum", "per-sample"}}), noisy);
  cases.add("cta", step_of("decsps", {{"optimum", 0.05}}), whole);
  cases.add("exact-diffusion", step_of("polyak", {{"max", 0.1}}), squares);
  cases.add(primal, step_of("polyak", {{"max", 0.1}}), squares);
  cases.add("gradient-tracking", step_of("polyak", {{"max", 0.05}}), squares);
  cases.add("diging", step_of("decsps", {{"c0", 5.0}}), some);
  cases.add("gradient-tracking", step_of("backtracking", {{"reach", "network"}}), squares);
  cases.add("exact-diffusion", step_of("backtracking", {{"reach", "network"}}), squares);
  cases.add("atc", step_of("polyak"));
  cases.add("atc", step_of("sps", {{"max", 0.5}}), some);
  cases.add("atc", step_of("backtracking"), noisy);
  for (const RunCase& problem : {some, lasting(squares, 25)}) {
    cases.add("exact-diffusion", adgd[1], problem);
    cases.add("gradient-tracking", adgd[1], problem);
    cases.add("diging", step_of("barzilai-borwein", {{"max", 0.02}}), problem);
    cases.add("dgd", bb[1], problem);
    cases.add(algorithm_of("gradient-tracking", {{"rounds", 2}}), bb[1], problem);
    cases.add(algorithm_of("exact-diffusion", {{"mixing", 0.3}}), step_of("barzilai-borwein", {{"max", 0.1}}), problem);
  }
}

/// GAP with these options and more.
Value gap_with(Options options, const Options& more) {
  options.insert(options.end(), more.begin(), more.end());
  return gap(options);
}

/// GAP on every recursion that takes it.
void add_gap(Cases& cases) {
  const Value algorithms[] = {"atc", "cta", "dgd", primal, "gradient-tracking", "diging"};
  for (const Value& algorithm : algorithms) {
    for (const char* damping : {"paper", "rows", "norms", "graph", "sketch"}) {
      const Options base = {{"damping", damping}, {"project", true}, {"relaxation", 0.8}, {"cap", 2.0}};
      cases.add(algorithm, gap_with(base, {{"bound", "linear"}, {"optimum", "per-sample"}}), lasting(squares, 40));
      cases.add(algorithm, gap_with(base, {{"bound", "oracle"}, {"sweeps", 4}}), lasting(whole, 40));
    }
    const Options base = {{"bound", "linear"}, {"optimum", "per-sample"}, {"relaxation", 0.5}};
    cases.add(algorithm, gap_with(base, {{"damping", "rows"}, {"cap", "curvature"}, {"project", true}}), squares);
    cases.add(algorithm, gap_with(base, {{"damping", "norms"}, {"cap", "curvature"}, {"agree", "min"}, {"sweeps", 3}}),
              some);
    cases.add(algorithm, gap_with(base, {{"damping", "rows"}, {"cap", "distance"}, {"project", true}}),
              lasting(noisy, 100));
    cases.add(algorithm, gap_with(base, {{"damping", "norms"}, {"cap", "distance"}, {"sums", "own"}}),
              lasting(some, 100));
    cases.add(algorithm, gap_with(base, {{"damping", "graph"}, {"agree", "mean"}, {"cap", "2.0/sqrt(i+1)"}}), noisy);
    cases.add(algorithm, gap({{"bound", "linear"}, {"damping", "rows"}, {"optimum", "estimate"}, {"cap", 0.3}}),
              lasting(one_of_many, 500));
  }
}

/// What GAP has on some recursions only, and the options that a long run needs.
void add_more_gap(Cases& cases) {
  cases.add(algorithm_of("exact-diffusion", {{"form", "primal"}, {"mixing", 0.3}}),
            gap({{"bound", "linear"}, {"damping", "rows"}, {"exchange", "relay"}, {"sweeps", 3}, {"cap", 1.0}}),
            squares);
  for (const Value& algorithm : {Value("atc"), Value("cta"), Value("dgd"), primal}) {
    for (const RunCase& problem : {one, some, noisy}) {
      cases.add(algorithm,
                gap({{"bound", "tight"}, {"damping", "rows"}, {"project", true}, {"relaxation", 0.7}, {"cap", 0.5}}),
                problem);
    }
  }
  cases.add("cta", gap({{"relaxation", 0.5}, {"cap", 2.0}}), noisy);
  cases.add("atc", gap({{"optimum", "estimate"}, {"cap", 0.2}}), lasting(one_of_many, 500));
  cases.add("atc", gap({{"bound", "paper"}, {"damping", "sketch"}, {"sketch_size", 8}, {"cap", 0.5}}), noisy);
  cases.add("atc", gap({{"bound", "tight"}, {"damping", "rows"}, {"optimum", "estimate"}, {"project", true}}),
            lasting(one_of_many, 1000));
  cases.add("atc", step_of("polyak", {{"optimum", "estimate"}, {"max", 0.5}}), lasting(one_of_many, 500));
}

/// Steps from a file: one per iteration, the last one repeated.
void add_listed(Cases& cases, const std::filesystem::path& folder) {
  const std::string file = folder / "steps.txt";
  std::ofstream(file) << "0.01\n0.05\n0\n0.02\n0.04\n";
  for (const char* algorithm : {"atc", "exact-diffusion", "damsgrad"}) {
    cases.add(algorithm, step_of("schedule", {{"file", Value(file)}}), noisy);
  }
}

/// One agent alone.
void add_alone(Cases& cases) {
  RunCase alone = squares;
  alone.agents = 1;
  alone.iterations = 20;
  const Value limited =
      gap({{"bound", "linear"}, {"damping", "rows"}, {"optimum", "per-sample"}, {"cap", "curvature"}});
  cases.add("kuruzov", {}, alone);
  for (const Value& algorithm : {primal, Value("gradient-tracking"), Value("diging")}) {
    cases.add(algorithm, limited, alone);
  }
  cases.add("exact-diffusion", step_of("adgd"), alone);
  // Samples that are fitted better than at the optimum give steps of 0, and no difference to learn a cap from.
  RunCase resting = one_of_many;
  resting.agents = 1;
  cases.add("atc", gap({{"bound", "linear"}, {"damping", "rows"}, {"optimum", 0.5}, {"cap", "curvature"}}), resting);
}

/// `auto` through its stages: claims are judged after 32, 64, 128, ... iterations; the other costs' progress after 128,
/// with three agents after 256.
void add_automatic(Cases& cases) {
  const RunCase runs[] = {
      // A known end: passes of Newton's method, one per epoch.
      {.topology = "path",
       .agents = 4,
       .dimension = 4,
       .samples = 6,
       .iterations = 69,
       .noise = 1.0,
       .known_end = true},
      {.topology = "ring",
       .agents = 7,
       .samples = 20,
       .iterations = 65,
       .loss = "logistic",
       .l2 = 0.1,
       .noise = 1.0,
       .batch = 3,
       .known_end = true},
      {.agents = 5, .dimension = 3, .samples = 9, .iterations = 40, .loss = "poisson", .l2 = 0.1, .known_end = true},
      {.agents = 6,
       .dimension = 4,
       .samples = 20,
       .iterations = 76,
       .loss = "huber",
       .l2 = 0.05,
       .noise = 3.0,
       .start = "normal",
       .known_end = true},
      {.topology = "star", .agents = 5, .samples = 40, .iterations = 13, .noise = 1.0, .batch = 3, .known_end = true},
      // Data that fit.
      {.topology = "ring", .agents = 8, .dimension = 40, .iterations = 150},
      {.agents = 6, .dimension = 40, .iterations = 150, .loss = "huber"},
      {.topology = "path", .agents = 3, .dimension = 40, .samples = 10, .iterations = 70, .batch = 3},
      // Noise that stays.
      {.topology = "path", .agents = 5, .samples = 60, .iterations = 300, .noise = 1.0, .start = "normal"},
      {.agents = 8, .samples = 30, .iterations = 300, .noise = 0.5, .batch = 3},
      {.topology = "ring", .agents = 7, .samples = 20, .iterations = 300, .loss = "logistic", .noise = 1.0, .batch = 3},
      {.topology = "path", .agents = 1, .samples = 40, .iterations = 300, .noise = 1.0, .start = "normal"},
      // Agents that disagree.
      {.agents = 6, .dimension = 4, .samples = 9, .iterations = 200, .noise = 1.0, .minimiser_spread = 1.0},
      {.topology = "complete",
       .agents = 8,
       .dimension = 4,
       .samples = 9,
       .iterations = 8,
       .noise = 1.0,
       .minimiser_spread = 1.0,
       .batch = "all"},
      {.topology = "ring",
       .agents = 5,
       .dimension = 4,
       .samples = 9,
       .iterations = 8,
       .loss = "huber",
       .noise = 1.0,
       .minimiser_spread = 0.5,
       .batch = "all"},
      // A penalty.
      {.topology = "ring", .agents = 7, .samples = 20, .iterations = 200, .loss = "logistic", .l2 = 0.1, .noise = 1.0},
      {.agents = 6, .dimension = 70, .samples = 5, .iterations = 200, .l2 = 0.05, .noise = 1.0, .batch = 3},
      {.topology = "star",
       .agents = 5,
       .samples = 9,
       .iterations = 8,
       .loss = "huber",
       .l2 = 0.1,
       .noise = 1.0,
       .minimiser_spread = 0.5,
       .batch = "all"},
      {.topology = "star",
       .agents = 5,
       .samples = 9,
       .iterations = 100,
       .loss = "huber",
       .l2 = 0.1,
       .noise = 1.0,
       .minimiser_spread = 0.5,
       .batch = 3},
      {.topology = "path", .agents = 1, .samples = 9, .iterations = 100, .l2 = 0.1, .noise = 1.0},
      // No bounded curvature.
      {.topology = "ring",
       .agents = 5,
       .dimension = 4,
       .samples = 20,
       .iterations = 300,
       .loss = "poisson",
       .batch = 3},
      {.topology = "path", .agents = 8, .samples = 9, .iterations = 120, .loss = "poisson", .batch = 3},
      {.topology = "path", .agents = 8, .samples = 9, .iterations = 8, .loss = "poisson", .batch = "all"},
      // Matrices that are too expensive to be summed again.
      {.topology = "path",
       .agents = 8,
       .dimension = 12,
       .samples = 4,
       .iterations = 16,
       .loss = "logistic",
       .l2 = 0.1,
       .noise = 1.0,
       .batch = 3,
       .known_end = true},
      // Too short for a pass: steps that end at 0.
      {.agents = 6, .samples = 90, .iterations = 45, .l2 = 0.05, .noise = 1.0, .start = "normal", .known_end = true},
      {.topology = "star", .agents = 5, .samples = 600, .iterations = 100, .noise = 1.0, .batch = 3, .known_end = true},
      // Too many numbers for second derivatives: whole gradients in a long run.
      {.topology = "path",
       .agents = 3,
       .dimension = 1001,
       .samples = 3,
       .iterations = 26,
       .noise = 1.0,
       .known_end = true},
      {.agents = 4,
       .dimension = 1001,
       .samples = 3,
       .iterations = 25,
       .loss = "poisson",
       .l2 = 0.1,
       .known_end = true}};
  for (const RunCase& run : runs) cases.add("auto", {}, run);
}

/// `auto` on costs that are functions: noise, data that fit, curvature without a bound, one agent, full gradients.
void add_own_costs(Cases& cases) {
  const RunCase runs[] = {
      {.samples = 20, .iterations = 200, .loss = "logistic", .l2 = 0.1, .noise = 1.0, .own = true},
      {.topology = "ring", .agents = 8, .dimension = 40, .iterations = 150, .own = true},
      {.topology = "ring",
       .agents = 5,
       .dimension = 4,
       .samples = 20,
       .iterations = 120,
       .loss = "poisson",
       .l2 = 0.1,
       .batch = 3,
       .known_end = true,
       .own = true},
      {.topology = "path",
       .agents = 1,
       .samples = 30,
       .iterations = 200,
       .noise = 3.0,
       .start = "normal",
       .known_end = true,
       .own = true},
      {.topology = "star",
       .agents = 5,
       .samples = 9,
       .iterations = 60,
       .loss = "huber",
       .l2 = 0.1,
       .noise = 1.0,
       .minimiser_spread = 0.5,
       .batch = "all",
       .own = true},
      {.topology = "path", .agents = 1, .samples = 9, .iterations = 60, .noise = 3.0, .batch = "all", .own = true},
      {.topology = "path",
       .agents = 2,
       .dimension = 3,
       .samples = 9,
       .iterations = 45,
       .noise = 3.0,
       .batch = "all",
       .own = true},
      {.topology = "complete",
       .agents = 4,
       .dimension = 3,
       .samples = 9,
       .iterations = 45,
       .loss = "huber",
       .l2 = 0.5,
       .noise = 3.0,
       .batch = "all",
       .own = true}};
  for (const RunCase& run : runs) cases.add("auto", {}, run);
}

/// Rules that nobody has listed here.
void add_unlisted(Cases& cases) {
  for (const Value& step : simple_sets()) {
    if (!cases.has(*step.find("rule"))) cases.add("atc", step, some);
  }
}

/// The names of all algorithms and rules, so that none is forgotten.
void write_names(const std::filesystem::path& file) {
  Value::Array known[2];
  for (const auto& entry : algorithms()) known[0].emplace_back(entry.name);
  for (const auto& entry : rules()) known[1].emplace_back(entry.name);
  Value names;
  names["algorithms"] = known[0];
  names["rules"] = known[1];
  std::ofstream(file) << json(names) << '\n';
}

std::vector<RunCase> cases(const std::filesystem::path& folder) {
  Cases all;
  add_constants(all);
  add_common(all);
  add_local(all);
  add_gap(all);
  add_more_gap(all);
  add_listed(all, folder);
  add_alone(all);
  add_automatic(all);
  add_unlisted(all);
  add_mixing(all);
  add_estimates(all);
  add_quasi_newton(all);
  add_margins(all);
  add_own_costs(all);
  return all.take();
}

}  // namespace
}  // namespace polyhop::test

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  polyhop::test::write_names(std::filesystem::path(argv[1]) / "names.json");
  polyhop::test::dump_runs(polyhop::test::cases(argv[1]), argv[1]);
  return 0;
}
