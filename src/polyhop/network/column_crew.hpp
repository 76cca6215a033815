// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "polyhop/core/block.hpp"
#include "polyhop/core/gradients.hpp"
#include "polyhop/core/index.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/pair_tiles.hpp"
#include "polyhop/core/reach.hpp"
#include "polyhop/core/rows.hpp"
#include "polyhop/graph/combination_matrix.hpp"

namespace polyhop {

/// Threads that share out the columns of all agents' rows, where it would take longer to pass rows from one core to
/// another than to multiply them: each thread reads and writes its own columns only, so that these stay in its cache.
/// It then does the work of all agents, and the same as they would do: elements of different columns never meet, and
/// sums along rows are sums of pieces, which are added in their order by the agent's own thread. So the bits are the
/// same. What crosses between threads is one number for each sum and piece. Every call is made by all threads.
class ColumnCrew final : public ReachProducts {
 public:
  /// Sums over neighbours: the links of a thread's own block, and its agents.
  struct Sums {
    SparseView links;
    std::array<std::span<const std::int32_t>, 2> agents;
  };
  /// What the block brings to w <- A (w - diag(mu) g).
  struct Step {
    Rows* w = nullptr;
    std::span<const double> mu;
    const Gradients* g = nullptr;
    BlendedRows mean;
  };
  /// What all threads of a run know of each other.
  struct Shared {
    explicit Shared(Index workers) : posts(workers) {}
    struct Post {
      Sums sums;
      Step step;
      Rows* out = nullptr;
      const void* const* x = nullptr;  // what is multiplied, a row for each agent of the block,
      const Rows* w = nullptr;         // and by what,
      const Rows* minus = nullptr;     // less this
    };
    std::vector<Post> posts;
    MeteredVector<double> sums;  // by piece
    std::mutex mutex;
  };

  /// Whether to share out columns: if all threads get about as many, and all models stay in near caches.
  static bool pays(Index agents, VectorType vectors, Index workers);

  /// `blocks`: of all workers, of which this is the `number`-th; `meet` waits for all of them.
  ColumnCrew(const CombinationMatrix& matrix, std::span<const Block> blocks, Index number, VectorType vectors,
             Shared& shared, std::function<void()> meet);

  void step(const Sums& sums, const Step& mine);
  /// out = A A x
  void combine_twice(const Sums& sums, const Rows& x, Rows& out);
  /// out = A A diag(c) g
  void combine_twice(const Sums& sums, std::span<const double> c, const Gradients& g, Rows& out);
  /// out[k] = x[k] . (row k of y - row k of z); one row of y is everyone's.
  void dot_differences(const void* const* x, const Rows& y, const Rows& z, double* out);
  /// out[k] = x[k] . row k of w
  void multiply_rows(const void* const* x, const Rows& w, double* out);
  /// out[e] = x_k . x_l over the two-hop pattern of the block.
  void multiply_pairs(const void* const* x, std::span<double> out);
  /// What gives x_k . w_l, until it is asked for the next w.
  ReachProducts& times(const Rows& w) {
    held_ = &w;
    return *this;
  }
  void multiply(const void* const* x, const Reach& reach, double* out) override;

 private:
  /// Calls work(columns) for strips of this thread's columns that stay in the first cache in all agents' rows.
  template <class Work>
  void each_strip(Work work);
  template <class Write>
  void combine_twice(Write write);
  template <class Sum>
  void sum_rows(Sum sum, double* out);
  void make_room(Index numbers);
  [[nodiscard]] double* sums(Index piece) { return shared_.sums.data() + piece * room_; }
  void add_pieces(Index first, std::span<double> out);
  void plan(PairTiles& tiles, bool symmetric);
  template <class Other>
  void multiply_pairs(PairTiles& tiles, Other other, std::span<double> out);

  const CombinationMatrix& matrix_;
  std::span<const Block> blocks_;
  Index number_;
  VectorType vectors_;
  Index count_;  // of pieces
  Index first_;  // of this thread's, and behind its last
  Index last_;
  Shared& shared_;
  std::function<void()> meet_;
  Index room_ = 0;
  SparseRows two_hop_;  // of all agents
  std::vector<std::int32_t> slots_;
  const Rows* held_ = nullptr;
  PairTiles symmetric_;
  PairTiles all_;
  Rows sent_, relayed_;  // a strip of all agents' rows
  std::vector<const void*> x_, y_;
};

}  // namespace polyhop
