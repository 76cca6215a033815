#!/usr/bin/python3
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Compares `auto` with tuned methods on problems that were made to be hard for it: fills two tables of auto-rule.md.

    docs/make_weak_spots.py [POLYHOP] [--out FOLDER]

Losses that reach 0, sparse text, counts, agents with different classes or numbers of samples, stars and rings, one agent, short runs; data from NumPy
and scikit-learn, none of them drawn by make_auto.py, which says how methods are tuned and compared. Runs that are in FOLDER already are not run again.
"""

import argparse
import pathlib
import statistics

import numpy as np
from sklearn.datasets import load_iris, make_classification, make_friedman1

from _document import ROOT, put
from make_auto import BASELINES, GOALS, SAMPLES, mean, median, ratios, run, share

COLUMNS = {"last": "excess_risk", "averaged": "excess_risk_averaged"}


def write_text(random, file, samples, words, noise):
    """Documents of about 40 words, drawn by Zipf's law: logarithms of counts, rows of length 1, as LIBSVM."""
    often = 1 / np.arange(1, words + 1)
    weights = 2 * random.standard_normal(words)
    counts = [np.bincount(random.choice(words, random.poisson(40) + 1, p=often / often.sum()), minlength=words) for _ in range(samples)]
    features = np.log1p(np.array(counts, float))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    score = features @ weights
    labels = np.where(score + noise * random.standard_normal(samples) * np.std(score) > 0, 1, -1)
    rows = (" ".join(f"{j + 1}:{row[j]:.6g}" for j in np.flatnonzero(row)) for row in features)
    file.write_text("".join(f"{label} {row}\n" for label, row in zip(labels, rows)))


def write_table(file, features, target):
    names = [f"x{j}" for j in range(features.shape[1])] + ["y"]
    np.savetxt(file, np.column_stack([features, target]), delimiter=",", header=",".join(names), comments="", fmt="%.8g")


def write_counts(random, file, features, scale, level):
    mean_count = np.exp(np.clip(features @ random.standard_normal(features.shape[1]) * scale + level, -4, 4))
    write_table(file, features, random.poisson(mean_count))


def write_data(folder):
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(987654)
    write_text(random, folder / "text400.svm", 1200, 400, 0.5)
    write_text(random, folder / "text3000.svm", 1000, 3000, 0.3)
    write_counts(random, folder / "counts.csv", random.standard_normal((900, 12)), 0.35, 0.5)
    write_counts(random, folder / "heavycounts.csv", np.clip(random.standard_t(3, (800, 15)), -8, 8), 0.12, 1)
    iris = load_iris()
    write_table(folder / "iris.csv", iris.data, iris.target)
    features, target = make_classification(1500, 40, n_informative=10, n_redundant=10, flip_y=0.1, class_sep=0.8, random_state=3)
    write_table(folder / "classes.csv", features, 2 * target - 1)
    write_table(folder / "fiveclasses.csv", *make_classification(2000, 25, n_informative=12, n_classes=5, flip_y=0.05, random_state=5))
    write_table(folder / "friedman.csv", *make_friedman1(700, 10, noise=1.0, random_state=1))


# name: topology, agents, more of the graph, iterations, file or "", the problem
PROBLEMS = {
    "hinge, separable": ("ring", 12, "", 1500, "", 'loss = "smoothed-hinge"\ndimension = 90\nsamples = 5\nnoise = 0.5'),
    "hinge, separable, hub": ("star", 30, "", 800, "", 'loss = "smoothed-hinge"\ndimension = 200\nsamples = 4\nnoise = 1.0'),
    "logistic, separable": ("torus", 16, "rows = 4\ncolumns = 4", 1200, "", 'loss = "logistic"\ndimension = 120\nsamples = 5\nnoise = 0.3'),
    "logistic, separable, batches of 4": ("path", 7, "", 900, "", 'loss = "logistic"\ndimension = 60\nsamples = 8\nbatch = 4\nnoise = 0.2'),
    "hinge, not separable": ("erdos-renyi", 25, "probability = 0.25", 700, "", 'loss = "smoothed-hinge"\ndimension = 10\nsamples = 30\nnoise = 1.5'),
    "text of 400 words": ("erdos-renyi", 10, "probability = 0.4", 1500, "text400.svm", 'loss = "logistic"\nl2 = 0.001'),
    "text of 400 words, by label": ("ring", 20, "", 2500, "text400.svm", 'loss = "logistic"\nl2 = 0.0001\npartition = { kind = "label" }'),
    "text of 3000 words": ("erdos-renyi", 10, "probability = 0.4", 1500, "text3000.svm", 'loss = "logistic"\nl2 = 0.001'),
    "text of 3000 words, no penalty": ("star", 15, "", 300, "text3000.svm", 'loss = "logistic"'),
    "counts": ("ring", 10, "", 900, "counts.csv", 'loss = "poisson"'),
    "counts, heavy tails": ("erdos-renyi", 20, "probability = 0.3", 120, "heavycounts.csv", 'loss = "poisson"\nl2 = 0.001'),
    "counts, heavy tails, 0.4 epochs": ("star", 8, "", 40, "heavycounts.csv", 'loss = "poisson"\nbatch = 1'),
    "five classes, different numbers of samples": ("erdos-renyi", 12, "probability = 0.4", 800, "fiveclasses.csv",
                                                'loss = "softmax"\nstandardise = true\npartition = { kind = "sizes", alpha = 0.2 }\nl2 = 0.001'),
    "five classes, different labels": ("ring", 10, "", 1000, "fiveclasses.csv",
                                    'loss = "softmax"\nstandardise = true\npartition = { kind = "dirichlet", alpha = 0.05 }\nl2 = 0.001'),
    "two classes, by label": ("star", 20, "", 400, "classes.csv", 'loss = "logistic"\nstandardise = true\npartition = { kind = "label" }\nl2 = 0.0001'),
    "least squares that fit, hub": ("star", 40, "", 1500, "", 'loss = "least-squares"\ndimension = 250\nsamples = 5'),
    "least squares that fit": ("ring", 50, "", 2000, "", 'loss = "least-squares"\ndimension = 300\nsamples = 5'),
    "least squares, noisy, hub": ("star", 60, "", 300, "", 'loss = "least-squares"\ndimension = 20\nsamples = 25\nnoise = 1.0\nminimiser_spread = 0.5'),
    "Huber, noisy, scales": ("ring", 40, "", 600, "", 'loss = "huber"\ndimension = 15\nsamples = 50\nnoise = 2.0\nscale_spread = 0.7'),
    "least squares, noisy": ("path", 1, "", 450, "", 'loss = "least-squares"\ndimension = 12\nsamples = 150\nnoise = 1.0'),
    "Huber, Friedman's data, in order": ("path", 1, "", 2100, "friedman.csv", 'loss = "huber"\nstandardise = true\nsampling = "cyclic"'),
    "iris, half an epoch": ("path", 1, "", 75, "iris.csv", 'loss = "softmax"\nstandardise = true\nl2 = 0.01'),
    "iris, two epochs": ("ring", 5, "", 60, "iris.csv", 'loss = "softmax"\nstandardise = true'),
    "two classes, 1.1 epochs": ("erdos-renyi", 16, "probability = 0.3", 100, "classes.csv", 'loss = "logistic"\nstandardise = true\nl2 = 0.001'),
    "two classes, 0.53 epochs": ("erdos-renyi", 16, "probability = 0.3", 50, "classes.csv", 'loss = "logistic"\nstandardise = true\nl2 = 0.001'),
    "least squares, Friedman's data, batches of 8": ("torus", 9, "rows = 3\ncolumns = 3", 64, "friedman.csv",
                                                     'loss = "least-squares"\nstandardise = true\nbatch = 8'),
    "least squares, noisy, 0.75 epochs": ("complete", 30, "", 30, "", 'loss = "least-squares"\ndimension = 20\nsamples = 40\nnoise = 0.5'),
    "hinge, 1.3 epochs": ("path", 15, "", 127, "classes.csv", 'loss = "smoothed-hinge"\nstandardise = true'),
}

LOSSES = ("least-squares", "huber", "logistic", "smoothed-hinge")
# of half an epoch at most: topology, agents, more of the graph, dimension, samples, iterations, noise
SHORT = [("ring", 6, "", 6, 100, 50, 1.0), ("erdos-renyi", 20, "probability = 0.3", 20, 200, 100, 1.0), ("path", 1, "", 10, 400, 150, 1.0),
         ("star", 12, "", 8, 500, 250, 0.5), ("ring", 10, "", 60, 150, 60, 0.5), ("ring", 8, "", 30, 100, 55, 0.0)]
SHORT_REAL = [("softmax", "wine"), ("softmax", "digits"), ("logistic", "breast-cancer"), ("smoothed-hinge", "breast-cancer"), ("poisson", "digits"),
              ("poisson", "diabetes"), ("huber", "diabetes"), ("least-squares", "diabetes")]


def short_problems():
    """{kind of data: problems}"""
    kinds = {"synthetic, noisy": [], "synthetic, without noise": [], "real": []}
    for loss in LOSSES:
        for topology, agents, more, dimension, samples, iterations, noise in SHORT:
            rest = f'loss = "{loss}"\ndimension = {dimension}\nsamples = {samples}\nnoise = {noise}'
            kinds["synthetic, noisy" if noise else "synthetic, without noise"].append((topology, agents, more, iterations, "", rest))
    for loss, source in SHORT_REAL:
        for agents in (1, 4):
            rest = f'loss = "{loss}"\nsource = "{source}"\nstandardise = true'
            kinds["real"].append(("ring", agents, "", int(0.45 * SAMPLES[source] / agents), "", rest))
    return kinds


def short_table(polyhop, out):
    lines = ["| data | problems | last, ATC | averaged, ATC | both, ATC | both, best of all | both, equal vectors | median ratio, last | averaged | diverged |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for kind, problems in short_problems().items():
        runs = [run(polyhop, experiment(p, out), out / f"short-{kind.replace(' ', '-')}-{n}") for n, p in enumerate(problems)]
        found = [ratios(curves, curves["auto"]) for curves in runs]
        rows = [r for r, _ in found]
        shares = [share(rows, "atc", ["last"]), share(rows, "atc", ["averaged"]), *(share(rows, what) for what in ("atc", "best", "vectors"))]
        medians = [f"{statistics.median(r['atc', goal] for r in rows):.2g}" for goal in GOALS]
        cells = [kind, str(len(rows)), *shares, *medians, str(sum(d for _, d in found))]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def experiment(problem, data):
    topology, agents, more, iterations, file, rest = problem
    source = f'source = "file"\ndata = "{data / file}"\n' + ("intercept = true\n" if file.endswith("csv") else "") if file else ""
    tuned = "".join(f'[[method]]\nname = "{name} {goal}"\nalgorithm = "{algorithm}"\nstep = {{ rule = "tuned", goal = "{rule}" }}\n'
                    for name, algorithm in BASELINES.items() for goal, rule in GOALS.items())
    return (f'name = "weak-spot"\nseeds = "0..2"\niterations = {iterations}\nrecord_every = {max(1, iterations // 50)}\ntarget = 1e-6\n'
            f'[graph]\ntopology = "{topology}"\nagents = {agents}\n{more}\n[problem]\n{source}{rest}\n[record]\nagents = {min(agents, 6)}\n'
            f'[tuning]\nseeds = "100..101"\nresolution = 0.1\nbudget = 20\n[[method]]\nname = "auto"\nstep = "auto"\n{tuned}')


def pair(values):
    return ", ".join("0" if abs(x) < 1e-14 else f"{x:.2g}" for x in values)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("polyhop", nargs="?", default=ROOT / "build" / "bin" / "polyhop", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out" / "weak-spots")
    args = parser.parse_args()
    out, rows, diverged = args.out.resolve(), [], 0
    write_data(out / "data")
    lines = ["| problem, graph, iterations | `auto`: last, averaged | ATC | best of all | at equal vectors, over ATC |", "|---|---|---|---|---|"]
    for number, (name, problem) in enumerate(PROBLEMS.items()):
        curves = run(args.polyhop.resolve(), experiment(problem, out / "data"), out / str(number))
        found, has_diverged = ratios(curves, curves["auto"])
        rows.append(found)
        diverged += has_diverged
        risks = [[median(curves[f"{method} {goal}"], column) for goal, column in COLUMNS.items()] for method in BASELINES]
        cells = [pair(median(curves["auto"], column) for column in COLUMNS.values()), pair(risks[0]), pair(map(min, *risks)),
                 ", ".join(f"{found['vectors', goal]:.2g}" for goal in GOALS)]
        lines.append(f"| {name}, {problem[0]} of {problem[1]}, {problem[3]} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    counts = [sum(all(r[what, g] <= 1.05 for g in GOALS) for r in rows) for what in ("atc", "best", "vectors")]
    print(len(rows), counts, [share(rows, w) for w in ("atc", "best", "vectors")], mean(rows, "atc", "last"), diverged)
    put("auto-rule.md", "weak spots", "\n".join(lines))
    put("auto-rule.md", "short runs", short_table(args.polyhop.resolve(), out))


if __name__ == "__main__":
    main()
