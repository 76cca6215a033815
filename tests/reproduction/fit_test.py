# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""`polyhop fit` against scikit-learn on the pooled data: `python3 fit_test.py PATH_TO_polyhop`.

Whatever the partition and the graph, the agents agree on the model of all samples together.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from sklearn import datasets, linear_model, preprocessing

POLYHOP = pathlib.Path(sys.argv.pop(1)).resolve()
PARTITIONS = [["--partition", kind] for kind in ("iid", "blocks", "label")] + [
    ["--partition", "dirichlet", "--alpha", "0.3"],
    ["--partition", "sizes", "--alpha", "0.5"],
]
GRAPHS = ["ring", "erdos-renyi"]
TOLERANCE = 1e-3  # relative, of all coefficients together


def fitted(folder, name, *flags):
    """The model's weights and intercept, for features as they stand in the file."""
    path = pathlib.Path(folder) / "model.npz"
    done = subprocess.run([POLYHOP, "fit", name, "-o", path, "--agents", "10", "--json", "--quiet", *flags],
                          check=True, stdout=subprocess.PIPE)
    assert json.loads(done.stdout)["converged"]
    with np.load(path) as model:
        return model["weights"].copy(), model["intercept"].copy()


def relative_error(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


class FitTest(unittest.TestCase):
    def check(self, name, flags, expected_weights, expected_intercept):
        with tempfile.TemporaryDirectory() as folder:
            for graph in GRAPHS:
                for partition in PARTITIONS:
                    with self.subTest(data=name, graph=graph, partition=partition):
                        weights, intercept = fitted(folder, name, "--graph", graph, "--standardise", *partition, *flags)
                        self.assertLess(relative_error(weights, expected_weights), TOLERANCE)
                        self.assertLess(np.max(np.abs(intercept - expected_intercept)),
                                        TOLERANCE * max(1, np.max(np.abs(expected_intercept))))

    def test_ridge_on_diabetes(self):
        h, y = datasets.load_diabetes(return_X_y=True, scaled=False)
        scale = preprocessing.StandardScaler().fit(h)
        ridge = linear_model.Ridge(alpha=0.1 * len(y)).fit(scale.transform(h), y)
        weights = ridge.coef_ / scale.scale_
        self.check("diabetes", ["--l2", "0.1"], weights[None, :], ridge.intercept_ - weights @ scale.mean_)

    def logistic(self, name, loader, l2, flags):
        h, y = loader(return_X_y=True)
        scale = preprocessing.StandardScaler().fit(h)
        model = linear_model.LogisticRegression(C=1 / (l2 * len(y)), tol=1e-10, max_iter=20000,
                                                multi_class="multinomial" if "softmax" in flags else "ovr")
        model.fit(scale.transform(h), y)
        weights = model.coef_ / scale.scale_
        intercept = model.intercept_ - weights @ scale.mean_
        if "softmax" in flags:  # an intercept that all classes share changes nothing
            intercept = intercept - np.mean(intercept)
        return weights, intercept

    def test_logistic_on_breast_cancer(self):
        weights, intercept = self.logistic("breast-cancer", datasets.load_breast_cancer, 0.01, ["logistic"])
        self.check("breast-cancer", ["--loss", "logistic", "--l2", "0.01"], weights, intercept)

    def test_softmax_on_wine(self):
        weights, _ = self.logistic("wine", datasets.load_wine, 0.01, ["softmax"])
        with tempfile.TemporaryDirectory() as folder:
            for partition in PARTITIONS:
                with self.subTest(partition=partition):
                    found, _ = fitted(folder, "wine", "--loss", "softmax", "--l2", "0.01", "--standardise", *partition)
                    self.assertLess(relative_error(found, weights), TOLERANCE)


if __name__ == "__main__":
    unittest.main()
