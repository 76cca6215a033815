# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Problems: every agent's cost, from data and a loss or from functions of one's own."""

import inspect

import numpy as np

from . import _engine
from ._choices import described, python_name, signature


class Problem:
    """The costs of K agents with M numbers in a model. Made by `least_squares`, `objective`, ..."""

    def __init__(self, handle, describe, rebuild, check=None):
        self._handle, self._describe, self._rebuild, self._check = handle, describe, rebuild, check
        self.classes = None

    @property
    def agents(self):
        return self._handle.agents

    @property
    def dimension(self):
        return self._handle.dimension

    @property
    def samples(self):
        """Of all agents together."""
        return self._handle.samples

    @property
    def data(self):
        """(X, y, offset) as the engine holds them, agent after agent; None for a function. X is a view, read-only."""
        return _engine.Problem.data(self._handle)

    def costs(self, points):
        """out[k, p] = J_k(points[p]) on all samples."""
        return self._handle.costs(np.atleast_2d(np.asarray(points, dtype=float)))

    def minimise(self):
        """(J(w^o), w^o, how) of the mean of all costs; None where it is not known."""
        return self._handle.minimise("solve")

    def checked(self):
        """Compares gradients of a function with differences, once."""
        if self._check is not None:
            check, self._check = self._check, None
            check()
        return self

    def __repr__(self):
        return f"<polyhop.Problem: {self._describe}, {self.agents} agents, {self.dimension} numbers>"

    def __reduce__(self):
        function, arguments = self._rebuild
        return function, arguments(self) if callable(arguments) else arguments


def csr(x):
    """A sparse matrix as a sound CSR of numbers."""
    rows = x.tocsr()
    if rows.dtype.kind not in "fiub":
        raise _engine.InputError(f"X: has the dtype {rows.dtype}, expected numbers")
    rows = rows.astype(float)
    try:
        rows.check_format(full_check=True)
    except ValueError as error:
        raise _engine.InputError(f"X: is not a sound CSR matrix: {error}") from error
    rows.sum_duplicates()
    rows.sort_indices()
    return rows


def _columns(x):
    """X as the engine takes it: a dense array, or the parts of a CSR matrix."""
    if hasattr(x, "tocsr"):
        rows = csr(x)
        if not np.isfinite(rows.data).all():
            raise _engine.InputError("X: has numbers that are not finite; leave these samples out, or fill them in")
        return (rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int64), rows.shape[1]), rows.shape
    x = np.asarray(x)
    if x.dtype.kind not in "fiub":
        raise _engine.InputError(f"X: has the dtype {x.dtype}, expected numbers")
    if x.ndim != 2:
        raise _engine.InputError(f"X: has the shape {x.shape}, expected samples x features")
    x = x.astype(float, copy=False)
    if not np.isfinite(x).all():
        raise _engine.InputError("X: has numbers that are not finite; leave these samples out, or fill them in")
    return x, x.shape


def _dealt(samples, agents, owner):
    """(order, counts): the samples agent after agent, and how many each has."""
    if (agents is None) == (owner is None):
        raise _engine.InputError("agents: give either agents=K, which deals samples in their order, or owner=, the agent of each")
    if owner is None:
        if isinstance(agents, bool) or not isinstance(agents, (int, np.integer)) or not 1 <= agents <= samples:
            raise _engine.InputError(f"agents: found {agents!r}, expected an integer from 1 to the {samples} samples")
        counts = np.full(agents, samples // agents)
        counts[: samples % agents] += 1
        return np.arange(samples), counts
    owner = np.asarray(owner)
    if owner.shape != (samples,) or owner.dtype.kind not in "iu":
        raise _engine.InputError(f"owner: expected the agent of each of {samples} samples, integers from 0")
    # Everybody has a sample at least, so there are no more agents than samples.
    counts = np.bincount(owner) if samples and owner.min() >= 0 and owner.max() < samples else np.array([0])
    if (counts == 0).any():
        raise _engine.InputError(f"owner: agent {int(np.argmin(counts))} has no samples, or a number is negative or too large; "
                                 "agents are 0 .. K-1 and each needs one at least")
    return np.argsort(owner, kind="stable"), counts


def _targets(y, samples, task):
    """(targets, classes) as a loss takes them."""
    y = np.asarray(y)
    if y.shape != (samples,):
        raise _engine.InputError(f"y: has the shape {y.shape}, expected ({samples},), one for each row of X")
    if task in ("two classes", "classes"):
        classes, numbers = np.unique(y, return_inverse=True)
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise _engine.InputError("y: has numbers that are not finite")
        if task == "two classes":
            if len(classes) != 2:
                raise _engine.InputError(f"y: has {len(classes)} classes, and this loss takes two; softmax takes many")
            return 2.0 * numbers - 1.0, classes
        if len(classes) < 2:
            raise _engine.InputError("y: has one class only")
        return numbers.astype(float), classes
    if y.dtype.kind not in "fiub":
        raise _engine.InputError(f"y: has the dtype {y.dtype}, expected numbers")
    y = y.astype(float)
    if not np.isfinite(y).all():
        raise _engine.InputError("y: has numbers that are not finite")
    if task == "counts" and (y < 0).any():
        raise _engine.InputError("y: has negative numbers, and this loss is one of counts")
    return y, None


_MODEL = ("l2", "intercept", "batch", "sampling")


def _loss_function(entry):
    own = {python_name(o["name"]): o["name"] for o in entry["options"]}
    model = [o for o in _engine.tables()["model"] if o["name"] in _MODEL]

    def problem(X, y, *, agents=None, owner=None, **options):
        unknown = [name for name in options if name not in own and name not in _MODEL]
        if unknown:
            raise TypeError(f"{problem.__name__}() has no argument {unknown[0]!r}; it takes "
                            f"{', '.join(['agents', 'owner', *own, *_MODEL])}")
        x, shape = _columns(X)
        targets, classes = _targets(y, shape[0], entry["task"])
        order, counts = _dealt(shape[0], agents, owner)
        given = {name: value for name, value in options.items() if value is not None}
        return _linear(entry["name"], {own[n]: v for n, v in given.items() if n in own}, x, targets, order, counts,
                       classes, {n: v for n, v in given.items() if n in _MODEL})

    problem.__name__ = problem.__qualname__ = python_name(entry["name"])
    problem.__module__ = "polyhop"
    first = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ("X", "y")]
    first += [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None) for n in ("agents", "owner")]
    problem.__signature__ = signature([*entry["options"], *model], first)
    problem.__doc__ = (f"{entry['summary']}\n\nX, y: samples x features (NumPy, or SciPy CSR) and their targets.\n"
                       "agents: how many share the samples, dealt in their order; or owner: the agent of each sample.\n\n"
                       f"{described([*entry['options'], *model])}")
    return problem


def _linear(loss, loss_options, x, targets, order, counts, classes, model):
    handle = _engine.linear(loss, loss_options, x, targets, order, counts, 0 if classes is None else len(classes), model, None)

    def arguments(problem):
        # As the engine holds it: in the order of the agents, with the intercept's column of ones.
        x, y, offset = problem.data
        columns = (x[3] if isinstance(x, tuple) else x.shape[1]) - (1 if model.get("intercept") else 0)
        if isinstance(x, tuple):
            keep = x[1] < columns
            starts = np.concatenate([[0], np.cumsum(keep)])[x[2]]
            x = (x[0][keep], x[1][keep], starts, columns)
        else:
            x = np.array(x[:, :columns])
        return loss, loss_options, x, y, np.arange(len(y)), np.diff(offset), classes, model

    problem = Problem(handle, loss, (_linear, arguments))
    problem.classes = classes
    return problem


def make_losses():
    return {python_name(e["name"]): _loss_function(e) for e in _engine.tables()["losses"]}


class _Each:
    """One function of many points, from an object for each agent."""

    def __init__(self, costs):
        self.costs = costs

    def __call__(self, W, agents, batches):
        values, gradients = np.empty(len(W)), np.empty(W.shape)
        for n, (w, k) in enumerate(zip(W, agents)):
            more = () if batches is None else (batches[n],)
            values[n] = self.costs[k].value(w, *more)
            gradients[n] = self.costs[k].gradient(w, *more)
        return values, gradients


def objective(f, agents=None, dimension=None, *, samples=1, batch="all", sampling="uniform", values=None, check=True):
    """A problem of one's own.

    f: a function f(W, agents, batches) -> (values, gradients) of n points at once: W (n, M) and agents (n,) in, values
        (n,) and gradients (n, M) out; row i is a point of agent agents[i]. Or a list of K objects with value(w) and
        gradient(w), which is slower. W may not be changed, or kept without a copy.
    agents, dimension: K and M. dimension alone where a list is given.
    samples: how many samples each agent can choose from, a number or one for each; 1 for a cost without samples, and
        `batches` is None then. Else it holds the samples' numbers of each point, (n, b) or a list of arrays.
    batch: how many of them an iteration takes, or "all"; sampling: "uniform", "shuffle" or "cyclic".
    values: a function like f that returns values alone, for rules that look at many points.
    check: compare some gradients with finite differences before the first use.
    """
    if not callable(f):
        costs = list(f)
        if not costs or not all(hasattr(c, "value") and hasattr(c, "gradient") for c in costs):
            raise _engine.InputError("f: expected a function, or a list of objects with value(w) and gradient(w)")
        if agents not in (None, len(costs)):
            raise _engine.InputError(f"agents: found {agents}, but there are {len(costs)} costs")
        agents, f = len(costs), _Each(costs)
        if dimension is None and hasattr(costs[0], "dimension"):
            dimension = costs[0].dimension
        if all(hasattr(c, "samples") for c in costs):
            samples = [c.samples for c in costs]
    for name, value in (("agents", agents), ("dimension", dimension)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= 10**7:
            raise _engine.InputError(f"{name}: found {value!r}, expected an integer from 1 to 10,000,000")
    counts = np.broadcast_to(np.asarray(samples), (agents,)) if np.ndim(samples) == 0 else np.asarray(samples)
    if counts.shape != (agents,) or counts.dtype.kind not in "iu" or (counts < 1).any():
        raise _engine.InputError(f"samples: expected an integer >= 1, or one for each of {agents} agents")
    counts = [int(n) for n in counts]
    handle = _engine.objective(f, values, counts, int(dimension), batch, sampling)

    def compare():
        w = np.random.default_rng(0).normal(size=dimension)
        _engine.check_gradients(f, counts, int(dimension), sorted({0, agents - 1}), w)

    arguments = (f, agents, dimension, counts, batch, sampling, values, check)
    return Problem(handle, getattr(f, "__name__", type(f).__name__), (_objective, arguments), compare if check else None)


def _objective(f, agents, dimension, samples, batch, sampling, values, check):
    return objective(f, agents, dimension, samples=samples, batch=batch, sampling=sampling, values=values, check=check)
