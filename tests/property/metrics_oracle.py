# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""metrics_oracle.py METRICS_DUMP: metrics of random predictions, many of them tied, are those of scikit-learn."""

import subprocess
import sys

import numpy as np
from sklearn import metrics

CASES = 120


def numbers(random):
    n = random.integers(2, 60)
    truth = np.round(random.normal(size=n), random.integers(1, 4)) * 10.0 ** random.integers(-3, 4)
    truth[0] += 1.0  # never all the same
    predicted = truth + np.round(random.normal(size=n), 2) * random.integers(0, 3)
    expected = [metrics.mean_squared_error(truth, predicted, squared=False),
                metrics.mean_absolute_error(truth, predicted), metrics.r2_score(truth, predicted)]
    return ["numbers", n, *truth, *predicted], expected


def counts(random):
    n = random.integers(1, 60)
    truth = random.poisson(2.0, size=n)
    predicted = np.exp(np.round(random.normal(size=n), 1))
    return ["counts", n, *truth, *predicted], [metrics.mean_poisson_deviance(truth, predicted)]


def probabilities(scores):
    if len(scores) == 1:
        scores = np.vstack([np.zeros_like(scores), scores])
    e = np.exp(scores - scores.max(axis=0))
    return e / e.sum(axis=0)


def classes(random):
    c, n = random.integers(2, 6), random.integers(8, 80)
    truth = random.integers(0, c, size=n)
    truth[:2] = 0, 1
    scores = np.round(2 * random.normal(size=(1 if c == 2 else c, n)), random.integers(0, 3))  # ties
    predicted = (scores[0] > 0).astype(int) if c == 2 else np.argmax(scores, axis=0)
    labels = np.arange(c)
    p = probabilities(scores)
    precision = metrics.precision_score(truth, predicted, labels=labels, average=None, zero_division=0)
    recall = metrics.recall_score(truth, predicted, labels=labels, average=None, zero_division=0)
    # Nothing predicted as a class, or nothing of it there: 0 in scikit-learn, not a number here.
    precision = np.where(np.isin(labels, predicted), precision, np.nan)
    recall = np.where(np.isin(labels, truth), recall, np.nan)
    expected = [metrics.accuracy_score(truth, predicted), metrics.log_loss(truth, p.T, labels=labels),
                metrics.roc_auc_score(truth, scores[0]) if c == 2 else 0,
                *np.column_stack([precision, recall]).ravel(),
                *metrics.confusion_matrix(truth, predicted, labels=labels).ravel()]
    return ["classes", c, n, *truth, *scores.ravel()], expected


def main():
    cases = []
    for seed in range(CASES):
        for kind in (numbers, counts, classes):
            cases.append((kind.__name__, seed, *kind(np.random.default_rng(seed))))
    text = "\n".join(" ".join(x if isinstance(x, str) else repr(x.item() if hasattr(x, "item") else x) for x in words)
                     for _, _, words, _ in cases)
    done = subprocess.run([sys.argv[1]], input=text, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(cases), (len(lines), len(cases))
    for line, (kind, seed, _, expected) in zip(lines, cases):
        found = np.array(line.split(), dtype=float)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14, err_msg=f"{kind}, seed {seed}")
    print(f"{len(cases)} cases as in scikit-learn")


if __name__ == "__main__":
    main()
