// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/network/network.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "polyhop/core/block.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/graph/graph.hpp"
#include "polyhop/graph/spanning_tree.hpp"

namespace polyhop {

template <class F>
void Heard::fold(int column, std::span<double> out, F f) const {
  const auto& a = delivery_.links;
  for (std::size_t k = 0; k < out.size(); ++k) {
    for (Index e = a.offset[k]; e < a.offset[k + 1]; ++e) {
      const double x = delivery_.mail->scalars(a.slot[e], column);
      out[k] = e == a.offset[k] ? f(a.weight[e], x, nullptr) : f(a.weight[e], x, &out[k]);
    }
  }
}

void Heard::combine(int column, std::span<double> out) const {
  fold(column, out, [](double a, double x, const double* sum) { return a * x + (sum ? *sum : 0.0); });
}
void Heard::min(int column, std::span<double> out) const {
  // A NaN wins wherever it is, so that all agents end with the same number.
  fold(column, out, [](double, double x, const double* best) {
    return best != nullptr && !(x < *best) && !std::isnan(x) ? *best : x;
  });
}
void Heard::max(int column, std::span<double> out) const {
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = max_of(column, static_cast<Index>(k));
}
double Heard::max_of(int column, Index k) const {
  const auto& a = delivery_.links;
  double best = delivery_.mail->scalars(a.slot[a.offset[k]], column);
  for (Index e = a.offset[k] + 1; e < a.offset[k + 1]; ++e) {
    const double x = delivery_.mail->scalars(a.slot[e], column);
    if (x > best || std::isnan(x)) best = x;
  }
  return best;
}

Network::Network(const CombinationMatrix& matrix, Block block, VectorType vectors, const Roster* roster)
    : matrix_(matrix), block_(block), vectors_(vectors), roster_(roster) {
  const SparseRows& a = matrix.rows();
  // The diagonal entry always exists and is not a message.
  const auto degree = [&](Index agent) { return static_cast<Index>(a.columns_of(agent).size()) - 1; };
  for (Index k = 0; k < block.size(); ++k) {
    const Index agent = block.agent(k);
    bool inside = true;
    for (const Index l : a.columns_of(agent)) {
      inside = inside && block.holds(l);
      if (l == agent) continue;
      direct_ += 1;
      forwarded_ += degree(l) - 1;
    }
    (inside ? interior_ : boundary_).push_back(static_cast<std::int32_t>(k));
  }
  take_places();
}

// Finds the mail rows of the block's agents and of their neighbours.
void Network::take_places() {
  const SparseRows& a = matrix_.rows();
  first_ = roster_ == nullptr ? block_.first : roster_->slot_at(block_.first);
  if (roster_ == nullptr && block_.numbering == nullptr) {
    near_ = Links(a, first_);
    return;
  }
  gathered_ = {};
  for (Index k = 0; k < block_.size(); ++k) {
    const auto columns = a.columns_of(block_.agent(k));
    const auto weights = a.weights_of(block_.agent(k));
    for (std::size_t n = 0; n < columns.size(); ++n) gathered_.add(columns[n], weights[n]);
    gathered_.end_row();
  }
  near_ = links_along(gathered_);
}

Links Network::links_along(const SparseRows& pattern) const {
  if (roster_ == nullptr && block_.numbering == nullptr) return {pattern, 0};
  return {pattern, 0, [&](Index agent) { return slot(agent); }};
}

void Network::make_room(Mail& mail, const Message& message) const {
  const Index count = roster_ == nullptr ? agents() : roster_->size();
  for (int v = message.first; v < message.first + message.vectors; ++v) {
    Rows& rows = mail.vectors[v];
    if (rows.rows() == 0) rows = zeros(count);
  }
  // A cache line is the least that can be allocated.
  if (message.scalars > mail.scalars.columns()) {
    mail.scalars = Rows(count, std::max<Index>(message.scalars, Rows::line));
  }
}

Index Network::handed_over(int hops) const {
  if (hops == 1) return direct_;
  if (door_ != nullptr && door_->needs_every_path(account_)) return direct_ + forwarded_;
  return two_hop_.entries() - block_.size();  // each list once, without the agent's own
}

void Network::count(const Message& message) {
  const Index rows = handed_over(message.hops);
  charge({message.hops, rows * message.vectors, rows * message.scalars});
}

Delivery Network::deliver(const Message& message, const Mail& mail) const {
  const Links& links = message.hops == 1 ? near_ : far_;
  return {links.view(), links.senders(), &mail};
}

Delivery Network::exchange(const Message& carried, const Message& counted) {
  begin(carried);
  count(counted);
  const Delivery sent = deliver(carried, finish(carried));
  return door_ == nullptr ? sent : door_->open({account_, carried.hops, carried.vectors == 0}, sent);
}

// The same for messages that must arrive: what a door loses is sent again, and charged.
Delivery Network::exchange_all(const Message& message) {
  begin(message);
  count(message);
  if (door_ != nullptr) {
    charge_again(message, [&](const auto& use) {
      for (Index k = 0; k < agents(); ++k) {
        for (const Index l : matrix_.rows().columns_of(k)) {
          if (l != k) use(l, k);
        }
      }
    });
  }
  return deliver(message, finish(message));
}

void Network::charge_again(const Message& message, const Door::Edges& edges) {
  const Traffic again = door_->send_again(account_, edges);
  charge({again.rounds, again.vectors * message.vectors, again.vectors * message.scalars});
}

void Network::copy_block(const Rows& x, Rows& mail) const { copy_rows(x, 0, mail, own(0), block_.size()); }

// Interior agents are combined while the others' rows are on their way, unless these come through a door.
void Network::combine_mail(const Message& message, Rows& out, const BlendedRows& also) {
  const auto part = [&](const std::vector<std::int32_t>& rows, const Delivery& delivery) {
    polyhop::combine(delivery.links, rows, delivery.mail->vectors[0], out, also);
  };
  if (door_ != nullptr) {
    const Delivery delivery = exchange(message);
    part(interior_, delivery);
    part(boundary_, delivery);
    return;
  }
  begin(message);
  count(message);
  part(interior_, deliver(message, outbox(message)));
  part(boundary_, deliver(message, finish(message)));
}

void Network::step_by_columns(ColumnCrew& crew, Rows& w, std::span<const double> mu, const Gradients& g,
                              const BlendedRows& also) {
  count({.hops = 1, .vectors = 1});
  crew.step(sums_of_crew(), {&w, mu, &g, also});
}

void Network::multiply(const void* const* x, const Rows& w, Strip strip, double* out) {
  const bool is_whole = strip.first == 0 && strip.last == block_.size();
  ColumnCrew* const crew = is_whole ? free_crew() : nullptr;
  crew == nullptr ? RowProducts::multiply(x, w, strip, out) : crew->multiply_rows(x, w, out);
}

void Network::dot_differences(const Gradients& g, const Rows& x, const Rows& y, std::span<double> out) {
  ColumnCrew* const crew = free_crew();
  if (crew == nullptr) return g.dot_differences(x, y, out);
  crew->dot_differences(g.row.data(), x, y, out.data());
  for (Index k = 0; k < g.size(); ++k) out[k] *= g.scale[k];
}

void Network::combine(const Rows& x, Rows& out) {
  const Message message{.hops = 1, .vectors = 1};
  Rows& mail = outbox(message).vectors[0];
  copy_block(x, mail);
  combine_mail(message, out);
}

void Network::combine(std::span<const double> c, const Gradients& g, Rows& out) {
  const Message message{.hops = 1, .vectors = 1};
  Rows& mail = outbox(message).vectors[0];
  write_out(g, mail, own(0), c);
  combine_mail(message, out);
}

// What the first sums give is written straight into the mail for the second ones.
template <class Write>
void Network::combine_mail_twice(Write write, Rows& out) {
  Mail& mail = outbox({.hops = 1, .vectors = 2});
  write(mail.vectors[0]);
  for (const int v : {0, 1}) {
    const Message message{.hops = 1, .vectors = 1, .first = v};
    const auto part = [&](const std::vector<std::int32_t>& rows, const Mail& read) {
      const SparseView links = deliver(message, read).links;
      if (v == 0) polyhop::combine(links, rows, read.vectors[0], mail.vectors[1], {}, own(0));
      if (v == 1) polyhop::combine(links, rows, read.vectors[1], out);
    };
    begin(message);
    count(message);
    part(interior_, mail);
    part(boundary_, finish(message));
  }
}

void Network::combine_twice(const Rows& x, Rows& out) {
  if (ColumnCrew* const crew = free_crew(); crew != nullptr) {
    for (int hop = 0; hop < 2; ++hop) count({.hops = 1, .vectors = 1});
    return crew->combine_twice(sums_of_crew(), x, out);
  }
  if (door_ == nullptr) return combine_mail_twice([&](Rows& sent) { copy_block(x, sent); }, out);
  combine(x, out);
  combine(out, out);
}

void Network::combine_twice(std::span<const double> c, const Gradients& g, Rows& out) {
  if (ColumnCrew* const crew = free_crew(); crew != nullptr) {
    for (int hop = 0; hop < 2; ++hop) count({.hops = 1, .vectors = 1});
    return crew->combine_twice(sums_of_crew(), c, g, out);
  }
  if (door_ == nullptr) return combine_mail_twice([&](Rows& sent) { write_out(g, sent, own(0), c); }, out);
  combine(c, g, out);
  combine(out, out);
}

void Network::differ(const Rows& x, std::span<const double> m, bool common, Rows& out) {
  const Message message{.hops = 1, .vectors = 1, .scalars = common ? 0 : 1};
  Mail& mail = outbox(message);
  copy_block(x, mail.vectors[0]);
  if (!common) {
    for (Index k = 0; k < block_.size(); ++k) mail.scalars(own(k), 0) = m[k];
  }
  const Delivery received = exchange(message);
  const auto& a = received.links;
  for (Index k = 0; k < block_.size(); ++k) {
    const double own_m = m[k];
    clear_row(out, k);
    for (Index e = a.offset[k]; e < a.offset[k + 1]; ++e) {
      const Index l = a.slot[e];
      const double divisor = common ? own_m : std::max(own_m, received.mail->scalars(l, 0));
      if (l == own(k) || divisor == 0) continue;
      add_difference(a.weight[e] / divisor, x, k, received.mail->vectors[0], l, out, k);
    }
  }
}

Network::Message Network::write_numbers(std::initializer_list<std::span<const double>> numbers) {
  const Message message{.hops = 1, .scalars = static_cast<int>(numbers.size())};
  Rows& mail = outbox(message).scalars;
  Index column = 0;
  for (const auto& x : numbers) {
    for (Index k = 0; k < block_.size(); ++k) mail(own(k), column) = x[k];
    ++column;
  }
  return message;
}

Heard Network::hear(std::initializer_list<std::span<const double>> numbers) {
  return Heard(exchange(write_numbers(numbers)));
}

// In a round, a number can only grow that has just grown at a neighbour: on a ring, few do. Nobody knows here whether
// those at other blocks have. Mail that is not written again stays as it is.
void Network::spread_max(std::span<double> x) {
  if (diameter_ < 0) diameter_ = diameter(pattern(matrix_.rows())).high;
  const auto size = static_cast<std::int32_t>(block_.size());
  if (spread_.candidates.empty()) {
    spread_.grown.reserve(size);
    spread_.candidates.reserve(size);
    spread_.found.resize(size);
  }
  const auto all = [&](std::vector<std::int32_t>& list) {
    list.resize(size);
    std::iota(list.begin(), list.end(), 0);
  };
  all(spread_.grown);
  all(spread_.candidates);
  for (Index round = 0; round < diameter_; ++round) {
    const Message message{.hops = 1, .scalars = 1};
    Rows& mail = outbox(message).scalars;
    for (const auto* list : {&spread_.grown, &boundary_}) {
      for (const Index k : *list) mail(own(k), 0) = x[k];
    }
    const Heard heard(exchange_all(message));
    if (round > 0) find_candidates();
    spread_.grown.clear();
    for (const std::int32_t k : spread_.candidates) {
      const double largest = heard.max_of(0, k);
      if (std::bit_cast<std::uint64_t>(largest) == std::bit_cast<std::uint64_t>(x[k])) continue;
      x[k] = largest;
      spread_.grown.push_back(k);
    }
  }
}

// Those of the block who are near another block, or whose own or a neighbour's number has grown.
void Network::find_candidates() {
  for (const std::int32_t k : spread_.candidates) spread_.found[k] = 0;
  spread_.candidates.clear();
  const auto find = [&](Index k) {
    if (k < 0 || k >= block_.size() || spread_.found[k] != 0) return;
    spread_.found[k] = 1;
    spread_.candidates.push_back(static_cast<std::int32_t>(k));
  };
  for (const Index k : boundary_) find(k);
  const SparseView a = near_.view();
  for (const Index k : spread_.grown) {
    for (Index e = a.offset[k]; e < a.offset[k + 1]; ++e) find(a.slot[e] - first_);
  }
}

template <class Use>
void Network::each_below(Index agent, Use use) const {
  const SpanningTree& tree = matrix_.tree();
  for (const Index l : matrix_.rows().columns_of(agent)) {
    if (tree.depth[l] == tree.depth[agent] + 1 && tree.above[l] == agent) use(l);
  }
}

// Up the tree, then down. Agents at a depth write what they have (`send(k, row, mail, is_up)`), and those above them
// add what each agent below sent, in order of the agents (`add(k, row, mail)`); on the way back, agents take what was
// sent (`take`).
template <class Send, class Add, class Take>
void Network::up_and_down(Message message, Send send, Add add, Take take) {
  const SpanningTree& tree = matrix_.tree();
  const auto above = [&](Index agent) { return tree.above[agent]; };
  const auto each_at = [&](Index depth, auto use) {
    for (const Index agent : tree.at_depth(depth)) {
      if (block_.holds(agent)) use(block_.place(agent) - block_.first, agent);
    }
  };
  const auto round = [&](Index level, Index senders, Index receivers, auto receive) {
    message.level = level;
    Mail& mail = outbox(message);
    each_at(senders, [&](Index k, Index) { send(k, own(k), mail, level > 0); });
    begin(message);
    const Mail& received = finish(message);
    Index rows = 0;
    each_at(receivers, [&](Index k, Index agent) { rows += receive(k, agent, received); });
    charge({1, rows * message.vectors, rows * message.scalars});
    if (door_ == nullptr) return;
    charge_again(message, [&](const auto& use) {
      const Index below = std::max(senders, receivers);
      for (const Index l : tree.at_depth(below)) senders == below ? use(l, above(l)) : use(above(l), l);
    });
  };
  for (Index depth = tree.height; depth > 0; --depth) {
    round(depth, depth, depth - 1, [&](Index k, Index agent, const Mail& received) {
      Index rows = 0;
      each_below(agent, [&](Index l) {
        add(k, slot(l), received);
        ++rows;
      });
      return rows;
    });
  }
  for (Index depth = 1; depth <= tree.height; ++depth) {
    round(-depth, depth - 1, depth, [&](Index k, Index agent, const Mail& received) {
      take(k, slot(above(agent)), received);
      return Index{1};
    });
  }
}

void Network::sum_up(Rows* x, std::initializer_list<std::span<double>> lists) {
  const auto each = [&](Index k, auto f) {
    Index column = 0;
    for (const auto& list : lists) f(list[k], column++);
  };
  up_and_down(
      Message{.hops = 1, .vectors = x != nullptr ? 1 : 0, .scalars = static_cast<int>(lists.size())},
      [&](Index k, Index row, Mail& mail, bool) {
        if (x != nullptr) copy_rows(*x, k, mail.vectors[0], row);
        each(k, [&](double number, Index column) { mail.scalars(row, column) = number; });
      },
      [&](Index k, Index below, const Mail& mail) {
        if (x != nullptr) add_row(1, mail.vectors[0], below, *x, k);
        each(k, [&](double& number, Index column) { number += mail.scalars(below, column); });
      },
      [&](Index k, Index above, const Mail& mail) {
        if (x != nullptr) copy_rows(mail.vectors[0], above, *x, k);
        each(k, [&](double& number, Index column) { number = mail.scalars(above, column); });
      });
}

// Where nobody is below, a row is written straight into the mail. On the way down a block needs the sum once, and
// passes it on to others only.
void Network::spread_sum_of(const WriteRow& write, Rows& x) {
  const auto is_last = [&](Index agent) {
    bool last = true;
    each_below(agent, [&](Index) { last = false; });
    return last;
  };
  const auto feeds_others = [&](Index agent) {
    bool feeds = false;
    each_below(agent, [&](Index l) { feeds = feeds || !block_.holds(l); });
    return feeds;
  };
  const SpanningTree& tree = matrix_.tree();
  for (Index k = 0; k < block_.size(); ++k) {
    if (tree.depth[block_.agent(k)] == 0 || !is_last(block_.agent(k))) write(k, x, k);
  }
  bool summed = false;
  const auto sum_up_to_root = [&] {
    for (Index k = 0; k < block_.size() && !summed; ++k) {
      if (tree.depth[block_.agent(k)] != 0) continue;
      if (k != 0) copy_rows(x, k, x, 0);
      summed = true;
    }
  };
  up_and_down(
      Message{.hops = 1, .vectors = 1},
      [&](Index k, Index row, Mail& mail, bool is_up) {
        const Index agent = block_.agent(k);
        if (!is_up) sum_up_to_root();
        if (!is_up && feeds_others(agent)) copy_rows(x, 0, mail.vectors[0], row);
        if (is_up && is_last(agent)) write(k, mail.vectors[0], row);
        if (is_up && !is_last(agent)) copy_rows(x, k, mail.vectors[0], row);
      },
      [&](Index k, Index below, const Mail& mail) { add_row(1, mail.vectors[0], below, x, k); },
      [&](Index, Index above, const Mail& mail) {
        if (!std::exchange(summed, true)) copy_rows(mail.vectors[0], above, x, 0);
      });
  sum_up_to_root();
}

void Network::prepare_two_hop() {
  if (two_hop_.rows() > 0) return;
  two_hop_ = polyhop::two_hop(matrix_, block_);
  if (roster_ != nullptr) {
    roster_ = widen();
    take_places();
  }
  far_ = links_along(two_hop_);
  mirror_ = mirror_of(two_hop_, block_);
}

// The neighbourhood of every agent that has a neighbour in the block, near ones one after the other.
SlotSets Network::neighbourhoods() const {
  SlotSets out;
  out.first_own = static_cast<std::int32_t>(own(0));
  std::vector<bool> is_done(agents());
  for (Index k = 0; k < block_.size(); ++k) {
    for (const Index centre : matrix_.rows().columns_of(block_.agent(k))) {
      if (is_done[centre]) continue;
      is_done[centre] = true;
      for (const Index l : matrix_.rows().columns_of(centre)) out.slot.push_back(static_cast<std::int32_t>(slot(l)));
      out.offset.push_back(static_cast<Index>(out.slot.size()));
    }
  }
  return out;
}

// Products of these points with rows that agents hold themselves. A door may give them different rows each time.
Reach Network::with_tiles(Reach points) {
  if (door_ != nullptr) return points;
  if (!tiles_.is_made()) tiles_ = PairTiles(far_.view(), block_.size(), nullptr, vectors_, neighbourhoods());
  points.products = &tiles_;
  return points;
}

Reach Network::view(const Delivery& delivery, const Rows& rows, Index columns) const {
  return {delivery.links, block_.size(), two_hop_.entries(), rows.place(0), rows.stride(), columns, rows.element()};
}

Reach Network::reach(const Gradients& g) {
  prepare_two_hop();
  const Message message{.hops = 2, .vectors = 1};
  write_out(g, outbox(message).vectors[0], own(0));
  const Delivery received = exchange(message);
  return view(received, received.mail->vectors[0], vectors_.columns);
}

Reach Network::reach(const Rows& w) {
  prepare_two_hop();
  const Message message{.hops = 2, .vectors = 1};
  copy_block(w, outbox(message).vectors[0]);
  const Delivery received = exchange(message);
  return with_tiles(view(received, received.mail->vectors[0], vectors_.columns));
}

// When products are remembered, only the scales and the numbers of the samples travel. What is counted is what agents
// on machines of their own would send.
Reach Network::lists(const Rows* w, const Gradients& y, SampleProducts& memory, std::span<double> out) {
  prepare_two_hop();
  const bool of_samples = y.samples != nullptr;
  const bool may_remember = of_samples && door_ == nullptr;
  if (may_remember && memory.state_ == SampleProducts::State::undecided) remember(*y.samples, memory);
  const bool remembered = may_remember && memory.is_made();
  ColumnCrew* const crew = of_samples ? free_crew() : nullptr;
  const int points = w != nullptr ? 1 : 0;
  const Message counted{.hops = 2, .vectors = points + 1, .scalars = of_samples ? 1 : 0};
  Message carried = counted;
  if (remembered) carried = {.hops = 2, .vectors = points, .scalars = 2};
  if (crew != nullptr) carried.vectors = 0;
  Mail& mail = outbox(carried);
  if (w != nullptr && crew == nullptr) copy_block(*w, mail.vectors[0]);
  if (of_samples) {
    for (Index k = 0; k < block_.size(); ++k) {
      mail.scalars(own(k), 0) = y.scale[k];
      if (remembered) mail.scalars(own(k), 1) = static_cast<double>(y.sample[k]);
    }
  }
  if (!of_samples) write_out(y, mail.vectors[points], own(0));
  if (of_samples && !remembered && crew == nullptr) copy_rows(y, mail.vectors[points], own(0));
  const Delivery received = exchange(carried, counted);
  const Reach scales = view(received, received.mail->scalars, carried.scalars);
  if (remembered) {
    memory.look_up(y, scales, out);
  } else if (crew != nullptr) {
    crew->multiply_pairs(y.row.data(), out);
  } else {
    pairwise(view(received, received.mail->vectors[points], vectors_.columns), out);
  }
  for (Index k = 0; of_samples && !remembered && k < block_.size(); ++k) {
    for (Index e = scales.pattern.offset[k]; e < scales.pattern.offset[k + 1]; ++e) {
      out[e] *= y.scale[k] * *scales.row(e);
    }
  }
  if (w == nullptr) return {};
  if (crew == nullptr) return with_tiles(view(received, received.mail->vectors[0], vectors_.columns));
  Reach points_of_all = scales;
  points_of_all.rows = nullptr;
  points_of_all.columns = vectors_.columns;
  points_of_all.element = vectors_.element;
  points_of_all.products = &crew->times(*w);
  return points_of_all;
}

// All workers remember, or none. None of this is charged: an agent keeps what it is sent in any case.
void Network::remember(const SampleRows& samples, SampleProducts& memory) {
  memory.state_ = SampleProducts::State::none;
  if (!memory.is_open()) return;
  const auto charged = traffic_;
  std::vector<double> counts(block_.size());
  for (Index k = 0; k < block_.size(); ++k) counts[k] = static_cast<double>(std::max<Index>(1, samples.count(k)));
  memory.lay_out(counts, reach(counts));
  std::array<double, 2> all = {};  // objections, and the most samples of an agent
  const auto vote = [&](std::span<double> sum) {
    sum[0] += memory.objects(static_cast<double>(block_.size()) / static_cast<double>(agents())) ? 1 : 0;
    sum[1] = std::max(sum[1], static_cast<double>(memory.most_));
  };
  collective_ != nullptr ? collective_->in_order(all, vote) : vote(all);
  if (all[0] == 0) fill(samples, memory, static_cast<Index>(all[1]));
  traffic_ = charged;
}

// Every agent sends its samples one by one, and multiplies each that arrives by all of its own.
void Network::fill(const SampleRows& samples, SampleProducts& memory, Index most) {
  memory.make();
  const Message message{.hops = 2, .vectors = 1};
  std::vector<const void*> own_samples(block_.size());
  std::vector<double> products(two_hop_.entries());
  Gradients sent;
  sent.row.resize(block_.size());
  sent.element = vectors_.element;
  // Of an agent that has fewer, the last one again, which nobody keeps.
  const auto row = [&](Index k, Index n) { return samples.sample_row(k, std::min(n, memory.count_[k] - 1)); };
  for (Index m = 0; m < most; ++m) {
    for (Index k = 0; k < block_.size(); ++k) sent.row[k] = row(k, m);
    copy_rows(sent, outbox(message).vectors[0], own(0));
    begin(message);
    const Delivery received = deliver(message, finish(message));
    const Reach others = with_tiles(view(received, received.mail->vectors[0], vectors_.columns));
    for (Index n = 0; n < memory.most_; ++n) {
      for (Index k = 0; k < block_.size(); ++k) own_samples[k] = row(k, n);
      multiply_pairs(others, own_samples.data(), products.data());
      memory.keep(n, m, products);
    }
  }
}

Reach Network::reach(std::span<const double> x, Index width) {
  prepare_two_hop();
  const Message message{.hops = 2, .scalars = static_cast<int>(width)};
  Rows& mail = outbox(message).scalars;
  for (Index k = 0; k < block_.size(); ++k) {
    std::copy_n(x.begin() + k * width, width, mail.row(own(k)).begin());
  }
  const Delivery received = exchange(message);
  return view(received, received.mail->scalars, width);
}

void Network::pairwise(const Reach& x, std::span<double> out) {
  Reach list = x;
  const bool is_symmetric = door_ == nullptr;  // behind a door agents may have got different rows of each other
  if (is_symmetric) {
    if (!mirrored_.is_made()) {
      mirrored_ = PairTiles(far_.view(), block_.size(), mirror_.data(), vectors_, neighbourhoods());
    }
    list.products = &mirrored_;
  }
  polyhop::pairwise(list, own(0), own_rows_, out);
}

}  // namespace polyhop
