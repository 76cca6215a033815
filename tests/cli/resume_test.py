# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that are killed, interrupted and taken up again: `python3 resume_test.py PATH_TO_polyhop`."""

import contextlib
import csv
import os
import pathlib
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import _held_run

POLYHOP = pathlib.Path(sys.argv.pop(1)).resolve()
EXPERIMENT = """
name = "long"
seeds = "0..1"
iterations = 60000
record_every = 1000
checkpoint_every = 0.02
[graph]
topology = "ring"
agents = 6
[problem]
dimension = 40
samples = 4
sampling = "shuffle"
[[method]]
name = "GAP"
step = "gap"
[[method]]
name = "capped"
step = { rule = "gap", bound = "tight", damping = "rows", project = true, cap = "distance" }
"""


class ResumeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.file = self.root / "long.toml"
        self.file.write_text(EXPERIMENT)

    def command(self, out, *more):
        return [POLYHOP, "run", self.file, "-o", self.root / out, "--quiet", *more]

    def run_whole(self, out, *more):
        done = subprocess.run(self.command(out, *more), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def start(self, out):
        """A run that is held after it has committed something."""
        return _held_run.held(self, self.command(out), self.root / out)

    def results(self, out):
        with (self.root / out / "curves.csv").open() as file:
            rows = [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]
        models = dict(np.load(self.root / out / "models.npz"))
        return rows, models

    def assert_same(self, a, b):
        (rows_a, models_a), (rows_b, models_b) = self.results(a), self.results(b)
        self.assertEqual(rows_a, rows_b)
        self.assertEqual(models_a.keys(), models_b.keys())
        for name, model in models_a.items():
            self.assertTrue(np.array_equal(model, models_b[name]), name)

    def test_killed_again_and_again_it_ends_at_the_same_bits(self):
        self.run_whole("whole")
        for _ in range(4):
            process = self.start("killed")
            process.kill()
            process.communicate()
            self.assertEqual(process.returncode, -signal.SIGKILL)
        self.run_whole("killed")
        self.assert_same("whole", "killed")

    def test_what_a_killed_run_left_half_written_is_removed_by_the_next(self):
        def half_written():
            return sorted(path.name for path in (self.root / "killed").glob(".*.tmp"))

        process = self.start("killed")
        process.kill()
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL, "it was done before it could be killed")
        self.assertNotEqual(half_written(), [])
        self.run_whole("killed")
        self.assertEqual(half_written(), [])

    def test_a_signal_makes_it_save_report_and_say_how_to_go_on(self):
        self.run_whole("whole")
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("stopped")
            out = _held_run.interrupted(process, number)
            self.assertEqual(process.returncode, 128 + number)
            self.assertIn("run the same command to continue", out)
            self.assertTrue((self.root / "stopped" / "curves.csv").exists())
        self.run_whole("stopped")
        self.assert_same("whole", "stopped")

    def test_a_second_run_at_the_same_time_is_refused(self):
        self.start("busy")
        second = subprocess.run(self.command("busy"), capture_output=True, text=True)
        self.assertEqual(second.returncode, 3)
        self.assertIn("in use by another run; wait until that run ends, or choose another folder", second.stderr)
        report = subprocess.run([POLYHOP, "report", self.root / "busy"], capture_output=True, text=True)
        self.assertEqual(report.returncode, 3)
        self.assertIn("in use by another run; wait until that run ends\n", report.stderr)

    def test_fresh_forgets_and_a_folder_of_others_is_left_alone(self):
        self.run_whole("a", "--set", "iterations=500")
        before = self.results("a")
        # What was run is not run again, whatever its points are by now, unless it is forgotten.
        with contextlib.closing(sqlite3.connect(self.root / "a" / "experiment.sqlite")) as database, database:
            database.execute("UPDATE points SET excess_risk = 7")
        self.run_whole("a", "--set", "iterations=500")
        self.assertEqual({row["excess_risk"] for row in self.results("a")[0]}, {"7"})
        self.run_whole("a", "--fresh", "--set", "iterations=500")
        self.assertEqual(before[0], self.results("a")[0])
        other = self.root / "mine"
        other.mkdir()
        (other / "letter.txt").write_text("dear")
        done = subprocess.run(self.command("mine"), capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertIn("letter.txt", done.stderr)
        self.assertEqual(os.listdir(other), ["letter.txt"])

    def test_a_folder_of_another_experiment_is_refused_unless_fresh(self):
        self.run_whole("a", "--set", "iterations=500")
        before = {path.name: path.read_bytes() for path in (self.root / "a").iterdir()}
        other = ("--set", "iterations=300", "--set", "name=other")
        done = subprocess.run(self.command("a", *other), capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"'{self.root / 'a'}' holds the experiment 'long', not 'other'; choose another folder with -o, "
                      "or forget what is there with --fresh", done.stderr)
        after = {path.name: path.read_bytes() for path in (self.root / "a").iterdir()}
        self.assertEqual(before.keys(), after.keys())
        for name in before.keys() - {"experiment.sqlite"}:
            self.assertEqual(before[name], after[name], name)
        self.run_whole("a", "--set", "iterations=300")
        self.assertEqual({row["experiment"] for row in self.results("a")[0]}, {"long"})
        self.run_whole("a", *other, "--fresh")
        self.assertEqual({row["experiment"] for row in self.results("a")[0]}, {"other"})
        self.run_whole("a", *other)

    def test_runs_of_another_precision_are_refused_unless_fresh(self):
        self.run_whole("a", "--set", "iterations=500")
        single = ("--set", "iterations=500", "--set", "problem.precision=single")
        done = subprocess.run(self.command("a", *single), capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertIn('problem.precision: found "single", but ', done.stderr)
        self.assertIn('experiment.sqlite holds runs of "double"; choose another folder with -o, or start over '
                      "with --fresh", done.stderr)
        self.run_whole("a", "--set", "iterations=500")
        double = self.results("a")[1]
        self.run_whole("a", *single, "--fresh")
        rounded = self.results("a")[1]
        self.assertFalse(all(np.array_equal(double[name], rounded[name]) for name in double))
        for name in rounded:
            if not name.endswith("/averaged"):
                np.testing.assert_array_equal(rounded[name], rounded[name].astype(np.float32), name)

    def test_a_store_of_another_version_is_refused_and_left_as_it_is(self):
        other = self.root / "other"
        other.mkdir()
        store = other / "experiment.sqlite"
        with contextlib.closing(sqlite3.connect(store)) as database:
            database.execute("CREATE TABLE a (b)")
            database.execute("PRAGMA user_version = 99")
        before = store.read_bytes()
        for command in (self.command("other"), [POLYHOP, "report", other], [POLYHOP, "export", other, "-o", self.root / "t"]):
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 3, command)
            self.assertIn("another version of polyhop", done.stderr)
        with contextlib.closing(sqlite3.connect(store)) as database:
            self.assertEqual(database.execute("PRAGMA user_version").fetchone(), (99,))
            self.assertEqual(database.execute("SELECT name FROM sqlite_master").fetchall(), [("a",)])
        self.assertLessEqual(len(before), len(store.read_bytes()))

    def test_without_room_it_says_so_and_what_was_committed_is_kept(self):
        self.run_whole("whole")

        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

        full = subprocess.run(self.command("limited"), capture_output=True, text=True, preexec_fn=limited)
        self.assertEqual(full.returncode, 6)
        self.assertRegex(full.stderr, "the disk is full|File too large")
        self.assertGreater(_held_run.committed_points(self.root / "limited"), 0)
        self.run_whole("limited")
        self.assert_same("whole", "limited")

    def test_a_full_disk_is_told_and_what_was_committed_is_kept(self):
        small = self.root / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", small], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("a small file system cannot be mounted here")
        try:
            full = subprocess.run(self.command("small/x"), capture_output=True, text=True)
            self.assertEqual(full.returncode, 6)
            self.assertRegex(full.stderr, "the disk is full|No space left")
            subprocess.run(["mount", "-o", "remount,size=100m", small], check=True)
            self.run_whole("small/x")
            self.run_whole("whole")
            self.assert_same("whole", "small/x")
        finally:
            subprocess.run(["umount", small], check=True)


if __name__ == "__main__":
    unittest.main()
