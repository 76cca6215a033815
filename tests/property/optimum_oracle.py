# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Compares reference optima with SciPy's and scikit-learn's: `python3 optimum_oracle.py PATH_TO_optimum_dump`.

Every cost is written again here, from its formula, and minimised by scipy.optimize. Where agents are weighted by their
samples, so that all samples count alike, scikit-learn's estimators of the same model must find the same minimiser.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import scipy.optimize
import sklearn.linear_model

LOSSES = ("least-squares", "logistic", "softmax", "huber", "smoothed-hinge", "poisson")
DELTA = 0.7  # of huber
TOLERANCE = 1e-6  # relative, of costs and coefficients

dump = None  # the program, from the command line


def loss_and_slope(loss, z, y):
    """Of one prediction, sample by sample."""
    if loss == "least-squares":
        return (z - y) ** 2 / 2, z - y
    if loss == "logistic":
        return np.logaddexp(0, -y * z), -y / (1 + np.exp(y * z))
    if loss == "huber":
        r = np.abs(z - y)
        return np.where(r <= DELTA, r**2 / 2, DELTA * (r - DELTA / 2)), np.clip(z - y, -DELTA, DELTA)
    if loss == "smoothed-hinge":
        m = y * z
        value = np.where(m >= 1, 0, np.where(m > 0, (1 - m) ** 2 / 2, 0.5 - m))
        return value, -y * np.clip(1 - m, 0, 1)
    assert loss == "poisson"
    return np.exp(z) - y * z, np.exp(z) - y


class Instance:
    """One dumped problem."""

    def __init__(self, arrays, number):
        for name in ("H", "y", "agent", "weight", "w", "value", "accuracy"):
            setattr(self, name, arrays[f"{number}/{name}"])
        place, self.l2, intercept, classes, sparse = arrays[f"{number}/setting"]
        self.loss, self.intercept, self.classes = LOSSES[int(place)], bool(intercept), int(classes)
        self.name = f"{number}: {self.loss}, l2 {self.l2}, intercept {self.intercept}, sparse {bool(sparse)}"
        agent = self.agent.astype(int)
        counts = np.bincount(agent)
        self.share = self.weight[agent] / (len(counts) * counts[agent])
        self.pooled = np.allclose(self.share, 1 / len(agent), rtol=1e-12)

    def cost(self, w):
        """J(w) and its gradient."""
        W = w.reshape(self.classes, -1)
        Z = self.H @ W.T
        if self.loss == "softmax":
            own = np.eye(self.classes)[self.y.astype(int)]
            top = Z.max(axis=1, keepdims=True)
            sums = np.exp(Z - top).sum(axis=1, keepdims=True)
            values = (np.log(sums) + top)[:, 0] - (Z * own).sum(axis=1)
            slopes = np.exp(Z - top) / sums - own
        else:
            values, slopes = loss_and_slope(self.loss, Z[:, 0], self.y)
            slopes = slopes[:, None]
        penalised = W.copy()
        if self.intercept:
            penalised[:, -1] = 0
        value = self.share @ values + self.l2 / 2 * np.sum(penalised**2)
        return value, ((self.share[:, None] * slopes).T @ self.H + self.l2 * penalised).ravel()

    def centred(self, w):
        """Of the intercepts of softmax only the differences matter: none of them is penalised."""
        W = w.reshape(self.classes, -1).copy()
        if self.classes > 1 and self.intercept:
            W[:, -1] -= W[:, -1].mean()
        return W.ravel()

    def by_sklearn(self):
        """The coefficients, the intercept last in each class's block; None where there is no such estimator."""
        n = len(self.y)
        X = self.H[:, :-1] if self.intercept else self.H
        options = {"fit_intercept": self.intercept, "tol": 1e-7, "max_iter": 1000}
        if self.loss == "least-squares":
            model = sklearn.linear_model.Ridge(alpha=n * self.l2, solver="cholesky", fit_intercept=self.intercept)
        elif self.loss in ("logistic", "softmax"):
            multi = "multinomial" if self.loss == "softmax" else "ovr"
            model = sklearn.linear_model.LogisticRegression(C=1 / (n * self.l2), multi_class=multi, solver="newton-cg",
                                                            **options)
        elif self.loss == "poisson":
            model = sklearn.linear_model.PoissonRegressor(alpha=self.l2, solver="newton-cholesky", **options)
        else:
            return None
        model.fit(X, self.y)
        W = np.atleast_2d(model.coef_)
        if self.intercept:
            W = np.column_stack([W, np.atleast_1d(model.intercept_)])
        return W.ravel()


class Optimum(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "optima.npz"
            subprocess.run([str(pathlib.Path(dump).resolve()), str(path)], check=True)
            with np.load(path) as arrays:
                numbers = sorted({int(name.split("/")[0]) for name in arrays.files})
                cls.instances = [Instance(arrays, number) for number in numbers]

    def for_each(self, check):
        for instance in self.instances:
            with self.subTest(instance.name):
                check(instance)

    def test_every_loss_is_there(self):
        self.assertEqual({instance.loss for instance in self.instances}, set(LOSSES))

    def test_the_value_is_that_of_the_formula(self):
        def check(instance):
            value, gradient = instance.cost(instance.w)
            self.assertAlmostEqual(value, instance.value, delta=1e-12 * max(1, abs(value)))
            self.assertLess(np.linalg.norm(gradient), 1e-6)
            self.assertTrue(0 <= instance.accuracy < 1e-10)

        self.for_each(check)

    def test_scipy_finds_nothing_lower(self):
        def check(instance):
            found = scipy.optimize.minimize(instance.cost, np.zeros_like(instance.w), jac=True, method="L-BFGS-B",
                                            options={"maxiter": 20000, "maxfun": 100000, "ftol": 1e-15, "gtol": 1e-10})
            self.assertGreaterEqual(found.fun, instance.value - 1e-12 * max(1, abs(instance.value)))
            self.assertAlmostEqual(found.fun, instance.value, delta=TOLERANCE * abs(instance.value))

        self.for_each(check)

    def test_scikit_learn_finds_the_same(self):
        compared = set()

        def check(instance):
            w = instance.by_sklearn() if instance.pooled else None
            if w is None:
                return
            compared.add(instance.loss)
            self.assertAlmostEqual(instance.cost(w)[0], instance.value, delta=TOLERANCE * abs(instance.value))
            self.assertLess(np.linalg.norm(instance.centred(w) - instance.centred(instance.w)),
                            TOLERANCE * np.linalg.norm(w))

        self.for_each(check)
        self.assertEqual(compared, {"least-squares", "logistic", "softmax", "poisson"})


if __name__ == "__main__":
    dump = sys.argv.pop(1)
    unittest.main()
