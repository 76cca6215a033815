# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""The code of the README, docs/python.md, docs/tutorial.md and examples/python runs, and the notebooks are those of the scripts."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted((SOURCE / "examples" / "python").glob("*.py"))


def test_the_tour_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / "docs" / "python.md").read_text(), re.DOTALL)
    assert len(blocks) > 8
    scope = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), scope)
    assert {"run.png", "comparison.png", "comparison.html", "torus.png"} <= {path.name for path in tmp_path.iterdir()}


def test_the_tutorial_runs(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    text = (SOURCE / "docs" / "tutorial.md").read_text()
    (experiment,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert (SOURCE / "examples" / "tutorial.toml").read_text().endswith("\n" + experiment)
    (tmp_path / "tutorial.toml").write_text(experiment)
    # Commands and Python, in the order in which a reader meets them.
    steps = re.findall(r"^    \$ (polyhop [^\n]*)$|```python\n(.*?)```", text, re.DOTALL | re.MULTILINE)
    assert len(steps) > 12
    scope = {}
    for line, block in steps:
        if line:
            done = subprocess.run([command, *shlex.split(line, comments=True)[1:]], capture_output=True, text=True)
            assert done.returncode == 0, f"{line}: {done.stderr}"
        else:
            exec(compile(block, "docs/tutorial.md", "exec"), scope)
    assert {"ring.svg", "risk.pdf", "risk.png", "model.npz"} <= {path.name for path in tmp_path.iterdir()}
    assert (tmp_path / "tables" / "curves.csv").exists()
    # What the text says of the ranking.
    reached = scope["found"].ranking["iterations"].dropna()
    assert list(reached.index[:3]) == ["auto", "exact diffusion, tuned", "gradient tracking, tuned"]


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(SOURCE / "examples")
    text = (SOURCE / "README.md").read_text()
    (tmp_path / "first.toml").write_text(re.search(r"```toml\n(.*?)```", text, re.DOTALL).group(1))
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) > 1
    scope = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), scope)
    assert (tmp_path / "out/paper/experiment.sqlite").exists()
    assert scope["model"].score(scope["X"], scope["y"]) > 0.95
    assert (tmp_path / "risk.pdf").exists() and (tmp_path / "tables" / "curves.csv").exists()


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
