# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""polyhop against NumPy, and against what the machine can do: `python3 compare_numpy.py BUILD [--sizes S,M] [--rounds n]`.

BUILD is the build folder. Sizes: Erdos-Renyi graphs with Metropolis weights, 10 samples per agent, batch 1, T = 2, double.
polyhop runs as users run it, `polyhop run` with its defaults (the averaged iterate included), recorded once; what counts is
`seconds` of curves.csv, the time inside iterations. NumPy is numpy_iteration.py, without an averaged iterate, the better of
1 and 2 threads. All alternate, and the best of several rounds counts for each. Prints Markdown for docs/benchmarks.md.

The floor is max(flops / peak, bytes / bandwidth), both measured by bench/floor on all cores:
  constant  4 K M + 2 a M flops             a, b: entries of A and of B = A^T A, with the diagonal
  gap       2 K M + 2 a M + 2 b M + (b + K) M
  bytes     the samples drawn, K M; where models do not fit the third cache, also reading and writing models and averages
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import tempfile

import networkx

HERE = pathlib.Path(__file__).parent
# agents, dimension, expected degree, iterations of polyhop, of NumPy
SIZES = {
    "S": (8, 100, 4, 40000, 3000),
    "M": (64, 1000, 10, 3000, 200),
    "L": (1000, 1000, 10, 1000, 6),
    "XL": (20000, 1000, 10, 12, 0),
}
TIGHT = '{ rule = "gap", bound = "tight", damping = "rows" }'
STEPS = {"constant": '{ rule = "constant", value = 1e-4 }', "polyak": '"polyak"', "gap": '"gap"', "tight": TIGHT, "auto": '"auto"'}
# With products of gradients looked up, the default of runs that are long enough, and formed anew in every iteration.
AGAINST_NUMPY = {"constant": STEPS["constant"], "gap": '{ rule = "gap", products = "remembered" }',
                 "gap, products formed": '{ rule = "gap", products = "computed" }'}
THIRD_CACHE = 32e6


def experiment(size, step, precision):
    agents, dimension, degree, iterations, _ = SIZES[size]
    return f"""
name = "e"
seeds = 0
iterations = {iterations}
record_every = {iterations}
[graph]
topology = "erdos-renyi"
agents = {agents}
probability = {degree / (agents - 1)}
[problem]
dimension = {dimension}
samples = 10
reference = "none"
precision = "{precision}"
[[method]]
name = "m"
step = {step}
"""


def polyhop_seconds(command, size, step, threads=0, precision="double"):
    with tempfile.TemporaryDirectory(prefix="polyhop_bench_") as folder:
        file, out = pathlib.Path(folder, "e.toml"), pathlib.Path(folder, "out")
        file.write_text(experiment(size, step, precision), encoding="utf-8")
        flags = ["--threads", str(threads)] if threads else []
        subprocess.run([command, "run", file, "-o", out, "--quiet", *flags], check=True, capture_output=True)
        with open(out / "curves.csv", encoding="utf-8") as lines:
            last = list(csv.DictReader(lines))[-1]
        return float(last["seconds"]) / int(last["iteration"])


def numpy_seconds(size, method):
    agents, dimension, degree, _, iterations = SIZES[size]
    words = ["/usr/bin/python3", HERE / "numpy_iteration.py", "--agents", agents, "--dimension", dimension, "--topology",
             "erdos-renyi", "--probability", degree / (agents - 1), "--rule", method, "--iterations", iterations, "--repeats", 3]
    times = []
    for threads in ("1", "2"):
        output = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True,
                                env={**os.environ, "OPENBLAS_NUM_THREADS": threads}).stdout
        times.append(json.loads(output.splitlines()[-1])["seconds_per_iteration"])
    return min(times)


def entries(size):
    """Those of A and of B, for a graph like polyhop's."""
    agents, _, degree, _, _ = SIZES[size]
    A = networkx.to_scipy_sparse_array(networkx.fast_gnp_random_graph(agents, degree / (agents - 1), seed=1)).tolil()
    A.setdiag(1)
    A = A.tocsr()
    return A.nnz, (A @ A).nnz


def floor_seconds(size, method, machine):
    K, M = SIZES[size][:2]
    a, b = entries(size)
    flops = 4 * K * M + 2 * a * M if method == "constant" else 2 * K * M + 2 * a * M + 2 * b * M + (b + K) * M
    passes = 1 if 8 * K * M < THIRD_CACHE else 5
    bytes_moved = 0 if 80 * K * M < THIRD_CACHE else passes * 8 * K * M
    return max(flops / machine["flops_per_second"], bytes_moved / machine["bytes_per_second"])


def shown(seconds):
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def against_numpy(command, sizes, rounds, machine):
    """The rows of a size alternate, so that all see the same machine."""
    print("| size | rule | polyhop | NumPy | ratio | floor | floor/polyhop |\n|---|---|---|---|---|---|---|")
    for size in sizes:
        rules = [rule for rule in AGAINST_NUMPY if rule != "gap" or size != "XL"]  # too short a run
        ours, theirs = {rule: [] for rule in rules}, {"constant": [], "gap": []}
        for _ in range(rounds):
            for rule in rules:
                ours[rule].append(polyhop_seconds(command, size, AGAINST_NUMPY[rule]))
            for method, times in theirs.items():
                if SIZES[size][4]:
                    times.append(numpy_seconds(size, method))
        for rule in rules:
            best, floor, times = min(ours[rule]), floor_seconds(size, rule, machine), theirs[rule.split(",")[0]]
            numpy = [shown(min(times)), f"{min(times) / best:.1f}"] if times else ["", ""]
            shares = ["", ""] if rule == "gap" else [shown(floor), f"{floor / best:.0%}"]
            print("|", " | ".join([size, rule, shown(best), *numpy, *shares]), "|", flush=True)


def by_threads(command, sizes, rounds):
    print("\n| size | rule | 1 thread | 2 threads | gain | in single precision | gain | against constant |\n|---|---|---|---|---|---|---|---|")
    for size in sizes:
        constant = None
        for method in STEPS:
            cases = {"one": (1, "double"), "two": (2, "double"), "single": (2, "single")}
            best = {name: 1e9 for name in cases}
            for _ in range(rounds):
                for name, (threads, precision) in cases.items():
                    best[name] = min(best[name], polyhop_seconds(command, size, STEPS[method], threads, precision))
            constant = constant or best["two"]
            print(f"| {size} | {method} | {shown(best['one'])} | {shown(best['two'])} | {best['one'] / best['two']:.2f} "
                  f"| {shown(best['single'])} | {best['two'] / best['single']:.2f} | {best['two'] / constant:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", default="S,M,L")
    parser.add_argument("--threads", action="store_true", help="compare threads and precisions instead")
    options = parser.parse_args()
    command, sizes = options.build.resolve() / "bin/polyhop", options.sizes.split(",")
    if options.threads:
        return by_threads(command, sizes, options.rounds)
    machine = json.loads(subprocess.run([options.build / "bench/floor"], check=True, capture_output=True, text=True).stdout)
    print(f"{machine['cores']} cores, {machine['flops_per_second'] * 1e-9:.0f} GFlop/s, {machine['bytes_per_second'] * 1e-9:.0f} GB/s, "
          f"a message and its answer between threads {machine['round_trip'] * 1e9:.0f} ns")
    if (loop := options.build / "bench/small_loop").exists():
        by_hand = json.loads(subprocess.run([loop], check=True, capture_output=True, text=True).stdout)
        print(f"S, constant, in loops written for it alone: {by_hand['microseconds']:.3g} us\n")
    return against_numpy(command, sizes, options.rounds, machine)


if __name__ == "__main__":
    main()
