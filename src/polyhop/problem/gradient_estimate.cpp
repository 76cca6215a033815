// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/gradient_estimate.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/random.hpp"
#include "polyhop/problem/costs.hpp"
#include "polyhop/problem/sample_gradients.hpp"

namespace polyhop {
namespace {

[[noreturn]] void refuse_values() { throw Error("an estimated gradient belongs to no value"); }

// What oracles that estimate gradients share.
class EstimatingOracle : public Oracle {
 public:
  EstimatingOracle(std::unique_ptr<Oracle> oracle, const Block& block, const VectorType& vectors)
      : oracle_(std::move(oracle)),
        samples_(*oracle_->samples()),
        block_(block),
        mean_(block.size(), vectors.columns, 0, vectors.element),
        begin_{0} {
    for (Index k = 0; k < block.size(); ++k) {
      begin_.push_back(begin_.back() + samples_.width() * static_cast<Index>(samples_.drawn(k).size()));
    }
    for (auto* list : {&slopes_, &kept_, &scaled_}) list->resize(begin_.back());
  }

  void draw(Index i) override { oracle_->draw(i); }
  void values_at_point(const Rows& w, std::span<double> out) override { oracle_->values_at_point(w, out); }
  bool smoothness(std::span<double> out) override { return oracle_->smoothness(out); }
  [[nodiscard]] Index epoch() const override { return oracle_->epoch(); }

 protected:
  // Agent k's part of a list with one number per slope.
  [[nodiscard]] std::span<double> of_agent(std::vector<double>& list, Index k) const {
    return std::span(list).subspan(begin_[k], begin_[k + 1] - begin_[k]);
  }
  // The weight of a drawn sample in agent k's cost.
  [[nodiscard]] double share(Index k) const {
    return samples_.factor(k) / std::max(1.0, static_cast<double>(samples_.drawn(k).size()));
  }
  // Row k of out = the stored mean + the penalty's gradient at w + the gradients of the numbers in `scaled_`.
  void estimate(Index k, const Rows& w, Evaluation& out) {
    samples_.penalty(k, w, out.written);
    add_row(1, mean_, k, out.written, k);
    samples_.add(k, of_agent(scaled_, k), out.written);
  }
  void prepare(bool with_values, Evaluation& out) const {
    if (with_values) refuse_values();
    if (out.gradients.size() > 0) return;
    out.written = mean_;
    out.gradients = along(out.written);
  }

  std::unique_ptr<Oracle> oracle_;
  SampleGradients& samples_;
  Block block_;
  Rows mean_;                   // of the remembered gradients, times the factor
  std::vector<double> slopes_;  // of the drawn samples
  std::vector<double> kept_;    // of the same samples, as remembered
  std::vector<double> scaled_;  // of the same samples, to be turned into a gradient

 private:
  void do_values_at(const Reach&, std::span<double>) override { refuse_values(); }
  void do_values_along(const Rows&, const Gradients&, std::span<const Index>, std::span<const double>,
                       std::span<double>) override {
    refuse_values();
  }

  std::vector<Index> begin_;
};

class SagaOracle final : public EstimatingOracle {
 public:
  SagaOracle(std::unique_ptr<Oracle> oracle, const Block& block, const VectorType& vectors)
      : EstimatingOracle(std::move(oracle), block, vectors), changes_(slopes_.size()) {
    Index most = 0;
    for (Index k = 0; k < block.size(); ++k) most = std::max(most, samples_.count(k));
    expect_room(block.size(), most * samples_.width());
    table_ = Rows(block.size(), most * samples_.width());
  }

  [[nodiscard]] Index kept_bytes() const override { return samples_.is_linear() ? 0 : table_.bytes(); }
  void register_state(StateRegistry& state) override {
    oracle_->register_state(state);
    state.rows("saga.slopes", table_);
    state.rows("saga.mean", mean_);
  }

 private:
  void do_evaluate(const Rows& w, bool with_values, Evaluation& out) override {
    prepare(with_values, out);
    samples_.slopes(w, slopes_);
    for (Index k = 0; k < block_.size(); ++k) {
      compare(k);
      estimate(k, w, out);
      remember(k);
    }
  }

  // As if nothing had been remembered since the draw: the mean without the changes.
  void do_evaluate_elsewhere(const Rows& w, Evaluation& out) override {
    prepare(false, out);
    samples_.slopes(w, slopes_);
    for (Index k = 0; k < block_.size(); ++k) {
      const auto scaled = of_agent(scaled_, k);
      const auto now = of_agent(slopes_, k);
      const auto before = of_agent(kept_, k);
      const auto change = of_agent(changes_, k);
      for (std::size_t n = 0; n < scaled.size(); ++n) scaled[n] = share(k) * (now[n] - before[n]) - change[n];
      estimate(k, w, out);
    }
  }

  // Compares the slopes of agent k's drawn samples with the remembered ones.
  void compare(Index k) {
    const auto scaled = of_agent(scaled_, k);
    const auto now = of_agent(slopes_, k);
    const auto before = of_agent(kept_, k);
    std::size_t n = 0;
    for (const Index sample : samples_.drawn(k)) {
      for (const double slope : remembered(k, sample)) {
        before[n] = slope;
        scaled[n] = share(k) * (now[n] - slope);
        ++n;
      }
    }
  }

  // a_kn <- the new slopes. A sample that was drawn twice changes once.
  void remember(Index k) {
    const double each = samples_.factor(k) / std::max(1.0, static_cast<double>(samples_.count(k)));
    const auto now = of_agent(slopes_, k);
    const auto change = of_agent(changes_, k);
    std::size_t n = 0;
    for (const Index sample : samples_.drawn(k)) {
      for (double& slope : remembered(k, sample)) {
        change[n] = each * (now[n] - slope);
        slope = now[n];
        ++n;
      }
    }
    samples_.add(k, change, mean_);
  }

  // Costs that are not linear models remember a gradient per sample.
  static void expect_room(Index agents, Index numbers) {
    const double bytes = static_cast<double>(agents) * static_cast<double>(numbers) * sizeof(double);
    if (bytes <= memory_left()) return;
    throw InputError("gradient", "\"saga\" would remember " + std::to_string(numbers) + " numbers per agent, " +
                                     memory_text(bytes) + " for " + std::to_string(agents) + " agents; " +
                                     memory_limit_text() + ", or use \"lsvrg\", which keeps two models per agent");
  }

  [[nodiscard]] std::span<double> remembered(Index k, Index sample) {
    const Index width = samples_.width();
    return table_.row(k).subspan(sample * width, width);
  }

  Rows table_;  // one row per agent: its samples' slopes
  std::vector<double> changes_;
};

class LsvrgOracle final : public EstimatingOracle {
 public:
  LsvrgOracle(std::unique_ptr<Oracle> oracle, const Block& block, const VectorType& vectors, std::uint64_t seed)
      : EstimatingOracle(std::move(oracle), block, vectors), points_(mean_), seed_(seed) {}

  void draw(Index i) override {
    EstimatingOracle::draw(i);
    i_ = i;
  }
  void register_state(StateRegistry& state) override {
    oracle_->register_state(state);
    state.rows("lsvrg.point", points_);
    state.rows("lsvrg.mean", mean_);
  }

 private:
  void do_evaluate(const Rows& w, bool with_values, Evaluation& out) override {
    prepare(with_values, out);
    for (Index k = 0; k < block_.size(); ++k) {
      if (moves_on(k)) move_on(k, w);
    }
    samples_.slopes(points_, kept_);
    charge(block_.size());
    differ(w, out);
  }
  void do_evaluate_elsewhere(const Rows& w, Evaluation& out) override {
    prepare(false, out);
    differ(w, out);
  }

  void differ(const Rows& w, Evaluation& out) {
    samples_.slopes(w, slopes_);
    for (Index k = 0; k < block_.size(); ++k) {
      const auto scaled = of_agent(scaled_, k);
      const auto now = of_agent(slopes_, k);
      const auto before = of_agent(kept_, k);
      for (std::size_t n = 0; n < scaled.size(); ++n) scaled[n] = share(k) * (now[n] - before[n]);
      estimate(k, w, out);
    }
  }

  [[nodiscard]] bool moves_on(Index k) const {
    if (i_ == 0) return true;
    Stream coin(seed_, Purpose::refresh, block_.agent(k), i_);
    return coin.uniform() * static_cast<double>(samples_.count(k)) < static_cast<double>(samples_.drawn(k).size());
  }

  // u_k <- w_k. Charged as the batches that make up all samples.
  void move_on(Index k, const Rows& w) {
    copy_rows(w, k, points_, k);
    samples_.whole(k, points_, mean_);
    charge(samples_.batches(k));
  }

  Rows points_;  // u_k
  std::uint64_t seed_;
  Index i_ = 0;
};

void expect_end(const SampleGradients& samples, const Block& block) {
  for (Index k = 0; k < block.size(); ++k) {
    if (samples.count(k) < endless_samples) continue;
    throw InputError("gradient", "agent " + std::to_string(block.agent(k)) +
                                     " has infinitely many samples, which cannot be remembered; expected \"plain\"");
  }
}

}  // namespace

std::unique_ptr<Oracle> make_oracle(const Problem& problem, const Block& block, std::uint64_t seed,
                                    GradientEstimate gradient) {
  auto oracle = problem.oracle(block, seed);
  if (gradient == GradientEstimate::plain || oracle->is_exact()) return oracle;
  if (oracle->samples() == nullptr) {
    throw InputError("gradient", "this problem does not tell its samples apart; expected \"plain\"");
  }
  expect_end(*oracle->samples(), block);
  if (gradient == GradientEstimate::saga) {
    return std::make_unique<SagaOracle>(std::move(oracle), block, problem.vectors());
  }
  return std::make_unique<LsvrgOracle>(std::move(oracle), block, problem.vectors(), seed);
}

}  // namespace polyhop
