// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/optimum/gathered_problem.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyhop/core/codec.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/problem/linear_problem.hpp"
#include "polyhop/problem/softmax_problem.hpp"

namespace polyhop::optimum {
namespace {

// What one agent has.
struct AgentData {
  double weight = 0;
  std::vector<double> targets;
  std::vector<double> values;         // of the features: all of them, or those that are not 0, sample by sample
  std::vector<std::int32_t> columns;  // of these values, where features are sparse
  std::vector<Index> lengths;         // how many values each sample then has
};

// The data of the agents here, encoded for the first process.
std::string told_data(const DataProblem& problem, const Block& here) {
  const Dataset& data = problem.data();
  MessageWriter out;
  out.add(here.size());
  for (Index k = 0; k < here.size(); ++k) {
    AgentData own;
    const Features h = data.features.widened(data.first(k), data.first(k + 1));
    for (Index n = 0; n < h.rows(); ++n) {
      const std::span<const double> values = h.is_sparse() ? h.values_of(n) : h.dense().row(n);
      own.values.insert(own.values.end(), values.begin(), values.end());
      if (!h.is_sparse()) continue;
      own.columns.insert(own.columns.end(), h.columns_of(n).begin(), h.columns_of(n).end());
      own.lengths.push_back(static_cast<Index>(values.size()));
    }
    out.add(here.agent(k));
    out.add(problem.weight(k));
    out.add(std::span(data.targets).subspan(data.first(k), data.samples(k)));
    out.add(own.values);
    out.add(own.columns);
    out.add(own.lengths);
  }
  return out.bytes();
}

// In order of the agents, whichever process sent them.
std::vector<AgentData> heard_data(std::vector<std::string> messages, Index agents) {
  std::vector<AgentData> out(agents);
  for (std::string& bytes : messages) {
    MessageReader in(std::move(bytes));
    for (auto left = in.take<Index>(); left > 0; --left) {
      AgentData& own = out.at(in.take<Index>());
      own.weight = in.take<double>();
      own.targets = in.take<std::vector<double>>();
      own.values = in.take<std::vector<double>>();
      own.columns = in.take<std::vector<std::int32_t>>();
      own.lengths = in.take<std::vector<Index>>();
    }
    in.end();
  }
  return out;
}

Features joined_dense(const std::vector<AgentData>& agents, Index samples, Index columns) {
  Rows rows(samples, columns);
  Index n = 0;
  for (const AgentData& own : agents) {
    for (auto at = own.values.begin(); at != own.values.end(); at += columns) {
      std::copy_n(at, columns, rows.row(n++).begin());
    }
  }
  return rows;
}

Features joined_sparse(const std::vector<AgentData>& agents, Index columns) {
  MeteredVector<Index> offset = {0};
  MeteredVector<std::int32_t> column;
  MeteredVector<double> value;
  for (const AgentData& own : agents) {
    for (const Index length : own.lengths) offset.push_back(offset.back() + length);
    column.insert(column.end(), own.columns.begin(), own.columns.end());
    value.insert(value.end(), own.values.begin(), own.values.end());
  }
  return Features::sparse(columns, std::move(offset), std::move(column), std::move(value));
}

}  // namespace

std::unique_ptr<DataProblem> gathered_problem(const DataProblem& problem, Collective& collective, const Block& here) {
  std::vector<std::string> messages = collective.to_first(told_data(problem, here));
  if (messages.empty()) return nullptr;
  const std::vector<AgentData> agents = heard_data(std::move(messages), problem.agents());
  LinearOptions options{.l2 = problem.l2(), .intercept = problem.intercept(), .penalties = problem.penalties()};
  Dataset out;
  out.offset = {0};
  for (const AgentData& own : agents) {
    options.weights.push_back(own.weight);
    out.targets.insert(out.targets.end(), own.targets.begin(), own.targets.end());
    out.offset.push_back(static_cast<Index>(out.targets.size()));
  }
  const Features& h = problem.data().features;
  out.features =
      h.is_sparse() ? joined_sparse(agents, h.columns()) : joined_dense(agents, out.offset.back(), h.columns());
  if (const auto* softmax = dynamic_cast<const SoftmaxProblem*>(&problem)) {
    return std::make_unique<SoftmaxProblem>(std::move(out), softmax->classes(), std::move(options));
  }
  const auto* linear = dynamic_cast<const LinearProblem*>(&problem);
  if (linear == nullptr) throw Error("there is no known way to find the optimum of these costs");
  // The loss belongs to the problem, which outlives this.
  const std::shared_ptr<const Loss> loss(std::shared_ptr<const Loss>(), &linear->loss());
  return std::make_unique<LinearProblem>(std::move(out), loss, std::move(options));
}

Reference shared(const Reference& found, Collective& collective) {
  MessageReader in(
      collective.from_first(message(found.value, found.accuracy, found.known, found.how, found.minimiser.has_value(),
                                    found.minimiser.value_or(std::vector<double>{}))));
  Reference out;
  out.value = in.take<double>();
  out.accuracy = in.take<double>();
  out.known = in.take<bool>();
  out.how = in.take<std::string>();
  const bool has_minimiser = in.take<bool>();
  auto minimiser = in.take<std::vector<double>>();
  if (has_minimiser) out.minimiser = std::move(minimiser);
  in.end();
  return out;
}

}  // namespace polyhop::optimum
