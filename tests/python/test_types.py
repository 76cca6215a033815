# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""The package's types: up to date, and what mypy says of a program that uses them."""

import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent

PROGRAM = """
import numpy as np
import polyhop as ph
net = ph.graph.erdos_renyi(8, p=0.4, seed=1).metropolis()
problem = ph.logistic(np.eye(8), np.arange(8) % 2, agents=8, l2=0.1)
run = ph.solve(problem, net, step=ph.gap(sweeps=2, bound="tight"), iterations=10)
models: np.ndarray = run.models
"""


def test_stubs_are_those_of_the_tables():
    sys.path.insert(0, str(SOURCE / "docs"))
    import make_stubs

    for name, text in (("__init__.pyi", make_stubs.main_stub()), ("graph.pyi", make_stubs.graph_stub())):
        assert (SOURCE / "python" / "polyhop" / name).read_text() == text, "run docs/make_stubs.py"


def test_a_program_passes_mypy_and_its_mistakes_do_not(tmp_path):
    (tmp_path / "good.py").write_text(PROGRAM)
    (tmp_path / "bad.py").write_text(PROGRAM + 'ph.gap(sketch_size="many")\nph.gap(sweps=2)\nph.solve(problem, net, iterations="a")\n')
    import polyhop

    env = {**os.environ, "MYPYPATH": str(pathlib.Path(polyhop.__file__).parent.parent)}
    done = [subprocess.run(["mypy", "--ignore-missing-imports", "--cache-dir", tmp_path / "cache", tmp_path / name], env=env,
                           capture_output=True, text=True) for name in ("good.py", "bad.py")]
    assert done[0].returncode == 0, done[0].stdout
    assert done[1].stdout.count("bad.py:") == 3, done[1].stdout
