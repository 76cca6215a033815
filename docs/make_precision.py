# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the excess risks of docs/precision.md: `python3 docs/make_precision.py PATH_TO_polyhop`. Takes about a minute."""

import csv
import pathlib
import subprocess
import sys
import tempfile

PROBLEMS = {
    "least squares that fit, 20 features": 'loss = "least-squares"\ndimension = 20\nsamples = 4',
    "noisy least squares, all samples":
        'loss = "least-squares"\ndimension = 20\nsamples = 100\nnoise = 0.3\nbatch = "all"',
    "logistic, l2 = 0.01, all samples":
        'loss = "logistic"\nl2 = 0.01\ndimension = 20\nsamples = 100\nnoise = 0.3\nbatch = "all"',
    "digits, softmax, batches of 8": 'loss = "softmax"\nsource = "digits"\nl2 = 0.01\nbatch = 8',
}
CONSTANT = 'step = { rule = "constant", value = 0.02 }'
METHODS = {
    "GAP": 'step = { rule = "gap", bound = "tight", damping = "rows", project = true, sweeps = 5 }',
    "ATC": CONSTANT,
    "exact diffusion": f'algorithm = "exact-diffusion"\n{CONSTANT}',
    "tracking": f'algorithm = "gradient-tracking"\n{CONSTANT}',
    "auto": 'step = "auto"',
}


def risks(polyhop, folder, problem, precision):
    methods = "".join(f'[[method]]\nname = "{name}"\n{keys}\n' for name, keys in METHODS.items())
    experiment = folder / "experiment.toml"
    experiment.write_text(
        'iterations = 20000\nrecord_every = 1000\ntarget = 1e-30\n[graph]\ntopology = "erdos-renyi"\nagents = 16\n'
        f'probability = 0.3\n[problem]\n{problem}\nprecision = "{precision}"\n{methods}')
    subprocess.run([polyhop, "run", experiment, "-o", folder / "out", "--fresh", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    with (folder / "out" / "curves.csv").open() as file:
        return {row["method"]: float(row["excess_risk"]) for row in csv.DictReader(file)}  # the last of each


with tempfile.TemporaryDirectory() as made:
    for name, problem in PROBLEMS.items():
        for precision in ("double", "single"):
            found = risks(sys.argv[1], pathlib.Path(made), problem, precision)
            print(f"| {name} | {precision} | " + " | ".join(f"{found[method]:.0e}" for method in METHODS) + " |", flush=True)
