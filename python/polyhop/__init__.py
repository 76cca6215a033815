# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Decentralized optimization over networks, with step sizes that need no tuning.

    import polyhop as ph
    net = ph.graph.erdos_renyi(8, p=0.4, seed=1).metropolis()
    run = ph.solve(ph.least_squares(X, y, agents=8), net, step=ph.gap(sweeps=2), iterations=3000)
    run.plot()

docs/python.md is a tour.
"""

from . import _choices, _engine, _problem
from . import graph
from ._engine import Error, InputError, OutputError, set_memory_limit
from ._messages import no_attribute as _no_attribute
from ._method import Algorithm, StepSize, algorithm, rule
from ._problem import Problem, objective
from ._result import Experiment, Result
from ._solve import State, compare, iterate, load, run, solve
from .graph import Graph, Network

__version__ = _engine.version

#: All rules, algorithms and losses by name, to print or to call. Rules and losses are also in `polyhop` itself, as are
#: algorithms whose names no rule has.
rules, algorithms, losses = _choices.rules, _choices.algorithms, _choices.Table(**_problem.make_losses())
_rules, _algorithms, _losses = (dict(vars(_part)) for _part in (rules, algorithms, losses))
for _part in (_algorithms, _losses, _rules):
    globals().update({name: function for name, function in _part.items() if name not in ("graph", "rule", "algorithm")})

_ESTIMATORS = ("DecentralizedRidge", "DecentralizedLogisticRegression", "DecentralizedPoissonRegressor")

__all__ = ["Algorithm", "Error", "Experiment", "Graph", "InputError", "Network", "OutputError", "Problem", "Result",
           "State", "StepSize", "algorithm", "algorithms", "compare", "graph", "iterate", "load", "losses", "objective",
           "rule", "rules", "run", "set_memory_limit", "solve", *_algorithms, *_losses, *_rules, *_ESTIMATORS]


def __getattr__(name):
    # scikit-learn takes a second to import, so import it only when needed.
    if name in _ESTIMATORS:
        from . import estimators

        return getattr(estimators, name)
    raise _no_attribute("polyhop", name, __all__)


def __dir__():
    return sorted([*globals(), *_ESTIMATORS])
