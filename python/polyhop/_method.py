# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Your own rules and algorithms."""

import inspect

import numpy as np

from . import _choices, _engine
from ._messages import check_call


class StepSize:
    """A rule that chooses every agent's step size. Subclass it to say how:

        @polyhop.rule("shy")
        class Shy(polyhop.StepSize):
            def __init__(self, value=0.1):
                self.value = value
            def choose(self, at, network):
                return self.value / (1 + np.sqrt(at.squared_norms))

    `at` describes the current iterate (`at.iteration` or `at.i`, `models`, `start`, `gradients`, `direction`, `values`,
    `squared_norms`, `optimal_values()`), and `network` is the way to other agents (`network.combine`, `reach`,
    `pairwise`, `hear`, `spread_max`, `spread_sum`), which counts what is sent. Use both only during the call. Rows
    belong to the agents `network.agents`: with several threads, an object has some of them.
    """

    #: Whether the rule needs `at.values`.
    needs_values = True
    #: Whether all agents have the same step without telling each other.
    is_common = False
    #: "agent-wise", "common" or "constant": which algorithms can take the steps.
    gives = "agent-wise"
    #: Names of attributes to keep between iterations, numbers or arrays with one row per agent; checkpoints save them.
    state = ()

    def start(self, network):
        """Called before the first iteration: create the arrays of `state` here."""

    def choose(self, at, network):
        """Returns every agent's step size, an array (n,) or one number for all."""
        raise NotImplementedError(f"{type(self).__name__} needs a method choose(self, at, network)")


class Algorithm:
    """A recursion over all agents. Subclass it to say what an iteration does:

        @polyhop.algorithm("lazy-diffusion")
        class LazyDiffusion(polyhop.Algorithm):
            def step(self, i, oracle, rule, network):
                at = oracle.sample(i, self.models, rule)
                self.steps = rule.choose(at, network)
                moved = self.models - self.steps[:, None] * at.gradients
                self.models[:] = (moved + network.combine(moved)) / 2

    `self.models` has one row per agent, and is already set; `self.steps` are the steps taken.
    """

    #: The steps that it can take: "agent-wise", "common" or "constant".
    takes = "agent-wise"
    #: How steps enter it, for rules that need to know: W+ = P (X - diag(mu) Y), P = (1 - mixing) I + mixing A.
    recursion = {}
    #: As for a rule. `models` and `steps` are always included.
    state = ()

    def start(self, network):
        """Called before the first iteration; `self.models` is set by then."""

    def step(self, i, oracle, rule, network):
        raise NotImplementedError(f"{type(self).__name__} needs a method step(self, i, oracle, rule, network)")


def _options(cls):
    """The arguments of a class with their defaults: the options that a file may give."""
    out = {}
    if cls.__init__ is object.__init__:
        return out
    for name, parameter in list(inspect.signature(cls.__init__).parameters.items())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"{cls.__name__}.__init__ takes any arguments; options need names and defaults")
        out[name] = None if parameter.default is parameter.empty else parameter.default
    return out


def _summary(cls):
    return (inspect.getdoc(cls) or cls.__name__).splitlines()[0] if cls.__doc__ else cls.__name__


def _check_method(cls, base, example):
    name = example.split("(")[0]
    if getattr(cls, name) is getattr(base, name):
        raise TypeError(f"{cls.__name__} needs a method {example}")
    check_call(f"{cls.__name__}.{name}", getattr(cls, name), example)


def rule(name, *, constant=""):
    """Registers a subclass of StepSize; from then on files, `solve` and `compare` can name it. `constant`: the option
    that `tuned` may search for."""

    def register(cls):
        if not (isinstance(cls, type) and issubclass(cls, StepSize)):
            raise TypeError("@polyhop.rule decorates a subclass of polyhop.StepSize")
        _check_method(cls, StepSize, "choose(self, at, network)")
        _engine.add_rule(name, cls, _summary(cls), _options(cls), cls.gives, constant)
        cls.polyhop_name = name
        _choices.add("rules", name)
        return cls

    return register


def algorithm(name):
    """Registers a subclass of Algorithm in the same way."""

    def register(cls):
        if not (isinstance(cls, type) and issubclass(cls, Algorithm)):
            raise TypeError("@polyhop.algorithm decorates a subclass of polyhop.Algorithm")
        _check_method(cls, Algorithm, "step(self, i, oracle, rule, network)")
        _engine.add_algorithm(name, cls, _summary(cls), _options(cls), cls.takes, dict(cls.recursion))
        cls.polyhop_name = name
        _choices.add("algorithms", name)
        return cls

    return register
