// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/core/collective.hpp"
#include "polyhop/core/gradients.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/core/pair_tiles.hpp"
#include "polyhop/core/reach.hpp"
#include "polyhop/core/row_products.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/graph/combination_matrix.hpp"
#include "polyhop/network/column_crew.hpp"
#include "polyhop/network/delivery.hpp"
#include "polyhop/network/links.hpp"
#include "polyhop/network/roster.hpp"
#include "polyhop/network/sample_products.hpp"
#include "polyhop/network/traffic.hpp"

namespace polyhop {

class Network;

/// The numbers that each agent of a block heard from its neighbours and itself. A view into the network's mail: valid
/// until the next exchange of numbers begins.
class Heard {
 public:
  /// out[k] = sum_l a_kl x_l, x the `column`-th number sent
  void combine(int column, std::span<double> out) const;
  /// out[k] = min (max) over k and its neighbours
  void min(int column, std::span<double> out) const;
  void max(int column, std::span<double> out) const;
  /// The same for the block's k-th agent.
  [[nodiscard]] double max_of(int column, Index k) const;

 private:
  friend class Network;
  explicit Heard(const Delivery& delivery) : delivery_(delivery) {}
  template <class F>
  void fold(int column, std::span<double> out, F f) const;

  Delivery delivery_;
};

/// The only way from one agent to another, seen from one block of agents. All arithmetic is here; a runtime says where
/// outgoing rows are written and delivers them to the others (`begin`, `finish`). Arrived rows are read through one
/// view, a Delivery, so that a Door can stand in between. Sums over neighbours run in order of the agents' numbers.
/// Traffic is counted when rows are sent, even if a door then loses them.
class Network : public RowProducts {
 public:
  /// Vectors are rows of this type. `roster`: the agents that have rows in the mail, which must include the block's own
  /// and all their neighbours; null: all agents, in order of their places.
  Network(const CombinationMatrix& matrix, Block block, VectorType vectors, const Roster* roster = nullptr);
  ~Network() override = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  [[nodiscard]] const Block& block() const { return block_; }
  [[nodiscard]] Index agents() const { return matrix_.agents(); }
  [[nodiscard]] Index columns() const { return vectors_.columns; }
  [[nodiscard]] Element element() const { return vectors_.element; }
  /// This many rows of zeros that can be sent as vectors.
  [[nodiscard]] Rows zeros(Index rows) const { return {rows, vectors_.columns, 0, vectors_.element}; }
  [[nodiscard]] const CombinationMatrix& matrix() const { return matrix_; }

  /// out row k = sum_l a_kl x_l; out may be x. 1 round, 1 vector per edge.
  void combine(const Rows& x, Rows& out);
  /// out row k = sum_l a_kl c_l g_l. 1 round, 1 vector.
  void combine(std::span<const double> c, const Gradients& g, Rows& out);
  /// out = A A x, or A A diag(c) g, what these sums give one after the other. 2 rounds, 1 vector per edge in each.
  void combine_twice(const Rows& x, Rows& out);
  void combine_twice(std::span<const double> c, const Gradients& g, Rows& out);
  /// w row k <- sum_l a_kl (w_l - mu_l g_l), [eq:atc-network]; the mean, if any, takes it in. 1 round, 1 vector.
  void adapt_combine(Rows& w, std::span<const double> mu, const Gradients& g, const BlendedRows& also = {}) {
    adapt_combine(
        w, mu, Strip{0, w.rows()}, [&](Strip) -> const Gradients& { return g; }, also);
  }
  /// The same for gradients that are evaluated as they are needed, in strips of agents whose rows stay in a near cache.
  template <class Evaluate>
  void adapt_combine(Rows& w, std::span<const double> mu, const Evaluate& evaluate, const BlendedRows& also = {}) {
    adapt_combine(w, mu, Strip{0, near_rows(w)}, evaluate, also);
  }
  /// out row k = sum_l a_kl (x_k - x_l) / max(m_k, m_l), without terms whose divisor is 0: antisymmetric along every
  /// edge, so that the rows of out add up to 0. 1 round, 1 vector and, unless m is the same for all (`common`), 1
  /// scalar.
  void differ(const Rows& x, std::span<const double> m, bool common, Rows& out);
  /// Each agent sends these numbers to its neighbours. 1 round, 1 scalar per number.
  Heard hear(std::initializer_list<std::span<const double>> numbers);
  /// x[k] <- max over the whole network, in as many rounds as the diameter (or its bound). 1 scalar per round. Lost
  /// messages are sent again, so all agents get the same result: they use it to agree.
  void spread_max(std::span<double> x);
  /// Each list x[k] <- its sum over the whole network, the same number for everyone: up the spanning tree to agent 0,
  /// and down again. Every link of the tree carries 1 scalar per list each way, in as many rounds as twice the tree's
  /// height. Lost messages are sent again.
  void spread_sum(std::initializer_list<std::span<double>> lists) { sum_up(nullptr, lists); }
  /// The same for vectors: every row of x <- the sum of all rows, with lists of numbers alongside. 1 vector each way.
  void spread_sum(Rows& x, std::initializer_list<std::span<double>> lists = {}) { sum_up(&x, lists); }
  /// The same for rows that are not kept: `write(k, rows, r)` writes the row of the block's k-th agent to row r of
  /// rows. Row 0 of x <- the sum; x needs a row for each agent of the block, as working space.
  using WriteRow = std::function<void(Index k, Rows& rows, Index r)>;
  void spread_sum_of(const WriteRow& write, Rows& x);

  /// The gradients (rows of w and gradients) of all agents within two hops: each agent sends its own, then forwards
  /// what it got. A row comes to an agent once: from its owner if they are neighbours, otherwise from their common
  /// neighbour with the smallest number. All three know the pattern of B, so they know which one that is. 2 rounds; 1
  /// vector for each agent within two hops, per list. (Behind a door that needs every path, each neighbour forwards all
  /// it got: 1 + (deg - 1) vectors per edge.)
  Reach reach(const Gradients& g);
  Reach reach(const Rows& w);
  /// out[e] = y_k . y_l over the two-hop pattern; agents receive the y_l, as above. A gradient that is a number times a
  /// single sample, s_k h_k, is sent in these two parts, 1 vector and 1 scalar. A product is then (s_k s_l)(h_k . h_l),
  /// and the second factor may be remembered.
  void products(const Gradients& y, SampleProducts& memory, std::span<double> out) { lists(nullptr, y, memory, out); }
  /// The same in one message with the rows of w, which are returned.
  Reach reach(const Rows& w, const Gradients& y, SampleProducts& memory, std::span<double> products) {
    return lists(&w, y, memory, products);
  }
  /// The same for one number per agent, or `width` of them, as scalars.
  Reach reach(std::span<const double> x, Index width = 1);
  /// out[e] = x_k . x_l over the two-hop pattern, x the rows just received.
  void pairwise(const Reach& x, std::span<double> out);
  /// Builds the two-hop pattern (b_kl); throws if it would be too large. `reach` calls it if needed.
  void prepare_two_hop();
  /// B = A^T A, the block's rows; empty until prepared.
  [[nodiscard]] const SparseRows& two_hop() const { return two_hop_; }

  /// Runs all parts, one after the other. No part sends anything that another part received, so their messages can be
  /// joined: together they take as many rounds as the longest part.
  template <class... Parts>
  void share_rounds(const Parts&... parts) {
    Index& rounds = traffic_[static_cast<std::size_t>(account_)].rounds;
    const Index before = rounds;
    Index last = before;
    const auto from_the_same = [&](const auto& part) {
      rounds = before;
      part();
      last = std::max(last, rounds);
    };
    (from_the_same(parts), ...);
    rounds = last;
  }

  void multiply(const void* const* x, const Rows& w, Strip strip, double* out) final;
  /// out[k] = g_k . (x_k - y_k), as g gives it. No messages, but all workers call it.
  void dot_differences(const Gradients& g, const Rows& x, const Rows& y, std::span<double> out);

  /// For decisions of all workers before a run.
  void set_up_with(Collective& collective) { collective_ = &collective; }
  /// From now on, all messages come through this door.
  void set_door(std::unique_ptr<Door> door) { door_ = std::move(door); }
  [[nodiscard]] Door* door() { return door_.get(); }

  /// The traffic of the algorithm and, separately, that of choosing the step sizes.
  [[nodiscard]] const Traffic& algorithm_traffic() const { return traffic_[0]; }
  [[nodiscard]] const Traffic& step_traffic() const { return traffic_[1]; }
  /// The part of both that crossed between processes: what this worker's process received from others.
  [[nodiscard]] virtual Traffic crossings() const { return {}; }
  /// While it lives, traffic counts for the step size.
  class StepAccount {
   public:
    explicit StepAccount(Network& network) : network_(network), before_(network.account_) {
      network_.account_ = Account::steps;
    }
    ~StepAccount() { network_.account_ = before_; }
    StepAccount(const StepAccount&) = delete;
    StepAccount& operator=(const StepAccount&) = delete;

   private:
    Network& network_;
    Account before_;
  };

 protected:
  /// The content of one message per agent, and how far it goes.
  struct Message {
    int hops = 1;
    int vectors = 0;
    int scalars = 0;
    int first = 0;    // where the vectors are in the mail
    Index level = 0;  // along the spanning tree only: l from agents at depth l to those above them, -l the way back
  };
  using Mail = polyhop::Mail;
  /// Allocates the rows that a message needs, unless they exist.
  void make_room(Mail& mail, const Message& message) const;

  /// Where the block's agents write the rows that they send.
  virtual Mail& outbox(const Message& message) = 0;
  /// Sends what was written. Until `finish`, the caller may do work that does not depend on others.
  virtual void begin(const Message& message) = 0;
  /// Waits for everything sent to the block's agents, which is then in the senders' rows.
  virtual const Mail& finish(const Message& message) = 0;
  /// Those who share out columns, if this worker does so with all others.
  virtual ColumnCrew* crew() { return nullptr; }
  /// From now on messages of two hops are sent too: returns the roster for them, which then serves all mail. Not called
  /// if there is no roster.
  virtual const Roster* widen() { return nullptr; }

  /// The rows handed over to the block's agents in one message: along edges, and forwarded along edges.
  [[nodiscard]] Index handed_over(int hops) const;

 private:
  /// The first strip says how long all are.
  template <class Evaluate>
  void adapt_combine(Rows& w, std::span<const double> mu, Strip strip, const Evaluate& evaluate,
                     const BlendedRows& also) {
    if (ColumnCrew* const crew = free_crew(); crew != nullptr) {
      return step_by_columns(*crew, w, mu, evaluate(Strip{0, w.rows()}), also);
    }
    const Message message{.hops = 1, .vectors = 1};
    Rows& mail = outbox(message).vectors[0];
    const Index length = strip.last;
    for (; strip.first < w.rows(); strip.first = strip.last) {
      strip.last = std::min(w.rows(), strip.first + length);
      descend(w, mu, evaluate(strip), mail, own(0), strip);  // psi_k = w_k - mu_k g_k, [eq:atc-opt]
    }
    combine_mail(message, w, also);
  }
  /// A door has to see every row that passes from one agent to another.
  [[nodiscard]] ColumnCrew* free_crew() { return door_ == nullptr ? crew() : nullptr; }
  [[nodiscard]] ColumnCrew::Sums sums_of_crew() const { return {near_.view(), {interior_, boundary_}}; }
  void step_by_columns(ColumnCrew& crew, Rows& w, std::span<const double> mu, const Gradients& g,
                       const BlendedRows& also);
  Delivery exchange(const Message& message) { return exchange(message, message); }
  Delivery exchange(const Message& carried, const Message& counted);
  Delivery exchange_all(const Message& message);
  Delivery deliver(const Message& message, const Mail& mail) const;
  void count(const Message& message);
  void charge(const Traffic& traffic) { traffic_[static_cast<std::size_t>(account_)] += traffic; }
  void charge_again(const Message& message, const Door::Edges& edges);
  void find_candidates();
  void take_places();
  Message write_numbers(std::initializer_list<std::span<const double>> numbers);
  [[nodiscard]] Links links_along(const SparseRows& pattern) const;
  [[nodiscard]] Index slot(Index agent) const {
    return roster_ == nullptr ? block_.place(agent) : roster_->slot(agent);
  }
  /// The row of the block's k-th agent in the mail.
  [[nodiscard]] Index own(Index k) const { return first_ + k; }
  void copy_block(const Rows& x, Rows& mail) const;
  void combine_mail(const Message& message, Rows& out, const BlendedRows& also = {});
  template <class Write>
  void combine_mail_twice(Write write, Rows& out);
  /// Calls use(l) for each agent l below this one in the spanning tree.
  template <class Use>
  void each_below(Index agent, Use use) const;
  template <class Send, class Add, class Take>
  void up_and_down(Message message, Send send, Add add, Take take);
  void sum_up(Rows* x, std::initializer_list<std::span<double>> lists);
  Reach lists(const Rows* w, const Gradients& y, SampleProducts& memory, std::span<double> out);
  void remember(const SampleRows& samples, SampleProducts& memory);
  void fill(const SampleRows& samples, SampleProducts& memory, Index most);
  Reach view(const Delivery& delivery, const Rows& rows, Index columns) const;
  Reach with_tiles(Reach points);
  [[nodiscard]] SlotSets neighbourhoods() const;

  const CombinationMatrix& matrix_;
  Block block_;
  VectorType vectors_;
  const Roster* roster_;
  Index first_ = 0;                     // where the block's rows begin in the mail
  SparseRows gathered_;                 // the block's rows of the matrix, unless these are consecutive
  Links near_, far_;                    // along one hop, and within two
  std::vector<std::int32_t> interior_;  // agents of the block whose neighbours are all inside it
  std::vector<std::int32_t> boundary_;  // the others
  Index direct_ = 0;
  Index forwarded_ = 0;  // in the second round, along every path
  SparseRows two_hop_;
  MeteredVector<Index> mirror_;  // where the same product already is, or -1
  PairTiles tiles_;              // for all products over two hops, except those with a mirror
  PairTiles mirrored_;
  std::vector<const void*> own_rows_;
  Index diameter_ = -1;
  struct {
    std::vector<std::int32_t> grown;       // agents of the block whose number grew in the last round
    std::vector<std::int32_t> candidates;  // those whose number may grow in the next
    std::vector<char> found;               // whether an agent is among them
  } spread_;                               // of spread_max
  std::array<Traffic, 2> traffic_;         // by account
  Account account_ = Account::models;
  std::unique_ptr<Door> door_;
  Collective* collective_ = nullptr;  // none: this block is all there is
};

}  // namespace polyhop
