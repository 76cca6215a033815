# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""pip, without a network. The wheel is made of the build that is there; compiling is what CMake's own build tries."""

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A virtual environment that sees the system's packages, and how to call its Python."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", folder], check=True)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    clean["POLYHOP_BUILT_PACKAGE"] = os.environ["POLYHOP_PACKAGE"]
    clean["PIP_NO_INDEX"] = "1"

    def call(*arguments, **more):
        return subprocess.run([folder / "bin" / "python", *arguments], env=clean, capture_output=True, text=True, cwd=folder, **more)

    return call


def test_a_wheel_is_built_installed_and_removed(environment, tmp_path):
    built = environment("-m", "pip", "wheel", "--no-deps", "-w", str(tmp_path), str(SOURCE))
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("polyhop-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "polyhop/__init__.py" in names and "polyhop/py.typed" in names and "polyhop/__init__.pyi" in names
    installed = environment("-m", "pip", "install", "--no-deps", str(wheel))
    assert installed.returncode == 0, installed.stderr
    used = environment("-c", "import polyhop as ph, numpy as np; p = ph.least_squares(np.eye(4), np.ones(4), agents=2); "
                             "print(ph.solve(p, ph.graph.path(2), iterations=5).models.shape, ph.__file__)")
    assert used.stdout.startswith("(2, 4)") and "site-packages" in used.stdout, used.stderr
    shown = environment("-m", "pip", "show", "-f", "polyhop")
    assert "Name: polyhop" in shown.stdout and "_engine" in shown.stdout
    assert environment("-m", "pip", "uninstall", "-y", "polyhop").returncode == 0
    assert environment("-c", "import polyhop").returncode != 0


def test_a_source_distribution_holds_what_a_build_needs(tmp_path):
    import tarfile

    sys.path.insert(0, str(SOURCE / "python"))
    import build_backend

    name = build_backend.build_sdist(str(tmp_path))
    names = {entry.split("/", 1)[1] for entry in tarfile.open(tmp_path / name).getnames() if "/" in entry}
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "src", "cmake", "python", "apps"], capture_output=True, text=True)
    assert {"PKG-INFO", "pyproject.toml", "CMakeLists.txt", "python/engine/module.cpp", "src/polyhop/polyhop.hpp"} <= names
    assert set(listed.stdout.split()) <= names
