# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Rules and algorithms written in Python."""

import threading

import numpy as np
import pytest

import polyhop as ph


@ph.rule("own-polyak")
class LocalPolyak(ph.StepSize):
    """mu_k = Jhat_k(w_k) / (c ||g_k||^2)"""

    def __init__(self, c=1.0):
        if c <= 0:
            raise ValueError("c: expected a number > 0")
        self.c = c

    def choose(self, at, network):
        squares = at.squared_norms
        ratio = np.divide(at.values, squares, out=np.zeros_like(squares), where=squares > 1e-300)
        return np.maximum(ratio, 0) / self.c


@ph.algorithm("own-diffusion")
class LazyDiffusion(ph.Algorithm):
    """Combines by halves."""

    recursion = {"mixing": 0.5}

    def step(self, i, oracle, rule, network):
        at = oracle.sample(i, self.models, rule)
        self.steps = rule.choose(at, network)
        moved = self.models - self.steps[:, None] * at.gradients
        self.models[:] = (moved + network.combine(moved)) / 2


@pytest.mark.parametrize("batch", ["all", 2])
def test_own_polyak_has_the_bits_of_the_built_in_rule(batch, data, net):
    problem = ph.least_squares(*data, agents=8, batch=batch)
    own, built_in = (ph.solve(problem, net, step, iterations=200, stop_at_target=False)
                     for step in ("own-polyak", ph.polyak()))
    np.testing.assert_array_equal(own.models, built_in.models)
    np.testing.assert_array_equal(own.columns["step_max"], built_in.columns["step_max"])


def test_an_algorithm_is_what_its_formula_says(squares, net):
    run = ph.solve(squares, net, ph.constant(value=0.1), LazyDiffusion, iterations=30, stop_at_target=False)
    X, y, offset = squares.data
    A, W = (np.eye(8) + net.matrix.toarray()) / 2, np.zeros((8, 5))
    for _ in range(30):
        G = np.array([X[a:b].T @ (X[a:b] @ w - y[a:b]) / (b - a) + 0.1 * w for w, a, b in zip(W, offset, offset[1:])])
        W = A @ (W - 0.1 * G)
    np.testing.assert_allclose(run.models, W, rtol=1e-11)
    assert run.traffic["vectors"] == 30 * 2 * len(net.edges)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_what_a_network_does(threads, squares, net):
    A = net.matrix.toarray()
    numbers = np.random.default_rng(0).normal(size=8)
    rows = np.random.default_rng(1).normal(size=(8, 5))
    B = A.T @ A
    done = []

    @ph.rule(f"prober-{threads}")
    class Prober(ph.StepSize):
        def choose(self, at, network):
            k = network.agents
            np.testing.assert_allclose(network.combine(rows[k]), (A @ rows)[k])
            mean, least, most = network.hear(numbers[k])
            linked = A != 0
            np.testing.assert_allclose(mean, (A @ numbers)[k])
            np.testing.assert_array_equal(least, np.where(linked, numbers, np.inf).min(axis=1)[k])
            np.testing.assert_array_equal(most, np.where(linked, numbers, -np.inf).max(axis=1)[k])
            assert (network.spread_max(numbers[k]) == numbers.max()).all()
            np.testing.assert_allclose(network.spread_sum(numbers[k]), numbers.sum())
            reached = network.reach(rows[k])
            pairs = network.pairwise(reached)
            near = [np.flatnonzero(B[a]) for a in k]
            np.testing.assert_allclose(reached.rows, rows[np.concatenate(near)])
            np.testing.assert_allclose(reached.weights, np.concatenate([B[a, n] for a, n in zip(k, near)]))
            np.testing.assert_allclose(pairs, np.concatenate([rows[n] @ rows[a] for a, n in zip(k, near)]))
            done.append(len(k))
            return 0.1

    ph.solve(squares, net, Prober, iterations=1, threads=threads, record_every=1)
    assert sum(done) == 8 and len(done) == threads


def test_registered_methods_stand_in_files_with_their_options(tmp_path):
    experiment = {"name": "own", "iterations": 40, "graph": {"topology": "ring", "agents": 6},
                  "problem": {"dimension": 4, "samples": 5},
                  "method": [{"name": "own", "step": {"rule": "own-polyak", "c": 2.0}, "algorithm": "own-diffusion"},
                             {"name": "built in", "step": {"rule": "polyak", "c": 2.0}}]}
    found = ph.run(experiment, tmp_path / "out", progress=False)
    assert set(found.status.values()) == {"done"}
    again = ph.run(experiment, tmp_path / "out", progress=False)
    np.testing.assert_array_equal(again.models["own", 0], found.models["own", 0])
    single = {**experiment, "problem": {**experiment["problem"], "precision": "single"}}
    with pytest.raises(ph.InputError, match='written in Python works in double precision; use precision = "double"'):
        ph.run(single, tmp_path / "single", progress=False)
    rounded = ph.run({**single, "method": single["method"][1:]}, tmp_path / "built-in", progress=False).models["built in", 0]
    np.testing.assert_array_equal(rounded, rounded.astype(np.float32))
    np.testing.assert_allclose(rounded, found.models["built in", 0], atol=1e-4)
    experiment["method"][0]["step"]["d"] = 1
    with pytest.raises(ph.InputError, match=r"method\[0\].step.d: unknown key; .*c"):
        ph.run(experiment, tmp_path / "out", progress=False)
    experiment["method"][0]["step"] = {"rule": "own-polyak", "c": -1}
    with pytest.raises(ph.InputError, match="expected a number > 0"):
        ph.run(experiment, tmp_path / "out", progress=False)


def test_state_survives_a_crash(tmp_path, bowls):
    fails_at = [25]

    @ph.rule("remembering")
    class Remembering(ph.StepSize):
        state = ("sums", "count")

        def start(self, network):
            self.sums, self.count = np.zeros(len(network.agents)), 0.0

        def choose(self, at, network):
            if at.i == fails_at[0]:
                raise RuntimeError("crashed on purpose")
            self.sums += at.squared_norms  # in place,
            self.count = self.count + 1    # or anew
            return 0.1 / (1 + np.sqrt(self.sums / self.count))

    experiment = {"name": "r", "iterations": 60, "checkpoint_every": 1e-9, "graph": {"topology": "ring", "agents": 6},
                  "problem": {"dimension": 4, "samples": 5}, "method": [{"name": "m", "step": "remembering"}]}
    broken = ph.run(experiment, tmp_path / "one", progress=False)
    assert broken.status["m", 0] == "failed" and "crashed on purpose" in broken.messages["m", 0]
    reached = broken.curves["iteration"].max()
    assert 0 < reached < 25
    calls = []
    original = Remembering.choose
    Remembering.choose = lambda self, at, network: (calls.append(at.i), original(self, at, network))[1]
    fails_at[0] = -1
    resumed = ph.run(experiment, tmp_path / "one", progress=False)
    assert calls[0] == reached  # it went on, and did not begin anew
    whole = ph.run(experiment, tmp_path / "two", progress=False)
    np.testing.assert_array_equal(resumed.models["m", 0], whole.models["m", 0])


def test_a_rule_may_know_the_optimum(data, net):
    @ph.rule("knowing")
    class Knowing(ph.StepSize):
        def choose(self, at, network):
            return np.maximum(at.values - at.optimal_values(), 0) / at.squared_norms

    problem = ph.least_squares(*data, agents=8, batch=3)
    one = ph.solve(problem, net, Knowing, iterations=50, stop_at_target=False)
    other = ph.solve(problem, net, ph.polyak(optimum="per-sample"), iterations=50, stop_at_target=False)
    np.testing.assert_array_equal(one.models, other.models)


def test_what_was_lent_is_of_no_use_later_or_elsewhere(squares, net):
    kept, raised = [], []

    def elsewhere(network):
        try:
            network.combine(np.zeros((8, 5)))
        except ValueError as error:
            raised.append(str(error))

    @ph.rule("keeper")
    class Keeper(ph.StepSize):
        def choose(self, at, network):
            kept[:] = [at, network, network.reach(np.ones(8))]
            thread = threading.Thread(target=elsewhere, args=(network,))
            thread.start()
            thread.join()
            old = network.reach(np.ones(8))
            network.combine(np.ones((8, 5)))
            with pytest.raises(ValueError, match="carried something else"):
                old.rows
            return 0.1

    ph.solve(squares, net, Keeper, iterations=1)
    assert "thread" in raised[0]
    for use in (lambda: kept[0].models, lambda: kept[1].combine(np.ones((8, 5))), lambda: kept[2].rows):
        with pytest.raises(ValueError, match="only during the call"):
            use()


@pytest.mark.parametrize("chosen, message", [
    (np.ones(3), r"bad.choose: has the shape \(3,\), expected \(8,\)"), ("fast", "choose: has the dtype"), (None, "bad.choose: returned None, expected an array of 8 step sizes, or one number"),
    (np.ones(8, dtype=complex), "dtype complex128")])
def test_steps_of_another_shape_are_refused(chosen, message, squares, net):
    @ph.rule("bad")
    class Bad(ph.StepSize):
        def choose(self, at, network):
            return chosen

    with pytest.raises(ph.InputError, match=message):
        ph.solve(squares, net, Bad, iterations=5)


def test_registering_needs_a_free_name_and_a_class():
    with pytest.raises(ph.InputError, match="has a rule 'gap' already"):
        ph.rule("gap")(type("Mine", (ph.StepSize,), {"choose": lambda self, at, network: 1}))
    with pytest.raises(TypeError, match="subclass"):
        ph.rule("mine")(int)
    with pytest.raises(ph.InputError, match="has no name yet"):
        ph.solve(None or ph.least_squares(np.eye(4), np.ones(4), agents=2), ph.graph.path(2), type("Mine", (ph.StepSize,), {}))


def test_a_class_without_its_method_is_refused_at_once():
    with pytest.raises(TypeError, match=r"Mine needs a method choose\(self, at, network\)"):
        ph.rule("mine")(type("Mine", (ph.StepSize,), {}))
    with pytest.raises(TypeError, match=r"Mine needs a method step\(self, i, oracle, rule, network\)"):
        ph.algorithm("mine")(type("Mine", (ph.Algorithm,), {}))
    with pytest.raises(ph.InputError, match=r"Mine.choose: is called as choose\(self, at, network\), but it takes \(self, at\)"):
        ph.rule("mine")(type("Mine", (ph.StepSize,), {"choose": lambda self, at: 1}))


def test_classes_stand_where_names_do_and_objects_do_not(squares, net):
    expected = ph.solve(squares, net, {"rule": "own-polyak", "c": 2.0}, "own-diffusion", iterations=9).models
    run = ph.solve(squares, net, {"rule": LocalPolyak, "c": 2.0}, {"name": LazyDiffusion}, iterations=9)
    np.testing.assert_array_equal(run.models, expected)
    found = ph.compare(squares, net, {"mine": {"step": {"rule": LocalPolyak, "c": 2.0}, "algorithm": LazyDiffusion}}, iterations=9)
    np.testing.assert_array_equal(found.models["mine", 0], expected)
    assert ph.compare(squares, net, [LocalPolyak], iterations=9).methods == ["own-polyak"]
    with pytest.raises(ph.InputError, match=r"step: found an object of LocalPolyak, .*pass LocalPolyak, or "
                                            r"\{'rule': 'own-polyak', 'c': 2.0\}") as refused:
        ph.solve(squares, net, LocalPolyak(c=2.0))
    assert refused.value.argument == "step"
    with pytest.raises(ph.InputError, match=r"algorithm: found an object of LazyDiffusion, .*\{'name': 'own-diffusion'\}"):
        ph.solve(squares, net, "gap", LazyDiffusion())


def test_an_iteration_has_two_names(squares, net):
    seen = []

    @ph.rule("counting")
    class Counting(ph.StepSize):
        def choose(self, at, network):
            seen.append((at.i, at.iteration))
            return 0.1

    ph.solve(squares, net, Counting, iterations=3)
    assert seen == [(0, 0), (1, 1), (2, 2)]


def test_tables_list_what_there_is_and_what_was_added(squares, net):
    lines = dict(line.split(None, 1) for line in str(ph.rules).splitlines() if not line.startswith(" "))
    assert lines["gap"].startswith("the graph-aware Polyak rule") and lines["own_polyak"].startswith("mu_k = Jhat_k")
    assert "Combines by halves." in str(ph.algorithms) and "least_squares" in str(ph.losses)
    assert all(len(line) <= 80 for table in (ph.rules, ph.algorithms, ph.losses) for line in str(table).splitlines())
    assert "…" not in str(ph.algorithms) and "a spanning tree, for full gradients" in " ".join(str(ph.algorithms).split())
    made = ph.rules.own_polyak(c=2.0)
    np.testing.assert_array_equal(ph.solve(squares, net, made, iterations=9).models,
                                  ph.solve(squares, net, {"rule": "own-polyak", "c": 2.0}, iterations=9).models)
