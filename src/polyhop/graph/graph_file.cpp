// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/graph/graph_file.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/core/input_file.hpp"
#include "polyhop/core/memory_limit.hpp"
#include "polyhop/core/value.hpp"
#include "polyhop/graph/graph_text.hpp"

namespace polyhop {
namespace {

using Entry = GraphText::Entry;

[[noreturn]] void refuse(const std::string& message, Index line = 0) {
  throw InputError("graph.file", message, static_cast<int>(line));
}

std::string read_text(const std::string& file, HeldMemory& held) {
  const std::uintmax_t size = input_file_size(file, 1'000'000'000);
  held.add(static_cast<double>(size));
  std::ifstream in(file, std::ios::binary);
  std::string text(size, '\0');
  if (!in || !in.read(text.data(), static_cast<std::streamsize>(size))) refuse("cannot be read");
  return text;
}

GraphText parse(const std::string& file) {
  std::string kind = std::filesystem::path(file).extension().string();
  std::transform(kind.begin(), kind.end(), kind.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto is = [&](std::initializer_list<const char*> kinds) {
    return std::any_of(kinds.begin(), kinds.end(), [&](const char* k) { return kind == k; });
  };
  if (!is({".txt", ".edges", ".csv", ".graphml", ".xml", ".mtx", ".mat", ".dense"})) {
    refuse("found extension " + polyhop::in_quotes(kind) +
           ", expected .txt, .edges or .csv (edge list), .graphml or .xml (GraphML), .mtx (Matrix Market), .mat or "
           ".dense (dense matrix)");
  }
  HeldMemory held;
  const std::string text = read_text(file, held);
  if (text.empty()) refuse("is empty");
  if (is({".graphml", ".xml"})) return parse_graphml(text);
  if (is({".mtx"})) return parse_matrix_market(text);
  if (is({".mat", ".dense"})) return parse_dense(text);
  return parse_edge_list(text, is({".csv"}));
}

/// Reconciles the number of agents in the file and in the options.
void settle_agents(GraphText& graph, std::optional<Index> agents) {
  if (graph.agents == 0) refuse("holds no agents");
  if (agents && graph.counted && *agents != graph.agents) {
    refuse("has " + std::to_string(graph.agents) + " agents, but graph.agents is " + std::to_string(*agents));
  }
  if (agents && !graph.counted) {
    for (const Entry& e : graph.entries) {
      if (std::max(e.row, e.column) < *agents) continue;
      refuse("found agent " + std::to_string(std::max(e.row, e.column)) + ", expected 0 to " +
                 std::to_string(*agents - 1) + " as graph.agents is " + std::to_string(*agents),
             e.line);
    }
    graph.agents = *agents;
  }
  // Checked before memory is allocated: a stray number must not cost gigabytes.
  const auto links = static_cast<Index>(graph.entries.size());
  if (links < graph.agents - 1) {
    refuse("has " + std::to_string(graph.agents) + " agents but only " + std::to_string(links) +
           " links, too few to connect them; agents are numbered from 0 without gaps");
  }
}

/// Each link in a list becomes two entries of A.
void mirror(MeteredVector<Entry>& entries) {
  const std::size_t links = entries.size();
  for (std::size_t i = 0; i < links; ++i) {
    const Entry e = entries[i];
    if (e.row != e.column) entries.push_back({e.column, e.row, e.line, e.value});
  }
}

std::string pair_text(const Entry& e) {
  return "row " + std::to_string(e.row) + ", column " + std::to_string(e.column) + " (counted from 0)";
}

/// Checks repetitions: repeated links must agree, entries of a matrix must not repeat.
void check_repetition(const Entry& first, const Entry& second, bool matrix) {
  if (!matrix && first.value == second.value) return;
  refuse(pair_text(first) + " is " + shortest(first.value) + " in line " + std::to_string(first.line) + " and " +
             shortest(second.value) + " here" + (matrix ? ", expected it once" : ", expected a symmetric matrix"),
         second.line);
}

/// 1 minus the weights of the row, or 0 if that is rounding.
double remainder_of(const SparseRows& a, Index first) {
  double sum = 0;
  for (Index e = first; e < a.entries(); ++e) sum += a.weight[e];
  return std::abs(1 - sum) < 1e-12 ? 0 : 1 - sum;
}

/// A from the sorted entries of a file; for lists of links the diagonal follows from the rest.
SparseRows assemble(const GraphText& graph) {
  SparseRows a;
  std::size_t i = 0;
  for (Index k = 0; k < graph.agents; ++k) {
    const auto first = a.entries();
    Index own = -1;  // position of the diagonal
    Index place = first;
    for (; i < graph.entries.size() && graph.entries[i].row == k; ++i) {
      const Entry& e = graph.entries[i];
      if (i > 0 && graph.entries[i - 1].row == k && graph.entries[i - 1].column == e.column) {
        check_repetition(graph.entries[i - 1], e, graph.matrix);
        continue;
      }
      if (e.column == k) own = a.entries();
      if (e.column == k || e.value != 0) a.add(e.column, e.value);
      if (e.column < k) place = a.entries();
    }
    if (own < 0 && !graph.matrix) {
      const double rest = remainder_of(a, first);
      a.column.insert(a.column.begin() + place, static_cast<std::int32_t>(k));
      a.weight.insert(a.weight.begin() + place, rest);
    }
    a.end_row();
  }
  return a;
}

Index line_of(const GraphText& graph, Index row, Index column) {
  const auto found = std::find_if(graph.entries.begin(), graph.entries.end(),
                                  [&](const Entry& e) { return e.row == row && e.column == column; });
  return found == graph.entries.end() ? 0 : found->line;
}

NetworkGraph given_network(GraphText graph) {
  for (const Entry& e : graph.entries) {
    if (std::isnan(e.value)) refuse("no weight here, but graph.weights is \"given\"", e.line);
  }
  if (!graph.matrix) mirror(graph.entries);
  std::sort(graph.entries.begin(), graph.entries.end(), [](const Entry& x, const Entry& y) {
    return std::tie(x.row, x.column, x.line) < std::tie(y.row, y.column, y.line);
  });
  SparseRows a = assemble(graph);
  if (const auto flaw = first_flaw(a, Sign::non_negative)) {
    const Index line = line_of(graph, flaw->row, flaw->column);
    const bool remainder = !graph.matrix && flaw->row == flaw->column && line == 0;
    refuse(flaw->message + (remainder ? " (the diagonal is 1 minus the row's other weights)" : ""), line);
  }
  CombinationMatrix matrix(std::move(a));
  return {pattern(matrix.rows()), std::move(matrix)};
}

NetworkGraph plain_network(const GraphText& text, Weights weights) {
  const HeldMemory held(static_cast<double>(text.entries.size() * sizeof(Edge)));
  std::vector<Edge> edges;
  edges.reserve(text.entries.size());
  for (const Entry& e : text.entries) {
    const bool absent = text.matrix && e.value == 0;
    if (e.row != e.column && !absent) edges.emplace_back(e.row, e.column);
  }
  Graph graph = Graph::from_edges(text.agents, edges);
  if (const auto k = unreachable_agent(graph)) {
    refuse("not connected: agent " + std::to_string(*k) + " cannot be reached from agent 0");
  }
  return with_weights(std::move(graph), weights);
}

}  // namespace

NetworkGraph read_network(const std::string& file, std::optional<Index> agents, Weights weights) {
  try {
    return with_enough_memory("graph.file", [&] {
      GraphText text = parse(file);
      settle_agents(text, agents);
      return weights == Weights::given ? given_network(std::move(text)) : plain_network(text, weights);
    });
  } catch (const InputError& e) {
    throw e.at("graph.file", 0).in_file(file);
  }
}

}  // namespace polyhop
