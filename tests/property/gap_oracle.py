# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the C++ GAP family with its NumPy twin: `python3 gap_oracle.py PATH_TO_gap_dump [unittest arguments]`.

The program is run as `gap_dump OUTDIR` and writes OUTDIR/<n>/ of one run each; a directory in place of the program
compares what it already holds.

Paths amplify small differences, so each iteration is recomputed from the C++ iterate before it (only the sums of
`cap = "distance"` and the accepted steps of backtracking are the twin's own). The first iterations are also run freely
from the start.
"""

import sys
import unittest

import numpy as np

import gap_twin
from _dumped_run import (COLUMNS, OVERFLOWED, DumpedRun, cap_of, check_inputs, describe_difference, directions,
                         folder_of, natural_step, numbered, row_errors, step_errors)

TOLERANCE = 1e-9  # relative: rows to max(1, norm), steps to the largest step of the iteration
FREE_ITERATIONS = 20
LEAST_INSTANCES = 50
MOST_EXCUSED = 0.05  # share of the iterations that may differ because a vanishing gradient divides rounding errors
# `sketch` is compared wherever it occurs, but not demanded: only paper, rows, norms and graph are deterministic.
COMBINATIONS = [(bound, damping) for bound in gap_twin.BOUNDS for damping in ("paper", "rows", "norms", "graph")]

source = None  # the program or directory, from the command line


class Instance(DumpedRun):
    """One dumped run, its options side by side as the twin takes them."""

    def __init__(self, folder):
        super().__init__(folder)
        self.options = {key: self.given[key] for key in ("loss", "l2", "delta", "lambda_B") if key in self.given}
        for key, value in self.given["step"].items():
            if key != "sketch_size":  # the sketch itself says it
                self.options["decrease" if key == "delta" else key] = cap_of(value) if key == "cap" else value
        self.full_options = {**gap_twin.DEFAULTS, **self.options}

    def twin(self):
        return gap_twin.Twin(self.A, self.H, self.y, self.start, self.options, self.wo, self.sketch)


# ---------------------------------------------------------------- traffic, from the cost table
#
# Per iteration, over all agents: `hop` rows are sent along the edge directions, `two_hop` rows come to agents from
# everybody within two hops, each once.


def holds_gradient_lists(o):
    """`paper` and `rows` damping need the two-hop gradients themselves."""
    return o["damping"] in ("paper", "rows")


def sweep_traffic(o, hop, two_hop):
    """(vectors, scalars) of one sweep after the first: the two-hop mu_l where gradients are held, else A(A .)."""
    if holds_gradient_lists(o) and o["exchange"] == "lists":
        return 0, two_hop
    return 2 * hop, 0


def damping_traffic(o, hop, two_hop, sketch, single):
    """(vectors, scalars) of alpha: lists of g, the norms by two scalar rounds, lists of s numbers, or nothing.

    `single`: gradients are numbers times single samples, and sent as these.
    """
    if holds_gradient_lists(o):
        return two_hop, two_hop if single else 0
    if o["damping"] == "norms":
        return 0, 2 * hop
    if o["damping"] == "sketch":
        return 0, sketch.shape[-2] * two_hop
    return 0, 0


def cap_traffic(o, hop):
    """(vectors, scalars) of the distance cap: B G unless lists of g are held; r_l, and with `mixed` S_l + s_l."""
    if o["cap"] != "distance":
        return 0, 0
    return (0 if holds_gradient_lists(o) else 2 * hop), (2 * hop if o["sums"] == "mixed" else hop)


def agreement_rounds(o, A):
    """How often backtracking passes a number on: once, or as far as the network reaches."""
    return 1 if o["reach"] == "neighbours" else gap_twin.diameter(A)


def step_traffic(o, A, sketch, single):
    """(vectors, scalars) that the rule sends in an iteration; None for an exact solve, which is no protocol."""
    hop, two_hop = directions(A)
    if o["rule"] == "backtracking":
        return 0, hop * agreement_rounds(o, A)
    if o["rule"] != "gap":
        return 0, 0
    if o["sweeps"] == "exact":
        return None
    parts = [
        (two_hop if o["bound"] == "paper" else 2 * hop, 0),  # lists of w, or B W by two relay rounds
        damping_traffic(o, hop, two_hop, sketch, single),
        cap_traffic(o, hop),
        (0, hop if o["agree"] != "none" else 0),
    ] + [sweep_traffic(o, hop, two_hop)] * (o["sweeps"] - 1)
    return tuple(int(total) for total in np.sum(parts, axis=0))


def evaluations(o, A):
    """(values, gradients) of an iteration over all agents: one evaluation of Jhat_k on its batch counts as one.

    `paper`: one value for every l with b_kl > 0, agent k included. `oracle` needs no value; w^o's values are given.
    """
    K = len(A)
    if o["rule"] in ("constant", "decay") or (o["rule"] == "gap" and o["bound"] == "oracle"):
        return 0, K
    if o["rule"] == "gap" and o["bound"] == "paper":
        return int(np.sum(gap_twin.two_hop_weights(A) > 0)), K
    return K, K


def values_of_backtracking(x):
    """The counter of values after each iteration: a line search takes as many as it takes."""
    twin, counts = x.twin(), [0]
    for i in range(len(x.mu)):
        twin.step(i, x.W[i], x.index[i])
        counts.append(counts[-1] + twin.values)
    return np.array(counts)


def rounds(o, A):
    """Rounds of an iteration: exchanges come one after the other, unless none needs what another brings.

    1  combine: psi_l.
    2  in all: the two-hop lists of w, g and sketches; the relay of B W, for every bound but `paper`; the norms over two
       hops, for damping `norms`.
    2  the relay of B G, for a distance cap without lists of g.
    2  for each sweep after the first, either form: mu_l (lists) or mu_l g_l (relay) over two hops.
    1  cap = "distance": S_l + s_l and max(r_l, ||w_l - w_{l,0}||) together.
    1  agree: the final mu_l; backtracking's accepted steps, or as many rounds as the diameter.
    An exact solve has no fixed number: None.
    """
    if o["rule"] == "backtracking":
        return 1 + agreement_rounds(o, A)
    if o["rule"] != "gap":
        return 1
    if o["sweeps"] == "exact":
        return None
    relays_energy = o["cap"] == "distance" and not holds_gradient_lists(o)
    return 1 + 2 + 2 * relays_energy + 2 * (o["sweeps"] - 1) + (o["cap"] == "distance") + (o["agree"] != "none")


# ---------------------------------------------------------------- comparing numbers


def max_over(rows):
    return np.max(np.array(list(rows)), axis=0)


def rounding_level(batch, W, G):
    """Agents whose gradient moves by more than 1% of itself when W moves by a unit in the last place."""
    nudge = np.finfo(float).eps * np.max(np.abs(W)) * np.random.default_rng(0).standard_normal((4,) + W.shape)
    moved = max_over(np.linalg.norm(batch.gradients(W + n) - G, axis=1) for n in nudge)
    return moved > 0.01 * np.linalg.norm(G, axis=1)


def sensitivity(twin, i, W, index, mu, after):
    """How far mu and W+ move, per agent, under rounding: W moved by units in the last place, and gradients that are
    nothing but rounding errors now and then set to 0. The steps of such agents are anything: infinite.

    Where a gradient nearly vanishes mu_k divides rounding errors by ||g_k||; there no two programs agree.
    """
    batch, random = twin.batch(index), np.random.default_rng(i)
    noise = rounding_level(batch, W, batch.gradients(W))
    outcomes = []
    for _ in range(16):
        moved = W + 1e-15 * np.max(np.abs(W)) * random.standard_normal(W.shape)
        still = noise & (random.random(len(W)) < 0.5)
        G = np.where(still[:, None], 0.0, batch.gradients(moved))
        other, _ = twin.choose(i, moved, G, batch)
        outcomes.append((other, gap_twin.atc(twin.A, moved, other, G)))
    if twin.options["agree"] != "none":
        noise = np.any(gap_twin.neighbourhoods(twin.A) & noise, axis=1)
    steps = np.where(noise, np.inf, max_over(step_errors(other, mu, natural_step(batch)) for other, _ in outcomes))
    return steps, max_over(row_errors(rows, after) for _, rows in outcomes)


def ill_conditioned(allowed, error):
    """Agents whose excess error is within ten times their sensitivity to rounding."""
    return error <= 10.0 * allowed


class GapOracle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.excused, cls.compared, cls.amplification, cls.free_error = 0, 0, 0.0, 0.0
        cls.instances = [Instance(f) for f in numbered(folder_of(source, cls))]

    @classmethod
    def tearDownClass(cls):
        print(f"{len(cls.instances)} instances, {cls.compared} iterations; {cls.excused} of them ill-conditioned; "
              f"free run: largest amplification {cls.amplification:.1e}, largest error {cls.free_error:.1e}",
              file=sys.stderr)

    def for_each_instance(self, check):
        """Runs the check on every instance, as a subtest that names it."""
        for instance in self.instances:
            with self.subTest(instance.describe()):
                check(instance)

    def test_instances_cover_the_family(self):
        self.assertGreaterEqual(len(self.instances), LEAST_INSTANCES)
        gap = [i.full_options for i in self.instances if i.full_options["rule"] == "gap"]
        present = {(o["bound"], o["damping"]) for o in gap if o["sweeps"] != "exact"}
        self.assertEqual([pair for pair in COMBINATIONS if pair not in present], [], "combinations that never occur")

    def test_inputs_are_as_promised(self):
        self.for_each_instance(lambda x: check_inputs(self, x))

    def test_lambda_of_the_graph_is_a_tight_upper_bound(self):
        self.for_each_instance(self.check_lambda)

    def check_lambda(self, x):
        o = x.full_options
        if o["rule"] == "gap" and o["damping"] == "graph" and o["sweeps"] != "exact":
            exact = gap_twin.graph_lambda(gap_twin.two_hop_weights(x.A))
            self.assertIsNotNone(o["lambda_B"], "options.json lacks lambda_B")
            self.assertGreaterEqual(o["lambda_B"], exact * (1 - 1e-12))
            self.assertLessEqual(o["lambda_B"], exact * (1 + 1e-3))

    def test_each_iteration_from_the_same_iterate(self):
        self.for_each_instance(self.compare_path)
        self.assertLessEqual(self.excused, MOST_EXCUSED * self.compared, "too many iterations are ill-conditioned")

    def compare_path(self, x):
        """Every iteration, each from the C++ iterate; where the path overflows the twin has to overflow as well."""
        twin, exact = x.twin(), x.full_options["rule"] == "gap" and x.full_options["sweeps"] == "exact"
        for i in range(x.iterations()):
            self.compare_exact(x, twin, i) if exact else self.compare_iteration(x, twin, i)
            type(self).compared += 1
        i = x.iterations()
        if i < len(x.mu):
            _, after = twin.probe(i, x.W[i], x.index[i])
            self.assertFalse(np.max(np.abs(after)) < 1e-3 * OVERFLOWED,
                             f"iteration {i}: C++ has {np.max(np.abs(x.W[i + 1]))}, the twin is far from overflow")

    def compare_iteration(self, x, twin, i):
        """mu and W+ of iteration i, from the C++ iterate."""
        before = twin.state
        mu, after = twin.step(i, x.W[i], x.index[i])
        mu_error = step_errors(mu, x.mu[i], natural_step(twin.batch(x.index[i])))
        after_error = row_errors(after, x.W[i + 1])
        if max(mu_error.max(), after_error.max()) <= TOLERANCE:
            return
        moved_on, twin.state = twin.state, before
        mu_moves, after_moves = sensitivity(twin, i, x.W[i], x.index[i], mu, after)
        twin.state = moved_on
        for name, error, moves, ours, theirs in (("mu", mu_error, mu_moves, mu, x.mu[i]),
                                                 ("W", after_error, after_moves, after, x.W[i + 1])):
            bad = np.flatnonzero((error > TOLERANCE) & ~ill_conditioned(moves, error))
            if bad.size:
                self.fail(describe_difference(name, i, bad[0], ours, theirs, error))
        type(self).excused += 1

    def compare_exact(self, x, twin, i):
        """The minimiser may not be unique: compares the model's values, then W+ under the C++ steps."""
        o, W, mu = x.full_options, x.W[i], x.mu[i]
        batch = twin.batch(x.index[i])
        G = batch.gradients(W)
        Z, cbar = gap_twin.gram(twin.B, G), twin.cbar(W, G, batch)
        ours = gap_twin.exact_steps(Z, cbar, gap_twin.moving(G))
        self.assertTrue(np.all(mu >= 0), f"iteration {i}: negative step {mu.min()}")
        if o["cap"] is None and o["agree"] == "none":
            theirs = mu / o["relaxation"]
            best, got = gap_twin.model(Z, cbar, ours), gap_twin.model(Z, cbar, theirs)
            # q is a sum of terms of size |cbar|.u, and cbar itself is only known to the rounding of g.w.
            slack = TOLERANCE * max(abs(best), 2.0 * np.abs(cbar) @ theirs)
            rounding = 1e-14 * np.max(np.abs(W)) * np.linalg.norm(G, axis=1) @ (ours + theirs)
            self.assertLessEqual(got, best + slack + rounding, f"iteration {i}: q, C++ against the twin")
        after = gap_twin.atc(x.A, W, mu, G)
        error = row_errors(after, x.W[i + 1])
        if error.max() > TOLERANCE:
            self.fail(describe_difference("W", i, int(np.argmax(error > TOLERANCE)), after, x.W[i + 1], error))

    def test_free_run_from_the_start(self):
        self.for_each_instance(self.compare_free_run)

    def compare_free_run(self, x):
        """The first iterations without forcing; a run from a nudged start tells how much differences grow."""
        if x.full_options["rule"] == "gap" and x.full_options["sweeps"] == "exact":
            return  # not unique, so neither is the path
        twin, nudged_twin = x.twin(), x.twin()
        W, size = x.start, 1e-12 * max(1.0, np.max(np.abs(x.start)))
        nudged = W + size * np.random.default_rng(0).standard_normal(W.shape)
        amplification = 1.0
        for i in range(min(FREE_ITERATIONS, x.iterations())):
            _, W = twin.step(i, W, x.index[i])
            _, nudged = nudged_twin.step(i, nudged, x.index[i])
            amplification = max(amplification, np.max(row_errors(nudged, W)) / size)
            error = row_errors(W, x.W[i + 1])
            if error.max() > TOLERANCE * amplification:
                k = int(np.argmax(error))
                self.fail(describe_difference("W", i, k, W, x.W[i + 1], error) + f", amplified {amplification:.1e}")
            type(self).free_error = max(self.free_error, error.max())
        type(self).amplification = max(self.amplification, amplification)

    def test_traffic(self):
        self.for_each_instance(self.compare_traffic)

    def compare_traffic(self, x):
        """Vectors, scalars and evaluations, exactly; of an exact solve only the algorithm's share."""
        o, (hop, _) = x.full_options, directions(x.A)
        step, (values, gradients) = step_traffic(o, x.A, x.sketch, x.is_single()), evaluations(o, x.A)
        columns = {name: x.traffic[:, c] for c, name in enumerate(COLUMNS)}
        expected = {"values": values, "gradients": gradients}
        if o["rule"] == "backtracking":
            np.testing.assert_array_equal(columns["values"], values_of_backtracking(x))
            del expected["values"]
        if step is None:
            columns["combined vectors"] = columns["vectors"] - columns["step_vectors"]
            columns["combined scalars"] = columns["scalars"] - columns["step_scalars"]
            expected.update({"combined vectors": hop, "combined scalars": 0})
        else:
            expected.update({"step_vectors": step[0], "step_scalars": step[1]})
            expected.update({"vectors": hop + step[0], "scalars": step[1]})
        wrong = [describe_count(name, columns[name], each) for name, each in expected.items()]
        self.assertEqual([w for w in wrong if w], [])

    def test_rounds(self):
        self.for_each_instance(self.compare_rounds)

    def compare_rounds(self, x):
        each = rounds(x.full_options, x.A)
        if each is not None:
            self.assertIsNone(describe_count("rounds", x.traffic[:, COLUMNS.index("rounds")], each))


def describe_count(name, counted, each):
    """None if the counter is i * each after i iterations, else where it first is not."""
    expected = each * np.arange(len(counted))
    bad = np.flatnonzero(counted != expected)
    if not bad.size:
        return None
    i = bad[0]
    return f"{name} after {i} iterations: expected {expected[i]} ({each} an iteration), C++ {counted[i]:.0f}"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    source = sys.argv.pop(1)
    unittest.main()
