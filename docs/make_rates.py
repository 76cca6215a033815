#!/usr/bin/python3
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the table of rates in methods.md again, from runs: `docs/make_rates.py [POLYHOP]`.

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
iterations = 2000
record_every = 1
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
batch = "all"
[tuning]
seeds = "100..104"
"""
TUNED = ["atc", "cta", "dgd", "exact-diffusion", "extra", "gradient-tracking", "diging", "next", "dadam", "damsgrad"]
METHOD = '[[method]]\nname = "{name}"\naverage = false\n{rest}\n'
GAP = '{ rule = "gap", bound = "linear", damping = "rows", project = true, cap = "curvature", optimum = "per-sample" }'
METHODS = {
    **{f"`{name}`, tuned": f'algorithm = "{name}"\nstep = "tuned"' for name in TUNED},
    "`kuruzov`": 'algorithm = "kuruzov"',
    "`gradient-tracking`, GAP": f'algorithm = "gradient-tracking"\nstep = {GAP}',
    "`auto`": 'step = "auto"',
}


def experiment(topology):
    head = EXPERIMENT.format(target=TARGET, topology=topology, more=GRAPHS[topology])
    return head + "".join(METHOD.format(name=name, rest=rest) for name, rest in METHODS.items())


def run(polyhop, topology):
    """What an experiment's summary and curves say: {method: summary}, {method: {seed: [(iteration, excess risk)]}}."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = f"{folder}/rates.toml", f"{folder}/out"
        with open(file, "w", encoding="utf-8") as text:
            text.write(experiment(topology))
        done = subprocess.run([polyhop, "run", file, "-o", out, "--quiet", "--json"], check=True, stdout=subprocess.PIPE)
        curves = {}
        with open(f"{out}/curves.csv", newline="", encoding="utf-8") as rows:
            for row in csv.DictReader(rows):
                seeds = curves.setdefault(row["method"], {})
                seeds.setdefault(row["seed"], []).append((int(row["iteration"]), float(row["excess_risk"])))
        return {m["method"]: m for m in json.loads(done.stdout)["methods"]}, curves


def per_iteration(points):
    """log10 of the contraction in an iteration, from the last point above FIRST to the end."""
    begin, risk = [p for p in points if p[1] > FIRST][-1]
    end, last = points[-1]
    return math.log10(last / risk) / (end - begin)


def cell(summary, curves):
    """`0.893, 20`: the rate, and iterations for a factor of 10. Or where it ends."""
    if 2 * summary["reached"] <= summary["runs"]:
        return f"ends at {summary['final_risk']['median']:.1g}"
    slopes = [per_iteration(points) for points in curves.values() if 0 < points[-1][1] <= TARGET]
    slope = statistics.median(slopes)
    return f"{10**slope:.3f}, {-1 / slope:.3g}"


def main():
    polyhop = command(sys.argv[1:])
    results = {topology: run(polyhop, topology) for topology in GRAPHS}
    lines = ["| | " + " | ".join(GRAPHS) + " |", "|---|" + "---|" * len(GRAPHS)]
    for name in METHODS:
        cells = [cell(summary[name], curves[name]) for summary, curves in results.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    put("methods.md", "rates", "\n".join(lines))


main()
