// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/column_crew.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>

namespace polyhop {

bool ColumnCrew::pays(Index agents, VectorType vectors, Index workers) {
  constexpr double near_bytes = 2 << 20;
  constexpr double uneven = 1.25;
  const Index count = pieces(vectors);
  const double most = static_cast<double>((count + workers - 1) / workers * piece(vectors, 0).size());
  const double bytes = static_cast<double>(agents) * static_cast<double>(vectors.columns * bytes_of(vectors.element));
  return workers > 1 && count >= workers && bytes <= near_bytes &&
         most * static_cast<double>(workers) < uneven * static_cast<double>(vectors.columns);
}

ColumnCrew::ColumnCrew(const CombinationMatrix& matrix, std::span<const Block> blocks, Index number, VectorType vectors,
                       Shared& shared, std::function<void()> meet)
    : matrix_(matrix),
      blocks_(blocks),
      number_(number),
      vectors_(vectors),
      count_(pieces(vectors)),
      first_(count_ * number / std::ssize(blocks)),
      last_(count_ * (number + 1) / std::ssize(blocks)),
      shared_(shared),
      meet_(std::move(meet)) {}

// For so many sums of each piece. Nobody reads the sums before while they move.
void ColumnCrew::make_room(Index numbers) {
  if (numbers <= room_) return;
  meet_();
  const std::lock_guard lock(shared_.mutex);
  if (static_cast<Index>(shared_.sums.size()) < numbers * count_) shared_.sums.resize(numbers * count_);
  room_ = numbers;
}

void ColumnCrew::add_pieces(Index first, std::span<double> out) {
  for (Index p = 0; p < count_; ++p) {
    const double* from = sums(p) + first;
    for (std::size_t n = 0; n < out.size(); ++n) out[n] = p == 0 ? from[n] : out[n] + from[n];
  }
}

template <class Work>
void ColumnCrew::each_strip(Work work) {
  constexpr Index lines = 8;
  const Index line = Rows::line_of(vectors_.element);
  if (sent_.rows() == 0) sent_ = Rows(matrix_.agents(), lines * line, 0, vectors_.element);
  const Index end = piece(vectors_, last_ - 1).last;
  for (SomeColumns strip{piece(vectors_, first_).first, 0}; strip.first < end; strip.first = strip.last) {
    strip.last = std::min(end, strip.first + lines * line);
    // Behind the last column of all there are zeros, even if a number before them is not finite.
    for (Index k = 0; strip.size() % line != 0 && k < sent_.rows(); ++k) clear_row(sent_, k);
    work(strip);
  }
}

void ColumnCrew::step(const Sums& sums, const Step& mine) {
  shared_.posts[number_].sums = sums;
  shared_.posts[number_].step = mine;
  meet_();
  each_strip([&](const SomeColumns& strip) {
    for (std::size_t b = 0; b < shared_.posts.size(); ++b) {
      const Step& step = shared_.posts[b].step;
      descend(*step.w, step.mu, *step.g, strip, sent_, blocks_[b].first);
    }
    for (const Shared::Post& post : shared_.posts) {
      for (const auto& which : post.sums.agents) {
        combine(post.sums.links, which, sent_, strip, *post.step.w, post.step.mean);
      }
    }
  });
  meet_();
}

// `write(post, strip, first)` writes what a block's agents send, to sent_ from its row `first` on.
template <class Write>
void ColumnCrew::combine_twice(Write write) {
  meet_();
  each_strip([&](const SomeColumns& strip) {
    if (relayed_.rows() == 0) relayed_ = sent_.zeros(sent_.rows());
    for (std::size_t b = 0; b < shared_.posts.size(); ++b) write(shared_.posts[b], strip, blocks_[b].first);
    for (std::size_t b = 0; b < shared_.posts.size(); ++b) {
      for (const auto& which : shared_.posts[b].sums.agents) {
        combine(shared_.posts[b].sums.links, which, sent_, relayed_, {}, blocks_[b].first);
      }
    }
    for (const Shared::Post& post : shared_.posts) {
      for (const auto& which : post.sums.agents) combine(post.sums.links, which, relayed_, strip, *post.out, {});
    }
  });
  meet_();
}

void ColumnCrew::combine_twice(const Sums& sums, const Rows& x, Rows& out) {
  Shared::Post& mine = shared_.posts[number_];
  mine.sums = sums;
  mine.w = &x;
  mine.out = &out;
  combine_twice([&](const Shared::Post& post, const SomeColumns& strip, Index first) {
    copy_rows(*post.w, strip, sent_, first);
  });
}

void ColumnCrew::combine_twice(const Sums& sums, std::span<const double> c, const Gradients& g, Rows& out) {
  Shared::Post& mine = shared_.posts[number_];
  mine.sums = sums;
  mine.step = {nullptr, c, &g, {}};
  mine.out = &out;
  combine_twice([&](const Shared::Post& post, const SomeColumns& strip, Index first) {
    write_out(*post.step.g, strip, sent_, first, post.step.mu);
  });
}

// out = sums along the rows of the block's agents; `sum(post, columns, out)` is a block's sums in a piece.
template <class Sum>
void ColumnCrew::sum_rows(Sum sum, double* out) {
  make_room(matrix_.agents());
  meet_();
  for (Index p = first_; p < last_; ++p) {
    for (std::size_t b = 0; b < shared_.posts.size(); ++b) {
      sum(shared_.posts[b], piece(vectors_, p), sums(p) + blocks_[b].first);
    }
  }
  meet_();
  add_pieces(blocks_[number_].first, {out, static_cast<std::size_t>(blocks_[number_].size())});
}

void ColumnCrew::dot_differences(const void* const* x, const Rows& y, const Rows& z, double* out) {
  Shared::Post& mine = shared_.posts[number_];
  mine.x = x;
  mine.w = &y;
  mine.minus = &z;
  sum_rows([](const Shared::Post& post, const SomeColumns& columns,
              double* sums) { polyhop::dot_differences(post.x, *post.w, *post.minus, columns, sums); },
           out);
}

void ColumnCrew::multiply_rows(const void* const* x, const Rows& w, double* out) {
  shared_.posts[number_].x = x;
  shared_.posts[number_].w = &w;
  sum_rows([](const Shared::Post& post, const SomeColumns& columns,
              double* sums) { polyhop::multiply_rows(post.x, *post.w, columns, sums); },
           out);
}

void ColumnCrew::plan(PairTiles& tiles, bool symmetric) {
  if (tiles.is_made()) return;
  const Block all{0, matrix_.agents(), blocks_[0].numbering};
  if (two_hop_.rows() == 0) {
    two_hop_ = two_hop(matrix_, all);
    slots_.reserve(two_hop_.column.size());
    for (const Index agent : two_hop_.column) slots_.push_back(static_cast<std::int32_t>(all.place(agent)));
  }
  const SparseView pattern{two_hop_.offset.data(), slots_.data(), nullptr};
  const auto mirror = symmetric ? mirror_of(two_hop_, all) : MeteredVector<Index>{};
  tiles = PairTiles(pattern, all.size(), symmetric ? mirror.data() : nullptr, vectors_);
}

// `other(post, k)` is the row of a block's k-th agent that those within two hops multiply.
template <class Other>
void ColumnCrew::multiply_pairs(PairTiles& tiles, Other other, std::span<double> out) {
  make_room(std::max(two_hop_.entries(), matrix_.agents()));
  meet_();
  x_.resize(matrix_.agents());
  y_.resize(matrix_.agents());
  for (Index p = first_; p < last_; ++p) {
    const auto [begin, end] = piece(vectors_, p);
    for (std::size_t b = 0; b < shared_.posts.size(); ++b) {
      for (Index k = 0; k < blocks_[b].size(); ++k) {
        x_[blocks_[b].first + k] = from_column(shared_.posts[b].x[k], begin, vectors_.element);
        y_[blocks_[b].first + k] = from_column(other(shared_.posts[b], k), begin, vectors_.element);
      }
    }
    tiles.multiply(x_.data(), y_.data(), end - begin, sums(p));
  }
  meet_();
  add_pieces(two_hop_.offset[blocks_[number_].first], out);
}

void ColumnCrew::multiply_pairs(const void* const* x, std::span<double> out) {
  plan(symmetric_, true);
  shared_.posts[number_].x = x;
  multiply_pairs(
      symmetric_, [](const Shared::Post& post, Index k) { return post.x[k]; }, out);
}

void ColumnCrew::multiply(const void* const* x, const Reach& reach, double* out) {
  plan(all_, false);
  shared_.posts[number_].x = x;
  shared_.posts[number_].w = held_;
  multiply_pairs(all_, [](const Shared::Post& post, Index k) { return post.w->place(k); },
                 {out, static_cast<std::size_t>(reach.entries)});
}

}  // namespace polyhop
