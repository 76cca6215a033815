# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs, and networks: graphs with the weights of a combination matrix along their links.

    net = polyhop.graph.erdos_renyi(8, p=0.4, seed=1).metropolis()
"""

import functools
import re

import numpy as np

from . import _engine
from ._choices import described, python_name
from ._messages import is_integer, no_attribute, refused, shown, suggesting

_WEIGHTS = {python_name(name): name for name in _engine.tables()["weights"] if name != "given"}
# The arguments of each topology, and their names in a file.
_ARGUMENTS = {
    "ring": {"agents": "agents"},
    "path": {"agents": "agents"},
    "star": {"agents": "agents"},
    "complete": {"agents": "agents"},
    "grid": {"rows": "rows", "columns": "columns"},
    "torus": {"rows": "rows", "columns": "columns"},
    "hypercube": {"agents": "agents"},
    "binary-tree": {"agents": "agents"},
    "erdos-renyi": {"agents": "agents", "p": "probability"},
    "random-geometric": {"agents": "agents", "radius": "radius"},
    "watts-strogatz": {"agents": "agents", "degree": "degree", "rewire": "rewire"},
    "barabasi-albert": {"agents": "agents", "attach": "attach"},
    "random-regular": {"agents": "agents", "degree": "degree"},
    "exponential": {"agents": "agents"},
    "stochastic-block": {"agents": "agents", "blocks": "blocks", "within": "within", "between": "between"},
}


class Graph:
    """The links between agents. Methods named after rules for weights, such as `metropolis()`, turn it into a network."""

    def __init__(self, handle, topology=None):
        #: The name of its topology, or None if it has none.
        self._handle, self.topology = handle, topology

    @property
    def agents(self):
        return self._handle.agents

    @property
    def edges(self):
        """An array (n, 2) of links k < l."""
        return self._handle.edges()

    def weighted(self, rule):
        """A network with weights by the name of a rule, as in a file: "metropolis", "best-constant", ..."""
        if not isinstance(rule, str):
            raise refused("rule", f"found {shown(rule)}, expected one of {', '.join(_WEIGHTS.values())}")
        return Network(_engine.weighted(self._handle, rule), self.topology, rule)

    def to_networkx(self):
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(range(self.agents))
        graph.add_edges_from(self.edges.tolist())
        return graph

    def draw(self, ax=None):
        """Draws it with Matplotlib, each agent with its number, and returns the axes."""
        return _draw(self, ax)

    def svg(self, title=""):
        return self._handle.svg(str(title))

    def _repr_svg_(self):
        return inline_svg(self) if self.agents <= 1000 else None

    def __repr__(self):
        kind = f"{self.topology}, " if self.topology else ""
        links = len(self.edges)
        return f"<polyhop.Graph: {kind}{self.agents} agents, {links} link{'' if links == 1 else 's'}>"

    def __reduce__(self):
        return _from_edges, (self.agents, self.edges, self.topology)


def _from_edges(agents, edges, topology):
    graph = from_edges(agents, edges)
    graph.topology = topology
    return graph


def inline_svg(graph, width=320):
    """The picture, sized for a notebook."""
    head, rest = graph.svg().split(">", 1)
    return re.sub(r' (width|height)="[^"]*"', "", head) + f' width="{width}">{rest}'


def _weigh(rule):
    def method(self):
        return self.weighted(rule)

    method.__name__ = python_name(rule)
    method.__qualname__ = f"Graph.{method.__name__}"
    method.__doc__ = f"A network with weights by the rule \"{rule}\"."
    return method


for _name, _rule in _WEIGHTS.items():
    setattr(Graph, _name, _weigh(_rule))


class Network:
    """A graph with the weights a_kl of a combination matrix: symmetric, with rows that add up to 1."""

    def __init__(self, handle, topology=None, weights=None):
        #: The names of its topology and of the rule for its weights, or None where there is none.
        self._handle, self.topology, self.weights = handle, topology, weights
        self._gap = None

    @property
    def agents(self):
        return self._handle.agents

    @property
    def graph(self):
        return Graph(self._handle.graph, self.topology)

    @property
    def edges(self):
        return self.graph.edges

    @property
    def matrix(self):
        """The weights as a SciPy CSR matrix."""
        from scipy.sparse import csr_matrix

        return csr_matrix(self._handle.csr(), shape=(self.agents, self.agents))

    @property
    def spectral_gap(self):
        """1 - max(|lambda_2|, |lambda_K|): the progress towards consensus per combination."""
        if self._gap is None:
            self._gap = self._handle.spectral_gap()
        return self._gap

    def to_networkx(self):
        """A NetworkX graph with the weights as `weight`, those of agents to themselves as loops."""
        import networkx

        return networkx.from_scipy_sparse_array(self.matrix)

    def draw(self, ax=None):
        """Draws it with Matplotlib, links as wide as their weights, and returns the axes."""
        return _draw(self, ax)

    def svg(self, title=""):
        return self.graph.svg(title)

    def _repr_svg_(self):
        return self.graph._repr_svg_()

    def __repr__(self):
        parts = [self.topology, f"{self.agents} agents", f"{len(self.edges)} link{'' if len(self.edges) == 1 else 's'}", self.weights and f"{self.weights} weights"]
        if self._gap is not None or self.agents <= 500:  # what is quick to compute
            parts.append(f"spectral gap {self.spectral_gap:.3g}")
        return f"<polyhop.Network: {', '.join(filter(None, parts))}>"

    def __reduce__(self):
        return _from_csr, (*self._handle.csr(), self.topology, self.weights)


def _from_csr(data, indices, indptr, topology, weights):
    return Network(_engine.network_from_csr(indptr, indices, data, "matrix"), topology, weights)


def _draw(drawn, ax):
    import matplotlib.pyplot as plt
    import networkx

    ax = ax or plt.figure(figsize=(4, 4), layout="constrained").gca()
    graph = drawn.to_networkx()
    graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
    is_ring = len(graph.edges) == drawn.agents and max(dict(graph.degree).values(), default=0) == 2
    place = networkx.circular_layout(graph) if is_ring else networkx.kamada_kawai_layout(graph, weight=None)
    weights = [data.get("weight", 0.3) for _, _, data in graph.edges(data=True)]
    networkx.draw_networkx_edges(graph, place, ax=ax, width=[0.5 + 4 * abs(w) for w in weights], edge_color="#8a8f98")
    networkx.draw_networkx_nodes(graph, place, ax=ax, node_color="#1f5fa8", node_size=260 if drawn.agents <= 40 else 30)
    if drawn.agents <= 40:
        networkx.draw_networkx_labels(graph, place, ax=ax, font_color="white", font_size=8)
    ax.set_axis_off()
    ax.set_aspect("equal")
    return ax


def make(topology, seed=0, **options):
    """A graph by the keys of a file's [graph] table: make("erdos-renyi", agents=8, probability=0.4, seed=1)."""
    return Graph(_engine.make_graph({"topology": topology, **options}, _checked_seed(seed)), topology)


def _checked_seed(seed):
    if is_integer(seed) and 0 <= seed < 2**63:
        return int(seed)
    raise refused("seed", f"found {shown(seed)}, expected an integer >= 0")


def _make(names, topology, options, seed):
    """`names`: the function's names for a file's keys, to be used in messages."""
    try:
        return make(topology, seed, **options)
    except _engine.InputError as error:
        if names.get(error.argument, error.argument) == error.argument:
            raise
        raise refused(names[error.argument], str(error).split(": ", 1)[1]) from None


def _generator(topology, arguments):
    is_random = topology in ("erdos-renyi", "random-geometric", "watts-strogatz", "barabasi-albert", "random-regular",
                             "stochastic-block")
    names = list(arguments)
    code = f"def {python_name(topology)}({', '.join(names)}{', seed=0' if is_random else ''}):\n" \
           f"    return _make({topology!r}, {{{', '.join(f'{arguments[n]!r}: {n}' for n in names)}}}, {'seed' if is_random else '0'})"
    scope = {"_make": functools.partial(_make, {key: name for name, key in arguments.items()})}
    exec(code, scope)
    function = scope[python_name(topology)]
    function.__module__ = __name__
    keys = {o["name"]: o for o in _engine.tables()["graph"]}
    shown = [{**keys[arguments[n]], "name": n, "default": "-"} for n in names]
    function.__doc__ = f"The topology \"{topology}\"{', drawn at random until it is connected' if is_random else ''}.\n\n{described(shown)}"
    return suggesting(function)


for _topology, _arguments in _ARGUMENTS.items():
    globals()[python_name(_topology)] = _generator(_topology, _arguments)


def from_edges(agents, edges):
    """A graph of these links, pairs of agents' numbers from 0."""
    if not is_integer(agents) or not 1 <= agents <= 10**7:
        raise refused("agents", f"found {shown(agents)}, expected an integer from 1 to 10,000,000")
    try:
        pairs = np.asarray(edges)
    except ValueError:  # rows of different lengths
        pairs = np.empty(1)
    if pairs.size == 0:
        pairs = pairs.reshape(0, 2)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        if not (pairs.ndim == 2 and pairs.shape == (0, 2)):
            raise refused("edges", f"found {shown(edges)}, expected pairs of agents' numbers, an integer array of shape (n, 2)")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= agents):
        worst = pairs.min() if pairs.min() < 0 else pairs.max()
        raise refused("edges", f"found the agent {worst}, which is outside of 0 .. {agents - 1}")
    return Graph(_engine.graph_from_edges(int(agents), pairs.astype(np.int32)))


def from_networkx(graph):
    """The links of a NetworkX graph, whose nodes become agents 0, 1, ... in order. Weights are ignored."""
    if not (hasattr(graph, "is_directed") and hasattr(graph, "nodes")):
        raise refused("graph", f"found {shown(graph)}, expected a NetworkX graph; from_edges(agents, edges) takes pairs")
    if graph.is_directed():
        raise refused("graph", "links must go both ways; G.to_undirected() makes them so")
    number = {node: k for k, node in enumerate(graph.nodes)}
    if not number:
        raise refused("graph", "has no nodes, expected one per agent")
    return from_edges(len(number), np.array([(number[a], number[b]) for a, b in graph.edges if a != b], dtype=np.int64).reshape(-1, 2))


def from_matrix(matrix):
    """A network with the weights of a NumPy or SciPy matrix, which must be symmetric with rows that add up to 1. Weights
    may be negative as long as the spectral gap is not."""
    return _network_of(matrix, "matrix")


def _network_of(matrix, argument):
    from scipy import sparse

    if not sparse.issparse(matrix):
        try:
            matrix = np.asarray(matrix)
        except ValueError:
            raise refused(argument, "has rows of different lengths, expected a square matrix") from None
        if matrix.dtype.kind not in "fiub":
            raise refused(argument, f"has the dtype {matrix.dtype}, expected numbers")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise refused(argument, f"has the shape {matrix.shape}, expected a square matrix")
    rows = sparse.csr_matrix(matrix, dtype=float)
    rows.sum_duplicates()
    rows.sort_indices()
    return Network(_engine.network_from_csr(rows.indptr, rows.indices, rows.data, argument))


def read(path, weights=None):
    """A network from a graph file, as `polyhop graph` reads it. `weights`: the rule for its weights (default: "metropolis")."""
    return Graph(_engine.make_graph({"topology": "file", "file": str(path)}, 0)).weighted(weights or "metropolis")


def __getattr__(name):
    raise no_attribute("polyhop.graph", name, [known for known in globals() if not known.startswith("_")])
