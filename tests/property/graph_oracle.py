# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Compares polyhop's graphs and combination matrices with networkx and NumPy.

Run: /usr/bin/python3 graph_oracle.py PATH_TO_graph_dump
"""
import itertools
import json
import math
import subprocess
import sys
import unittest

import networkx as nx
import numpy as np

DUMP = None


def dump(*requests, brief=False):
    """One record for each request, a dict of [graph] keys."""
    words = ["--brief"] if brief else []
    for i, request in enumerate(requests):
        words += ["--"] if i else []
        words += [f"{key}={value}" for key, value in request.items()]
    out = subprocess.run([DUMP, *words], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def graph_of(record):
    graph = nx.empty_graph(record["agents"])
    graph.add_edges_from(record["edges"])
    return graph


def matrix_of(record):
    a = np.zeros((record["agents"], record["agents"]))
    for k, l, value in record["matrix"]:
        a[k, l] = value
    return a


def named(topology, **keys):
    return {"topology": topology, **keys}


def exponential_graph(agents):
    graph = nx.empty_graph(agents)
    for k, j in itertools.product(range(agents), range(agents.bit_length())):
        if 2**j < agents:
            graph.add_edge(k, (k + 2**j) % agents)
    return graph


def numbered_grid(rows, columns, periodic):
    graph = nx.grid_2d_graph(rows, columns, periodic=periodic)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return nx.relabel_nodes(graph, {(r, c): r * columns + c for r in range(rows) for c in range(columns)})


# name, request, the networkx graph with the same agent numbers
DETERMINISTIC = (
    [(named("ring", agents=n), nx.path_graph(n) if n < 3 else nx.cycle_graph(n)) for n in (1, 2, 3, 4, 5, 17)]
    + [(named("path", agents=n), nx.path_graph(n)) for n in (1, 2, 9)]
    + [(named("star", agents=n), nx.star_graph(n - 1)) for n in (1, 2, 8)]
    + [(named("complete", agents=n), nx.complete_graph(n)) for n in (1, 2, 7)]
    + [(named("grid", rows=r, columns=c), numbered_grid(r, c, False)) for r, c in ((1, 1), (1, 4), (3, 5), (2, 2))]
    + [(named("torus", rows=r, columns=c), numbered_grid(r, c, True)) for r, c in ((1, 1), (1, 4), (2, 3), (3, 3), (4, 5))]
    + [(named("binary-tree", agents=n), nx.full_rary_tree(2, n)) for n in (1, 2, 7, 12)]
    + [(named("exponential", agents=n), exponential_graph(n)) for n in (1, 2, 3, 6, 16, 21)]
)

RANDOM = [
    named("erdos-renyi", agents=30, probability=0.2),
    named("random-geometric", agents=40, radius=0.3),
    named("watts-strogatz", agents=30, degree=4, rewire=0.3),
    named("barabasi-albert", agents=30, attach=2),
    named("random-regular", agents=20, degree=3),
    named("stochastic-block", agents=30, blocks=3, within=0.6, between=0.1),
]


def laplacian(graph):
    return nx.laplacian_matrix(graph, nodelist=range(len(graph))).toarray().astype(float)


def metropolis(graph):
    a = np.zeros((len(graph), len(graph)))
    for k, l in graph.edges:
        a[k, l] = a[l, k] = 1 / (1 + max(graph.degree[k], graph.degree[l]))
    return a + np.diag(1 - a.sum(axis=1))


def max_degree(graph):
    most = max(dict(graph.degree).values())
    return np.eye(len(graph)) - laplacian(graph) / (1 + most)


def best_constant(graph):
    values = np.linalg.eigvalsh(laplacian(graph))
    return np.eye(len(graph)) - 2 / (values[1] + values[-1]) * laplacian(graph)


def lazy(graph):
    return (np.eye(len(graph)) + metropolis(graph)) / 2


RULES = {"metropolis": metropolis, "max-degree": max_degree, "best-constant": best_constant, "lazy": lazy}


def gap_of(a):
    agents = len(a)
    return 1 - np.abs(np.linalg.eigvalsh(a - np.ones((agents, agents)) / agents)).max() if agents > 1 else 1.0


class Topologies(unittest.TestCase):
    def test_deterministic_topologies_have_the_links_of_networkx(self):
        for (request, expected), record in zip(DETERMINISTIC, dump(*[r for r, _ in DETERMINISTIC])):
            with self.subTest(request):
                self.assertTrue(nx.utils.graphs_equal(graph_of(record), expected))

    def test_hypercube_is_networkx_up_to_names(self):
        for d in (0, 1, 3, 4):
            (record,) = dump(named("hypercube", agents=2**d))
            expected = nx.hypercube_graph(d) if d else nx.empty_graph(1)
            self.assertTrue(nx.is_isomorphic(graph_of(record), expected))

    def test_random_topologies_are_simple_and_connected(self):
        for request in RANDOM:
            for record in dump(*[{**request, "run_seed": s} for s in range(30)], brief=True):
                graph = graph_of(record)
                with self.subTest(request):
                    self.assertTrue(nx.is_connected(graph))
                    self.assertEqual(nx.number_of_selfloops(graph), 0)
                    self.assertEqual(graph.number_of_edges(), len(record["edges"]))

    def test_seeds_change_random_graphs_and_the_graph_seed_fixes_them(self):
        for request in RANDOM:
            free = dump(*[{**request, "run_seed": s} for s in (1, 2, 1)], brief=True)
            self.assertNotEqual(free[0]["edges"], free[1]["edges"])
            self.assertEqual(free[0]["edges"], free[2]["edges"])
            fixed = dump(*[{**request, "run_seed": s, "seed": 1} for s in (5, 6)], brief=True)
            self.assertEqual(fixed[0]["edges"], free[0]["edges"])
            self.assertEqual(fixed[1]["edges"], free[0]["edges"])

    def mean_links(self, request, seeds):
        records = dump(*[{**request, "run_seed": s} for s in range(seeds)], brief=True)
        return sum(r["links"] for r in records) / seeds

    def assert_binomial(self, request, pairs, seeds=300):
        """Dense enough to be connected in almost every draw, so that redrawing does not bias the count."""
        mean = sum(n * p for n, p in pairs)
        sigma = math.sqrt(sum(n * p * (1 - p) for n, p in pairs) / seeds)
        self.assertLess(abs(self.mean_links(request, seeds) - mean), 5 * sigma)

    def test_erdos_renyi_has_the_expected_number_of_links(self):
        self.assert_binomial(named("erdos-renyi", agents=60, probability=0.3), [(60 * 59 / 2, 0.3)])
        self.assert_binomial(named("erdos-renyi", agents=40, probability=0.9), [(40 * 39 / 2, 0.9)])

    def test_stochastic_block_has_the_expected_number_of_links(self):
        request = named("stochastic-block", agents=60, blocks=3, within=0.7, between=0.2)
        self.assert_binomial(request, [(3 * 190, 0.7), (60 * 59 / 2 - 3 * 190, 0.2)])
        for record in dump(named("stochastic-block", agents=9, blocks=3, within=1, between=0.2), brief=True):
            inside = [(k, l) for k, l in record["edges"] if k // 3 == l // 3]
            self.assertEqual(len(inside), 9)

    def test_every_pair_of_erdos_renyi_is_equally_likely(self):
        seeds, agents, p = 2000, 6, 0.7
        count = np.zeros((agents, agents))
        # Draws that are not connected are left out by both sides.
        for record in dump(*[{**named("erdos-renyi", agents=agents, probability=p), "run_seed": s} for s in range(seeds)], brief=True):
            for k, l in record["edges"]:
                count[k, l] += 1
        frequency = count[np.triu_indices(agents, 1)] / seeds
        self.assertLess(np.ptp(frequency), 10 * math.sqrt(p * (1 - p) / seeds))

    def test_random_geometric_has_the_expected_number_of_links(self):
        # The probability that two points of the unit square are within r (r <= 1).
        r, agents, seeds = 0.45, 40, 400
        p = math.pi * r**2 - 8 / 3 * r**3 + r**4 / 2
        records = dump(*[{**named("random-geometric", agents=agents, radius=r), "run_seed": s} for s in range(seeds)], brief=True)
        links = np.array([record["links"] for record in records])
        self.assertLess(abs(links.mean() - agents * (agents - 1) / 2 * p), 5 * links.std() / math.sqrt(seeds))

    def test_watts_strogatz_keeps_the_number_of_links_and_rewires_as_often_as_asked(self):
        agents, degree, p, seeds = 100, 6, 0.25, 50
        ring = {frozenset((k, (k + j) % agents)) for k in range(agents) for j in range(1, degree // 2 + 1)}
        kept = 0
        for record in dump(*[{**named("watts-strogatz", agents=agents, degree=degree, rewire=p), "run_seed": s} for s in range(seeds)], brief=True):
            self.assertEqual(record["links"], agents * degree // 2)
            kept += sum(frozenset(e) in ring for e in record["edges"])
        links = agents * degree // 2 * seeds
        # A moved link falls back on the ring with probability of about degree/agents.
        expected = 1 - p * (1 - degree * p / agents)
        self.assertLess(abs(kept / links - expected), 0.005 + 5 * math.sqrt(p * (1 - p) / links))
        (unmoved,) = dump(named("watts-strogatz", agents=12, degree=4, rewire=0))
        self.assertTrue(nx.utils.graphs_equal(graph_of(unmoved), nx.watts_strogatz_graph(12, 4, 0)))

    def test_barabasi_albert_has_the_links_and_the_hubs_of_networkx(self):
        agents, attach, seeds = 300, 3, 60
        records = dump(*[{**named("barabasi-albert", agents=agents, attach=attach), "run_seed": s} for s in range(seeds)], brief=True)
        hubs = []
        for record in records:
            graph = graph_of(record)
            self.assertEqual(record["links"], attach * (agents - attach))
            self.assertGreaterEqual(min(dict(graph.degree).values()), 1)
            hubs.append(max(dict(graph.degree).values()))
        theirs = [max(dict(nx.barabasi_albert_graph(agents, attach, seed=s).degree).values()) for s in range(seeds)]
        spread = math.sqrt((np.var(hubs) + np.var(theirs)) / seeds)
        self.assertLess(abs(np.mean(hubs) - np.mean(theirs)), 5 * spread)

    def test_random_regular_graphs_are_regular(self):
        for agents, degree in ((1, 0), (2, 1), (5, 2), (8, 3), (9, 4), (10, 7), (7, 6), (12, 6), (50, 5)):
            for record in dump(*[{**named("random-regular", agents=agents, degree=degree), "run_seed": s} for s in range(20)], brief=True):
                self.assertEqual(set(dict(graph_of(record).degree).values()), {degree})

    def test_all_cubic_graphs_on_six_agents_turn_up_in_proportion(self):
        # 60 labelled prisms and 10 labelled K_{3,3}, equally likely: 1/7 is bipartite, sigma is 0.011.
        records = dump(*[{**named("random-regular", agents=6, degree=3), "run_seed": s} for s in range(1000)], brief=True)
        bipartite = sum(nx.is_bipartite(graph_of(r)) for r in records) / 1000
        self.assertLess(abs(bipartite - 1 / 7), 5 * math.sqrt(1 / 7 * 6 / 7 / 1000))


class Matrices(unittest.TestCase):
    def cases(self):
        requests = [r for r, _ in DETERMINISTIC if r.get("agents", 2) > 1 and r.get("rows", 2) * r.get("columns", 2) > 1]
        return requests + [{**r, "run_seed": s} for r in RANDOM for s in range(5)]

    def test_weight_rules_are_the_formulas(self):
        for name, rule in RULES.items():
            requests = [{**r, "weights": name} for r in self.cases()]
            for request, record in zip(requests, dump(*requests)):
                with self.subTest(request):
                    np.testing.assert_allclose(matrix_of(record), rule(graph_of(record)), atol=1e-12)

    def test_matrices_are_symmetric_and_doubly_stochastic(self):
        for name in (*RULES, "fastest-mixing"):
            for record in dump(*[{**r, "weights": name} for r in self.cases()[::5]]):
                a = matrix_of(record)
                np.testing.assert_array_equal(a, a.T)
                np.testing.assert_allclose(a.sum(axis=0), 1, atol=1e-12)
                if name != "best-constant":
                    self.assertGreaterEqual(a.min(), 0)

    def test_fastest_mixing_beats_the_other_non_negative_rules(self):
        requests = [{**r, "weights": "fastest-mixing", "run_seed": 3} for r in RANDOM]
        for request, record in zip(requests, dump(*requests)):
            graph = graph_of(record)
            full = graph_of(dump({**request, "weights": "metropolis"})[0])
            self.assertTrue(set(graph.edges) <= set(full.edges))
            best = max(gap_of(metropolis(full)), gap_of(max_degree(full)), gap_of(lazy(full)))
            self.assertGreater(gap_of(matrix_of(record)), best)

    def test_fastest_mixing_is_near_known_optima(self):
        # Path: 1/2 everywhere (Boyd et al. 2006). Star of n leaves: 1/n. Ring of 4: 1/3.
        for request, gap in ((named("path", agents=4), 1 - math.cos(math.pi / 4)), (named("star", agents=5), 0.25),
                             (named("ring", agents=4), 2 / 3), (named("complete", agents=5), 1.0)):
            (record,) = dump({**request, "weights": "fastest-mixing"})
            self.assertLess(gap - record["gap"], 2e-3)
            self.assertLessEqual(record["gap"], gap + 1e-12)

    def test_uniform_is_one_over_the_number_of_agents(self):
        (record,) = dump(named("complete", agents=6, weights="uniform"))
        np.testing.assert_array_equal(matrix_of(record), np.full((6, 6), 1 / 6))

    def test_spectral_gap_diameter_and_two_hop_agree_with_numpy_and_networkx(self):
        for request, record in zip(self.cases(), dump(*self.cases())):
            with self.subTest(request):
                a = matrix_of(record)
                b = a.T @ a
                self.assertAlmostEqual(record["gap"], gap_of(a), delta=1e-12)
                self.assertEqual(record["diameter"], [nx.diameter(graph_of(record))] * 2)
                self.assertEqual(record["two_hop_entries"], np.count_nonzero(b))
                root = np.sqrt(np.diag(b))
                scale = np.linalg.eigvalsh(b / np.outer(root, root))[-1]
                self.assertGreaterEqual(record["two_hop_scale"], scale * (1 - 1e-14))
                self.assertLessEqual(record["two_hop_scale"], scale * (1 + 1e-3))

    def test_lanczos_agrees_with_numpy_where_it_takes_over(self):
        requests = [named("erdos-renyi", agents=700, probability=0.02), named("barabasi-albert", agents=1100, attach=3),
                    named("complete", agents=600, weights="uniform"), named("star", agents=1200, weights="best-constant"),
                    named("random-regular", agents=1200, degree=6, weights="best-constant"),
                    named("torus", rows=35, columns=35, weights="best-constant")]
        for request, record in zip(requests, dump(*requests)):
            with self.subTest(request):
                a = matrix_of(record)
                self.assertLess(abs(record["gap"] - gap_of(a)), max(record["gap_tolerance"], 1e-12) + 1e-12)
                self.assertLessEqual(record["gap_tolerance"], 1e-6)
                if request.get("weights") == "best-constant":
                    np.testing.assert_allclose(a, best_constant(graph_of(record)), atol=1e-9)
                if request.get("weights") is None:
                    root = np.sqrt((a * a).sum(axis=0))
                    scale = np.linalg.eigvalsh(a @ a / np.outer(root, root))[-1]
                    self.assertGreaterEqual(record["two_hop_scale"], scale * (1 - 1e-14))
                    self.assertLessEqual(record["two_hop_scale"], scale * (1 + 1e-3))


if __name__ == "__main__":
    DUMP = sys.argv.pop(1)
    unittest.main(verbosity=2)
