# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""What the documents show works: `python3 documents_test.py PATH_TO_polyhop`.

Every TOML block of the documents runs as an experiment (two seeds, a few iterations), every example file is read, and
every rule that a document writes down as { rule = ... } is one that polyhop takes.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

POLYHOP = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BASE = """
[graph]
topology = "ring"
agents = 4
[problem]
dimension = 6
samples = 2
"""


def run(text, *more):
    """Runs an experiment given as a text; the finished process."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "experiment.toml"
        file.write_text(text)
        command = [POLYHOP, "run", file, "-o", f"{folder}/out", "--quiet", "--set", "iterations=20", *more]
        return subprocess.run(command, capture_output=True, text=True)


def is_installed(name):
    listed = subprocess.run([POLYHOP, "data", "--json"], check=True, capture_output=True, text=True).stdout
    return next(entry["installed"] for entry in json.loads(listed) if entry["name"] == name)


class DocumentsTest(unittest.TestCase):
    def test_every_toml_block_runs(self):
        blocks = [(d.name, b) for d in DOCUMENTS for b in re.findall(r"```toml\n(.*?)```", d.read_text(), re.DOTALL)]
        self.assertTrue(blocks)
        for name, block in blocks:
            with self.subTest(document=name, block=block[:60]):
                done = run(block, "--seeds", "0..1")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_example_file_runs(self):
        # One beside a program of its name is that program's: the consumer test runs it.
        files = [f for f in sorted((ROOT / "examples").glob("*.toml")) if not f.with_suffix(".cpp").exists()]
        self.assertTrue(files)
        for file in files:
            with self.subTest(file=file.name):
                done = run(file.read_text(), "--seeds", "0..1")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_example_on_a_bundled_set_runs(self):
        files = sorted((ROOT / "examples" / "bundled").glob("*.toml"))
        self.assertTrue(files)
        index = (ROOT / "examples" / "README.md").read_text()
        for file in files:
            with self.subTest(file=file.name):
                self.assertIn(f"(bundled/{file.name})", index)
                if is_installed(re.search(r'^source = "(.+)"', file.read_text(), re.MULTILINE).group(1)):
                    done = run(file.read_text())
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_fit_written_down_runs(self):
        texts = [d.read_text() for d in (ROOT / "README.md", ROOT / "examples" / "README.md")]
        fits = {line.strip() for text in texts for line in re.findall(r"^    (?:\$ )?(polyhop fit .*)$", text, re.MULTILINE)}
        self.assertGreaterEqual(len(fits), 5)
        for fit in sorted(fits):
            name, *arguments = shlex.split(fit, comments=True)[2:]
            if name.endswith(".csv") or not is_installed(name):  # a reader's own file, or one that is not here
                continue
            with self.subTest(fit=fit), tempfile.TemporaryDirectory() as folder:
                # Too few iterations to converge, which is told by 4.
                few = [] if "--iterations" in arguments else ["--iterations", "20"]
                command = [POLYHOP, "fit", name, *arguments, *few, "--quiet"]
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
                self.assertIn(done.returncode, (0, 4), done.stderr)

    def test_every_rule_written_down_is_one(self):
        steps = {s for d in DOCUMENTS for s in re.findall(r"`(?:step = )?(\{ rule = [^`]*\})`", d.read_text()) if "..." not in s}
        self.assertTrue(steps)
        for step in steps:
            with self.subTest(step=step):
                done = run(f"{BASE}\n[[method]]\nstep = {step}\n")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_readme_shows_the_columns_of_the_table(self):
        shown = re.search(r"^ +# +method +iterations.*$", (ROOT / "README.md").read_text(), re.MULTILINE).group().split()
        more = f"target = 1e-9\n{BASE}\n[tuning]\nbudget = 2\n[[method]]\nstep = \"tuned\"\n"
        printed = run(more).stdout
        self.assertIn(" ".join(shown), " ".join(printed.split()))


if __name__ == "__main__":
    unittest.main()
