# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Problems: every agent's cost, from data and a loss or from your own functions."""

import inspect
import numbers

import numpy as np

from . import _engine
from ._choices import _default, described, python_name, signature
from ._messages import check_call, is_integer, refused, shown, suggesting, unknown_keyword


class Problem:
    """The costs of K agents with M numbers in a model. Made by `least_squares`, `objective`, ..."""

    def __init__(self, handle, describe, rebuild, check=None, *, counts=(), loss=None, details=()):
        self._handle, self._describe, self._rebuild, self._check = handle, describe, rebuild, check
        self._counts, self._loss, self._details = np.asarray(counts, dtype=int), loss, dict(details)
        self._spread = None
        self.classes = None

    @property
    def agents(self):
        return self._handle.agents

    @property
    def dimension(self):
        return self._handle.dimension

    @property
    def samples(self):
        """How many samples all agents have together."""
        return self._handle.samples

    @property
    def data(self):
        """(X, y, offset) as the engine holds them, agent by agent; None for a function. X is a read-only view."""
        return _engine.Problem.data(self._handle)

    def costs(self, points):
        """out[k, p] = J_k(points[p]) on all samples."""
        return self._handle.costs(np.atleast_2d(np.asarray(points, dtype=float)))

    def minimise(self):
        """(J(w^o), w^o, how) for the mean of all costs; None where unknown."""
        return self._handle.minimise("solve")

    def checked(self):
        """Compares a function's gradients with finite differences, once."""
        if self._check is not None:
            check, self._check = self._check, None
            check()
        return self

    @property
    def column_spread(self):
        """How many times larger the largest column of X is than the smallest, as root mean squares; 1 for a function."""
        if self._spread is None:
            self._spread = 1.0 if self._loss is None else _spread(self.data[0])
        return self._spread

    def __repr__(self):
        return f"<polyhop.Problem: {self._describe}, {self.agents} agents, {self.dimension} numbers>"

    def __str__(self):
        lines = {"agents x numbers": f"{self.agents} x {self.dimension}", **self._details}
        if self._counts.sum() > len(self._counts):
            least, most = self._counts.min(), self._counts.max()
            lines["samples"] = f"{self._counts.sum()}, {least if least == most else f'{least} to {most}'} per agent"
        order = ("agents x numbers", "samples", "mean of", "batch")
        listed = sorted(lines.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order))
        return "\n".join([f"{self._describe} problem", *(f"  {name:<22}{text}" for name, text in listed)])

    def __reduce__(self):
        function, arguments = self._rebuild
        return function, arguments(self) if callable(arguments) else arguments


def csr(x):
    """A sparse matrix as a valid CSR matrix of numbers."""
    rows = x.tocsr()
    if rows.dtype.kind not in "fiub":
        raise refused("X", f"has the dtype {rows.dtype}, expected numbers")
    rows = rows.astype(float)
    try:
        rows.check_format(full_check=True)
    except ValueError as error:
        raise refused("X", f"is not a valid CSR matrix: {error}") from error
    rows.sum_duplicates()
    rows.sort_indices()
    return rows


_FILL = "leave these samples out, or fill them in"


def _is_missing(entry):
    return entry is None or type(entry).__name__ in ("NAType", "NaTType") or (isinstance(entry, float) and entry != entry)


def _is_number(entry):
    return isinstance(entry, numbers.Real) and not _is_missing(entry)


def _frame(x):
    """The numbers of a pandas frame, missing ones as NaN; rejects columns that hold anything else by name."""
    for name, dtype in zip(x.columns, x.dtypes):
        if dtype.kind in "fiub":
            continue
        strange = [(row, entry) for row, entry in enumerate(x[name] if x.columns.is_unique else ()) if not _is_number(entry)]
        others = [repr(n) for n, d in zip(x.columns, x.dtypes) if d.kind not in "fiub" and n != name]
        where = f"; row {strange[0][0]} is {shown(strange[0][1])}, one of {len(strange)} that are not numbers" if strange else ""
        raise refused("X", f"the column {name!r} has the dtype {dtype}{where}, expected numbers; encode it or leave it out"
                           + (f", and so with {', '.join(others)}" if others else ""))
    return x.to_numpy(dtype=float, na_value=np.nan)


def _check_finite(argument, values, place):
    """`place(n)`: where the n-th of all numbers is."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        count = f"{bad.size} numbers are not finite" if bad.size > 1 else "1 number is not finite"
        raise refused(argument, f"{place(bad[0])} is {np.ravel(values)[bad[0]]}, expected finite numbers ({count}); {_FILL}")


def _check_numbers(argument, array):
    """Rejects texts, dates, objects, complex numbers, and says where the first one is."""
    if array.dtype.kind in "fiub":
        return
    strange = [n for n, entry in enumerate(array.ravel()) if not _is_number(entry)] if array.dtype.kind in "OUS" else []
    if strange:
        place = [int(n) for n in np.unravel_index(strange[0], array.shape)]
        where = ", ".join(f"{name} {n}" for name, n in zip(("row", "column"), place)) if array.ndim in (1, 2) else "it"
        raise refused(argument, f"has the dtype {array.dtype}: {where} is {shown(array[tuple(place)])}, one of {len(strange)} that "
                                "are not numbers; encode them or leave them out")
    advice = f"; {argument}.astype(float) makes numbers of it" if array.dtype.kind == "O" else ""
    raise refused(argument, f"has the dtype {array.dtype}, expected numbers{advice}")


def _array(argument, given):
    try:
        return np.asarray(given)
    except ValueError:
        raise refused(argument, "has rows of different lengths, expected an array") from None


def _columns(x):
    """X as the engine takes it: a dense array, or the parts of a CSR matrix."""
    if hasattr(x, "tocsr"):
        rows = csr(x)
        _check_finite("X", rows.data, lambda n: f"row {np.searchsorted(rows.indptr, n, 'right') - 1}, column {rows.indices[n]}")
        return (rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int64), rows.shape[1]), rows.shape
    names = list(x.columns) if hasattr(x, "columns") and hasattr(x, "dtypes") else None
    x = _array("X", x) if names is None else _frame(x)
    _check_numbers("X", x)
    if x.ndim != 2:
        advice = "; X.reshape(-1, 1) makes one feature of it" if x.ndim == 1 else ""
        raise refused("X", f"has the shape {x.shape}, expected samples x features{advice}")
    x = x.astype(float, copy=False)

    def place(n):
        row, column = divmod(n, x.shape[1])
        return f"row {row}, column {column if names is None else repr(names[column])}"

    _check_finite("X", x, place)
    return x, x.shape


def _dealt(samples, agents, owner):
    """(order, counts): the samples agent by agent, and how many each has."""
    if (agents is None) == (owner is None):
        raise refused("agents", "give either agents=K, which deals samples in their order, or owner=, the agent of each")
    if owner is None:
        if not is_integer(agents) or not 1 <= agents <= samples:
            raise refused("agents", f"found {shown(agents)}, expected an integer from 1 to the {samples} samples")
        counts = np.full(agents, samples // agents)
        counts[: samples % agents] += 1
        return np.arange(samples), counts
    owner = _array("owner", owner)
    if owner.shape != (samples,):
        raise refused("owner", f"has the shape {owner.shape}, expected ({samples},), the agent of each row of X")
    renumber = "np.unique(owner, return_inverse=True)[1] numbers those that there are"
    if owner.dtype.kind not in "iu":
        raise refused("owner", f"has the dtype {owner.dtype}, expected integers from 0; {renumber}")
    if not samples:
        raise refused("owner", "is empty, expected the agent of at least one sample")
    if owner.min() < 0:
        raise refused("owner", f"sample {int(owner.argmin())} has the agent {owner.min()}, expected integers from 0; {renumber}")
    # Every agent has at least one sample, so there are no more agents than samples.
    present = np.unique(owner)
    if len(present) != int(owner.max()) + 1:
        if present[0] == 1 and present[-1] == len(present):
            raise refused("owner", f"numbers agents from 1 to {present[-1]}, expected from 0; give owner - 1")
        absent = int(np.flatnonzero(present != np.arange(len(present)))[0])
        raise refused("owner", f"agent {absent} has no samples, but there is an agent {present[-1]}; agents are 0 .. K-1 and each "
                               f"needs at least one; {renumber}")
    return np.argsort(owner, kind="stable"), np.bincount(owner.astype(np.intp))


def _labels(y):
    """(classes, the number of each sample's class)"""
    missing = [n for n, entry in enumerate(y) if _is_missing(entry)] if y.dtype.kind in "Of" else []
    if missing:
        count = f"{len(missing)} labels are missing" if len(missing) > 1 else "1 label is missing"
        raise refused("y", f"row {missing[0]} is {y[missing[0]]} ({count}), expected a class for every sample; {_FILL}")
    try:
        return np.unique(y, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(entry).__name__ for entry in y}))
        raise refused("y", f"mixes labels of several types ({kinds}), expected one; y.astype(str) makes texts of them") from None


def _check_no_classes(y):
    """Rejects labels where numbers are expected: the loss is probably the wrong one."""
    if y.dtype.kind not in "OUS" or any(not isinstance(entry, (str, bytes)) for entry in y):
        return
    classes = np.unique(y)
    listed = ", ".join([str(c) for c in classes[:5]] + ["..."] * (len(classes) > 5))
    raise refused("y", f"has {len(classes)} classes: {listed}, expected numbers; {'logistic' if len(classes) <= 2 else 'softmax'} "
                       "takes classes")


def _targets(y, samples, task):
    """(targets, classes) as a loss takes them."""
    takes_classes = task in ("two classes", "classes")
    dtype = getattr(y, "dtype", None)
    if not takes_classes and hasattr(y, "to_numpy") and not isinstance(dtype, np.dtype) and getattr(dtype, "kind", "O") in "fiu":
        y = y.to_numpy(dtype=float, na_value=np.nan)  # for pandas, whose integers may be missing
    y = _array("y", y)
    if y.shape != (samples,):
        advice = "; np.ravel(y) makes it so" if y.shape == (samples, 1) else ""
        raise refused("y", f"has the shape {y.shape}, expected ({samples},), one for each row of X{advice}")
    if takes_classes:
        if y.dtype.kind == "f":
            _check_finite("y", y, lambda n: f"row {n}")
        classes, which = _labels(y)
        if task == "two classes":
            if len(classes) != 2:
                raise refused("y", f"has {len(classes)} classes, and this loss takes two; softmax takes many")
            return 2.0 * which - 1.0, classes
        if len(classes) < 2:
            raise refused("y", "has only one class, expected at least two")
        return which.astype(float), classes
    _check_no_classes(y)
    _check_numbers("y", y)
    y = y.astype(float)
    _check_finite("y", y, lambda n: f"row {n}")
    if task == "counts" and (y < 0).any():
        raise refused("y", f"row {int(np.argmax(y < 0))} is {y[y < 0][0]:g}, and this loss is one of counts; expected numbers >= 0")
    return y, None


_MODEL = ("l2", "intercept", "batch", "sampling")
_DEFAULTS = {o["name"]: _default(o["default"]) for o in _engine.tables()["model"] if o["name"] in _MODEL}


def _batch_text(batch, sampling):
    return f"{batch} per agent and iteration ({sampling} sampling)"


def _loss_function(entry):
    own = {python_name(o["name"]): o["name"] for o in entry["options"]}
    model = [o for o in _engine.tables()["model"] if o["name"] in _MODEL]

    def problem(X, y, *, agents=None, owner=None, mean_of="agents", **options):
        unknown = [name for name in options if name not in own and name not in _MODEL]
        if unknown:
            raise unknown_keyword(problem.__name__, unknown[0], ["agents", "owner", "mean_of", *own, *_MODEL])
        if not isinstance(mean_of, str) or mean_of not in ("agents", "samples"):
            raise refused("mean_of", f"found {shown(mean_of)}, expected \"agents\" or \"samples\"")
        x, shape = _columns(X)
        targets, classes = _targets(y, shape[0], entry["task"])
        order, counts = _dealt(shape[0], agents, owner)
        given = {name: value for name, value in options.items() if value is not None}
        return _linear(entry["name"], {own[n]: v for n, v in given.items() if n in own}, x, targets, order, counts,
                       classes, {n: v for n, v in given.items() if n in _MODEL}, mean_of)

    problem.__name__ = problem.__qualname__ = python_name(entry["name"])
    problem.__module__ = "polyhop"
    first = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ("X", "y")]
    first += [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=d)
              for n, d in (("agents", None), ("owner", None), ("mean_of", "agents"))]
    problem.__signature__ = signature([*entry["options"], *model], first)
    problem.__doc__ = (f"{entry['summary']}\n\nX, y: samples x features (NumPy, or SciPy CSR) and their targets.\n"
                       "agents: how many share the samples, dealt in their order; or owner: the agent of each sample.\n"
                       "mean_of: \"agents\" minimises the mean of the agents' mean losses: each agent counts once, however many\n"
                       "    samples it has. \"samples\" minimises the mean loss of all samples. If all agents have equally\n"
                       "    many samples, the two are the same.\n\n"
                       f"{described([*entry['options'], *model])}")
    return problem


def _linear(loss, loss_options, x, targets, order, counts, classes, model, mean_of):
    # The weights K n_k / N make the mean of the agents' costs the mean over all samples.
    weights = len(counts) * np.asarray(counts) / np.sum(counts) if mean_of == "samples" else None
    handle = _engine.linear(loss, loss_options, x, targets, order, counts, 0 if classes is None else len(classes), model, weights)

    def arguments(problem):
        # As the engine holds it: in the agents' order, with the intercept's column of ones.
        x, y, offset = problem.data
        columns = (x[3] if isinstance(x, tuple) else x.shape[1]) - (1 if model.get("intercept") else 0)
        if isinstance(x, tuple):
            keep = x[1] < columns
            starts = np.concatenate([[0], np.cumsum(keep)])[x[2]]
            x = (x[0][keep], x[1][keep], starts, columns)
        else:
            x = np.array(x[:, :columns])
        return loss, loss_options, x, y, np.arange(len(y)), np.diff(offset), classes, model, mean_of

    settings = {**_DEFAULTS, **model}
    each = "each agent's mean loss counts once" if mean_of == "agents" else "each sample counts once"
    details = {"mean of": f"{mean_of}: {each}", "batch": _batch_text(settings["batch"], settings["sampling"]),
               "l2": settings["l2"], "intercept": settings["intercept"], **loss_options}
    problem = Problem(handle, loss, (_linear, arguments), counts=counts, loss=loss, details=details)
    problem.classes = classes
    return problem


def _spread(x):
    """The ratio of the largest to the smallest root mean square of the nonzero columns; uses 10,000 rows."""
    if isinstance(x, tuple):
        data, column, _, columns = x
        squares = np.bincount(column, data * data, columns)
    else:
        some = x[:: max(1, len(x) // 10000)]
        squares = np.einsum("ij,ij->j", some, some)
    squares = squares[squares > 0]
    return float(np.sqrt(squares.max() / squares.min())) if squares.size else 1.0


def make_losses():
    return {python_name(e["name"]): _loss_function(e) for e in _engine.tables()["losses"]}


class _Each:
    """One function of many points, made from one object per agent."""

    def __init__(self, costs):
        self.costs = costs

    def __call__(self, W, agents, batches):
        values, gradients = np.empty(len(W)), np.empty(W.shape)
        for n, (w, k) in enumerate(zip(W, agents)):
            more = () if batches is None else (batches[n],)
            values[n] = self.costs[k].value(w, *more)
            gradients[n] = self.costs[k].gradient(w, *more)
        return values, gradients


@suggesting
def objective(f, agents=None, dimension=None, *, samples=1, batch="all", sampling="uniform", values=None, check=True):
    """Your own problem.

    f: a function f(W, agents, batches) -> (values, gradients) of n points at once: W (n, M) and agents (n,) in, values
        (n,) and gradients (n, M) out; row i is a point of agent agents[i]. Or a list of K objects with value(w) and
        gradient(w), which is slower. W may not be changed, or kept without a copy.
    agents, dimension: K and M; for a list, dimension alone.
    samples: how many samples each agent has, one number or one per agent; 1 for a cost without samples, which gets None
        for `batches`. Otherwise `batches` holds the sample numbers of each point, (n, b) or a list of arrays.
    batch: how many samples an iteration takes, or "all"; sampling: "uniform", "shuffle" or "cyclic".
    values: a function like f that returns only values, for rules that look at many points.
    check: compare some gradients with finite differences before the first use.
    """
    if not callable(f):
        costs = list(f) if np.iterable(f) else []
        if not costs or not all(hasattr(c, "value") and hasattr(c, "gradient") for c in costs):
            raise refused("f", f"found {shown(f)}, expected a function f(W, agents, batches) -> (values, gradients), or a list of "
                               "objects with value(w) and gradient(w)")
        if agents not in (None, len(costs)):
            raise refused("agents", f"found {agents}, but there are {len(costs)} costs")
        agents, f = len(costs), _Each(costs)
        if dimension is None and hasattr(costs[0], "dimension"):
            dimension = costs[0].dimension
        if all(hasattr(c, "samples") for c in costs):
            samples = [c.samples for c in costs]
    for name, function in (("f", f), ("values", values)):
        if function is not None:
            check_call(name, function, f"{name}(W, agents, batches)")
    for name, value in (("agents", agents), ("dimension", dimension)):
        if not is_integer(value) or not 1 <= value <= 10**7:
            raise refused(name, f"found {shown(value)}, expected an integer from 1 to 10,000,000")
    counts = np.broadcast_to(np.asarray(samples), (agents,)) if np.ndim(samples) == 0 else np.asarray(samples)
    if counts.shape != (agents,) or counts.dtype.kind not in "iu" or (counts < 1).any():
        raise refused("samples", f"found {shown(samples)}, expected an integer >= 1, or one for each of {agents} agents")
    counts = [int(n) for n in counts]
    handle = _engine.objective(f, values, counts, int(dimension), batch, sampling)

    def compare():
        w = np.random.default_rng(0).normal(size=dimension)
        _engine.check_gradients(f, counts, int(dimension), sorted({0, agents - 1}), w)

    arguments = (f, agents, dimension, counts, batch, sampling, values, check)
    return Problem(handle, getattr(f, "__name__", type(f).__name__), (_objective, arguments), compare if check else None,
                   counts=counts, details={"batch": _batch_text(batch, sampling)} if max(counts) > 1 else {})


def _objective(f, agents, dimension, samples, batch, sampling, values, check):
    return objective(f, agents, dimension, samples=samples, batch=batch, sampling=sampling, values=values, check=check)
