# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""What is refused is told where it stands, what was found and what to do; `argument` names it."""

import re

import networkx
import numpy as np
import pandas
import pytest
from scipy import sparse

import polyhop as ph

X = np.random.default_rng(0).normal(size=(12, 3))
Y = X @ [1.0, 2.0, 3.0]
NET = ph.graph.ring(4).metropolis()
SQUARES = ph.least_squares(X, Y, agents=4)


def with_entry(entry, row, column, dtype=float):
    out = X.astype(dtype)
    out[row, column] = entry
    return out


def frame(entries):
    out = pandas.DataFrame(X, columns=["age", "height", "city"])
    out["city"] = entries
    return out


def squares(x=X, y=Y, **more):
    return ph.least_squares(x, y, **{"agents": 4, **more} if "owner" not in more else more)


def own(f, **more):
    return ph.objective(f, 4, 3, **more)


def shortly():
    return ph.compare(SQUARES, NET, ["gap"], iterations=5)


CITIES = ["Oslo", "Rome"] * 6
EXPERIMENT = {"name": "short", "iterations": 5, "graph": {"topology": "ring", "agents": 4}, "problem": {"dimension": 3, "samples": 4},
              "method": [{"name": "GAP", "step": "gap"}]}
LABELS = np.array(["sick", "healthy"] * 6)

REFUSED = {
    "a NaN": (lambda: squares(with_entry(np.nan, 5, 2)), "X", r"row 5, column 2 is nan.*\(1 number is not finite\); leave these samples out"),
    "infinities": (lambda: squares(with_entry(-np.inf, [7, 5], 1)), "X", r"row 5, column 1 is -inf.*\(2 numbers are not finite\)"),
    "a NaN in a sparse matrix": (lambda: squares(sparse.csr_matrix(with_entry(np.nan, 5, 2))), "X", "row 5, column 2 is nan"),
    "a NaN in a frame": (lambda: squares(frame(with_entry(np.nan, 5, 2)[:, 2])), "X", "row 5, column 'city' is nan"),
    "a missing integer": (lambda: squares(frame(pandas.array([1, None] * 6, dtype="Int64"))), "X", r"row 1, column 'city' is nan.*6 numbers"),
    "texts in a frame": (lambda: squares(frame(CITIES)), "X", "column 'city' has the dtype object; row 0 is 'Oslo', one of 12"),
    "several columns of texts": (lambda: squares(frame(CITIES).assign(note="x", age="old")), "X",
                                 "column 'age' has.*encode it or leave it out, and so with 'city', 'note'"),
    "a text among numbers": (lambda: squares(frame([1.0, 2.0, "?"] * 4)), "X", "column 'city'.*row 2 is '\\?', one of 4"),
    "texts in an array": (lambda: squares(with_entry("?", 3, 1, object)), "X", "row 3, column 1 is '\\?', one of 1"),
    "numbers as objects": (lambda: squares(X.astype(object)), "X", r"dtype object, expected numbers; X.astype\(float\)"),
    "one feature": (lambda: squares(X[:, 0]), "X", r"has the shape \(12,\).*X.reshape\(-1, 1\)"),
    "ragged rows": (lambda: squares([[1, 2], [3]]), "X", "rows of different lengths"),
    "targets in a column": (lambda: squares(y=Y[:, None]), "y", r"has the shape \(12, 1\).*np.ravel\(y\)"),
    "targets in a frame": (lambda: squares(y=pandas.DataFrame({"y": Y})), "y", r"has the shape \(12, 1\).*np.ravel\(y\)"),
    "a NaN among targets": (lambda: squares(y=with_entry(np.nan, 4, 0)[:, 0]), "y", "row 4 is nan.*leave these samples out"),
    "a missing target": (lambda: squares(y=pandas.Series([1, None] * 6, dtype="Int64")), "y", "row 1 is nan.*6 numbers"),
    "labels": (lambda: squares(y=LABELS), "y", "has 2 classes: healthy, sick, expected numbers; logistic takes classes"),
    "many labels": (lambda: squares(y=np.array(list("abcdefghijkl"))), "y", "has 12 classes: a, b, c, d, e, ..., .*softmax takes classes"),
    "a label that is None": (lambda: ph.logistic(X, [None, "a", "b"] * 4, agents=4), "y", r"row 0 is None \(4 labels are missing\)"),
    "a label that is NA": (lambda: ph.logistic(X, pandas.array([0, 1, None] * 4, dtype="Int64"), agents=4), "y", "row 2 is <NA>"),
    "labels of two types": (lambda: ph.logistic(X, np.array([1, "a"] * 6, dtype=object), agents=4), "y", r"several types \(int, str\)"),
    "negative counts": (lambda: ph.poisson(X, np.arange(12.0) - 3, agents=4), "y", "row 0 is -3, .*counts"),
    "owners from 1": (lambda: squares(owner=np.arange(12) % 4 + 1), "owner", "numbers agents from 1 to 4, expected from 0; give owner - 1"),
    "too few owners": (lambda: squares(owner=np.arange(11) % 4), "owner", r"has the shape \(11,\), expected \(12,\)"),
    "owners that are floats": (lambda: squares(owner=np.arange(12) % 4 + 0.0), "owner", "has the dtype float64, expected integers.*np.unique"),
    "owners by name": (lambda: squares(owner=CITIES), "owner", r"has the dtype <U4, expected integers.*np.unique\(owner, return_inverse=True\)"),
    "a negative owner": (lambda: squares(owner=np.arange(12) % 4 - 1), "owner", "sample 0 has the agent -1"),
    "an agent without samples": (lambda: squares(owner=np.arange(12) % 4 * 2), "owner", "agent 1 has no samples, but there is an agent 6"),
    "too many agents": (lambda: squares(agents=13), "agents", "found 13, expected an integer from 1 to the 12 samples"),
    "a mean of nothing": (lambda: squares(mean_of="rows"), "mean_of", "found 'rows', expected \"agents\" or \"samples\""),
    "a network that is a number": (lambda: ph.solve(SQUARES, 4), "network", r"found 4, expected a network, such as ph.graph.ring\(4\)"),
    "a network that is a name": (lambda: ph.solve(SQUARES, "ring"), "network", r"found 'ring', expected a network, such as ph.graph.ring\(6\)"),
    "no network": (lambda: ph.compare(SQUARES, None, ["gap"]), "network", r"found None.*ph.graph.ring\(6\)"),
    "a network that is a list": (lambda: ph.solve(SQUARES, [1, 2]), "network", r"has the shape \(2,\), expected a square matrix"),
    "a network that is no matrix": (lambda: ph.solve(SQUARES, np.ones((4, 4))), "network", "entry|sum"),
    "a problem that is none": (lambda: ph.solve(NET, SQUARES), "problem", "found an object of type Network, expected what ph.least_squares"),
    "a matrix that drives apart": (lambda: ph.graph.from_matrix([[1.5, -0.5], [-0.5, 1.5]]), "matrix", "has the spectral gap -1, .*drift apart"),
    "agents without end": (lambda: ph.graph.from_edges(np.inf, []), "agents", "found inf, expected an integer from 1"),
    "no graph of NetworkX": (lambda: ph.graph.from_networkx([(0, 1)]), "graph", r"found \[\(0, 1\)\], expected a NetworkX graph; from_edges"),
    "a probability": (lambda: ph.graph.erdos_renyi(8, p=2.0), "p", "2"),
    "a search in solve": (lambda: ph.solve(SQUARES, NET, "tuned"), "step", "found 'tuned'.*ph.compare"),
    "a search by its function": (lambda: ph.solve(SQUARES, NET, ph.tuned()), "step", "found 'tuned'.*ph.compare"),
    "a function in the place of what it makes": (lambda: ph.solve(SQUARES, NET, ph.gap), "step", r"found the function gap, .*gap\(\.\.\.\)"),
    "a callback": (lambda: ph.solve(SQUARES, NET, callback=3), "callback", r"found 3, expected a function callback\(point\)"),
    "a callback of nothing": (lambda: ph.solve(SQUARES, NET, callback=lambda: 1), "callback", r"called as callback\(point\), but it takes \(\)"),
    "no seeds": (lambda: ph.compare(SQUARES, NET, ["gap"], seeds=0), "seeds", "found 0, expected how many, such as 3 for 0, 1 and 2"),
    "seeds by name": (lambda: ph.compare(SQUARES, NET, ["gap"], seeds="all"), "seeds", "found 'all'"),
    "methods by name": (lambda: ph.compare(SQUARES, NET, "gap"), "methods", r"found 'gap', expected .*\['gap', 'tuned'\]"),
    "a function of one argument": (lambda: own(lambda W: W), "f", r"called as f\(W, agents, batches\), but it takes \(W\)"),
    "no function": (lambda: own(3), "f", r"found 3, expected a function f\(W, agents, batches\)"),
    "values of one argument": (lambda: own(lambda W, a, b: W, values=lambda W: W), "values", r"values\(W, agents, batches\)"),
    "values that are NaN": (lambda: ph.solve(own(lambda W, a, b: (np.full(len(W), np.nan), 2 * W)), NET), "objective",
                            r"agent 0 has a value that is NaN .* w = \("),
    "gradients that are NaN": (lambda: ph.solve(own(lambda W, a, b: (W.sum(axis=1), W * np.nan)), NET), "objective",
                               "agent 0 has a gradient that is NaN"),
    "an experiment that is a number": (lambda: ph.run(3), "file", "found 3, expected the name of an experiment's file, or a dict"),
    "a folder that is a number": (lambda: ph.run(EXPERIMENT, 3), "out", "found 3, expected the name of a folder"),
    "a folder to load that is a number": (lambda: ph.load(3), "folder", "found 3, expected the name of a folder"),
    "a folder that is a file": (lambda: ph.run(EXPERIMENT, __file__), "out", "cannot create the folder '.*': Not a directory"),
    "settings as text": (lambda: ph.run(EXPERIMENT, settings="seeds=3"), "settings", "found 'seeds=3', expected a dict such as"),
    "settings by number": (lambda: ph.run(EXPERIMENT, settings={3: 3}), "settings", "has the key 3, expected the name of a key"),
    "settings in a number": (lambda: ph.run(EXPERIMENT, settings={"iterations.x": 3}), "settings",
                             "'iterations.x' is not a key: 'iterations' holds 5, not a dict"),
    "a method that is no list": (lambda: ph.run({**EXPERIMENT, "method": EXPERIMENT["method"][0]}), "method",
                                 "found one table, expected a list of tables"),
    "fresh by name": (lambda: ph.run(EXPERIMENT, fresh="no"), "fresh", "found 'no', expected True or False"),
    "threads by name": (lambda: ph.run(EXPERIMENT, threads="all"), "threads", "found 'all', expected an integer >= 0"),
    "threads below 0": (lambda: ph.compare(SQUARES, NET, ["gap"], threads=-1), "threads", "found -1, expected an integer >= 0"),
    "threads below 0 in solve": (lambda: ph.solve(SQUARES, NET, threads=-1), "threads", "found -1, expected an integer >= 0"),
    "iterations below 0": (lambda: ph.solve(SQUARES, NET, iterations=-1), "iterations", "found -1, expected an integer >= 0"),
    "a target below 0": (lambda: ph.solve(SQUARES, NET, target=-1), "target", "found -1.0, expected a number > 0"),
    "links of different lengths": (lambda: ph.graph.from_edges(3, [(0, 1), (1,)]), "edges", r"found \[\(0, 1\), \(1,\)\], expected pairs"),
    "a graph of nothing": (lambda: ph.graph.from_networkx(networkx.Graph()), "graph", "has no nodes"),
    "a page without a name": (lambda: shortly().report(None), "path", "found None, expected the name of a file"),
    "a figure without a name": (lambda: shortly().figure(None), "path", "found None, expected the name of a file"),
    "an export without a folder": (lambda: shortly().export(None), "folder", "found None, expected the name of a folder"),
    "weights by number": (lambda: ph.graph.ring(4).weighted(3), "rule", "found 3, expected one of metropolis, "),
    "a column that there is not": (lambda: ph.solve(SQUARES, NET, iterations=10).plot(x="vector"), "x",
                                   "no column 'vector'; did you mean 'vectors'.*excess_risk"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_names_its_argument(case):
    call, argument, message = REFUSED[case]
    with pytest.raises(ph.InputError) as refused:
        call()
    assert refused.value.argument == argument
    assert str(refused.value).startswith(f"{argument}: ") and re.search(message, str(refused.value)), refused.value


def test_an_error_that_somebody_else_raises_has_an_argument_too():
    assert ph.InputError("mine").argument == ""


@pytest.mark.parametrize("call, message", [
    (lambda: ph.solve(SQUARES, NET, iteration=5), r"solve\(\) has no argument 'iteration'; did you mean 'iterations'"),
    (lambda: ph.compare(SQUARES, NET, ["gap"], seed=5), r"compare\(\) has no argument 'seed'; did you mean 'seeds'"),
    (lambda: ph.iterate(SQUARES, NET, stepp="gap"), r"iterate\(\) has no argument 'stepp'; did you mean 'step'"),
    (lambda: squares(agent=5), r"least_squares\(\) has no argument 'agent'; did you mean 'agents'"),
    (lambda: own(print, sample=5), r"objective\(\) has no argument 'sample'; did you mean 'samples'"),
    (lambda: ph.graph.ring(n=4), r"^ring\(\) has no argument 'n'; allowed: agents"),
    (lambda: ph.graph.erdos_renyi(8, probability=0.5), r"erdos_renyi\(\) has no argument 'probability'; allowed: agents, p, seed"),
    (lambda: ph.graph.ring(4).metropolis(3), r"^Graph.metropolis\(\) takes 1 positional"),
    (lambda: ph.DecentralizedRidge(alpha=1), r"DecentralizedRidge\(\) has no argument 'alpha'; give l2 = alpha / n_samples"),
    (lambda: ph.DecentralizedLogisticRegression(C=1), r"'C'; give l2 = 1 / \(C n_samples\)"),
    (lambda: ph.DecentralizedRidge(agent=1), "'agent'; did you mean 'agents'"),
    (lambda: ph.gap(2), r"gap\(\) takes options by name; it has .*sweeps="),
    (lambda: ph.constant(0.1, 0.2), r"constant\(\) takes one value without a name, value"),
    (lambda: ph.constant(0.1, value=0.2), "one value without a name")])
def test_misspelt_arguments_are_answered_with_those_that_were_meant(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("key, message", [
    (("GAPP", 0), "there is no method 'GAPP'; did you mean 'GAP'? There are models of the seeds 3, 5"),
    (("nothing alike", 0), "there is no method 'nothing alike'; allowed: GAP, ED; there are models of the seeds 3, 5"),
    (("GAP", 0), "no models of 'GAP' with the seed 0; it has the seeds 3, 5"),
    ("GAP", "found 'GAP', expected a method and a seed, such as ('GAP', 3)"),
    (["GAP", 3], "found ['GAP', 3], expected a method and a seed, such as ('GAP', 3)")])
def test_models_that_there_are_not_are_answered_with_those_that_there_are(key, message):
    found = ph.compare(SQUARES, NET, {"GAP": "gap", "ED": {"step": 0.01, "algorithm": "exact-diffusion"}}, seeds=[3, 5], iterations=5)
    with pytest.raises(KeyError) as missed:
        found.models[key]
    assert missed.value.args == (message,)
    assert found.models.get(("GAP", 0)) is None and ("GAP", 3) in found.models


def test_names_that_modules_lack_are_suggested():
    for module, name, near in ((ph, "slove", "solve"), (ph.graph, "rign", "ring")):
        with pytest.raises(AttributeError, match=rf"has no attribute '{name}'; did you mean '{near}'\?$"):
            getattr(module, name)
        with pytest.raises(AttributeError, match=r"has no attribute 'nothing_alike'$"):
            module.nothing_alike


def test_numbers_of_pandas_are_taken():
    table = pandas.DataFrame({"a": pandas.array(range(12), dtype="Int64"), "b": pandas.array(X[:, 0], dtype="Float64"), "c": X[:, 1]})
    y = pandas.Series(range(12), dtype="Int64")
    plain = np.column_stack([np.arange(12.0), X[:, 0], X[:, 1]])
    np.testing.assert_array_equal(ph.least_squares(table, y, agents=4).costs(np.ones(3)),
                                  ph.least_squares(plain, np.arange(12.0), agents=4).costs(np.ones(3)))
    assert ph.logistic(table, y % 2, agents=4).classes.tolist() == [0, 1]


def test_graphs_of_networkx_and_matrices_are_networks():
    for network in (networkx.cycle_graph(4), NET.matrix, NET.matrix.toarray(), NET.matrix.toarray().tolist()):
        np.testing.assert_array_equal(ph.solve(SQUARES, network, "gap", iterations=5).models,
                                      ph.solve(SQUARES, NET, "gap", iterations=5).models)
