#!/usr/bin/python3
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables and the figure of faults.md again, from runs of examples/faults.toml: `docs/make_faults.py [POLYHOP]`."""

import csv
import json
import statistics
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

from _document import ROOT, command, put  # noqa: E402

GRAPHS = {"ring": [], "Erdos-Renyi": ["graph.topology=erdos-renyi", "graph.probability=0.3"], "complete": ["graph.topology=complete"]}
# One that every agent's data fit, by samples drawn one at a time; and one that they do not, by full gradients.
PROBLEMS = {
    "fits": ["target=1e-12"],
    "does not fit": ["target=1e-6", "problem.noise=0.5", "problem.minimiser_spread=1", "problem.batch=all",
                     "tuning.goal=final-risk"],
}
LOSSES = [(0, "both")] + [(0.2, kind) for kind in ("models", "steps", "both")]
KINDS = {"models": '["models"]', "steps": '["steps"]', "both": '["models", "steps"]'}
METHODS = ["GAP", "tuned constant", "auto", "exact diffusion, tuned"]
ROUNDING = 1e-16
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]


def run(polyhop, settings):
    """{method: summary}, {method: [(iteration, median excess risk)]}"""
    with tempfile.TemporaryDirectory() as folder:
        flags = [word for setting in settings for word in ("--set", setting)]
        file = ROOT / "examples" / "faults.toml"
        done = subprocess.run([polyhop, "run", file, "-o", folder, "--quiet", "--json", *flags], check=True, stdout=subprocess.PIPE)
        points = {}
        with open(f"{folder}/curves.csv", newline="", encoding="utf-8") as rows:
            for row in csv.DictReader(rows):
                points.setdefault(row["method"], {}).setdefault(int(row["iteration"]), []).append(float(row["excess_risk"]))
        curves = {method: [(i, statistics.median(risks)) for i, risks in at.items()] for method, at in points.items()}
        return {m["method"]: m for m in json.loads(done.stdout)["methods"]}, curves


def cell(summary, problem):
    """Iterations to the target, or where the runs end."""
    if summary["diverged"] > 0:
        return f"{summary['diverged']} of {summary['runs']} diverge"
    end = summary["final_risk"]["median"]
    if problem == "does not fit":
        return "0" if abs(end) < 1e-14 else f"{end:.1e}"
    return f"{summary['iterations']['median']:.0f}" if 2 * summary["reached"] > summary["runs"] else f"ends at {end:.0e}"


def table(results, problem):
    lines = ["| graph | lost | of | " + " | ".join(METHODS) + " |", "|---|---|---|" + "---|" * len(METHODS)]
    for graph in GRAPHS:
        for drop, kind in LOSSES:
            summaries, _ = results[problem, graph, drop, kind]
            cells = [cell(summaries[method], problem) for method in METHODS]
            lines.append(f"| {graph} | {drop * 100:g}% | {kind if drop else ''} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def drawn(points, end):
    """Up to an iteration, or to where rounding begins."""
    out = []
    for iteration, risk in points:
        if iteration > end or (out and out[-1][1] == ROUNDING):
            break
        out.append((iteration, max(risk, ROUNDING)))
    return out


def figure(results):
    pyplot.rcParams.update({"svg.hashsalt": "polyhop", "font.size": 9, "svg.fonttype": "none"})
    picture, panels = pyplot.subplots(1, 2, figsize=(8.4, 4.0), facecolor="white")
    picture.subplots_adjust(left=0.08, right=0.99, top=0.92, bottom=0.25, wspace=0.18)
    for panel, problem, end in zip(panels, PROBLEMS, (400, 2000)):
        for method, colour in zip(METHODS, COLOURS):
            for drop, style in ((0, "-"), (0.2, "--")):
                points = drawn(results[problem, "Erdos-Renyi", drop, "both"][1][method], end)
                label = f"{method}, 20% lost" if drop else method
                panel.plot(*zip(*points), style, color=colour, label=label, linewidth=1.3)
        panel.set(yscale="log", xlabel="iterations", title=f"A problem that {problem}")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("excess risk, median of 10 seeds")
    picture.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncol=4, frameon=False)
    picture.savefig(ROOT / "docs" / "figures" / "faults.svg", metadata={"Date": None})


def main():
    polyhop = command(sys.argv[1:])
    results = {}
    for problem, settings in PROBLEMS.items():
        for graph, topology in GRAPHS.items():
            for drop, kind in LOSSES:
                faults = [f"faults.drop={drop}", f"faults.exchange={KINDS[kind]}"]
                results[problem, graph, drop, kind] = run(polyhop, [*settings, *topology, *faults])
    put("faults.md", "the problem that fits", table(results, "fits"))
    put("faults.md", "the problem that does not fit", table(results, "does not fit"))
    figure(results)


main()
