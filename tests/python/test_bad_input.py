# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever is given: a result, or an exception of a fitting type. Never anything else, and never a crash."""

import sqlite3

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

import polyhop as ph

FITTING = (ValueError, TypeError)  # InputError is a ValueError
NET = ph.graph.ring(4).metropolis()
SQUARES = ph.least_squares(np.eye(8)[:, :3], np.arange(8.0), agents=4)
many = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))

scalars = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5), st.binary(max_size=3),
                    st.lists(st.integers(), max_size=3), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2))
dtypes = st.sampled_from(["f8", "f4", "f2", "i8", "i1", "u2", "?", "c16", "O", "U3", "M8[s]", ">f8"])
shapes = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6)


@st.composite
def any_array(draw):
    dtype = np.dtype(draw(dtypes))
    shape = draw(shapes)
    if dtype.kind in "OUM":
        return np.zeros(shape, dtype=dtype)
    array = draw(arrays.arrays(dtype, shape))
    return array[tuple(slice(None, None, draw(st.sampled_from([1, -1, 2]))) for _ in shape)] if shape else array


anything = st.one_of(scalars, any_array())


def survives(call):
    """The result, or None where it was refused as it should be."""
    try:
        return call()
    except FITTING:
        return None


@many
@given(X=anything, y=anything, agents=st.one_of(st.integers(-1, 9), scalars), loss=st.sampled_from(sorted(vars(ph.losses))))
def test_data(X, y, agents, loss):
    problem = survives(lambda: getattr(ph, loss)(X, y, agents=agents))
    if problem is not None:
        assert np.shape(problem.costs(np.zeros(problem.dimension))) == (problem.agents, 1)
        run = ph.solve(problem, ph.graph.complete(problem.agents), "gap", iterations=3, reference="none")
        assert run.models.shape == (problem.agents, problem.dimension)


@many
@given(owner=anything, rows=st.integers(0, 6))
def test_owners(owner, rows):
    problem = survives(lambda: ph.least_squares(np.ones((rows, 2)), np.ones(rows), owner=owner))
    if problem is not None:
        assert problem.agents == np.max(owner) + 1


@many
@given(matrix=anything)
def test_matrices(matrix):
    network = survives(lambda: ph.graph.from_matrix(matrix))
    if network is not None:
        np.testing.assert_allclose(network.matrix.toarray(), np.asarray(matrix, dtype=float), atol=1e-8)


@many
@given(options=st.dictionaries(st.sampled_from(["step", "algorithm", "iterations", "seed", "record_every", "target", "stop_at_target",
                                                "time_limit", "start", "average", "reference", "record_steps", "threads"]), anything,
                               min_size=1, max_size=3))
def test_options_of_a_run(options):
    if isinstance(options.get("iterations"), (int, np.integer)) and options["iterations"] > 50:
        options["iterations"] = 50
    if isinstance(options.get("threads"), (int, np.integer)) and options["threads"] > 8:
        options["threads"] = 8
    options.setdefault("iterations", 5)
    run = survives(lambda: ph.solve(SQUARES, NET, **options))
    if run is not None:
        assert run.models.shape == (4, 3)


@many
@given(values=anything, gradients=anything)
def test_what_functions_return(values, gradients):
    problem = ph.objective(lambda W, agents, batches: (values, gradients), 4, 3, check=False)
    run = survives(lambda: ph.solve(problem, NET, "gap", iterations=3, reference="none"))
    if run is not None:
        assert np.shape(values) == (4,) and np.shape(gradients) == (4, 3)


@many
@given(chosen=anything)
def test_what_rules_return(chosen):
    class Rule(ph.StepSize):
        def choose(self, at, network):
            return chosen

    ph.rule("returns-anything")(Rule)
    run = survives(lambda: ph.solve(SQUARES, NET, Rule, iterations=3))
    if run is not None:
        assert np.shape(chosen) in ((), (4,))


@many
@given(edges=anything, agents=scalars)
def test_edges(edges, agents):
    graph = survives(lambda: ph.graph.from_edges(agents, edges))
    if graph is not None:
        assert len(graph.edges) <= np.size(edges)


@pytest.mark.parametrize("problem", [None, 3, "least squares", object()])
def test_what_is_no_problem(problem):
    with pytest.raises(FITTING):
        ph.solve(problem, NET)


@pytest.mark.parametrize("number", [10**7, 20, 3, -1])
def test_columns_that_a_sparse_matrix_does_not_have(number):
    matrix = sparse.csr_matrix(np.eye(8)[:, :3] + 1)
    matrix.indices[5] = number
    with pytest.raises(ph.InputError, match="X: is not a valid CSR matrix"):
        ph.least_squares(matrix, np.ones(8), agents=4)


def test_what_has_no_end():
    table, entries = {}, []
    table["a"] = table
    entries.append(entries)
    for given in (table, {"seeds": entries}):
        with pytest.raises(ph.InputError, match="nests deeper"):
            ph.run(given, "never-made")
    with pytest.raises(ph.InputError, match="nests deeper"):
        ph.solve(SQUARES, NET, {"rule": "gap", "x": table})


@pytest.mark.parametrize("place, value", [(4, np.full(8, 2**40)), (4, np.arange(8) - 1), (5, np.full(4, 10**6)),
                                          (5, np.array([8, 0, 0, 0])), (2, np.zeros((1, 1))), (2, np.zeros(8)), (3, np.ones(2))])
def test_pickles_that_somebody_changed(place, value):
    function, arguments = SQUARES.__reduce__()
    changed = list(arguments)
    changed[place] = value
    with pytest.raises(ph.InputError, match="does not fit together"):
        function(*changed)


@pytest.mark.parametrize("models, i, message", [(np.zeros((0, 0)), 0, "models: has the shape"), (np.zeros((1, 1)), 0, "models"),
                                                (np.zeros((4, 3)), -1, "i: expected"), (np.zeros((4, 3)), 2**63 - 1, "i: expected")])
def test_what_an_algorithm_may_ask_of_an_oracle(models, i, message):
    class Asks(ph.Algorithm):
        def step(self, iteration, oracle, rule, network):
            oracle.sample(i, models, rule)

    ph.algorithm("asks")(Asks)
    with pytest.raises(ph.InputError, match=message):
        ph.solve(SQUARES, NET, "gap", Asks, iterations=2)


@pytest.mark.parametrize("change", ["data = zeroblob(8) WHERE iteration = 0", "data = zeroblob(8) WHERE iteration > 0", "data = x''"])
def test_a_damaged_store(tmp_path, change):
    ph.run({"name": "s", "iterations": 20, "graph": {"topology": "ring", "agents": 4}, "problem": {"dimension": 3, "samples": 4},
            "method": [{"step": "gap"}]}, tmp_path, progress=False)
    with sqlite3.connect(tmp_path / "experiment.sqlite") as store:
        store.execute(f"UPDATE steps SET {change}")
    with pytest.raises(ph.InputError, match="is damaged: the steps of a run"):
        ph.load(tmp_path)


def test_sizes_beyond_reason():
    for call in (lambda: ph.least_squares(np.ones((4, 2)), np.ones(4), owner=np.full(4, 2**31)),
                 lambda: ph.objective(lambda W, a, b: None, agents=10**8, dimension=3),
                 lambda: ph.gap(sweeps=2**40), lambda: ph.algorithms.gradient_tracking(rounds=2**32)):
        with pytest.raises(ph.InputError):
            call()


def test_sizes_that_do_not_fit():
    with pytest.raises(ph.InputError, match="has 5 agents, the problem 4"):
        ph.solve(SQUARES, ph.graph.ring(5))
    with pytest.raises(ph.InputError, match="has 5 agents, the problem 4"):
        ph.compare(SQUARES, ph.graph.ring(5), ["gap"])
    with pytest.raises(ph.InputError, match="methods"):
        ph.compare(SQUARES, NET, {})
    with pytest.raises(ph.InputError, match="start"):
        ph.solve(SQUARES, NET, start=np.zeros(7))
    with pytest.raises(ph.InputError, match="not finite"):
        ph.least_squares([[1, np.nan]], [1], agents=1)
    with pytest.raises(ph.InputError, match="points"):
        SQUARES.costs(np.zeros(9))
    with pytest.raises(TypeError, match="l3"):
        ph.least_squares(np.eye(3), np.ones(3), agents=1, l3=1)
