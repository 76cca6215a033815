# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""The estimators of scikit-learn, against scikit-learn's own."""

import pickle
import subprocess

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import polyhop as ph


@parametrize_with_checks([ph.DecentralizedRidge(), ph.DecentralizedLogisticRegression(), ph.DecentralizedPoissonRegressor()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_ridge_finds_the_coefficients_of_ridge(kind):
    X, y = load_diabetes(return_X_y=True)
    ours = ph.DecentralizedRidge(l2=1e-3, network=ph.graph.ring(6), tol=1e-11).fit(kind(X), y)
    theirs = Ridge(alpha=1e-3 * len(y), tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(ours.predict(kind(X)), theirs.predict(X), rtol=1e-6)
    assert ours.vectors_sent_ > 0


def test_the_model_does_not_depend_on_the_network():
    X, y = load_diabetes(return_X_y=True)
    models = [ph.DecentralizedRidge(network=net).fit(X, y).coef_ for net in (ph.graph.ring(5), ph.graph.star(9))]
    np.testing.assert_allclose(models[0], models[1], rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_logistic_regression_finds_the_probabilities_of_scikit_learn(load):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    names = np.array(["red", "white", "rose"])[y]
    ours = ph.DecentralizedLogisticRegression(l2=1e-2, agents=7, tol=1e-10).fit(X, names)
    theirs = LogisticRegression(C=1 / (1e-2 * len(y)), solver="newton-cg", tol=1e-8, max_iter=10000).fit(X, names)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    assert ours.score(X, names) == theirs.score(X, names)
    np.testing.assert_allclose(ours.predict_proba(1000 * X).sum(axis=1), 1)
    assert np.isfinite(ours.predict_proba(1e5 * X)).all()


def test_poisson_regression_finds_the_coefficients_of_scikit_learn():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    y = random.poisson(np.exp(X @ [0.3, -0.2, 0.1, 0] + 0.5))
    ours = ph.DecentralizedPoissonRegressor(l2=0.05, tol=1e-11).fit(X, y)
    theirs = PoissonRegressor(alpha=0.05, tol=1e-12, max_iter=10000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5)


def test_pipelines_searches_and_pickles():
    X, y = load_wine(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), ph.DecentralizedLogisticRegression(agents=4))
    search = GridSearchCV(pipe, {"decentralizedlogisticregression__l2": [1e-3, 10.0]}, cv=3).fit(X, y)
    assert search.best_params_["decentralizedlogisticregression__l2"] == 1e-3 and search.best_score_ > 0.9
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_weights_of_samples_are_refused():
    with pytest.raises(TypeError, match="sample_weight"):
        ph.DecentralizedRidge().fit(np.eye(9), np.ones(9), sample_weight=np.ones(9))


def test_a_model_file_of_the_command_predicts_the_same(tmp_path, command):
    X, y = load_wine(return_X_y=True)
    names = np.array(["red", "white", "rose"])[y]
    lines = [",".join([f"x{j}" for j in range(13)] + ["kind"])]
    lines += [",".join([*map(repr, map(float, x)), n]) for x, n in zip(X, names)]
    (tmp_path / "wine.csv").write_text("\n".join(lines) + "\n")
    subprocess.run([command, "fit", "wine.csv", "--target", "kind", "-o", "model.npz", "--agents", "4"], cwd=tmp_path, check=True,
                   capture_output=True)
    told = subprocess.run([command, "predict", "model.npz", "wine.csv"], cwd=tmp_path, check=True, capture_output=True, text=True)
    model = ph.DecentralizedLogisticRegression.from_model_file(tmp_path / "model.npz")
    import pandas

    frame = pandas.read_csv(tmp_path / "wine.csv").drop(columns="kind")
    said = [line.split(",")[0].strip() for line in told.stdout.strip().splitlines()[1:]]
    assert list(model.predict(frame)) == said
    with pytest.raises(ph.InputError, match="DecentralizedRidge takes"):
        ph.DecentralizedRidge.from_model_file(tmp_path / "model.npz")
    with pytest.raises(ph.InputError):
        ph.DecentralizedRidge.from_model_file(tmp_path / "missing.npz")


def test_nothing_is_penalised_where_nothing_is_said():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3)) * [1e-3, 1.0, 1e4]
    y = X @ [5e2, 1.0, 1e-4] + 0.01 * random.normal(size=200)
    model = ph.DecentralizedRidge().fit(X, y)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-5)
    assert model.score(X, y) > 0.99 and ph.DecentralizedRidge().l2 == 0


def test_agents_that_do_not_fit_are_refused():
    X, y = np.random.default_rng(0).normal(size=(5, 2)), np.arange(5.0)
    assert ph.DecentralizedRidge().fit(X, y).n_iter_ >= 1  # as many agents as samples
    for model, argument, message in (
            (ph.DecentralizedRidge(agents=6), "agents", "found 6, expected an integer from 1 to n_samples = 5"),
            (ph.DecentralizedRidge(agents=2.5), "agents", "found 2.5"),
            (ph.DecentralizedRidge(agents=4, network=ph.graph.ring(5)), "agents", "found 4, but the network has 5 agents"),
            (ph.DecentralizedRidge(network=ph.graph.ring(6)), "network", "has 6 agents"),
            (ph.DecentralizedRidge(network=6), "network", "ph.graph.ring")):
        with pytest.raises(ph.InputError, match=f"{argument}: .*{message}") as refused:
            model.fit(X, y)
        assert refused.value.argument == argument
    ph.DecentralizedRidge(agents=5, network=ph.graph.ring(5)).fit(X, y)
