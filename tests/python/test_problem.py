# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Costs: from data, against their formulas; from functions, as they are called."""

import pickle
import re

import numpy as np
import pytest
from scipy import sparse

import polyhop as ph


def labels(X, y, classes):
    return np.digitize(y, np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1]))


LOSSES = {
    "least_squares": lambda z, y: (z - y) ** 2 / 2,
    "logistic": lambda z, y: np.logaddexp(0, -y * z),
    "poisson": lambda z, y: np.exp(z) - y * z,
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_costs_are_those_of_the_formula(name, kind, data):
    X, y = data
    targets = {"least_squares": y, "logistic": np.where(y > 0, "yes", "no"), "poisson": np.round(np.abs(y))}[name]
    numbers = np.where(y > 0, 1.0, -1.0) if name == "logistic" else targets
    owner = np.arange(83) % 8
    problem = getattr(ph, name)(kind(X), targets, owner=owner, l2=0.3, intercept=True)
    W = np.random.default_rng(0).normal(size=(4, 6)) / 4
    expected = np.array([[LOSSES[name](X[owner == k] @ w[:5] + w[5], numbers[owner == k]).mean() + 0.15 * w[:5] @ w[:5]
                          for w in W] for k in range(8)])
    np.testing.assert_allclose(problem.costs(W), expected, rtol=1e-12)


def test_softmax_numbers_its_classes(data):
    X, y = data
    words = np.array(["a", "b", "c"])[labels(X, y, 3)]
    problem = ph.softmax(X, words, agents=8)
    assert problem.dimension == 15 and list(problem.classes) == ["a", "b", "c"]
    np.testing.assert_allclose(problem.costs(np.zeros(15)), np.log(3), rtol=1e-12)


def test_samples_are_dealt_in_their_order_as_evenly_as_possible(data):
    X, y = data
    held, targets, offset = ph.least_squares(X, y, agents=8).data
    assert list(np.diff(offset)) == [11, 11, 11, 10, 10, 10, 10, 10]
    np.testing.assert_array_equal(held, X)
    np.testing.assert_array_equal(targets, y)


@pytest.mark.parametrize("change", [lambda X: np.asfortranarray(X), lambda X: np.repeat(X, 2, axis=0)[::2],
                                    lambda X: X[:, ::-1][:, ::-1], lambda X: X.astype(">f8")])
def test_any_strides_and_byte_order_will_do(change, data):
    X, y = data
    w = np.arange(5.0)
    expected = ph.least_squares(X, y, agents=8).costs(w)
    np.testing.assert_array_equal(ph.least_squares(change(X), y, agents=8).costs(w), expected)


def test_data_are_copied_once_and_shown_without_a_copy(data):
    X, y = data
    problem = ph.least_squares(X, y, agents=8)
    before = problem.costs(np.ones(5))
    X[:] = 0
    np.testing.assert_array_equal(problem.costs(np.ones(5)), before)
    one, other = problem.data[0], problem.data[0]
    assert one.__array_interface__["data"] == other.__array_interface__["data"]
    with pytest.raises(ValueError):
        one[0, 0] = 1
    del problem
    assert np.isfinite(one).all() and one[0, 0] != 0  # the view keeps the problem alive


def test_a_function_sees_the_engines_own_models(bowls, net):
    f, centres = bowls
    seen = []

    def watched(W, agents, batches):
        if len(W) == 8:
            seen.append((W.__array_interface__["data"][0], W.strides, W.flags.owndata, list(agents)))
        assert batches is None
        return f(W, agents, batches)

    problem = ph.objective(watched, 8, 3, check=False)
    ph.solve(problem, net, step={"rule": "constant", "value": 0.1}, iterations=50, reference="none", record_every=50,
             average=False)
    iterations = seen[-48:]
    # One place, rows of a whole cache line, not a copy that the array owns.
    assert len({address for address, *_ in iterations}) == 1
    assert all(strides == (64, 8) and not owns and agents == list(range(8)) for _, strides, owns, agents in iterations)


def test_a_function_is_minimised(bowls, net):
    f, centres = bowls
    run = ph.solve(ph.objective(f, 8, 3), net, "auto", iterations=3000, target=1e-9)
    assert run.status == "target"
    np.testing.assert_allclose(run.mean_model, centres.mean(axis=0), atol=1e-4)


def test_a_list_of_objects_is_the_same_problem(bowls, net):
    f, centres = bowls

    class Bowl:
        dimension = 3

        def __init__(self, centre):
            self.centre = centre

        def value(self, w):
            return 0.5 * ((w - self.centre) ** 2).sum()

        def gradient(self, w):
            return w - self.centre

    one = ph.solve(ph.objective([Bowl(c) for c in centres]), net, "gap", iterations=50, reference="none")
    other = ph.solve(ph.objective(f, 8, 3), net, "gap", iterations=50, reference="none")
    np.testing.assert_allclose(one.models, other.models, rtol=1e-12)


@pytest.mark.parametrize("samples", [20, [20, 21, 20, 22, 20, 20, 20, 20]])
def test_a_function_with_samples_equals_the_built_in_loss(samples, data, net):
    random = np.random.default_rng(1)
    counts = np.broadcast_to(samples, 8)
    X, y = random.normal(size=(counts.sum(), 4)), random.normal(size=counts.sum())
    start = np.concatenate([[0], np.cumsum(counts)])

    def f(W, agents, batches):
        values, gradients = np.empty(len(W)), np.empty(W.shape)
        for n, (w, k, batch) in enumerate(zip(W, agents, batches)):
            h, t = X[start[k] + batch], y[start[k] + batch]
            values[n], gradients[n] = ((h @ w - t) ** 2).mean() / 2, h.T @ (h @ w - t) / len(batch)
        return values, gradients

    own = ph.objective(f, 8, 4, samples=samples, batch=3, sampling="shuffle")
    built_in = ph.least_squares(X, y, owner=np.repeat(np.arange(8), counts), batch=3, sampling="shuffle")
    one, other = (ph.solve(p, net, "gap", iterations=60, seed=5) for p in (own, built_in))
    np.testing.assert_allclose(one.models, other.models, rtol=1e-9)
    np.testing.assert_allclose(one.columns["excess_risk"], other.columns["excess_risk"], atol=1e-9)


def test_values_alone_are_asked_where_gradients_are_not_needed(bowls, net):
    f, _ = bowls
    calls = []

    def values(W, agents, batches):
        calls.append(len(W))
        return f(W, agents, batches)[0]

    one = ph.solve(ph.objective(f, 8, 3, values=values), net, "gap", iterations=20, reference="none")
    other = ph.solve(ph.objective(f, 8, 3), net, "gap", iterations=20, reference="none")
    assert max(calls) > 8  # the points within two hops
    np.testing.assert_array_equal(one.models, other.models)


def test_a_wrong_gradient_is_noticed_once_and_may_be_overlooked(bowls, net):
    f, _ = bowls
    wrong = ph.objective(lambda W, a, b: (f(W, a, b)[0], 2 * f(W, a, b)[1]), 8, 3)
    with pytest.raises(ph.InputError, match="gradient of agent 0 is not that of its value.*check=False"):
        ph.solve(wrong, net)
    overlooked = ph.objective(lambda W, a, b: (f(W, a, b)[0], 2 * f(W, a, b)[1]), 8, 3, check=False)
    assert ph.solve(overlooked, net, iterations=3, reference="none").status in ("done", "target")


def test_an_unknown_minimum_is_said_to_be_unknown(net):
    # Not convex: two starting points lead to different costs.
    def f(W, agents, batches):
        return np.cos(3 * W).sum(axis=1) + 0.01 * (W**2).sum(axis=1), -3 * np.sin(3 * W) + 0.02 * W

    run = ph.solve(ph.objective(f, 8, 2), net, {"rule": "constant", "value": 0.01}, iterations=20, start=np.ones(2))
    assert run.reference is None and run.reference_how
    assert "risk" in repr(run) and "excess risk" not in repr(run)
    assert np.isclose(run.columns["excess_risk"][0], 2 * np.cos(3) + 0.02)
    assert run.plot().get_ylabel().startswith("risk")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_problems_can_be_pickled(kind, data, net):
    X, y = data
    problem = ph.logistic(kind(X), np.where(y > 0, "a", "b"), owner=np.arange(83) % 8, l2=0.1, intercept=True, batch=2)
    again = pickle.loads(pickle.dumps(problem))
    W = np.random.default_rng(0).normal(size=(3, 6))
    np.testing.assert_array_equal(again.costs(W), problem.costs(W))
    assert list(again.classes) == ["a", "b"]
    one, other = (ph.solve(p, net, iterations=30) for p in (problem, again))
    np.testing.assert_array_equal(one.models, other.models)


def test_each_agent_counts_once_or_each_sample(data, net):
    X, y = data
    owner = np.minimum(np.arange(83) // 4, 7)  # the last agent has 55 samples, the others 4
    sizes = np.bincount(owner)
    least_squares = np.linalg.lstsq(X, y, rcond=None)[0]
    weighted = np.sqrt(1 / sizes[owner])
    mean_of_means = np.linalg.lstsq(X * weighted[:, None], y * weighted, rcond=None)[0]
    for mean_of, expected in (("agents", mean_of_means), ("samples", least_squares)):
        problem = ph.least_squares(X, y, owner=owner, mean_of=mean_of, batch="all")
        np.testing.assert_allclose(problem.minimise()[1], expected, rtol=1e-8)
        again = pickle.loads(pickle.dumps(problem))
        np.testing.assert_array_equal(again.costs(expected), problem.costs(expected))
    assert np.abs(mean_of_means - least_squares).max() > 1e-3
    run = ph.solve(problem, net, iterations=3000, target=1e-10)
    np.testing.assert_allclose(run.mean_model, least_squares, atol=1e-4)


def test_a_problem_says_what_it_is(data):
    X, y = data
    text = str(ph.huber(X, y, agents=8, batch=3, sampling="shuffle", l2=0.5))
    assert text.startswith("huber problem\n")
    lines = dict(re.split(r"  +", line.strip(), maxsplit=1) for line in text.splitlines()[1:])
    assert lines["agents x numbers"] == "8 x 5" and lines["samples"] == "83, 10 to 11 per agent"
    assert lines["batch"] == "3 per agent and iteration (shuffle sampling)" and lines["l2"] == "0.5"
    assert lines["mean of"] == "agents: each agent's mean loss counts once"
    assert "mean of               samples: each sample counts once" in str(ph.huber(X, y, agents=8, mean_of="samples"))
    assert "samples" not in str(ph.objective(lambda W, a, b: None, 8, 3))
    assert "samples               16, 2 per agent" in str(ph.objective(lambda W, a, b: None, 8, 3, samples=2))
