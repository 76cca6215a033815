#!/usr/bin/python3
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Tunes ATC's constant on every instance of the scoreboard with three sets of seeds: how much a comparison owes to them.

    docs/make_tuning.py [POLYHOP] [--out FOLDER]

Fills the table of auto-rule.md. Searches are for the last iterate's risk and, apart, for the averaged one's; the runs that
are compared have the same seeds whatever the search had. Runs that are in FOLDER already are not run again.
"""

import argparse
import math
import pathlib
import statistics

from _document import ROOT, put
from make_auto import ROUNDING, median, run

SEEDS = ["100..104", "200..204", "300..304"]
GOALS = {"last": ("final-risk", "excess_risk"), "averaged": ("final-risk-averaged", "excess_risk_averaged")}


def final_risks(polyhop, instance, seeds, folder):
    """{goal: median final risk} of constants that were found on these seeds."""
    methods = "".join(f'[[method]]\nname = "{name}"\nstep = {{ rule = "tuned", goal = "{goal}" }}\n' for name, (goal, _) in GOALS.items())
    text = instance.read_text().replace('include = "_methods.toml"\n', "").replace(f'seeds = "{SEEDS[0]}"', f'seeds = "{seeds}"')
    runs = run(polyhop, text + methods, folder)
    floor = ROUNDING * statistics.median(float(points[0]["excess_risk"]) for points in runs["last"])
    return {name: max(median(runs[name], column), floor) for name, (_, column) in GOALS.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("polyhop", nargs="?", default=ROOT / "build" / "bin" / "polyhop", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out" / "tuning")
    args = parser.parse_args()
    instances = sorted((ROOT / "examples" / "scoreboard").glob("[a-z]*.toml"))
    found = {i.stem: [final_risks(args.polyhop.resolve(), i, s, args.out / i.stem / s) for s in SEEDS] for i in instances}
    lines = ["| goal | instances | within 1.05 | within 1.5 | within 3 | median | largest |", "|---|---|---|---|---|---|---|"]
    for goal in GOALS:
        spreads = {}
        for name, risks in found.items():
            values = [r[goal] for r in risks]
            spreads[name] = max(values) / min(values) if math.isfinite(max(values)) else math.inf
        share = lambda most: sum(x <= most for x in spreads.values())
        worst = max(spreads, key=spreads.get)
        lines.append(f"| {goal} | {len(spreads)} | {share(1.05)} | {share(1.5)} | {share(3)} | {statistics.median(spreads.values()):.2g} | "
                     f"{spreads[worst]:.2g} on {worst} |")
    print("\n".join(lines))
    put("auto-rule.md", "tuning seeds", "\n".join(lines))


if __name__ == "__main__":
    main()
