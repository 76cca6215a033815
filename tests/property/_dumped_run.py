# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that a program wrote with tests/support/dumped_run.hpp, and what oracles need to compare them with a twin."""

import json
import pathlib
import subprocess
import tempfile

import numpy as np

import gap_twin

COLUMNS = ("rounds", "vectors", "scalars", "step_vectors", "step_scalars", "values", "gradients")
OVERFLOWED = 1e100  # a path beyond this has diverged: nothing left to compare


class DumpedRun:
    """One run: its arrays as attributes (None if the file is absent), and what options.json says."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("A", "H", "y", "index", "start", "wo", "W", "mu", "traffic", "sketch", "coins",
                     "signs"):
            path = folder / f"{name}.npy"
            setattr(self, name, np.load(path) if path.exists() else None)
        self.start = self.W[0]
        self.given = json.loads((folder / "options.json").read_text())

    def iterations(self):
        """Iterations with a finite path: a diverged run ends the comparison."""
        size = np.max(np.abs(self.W), axis=(1, 2))
        bad = np.flatnonzero(~(size < OVERFLOWED))
        return min(len(self.mu), bad[0] - 1 if bad.size else len(self.mu))

    def is_single(self):
        """Whether gradients are numbers times single samples."""
        return self.given["l2"] == 0 and self.given["gradient"] == "plain" and self.index.shape[2] == 1 and not self.given["own"]

    def describe(self):
        return f"n={self.folder.name} " + json.dumps(self.given)


def folder_of(source, test_class):
    """The folder with the runs: `source` itself, or what the program `source` writes to a temporary one."""
    folder = pathlib.Path(source)
    if not folder.is_dir():
        holder = tempfile.TemporaryDirectory()
        test_class.addClassCleanup(holder.cleanup)
        folder = pathlib.Path(holder.name)
        subprocess.run([str(pathlib.Path(source).resolve()), str(folder)], check=True)
    return folder


def numbered(folder):
    """The folders of the runs, in the order of their numbers."""
    return sorted((f for f in folder.iterdir() if f.is_dir() and f.name.isdigit()), key=lambda f: int(f.name))


def cap_of(text):
    """GAP's cap as the twins take it: None, a number, {"gamma": g} for g/sqrt(i+1), or a name."""
    if text == "none":
        return None
    return {"gamma": float(text.split("/")[0])} if isinstance(text, str) and "/sqrt" in text else text


def directions(A):
    """(rows of a message to the neighbours, rows of a two-hop list): all agents are sent one of each other within reach."""
    near = gap_twin.neighbourhoods(A).astype(int)
    return int(np.sum(near)) - len(A), int(np.sum(near @ near > 0)) - len(A)


def natural_step(batch):
    """1 / L: the size of a step that is neither noise nor reckless."""
    return 1.0 / max(np.max(batch.smoothness()), np.finfo(float).tiny)


def step_errors(twin, cpp, natural):
    """Per agent |twin - cpp|, relative to the network's largest step, at least 1e-3 of a natural one."""
    size = max(np.max(np.abs(cpp)), 1e-3 * natural)
    error = np.abs(twin - cpp) / size if size > 0 else np.where(twin == cpp, 0.0, np.inf)
    return np.where(np.isfinite(error), error, np.inf)


def row_errors(twin, cpp):
    """Per agent ||twin - cpp|| / max(1, ||cpp||). Not finite: infinite."""
    error = np.linalg.norm(twin - cpp, axis=1) / np.maximum(1.0, np.linalg.norm(cpp, axis=1))
    return np.where(np.isfinite(error), error, np.inf)


def describe_difference(name, i, k, ours, theirs, error):
    """The first bad agent, both numbers: of a row, the coordinate that differs most."""
    at = k
    if theirs.ndim == 2:
        at = (k, int(np.nanargmax(np.abs(ours[k] - theirs[k])))) if np.isfinite(ours[k] - theirs[k]).any() else (k, 0)
    return f"{name}: iteration {i}, agent {k}: twin {ours[at]!r}, C++ {theirs[at]!r}, relative error {error[k]:.2e}"


def check_inputs(test, x):
    """The arrays of a run fit together, and its network is one."""
    I, K, _ = x.index.shape
    M = x.start.shape[1]
    shapes = {"A": (K, K), "H": (K, x.y.shape[1], M), "y": (K, x.H.shape[1]), "start": (K, M),
              "W": (I + 1, K, M), "mu": (I, K), "traffic": (I + 1, len(COLUMNS))}
    for name, shape in shapes.items():
        test.assertEqual(getattr(x, name).shape, shape, name)
    np.testing.assert_allclose(x.A, x.A.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(x.A.sum(axis=1), 1.0, rtol=0, atol=1e-9)
    test.assertTrue(np.all(x.A >= 0) and I > 0)
    test.assertTrue(np.all((x.index >= 0) & (x.index < x.H.shape[1])))
