# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Problems and networks that the tests share."""

import os

import matplotlib
import numpy as np
import pytest

import polyhop as ph

matplotlib.use("Agg")


@pytest.fixture
def net():
    return ph.graph.erdos_renyi(8, p=0.4, seed=1).metropolis()


@pytest.fixture
def data():
    random = np.random.default_rng(3)
    X = random.normal(size=(83, 5))
    return X, X @ random.normal(size=5) + 0.1 * random.normal(size=83)


@pytest.fixture
def squares(data):
    return ph.least_squares(*data, agents=8, l2=0.1, batch="all")


@pytest.fixture
def bowls():
    """J_k(w) = ||w - c_k||^2 / 2 as one function of many points, and the centres."""
    centres = np.random.default_rng(4).normal(size=(8, 3))

    def f(W, agents, batches):
        d = W - centres[agents]
        return 0.5 * (d * d).sum(axis=1), d

    return f, centres


@pytest.fixture
def command():
    """The polyhop command of the same build."""
    return os.environ["POLYHOP_COMMAND"]
