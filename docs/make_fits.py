#!/usr/bin/python3
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of fits in docs/fit.md: `docs/make_fits.py POLYHOP` prints them.

Every set, raw and standardised, on a ring of 6 agents; scikit-learn on the pooled samples; and twelve fits on other
networks. Gaps are relative to the lowest cost found, also by a long descent with SciPy.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from scipy import optimize, special
from sklearn import datasets, linear_model, preprocessing


def housing():
    """A regression as tables of houses have it: years, areas, incomes, distances; nothing scaled."""
    draw = np.random.default_rng(7)
    n = 500
    rooms = draw.integers(2, 9, n)
    h = np.column_stack([draw.integers(1900, 2020, n), rooms, 30 * rooms + draw.normal(0, 15, n),
                         draw.lognormal(10.5, 0.5, n), draw.exponential(8, n), draw.uniform(0, 1, n)])
    y = 1500 * (h[:, 0] - 1950) + 900 * h[:, 2] + 4 * h[:, 3] - 3000 * h[:, 4] + draw.normal(0, 2e4, n)
    return h, y


def loaded(name):
    if name == "housing-like":
        return housing()
    if name == "diabetes":
        return datasets.load_diabetes(return_X_y=True, scaled=False)
    return getattr(datasets, "load_" + name.replace("-", "_"))(return_X_y=True)


class Cost:
    """The mean loss + (l2/2) ||w||^2, the intercept not penalised, of coefficients in the units of h."""

    def __init__(self, h, y, loss, l2):
        self.h, self.loss, self.l2 = h, loss, l2
        self.classes = len(set(y)) if loss == "softmax" else 1
        self.y = np.eye(self.classes)[y.astype(int)] if loss == "softmax" else y
        if loss in ("logistic", "smoothed-hinge"):
            self.y = np.where(y == np.max(y), 1.0, -1.0)

    def __call__(self, weights, intercept):
        z = self.h @ weights.T + intercept
        return self.losses(z)[0] + self.l2 / 2 * np.sum(weights**2)

    def losses(self, z):
        """The mean loss, and its derivatives by z."""
        n = len(self.h)
        if self.loss == "softmax":
            log_p = z - special.logsumexp(z, axis=1, keepdims=True)
            return -np.sum(self.y * log_p) / n, (np.exp(log_p) - self.y) / n
        z = z[:, 0]
        if self.loss == "logistic":
            return np.mean(np.logaddexp(0, -self.y * z)), (-self.y * special.expit(-self.y * z) / n)[:, None]
        return np.mean((z - self.y)**2) / 2, ((z - self.y) / n)[:, None]

    def least(self):
        """By SciPy's L-BFGS on standardised columns."""
        mean, scale = self.h.mean(axis=0), self.h.std(axis=0)
        scale[scale == 0] = 1
        h = (self.h - mean) / scale
        m = h.shape[1]

        def value(v):
            v = v.reshape(self.classes, m + 1)
            cost, slopes = self.losses(h @ v[:, :m].T + v[:, m])
            w = v[:, :m] / scale
            g = np.column_stack([slopes.T @ h + self.l2 * w / scale, slopes.sum(axis=0)])
            return cost + self.l2 / 2 * np.sum(w**2), g.ravel()

        start = np.zeros((self.classes, m + 1))
        if self.classes == 1 and self.loss == "least-squares":
            start[0, m] = self.y.mean()
        found = optimize.minimize(value, start.ravel(), jac=True, method="L-BFGS-B",
                                  options={"maxiter": 50000, "maxfun": 100000, "ftol": 1e-16, "gtol": 1e-13, "maxcor": 50})
        return found.fun


def scikit_learn(h, y, loss, l2):
    n = len(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.perf_counter()
        if loss == "least-squares":
            model = linear_model.Ridge(alpha=l2 * n).fit(h, y)
            return model.coef_[None, :], model.intercept_, time.perf_counter() - begin, 1
        model = linear_model.LogisticRegression(C=1 / (l2 * n), max_iter=50000, tol=1e-8,
                                                multi_class="multinomial" if loss == "softmax" else "ovr").fit(h, y)
        return model.coef_, model.intercept_, time.perf_counter() - begin, int(np.max(model.n_iter_))


def fit(polyhop, folder, data, *flags):
    path = pathlib.Path(folder) / "model.npz"
    done = subprocess.run([polyhop, "fit", data, "-o", path, "--json", "--quiet", *flags], stdout=subprocess.PIPE)
    told = json.loads(done.stdout)
    with np.load(path) as model:
        return told, model["weights"].copy(), model["intercept"].copy()


def gap(cost, least):
    return f"{max(0.0, (cost - least) / abs(least)):.0e}"


def counts():
    draw = np.random.default_rng(3)
    h = draw.standard_normal((400, 5))
    return h, draw.poisson(np.exp(1.5 + h @ [0.5, -0.3, 0.2, 0, 0.1])).astype(float)


def parity():
    h, y = datasets.load_digits(return_X_y=True)
    return h, (y % 2).astype(float)


# The fits of other networks, penalties and losses: what, and its flags.
OTHERS = [
    ("breast cancer logistic, ring of 16, by label",
     "breast-cancer --loss logistic --l2 0.01 --standardise --agents 16 --graph ring --partition label"),
    ("digits softmax, Erdos-Renyi of 10, Dirichlet",
     "digits --loss softmax --l2 0.01 --standardise --agents 10 --partition dirichlet --alpha 0.3"),
    ("diabetes ridge, star of 12", "diabetes --loss least-squares --l2 0.1 --standardise --agents 12 --graph star"),
    ("diabetes Huber, ring of 10, by label",
     "diabetes --loss huber --l2 0.01 --standardise --agents 10 --graph ring --partition label"),
    ("Poisson, Erdos-Renyi of 8", "counts --loss poisson --l2 0.001 --standardise --agents 8"),
    ("breast cancer hinge, star of 10, by label",
     "breast-cancer --loss smoothed-hinge --l2 0.01 --standardise --agents 10 --graph star --partition label"),
    ("wine softmax, ring of 9, by label",
     "wine --loss softmax --l2 0.01 --standardise --agents 9 --graph ring --partition label"),
    ("parity of digits logistic, Erdos-Renyi of 20, by label",
     "parity --loss logistic --l2 0.001 --standardise --agents 20 --partition label"),
    ("breast cancer l2 = 1e-4, path of 20, by label",
     "breast-cancer --loss logistic --l2 1e-4 --standardise --agents 20 --graph path --partition label"),
    ("digits Poisson, hypercube of 16",
     "digits --loss poisson --l2 0.01 --standardise --agents 16 --graph hypercube"),
    ("breast cancer l2 = 0, ring of 8", "breast-cancer --loss logistic --l2 0 --standardise --agents 8 --graph ring"),
    ("a housing-like regression, unscaled, star of 10", "housing --loss least-squares --agents 10 --graph star"),
]


def other_fits(polyhop, folder):
    made = {"counts": counts, "parity": parity, "housing": housing}
    for name, make in made.items():
        np.savez(pathlib.Path(folder) / f"{name}.npz", **dict(zip("Xy", make())))
    print("\n| fit | evaluations | vectors | seconds |\n|---|---|---|---|")
    for what, flags in OTHERS:
        data, *rest = flags.split()
        told = fit(polyhop, folder, pathlib.Path(folder) / f"{data}.npz" if data in made else data, *rest)[0]
        print(f"| {what} | {told['gradients'] // told['agents']} | {told['vectors']} | {told['seconds']:.2g} |", flush=True)


def main():
    polyhop = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        sets(polyhop, folder)
        other_fits(polyhop, folder)


def sets(polyhop, folder):
    print("| data | features | gap | evaluations | vectors | seconds | scikit-learn: gap | iterations |")
    print("|---" * 8 + "|")
    for name, loss in (("diabetes", "least-squares"), ("housing-like", "least-squares"), ("breast-cancer", "logistic"),
                       ("wine", "softmax"), ("digits", "softmax")):
        h, y = loaded(name)
        data = name
        if name == "housing-like":
            data = pathlib.Path(folder) / "housing.npz"
            np.savez(data, X=h, y=y)
        for standardised in (False, True):
            l2 = 1e-3
            seen = preprocessing.StandardScaler().fit_transform(h) if standardised else h
            cost = Cost(seen, y, loss, l2)
            sk_w, sk_b, _, sk_iterations = scikit_learn(seen, y, loss, l2)
            sk_cost = cost(sk_w, sk_b)
            flags = ["--agents", "6", "--graph", "ring", "--loss", loss, "--l2", str(l2)]
            told = fit(polyhop, folder, data, *flags, *(["--standardise"] if standardised else []))[0]
            least = min(cost.least(), sk_cost, told["cost"])
            print(f"| {name} | {'standardised' if standardised else 'raw'} | {gap(told['cost'], least)} | "
                  f"{told['gradients'] // 6} | {told['vectors']} | {told['seconds']:.2g} | "
                  f"{gap(sk_cost, least)} | {sk_iterations} |", flush=True)


if __name__ == "__main__":
    main()
