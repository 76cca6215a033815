// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/loss_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "polyhop/core/elementary.hpp"
#include "polyhop/core/named_entry.hpp"
#include "polyhop/problem/softmax_problem.hpp"

namespace polyhop {
namespace {

template <class F>
void each(std::span<const double> z, std::span<const double> y, std::span<double> out, F f) {
  for (std::size_t n = 0; n < z.size(); ++n) out[n] = f(z[n], y[n]);
}

class LeastSquares final : public Loss {
 public:
  void values(std::span<const double> z, std::span<const double> y, std::span<double> value) const override {
    each(z, y, value, [](double p, double t) { return 0.5 * (p - t) * (p - t); });
  }
  void slopes(std::span<const double> z, std::span<const double> y, std::span<double> slope) const override {
    each(z, y, slope, [](double p, double t) { return p - t; });
  }
  void curvatures(std::span<const double>, std::span<const double>, std::span<double> curvature) const override {
    std::ranges::fill(curvature, 1.0);
  }
  [[nodiscard]] double max_curvature() const override { return 1.0; }
  [[nodiscard]] bool is_quadratic() const override { return true; }
};

class Logistic final : public Loss {
 public:
  void values(std::span<const double> z, std::span<const double> y, std::span<double> value) const override {
    // ln(1 + e^-m) = max(-m, 0) + ln(1 + e^-|m|): no overflow for any margin m.
    each(z, y, value, [](double p, double t) {
      const double m = p * t;
      return std::max(-m, 0.0) + elementary::log1p(elementary::exp(-std::abs(m)));
    });
  }
  void slopes(std::span<const double> z, std::span<const double> y, std::span<double> slope) const override {
    each(z, y, slope, [](double p, double t) { return -t * miss(p * t); });
  }
  void curvatures(std::span<const double> z, std::span<const double> y, std::span<double> curvature) const override {
    each(z, y, curvature, [](double p, double t) { return miss(p * t) * miss(-p * t); });
  }
  [[nodiscard]] double max_curvature() const override { return 0.25; }
  [[nodiscard]] Task task() const override { return Task::two_classes; }
  [[nodiscard]] bool has_probabilities() const override { return true; }
  [[nodiscard]] bool has_tail() const override { return true; }

 private:
  // 1 / (1 + e^m), without overflow.
  static double miss(double m) {
    const double e = elementary::exp(-std::abs(m));
    return m > 0 ? e / (1 + e) : 1 / (1 + e);
  }
};

struct HuberOptions {
  double delta = 1;
  static const FieldTable<HuberOptions>& fields() {
    static const auto table = FieldTable<HuberOptions>().add(
        "delta", &HuberOptions::delta, "where the Huber loss turns from a square into a line", {above(0)});
    return table;
  }
};

class Huber final : public Loss {
 public:
  explicit Huber(const HuberOptions& options) : delta_(options.delta) {}
  void values(std::span<const double> z, std::span<const double> y, std::span<double> value) const override {
    each(z, y, value, [d = delta_](double p, double t) {
      const double r = std::abs(p - t);
      return r <= d ? 0.5 * r * r : d * (r - 0.5 * d);
    });
  }
  void slopes(std::span<const double> z, std::span<const double> y, std::span<double> slope) const override {
    each(z, y, slope, [d = delta_](double p, double t) { return std::clamp(p - t, -d, d); });
  }
  void curvatures(std::span<const double> z, std::span<const double> y, std::span<double> curvature) const override {
    each(z, y, curvature, [d = delta_](double p, double t) { return std::abs(p - t) <= d ? 1.0 : 0.0; });
  }
  [[nodiscard]] double max_curvature() const override { return 1.0; }

 private:
  double delta_;
};

class SmoothedHinge final : public Loss {
 public:
  void values(std::span<const double> z, std::span<const double> y, std::span<double> value) const override {
    each(z, y, value, [](double p, double t) {
      const double miss = 1 - p * t;
      if (miss >= 1) return miss - 0.5;
      return miss <= 0 ? 0.0 : 0.5 * miss * miss;
    });
  }
  void slopes(std::span<const double> z, std::span<const double> y, std::span<double> slope) const override {
    each(z, y, slope, [](double p, double t) { return -t * std::clamp(1 - p * t, 0.0, 1.0); });
  }
  void curvatures(std::span<const double> z, std::span<const double> y, std::span<double> curvature) const override {
    each(z, y, curvature, [](double p, double t) { return p * t > 0 && p * t < 1 ? t * t : 0.0; });
  }
  [[nodiscard]] double max_curvature() const override { return 1.0; }
  [[nodiscard]] Task task() const override { return Task::two_classes; }
};

class Poisson final : public Loss {
 public:
  void values(std::span<const double> z, std::span<const double> y, std::span<double> value) const override {
    each(z, y, value, [](double p, double t) { return elementary::exp(p) - t * p; });
  }
  void slopes(std::span<const double> z, std::span<const double> y, std::span<double> slope) const override {
    each(z, y, slope, [](double p, double t) { return elementary::exp(p) - t; });
  }
  void curvatures(std::span<const double> z, std::span<const double>, std::span<double> curvature) const override {
    each(z, z, curvature, [](double p, double) { return elementary::exp(p); });
  }
  [[nodiscard]] double max_curvature() const override { return std::numeric_limits<double>::infinity(); }
  [[nodiscard]] Task task() const override { return Task::counts; }
};

// A function of one prediction per class, so it is not a Loss: its problem is one of its own.
LossEntry softmax_entry() {
  const auto read = [](const Value& table, const std::string& path) {
    (void)NoOptions::fields().read(table, path);
    const auto build = [](Dataset data, Index classes, LinearOptions options) -> std::unique_ptr<DataProblem> {
      return std::make_unique<SoftmaxProblem>(std::move(data), classes, std::move(options));
    };
    return LossSpec{"softmax", Value::Table{}, Task::classes, true, nullptr, build};
  };
  return {"softmax", "ln sum_c e^{z_c} - z_y: cross-entropy of one score z_c per class", Task::classes, {}, read};
}

}  // namespace

const std::vector<LossEntry>& losses() {
  static const std::vector<LossEntry> table = {
      loss_entry<LeastSquares>("least-squares", "(z - y)^2 / 2"),
      loss_entry<Logistic>("logistic", "ln(1 + e^{-y z}), y = -1 or 1"),
      softmax_entry(),
      loss_entry<Huber, HuberOptions>("huber", "r^2/2 for |r| = |z - y| <= delta, delta (|r| - delta/2) beyond"),
      loss_entry<SmoothedHinge>(
          "smoothed-hinge", "of the margin m = y z, y = -1 or 1: 0 for m >= 1, (1 - m)^2/2 below, 1/2 - m for m <= 0"),
      loss_entry<Poisson>("poisson", "e^z - y z for counts y: their negative log-likelihood without ln y!"),
  };
  return table;
}

LossSpec builtin_loss(const std::string& name, const Value& options) {
  return entry_named(losses(), name, "loss").read(options, "loss");
}

std::string Codec<LossSpec>::type() {
  std::string out;
  for (const LossEntry& entry : losses()) out += (out.empty() ? "" : " | ") + entry.name;
  return out;
}

}  // namespace polyhop
