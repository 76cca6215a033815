// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
// Graphs and the weights along their links.
#include <algorithm>
#include <cmath>
#include <memory>

#include "guest.hpp"
#include "parts.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/graph/spectrum.hpp"
#include "polyhop/graph/topology.hpp"
#include "polyhop/report/network_svg.hpp"

namespace polyhop::python {
namespace {

// A file's messages name keys as "graph.agents"; here these are arguments.
template <class F>
auto with_arguments(F f) {
  try {
    return f();
  } catch (const InputError& e) {
    const std::string path = e.path().starts_with("graph.") ? e.path().substr(6) : e.path();
    throw InputError(path, e.message(), 0, e.file());
  }
}

Graph made(const py::dict& options, std::uint64_t seed) {
  return with_arguments([&] {
    GraphOptions read = GraphOptions::fields().read(to_value(options, ""), "graph");
    return make_network(read, seed).graph;
  });
}

Graph from_edges(Index agents, const IntArray& edges) {
  if (edges.ndim() != 2 || edges.shape(1) != 2) throw InputError("edges", "expected pairs, an array of shape (n, 2)");
  std::vector<Edge> list;
  for (py::ssize_t e = 0; e < edges.shape(0); ++e) list.emplace_back(edges.at(e, 0), edges.at(e, 1));
  return Graph::from_edges(agents, list);
}

py::array edges_of(const Graph& graph) {
  py::array_t<std::int32_t> out({graph.edges(), Index{2}});
  Index e = 0;
  for (std::int32_t k = 0; k < graph.agents(); ++k) {
    for (const std::int32_t l : graph.neighbours(k)) {
      if (k > l) continue;
      out.mutable_at(e, 0) = k;
      out.mutable_at(e, 1) = l;
      ++e;
    }
  }
  return out;
}

NetworkGraph weighted(const Graph& graph, const std::string& rule) {
  return with_arguments([&] {
    if (!is_connected(graph)) {
      throw InputError("graph", "agent " + std::to_string(*unreachable_agent(graph)) +
                                    " cannot be reached from agent 0; every agent must reach every other");
    }
    return with_weights(graph, Codec<Weights>::read(Value(rule)));
  });
}

// Weights >= 0 keep every eigenvalue within [-1, 1]; negative ones need not.
void refuse_divergence(const CombinationMatrix& matrix, const std::string& argument) {
  if (std::ranges::all_of(matrix.rows().weight, [](double a) { return a >= 0; })) return;
  const Estimate gap = [&] {
    const py::gil_scoped_release unlocked;
    return spectral_gap(matrix);
  }();
  if (!gap.computed || gap.value >= -std::max(gap.tolerance, 1e-9)) return;
  throw InputError(argument,
                   "has the spectral gap " + shortest(std::round(1e6 * gap.value) / 1e6) +
                       ", expected one >= 0: agents that combine with these weights drift apart; take smaller "
                       "negative weights, or those of a rule, such as from_edges(...).best_constant()");
}

/// `argument`: the matrix's name in messages.
NetworkGraph from_rows(const IndexArray& offset, const IntArray& column, const Array& weight,
                       const std::string& argument) {
  SparseRows rows;
  for (py::ssize_t k = 0; k + 1 < offset.shape(0); ++k) {
    for (Index e = offset.at(k); e < offset.at(k + 1); ++e) rows.add(column.at(e), weight.at(e));
    rows.end_row();
  }
  return with_arguments([&] {
    if (const auto flaw = first_flaw(rows, Sign::any)) {
      throw InputError(argument, "entry [" + std::to_string(flaw->row) + ", " + std::to_string(flaw->column) +
                                     "]: " + flaw->message);
    }
    CombinationMatrix matrix(std::move(rows), Sign::any);
    refuse_divergence(matrix, argument);
    return NetworkGraph{pattern(matrix.rows()), matrix};
  });
}

py::tuple rows_of(const NetworkGraph& network) {
  const SparseRows& rows = network.matrix.rows();
  py::array_t<Index> offset(static_cast<py::ssize_t>(rows.offset.size()), rows.offset.data());
  py::array_t<std::int32_t> column(static_cast<py::ssize_t>(rows.column.size()), rows.column.data());
  return py::make_tuple(copied(rows.weight), column, offset);
}

std::string picture(const Graph& graph, const std::string& title) {
  NetworkPicture drawn{0, graph.agents(), {}};
  for (std::int32_t k = 0; k < graph.agents(); ++k) {
    for (const std::int32_t l : graph.neighbours(k)) {
      if (k < l) drawn.edges.emplace_back(k, l);
    }
  }
  return network_svg(drawn, title);
}

}  // namespace

void add_networks(py::module_& module) {
  py::class_<Graph, std::shared_ptr<Graph>>(module, "Graph")
      .def_property_readonly("agents", &Graph::agents)
      .def("edges", &edges_of)
      .def("svg", &picture);
  py::class_<NetworkGraph, std::shared_ptr<NetworkGraph>>(module, "Network")
      .def_property_readonly("agents", [](const NetworkGraph& n) { return n.matrix.agents(); })
      .def_property_readonly("graph", [](const NetworkGraph& n) { return n.graph; })
      .def("csr", &rows_of)
      .def("spectral_gap", [](const NetworkGraph& n) {
        const py::gil_scoped_release unlocked;
        const Estimate gap = spectral_gap(n.matrix);
        if (!gap.computed) throw Error(gap.reason);
        return gap.value;
      });
  module.def("make_graph", &made, py::arg("options"), py::arg("seed"));
  module.def("graph_from_edges", &from_edges);
  module.def("weighted", &weighted);
  module.def("network_from_csr", &from_rows);
}

}  // namespace polyhop::python
