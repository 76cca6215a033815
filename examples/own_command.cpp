// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Your own command: everything that `polyhop` does, plus a loss, a step-size rule and a problem that polyhop does not
// have. Files name them like built-in ones (examples/own_command.toml), and they are validated, stored, resumed, tuned,
// ranked, shown and run on a cluster in the same way:
//   own_command run examples/own_command.toml
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "polyhop/command.hpp"
#include "polyhop/polyhop.hpp"

using namespace polyhop;

// The quantile (pinball) loss of r = y - z, tau r above 0 and (tau - 1) r below, with a parabola between -h and h.
struct QuantileOptions {
  double tau = 0.5;
  double width = 0.1;
  static const FieldTable<QuantileOptions>& fields() {
    using O = QuantileOptions;
    static const auto table = FieldTable<O>()
                                  .add("tau", &O::tau, "the quantile that is predicted", {strictly_within(0, 1)})
                                  .add("width", &O::width, "where its corner is rounded off", {above(0)});
    return table;
  }
};

class Quantile final : public Loss {
 public:
  explicit Quantile(const QuantileOptions& options) : tau_(options.tau), h_(options.width) {}

  void values(std::span<const double> z, std::span<const double> y, std::span<double> value) const override {
    for (std::size_t n = 0; n < z.size(); ++n) {
      const double r = y[n] - z[n];
      const double rounded = std::abs(r) < h_ ? r * r / (4 * h_) + h_ / 4 : std::abs(r) / 2;  // |r| / 2, corner rounded
      value[n] = rounded + (tau_ - 0.5) * r;
    }
  }
  void slopes(std::span<const double> z, std::span<const double> y, std::span<double> slope) const override {
    for (std::size_t n = 0; n < z.size(); ++n) {
      slope[n] = -std::clamp((y[n] - z[n]) / (2 * h_), -0.5, 0.5) - (tau_ - 0.5);
    }
  }
  void curvatures(std::span<const double> z, std::span<const double> y, std::span<double> curvature) const override {
    for (std::size_t n = 0; n < z.size(); ++n) curvature[n] = std::abs(y[n] - z[n]) < h_ ? 1 / (2 * h_) : 0;
  }
  [[nodiscard]] double max_curvature() const override { return 1 / (2 * h_); }

 private:
  double tau_;
  double h_;
};

// mu_k = value / (1 + ||g_k||): short if the gradient is long. No communication.
struct ShyOptions {
  double value = 0.1;
  static const FieldTable<ShyOptions>& fields() {
    static const auto table =
        FieldTable<ShyOptions>().add("value", &ShyOptions::value, "the step where there is no gradient", {above(0)});
    return table;
  }
};

class ShyStep final : public StepSize {
 public:
  ShyStep(const ShyOptions& options, const Setting&) : options_(options) {}

 private:
  void do_choose(const Iterate& at, Network&, std::span<double> mu) override {
    for (Index k = 0; k < at.agents(); ++k) {
      mu[k] = options_.value / (1 + std::sqrt(at.y().squared_norm(k)));
    }
  }
  ShyOptions options_;
};

// Where is it? Agent k is somewhere in the plane and measures d_k, how far away the source of a signal is: J_k(w) =
// sqrt(1 + (max(||w - p_k|| - d_k, 0))^2) - 1. This is convex: the source is not farther away than it seems.
class Distance final : public Objective {
 public:
  Distance(double x, double y, double d) : place_{x, y}, d_(d) {}
  [[nodiscard]] Index dimension() const override { return 2; }
  [[nodiscard]] double value(std::span<const double> w, std::span<const Index>) const override {
    return std::sqrt(1 + excess(w) * excess(w)) - 1;
  }
  double value_and_gradient(std::span<const double> w, std::span<const Index> batch,
                            std::span<double> gradient) const override {
    const double e = excess(w);
    const double by = e > 0 ? e / std::sqrt(1 + e * e) / (e + d_) : 0;
    for (std::size_t j = 0; j < 2; ++j) gradient[j] = by * (w[j] - place_[j]);
    return value(w, batch);
  }

 private:
  [[nodiscard]] double excess(std::span<const double> w) const {
    return std::max(std::hypot(w[0] - place_[0], w[1] - place_[1]) - d_, 0.0);
  }
  double place_[2];
  double d_;
};

struct SourceOptions {
  double deviation = 0.1;
  static const FieldTable<SourceOptions>& fields() {
    static const auto table = FieldTable<SourceOptions>().add("deviation", &SourceOptions::deviation,
                                                              "deviation of what is measured", {at_least(0)});
    return table;
  }
};

// The costs of the agents that are here; those of other processes stay null. All random numbers follow from the seed.
std::unique_ptr<Problem> locate(const SourceOptions& options, const ProblemSetting& setting) {
  std::vector<std::shared_ptr<const Objective>> all(setting.agents);
  for (Index k = 0; k < setting.block.size(); ++k) {
    const Index agent = setting.block.agent(k);
    Stream random(setting.seed, Purpose::features, agent);
    const double x = 3 * random.normal();
    const double y = 3 * random.normal();
    const double d = std::abs(std::hypot(x - 1, y + 2) + options.deviation * random.normal());  // it is at (1, -2)
    all[agent] = std::make_shared<Distance>(x, y, d);
  }
  return std::make_unique<ObjectiveProblem>(std::move(all), setting.batch, setting.sampling);
}

int main(int argc, char** argv) {
  Registry registry;
  registry.add(loss_entry<Quantile, QuantileOptions>("quantile", "the quantile loss, its corner rounded off"));
  registry.add(rule_entry<ShyStep, ShyOptions>("shy", "value / (1 + ||g||): short where the gradient is long",
                                               "nothing", Steps::agent_wise, "value"));
  registry.add(problem_entry<SourceOptions>("source-location", "where a signal comes from, by its distances", locate));
  return polyhop::main(argc, argv, registry);
}
