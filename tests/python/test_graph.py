# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs and networks."""

import pickle

import networkx
import numpy as np
import pytest
from scipy import sparse

import polyhop as ph


def test_every_topology_has_a_function():
    made = {"ring": (6,), "path": (6,), "star": (6,), "complete": (6,), "grid": (2, 3), "torus": (3, 3), "hypercube": (8,),
            "binary_tree": (6,), "erdos_renyi": (8, 0.5), "random_geometric": (8, 0.6), "watts_strogatz": (8, 4, 0.2),
            "barabasi_albert": (8, 2), "random_regular": (8, 3), "exponential": (8,), "stochastic_block": (8, 2, 0.9, 0.5)}
    names = {name.replace("-", "_") for name in ph._engine.tables()["topologies"]} - {"file"}
    assert set(made) == names
    for name, arguments in made.items():
        graph = getattr(ph.graph, name)(*arguments)
        assert networkx.is_connected(graph.to_networkx()) and graph.agents == graph.to_networkx().number_of_nodes()
    assert len(ph.graph.ring(6).edges) == 6 and len(ph.graph.grid(2, 3).edges) == 7
    np.testing.assert_array_equal(ph.graph.erdos_renyi(9, 0.5, seed=4).edges, ph.graph.erdos_renyi(9, p=0.5, seed=4).edges)


def test_weights_are_those_of_their_formula():
    graph = ph.graph.star(5)
    A = graph.metropolis().matrix.toarray()
    np.testing.assert_allclose(A[0], [1 / 5] * 5)
    np.testing.assert_allclose(A[1], [1 / 5, 4 / 5, 0, 0, 0])
    np.testing.assert_allclose(graph.lazy().matrix.toarray(), (np.eye(5) + A) / 2)
    for name in ("max_degree", "best_constant", "fastest_mixing"):
        matrix = getattr(graph, name)().matrix.toarray()
        np.testing.assert_allclose(matrix.sum(axis=1), 1)
    gap = 1 - np.sort(np.abs(np.linalg.eigvalsh(A)))[-2]
    assert np.isclose(graph.metropolis().spectral_gap, gap)


def test_networkx_and_back():
    G = networkx.relabel_nodes(networkx.petersen_graph(), {k: f"node {k}" for k in range(10)})
    graph = ph.graph.from_networkx(G)
    assert networkx.is_isomorphic(graph.to_networkx(), G)
    weighted = graph.metropolis().to_networkx()
    assert np.isclose(weighted[0][1]["weight"], 0.25) and np.isclose(weighted[0][0]["weight"], 0.25)
    with pytest.raises(ph.InputError, match="to_undirected"):
        ph.graph.from_networkx(networkx.DiGraph([(0, 1)]))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.coo_matrix])
def test_a_matrix_becomes_a_network(kind):
    A = ph.graph.erdos_renyi(7, 0.6).metropolis().matrix.toarray()
    network = ph.graph.from_matrix(kind(A))
    np.testing.assert_array_equal(network.matrix.toarray(), A)


@pytest.mark.parametrize("matrix, message", [
    ([[1, 0], [0, 1]], "reach|connected"), ([[0.5, 0.4], [0.4, 0.5]], "sum"), ([[0.9, 0.1], [0.2, 0.8]], "symmetric"),
    (np.ones((2, 3)), "square"), ([[np.nan, 1], [1, 0]], "finite"), ([["a", "b"], ["c", "d"]], "dtype"), (3.0, "square")])
def test_what_is_no_combination_matrix_is_refused(matrix, message):
    with pytest.raises(ph.InputError, match=message):
        ph.graph.from_matrix(matrix)


@pytest.mark.parametrize("make, message", [
    (lambda: ph.graph.ring(0), "agents"), (lambda: ph.graph.ring(2.5), "agents"), (lambda: ph.graph.ring("a"), "agents"),
    (lambda: ph.graph.erdos_renyi(8, 2.0), "^p: "), (lambda: ph.graph.erdos_renyi(8, 0.5, seed=-1), "seed"),
    (lambda: ph.graph.from_edges(3, [(0, 1)]).metropolis(), "agent 2 cannot be reached"),
    (lambda: ph.graph.from_edges(3, [(0, 7)]), "outside"), (lambda: ph.graph.from_edges(3, [(0, 1, 2)]), "pairs"),
    (lambda: ph.graph.from_edges(3, [(0.5, 1)]), "pairs"), (lambda: ph.graph.make("rong", agents=3), "did you mean 'ring'"),
    (lambda: ph.graph.ring(3).weighted("metropolitan"), "metropolis")])
def test_bad_graphs_are_refused(make, message):
    with pytest.raises(ph.InputError, match=message):
        make()


def test_networks_are_drawn():
    network = ph.graph.erdos_renyi(12, 0.4).metropolis()
    assert network.draw() is not None and ph.graph.ring(5).draw() is not None
    assert network._repr_svg_().startswith("<svg")


def test_negative_weights_are_taken_where_agents_do_not_drift_apart():
    best = ph.graph.star(10).best_constant()
    assert best.matrix.min() < 0 < best.spectral_gap
    np.testing.assert_array_equal(ph.graph.from_matrix(best.matrix).matrix.toarray(), best.matrix.toarray())
    with pytest.raises(ph.InputError, match=r"network: has the spectral gap -1, expected one >= 0: .*best_constant"):
        ph.solve(ph.least_squares(np.eye(2), np.ones(2), agents=2), [[1.5, -0.5], [-0.5, 1.5]])


def test_what_networks_print():
    net = ph.graph.ring(6).metropolis()
    assert repr(net) == "<polyhop.Network: ring, 6 agents, 6 links, metropolis weights, spectral gap 0.333>"
    assert repr(ph.graph.ring(6)) == repr(net.graph) == "<polyhop.Graph: ring, 6 agents, 6 links>"
    assert repr(ph.graph.from_matrix(net.matrix)) == "<polyhop.Network: 6 agents, 6 links, spectral gap 0.333>"
    for drawn in (net, net.graph):
        assert repr(pickle.loads(pickle.dumps(drawn))) == repr(drawn)
    assert "2 agents, 1 link, " in repr(ph.graph.path(2).metropolis())
    assert "gap" not in repr(ph.graph.ring(600).metropolis())  # printing is quick
