#!/usr/bin/python3
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of rates in methods.md again, from runs: `docs/make_rates.py [POLYHOP]`.

A rate is what the excess risk is multiplied by in an iteration, over the decades between FIRST and the target, the
median over seeds. Where a method does not reach the target in half of its runs, the table says where it ends instead.
"""

import csv
import json
import math
import statistics
import subprocess
import sys
import tempfile

from _document import command, put

GRAPHS = {"ring": "", "erdos-renyi": "probability = 0.3", "complete": ""}
FIRST, TARGET = 1e-4, 1e-12
EXPERIMENT = """
name = "rates"
seeds = "0..9"
iterations = {iterations}
record_every = {every}
target = {target}
stop_at_target = true
[graph]
topology = "{topology}"
agents = 16
{more}
[problem]
loss = "least-squares"
dimension = 20
samples = 30
noise = 0.5
minimiser_spread = 1
batch = {batch}
[tuning]
seeds = "100..104"
"""
TUNED = ["atc", "cta", "dgd", "exact-diffusion", "extra", "gradient-tracking", "diging", "next", "dadam", "damsgrad"]
METHOD = '[[method]]\nname = "{name}"\naverage = false\n{rest}\n'
GAP = '{ rule = "gap", bound = "linear", damping = "rows", project = true, cap = "curvature", optimum = "per-sample" }'
METHODS = {
    **{f"`{name}`, tuned": f'algorithm = "{name}"\nstep = "tuned"' for name in TUNED},
    "`kuruzov`": 'algorithm = "kuruzov"',
    "`quasi-newton`": 'algorithm = "quasi-newton"',
    "`gradient-tracking`, GAP": f'algorithm = "gradient-tracking"\nstep = {GAP}',
    "`auto`": 'step = "auto"',
}
LEVELS = (1e-6, TARGET)  # of the table of single samples
SINGLE = {
    **{f"`{name}`, `{gradient}`": f'algorithm = "{name}"\ngradient = "{gradient}"\nstep = "tuned"'
       for name in ("exact-diffusion", "gradient-tracking") for gradient in ("plain", "saga", "lsvrg")},
    "`atc`, `saga`": 'gradient = "saga"\nstep = "tuned"',
    "`auto`": 'step = "auto"',
}


def experiment(topology, methods, **more):
    head = EXPERIMENT.format(target=TARGET, topology=topology, more=GRAPHS[topology], **more)
    return head + "".join(METHOD.format(name=name, rest=rest) for name, rest in methods.items())


def run(polyhop, text):
    """What an experiment's summary and curves say: {method: summary}, {method: {seed: [(iteration, excess risk, gradients)]}}."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = f"{folder}/rates.toml", f"{folder}/out"
        with open(file, "w", encoding="utf-8") as text_file:
            text_file.write(text)
        done = subprocess.run([polyhop, "run", file, "-o", out, "--quiet", "--json"], check=True, stdout=subprocess.PIPE)
        curves = {}
        with open(f"{out}/curves.csv", newline="", encoding="utf-8") as rows:
            for row in csv.DictReader(rows):
                seeds = curves.setdefault(row["method"], {})
                seeds.setdefault(row["seed"], []).append((int(row["iteration"]), float(row["excess_risk"]), int(row["gradients"])))
        return {m["method"]: m for m in json.loads(done.stdout)["methods"]}, curves


def per_iteration(points):
    """log10 of the contraction in an iteration, from the last point above FIRST to the end."""
    begin, risk, _ = [p for p in points if p[1] > FIRST][-1]
    end, last, _ = points[-1]
    return math.log10(last / risk) / (end - begin)


def cell(summary, curves):
    """`0.893, 20`: the rate, and iterations for a factor of 10. Or where it ends."""
    if 2 * summary["reached"] <= summary["runs"]:
        return f"ends at {summary['final_risk']['median']:.1g}"
    slopes = [per_iteration(points) for points in curves.values() if 0 < points[-1][1] <= TARGET]
    slope = statistics.median(slopes)
    return f"{10**slope:.3f}, {-1 / slope:.3g}"


def reaching(curves, level):
    """`690, 1.4e3`: iterations, and gradients of an agent, until the median seed is at this level; `-` where it is not."""
    first = [next((p for p in points if p[1] <= level), (math.inf, 0, math.inf)) for points in curves.values()]
    iterations, gradients = (statistics.median_high([p[n] for p in first]) for n in (0, 2))
    return "-" if math.isinf(iterations) else f"{iterations}, {gradients / 16:.0f}"


def factor(curves):
    """`0.969`: by what an iteration multiplies the risk below FIRST, in the median seed; `-` where most do not reach the target, or end at 0."""
    slopes = [per_iteration(points) for points in curves.values() if 0 < points[-1][1] <= TARGET]
    return f"{10**statistics.median(slopes):.3f}" if 2 * len(slopes) > len(curves) else "-"


def rates(polyhop):
    results = [run(polyhop, experiment(topology, METHODS, iterations=2000, every=1, batch='"all"')) for topology in GRAPHS]
    lines = ["| | " + " | ".join(GRAPHS) + " |", "|---|" + "---|" * len(GRAPHS)]
    for name in METHODS:
        cells = [cell(summary[name], curves[name]) for summary, curves in results]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    put("methods.md", "rates", "\n".join(lines))


def remembered(polyhop):
    results = [run(polyhop, experiment(topology, SINGLE, iterations=20000, every=10, batch=1))[1] for topology in GRAPHS]
    columns = [f"{graph}, {what}" for graph in GRAPHS for what in (*(f"{level:.0e}" for level in LEVELS), "factor")]
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name in SINGLE:
        cells = [cell for curves in results for cell in (*(reaching(curves[name], level) for level in LEVELS), factor(curves[name]))]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    put("methods.md", "remembered", "\n".join(lines))


polyhop_command = command(sys.argv[1:])
rates(polyhop_command)
remembered(polyhop_command)
