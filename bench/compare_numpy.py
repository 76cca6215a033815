# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""One iteration of polyhop against the same iteration in NumPy: `python3 compare_numpy.py PATH_TO_iteration [--rounds n]`.

The two alternate, and the best of several rounds counts for each, so that a busy machine disturbs both alike.
Prints a Markdown table for docs/benchmarks.md.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
SMALL = ["--agents", "8", "--dimension", "100", "--topology", "erdos-renyi", "--probability", "0.4"]
LARGE = ["--agents", "1000", "--dimension", "1000", "--topology", "random-regular", "--degree", "10", "--combine", "sparse"]
# label, filter of the C++ benchmark, arguments of the NumPy program, threads of both
CASES = [
    ("K=8, M=100, constant", "erdos-renyi/constant/8/100/1/", [*SMALL, "--rule", "constant"], 1),
    ("K=8, M=100, GAP paper", "erdos-renyi/gap-paper-paper/8/100/1/", [*SMALL, "--rule", "gap"], 1),
    ("K=1000, M=1000, constant", "random-regular/constant/1000/1000/1/", [*LARGE, "--rule", "constant"], 1),
    ("K=1000, M=1000, GAP paper", "random-regular/gap-paper-paper/1000/1000/1/", [*LARGE, "--rule", "gap"], 1),
    ("K=1000, M=1000, constant", "random-regular/constant/1000/1000/2/", [*LARGE, "--rule", "constant"], 2),
    ("K=1000, M=1000, GAP paper", "random-regular/gap-paper-paper/1000/1000/2/", [*LARGE, "--rule", "gap"], 2),
]


def cpp_seconds(program, name):
    command = [program, f"--benchmark_filter={name}", "--benchmark_format=json", "--benchmark_min_time=0.3"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    entry = report["benchmarks"][0]
    return entry["real_time"] * {"us": 1e-6, "ms": 1e-3}[entry["time_unit"]]


def numpy_seconds(arguments, threads):
    iterations = "6" if "1000" in arguments else "3000"
    command = ["/usr/bin/python3", str(HERE / "numpy_iteration.py"), *arguments, "--iterations", iterations, "--repeats", "4"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads)}
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return json.loads(output.splitlines()[-1])["seconds_per_iteration"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print("| case | threads | polyhop | NumPy | ratio |\n|---|---|---|---|---|")
    for label, name, arguments, threads in CASES:
        if options.only not in name:
            continue
        cpp, numpy = [], []
        for _ in range(options.rounds):
            cpp.append(cpp_seconds(options.program, name))
            numpy.append(numpy_seconds(arguments, threads))
        unit, factor = ("us", 1e6) if min(cpp) < 1e-3 else ("ms", 1e3)
        print(f"| {label} | {threads} | {min(cpp) * factor:.2f} {unit} | {min(numpy) * factor:.2f} {unit} "
              f"| {min(numpy) / min(cpp):.1f} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
