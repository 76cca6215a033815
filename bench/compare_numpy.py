# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""polyhop against NumPy, and against what the machine can do: `python3 compare_numpy.py BUILD [--sizes S,M] [--rounds n]`.

BUILD is the build folder. Sizes: Erdos-Renyi graphs with Metropolis weights, 10 samples per agent, batch 1, T = 2, double.
polyhop runs as users run it, `polyhop run` with its defaults (the averaged iterate included), recorded once; what counts is
`seconds` of curves.csv, the time inside iterations. NumPy is numpy_iteration.py, without an averaged iterate, the better of
1 and 2 threads. The two alternate, and the best of several rounds counts for each. Prints Markdown for docs/benchmarks.md.

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
    "L": (1000, 1000, 10, 60, 6),
    "XL": (20000, 1000, 10, 4, 0),
}
TIGHT = '{ rule = "gap", bound = "tight", damping = "rows" }'
STEPS = {"constant": '{ rule = "constant", value = 1e-4 }', "polyak": '"polyak"', "gap": '"gap"', "tight": TIGHT, "auto": '"auto"'}
IN_NUMPY = ("constant", "gap")
THIRD_CACHE = 32e6


def experiment(size, method, precision):
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
step = {STEPS[method]}
"""


def polyhop_seconds(command, size, method, threads=0, precision="double"):
    with tempfile.TemporaryDirectory(prefix="polyhop_bench_") as folder:
        file, out = pathlib.Path(folder, "e.toml"), pathlib.Path(folder, "out")
        file.write_text(experiment(size, method, precision), encoding="utf-8")
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
    flops = 4 * K * M + 2 * a * M if method != "gap" else 2 * K * M + 2 * a * M + 2 * b * M + (b + K) * M
    passes = 1 if 8 * K * M < THIRD_CACHE else 5
    bytes_moved = 0 if 80 * K * M < THIRD_CACHE else passes * 8 * K * M
    return max(flops / machine["flops_per_second"], bytes_moved / machine["bytes_per_second"])


def shown(seconds):
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def against_numpy(command, sizes, rounds, machine):
    print("| size | rule | polyhop | NumPy | ratio | floor | floor/polyhop |\n|---|---|---|---|---|---|---|")
    for size in sizes:
        for method in IN_NUMPY:
            ours, theirs = [], []
            for _ in range(rounds):
                ours.append(polyhop_seconds(command, size, method))
                if SIZES[size][4]:
                    theirs.append(numpy_seconds(size, method))
            best, floor = min(ours), floor_seconds(size, method, machine)
            numpy = [shown(min(theirs)), f"{min(theirs) / best:.1f}"] if theirs else ["", ""]
            print("|", " | ".join([size, method, shown(best), *numpy, shown(floor), f"{floor / best:.0%}"]), "|", flush=True)


def by_threads(command, sizes, rounds):
    print("\n| size | rule | 1 thread | 2 threads | gain | in single precision | gain | against constant |\n|---|---|---|---|---|---|---|---|")
    for size in sizes:
        constant = None
        for method in STEPS:
            cases = {"one": (1, "double"), "two": (2, "double"), "single": (2, "single")}
            best = {name: 1e9 for name in cases}
            for _ in range(rounds):
                for name, (threads, precision) in cases.items():
                    best[name] = min(best[name], polyhop_seconds(command, size, method, threads, precision))
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
    print(f"{machine['cores']} cores, {machine['flops_per_second'] * 1e-9:.0f} GFlop/s, {machine['bytes_per_second'] * 1e-9:.0f} GB/s\n")
    return against_numpy(command, sizes, options.rounds, machine)


if __name__ == "__main__":
    main()
