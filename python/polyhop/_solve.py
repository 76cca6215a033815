# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""One problem: solved in one go, step by step, or by several methods."""

import numpy as np

from . import _engine
from ._choices import as_value
from ._messages import check_call, check_threads, is_integer, path_of, refused, shown, suggesting
from ._result import Experiment, Progress, Result, is_watched, scaling_advice, tell_kept
from .graph import Graph, Network, _network_of, from_networkx


def as_network(network):
    """The network given as the argument `network`: a graph gets Metropolis weights, a matrix is checked."""
    if isinstance(network, Network):
        return network
    if isinstance(network, Graph):
        return network.metropolis()
    if hasattr(network, "nodes") and hasattr(network, "edges"):
        return from_networkx(network).metropolis()
    if not isinstance(network, (list, tuple)) and not hasattr(network, "shape") or getattr(network, "shape", None) == ():
        agents = network if is_integer(network) and network > 2 else 6
        raise refused("network", f"found {shown(network)}, expected a network, such as ph.graph.ring({agents}), a NetworkX "
                                 "graph, or a square matrix of weights")
    return _network_of(network, "network")


def _start(problem, network):
    if not hasattr(problem, "_handle") or not hasattr(problem, "checked"):
        raise refused("problem", f"found {shown(problem)}, expected what ph.least_squares, ph.objective, ... make")
    problem.checked()
    return problem, as_network(network)


def _method(step, algorithm):
    """Step and algorithm as the engine reads them, for calls that cannot search for a constant first."""
    step = as_value(step)
    rule = step.get("rule") if isinstance(step, dict) else step
    if isinstance(rule, str) and rule == "tuned":
        raise refused("step", "found 'tuned', which searches for a constant by whole runs; ph.compare(problem, network, "
                              "['tuned']) does that; give a number here")
    return dict(step=step, algorithm=as_value(algorithm, "algorithm"))


@suggesting
def solve(problem, network, step="auto", algorithm=None, iterations=1000, seed=0, callback=None, *, gradient="plain",
          record_every=10, target=None, stop_at_target=True, time_limit=None, start=None, average=True, reference="solve",
          record_steps=False, record_agents=None, faults=None, threads=0):
    """Minimises (1/K) sum_k J_k(w) over a network.

    step: a rule, by name or by a function such as `gap(sweeps=2)`; your own class; a number is a constant step; "auto"
        needs no tuning.
    algorithm: given like a step; default: "atc", unless the rule chooses it too.
    gradient: "plain" is the batch's own; "saga" remembers every sample's last gradient, "lsvrg" the full gradient at an
        earlier point, so that noise fades and constant steps reach the minimum (with "exact-diffusion" and the like).
    record_agents: whose models the excess risk averages over: "all", or a number of agents. Default: all; for a Python
        function as many as record_every, so that recording takes no longer than iterating.
    faults: what happens to messages, like the [faults] table of a file: {"drop": 0.1} loses one in ten.
    callback: called with every recorded point, a dict of numbers; return true to end the run.
    target: the excess risk that counts as solved, and ends the run; default: 1e-6.
    reference: where J(w^o) comes from: "solve" computes it; or "none", or a number. If it is unknown (for example for a
        cost that is not convex), `excess_risk` is the risk itself, and `target`, if given, is a level of the risk.
    """
    problem, network = _start(problem, network)
    if callback is not None:
        check_call("callback", callback, "callback(point)")
    options = dict(**_method(step, algorithm), gradient=gradient, iterations=iterations, record_every=record_every, target=target,
                   stop_at_target=stop_at_target, time_limit=time_limit, start=start, average=average, reference=reference,
                   seed=seed, every_step=record_steps, record_agents=record_agents, faults=faults, threads=threads)
    found = _engine.solve(problem._handle, network._handle, options, callback, _on_kept(step, gradient))
    found["target"] = target if target is not None or found["reference"] is None else 1e-6
    return Result(found, network, problem)


def _on_kept(step, gradient):
    """What tells how much is kept of samples, or None where nobody would read it."""
    name = _label(step) if gradient == "plain" else gradient
    return (lambda kept: tell_kept(name, kept)) if is_watched() else None


class State:
    """The state of a run that your own loop drives."""

    def __init__(self, run):
        self._run = run

    @property
    def iteration(self):
        return self._run.iteration

    @property
    def models(self):
        """(K, M): the models after this iteration."""
        return self._run.models

    @property
    def averaged(self):
        return self._run.averaged

    @property
    def steps(self):
        """(K,): the step sizes of this iteration."""
        return self._run.steps

    @property
    def traffic(self):
        """What was sent so far: rounds, vectors and scalars, in all and for choosing the steps."""
        return self._run.traffic

    def __repr__(self):
        models, steps = self.models, self.steps
        return (f"<polyhop.State: after {self.iteration} iterations: {models.shape[0]} x {models.shape[1]} models, "
                f"at most {np.ptp(models, axis=0).max():.3g} apart, steps {steps.min():.3g} to {steps.max():.3g}, "
                f"{self.traffic['vectors']} vectors sent>")


@suggesting
def iterate(problem, network, step="auto", algorithm=None, seed=0, *, gradient="plain", start=None, average=True, reference="solve",
            faults=None):
    """An endless loop that yields the state after each iteration.

        for state in polyhop.iterate(problem, net, "gap"):
            if state.iteration == 100:
                break
    """
    problem, network = _start(problem, network)
    options = dict(**_method(step, algorithm), gradient=gradient, start=start, average=average, reference=reference, seed=seed, faults=faults)
    run = _engine.Run(problem._handle, network._handle, options)
    on_kept = _on_kept(step, gradient)
    if on_kept and run.kept_bytes:
        on_kept(run.kept_bytes)

    def loop():
        while True:
            run.step(1)
            yield State(run)

    return loop()


def _seeds(seeds):
    """The seeds as a list: 3 means 0, 1, 2."""
    listed = []
    if is_integer(seeds):
        listed = list(range(seeds))
    elif np.iterable(seeds) and not isinstance(seeds, (str, bytes, dict)):
        listed = list(seeds)
    if not listed:
        raise refused("seeds", f"found {shown(seeds)}, expected how many, such as 3 for 0, 1 and 2, or a list of them")
    return listed


@suggesting
def compare(problem, network, methods, seeds=(0,), *, iterations=1000, record_every=10, target=1e-6,
            stop_at_target=False, time_limit=None, tuning=None, faults=None, name="comparison", threads=0, progress=None):
    """Runs several methods on a problem, over seeds of the sampling, and ranks them.

    methods: {name: step}, or {name: {"step": ..., "algorithm": ..., "gradient": ...}}; or a list of rules.
    seeds: a list, or how many: 3 means 0, 1 and 2.
    tuning: the [tuning] table of a file, for the rule "tuned"; faults: the [faults] table.

    If the minimum is unknown, `excess_risk` is the risk itself: give a level of the risk as `target`. Methods that do
    not reach it are ranked by their final risk.
    """
    problem, network = _start(problem, network)
    if not isinstance(methods, dict):
        if isinstance(methods, str) or not np.iterable(methods):
            raise refused("methods", f"found {shown(methods)}, expected a dict or a list of methods, such as ['gap', 'tuned']")
        methods = {_label(m): m for m in methods}
    if not methods:
        raise refused("methods", "is empty; name at least one method")
    check_threads(threads)
    listed = []
    for label, method in methods.items():
        value = as_value(method)
        if isinstance(value, dict) and "rule" not in value and ("step" in value or "algorithm" in value):
            value = {key: as_value(part, key) if key in ("step", "algorithm") else part for key, part in value.items()}
        else:
            value = {"step": value}
        listed.append({"name": str(label), **value})
    root = {"name": name, "seeds": _seeds(seeds), "iterations": iterations, "record_every": record_every, "target": target,
            "stop_at_target": stop_at_target, "method": listed}
    if time_limit is not None:
        root["time_limit"] = time_limit
    if tuning is not None:
        root["tuning"] = tuning
    if faults is not None:
        root["faults"] = faults
    with Progress(progress, len(listed) * len(root["seeds"])) as told:
        record = _engine.compare(root, problem._handle, network._handle, threads, told.on_cell, told.on_point, told.on_kept)
    missed = any(row["reached"] < row["runs"] for row in record.ranking())
    advice = scaling_advice(problem) if missed else ""
    return Experiment(record, advice=f"The {advice}." if advice else "")


def _label(method):
    return getattr(method, "polyhop_name", None) or str(method)


@suggesting
def run(file, out=None, *, settings=None, fresh=False, threads=0, progress=None):
    """Runs an experiment's file, or a dict with the same keys, as `polyhop run` does: finished runs are not repeated,
    and interrupted ones resume.

    out: the folder of its store; default: out/NAME.
    settings: keys that override the file's, such as {"iterations": 500, "graph.agents": 20}.
    """
    import os

    folder = ""
    if not isinstance(file, dict):
        file = path_of("file", file, "the name of an experiment's file, or a dict with the same keys")
    if out is not None:
        out = path_of("out", out, "the name of a folder")
    settings = _checked_settings(settings)
    if not isinstance(fresh, (bool, np.bool_)):
        raise refused("fresh", f"found {shown(fresh)}, expected True or False")
    check_threads(threads)
    if isinstance(file, dict):
        file, settings = _with(file, settings), {}
    name = _engine.name_of_file(file, folder, settings)
    if out is None:
        if os.path.basename(name) != name or name in ("", ".", ".."):
            raise refused("name", f"{name!r} cannot be the name of a folder; choose one with out=")
        out = os.path.join("out", name)
    with Progress(progress, None) as told:
        try:
            record = _engine.run_file(file, folder, out, settings, bool(fresh), threads, told.on_cell, told.on_point,
                                      told.on_kept)
        except KeyboardInterrupt as interrupt:
            if not interrupt.args:
                how = "the same call without fresh=True" if fresh else "the same call again"
                interrupt.args = (f"{out!r} keeps what was done; {how} resumes it",)
            raise
    return Experiment(record, out)


def _checked_settings(settings):
    if settings is None:
        return {}
    if not isinstance(settings, dict):
        raise refused("settings", f"found {shown(settings)}, expected a dict such as {{'iterations': 500, 'graph.agents': 20}}")
    for key in settings:
        if not isinstance(key, str):
            raise refused("settings", f"has the key {shown(key)}, expected the name of a key, such as 'graph.agents'")
    return dict(settings)


def _with(root, settings):
    """A copy of a dict with other values for keys such as "graph.agents"."""
    root = dict(root)
    for key, value in settings.items():
        inner, (*path, last) = root, key.split(".")
        for n, part in enumerate(path):
            held = inner.get(part, {})
            if not isinstance(held, dict):
                raise refused("settings", f"{key!r} is not a key: {'.'.join(path[:n + 1])!r} holds {shown(held)}, not a dict")
            inner[part] = dict(held)
            inner = inner[part]
        inner[last] = value
    return root


def load(folder):
    """The experiment in a folder's experiment.sqlite, finished or not."""
    import os

    folder = path_of("folder", folder, "the name of a folder that run wrote")
    if os.path.basename(folder) == "experiment.sqlite":
        folder = os.path.dirname(folder) or "."
    return Experiment(_engine.load(folder, False), folder)
