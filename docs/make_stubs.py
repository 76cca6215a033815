# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the types of polyhop's Python package, python/polyhop/*.pyi: what the engine's tables say of rules, algorithms,
losses and graphs, which no tool sees in the sources, and the rest as it stands there.

usage: PYTHONPATH=build/python make_stubs.py
"""

import inspect
import pathlib

import polyhop
from polyhop import _engine
from polyhop._choices import _default, python_name

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "python" / "polyhop"
HEAD = "# Made by docs/make_stubs.py.\n"
TYPES = {"agents": "int", "iterations": "int", "record_every": "int", "threads": "int", "seed": "int", "target": "float | None",
         "time_limit": "float | None", "step": "Step", "algorithm": "Step | None", "problem": "Problem", "network": "NetworkLike",
         "callback": "Callable[[dict[str, float]], object] | None", "start": "ArrayLike | None", "average": "bool",
         "stop_at_target": "bool", "record_steps": "bool", "reference": "str | float", "record_agents": "str | int | None",
         "methods": "Mapping[str, Step] | Sequence[Step]", "seeds": "int | Iterable[int]", "tuning": "Mapping[str, Any] | None", "faults": "Mapping[str, Any] | None",
         "name": "str", "progress": "bool | None", "file": "str | os.PathLike[str] | Mapping[str, Any]",
         "out": "str | os.PathLike[str] | None", "settings": "Mapping[str, Any] | None", "fresh": "bool",
         "folder": "str | os.PathLike[str]", "f": "Callable[..., Any] | Sequence[Any]", "dimension": "int | None",
         "samples": "int | Sequence[int]", "batch": "int | str", "sampling": "str", "values": "Callable[..., Any] | None",
         "check": "bool", "edges": "ArrayLike", "graph": "Any", "matrix": "Any", "path": "str | os.PathLike[str]",
         "weights": "str | None", "topology": "str", "options": "Any", "constant": "str"}
RESULTS = {"solve": "Result", "iterate": "Iterator[State]", "compare": "Experiment", "run": "Experiment", "load": "Experiment",
           "objective": "Problem", "rule": "Callable[[type[_T]], type[_T]]", "algorithm": "Callable[[type[_T]], type[_T]]",
           "from_matrix": "Network", "read": "Network"}
FRAME = "Any"  # pandas.DataFrame, which need not be there
ATTRIBUTES = {
    "Problem": {"agents": "int", "dimension": "int", "samples": "int", "classes": "NDArray[Any] | None", "data": "Any",
                "column_spread": "float"},
    "State": {"iteration": "int", "models": "Numbers", "averaged": "Numbers | None", "steps": "Numbers", "traffic": "dict[str, int]"},
    "Result": {"models": "Numbers", "averaged": "Numbers | None", "mean_model": "Numbers", "status": "str", "message": "str",
               "reference": "float | None", "reference_how": "str", "method": "str", "steps": "Numbers | None", "curves": FRAME,
               "columns": "dict[str, NDArray[Any]]", "traffic": "dict[str, int]", "seconds": "float", "network": "Network"},
    "Experiment": {"name": "str", "target": "float", "folder": "str | None", "methods": "list[str]", "seeds": "list[int]",
                   "config": "dict[str, Any]", "ranking": FRAME, "curves": FRAME, "status": "dict[tuple[str, int], str]",
                   "messages": "dict[tuple[str, int], str]", "models": "Mapping[tuple[str, int], Numbers]",
                   "averaged": "Mapping[tuple[str, int], Numbers]", "steps": "dict[tuple[str, int], Numbers]"},
    "StepSize": {"needs_values": "bool", "is_common": "bool", "gives": "str", "state": "Sequence[str]"},
    "Algorithm": {"takes": "str", "recursion": "Mapping[str, Any]", "state": "Sequence[str]", "models": "Numbers", "steps": "Numbers"},
    "Graph": {"agents": "int", "edges": "NDArray[Any]", "topology": "str | None"},
    "Network": {"agents": "int", "edges": "NDArray[Any]", "graph": "Graph", "matrix": "Any", "spectral_gap": "float",
                "topology": "str | None", "weights": "str | None"},
}
METHODS = {"costs": "Numbers", "minimise": "tuple[float | None, Numbers | None, str]", "checked": "Problem", "plot": "Any", "draw": "Any",
           "report": "Any", "figure": "Any", "export": "Any", "svg": "str", "to_networkx": "Any", "start": "None", "choose": "Any",
           "step": "None", "weighted": "Network"}


def option_type(text):
    if text in ("integer",):
        return "int"
    if text in ("number",):
        return "float"
    if text == "true | false":
        return "bool"
    if text == "text" or all(part.strip().replace("-", "").isalnum() for part in text.split("|")):
        return "str"
    return "Any"


def keywords(options):
    parts = []
    for option in options:
        default = _default(option["default"])
        kind = option_type(option["type"]) + (" | None" if default is None else "")
        parts.append(f"{python_name(option['name'])}: {kind}" + ("" if default is inspect.Parameter.empty else " = ..."))
    return ", ".join(parts)


def function(name, call, indent=""):
    parts, bare = [], False
    for p in inspect.signature(call).parameters.values():
        if p.name == "self":
            parts.append("self")
            continue
        if p.kind == p.KEYWORD_ONLY and not bare:
            parts.append("*")
            bare = True
        star = {p.VAR_KEYWORD: "**", p.VAR_POSITIONAL: "*"}.get(p.kind, "")
        kind = TYPES.get(p.name, "Any") if not indent else "Any"
        parts.append(f"{star}{p.name}: {kind}" + ("" if p.default is p.empty else " = ..."))
    result = METHODS.get(name, "Any") if indent else RESULTS.get(name, "Graph")
    return f"{indent}def {name}({', '.join(parts)}) -> {result}: ..."


def class_of(cls):
    lines = [f"class {cls.__name__}:"]
    lines += [f"    {name}: {kind}" for name, kind in ATTRIBUTES[cls.__name__].items()]
    for name, member in vars(cls).items():
        if not name.startswith("_") and inspect.isfunction(member):
            lines.append(f"    def {name}(self) -> Network: ..." if name in polyhop.graph._WEIGHTS else function(name, member, "    "))
    return "\n".join(lines)


def main_stub():
    tables = _engine.tables()
    model = [o for o in tables["model"] if o["name"] in ("l2", "intercept", "batch", "sampling")]
    out = [HEAD + """import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import graph as graph
from .estimators import DecentralizedLogisticRegression as DecentralizedLogisticRegression
from .estimators import DecentralizedPoissonRegressor as DecentralizedPoissonRegressor
from .estimators import DecentralizedRidge as DecentralizedRidge
from .graph import Graph as Graph
from .graph import Network as Network

_T = TypeVar("_T")
Numbers = NDArray[np.float64]
Step = Union[str, float, Mapping[str, Any], "Choice", type]
NetworkLike = Any

__version__: str
rules: SimpleNamespace  # print(ph.rules) lists them
algorithms: SimpleNamespace
losses: SimpleNamespace

class Error(RuntimeError): ...
class InputError(Error, ValueError):
    argument: str
class OutputError(Error, OSError): ...

def set_memory_limit(size: str) -> None: ...

class Choice:
    name: str
    options: dict[str, Any]
"""]
    for name in ("Problem", "State", "Result", "Experiment", "StepSize", "Algorithm"):
        out.append(class_of(getattr(polyhop, name)))
    for name in ("solve", "iterate", "compare", "run", "load", "objective", "rule", "algorithm"):
        out.append(function(name, getattr(polyhop, name)))
    for entry in tables["losses"]:
        more = keywords([*entry["options"], *model])
        out.append(f"def {python_name(entry['name'])}(X: Any, y: ArrayLike, *, agents: int | None = ..., owner: ArrayLike | None = ..., mean_of: str = ..., {more}) -> Problem: ...")
    seen = set()
    for entry in [*tables["rules"], *tables["algorithms"]]:
        name = python_name(entry["name"])
        if name not in seen and hasattr(polyhop, name):  # not what somebody registered since
            seen.add(name)
            main = entry.get("constant", "")
            named = keywords([o for o in entry["options"] if o["name"] != main])
            parts = [keywords([o for o in entry["options"] if o["name"] == main]), named and f"*, {named}"]
            out.append(f"def {name}({', '.join(filter(None, parts))}) -> Choice: ...")
    return "\n".join(out) + "\n"


def graph_stub():
    out = [HEAD + "import os\nfrom typing import Any\n\nfrom numpy.typing import ArrayLike, NDArray\n"]
    out += [class_of(polyhop.Graph), class_of(polyhop.Network)]
    for name, member in sorted(vars(polyhop.graph).items()):
        if inspect.isfunction(member) and not name.startswith("_") and member.__module__ == "polyhop.graph":
            out.append(function(name, member))
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    for name, text in (("__init__.pyi", main_stub()), ("graph.pyi", graph_stub())):
        (PACKAGE / name).write_text(text)
        print(PACKAGE / name)
