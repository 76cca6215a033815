// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
//
// A rule and an algorithm from outside polyhop's tables, as a user's program has them.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/method/algorithm_table.hpp"
#include "polyhop/method/rule_table.hpp"
#include "polyhop/method/tuned_step.hpp"
#include "support/algorithm_sets.hpp"
#include "support/trial.hpp"
#include "unit/core/refusal.hpp"

namespace polyhop::own_entries_test {
namespace {

using test::algorithm_of;
using test::rows_of;
using test::step_of;
using Reals = std::vector<double>;

// mu_k = value / (1 + ||y_k||^2)
struct ShyOptions {
  double value = 0;
  static const FieldTable<ShyOptions>& fields() {
    static const auto table =
        FieldTable<ShyOptions>().require("value", &ShyOptions::value, "the step where nothing is steep", {above(0)});
    return table;
  }
};

class ShyStep final : public StepSize {
 public:
  ShyStep(const ShyOptions& options, const Setting&) : options_(options) {}

 private:
  void do_choose(const Iterate& at, Network&, std::span<double> mu) override {
    for (Index k = 0; k < at.agents(); ++k) {
      mu[k] = options_.value / (1 + at.y().squared_norm(k));
    }
  }
  ShyOptions options_;
};

// W+ = ((1 - share) I + share A) (W - diag(mu) G)
struct LazyOptions {
  double share = 0.5;
  static const FieldTable<LazyOptions>& fields() {
    static const auto table =
        FieldTable<LazyOptions>().add("share", &LazyOptions::share, "how much is combined", {within(0, 1)});
    return table;
  }
};

class LazyDiffusion final : public Algorithm {
 public:
  LazyDiffusion(Rows start, const LazyOptions& options)
      : Algorithm(std::move(start)), options_(options), mixed_(zeros()) {}
  static Recursion recursion(const LazyOptions& options) { return {.name = "lazy-diffusion", .mixing = options.share}; }
  void step(Index i, Oracle& oracle, StepSize& rule, Network& network) override {
    const Iterate at = sample(i, w_, oracle, rule);
    rule.choose(at, network, mu_);
    descend(w_, mu_, at.gradients(), w_);
    network.combine(w_, mixed_);
    mix(options_.share, mixed_, w_);
  }

 private:
  LazyOptions options_;
  Rows mixed_;
};

std::vector<RuleEntry> my_rules() {
  std::vector<RuleEntry> mine = rules();
  mine.push_back(
      rule_entry<ShyStep, ShyOptions>("shy", "shy of large gradients", "nothing", Steps::agent_wise, "value"));
  return mine;
}

std::vector<AlgorithmEntry> my_algorithms() {
  std::vector<AlgorithmEntry> mine = algorithms();
  mine.push_back(algorithm_entry<LazyDiffusion, LazyOptions>("lazy-diffusion", "combines by halves", "1 vector"));
  return mine;
}

RuleSpec my_rule(const Value& step) { return read_rule(step, "step", my_rules()); }
AlgorithmSpec my_algorithm(const Value& algorithm) { return read_algorithm(algorithm, "algorithm", my_algorithms()); }
std::string complaint_about_rule(const Value& step) {
  return refusal([&] { return my_rule(step); }).what();
}
std::string complaint_about_algorithm(const Value& algorithm) {
  return refusal([&] { return my_algorithm(algorithm); }).what();
}

// One iteration of two agents with J_k = w^2/2 and weights of a half, from w = 1 and w = -3.
struct Step {
  Reals mu, w;
};
Step one_step(const AlgorithmSpec& algorithm, const RuleSpec& rule) {
  check_pair(algorithm, rule, "step", 0);
  Step out;
  launch_serial(test::network_of(Topology::path, 2), 1, [&](Worker& worker) {
    const auto problem = test::problem_of({{{1, 0}}, {{1, 0}}});
    const auto oracle = problem->oracle(worker.network.block(), 0);
    const Setting setting{worker.network, nullptr, algorithm.recursion(worker.network.matrix())};
    const auto chosen = rule.build(setting);
    const auto built = algorithm.build(rows_of({{1}, {-3}}), setting);
    built->step(0, *oracle, *chosen, worker.network);
    out.mu.assign(built->steps().begin(), built->steps().end());
    out.w = {built->models()(0, 0), built->models()(1, 0)};
  });
  return out;
}

TEST(OwnEntries, AreReadAndBuiltBesidePolyhops) {
  const RuleSpec shy = my_rule(step_of("shy", {{"value", 2}}));
  EXPECT_EQ(shy.name, "shy");
  EXPECT_EQ(shy.options.text(), "{ value = 2.0 }");
  const AlgorithmSpec lazy = my_algorithm("lazy-diffusion");
  EXPECT_EQ(lazy.name, "lazy-diffusion");
  EXPECT_EQ(lazy.options.text(), "{ share = 0.5 }");
  // The agents step to 0 and -2.4, whose mean is -1.2.
  const Step halves = one_step(lazy, shy);
  EXPECT_EQ(halves.mu, (Reals{1, 0.2}));
  EXPECT_NEAR(halves.w[0], -0.6, 1e-15);
  EXPECT_NEAR(halves.w[1], -1.8, 1e-15);
  const Step wholes = one_step(my_algorithm("atc"), shy);
  EXPECT_NEAR(wholes.w[0], -1.2, 1e-15);
  EXPECT_NEAR(wholes.w[1], -1.2, 1e-15);
  EXPECT_EQ(one_step(lazy, my_rule(step_of("constant", {{"value", 1}}))).w, (Reals{0, 0}));
}

TEST(OwnEntries, ListTheirOptions) {
  const RuleEntry shy = my_rules().back();
  ASSERT_EQ(shy.options.size(), 1U);
  EXPECT_EQ(shy.options[0].name, "value");
  const AlgorithmEntry lazy = my_algorithms().back();
  ASSERT_EQ(lazy.options.size(), 1U);
  EXPECT_EQ(lazy.options[0].default_text, "0.5");
}

TEST(OwnEntries, LeavePolyhopsTablesAsTheyAre) {
  EXPECT_THROW(read_rule(step_of("shy", {{"value", 2}}), "step"), InputError);
  EXPECT_THROW(read_algorithm("lazy-diffusion", "algorithm"), InputError);
  EXPECT_THROW(read_rule(step_of("tuned", {{"of", "shy"}}), "step"), InputError);
}

TEST(OwnEntries, CanBeTuned) {
  EXPECT_EQ(my_rule(step_of("tuned", {{"of", "shy"}})).gives, Steps::agent_wise);
  EXPECT_EQ(my_rule(step_of("tuned", {{"of", step_of("shy", {})}})).options.find("of")->text(), "{ rule = \"shy\" }");
  const RuleSpec found = with_constant({1, "shy"}, 4, "step", my_rules());
  EXPECT_EQ(one_step(my_algorithm("lazy-diffusion"), found).mu, (Reals{2, 0.4}));
}

TEST(OwnEntries, AreNamedInMessages) {
  EXPECT_EQ(complaint_about_rule("shi"), "step.rule: unknown name \"shi\"; did you mean 'shy'?");
  EXPECT_EQ(complaint_about_rule(step_of("shy", {{"valeu", 1}})),
            "step.valeu: unknown key; did you mean 'value'?\nstep.value: missing; expected a number > 0");
  EXPECT_EQ(complaint_about_rule(step_of("shy", {{"value", 0}})), "step.value: found 0, expected a number > 0");
  EXPECT_EQ(complaint_about_rule(step_of("tuned", {{"of", "shi"}})),
            "step.of.rule: unknown name \"shi\"; did you mean 'shy'?");
  EXPECT_EQ(complaint_about_rule(step_of("tuned", {{"of", "polyak"}})),
            "step.of: rule \"polyak\" has no constant to tune; rules that do: \"constant\", \"decay\", \"schedule\", "
            "\"shy\"");
  EXPECT_EQ(complaint_about_algorithm("lazy-difusion"),
            "algorithm: unknown name \"lazy-difusion\"; did you mean 'lazy-diffusion'?");
  EXPECT_EQ(complaint_about_algorithm(algorithm_of("lazy-diffusion", {{"shar", 1}})),
            "algorithm.shar: unknown key; did you mean 'share'?");
}

TEST(OwnRule, IsNamedAmongThoseThatGoWithAnAlgorithm) {
  std::vector<RuleEntry> mine = rules();
  mine.push_back(rule_entry<ShyStep, ShyOptions>("shy", "the same for ever", "nothing", Steps::constant, "value"));
  const std::string said = refusal([&] {
                             check_pair(my_algorithm("extra"), my_rule("gap"), "step", 0, mine);
                             return 0;
                           }).what();
  EXPECT_TRUE(said.ends_with("agents and iterations: \"constant\", \"shy\" or \"tuned\"")) << said;
}

}  // namespace
}  // namespace polyhop::own_entries_test
