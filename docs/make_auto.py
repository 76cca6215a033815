#!/usr/bin/python3
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Draws problems at random and compares `auto` with tuned methods on all of them: fills the tables of auto-rule.md.

    docs/make_auto.py [POLYHOP] [--auto NAME=OTHER ...] [--called NAME] [--draw SEED] [--problems N] [--out FOLDER]
    docs/make_auto.py [POLYHOP] [--auto NAME=OTHER ...] [--called NAME] --board FOLDER [--out FOLDER]

OTHER is another polyhop command, whose `auto` is shown beside that of POLYHOP, which is called "now". Every problem is a function of (SEED, number). Baselines
are tuned by polyhop on seeds 100 and 101, once for the last and once for the averaged iterates; all run on seeds 0 to 2,
and medians are compared: last with last, averaged with averaged. A ratio up to 1.05, or both below 1e-13 of the risk at
the start, counts as equal. "Equal vectors": `auto` at the last recorded point at which it had sent no more than the whole
run of ATC. Runs that are in FOLDER already are not run again.

--board takes the instances of the scoreboard instead, with the runs of POLYHOP that docs/make_scoreboard.sh left in a folder.
"""

import argparse
import csv
import json
import math
import pathlib
import re
import statistics
import subprocess

import numpy as np

from _document import ROOT, put

TOPOLOGIES = ["ring", "path", "star", "complete", "grid", "torus", "hypercube", "binary-tree", "erdos-renyi", "random-geometric",
              "watts-strogatz", "barabasi-albert", "random-regular", "exponential", "stochastic-block"]
SMALL = TOPOLOGIES[:4]
REAL = {"least-squares": ["diabetes"], "huber": ["diabetes"], "logistic": ["breast-cancer"], "smoothed-hinge": ["breast-cancer"],
        "softmax": ["wine", "digits"], "poisson": ["diabetes", "digits"]}
SAMPLES = {"diabetes": 442, "breast-cancer": 569, "wine": 178, "digits": 1797}
FEATURES = {"diabetes": 10, "breast-cancer": 30, "wine": 13, "digits": 64}
CLASSES = {"wine": 3, "digits": 10}
WORK = 1e8  # multiply-adds of a run, at most, but at least 100 iterations
PARTITIONS = ['{ kind = "iid" }', '{ kind = "label" }', '{ kind = "dirichlet", alpha = 0.5 }', '{ kind = "dirichlet", alpha = 0.1 }',
              '{ kind = "sizes", alpha = 0.5 }', '{ kind = "blocks" }']
BASELINES = {"atc": "atc", "exact diffusion": "exact-diffusion", "tracking": "gradient-tracking"}
GOALS = {"last": "final-risk", "averaged": "final-risk-averaged"}
ON_BOARD = {f"{method} for the {goal}": f"{name} {goal}" for name, method in
            {"exact diffusion": "exact diffusion", "tracking": "gradient tracking"}.items() for goal in GOALS}
ON_BOARD |= {f"tuned for the {goal} risk": f"atc {goal}" for goal in GOALS}
ROUNDING, EQUAL, TARGET = 1e-13, 1.05, 1e-6


def graph(random):
    """The [graph] table, and K from 1 to 300."""
    K = int(round(math.exp(random.uniform(0, math.log(300)))))
    topology = str(random.choice(SMALL if K < 6 else TOPOLOGIES))
    more = {"erdos-renyi": f"probability = {min(1.0, (2 + 2 * math.log(K + 1)) / K):.3f}",
            "random-geometric": f"radius = {min(1.0, 1.6 * math.sqrt(math.log(K + 1) / (math.pi * K))):.3f}",
            "watts-strogatz": "degree = 4\nrewire = 0.2", "barabasi-albert": "attach = 2", "random-regular": "degree = 4",
            "stochastic-block": f"blocks = 2\nwithin = {min(1.0, 12 / K):.3f}\nbetween = {min(1.0, 2 / K):.3f}"}
    if topology == "hypercube":
        K = 2 ** max(2, round(math.log2(K)))
    if topology in ("grid", "torus"):
        side = max(3, round(math.sqrt(K)))
        K = side * side
        more[topology] = f"rows = {side}\ncolumns = {side}"
    return f'[graph]\ntopology = "{topology}"\nagents = {K}\n{more.get(topology, "")}\n', topology, K


def draw(seed, number):
    """(name, TOML) of one problem."""
    random = np.random.default_rng([seed, number])
    network, topology, K = graph(random)
    loss = str(random.choice(list(REAL)))
    real = loss in ("softmax", "poisson") or random.random() < 0.4
    l2 = float(random.choice([0, 0, 0, 0, 1e-4, 1e-3, 1e-2, 0.1]))
    batch = str(random.choice(["1", "1", "1", "8", '"all"']))
    sampling = str(random.choice(["uniform", "shuffle", "cyclic"]))
    T = int(round(math.exp(random.uniform(math.log(100), math.log(3000)))))
    if real:
        source = str(random.choice(REAL[loss]))
        K_most, all_samples, numbers = SAMPLES[source] // 4, SAMPLES[source], FEATURES[source] * (CLASSES[source] if loss == "softmax" else 1)
        standardise = "true" if random.random() < 0.7 else "false"
        data = (f'source = "{source}"\nstandardise = {standardise}\nunit_rows = {"true" if standardise == "false" else "false"}\n'
                f"partition = {random.choice(PARTITIONS)}\n")
        what = source
    else:
        M, N = (int(round(math.exp(random.uniform(math.log(3), math.log(high))))) for high in (150, 40))
        noise, scale, spread = (float(random.choice(x)) for x in ([0, 0.1, 0.5, 1], [0, 0, 0.5, 1], [0, 0, 0.3, 1]))
        data = f"dimension = {M}\nsamples = {N}\nnoise = {noise}\nscale_spread = {scale}\nminimiser_spread = {spread}\n"
        all_samples, numbers = N * K, M
        what, K_most = f"N{N} M{M} noise {noise} scales {scale} spread {spread}", K
    if K > K_most:
        return None
    work = numbers * (all_samples if batch == '"all"' else K * int(batch))
    T = min(T, max(100, int(WORK / work)))
    name = f"{loss}, {topology} of {K}, {what}, l2 {l2:g}, batch {batch.strip(chr(34))}, {sampling}, T {T}"
    text = (f'name = "drawn-{number}"\nseeds = "0..2"\niterations = {T}\nrecord_every = {max(1, T // 25)}\ntarget = 1e-6\n'
            f'{network}[problem]\nloss = "{loss}"\nl2 = {l2}\nbatch = {batch}\nsampling = "{sampling}"\n{data}'
            f'[record]\nagents = {min(K, 6)}\n[tuning]\nseeds = "100..101"\nresolution = 0.1\nbudget = 20\n[[method]]\nname = "auto"\nstep = "auto"\n')
    tuned = "".join(f'[[method]]\nname = "{name} {goal}"\nalgorithm = "{algorithm}"\nstep = {{ rule = "tuned", goal = "{rule}" }}\n'
                    for name, algorithm in BASELINES.items() for goal, rule in GOALS.items())
    return name, text, tuned


def run(polyhop, text, folder):
    """{method: [points of each seed]}; None where polyhop refuses the problem."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "e.toml").write_text(text)
    done = subprocess.run([polyhop, "run", folder / "e.toml", "-o", folder / "out", "--quiet"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode == 3:
        return None
    if done.returncode not in (0, 4):
        raise SystemExit(f"{folder}: {done.stderr}")
    return read_curves(folder / "out" / "curves.csv")


def read_curves(file):
    """{method: [points of each seed]}"""
    curves = {}
    with open(file, newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            curves.setdefault(row["method"], {}).setdefault(row["seed"], []).append(row)
    return {method: list(seeds.values()) for method, seeds in curves.items()}


def drawn(args):
    """(name, TOML with `auto` alone, curves, folder) of as many problems as asked for."""
    number, found = 0, 0
    while found < args.problems:
        problem, folder = draw(args.draw, number), args.out / f"{args.draw}-{number}"
        number += 1
        curves = problem and run(args.polyhop.resolve(), problem[1] + problem[2], folder / "now")
        if curves:
            found += 1
            yield problem[0], problem[1], curves, folder


def on_board(args):
    """The same of the instances of the scoreboard, from its runs."""
    for file in sorted((ROOT / "examples" / "scoreboard").glob("[a-z]*.toml")):
        text = re.sub(r"(?ms)^\[tuning\].*?(?=^\[|\Z)", "", file.read_text().replace('include = "_methods.toml"\n', ""))
        curves = {ON_BOARD.get(name, name): runs for name, runs in read_curves(args.board / file.stem / "curves.csv").items()}
        yield file.stem, text + '[[method]]\nname = "auto"\nstep = "auto"\n', curves, args.out / f"board-{file.stem}"


def risk(points, column):
    """Where a run ended; infinite where it diverged."""
    x = float(points[-1][column])
    return x if math.isfinite(x) and points[-1]["status"] != "diverged" else math.inf


def median(runs, column):
    return statistics.median(risk(points, column) for points in runs)


def within(points, vectors):
    """The points of a run up to which it had sent so many vectors; at least the first."""
    return [p for p in points if int(p["vectors"]) <= vectors] or points[:1]


def ratios(curves, auto):
    """Of one problem: {(what, goal): ratio}, and whether auto diverged."""
    columns = {"last": "excess_risk", "averaged": "excess_risk_averaged"}
    floor = ROUNDING * statistics.median(float(points[0]["excess_risk"]) for points in auto)
    ratio = lambda ours, theirs: 1.0 if ours == theirs else max(ours, floor) / max(theirs, floor)
    out = {}
    for goal, column in columns.items():
        ours = median(auto, column)
        theirs = {name: median(curves[f"{name} {goal}"], column) for name in BASELINES}
        out["atc", goal] = ratio(ours, theirs["atc"])
        out["best", goal] = ratio(ours, min(theirs.values()))
        sent = statistics.median(int(points[-1]["vectors"]) for points in curves[f"atc {goal}"])
        fewer = [within(points, sent) for points in auto]
        # One agent sends nothing: equal iterations.
        out["vectors", goal] = ratio(median(fewer, column) if sent > 0 else ours, theirs["atc"])
    return out, any(math.isinf(risk(points, "excess_risk")) for points in auto)


def cost_to_target(runs, column):
    """What the median run had spent where its last iterates first were at the target; infinite where most never were."""
    first = [next((int(p[column]) for p in points if float(p["excess_risk"]) <= TARGET), math.inf) for points in runs]
    return statistics.median(first)


def to_target(curves, autos):
    """{method: (iterations, vectors)} to the target: ATC and the best tuned method, each tuned for the last iterate, and autos."""
    tuned = {name: tuple(cost_to_target(curves[f"{name} last"], c) for c in ("iteration", "vectors")) for name in BASELINES}
    out = {"ATC, tuned": tuned["atc"], "best of all tuned": tuple(min(costs) for costs in zip(*tuned.values()))}
    return out | {name: tuple(cost_to_target(runs, c) for c in ("iteration", "vectors")) for name, runs in autos.items()}


def target_table(results):
    lines = [f"| | reached {TARGET:g} | iterations, over those of ATC | vectors, over those of ATC |", "|---|---|---|---|"]
    for name in results[0]["costs"]:
        reached = [r["costs"] for r in results if math.isfinite(r["costs"][name][0])]
        ratios = [[c[name][n] / c["ATC, tuned"][n] for c in reached if 0 < c["ATC, tuned"][n] < math.inf and c[name][n] > 0] for n in (0, 1)]
        cells = [f"{math.exp(statistics.fmean(map(math.log, x))):.2g} ({len(x)})" if x else "-" for x in ratios]
        lines.append(f"| {name} | {len(reached)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def reached(costs):
    """Iterations and vectors to the target."""
    return "-" if math.isinf(costs[0]) else f"{costs[0]:.0f}, {costs[1]:.3g}"


def share(rows, what, goals=("last", "averaged")):
    return f"{100 * sum(all(r[what, g] <= EQUAL for g in goals) for r in rows) / len(rows):.0f}%"


def mean(rows, what, goal):
    return f"{math.exp(statistics.fmean(math.log(min(max(r[what, goal], 1e-12), 1e12)) for r in rows)):.2g}"


def summary(results, which):
    rows = [r[which][0] for r in results]
    cells = [share(rows, "atc", ["last"]), share(rows, "atc", ["averaged"]), share(rows, "atc"), share(rows, "best"), share(rows, "vectors"),
             mean(rows, "atc", "last"), mean(rows, "atc", "averaged"), str(sum(r[which][1] for r in results))]
    return " | ".join(cells)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("polyhop", nargs="?", default=ROOT / "build" / "bin" / "polyhop", type=pathlib.Path)
    parser.add_argument("--auto", action="append", default=[])
    parser.add_argument("--called", default="now")
    parser.add_argument("--draw", type=int, default=20261118)
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--board", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out" / "auto")
    parser.add_argument("--dry", action="store_true", help="print the summary, leave the document alone")
    args = parser.parse_args()
    others = {name: pathlib.Path(other).resolve() for name, other in (pair.split("=", 1) for pair in args.auto)}
    results = []
    for name, text, curves, folder in on_board(args) if args.board else drawn(args):
        autos = {which: run(other, text, folder / f"auto-{which}")["auto"] for which, other in others.items()}
        autos[args.called] = curves["auto"]
        row = {"name": name, "costs": to_target(curves, autos)} | {which: ratios(curves, runs) for which, runs in autos.items()}
        results.append(row)
        print(len(results), name, *(f"{x:.2g}" for x in row[args.called][0].values()), flush=True)
    head = ("| | last, ATC | averaged, ATC | both, ATC | both, best of all | both, equal vectors | mean ratio, last | averaged | diverged |\n"
            "|---|---|---|---|---|---|---|---|---|\n")
    kinds = list(others) + [args.called]
    table = head + "\n".join(f"| {k} | {summary(results, k)} |" for k in kinds)
    print(table, target_table(results), sep="\n\n")
    lines = ["| problem | " + " | ".join(f"{k}: last / ATC, averaged / ATC, last / best, averaged / best, vectors" for k in kinds) + " |",
             "|---|" + "---|" * len(kinds)]
    keys = [("atc", "last"), ("atc", "averaged"), ("best", "last"), ("best", "averaged"), ("vectors", "last")]
    lines += [f"| {r['name']} | " + " | ".join(", ".join(f"{r[k][0][key]:.2g}" for key in keys) for k in kinds) + " |" for r in results]
    place = "board" if args.board else "drawn"
    names = results[0]["costs"]
    to_it = [f"| to {TARGET:g}: iterations, vectors | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    to_it += [f"| {r['name']} | " + " | ".join(reached(r["costs"][n]) for n in names) + " |" for r in results]
    lines += ["", *to_it]
    (args.out / f"{place}-{args.draw}.json").write_text(json.dumps([{k: str(v) for k, v in r.items()} for r in results], indent=1))
    if not args.dry:
        put("auto-rule.md", place, table)
        put("auto-rule.md", f"{place} costs", target_table(results))
        put("auto-rule.md", f"{place} problems", "\n".join(lines))


if __name__ == "__main__":
    main()
