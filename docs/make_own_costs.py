#!/usr/bin/python3
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Compares `auto` with tuned ATC on random costs that are given as Python functions: fills a table of auto-rule.md.

    PYTHONPATH=build/python docs/make_own_costs.py [--before FOLDER] [--draw SEED] [--problems N] [--out FILE]

--before: the package of an earlier version, for a second row of each group. One line of JSON per problem goes to FILE; problems that are in it already
are not run again. ATC's constants, a factor of 10^(1/4) apart, are tuned in NumPy on two other seeds, once for the last and once for the averaged
iterates. All are compared on three seeds, by medians.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import warnings

import numpy as np
from scipy.optimize import minimize

from _document import put

CONSTANTS = 10 ** np.arange(-4, 1.6, 0.25)
TUNING, REPORTED = (11, 12), (1, 2, 3)
FLOOR = 1e-9  # risks below this share of the first one count as equal


# ---------------------------------------------------------------- costs: values and gradients of samples at points (..., K, M)


def of_predictions(value, slope):
    """The loss of h.w and y; H is (K, b, M), y is (K, b)."""
    def loss(W, H, y):
        z = np.einsum("kbm,...km->...kb", H, W)
        return value(z, y), slope(z, y)[..., None] * H
    return loss


def distance(W, H, y):
    """sqrt(1 + ||w - h||^2) - 1"""
    d = W[..., None, :] - H
    far = np.sqrt(1 + np.sum(d * d, axis=-1))
    return far - 1, d / far[..., None]


def soft_maximum(W, H, y):
    """log(e^z + e^-2z + e^y), z = h.w"""
    z = np.einsum("kbm,...km->...kb", H, W)
    pieces = np.stack([z, -2 * z, np.broadcast_to(y, z.shape)])
    top = pieces.max(axis=0)
    weights = np.exp(pieces - top)
    total = weights.sum(axis=0)
    return top + np.log(total), ((weights[0] - 2 * weights[1]) / total)[..., None] * H


LOSSES = {
    "least squares": of_predictions(lambda z, y: (z - y) ** 2 / 2, lambda z, y: z - y),
    "logistic": of_predictions(lambda z, y: np.logaddexp(0, -y * z), lambda z, y: -y * np.exp(-np.logaddexp(0, y * z))),
    "pseudo-Huber": of_predictions(lambda z, y: np.sqrt(1 + (z - y) ** 2) - 1, lambda z, y: (z - y) / np.sqrt(1 + (z - y) ** 2)),
    "squared hinge": of_predictions(lambda z, y: np.maximum(0, 1 - y * z) ** 2 / 2, lambda z, y: -y * np.maximum(0, 1 - y * z)),
    "counts": of_predictions(lambda z, y: np.exp(z) - y * z, lambda z, y: np.exp(z) - y),
    "fourth power": of_predictions(lambda z, y: (z - y) ** 4 / 4 + (z - y) ** 2 / 2, lambda z, y: (z - y) ** 3 + z - y),
    "distance": distance,
    "soft maximum": soft_maximum,
}
CLASSES = ("logistic", "squared hinge")
NEED_PENALTY = ("logistic", "counts", "soft maximum")  # otherwise there may be no minimum


class Problem:
    """Problem number n of a draw."""

    def __init__(self, draw, n):
        r = self.random = np.random.default_rng((draw, n))
        self.loss = str(r.choice(list(LOSSES)))
        self.K, self.N, self.M = int(r.choice([1, 1, 2, 4, 8, 16, 30])), int(r.choice([5, 20, 80])), int(r.choice([2, 10, 40]))
        self.T, self.batch = int(math.exp(r.uniform(math.log(100), math.log(3000)))), min(int(r.choice([1, 1, 8])), self.N - 1)
        self.fits = bool(r.random() < 0.3 and self.loss not in NEED_PENALTY + ("distance",))
        self.l2 = 0.0 if self.fits else float(r.choice([0, 0.001, 0.01, 0.1]))
        if self.loss in NEED_PENALTY:
            self.l2 = max(self.l2, 0.001)
        self.topology = str(r.choice(["ring", "path", "star", "complete", "erdos-renyi"])) if self.K > 2 else "path"
        self.sparse, self.uneven = bool(r.random() < 0.25), float(r.choice([0, 0, 0.5, 1]))
        self.make_samples(0.0 if self.fits else float(r.choice([0.3, 1])), 0.0 if self.fits else float(r.choice([0, 0, 0.5])))

    def make_samples(self, noise, spread):
        r, shape = self.random, (self.K, self.N, self.M)
        H = r.normal(size=shape)
        if self.sparse:
            H *= r.random(shape) < max(0.1, 1.5 / self.M)
            H /= np.maximum(np.linalg.norm(H, axis=2, keepdims=True), 1e-9)
        elif r.random() < 0.5:
            H /= math.sqrt(self.M)
        H *= np.exp(self.uneven * r.normal(size=(self.K, 1, 1))) * (0.5 if self.loss == "counts" else 1)
        w = r.normal(size=self.M) + spread * r.normal(size=(self.K, self.M))
        z = np.einsum("knm,km->kn", H, w) + noise * r.normal(size=shape[:2])
        if self.loss in CLASSES:
            z = np.where(z > 0, 1.0, -1.0)
        elif self.loss == "counts":
            z = r.poisson(np.exp(np.clip(z, -5, 5))).astype(float)
        self.H, self.y = H, z

    def __str__(self):
        more = [f"batch {self.batch}", f"T {self.T}", f"l2 {self.l2:g}"] + ["fits"] * self.fits + ["sparse"] * self.sparse
        return f"{self.loss}, {self.topology} of {self.K}, N{self.N} M{self.M}" + (f" scales {self.uneven:g}" if self.uneven else "") + ", " + ", ".join(more)

    def costs(self, W, agents, batches):
        """(values (..., K), gradients (..., K, M)) of batches (K, b)."""
        rows = np.asarray(agents)[:, None]
        with np.errstate(all="ignore"):
            value, gradient = LOSSES[self.loss](W, self.H[rows, batches], self.y[rows, batches])
            return value.mean(axis=-1) + self.l2 / 2 * np.sum(W * W, axis=-1), gradient.mean(axis=-2) + self.l2 * W

    def whole(self, w):
        values, gradients = self.costs(np.tile(w, (self.K, 1)), np.arange(self.K), np.tile(np.arange(self.N), (self.K, 1)))
        return values.mean(), gradients.mean(axis=0)

    def minimum(self):
        w, best = np.zeros(self.M), math.inf
        for _ in range(3):  # begun again, it forgets curvatures that misled it
            found = minimize(self.whole, w, jac=True, method="L-BFGS-B", options={"maxiter": 20000, "maxfun": 10**5, "ftol": 0, "gtol": 1e-13, "maxcor": 30})
            w, best = found.x, min(best, found.fun)
        return max(best, 0.0) if self.fits else best

    def risks(self, W, minimum):
        """The mean excess risk of rows (..., K, M)."""
        def risk(w):
            with np.errstate(all="ignore"):
                value = self.whole(w)[0] - minimum
            return value if np.isfinite(value) else math.inf
        return np.mean(np.apply_along_axis(risk, -1, W), axis=-1)

    def network(self):
        import polyhop as ph
        if self.K <= 2:
            return ph.graph.path(self.K)
        if self.topology == "erdos-renyi":
            return ph.graph.erdos_renyi(self.K, max(0.3, 2 * math.log(self.K) / self.K), seed=1)
        return getattr(ph.graph, self.topology)(self.K)


# ---------------------------------------------------------------- methods


def atc(problem, A, constants, seeds):
    """(last, averaged) models (seeds, constants, K, M), all runs at once."""
    K = problem.K
    draws = np.stack([np.random.default_rng(seed).integers(0, problem.N, (problem.T, K, problem.batch)) for seed in seeds])
    W = np.zeros((len(seeds), len(constants), K, problem.M))
    mean, mu = W.copy(), np.asarray(constants)[:, None, None]
    with np.errstate(all="ignore"):
        for i in range(problem.T):
            for s in range(len(seeds)):
                W[s] = A @ (W[s] - mu * problem.costs(W[s], np.arange(K), draws[s, i])[1])
            mean += 4 / (i + 4) * (W - mean)
    return W, mean


def tuned_atc(problem, A, minimum):
    """Medians of the last and the averaged risks, each with its best constant."""
    tried = [problem.risks(W, minimum) for W in atc(problem, A, CONSTANTS, TUNING)]
    best = [CONSTANTS[np.argmin(np.median(risks, axis=0))] for risks in tried]
    found = [problem.risks(W, minimum) for W in atc(problem, A, best, REPORTED)]
    return [float(np.median(found[goal][:, goal])) for goal in (0, 1)]


def automatic(problem, minimum):
    """Last and averaged risks of each seed; infinity where a run diverged."""
    import polyhop as ph
    own = ph.objective(problem.costs, agents=problem.K, dimension=problem.M, samples=problem.N, batch=problem.batch)
    found = []
    for seed in REPORTED:
        run = ph.solve(own, problem.network(), iterations=problem.T, seed=seed, reference=minimum, stop_at_target=False, record_every=problem.T,
                       record_agents="all", threads=1)
        last = run.curves.iloc[-1]
        whole = last.iteration == problem.T
        found.append([risk if whole and np.isfinite(risk) else math.inf for risk in (last.excess_risk, last.excess_risk_averaged)])
    return found


def only_auto(draw, n, minimum):
    """For a package of an earlier version: what `automatic` finds, on standard output."""
    warnings.simplefilter("ignore")
    print(json.dumps(automatic(Problem(draw, n), minimum)))


def measured(draw, n, before):
    problem = Problem(draw, n)
    minimum, A = problem.minimum(), np.array(weights(problem))
    out = {"draw": draw, "n": n, "problem": str(problem), "fits": problem.fits, "epochs": problem.T * problem.batch / problem.N, "K": problem.K,
           "start": float(problem.risks(np.zeros((1, problem.M)), minimum)), "atc": tuned_atc(problem, A, minimum), "now": automatic(problem, minimum)}
    if before:
        command = [sys.executable, __file__, "--only-auto", str(draw), str(n), repr(minimum)]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={"PYTHONPATH": before, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"})
        out["before"] = json.loads(told.stdout)
    return out


def weights(problem):
    matrix = problem.network()
    matrix = (matrix.metropolis() if hasattr(matrix, "metropolis") else matrix).matrix if problem.K > 1 else np.ones((1, 1))
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


# ---------------------------------------------------------------- the table


def ratios(found, version):
    """(last, averaged) of the median run, over ATC's; risks below the floor are equal, and so are those of runs that diverged."""
    medians = [statistics.median(run[goal] for run in found[version]) for goal in (0, 1)]
    ours, theirs = ([min(max(risk / found["start"], FLOOR), 1 / FLOOR) for risk in risks] for risks in (medians, found["atc"]))
    return [own / other for own, other in zip(ours, theirs)]


def worst(found, version):
    return max(risk for run in found[version] for risk in run) / found["start"]


def row(name, version, problems):
    pairs = [ratios(found, version) for found in problems]
    ahead = [[ratio <= 1.05 for ratio in pair] for pair in pairs]
    shares = [np.mean([a[0] for a in ahead]), np.mean([a[1] for a in ahead]), np.mean([all(a) for a in ahead])]
    means = [statistics.geometric_mean(pair[goal] for pair in pairs) for goal in (0, 1)]
    diverged = sum(math.isinf(run[0]) for found in problems for run in found[version])
    above = sum(not run[0] <= found["start"] * 1.05 for found in problems for run in found[version]) - diverged
    return (f"| {name}, {version} | {len(problems)} | " + " | ".join(f"{share:.0%}" for share in shares) +
            " | " + " | ".join(f"{mean:.2g}" for mean in means) + f" | {diverged} | {above} |")


GROUPS = {
    "noisy, less than 3 epochs": lambda found: not found["fits"] and found["epochs"] < 3,
    "noisy, 3 to 15 epochs": lambda found: not found["fits"] and 3 <= found["epochs"] < 15,
    "noisy, more": lambda found: not found["fits"] and found["epochs"] >= 15,
    "fit": lambda found: found["fits"],
    "one agent": lambda found: found["K"] == 1,
    "all": lambda found: True,
}


def table(results):
    lines = ["| costs | problems | last, ATC | averaged, ATC | both | mean ratio, last | averaged | diverged | above the start |", "|---" * 9 + "|"]
    for name, belongs in GROUPS.items():
        problems = [found for found in results if belongs(found)]
        lines += [row(name, version, problems) for version in ("before", "now") if problems and version in problems[0]]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="folder of an earlier version's Python package")
    parser.add_argument("--draw", type=int, default=51)
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("own-costs.jsonl"))
    parser.add_argument("--dry", action="store_true", help="print the table, write no document")
    parser.add_argument("--only-auto", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only_auto:
        return only_auto(int(given.only_auto[0]), int(given.only_auto[1]), float(given.only_auto[2]))
    warnings.simplefilter("ignore")
    results = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    done = {(found["draw"], found["n"]) for found in results}
    with given.out.open("a") as file:
        for n in range(given.problems):
            if (given.draw, n) in done:
                continue
            results.append(measured(given.draw, n, given.before))
            print(json.dumps(results[-1]), file=file, flush=True)
    text = table([found for found in results if found["draw"] == given.draw])
    print(text)
    if not given.dry:
        put("auto-rule.md", "own costs", text)
    return None


if __name__ == "__main__":
    main()
