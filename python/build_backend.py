# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Builds wheels of polyhop for pip (PEP 517 and 660), with the standard library and CMake alone.

Debian 12 has no other backend that builds C++ without a network and leaves editable installs whole.
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "pyproject.toml", "apps", "cmake", "docs", "python", "src")
SUMMARY = "Decentralized optimization over networks, with graph-aware learning rates"


def _version():
    return re.search(r"project\(polyhop VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def _name():
    return f"polyhop-{_version()}"


def _metadata():
    extras = {"plot": ("matplotlib", "networkx"), "data": ("pandas", "scipy"), "sklearn": ("scikit-learn",)}
    lines = ["Metadata-Version: 2.1", "Name: polyhop", f"Version: {_version()}", f"Summary: {SUMMARY}", "License: Apache-2.0",
             "Requires-Python: >=3.9", "Requires-Dist: numpy"]
    for extra, packages in extras.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {package}; extra == '{extra}'" for package in packages]
    return "\n".join(lines) + "\n"


def _tag():
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _build(folder):
    """Compiles the package; returns the folder that holds it."""
    settings = {"CMAKE_BUILD_TYPE": "Release", "Python_EXECUTABLE": sys.executable, "POLYHOP_BUILD_APPS": "OFF",
                "POLYHOP_BUILD_TESTS": "OFF", "POLYHOP_BUILD_PYTHON": "ON", "POLYHOP_UNITY": "ON"}
    # Whatever Python runs this, its packages need not have pybind11; Debian's CMake finds it in its own place.
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *(f"-D{k}={v}" for k, v in settings.items())], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "python_package"], check=True)
    return pathlib.Path(folder) / "python"


def _write_wheel(directory, files):
    """files: {name in the wheel: bytes}"""
    info = f"{_name()}.dist-info"
    files = {**files, f"{info}/METADATA": _metadata().encode(), f"{info}/LICENSE": (ROOT / "LICENSE").read_bytes(),
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: polyhop\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode()}
    record = []
    name = f"{_name()}-{_tag()}.whl"
    with zipfile.ZipFile(pathlib.Path(directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}\n")
        wheel.writestr(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n")
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as folder:
        # The tests give a build that is there already, rather than compile everything once more.
        package = pathlib.Path(os.environ.get("POLYHOP_BUILT_PACKAGE") or _build(folder))
        files = {f"polyhop/{path.name}": path.read_bytes() for path in sorted((package / "polyhop").iterdir()) if path.is_file()}
        return _write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    package = _build(ROOT / "build" / "editable")
    return _write_wheel(wheel_directory, {"polyhop.pth": f"{package}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    name = f"{_name()}.tar.gz"

    def clean(entry):
        return None if "__pycache__" in entry.name else entry

    with tarfile.open(pathlib.Path(sdist_directory) / name, "w:gz") as out:
        for source in SOURCES:
            out.add(ROOT / source, f"{_name()}/{source}", filter=clean)
        with tempfile.TemporaryDirectory() as folder:
            info = pathlib.Path(folder) / "PKG-INFO"
            info.write_text(_metadata())
            out.add(info, f"{_name()}/PKG-INFO")
    return name
