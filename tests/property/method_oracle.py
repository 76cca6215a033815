# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Compares every algorithm and rule in C++ with its NumPy twin: `python3 method_oracle.py PATH_TO_method_dump [...]`.

The program is run as `method_dump OUTDIR` and writes OUTDIR/<n>/ of one run each; a directory in place of the program
compares what it already holds. The twin runs freely from the same start on the same samples. A second twin, disturbed
by 1e-12 in every iteration, tells what becomes of rounding errors: where they grow so much that they could come near
the tolerance, the path is chaotic and the comparison of this run ends. What is sent and evaluated is compared exactly,
iteration by iteration.
"""

import json
import sys
import unittest

import numpy as np

import gap_oracle
import gap_twin
import method_twin
from _dumped_run import (COLUMNS, DumpedRun, cap_of, check_inputs, describe_difference, directions, folder_of,
                         natural_step, numbered, row_errors, step_errors)

TOLERANCE = 1e-9  # relative: rows to max(1, norm), steps to the largest step of the iteration
NUDGE = 1e-12
CHAOTIC = 1e5  # growth of nudges from which on a path is not compared: 1e5 times a rounding error is 1e-11
LEAST_INSTANCES = 50
LEAST_ITERATIONS = 10  # of each run, before it may be chaotic
LEAST_AUTOMATIC = 16  # runs of `auto`, each compared to its end
LEAST_SHARE = 0.95  # of all iterations that must be compared

STAND_INS = {"tuned"}  # names that an experiment replaces by another rule
ALGORITHM_RULES = {"auto"}  # names of rules that are an algorithm of their own
COMMON_RULES = ("constant", "decay", "schedule")  # the same step for all, without a word
GAP_ALGORITHMS = ("atc", "cta", "dgd", "exact-diffusion", "gradient-tracking", "diging")
DIAGONAL = ("cta", "dgd", "diging")  # P = I: nothing to ask the neighbours
TRACKED = ("gradient-tracking", "diging")  # their values are the network's

source = None  # the program or directory, from the command line


class Instance(DumpedRun):
    """One dumped run, and the twin's view of its options."""

    def __init__(self, folder):
        super().__init__(folder)
        algorithm, step = dict(self.given["algorithm"]), dict(self.given["step"])
        self.name, self.algorithm = algorithm.pop("name"), algorithm
        self.rule = step.pop("rule")
        if "cap" in step:
            step["cap"] = cap_of(step["cap"])
        if "file" in step:
            name = step.pop("file")
            step["steps"] = list(np.loadtxt(name, ndmin=1)) if name else None
        self.step = step
        self.K, self.b = self.index.shape[1:]

    def twin(self):
        problem = {key: self.given[key] for key in ("loss", "l2", "delta")}
        rule = None if self.rule == "own" else (self.rule, self.step)
        return method_twin.Run(self.A, self.H, self.y, self.start, self.b, problem, (self.name, self.algorithm), rule,
                               self.wo, self.sketch, self.given.get("lambda_B"), self.given["gradient"], self.coins,
                               self.signs, self.given["iterations"], self.given["own"])

    def options(self):
        """The rule's options, given or by default."""
        return {**method_twin.RULE_DEFAULTS.get(self.rule, {}), **self.step}

    def is_stochastic(self):
        return self.b < self.H.shape[1]


# ---------------------------------------------------------------- what an iteration sends and evaluates
#
# Sums over all agents, as in gap_oracle.py: a message to every neighbour is `hop`, a two-hop list `two_hop`.


def algorithm_messages(x, i, twin):
    """(rounds, vectors per edge, scalars per edge) of the recursion itself. Trackers have nothing to send at i = 0."""
    if x.name == "auto":
        return 1, 1, int(twin.algorithm.stage > 0)
    if x.name == "gradient-tracking":
        R = x.algorithm["rounds"]
        return (2 * R, 2 * R, 0) if i > 0 else (R, R, 0)
    if x.name in ("diging", "next"):
        return (2, 2, 0) if i > 0 else (1, 1, 0)
    if x.name in ("damsgrad", "kuruzov"):
        return 2, 2, 0
    agent_wise = x.name == "exact-diffusion" and x.algorithm["form"] == "dual" and x.rule not in COMMON_RULES
    return 1, 1, int(agent_wise)


def metric_traffic(x, o):
    """(rounds, vectors, scalars) of what GAP asks about the metric: B X and the damping together, the later sweeps."""
    hop, two_hop = directions(x.A)
    if x.name in DIAGONAL:
        return 0, 0, 0
    parts = [(two_hop if o["bound"] == "paper" else 2 * hop, 0), gap_oracle.damping_traffic(o, hop, two_hop, x.sketch, x.is_single() and x.name not in TRACKED)]
    parts += [gap_oracle.sweep_traffic(o, hop, two_hop)] * (o["sweeps"] - 1)
    return (2 * o["sweeps"], *np.sum(parts, axis=0))


def cap_traffic(x, o):
    """(rounds, vectors, scalars) of GAP's cap."""
    hop, _ = directions(x.A)
    if o["cap"] == "curvature":
        length = gap_twin.diameter(x.A)
        return length, 0, length * hop
    if o["cap"] == "distance":
        vectors, scalars = gap_oracle.cap_traffic(o, hop)
        vectors = 0 if x.name in DIAGONAL else vectors
        return 1 + 2 * (vectors > 0), vectors, scalars
    return 0, 0, 0


def estimate_traffic(x, i):
    """(rounds, vectors, scalars) of `optimum = "estimate"`: how long an epoch is, once; two numbers at its end."""
    hop, length = directions(x.A)[0], gap_twin.diameter(x.A)
    epoch = max(method_twin.SHORTEST_EPOCH, -(-x.H.shape[1] // x.b))
    if i == 0:
        return length, 0, length * hop
    return (1, 0, 2 * hop) if (i + 1) % epoch == 0 else (0, 0, 0)


def automatic_traffic(x, i, twin):
    """(rounds, vectors, scalars) of `auto`: GAP and what it claims; folds and averages; sums up a tree and down."""
    hop, two_hop = directions(x.A)
    parts = [(0, 0, 0)]
    if i == 0 and x.given["iterations"] > 0 and not x.given["own"]:  # how long an epoch is; whether all begin at 0
        length = gap_twin.diameter(x.A)
        parts += [(length, 0, length * hop)] * (2 if x.start.shape[1] <= 200 else 1)
    if twin.stage == 0:
        parts += [metric_traffic(x, method_twin.AUTO_GAP), (2, 0, two_hop)]
    elif isinstance(twin.descent, method_twin.Remembering):
        parts.append((2, 0, (method_twin.FOLDS + 4) * hop))
    parts += [(2 * height(x.A), 0, 2 * numbers * (len(x.A) - 1)) for numbers in twin.asked]
    return np.sum(parts, axis=0)


def height(A):
    """How far the farthest agent is from agent 0."""
    near, reached, length = gap_twin.neighbourhoods(A), np.arange(len(A)) == 0, 0
    while not reached.all():
        reached, length = np.any(near[reached], axis=0), length + 1
    return length


def uses_values(x):
    """The rule looks at what y is the gradient of."""
    return x.rule in ("polyak", "sps", "decsps") or (x.rule == "gap" and x.options()["bound"] != "oracle")


def step_traffic(x, i, twin):
    """(rounds, vectors, scalars) that the rule sends."""
    o, (hop, _) = x.options(), directions(x.A)
    if x.name == "auto":
        return automatic_traffic(x, i, twin.algorithm)
    parts = [(0, 0, 0)]
    if x.name == "kuruzov":
        length = gap_twin.diameter(x.A)
        parts.append((length, 0, length * hop))
    if x.rule == "backtracking":
        length = gap_oracle.agreement_rounds(o, x.A)
        parts.append((length, 0, length * hop))
    if x.rule == "gap":
        parts += [metric_traffic(x, o), cap_traffic(x, o)]
    if x.name in TRACKED and uses_values(x) and i > 0:
        parts.append((1, 0, hop))  # the tracker of the values
    if o.get("agree", "none") != "none":
        parts.append((1, 0, hop))
    if o.get("optimum") == "estimate":
        length, *sent = estimate_traffic(x, i)
        shared = 2 if x.rule == "gap" and x.name not in DIAGONAL else 0  # the rounds of B X and the damping
        parts.append((max(length - shared, 0), *sent))
    return np.sum(parts, axis=0)


def values(x, twin):
    """Loss values of an iteration over all agents; a line search counts its own, and so does `auto`."""
    o = x.options()
    if twin.values is not None:
        return twin.values
    if x.rule in COMMON_RULES + ("barzilai-borwein", "adgd") or (x.rule == "gap" and o["bound"] == "oracle"):
        return 0
    if x.rule == "gap" and o["bound"] == "paper" and x.name not in DIAGONAL:
        own = x.K if o["optimum"] == "estimate" else 0  # what the estimate averages
        return int(np.sum(gap_twin.two_hop_weights(x.A) > 0)) + own
    return x.K


def gradients(x, i, twin):
    """Gradients of an iteration: those of the sample at the previous point come on top, where samples change."""
    if x.name == "auto":
        return twin.algorithm.gradients
    same_sample = x.rule in ("adgd", "barzilai-borwein") or (x.rule == "gap" and x.options()["cap"] == "curvature")
    remembered = 0
    if x.given["gradient"] == "lsvrg":  # the batch at u_k, and all samples, as batches, where that is new
        remembered = x.K + int(np.sum(x.coins[i])) * -(-x.H.shape[1] // x.b)
    return x.K * (2 if same_sample and x.is_stochastic() and i > 0 else 1) + remembered


def on_sums(x, i, twin):
    """Whether values and gradients are summed up a tree and down, and nothing else is sent."""
    own = twin.algorithm
    return x.name == "quasi-newton" or (
        x.name == "auto" and (own.passes_begin is not None or (own.turn is not None and i >= own.turn)))


def sums_traffic(x, i, twin):
    """The row of COLUMNS of an evaluation of all samples, charged as batches; before the first one starts are averaged."""
    number = i if x.name == "quasi-newton" else twin.algorithm.evaluation
    planned = np.zeros(7, dtype=int)
    if i == 0 and x.given["iterations"] > 0 and x.name == "auto":
        length, hop = gap_twin.diameter(x.A), directions(x.A)[0]
        lists = 1 + (x.is_stochastic() and twin.algorithm.epoch > 1 and x.start.shape[1] <= 200)  # an epoch; whether all begin at 0
        planned[[0, 2, 4]] = np.multiply(lists, (length, length * hop, length * hop))
    if number is None:
        return planned
    links, sums, evaluated = 2 * (x.K - 1), 2 if number == 0 else 1, x.K * -(-x.H.shape[1] // x.b)
    if x.name == "auto" and twin.algorithm.newton is not None:
        newton, M = twin.algorithm.newton, x.start.shape[1]
        sums += (M + 2) // 2 if newton.summed else 0
        rounds, scalars = sums + newton.looks, 1 + 16 * newton.looks
        return planned + [2 * height(x.A) * rounds, links * sums, links * scalars, 0, 0, evaluated,
                          evaluated * (1 + newton.summed)]
    return planned + [2 * height(x.A) * sums, links * sums, links, 0, 0, evaluated, evaluated]


def expected_traffic(x, i, twin):
    """The row of COLUMNS that iteration i adds, which the twin has just made."""
    if on_sums(x, i, twin):
        return sums_traffic(x, i, twin)
    hop, _ = directions(x.A)
    rounds, vectors, scalars = algorithm_messages(x, i, twin)
    step_rounds, step_vectors, step_scalars = step_traffic(x, i, twin)
    return [rounds + step_rounds, vectors * hop + step_vectors, scalars * hop + step_scalars, step_vectors,
            step_scalars, values(x, twin), gradients(x, i, twin)]


# ---------------------------------------------------------------- the comparison


class MethodOracle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = folder_of(source, cls)
        cls.instances = [Instance(f) for f in numbered(folder)]
        cls.names = json.loads((folder / "names.json").read_text())
        cls.compared, cls.error, cls.chaotic, cls.estimates, cls.automatic = 0, 0.0, [], [], []

    @classmethod
    def tearDownClass(cls):
        print(f"{len(cls.instances)} instances, {cls.compared} iterations, largest error {cls.error:.1e}; "
              f"chaotic: {', '.join(cls.chaotic) or 'none'}", file=sys.stderr)

    def for_each_instance(self, check):
        """Runs the check on every instance, as a subtest that names it."""
        for instance in self.instances:
            with self.subTest(instance.describe()):
                check(instance)

    def test_instances_cover_every_method(self):
        self.assertGreaterEqual(len(self.instances), LEAST_INSTANCES)
        names, rules = {x.name for x in self.instances}, {x.rule for x in self.instances}
        self.assertEqual(names, set(method_twin.ALGORITHMS))
        self.assertEqual(rules, set(method_twin.RULES) | {"own"})
        self.assertEqual({x.rule for x in self.instances if x.name == "atc"}, set(method_twin.RULES))
        self.assertEqual({x.name for x in self.instances if x.rule == "gap"}, set(GAP_ALGORITHMS))
        self.assertEqual({x.name for x in self.instances if x.rule == "constant"}, names - {"kuruzov", "quasi-newton", "auto"})
        self.assertEqual({x.given["loss"] for x in self.instances}, set(method_twin.LOSSES))
        self.assertEqual({x.given["gradient"] for x in self.instances}, set(method_twin.ESTIMATES))
        gap = [x.options() for x in self.instances if x.rule == "gap"]
        for option, value in (("optimum", "estimate"), ("damping", "sketch"), ("cap", "curvature")):
            self.assertIn(value, [o[option] for o in gap], option)

    def test_every_name_has_a_twin(self):
        self.assertEqual(set(self.names["algorithms"]), set(method_twin.ALGORITHMS))
        self.assertEqual(set(self.names["rules"]) - STAND_INS, set(method_twin.RULES) | ALGORITHM_RULES)
        self.assertLessEqual(ALGORITHM_RULES, set(method_twin.ALGORITHMS))

    def test_inputs_are_as_promised(self):
        self.for_each_instance(lambda x: check_inputs(self, x))

    def test_graph_aware_steps_are_more_than_their_limits(self):
        """Where all steps are 0 or the cap, what led there has not been compared."""
        for name in GAP_ALGORITHMS:
            steps = [x.mu for x in self.instances if x.rule == "gap" and x.name == name and x.K > 1]
            between = [np.mean((mu > 0) & (mu < np.max(mu, axis=1, keepdims=True))) for mu in steps]
            self.assertGreater(np.mean(between), 0.2, name)

    def test_lambda_of_the_metric_is_a_tight_upper_bound(self):
        self.for_each_instance(self.check_lambda)

    def check_lambda(self, x):
        if "lambda_B" in x.given:
            mixing = x.algorithm.get("mixing", 1.0)
            exact = gap_twin.graph_lambda(gap_twin.two_hop_weights(method_twin.mixing_matrix(x.A, mixing)))
            self.assertGreaterEqual(x.given["lambda_B"], exact * (1 - 1e-12))
            self.assertLessEqual(x.given["lambda_B"], exact * (1 + 1e-3))

    def test_the_largest_mixing_is_nearly_the_largest(self):
        largest = [x for x in self.instances if x.given["largest_mixing"]]
        forms = [x.algorithm.get("form", "primal") for x in largest]  # that of `auto`
        self.assertEqual(set(forms), {"dual", "primal"})
        self.assertIn("auto", {x.name for x in largest})
        for x, form in zip(largest, forms):
            exact = method_twin.largest_mixing(x.A, form)
            self.assertLessEqual(x.algorithm["mixing"], exact * (1 + 1e-12))
            self.assertGreaterEqual(x.algorithm["mixing"], exact - 1e-6)

    def test_sketches_are_signs(self):
        for x in self.instances:
            if x.sketch is not None:
                size = x.step["sketch_size"]
                self.assertEqual(x.sketch.shape, (size, x.start.shape[1]))
                np.testing.assert_allclose(np.abs(x.sketch), 1 / np.sqrt(size), rtol=1e-15)
                self.assertLess(abs(np.sum(np.sign(x.sketch))), 5 * np.sqrt(x.sketch.size))

    def test_paths_steps_and_traffic(self):
        self.for_each_instance(self.compare)
        total = sum(len(x.mu) for x in self.instances)
        self.assertGreaterEqual(self.compared, LEAST_SHARE * total, "too many iterations are chaotic")
        self.assertTrue(any(np.any(e.level > 0) for e in self.estimates), "no level was ever raised")
        self.assertTrue(any(np.any(e.share < 0.5) for e in self.estimates), "no raise was ever taken back")
        self.check_stages()

    def check_stages(self):
        """Runs of `auto` that were compared to their ends have been through all that can happen there."""
        self.assertGreaterEqual(len(self.automatic), LEAST_AUTOMATIC)
        own = [(x, twin) for x, twin in self.automatic if x.given["own"]]
        self.check_own_costs(own)
        self.automatic = [(x, twin) for x, twin in self.automatic if not x.given["own"]]
        summed = [x for x, _ in self.automatic if not x.is_stochastic()]
        self.assertEqual({x.given["loss"] for x in summed}, {"least-squares", "huber", "poisson"})
        passes = [(x, twin) for x, twin in self.automatic if twin.newton is not None]
        self.assertEqual({x.given["loss"] for x, _ in passes}, set(method_twin.LOSSES))
        partly = {x.given["loss"] == "least-squares" for x, twin in passes if twin.tested[-1] < 1}
        self.assertEqual(partly, {True, False}, "a pass that tests some samples")
        self.assertTrue(any(twin.passes_begin > 0 for _, twin in passes), "models that do not begin at 0")
        self.assertTrue(any(twin.newton.corrected for _, twin in passes), "matrices that are corrected")
        whole = [x for x, twin in self.automatic if x.is_stochastic() and twin.turn is not None]
        self.assertEqual({x.given["loss"] for x in whole}, {"least-squares", "poisson"})
        ending = [x for x, twin in self.automatic if x.given["iterations"] > 0 and twin.turn is None and twin.newton is None]
        self.assertEqual({x.b for x in ending}, {1, 3}, "steps that end at 0")
        batches = [(x, twin) for x, twin in self.automatic if x.is_stochastic() and twin.turn is None and twin.newton is None]
        kept = [(x, twin) for x, twin in batches if twin.stage == 0]
        left = [(x, twin) for x, twin in batches if twin.left_at is not None]
        began = [(x, twin) for x, twin in batches if twin.left_at is None and x.given["l2"] > 0]
        falling = [(x, twin) for x, twin in batches if x.given["loss"] == "poisson"]
        self.assertTrue(kept and all(twin.claims.n > 64 for _, twin in kept), "claims that are kept")
        self.assertLessEqual({32, 64}, {twin.left_at for _, twin in left}, "claims that are not kept")
        self.assertEqual({twin.stage for _, twin in falling}, {1, 2})
        self.assertTrue(any(twin.descent.along_gradients.raised for _, twin in falling), "trials that are far too long")
        self.assertTrue(any(twin.descent.cut for _, twin in falling), "moves that are cut")
        for what, runs in (("left", left), ("began", began)):
            self.assertLessEqual({1, 3}, {x.b for x, _ in runs}, what)
        remembering = [(x, twin.descent) for x, twin in left + began]
        self.assertIn(1, {x.K for x, _ in remembering})
        self.assertEqual({x.given["loss"] for x, _ in left + began}, set(method_twin.LOSSES) - {"poisson"})
        self.assertTrue(any(np.any((d.lambdas > 0) & (d.lambdas < 1)) for _, d in remembering), "lambda")
        self.assertTrue(any(len(seen) == x.H.shape[1] for x, d in remembering for seen in d.memory), "all were drawn")
        self.assertTrue(any(len(seen) < x.H.shape[1] for x, d in remembering for seen in d.memory), "some were not")
        twice = [len(set(drawn)) < x.b for x, _ in remembering for draws in x.index for drawn in draws]
        self.assertTrue(any(twice), "samples that were drawn twice in a batch")

    def check_own_costs(self, own):
        """Costs that are functions, too."""
        self.assertTrue(any(twin.stage == 0 for _, twin in own), "claims that are kept")
        self.assertTrue(any(twin.limited for _, twin in own), "steps of stage 0 that are limited")
        self.assertTrue(any(twin.worse for _, twin in own), "models that go back to the start")
        descents = [(x, twin.descent) for x, twin in own if twin.stage > 0]
        remembering = [d for _, d in descents if isinstance(d, method_twin.Remembering)]
        self.assertTrue(any(d.limited for d in remembering), "later steps that are limited")
        self.assertTrue(any(np.any((d.lambdas > 0) & (d.lambdas < 1)) for d in remembering), "lambda")
        self.assertEqual({x.b for x, d in descents if isinstance(d, method_twin.Remembering)}, {1, 3})
        self.assertTrue(any(isinstance(d, method_twin.Corrected) for _, d in descents), "full gradients")
        self.assertEqual({x.given["iterations"] > 0 for x, d in descents}, {True, False}, "with and without an end")
        self.assertIn(1, {x.K for x, _ in descents})

    def compare(self, x):
        """One free run; traffic needs no twin but for line searches, and is compared to the end of the path."""
        twin, nudged, random, growth = x.twin(), x.twin(), np.random.default_rng(0), 1.0
        sent = np.diff(x.traffic, axis=0)
        for i in range(x.iterations()):
            mu = twin.step(i, x.index[i])
            self.compare_traffic(x, i, sent[i], twin)
            moved = nudged.step(i, x.index[i])
            natural = natural_step(twin.batch(x.index[i]))
            growth = max(growth, *row_errors(nudged.W, twin.W) / NUDGE, *step_errors(moved, mu, natural) / NUDGE)
            if growth > CHAOTIC:
                self.assertGreaterEqual(i, LEAST_ITERATIONS, "chaotic too early to compare")
                self.chaotic.append(f"{x.folder.name} from {i} of {len(x.mu)}")
                return
            self.compare_numbers("mu", i, mu, x.mu[i], step_errors(mu, x.mu[i], natural))
            self.compare_numbers("W", i, twin.W, x.W[i + 1], row_errors(twin.W, x.W[i + 1]))
            type(self).compared += 1
            nudged.disturb(NUDGE * max(1.0, np.max(np.abs(twin.W))) * random.standard_normal(twin.W.shape))

        if twin.rule is not None and twin.rule.level is not None:
            self.estimates.append(twin.rule.level)
        if x.name == "auto":
            self.automatic.append((x, twin.algorithm))

    def compare_numbers(self, name, i, ours, theirs, error):
        if error.max() > TOLERANCE:
            self.fail(describe_difference(name, i, int(np.argmax(error)), ours, theirs, error))
        type(self).error = max(self.error, error.max())

    def compare_traffic(self, x, i, sent, twin):
        expected = expected_traffic(x, i, twin)
        wrong = [f"{name}: expected {e}, C++ {s:.0f}" for name, e, s in zip(COLUMNS, expected, sent) if e != s]
        self.assertEqual(wrong, [], f"iteration {i}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    source = sys.argv.pop(1)
    unittest.main()
