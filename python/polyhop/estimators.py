# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Linear models of data that agents share, as scikit-learn estimators.

The samples are dealt to agents, which fit one model to all samples together and send each other only sums over their
own samples, like `polyhop fit`.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _engine
from .graph import complete
from ._messages import is_integer, refused, shown, suggesting
from ._problem import _DEFAULTS, csr
from ._solve import as_network

#: The default penalty of `polyhop fit`.
_L2 = _DEFAULTS["l2"]
_AGENTS = 8  # the default, if there are as many samples
_HINTS = {"alpha": "give l2 = alpha / n_samples", "C": "give l2 = 1 / (C n_samples)"}


class _Linear(BaseEstimator):
    """What the estimators share."""

    @suggesting(hints=_HINTS)
    def __init__(self, l2=_L2, *, agents=None, network=None, fit_intercept=True, max_iter=50000, tol=1e-8):
        self.l2 = l2
        self.agents = agents
        self.network = network
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    def _network(self, samples):
        agents = self.agents
        if agents is not None and not (is_integer(agents) and 1 <= agents <= samples):
            raise refused("agents", f"found {shown(agents)}, expected an integer from 1 to n_samples = {samples}; each agent "
                                    "needs at least one sample")
        if self.network is None:
            return complete(min(_AGENTS, samples) if agents is None else int(agents)).metropolis()
        network = as_network(self.network)
        if agents not in (None, network.agents):
            raise refused("agents", f"found {agents}, but the network has {network.agents} agents; leave agents out")
        if network.agents > samples:
            raise refused("network", f"has {network.agents} agents, and there are n_samples = {samples}; each agent "
                                     "needs at least one sample")
        return network

    def _fit(self, X, targets, loss):
        samples = X.shape[0]
        if hasattr(X, "tocsr"):
            rows = csr(X)
            x = (rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int64), rows.shape[1])
        else:
            x = X
        found = _engine.fit(x, targets, {"loss": loss, "l2": float(self.l2), "intercept": bool(self.fit_intercept),
                                         "iterations": int(self.max_iter), "tolerance": float(self.tol)},
                            self._network(samples)._handle)
        if found["end"] in ("iterations", "diverged"):
            import warnings

            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(f"the fit ended with '{found['end']}' after {found['iterations']} iterations; "
                          "raise max_iter, or l2", ConvergenceWarning, stacklevel=3)
        #: How it ended, and how many vectors the agents sent, each the size of a model.
        self.end_ = found["end"]
        self.n_iter_ = max(int(found["iterations"]), 1)
        self.vectors_sent_ = int(found["vectors"])
        return found

    def _scores(self, X):
        check_is_fitted(self)
        X = self._validate_data(X, accept_sparse="csr", dtype=np.float64, reset=False)
        return X

    @classmethod
    def from_model_file(cls, path):
        """The model in a file written by `polyhop fit`, ready to predict."""
        found = _engine.load_model(str(path))
        if found["loss"] not in cls._LOSSES:
            raise refused("path", f"{path} holds a model of the loss '{found['loss']}'; {cls.__name__} takes "
                                  f"{', '.join(cls._LOSSES)}")
        if found["unit_rows"]:
            raise refused("path", f"{path} was fitted with --unit-rows; predict with `polyhop predict`")
        model = cls()
        model.n_features_in_ = found["weights"].shape[1]
        if found["features"]:
            model.feature_names_in_ = np.array(found["features"], dtype=object)
        model.n_iter_ = 1
        model._take(found, np.array(found["classes"]) if found["classes"] else None)
        return model


class DecentralizedRidge(RegressorMixin, _Linear):
    """Least squares: minimises mean (y - Xw - b)^2 / 2 + (l2/2) ||w||^2 over all samples. `Ridge(alpha)` of
    scikit-learn has l2 = alpha / n_samples.

    l2: the penalty on w, in the units of the columns of X; 0 by default, as for `polyhop fit`. The same l2 > 0 means
        little for a column in the thousands and much for one around 1e-3: put a StandardScaler first. The fit itself
        takes columns of any size.
    agents: how many agents share the samples, all linked to each other; default: 8. Or network: your own network.
    fit_intercept, max_iter, tol: as usual; tol is relative to the slope at the model without features.
    """

    _LOSSES = ("least-squares", "huber")

    def fit(self, X, y):
        X, y = self._validate_data(X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True, multi_output=False)
        self._take(self._fit(X, y.astype(float), "least-squares"), None)
        return self

    def _take(self, found, _):
        self.coef_, self.intercept_ = found["weights"][0], float(found["intercept"][0])

    def predict(self, X):
        return self._scores(X) @ self.coef_ + self.intercept_


class DecentralizedPoissonRegressor(RegressorMixin, _Linear):
    """Counts: log E[y] = Xw + b, with the Poisson likelihood and the penalty (l2/2) ||w||^2. Arguments as in
    DecentralizedRidge.
    """

    _LOSSES = ("poisson",)

    def fit(self, X, y):
        X, y = self._validate_data(X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True, multi_output=False)
        if (y < 0).any():
            raise refused("y", f"row {int(np.argmax(y < 0))} is {y[y < 0][0]:g}; counts are never negative")
        self._take(self._fit(X, y.astype(float), "poisson"), None)
        return self

    def _take(self, found, _):
        self.coef_, self.intercept_ = found["weights"][0], float(found["intercept"][0])

    def predict(self, X):
        return np.exp(self._scores(X) @ self.coef_ + self.intercept_)

    def _more_tags(self):
        return {"requires_positive_y": True, "poor_score": True}


class DecentralizedLogisticRegression(ClassifierMixin, _Linear):
    """Classes, two or many (softmax): minimises the mean of -log p(y | x) + (l2/2) ||w||^2. `LogisticRegression(C)` of
    scikit-learn has l2 = 1 / (C n_samples). Arguments as in DecentralizedRidge.
    """

    _LOSSES = ("logistic", "softmax")

    def fit(self, X, y):
        X, y = self._validate_data(X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        classes, numbers = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise refused("y", f"has only one class, {classes[0]!r}; a classifier needs at least 2 classes")
        self._take(self._fit(X, numbers.astype(float), "logistic" if len(classes) == 2 else "softmax"), classes)
        return self

    def _take(self, found, classes):
        self.classes_ = classes
        self.coef_, self.intercept_ = found["weights"], np.asarray(found["intercept"])

    def decision_function(self, X):
        scores = self._scores(X) @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X):
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def predict_proba(self, X):
        scores = self.decision_function(X)
        if scores.ndim == 1:
            # 1 / (1 + e^-z) without overflow, and its complement without cancellation.
            small = np.exp(-np.abs(scores))
            one = np.where(scores >= 0, 1 / (1 + small), small / (1 + small))
            return np.column_stack([np.where(scores >= 0, small / (1 + small), 1 / (1 + small)), one])
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X):
        return np.log(self.predict_proba(X))
