# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Results of runs: arrays, frames, figures, pages."""

import collections.abc
import html
import shutil
import sys
import textwrap
import warnings

import numpy as np

from . import _engine
from ._messages import path_of, refused, shown
from .graph import inline_svg

_LABELS = {"excess_risk": "excess risk", "consensus_error": "consensus error", "vectors": "vectors sent"}
_COLOURS = ["#1f5fa8", "#c8501e", "#2f7d4f", "#8a4fa3", "#8c6d1f", "#b0305c", "#3b8ea5", "#5a5f66"]
_DASHES = ["-", "--", "-.", ":"]


def _label(column):
    return _LABELS.get(column, column.replace("_", " "))


def _axes(ax, x, y):
    import matplotlib.pyplot as plt

    ax = ax or plt.figure(figsize=(6, 4), layout="constrained").gca()
    ax.set_yscale("log")
    ax.set_xlabel(_label(x))
    ax.set_ylabel(_label(y))
    ax.grid(True, alpha=0.25)
    return ax


def _positive(y):
    """What a logarithmic axis can show."""
    return np.where(np.asarray(y, dtype=float) > 0, y, np.nan)


def _check_columns(columns, **asked):
    """Rejects unknown names of columns."""
    for argument, name in asked.items():
        if name not in columns:
            advice = _engine.suggestion(str(name), list(columns))
            others = f" There are {', '.join(columns)}" if advice.endswith("?") else ""
            raise refused(argument, f"there is no column {name!r}{advice}{others}")


_SCALING = {"least-squares": "DecentralizedRidge", "poisson": "DecentralizedPoissonRegressor",
            "logistic": "DecentralizedLogisticRegression", "softmax": "DecentralizedLogisticRegression"}


def _advice(problem, found):
    """What to do about columns of very different sizes, or a function that returns NaN; empty if all is well."""
    first = found["columns"]["excess_risk"][0]
    if problem._loss is None and not np.isfinite(first):
        return f"the objective's value is {first} at the first models; begin where it is finite, with start="
    return scaling_advice(problem)


def scaling_advice(problem):
    """What to do about columns of very different sizes; empty if all is well."""
    spread = problem.column_spread
    if spread <= _engine.unlike_columns:
        return ""
    instead = f", or use {_SCALING[problem._loss]}, which does" if problem._loss in _SCALING else ""
    return f"columns of X differ in size by a factor of {spread:.2g}: standardise them{instead}"


class Result:
    """What `solve` found."""

    def __init__(self, found, network, problem=None):
        is_bad = found["status"] == "diverged" or (found["status"] != "unfinished" and self._is_above(found))
        if problem is not None and is_bad:
            found["message"] = "; ".join(filter(None, [_advice(problem, found), found["message"]]))
        self._found, self.network = found, network
        #: (K, M): the last models; their averages over the run, or None.
        self.models, self.averaged = found["models"], found["averaged"]
        #: "target", "done", "diverged", "stalled", "time-limit" or "unfinished"; and what to do about it.
        self.status, self.message = found["status"], found["message"]
        #: J(w^o), or None if it is unknown; `excess_risk` is then the risk itself.
        self.reference, self.reference_how = found["reference"], found["reference_how"]
        self.method = found["method"]
        #: (points, K): every agent's step size, with record_steps=True; else None.
        self.steps = found["steps"]
        self._curves = None

    @staticmethod
    def _is_above(found):
        return found["target"] is not None and not found["columns"]["excess_risk"][-1] <= found["target"]

    @property
    def columns(self):
        """{name: array} of the recorded points: the data of `curves`, without pandas."""
        return self._found["columns"]

    @property
    def curves(self):
        """A pandas frame with one row per recorded point; the columns are those of curves.csv."""
        if self._curves is None:
            import pandas

            self._curves = pandas.DataFrame(self.columns)
        return self._curves

    @property
    def mean_model(self):
        """(M,): the mean of all agents' models, the answer of the network as a whole."""
        return self.models.mean(axis=0)

    @property
    def traffic(self):
        """What was sent over all links: rounds, vectors and scalars, in all and for choosing the steps."""
        return {name: int(self.columns[name][-1]) for name in ("rounds", "vectors", "scalars", "step_vectors", "step_scalars")}

    @property
    def seconds(self):
        return float(self.columns["seconds"][-1])

    def plot(self, ax=None, x="iteration", y="excess_risk", **line):
        """Draws a curve with Matplotlib and returns the axes; x and y are names of columns."""
        _check_columns(self.columns, x=x, y=y)
        ax = _axes(ax, x, y)
        if y == "excess_risk" and self.reference is None:
            ax.set_ylabel("risk (the minimum is not known)")
        ax.plot(self.columns[x], _positive(self.columns[y]), **{"label": self.method, "color": _COLOURS[0], **line})
        ax.legend(frameon=False)
        return ax

    def __repr__(self):
        return f"<polyhop.Result: {self._brief()}>"

    def _brief(self):
        if self.status != "done":
            return self._found["brief"]
        end = {name: column[-1] for name, column in self.columns.items()}
        found = self._found["risk"]
        target = self._found["target"]
        ending = "" if target is None else f", target {target:g} {'missed' if self._is_above(self._found) else 'reached'}"
        risk = "risk" if self.reference is None else "excess risk"
        return (f"{self.method} ended after its {end['iteration']} iterations{ending}: {risk} {found}, "
                f"{end['vectors']} vectors sent, {end['seconds']:.2g} s")

    def __str__(self):
        _, *rest = self._found["full"].splitlines()
        advice = [f"  {'advice':<22}{self.message}"] if self.message else []
        lines = [self._brief(), *advice, *(line for line in rest if not line.startswith("  advice"))]
        wrapped = (textwrap.fill(line, 80, subsequent_indent=" " * (24 if n else 4), break_long_words=False,
                                 break_on_hyphens=False) for n, line in enumerate(lines))
        return "\n".join(wrapped)

    def _repr_html_(self):
        parts = [f"<pre>{html.escape(str(self))}</pre>", _svg_curve(self.columns["iteration"], self.columns["excess_risk"],
                 "risk" if self.reference is None else "excess risk")]
        if self.network.agents <= 200:
            parts.append(inline_svg(self.network))
        return f'<div style="display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start">{"".join(parts)}</div>'

    def __getstate__(self):
        return {"found": self._found, "network": self.network}

    def __setstate__(self, state):
        self.__init__(state["found"], state["network"])


def _svg_curve(x, y, label, width=420, height=260):
    """A small figure for a notebook, on a logarithmic axis."""
    x, y = np.asarray(x, dtype=float), _positive(y)
    shown = np.isfinite(y)
    if shown.sum() < 2:
        return ""
    x, y = x[shown], np.log10(y[shown])
    low, high = np.floor(y.min()), max(np.ceil(y.max()), np.floor(y.min()) + 1)
    left, right, top, bottom = 56, 10, 10, 34
    across = left + (x - x.min()) / max(x.max() - x.min(), 1) * (width - left - right)
    down = top + (high - y) / (high - low) * (height - top - bottom)
    every = max(1, int(np.ceil((high - low) / 6)))
    marks = [(top + (high - e) / (high - low) * (height - top - bottom), int(e)) for e in np.arange(low, high + 1, every)]
    grid = "".join(f'<line x1="{left}" x2="{width - right}" y1="{d:.1f}" y2="{d:.1f}" stroke="#8884" />'
                   f'<text x="{left - 6}" y="{d + 4:.1f}" text-anchor="end">1e{e}</text>' for d, e in marks)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down))
    ends = "".join(f'<text x="{a:.1f}" y="{height - bottom + 16}" text-anchor="{anchor}">{int(v)}</text>'
                   for a, v, anchor in ((left, x.min(), "start"), (width - right, x.max(), "end")))
    return (f'<svg viewBox="0 0 {width} {height}" width="{width}" font-family="sans-serif" font-size="11" fill="currentColor">'
            f'{grid}{ends}<text x="{(left + width - right) / 2}" y="{height - 4}" text-anchor="middle">iteration</text>'
            f'<text transform="translate(12 {(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">{html.escape(label)}</text>'
            f'<polyline points="{points}" fill="none" stroke="{_COLOURS[0]}" stroke-width="2" /></svg>')


def _seeds_text(seeds, most=10):
    """ "the seed 0", "the seeds 0, 1, 2, ..., 99" """
    if len(seeds) == 1:
        return f"the seed {seeds[0]}"
    listed = [str(seed) for seed in seeds]
    if len(listed) > most:
        listed = [*listed[:most - 1], "...", listed[-1]]
    return f"the seeds {', '.join(listed)}"


class _Models(collections.abc.Mapping):
    """Models by (method, seed), read on first use."""

    def __init__(self, read, which):
        self._read, self._which = read, which

    def __getitem__(self, key):
        try:
            found = self._read().get(key, (None, None))[self._which]
        except TypeError:  # a list, for example, cannot be a key
            found = None
        if found is None:
            raise KeyError(self._missing(key))
        return found

    def _missing(self, key):
        """Why there are no models for the key, and for which there are."""
        seeds = {}
        for method, seed in self:
            seeds.setdefault(method, []).append(seed)
        if not seeds:
            return f"there are no {'averaged ' if self._which == 1 else ''}models here"
        if not isinstance(key, tuple) or len(key) != 2:
            return f"found {shown(key)}, expected a method and a seed, such as {next(iter(self))!r}"
        method, seed = key
        if method in seeds:
            return f"no models of {method!r} with the seed {shown(seed)}; it has {_seeds_text(seeds[method])}"
        every = list(dict.fromkeys(seed for listed in seeds.values() for seed in listed))
        text = f"there is no method {shown(method)}{_engine.suggestion(str(method), list(seeds))}"
        return f"{text}{' There' if text.endswith('?') else '; there'} are models of {_seeds_text(every)}"

    def __iter__(self):
        return (key for key, pair in self._read().items() if pair[self._which] is not None)

    def __len__(self):
        return sum(1 for _ in self)

    def __repr__(self):
        return f"<models of {list(self)}>"


class Experiment:
    """The results of several methods on a problem, over seeds."""

    def __init__(self, record, folder=None, advice=""):
        self._record, self.folder, self._advice = record, folder, advice
        self.name, self.target = record.name, record.target
        self._cells = record.cells()
        self._read = None
        self._frames = {}

    @property
    def methods(self):
        return list(dict.fromkeys(cell["method"] for cell in self._cells))

    @property
    def seeds(self):
        return list(dict.fromkeys(cell["seed"] for cell in self._cells))

    @property
    def config(self):
        """Every option, as a dict."""
        return self._record.config

    @property
    def ranking(self):
        """A pandas frame, best method first: medians over seeds, and who reached the target."""
        if "ranking" not in self._frames:
            import pandas

            rows = []
            for row in self._record.ranking():
                spreads = {f"{name}{end}": row[name][key] for name in ("iterations", "vectors", "evaluations", "seconds", "final_risk", "final_risk_averaged")
                           for key, end in (("median", ""), ("low", "_low"), ("high", "_high"))}
                rows.append({**{k: v for k, v in row.items() if not isinstance(v, dict)}, **spreads})
            frame = pandas.DataFrame(rows).set_index("method")
            first = ["iterations", "vectors", "final_risk", "final_risk_averaged", "recommended", "reached", "runs"]
            self._frames["ranking"] = frame[[*first, *(c for c in frame.columns if c not in first)]]
        return self._frames["ranking"]

    @property
    def curves(self):
        """A pandas frame with one row per recorded point of each run; the columns are those of curves.csv."""
        if "curves" not in self._frames:
            import pandas

            frames = [pandas.DataFrame({"experiment": self.name, "method": c["method"], "seed": c["seed"], **c["columns"],
                                        "status": c["status"]}) for c in self._cells]
            self._frames["curves"] = pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()
        return self._frames["curves"]

    @property
    def status(self):
        """{(method, seed): how it ended}"""
        return {(c["method"], c["seed"]): c["status"] for c in self._cells}

    @property
    def messages(self):
        """{(method, seed): why a run failed, or what to do about it}, for runs with a message."""
        return {(c["method"], c["seed"]): c["message"] for c in self._cells if c["message"]}

    def _all_models(self):
        if self._read is None:
            found = self._record.models()
            if not found and self.folder is not None:
                found = _engine.load(self.folder, True).models()
            self._read = found
        return self._read

    @property
    def models(self):
        """[method, seed]: (K, M), the last models."""
        return _Models(self._all_models, 0)

    @property
    def averaged(self):
        """[method, seed]: (K, M), averaged over the run."""
        return _Models(self._all_models, 1)

    @property
    def steps(self):
        """{(method, seed): (points, K)}: every agent's step size, where recorded."""
        return {(c["method"], c["seed"]): c["steps"] for c in self._cells if c["steps"] is not None}

    def plot(self, ax=None, x="iteration", y="excess_risk", methods=None):
        """Draws each method's median over seeds with Matplotlib, with a band from the 10% to the 90% quantile, and
        returns the axes; x and y are names of columns."""
        if self._cells:
            _check_columns(self._cells[0]["columns"], x=x, y=y)
        ax = _axes(ax, x, y)
        chosen = self.methods if methods is None else list(methods)
        for n, method in enumerate(chosen):
            runs = [c["columns"] for c in self._cells if c["method"] == method and len(c["columns"][x])]
            if not runs:
                raise refused("methods", f"there is no run of {method!r}; there are {', '.join(map(repr, self.methods))}")
            points = max(len(columns[x]) for columns in runs)
            table, places = np.full((2, len(runs), points), np.nan)
            for row, place, columns in zip(table, places, runs):
                place[: len(columns[x])] = columns[x]
                row[: len(columns[y])] = _positive(columns[y])
                row[len(columns[y]):] = row[len(columns[y]) - 1]  # a run that ended early keeps its last value
            style = {"color": _COLOURS[n % len(_COLOURS)], "linestyle": _DASHES[(n // len(_COLOURS)) % len(_DASHES)]}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # if nothing is left to draw
                low, median, high = np.nanquantile(table, [0.1, 0.5, 0.9], axis=0) if len(runs) > 1 else [table[0]] * 3
            at = np.nanmedian(places, axis=0)
            ax.plot(at, median, label=method, **style)
            if len(runs) > 1:
                ax.fill_between(at, low, high, color=style["color"], alpha=0.15, linewidth=0)
        if y.startswith("excess_risk"):
            ax.axhline(self.target, color="#5a5f66", linewidth=0.8, linestyle=(0, (2, 2)))
        ax.legend(frameon=False)
        return ax

    def report(self, path):
        """Writes the same page as the command: ranking, curves, network, steps. One self-contained file."""
        self._record.write_page(path_of("path", path, "the name of a file"))
        return path

    def figure(self, path, **options):
        """Draws curves with gnuplot into a .svg, .pdf or .png, with the options of `polyhop report --figure`: x, y,
        methods, width and height in cm, legend, font, font_size, band, bands."""
        self._record.write_figure(path_of("path", path, "the name of a file"), options)
        return path

    def export(self, folder):
        """Writes curves.csv, models.npz and summary.json."""
        self._record.export(path_of("folder", folder, "the name of a folder"))
        return folder

    def __str__(self):
        width = shutil.get_terminal_size().columns
        advice = textwrap.fill(self._advice, width)
        return self._record.ranking_text(width).rstrip() + (f"\n\n{advice}" if advice else "")

    def __reduce__(self):
        return Experiment, (self._record, self.folder, self._advice)

    def __repr__(self):
        return f"<polyhop.Experiment: {self.name!r}, {len(self.methods)} methods, {len(self.seeds)} seeds>"

    def _repr_html_(self):
        text = self._record.ranking_text(0).rstrip() + (f"\n\n{self._advice}" if self._advice else "")
        return f"<pre>{html.escape(text)}</pre>"


def is_watched():
    """Whether somebody reads along, on a terminal or in a notebook."""
    return "ipykernel" in sys.modules or sys.stderr.isatty()


def tell_kept(method, kept):
    sys.stderr.write(_engine.kept_note(method, kept) + "\n")
    sys.stderr.flush()


class Progress:
    """Shows how many runs have ended, and remarks before they begin, on a terminal or in a notebook; silent if output
    goes to a file."""

    def __init__(self, wanted, total):
        is_notebook = "ipykernel" in sys.modules
        self._wanted = is_watched() if wanted is None else bool(wanted)
        self._total, self._width, self._display = total, 0, None
        if self._wanted and is_notebook:
            from IPython.display import display

            self._display = display({"text/plain": ""}, raw=True, display_id=True)
        self.on_cell = self._cell if self._wanted else None
        self.on_point = None
        self.on_kept = self._kept if self._wanted else None

    def _cell(self, method, seed, status, finished, total):
        share = finished / max(total, 1)
        text = f"{'#' * round(20 * share):<20} {finished}/{total} {method} seed {seed}: {status}"
        if self._display is not None:
            self._display.update({"text/plain": text}, raw=True)
        else:
            sys.stderr.write(f"\r{text[:79]:<{self._width}}")
            sys.stderr.flush()
            self._width = min(len(text), 79)

    def _kept(self, method, kept):
        self._clear()
        tell_kept(method, kept)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._clear()

    def _clear(self):
        if self._wanted and self._display is None and self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
