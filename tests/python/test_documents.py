# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""The code of docs/python.md and of examples/python runs, and the notebooks are those of the scripts."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted((SOURCE / "examples" / "python").glob("*.py"))


def test_the_tutorial_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / "docs" / "python.md").read_text(), re.DOTALL)
    assert len(blocks) > 8
    scope = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), scope)
    assert {"run.png", "comparison.png", "comparison.html", "torus.png"} <= {path.name for path in tmp_path.iterdir()}


def test_the_readme_runs(tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(SOURCE / "examples")
    (block,) = re.findall(r"```python\n(.*?)```", (SOURCE / "README.md").read_text(), re.DOTALL)
    scope = dict(zip("Xy", data))
    exec(compile(block, "README.md", "exec"), scope)
    assert (tmp_path / "out/paper/experiment.sqlite").exists() and scope["run"].status == "done"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(example, tmp_path):
    done = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "MPLBACKEND": "Agg"})
    assert done.returncode == 0 and done.stdout, done.stderr


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_notebooks_are_made_from_the_scripts(example):
    sys.path.insert(0, str(SOURCE / "docs"))
    import make_notebooks

    assert example.with_suffix(".ipynb").read_text() == make_notebooks.notebook(example), "run docs/make_notebooks.py"
