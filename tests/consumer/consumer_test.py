# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Uses polyhop as a stranger's project would: installed, and found by CMake or pkg-config. As a subdirectory it is used by
the build with sanitizers of ./check.

usage: consumer_test.py SOURCE_DIR BUILD_DIR CMAKE
"""

import csv
import ctypes
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import unittest

SOURCE, BUILD, CMAKE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
sys.path.insert(0, str(SOURCE / "tests" / "cli"))
import _held_run  # noqa: E402
HERE = SOURCE / "tests" / "consumer"
WORK = BUILD / "consumer"
PREFIX = WORK / "prefix"

MPI_HEADER = "polyhop/network/mpi/job.hpp"


def run(*command, env=None):
    """The command's output; a failure shows all of it."""
    done = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **(env or {})})
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def cache(name):
    """A setting of the build under test."""
    found = re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found.group(1) if found else ""


VERSION = cache("CMAKE_PROJECT_VERSION")
WITH_MPI = cache("POLYHOP_MPI") == "ON" and os.path.exists(cache("MPI_CXX_HEADER_DIR"))


def build(folder, *settings, tree=None, program="consumer"):
    """Builds one of the projects beside this file the way polyhop was built, and returns what its program prints."""
    tree = WORK / (tree or folder)
    same = [f"-DWANTED_VERSION={VERSION}"]
    same += [f"-D{name}={cache(name)}" for name in ("CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "CMAKE_MAKE_PROGRAM")]
    launcher = cache("CCACHE")
    if launcher and not launcher.endswith("-NOTFOUND"):
        same.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}")
    run(CMAKE, "-S", HERE / folder, "-B", tree, "-G", cache("CMAKE_GENERATOR"), *same, *settings)
    run(CMAKE, "--build", tree)
    return run(tree / program) if program else ""


class Consumer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(PREFIX, ignore_errors=True)
        run(CMAKE, "--install", BUILD, "--prefix", PREFIX)
        headers = sorted(str(p.relative_to(PREFIX / "include")) for p in PREFIX.glob("include/**/*.hpp"))
        cls.headers = headers
        cls.all_headers = WORK / "all_headers.cpp"
        text = "".join(f"#include <{h}>\n" for h in headers)
        if not cls.all_headers.exists() or cls.all_headers.read_text() != text:
            cls.all_headers.write_text(text)

    @unittest.skipUnless(cache("POLYHOP_BUILD_PYTHON") == "ON", "built without Python")
    def test_python_imports_what_was_installed(self):
        # Below a prefix of the system's, such as /usr/local, Debian's Python looks into this folder by itself.
        folder = next(PREFIX.glob("lib/python3*/dist-packages"))
        said = run(cache("Python_EXECUTABLE") or "/usr/bin/python3", "-c", "import polyhop; print(polyhop.__file__, polyhop.__version__)",
                   env={"PYTHONPATH": str(folder)})
        self.assertEqual(said.split(), [str(folder / "polyhop" / "__init__.py"), VERSION])

    def assert_works(self, output):
        self.assertIn("a standard normal: ", output)

    def test_every_header_is_installed(self):
        there = [str(p.relative_to(SOURCE / "src")) for p in SOURCE.glob("src/polyhop/*/*.hpp")]
        there += ["polyhop/polyhop.hpp", "polyhop/command.hpp"] + ([MPI_HEADER] if WITH_MPI else [])
        self.assertEqual(sorted(there), self.headers)

    def test_find_package(self):
        self.assert_works(build("find_package", f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DALL_HEADERS={self.all_headers}"))

    def test_an_earlier_minor_version_is_refused(self):
        major, minor, _ = map(int, VERSION.split("."))
        with self.assertRaises(AssertionError) as refused:
            build("find_package", f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DWANTED_VERSION={major}.{minor - 1}", tree="earlier")
        self.assertIn(f"version: {VERSION}", str(refused.exception))

    def assert_loads(self, tree, output):
        """What the module computes, loaded into this process, is what the program printed."""
        plugin = ctypes.CDLL(str(WORK / tree / "libplugin.so"))
        plugin.standard_normal.restype = ctypes.c_double
        self.assertEqual(f"a standard normal: {plugin.standard_normal(7):.17g}\n", output)

    def test_a_module_that_is_loaded(self):
        self.assert_loads("find_package", build("find_package", f"-DCMAKE_PREFIX_PATH={PREFIX}",
                                                f"-DALL_HEADERS={self.all_headers}"))

    def test_the_component_mpi(self):
        example = SOURCE / "examples" / "cluster.cpp"
        settings = [f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DALL_HEADERS={self.all_headers}", f"-DWITH_MPI={example}"]
        if WITH_MPI:
            self.assert_loads("with_mpi", build("find_package", *settings, tree="with_mpi"))
            self.assertIn("all agree to", run(WORK / "with_mpi" / "consumer_mpi"))
            # From here on as where it was not built.
            (targets,) = PREFIX.glob("**/polyhopMpiTargets.cmake")
            targets.rename(WORK / targets.name)
            self.addCleanup((WORK / targets.name).rename, targets)
        with self.assertRaises(AssertionError) as refused:
            build("find_package", *settings, tree="without_mpi")
        said = " ".join(str(refused.exception).split())
        self.assertIn("The component mpi is not there: this polyhop was built without MPI.", said)

    def test_a_command_of_ones_own(self):
        """A loss with an option and a rule that polyhop does not have, from one file, on threads and on ranks."""
        tree = WORK / "own_command"
        build("own_command", f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DEXAMPLE={SOURCE / 'examples' / 'own_command.cpp'}",
              program=None)
        command, file = tree / "own_command", SOURCE / "examples" / "own_command.toml"
        out = {name: tree / "out" / name for name in ("whole", "longer", "begun", "ranks", "located", "batches")}
        shutil.rmtree(tree / "out", ignore_errors=True)

        def curves(name):
            with open(out[name] / "curves.csv", newline="", encoding="utf-8") as stream:
                rows = list(csv.DictReader(stream))
            return [{k: v for k, v in row.items() if k not in ("seconds", "crossed_vectors", "crossed_scalars")}
                    for row in rows]

        said = run(command, "run", file, "-o", out["whole"], "--quiet")
        self.assertIn("shy, tuned", said)
        page = (out["whole"] / "report.html").read_text(encoding="utf-8")
        for word in ("quantile", "tau", "shy, tuned"):
            self.assertIn(word, page)
        whole = curves("whole")
        self.assertEqual({row["status"] for row in whole if row["method"] == "auto"}, {"done"})
        last = [float(row["excess_risk"]) for row in whole if row["iteration"] == "600"]
        self.assertLess(max(last), 0.1)
        self.assertLess(min(last), 1e-3)
        # Stopped on its way, then taken up again on another number of threads; a search would only begin again.
        text = file.read_text(encoding="utf-8")
        untuned = tree / "untuned.toml"
        untuned.write_text(re.sub(r'\[\[method\]\]\nname = "shy, tuned".*?\n\n', "", text, flags=re.S), encoding="utf-8")
        longer = ["run", untuned, "--quiet", "--set", "iterations=60000", "--set", "record_every=3000"]
        run(command, *longer, "-o", out["longer"])
        begun = _held_run.held(self, [str(c) for c in (command, *longer, "-o", out["begun"], "--threads", "1", "--set",
                                                       "checkpoint_every=0.01")], out["begun"])
        _held_run.interrupted(begun, signal.SIGINT)
        self.assertEqual(begun.returncode, 130)
        run(command, *longer, "-o", out["begun"], "--threads", "2")
        self.assertEqual(curves("begun"), curves("longer"))
        if WITH_MPI:
            run(SOURCE / "tests" / "mpi" / "mpirun", 2, command, "run", file, "-o", out["ranks"], "--quiet")
            self.assertEqual(curves("ranks"), whole)
        # A problem of one's own in the place of data, whose costs no table knows.
        settings = {"source": '"source-location"', "deviation": "0.05", "batch": '"all"'}
        text = re.sub(r"\[problem\].*?\n\n", "[problem]\n" + "".join(f"{k} = {v}\n" for k, v in settings.items()) + "\n",
                      text, flags=re.S)
        (tree / "located.toml").write_text(text, encoding="utf-8")
        run(command, "run", tree / "located.toml", "-o", out["located"], "--quiet")
        located = [float(row["excess_risk"]) for row in curves("located") if row["method"] == "auto"]
        self.assertLess(located[-1], 1e-3 * located[0])
        # By batches, auto keeps a row of every sample, and says so first.
        said = run(command, "run", tree / "located.toml", "-o", out["batches"], "--set", "problem.batch=1", "--set",
                   "iterations=20", "--set", "record_every=20", "--set", "tuning.budget=1")
        remarks = [line for line in said.splitlines() if "remembers its samples' last gradients" in line]
        self.assertEqual(len(remarks), 1, said)
        self.assertRegex(remarks[0], r"^'auto' .*, which takes 768 bytes per run\.$")
        self.assertLess(said.index(remarks[0]), said.index("To reach an excess risk"))
        refused = subprocess.run([command, "check", tree / "located.toml", "--set", "problem.tau=0.5"],
                                 capture_output=True, text=True)
        self.assertEqual(refused.returncode, 3)
        self.assertIn('tau: is not a key of source = "source-location"', refused.stderr)
        self.assertIn("shy", run(command, "methods"))
        self.assertIn("tau", run(command, "fit", "--help"))

    def test_pkg_config(self):
        folder = next(PREFIX.glob("**/polyhop.pc")).parent
        flags = shlex.split(run("pkg-config", "--static", "--cflags", "--libs", "polyhop",
                                env={"PKG_CONFIG_PATH": str(folder)}))
        at = flags.index("-lpolyhop")
        flags[at:at + 1] = ["-Wl,--whole-archive", "-lpolyhop", "-Wl,--no-whole-archive"]
        program = WORK / "by_pkg_config"
        run(cache("CMAKE_CXX_COMPILER"), "-std=c++20", HERE / "main.cpp", "-o", program, *flags)
        self.assert_works(run(program))

    def test_shells_find_completions(self):
        if not (BUILD / "bin" / "polyhop").exists():
            self.skipTest("built without the command line")
        for shell, place in (("bash", "bash-completion/completions/polyhop"), ("zsh", "zsh/site-functions/_polyhop"),
                             ("fish", "fish/vendor_completions.d/polyhop.fish")):
            printed = run(PREFIX / "bin" / "polyhop", "completion", shell)
            self.assertEqual((PREFIX / "share" / place).read_text(), printed)

    def test_the_installed_command_runs(self):
        if not (BUILD / "bin" / "polyhop").exists():
            self.skipTest("built without the command line")
        self.assertIn("polyhop", run(PREFIX / "bin" / "polyhop", "--version"))


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
