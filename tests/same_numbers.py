# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Prints a hash of the numbers that a command gives: every example, the scoreboard, runs on MPI ranks, fits.

usage: same_numbers.py POLYHOP > before.txt, change the code, again > after.txt, diff before.txt after.txt

A change of the code's shape changes no number: the files are then the same. What may differ is left out of the hashes:
`seconds` and `crossed_*` of curves.csv, and all of a model file but its arrays. Takes some minutes; the optimum of
Fashion-MNIST is most of them.
"""

import csv
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

SOURCE = pathlib.Path(__file__).resolve().parent.parent
MPIRUN = SOURCE / "tests" / "mpi" / "mpirun"
APART = {"seconds", "crossed_vectors", "crossed_scalars"}

# Every kind of message between ranks: lists of two hops, numbers, sums over a tree, trackers.
RANKS = """\
name = "ranks"
seeds = "0..1"
iterations = 60
record_every = 7
[graph]
topology = "erdos-renyi"
agents = 9
probability = 0.4
[problem]
loss = "logistic"
l2 = 0.01
dimension = 6
samples = 5
[record]
steps = "agents"
[tuning]
budget = 3
[[method]]
step = "auto"
[[method]]
name = "GAP"
step = { rule = "gap", damping = ["paper", "rows", "norms"] }
[[method]]
step = { rule = "gap", bound = "tight", damping = "rows", cap = "distance" }
name = "capped"
[[method]]
name = "tuned"
step = "tuned"
[[method]]
name = "search"
step = { rule = "backtracking", reach = "network" }
[[method]]
algorithm = ["exact-diffusion", "gradient-tracking", "damsgrad"]
step = { rule = "constant", value = 0.02 }
"""

FITS = [
    ["breast-cancer", "--loss", "logistic", "--l2", "0.01", "--standardise", "--graph", "ring", "--agents", "6"],
    ["wine", "--loss", "softmax", "--l2", "0.1", "--standardise", "--partition", "label", "--held-out", "0.2"],
    ["diabetes", "--loss", "huber", "--delta", "20", "--unit-rows", "--no-intercept", "--iterations", "300"],
    ["digits", "--loss", "softmax", "--l2", "0.01", "--batch", "8", "--iterations", "400", "--partition", "dirichlet"],
    ["digits", "--loss", "poisson", "--l2", "0.01", "--standardise", "--iterations", "200", "--partition", "sizes"],
]


def hash_of_arrays(file):
    """The names, shapes and bytes of all arrays of an NPZ file."""
    digest = hashlib.sha256()
    with numpy.load(file) as arrays:
        for name in sorted(arrays.files):
            if name.endswith(".json"):
                continue
            array = arrays[name]
            digest.update(f"{name} {array.shape} {array.dtype}".encode() + array.tobytes())
    return digest.hexdigest()[:16]


def hash_of_curves(file):
    digest = hashlib.sha256()
    with open(file, newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            digest.update(repr([(key, value) for key, value in row.items() if key not in APART]).encode())
    return digest.hexdigest()[:16]


def main():
    command = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="polyhop_numbers_") as name:
        folder = pathlib.Path(name)

        def call(*arguments, ranks=0, codes=(0,)):
            words = [str(word) for word in ([MPIRUN, ranks] if ranks else []) + [command, *arguments]]
            done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            if done.returncode not in codes:
                sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr}")

        def tell(title, store):
            curves, models = hash_of_curves(store / "curves.csv"), hash_of_arrays(store / "models.npz")
            print(f"{title}: curves {curves} models {models}", flush=True)

        for part in ("", "bundled", "scoreboard", "real-data"):
            for file in sorted((SOURCE / "examples" / part).glob("[!_]*.toml")):
                if file.with_suffix(".cpp").exists():
                    continue  # for that program
                out = folder / "out" / part / file.stem
                call("run", file, "-o", out, "--quiet")
                tell(f"run {file.relative_to(SOURCE)}", out)
        (folder / "ranks.toml").write_text(RANKS, encoding="utf-8")
        for ranks in (0, 2, 3):
            for placement in ("contiguous", "metis") if ranks else ("contiguous",):
                out = folder / f"ranks-{ranks}-{placement}"
                call("run", "ranks.toml", "-o", out, "--quiet", "--placement", placement, ranks=ranks)
                tell(f"run ranks.toml on {ranks or 'no'} ranks, {placement}", out)
        for fit in FITS:
            for ranks in (0, 2):
                call("fit", *fit, "-o", "model.npz", "--quiet", ranks=ranks, codes=(0, 4))
                print(f"fit {' '.join(fit)} on {ranks or 'no'} ranks: {hash_of_arrays(folder / 'model.npz')}", flush=True)


if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    main()
