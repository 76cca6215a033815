#!/usr/bin/python3
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of scaling.md again: `docs/make_scaling.py [BUILD]`, the folder that polyhop was built in with
-DPOLYHOP_BUILD_BENCH=ON, by default build. A few minutes on two cores that do nothing else.
"""

import csv
import io
import os
import pathlib
import subprocess
import sys

import numpy as np
from scipy.optimize import nnls

from _document import ROOT, put

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
RUNS = 7  # of the comparison with threads
# Rows between two ranks of one machine go through shared memory, unless MPI is told to use TCP.
WIRES = {"shared memory": {}, "TCP, one machine": {"OMPI_MCA_btl": "self,tcp"}}
# Assumed, not measured: a message and a byte between machines.
ASSUMED = {"10 Gbit/s Ethernet (assumed: 25 us, 1.1 GB/s)": (25e-6, 1 / 1.1e9),
           "InfiniBand HDR (assumed: 1.5 us, 20 GB/s)": (1.5e-6, 1 / 20e9)}


def measure(ranks, what, **environment):
    command = [ROOT / "tests" / "mpi" / "mpirun", str(ranks), BUILD / "bench" / "mpi_ranks", what]
    done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True)
    rows = []
    for row in csv.DictReader(io.StringIO(done.stdout)):
        rows.append({key: value if key in ("topology", "rule") else float(value) for key, value in row.items()})
    return rows


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def work(x, ranks):
    """What a, b and c are multiplied by."""
    own = x["agents"] / ranks
    return [own * x["dimension"] * (x["degree"] + 1), own * x["dimension"], own]


def fit(columns, times):
    """Non-negative, for the smallest relative errors; these too."""
    columns, times = np.array(columns), np.array(times)
    found, _ = nnls(columns / times[:, None], np.ones(len(times)))
    return found, columns @ found / times - 1


def machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':', 1)[1].strip()}, {os.cpu_count()} cores"
    return f"{os.cpu_count()} cores"


def main():
    runs = [measure(2, "threads") for _ in range(RUNS)]
    lines = []
    for same in zip(*runs):
        x, ratios = same[0], [y["ratio"] for y in same]
        best = [1e3 * min(y[key] for y in same) for key in ("ranks_seconds", "threads_seconds")]
        lines.append([x["topology"], f"{x['degree']:.1f}", x["rule"], f"{x['rows']:.0f}", f"{best[0]:.2f}",
                      f"{best[1]:.2f}", f"{np.median(ratios):.2f}", f"{min(ratios):.2f} to {max(ratios):.2f}"])
    put("scaling.md", "threads", f"Measured on {machine()}; {RUNS} runs.\n\n" + table(
        ["graph", "degree", "rule", "rows received", "2 ranks, ms", "2 threads, ms", "median ratio", "of the runs"],
        lines))

    alone = measure(1, "sizes")
    (a, b, c), errors = fit([work(x, 1) for x in alone], [x["seconds"] for x in alone])
    text = [f"One rank, {len(alone)} sizes (K = 100 to 10,000, M = 10 to 1,000, d = 2 to 32): a = {1e9 * a:.3f} ns, "
            f"b = {1e9 * b:.2f} ns, c = {1e9 * c:.0f} ns; the model is off by {100 * np.median(abs(errors)):.0f}% in the "
            f"median and by {100 * max(abs(errors)):.0f}% at most."]
    wires = []
    for name, environment in WIRES.items():
        both = measure(2, "sizes", **environment)
        # Computing takes what it took alone; the rest is messages.
        columns = [[*(np.array([a, b, c]) @ work(x, 2) * np.ones(1)), x["peers"], 8 * x["dimension"] * x["rows"]]
                   for x in both]
        (slower, alpha, beta), errors = fit(columns, [x["seconds"] for x in both])
        wires.append((name, alpha, beta))
        text.append(f"Two ranks, {name}: alpha = {1e6 * alpha:.1f} us, 1/beta = "
                    + (f"{1 / beta / 1e9:.1f} GB/s" if beta > 0 else "beyond what can be seen")
                    + f"; the terms of computing {slower:.2f} times those of one rank alone (cores share memory); off by "
                    f"{100 * np.median(abs(errors)):.0f}% in the median and by {100 * max(abs(errors)):.0f}% at most.")
    put("scaling.md", "model", "\n\n".join(text))

    lines = []
    # 100 agents with 8 neighbours each, anywhere: how many ranks, and rows, are among them.
    drawn = 100 * 8
    ranks, others = 1000 * (1 - (1 - 1 / 1000) ** drawn), 1e5 * (1 - (1 - 1 / 1e5) ** drawn)
    for topology, degree, peers, received in (("ring", 2, 2, 2), ("random regular", 8, ranks, others)):
        x = {"agents": 1e5, "dimension": 1e3, "degree": degree}
        computing = np.array([a, b, c]) @ work(x, 1)
        for name, alpha, beta in wires + [(name, *values) for name, values in ASSUMED.items()]:
            t = computing / 1000 + alpha * peers + beta * 8 * x["dimension"] * received
            lines.append([topology, name, f"{computing:.2f}", f"{1e3 * computing / 1000:.2f}", f"{1e3 * t:.2f}",
                          f"{100 * computing / 1000 / t:.0f}%"])
    put("scaling.md", "prediction", table(
        ["graph", "between ranks", "1 rank, s", "computing on 1,000, ms", "in all, ms", "efficiency"], lines))


if __name__ == "__main__":
    main()
