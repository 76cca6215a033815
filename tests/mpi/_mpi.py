# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command under mpirun share: starting it, looking at its processes, ending them, comparing."""

import contextlib
import functools
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))

from _polyhop import COMMAND, WIDE, CommandTest, main  # noqa: E402, F401

MPIRUN = pathlib.Path(__file__).resolve().parent / "mpirun"
HANG = 200  # seconds after which a test is not waited for; nothing is decided by it

# What depends on who does the work: time, and what passes between processes.
APART = {"seconds", "crossed_vectors", "crossed_scalars"}

# A run long enough to be met on its way, whose time is arithmetic and not messages.
LONG = """\
name = "long"
seeds = [3]
iterations = 200
record_every = 50
[graph]
topology = "ring"
agents = 6
[problem]
dimension = 1000
samples = 600
batch = "all"
reference = "none"
[[method]]
name = "GAP"
step = "gap"
"""


def facts(pid):
    """The state and the parent of a process; None of one that is not there."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, parent = text.rpartition(")")[2].split()[:2]
    return state, int(parent)


def environment(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


def executable(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


class MpiTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.mark = uuid.uuid4().hex  # in the environment of all that this test starts
        self.addCleanup(self.end_all)

    # Starting and ending.

    def begin(self, ranks, *arguments, command=(COMMAND,), launcher=(MPIRUN,), **options):
        """mpirun on its way; in a session of its own, so that a signal to the test is not one to it."""
        return subprocess.Popen(
            [*launcher, str(ranks), *command, *arguments],
            cwd=self.folder,
            env={**os.environ, "COLUMNS": WIDE, "POLYHOP_TEST_MARK": self.mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )

    def end(self, process):
        """Waits for it; nothing that it started may outlive it."""
        try:
            out, error = process.communicate(timeout=HANG)
        except subprocess.TimeoutExpired:
            self.end_all()
            out, error = process.communicate()
            self.fail(f"it hangs; so far\n{out}\n{error}")
        self.until(lambda: not self.processes())
        return subprocess.CompletedProcess(process.args, process.returncode, out, error)

    def mpi(self, ranks, *arguments, **options):
        return self.end(self.begin(ranks, *arguments, **options))

    def done_mpi(self, ranks, *arguments, **options):
        result = self.mpi(ranks, *arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def until(self, holds):
        """Waits until something holds; a test that waits in vain fails."""
        begin = time.monotonic()
        while not holds():
            self.assertLess(time.monotonic() - begin, HANG, "waited in vain")
            time.sleep(0.005)

    def begin_and_reach_a_checkpoint(self, ranks, *arguments, folder="out", **options):
        # Saved after every iteration it is slow enough to be met on its way.
        process = self.begin(ranks, *arguments, "--set", "checkpoint_every=0.0001", **options)
        log = self.folder / folder / "experiment.sqlite-wal"  # the store is locked, but this one shows that it grows
        self.until(lambda: process.poll() is not None or (log.exists() and log.stat().st_size > 300_000))
        if process.poll() is not None:
            result = self.end(process)
            self.fail(f"it was done too soon: {result.returncode}\n{result.stdout}\n{result.stderr}")
        return process

    # Processes.

    def processes(self):
        """All that this test has started and that are not done."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or environment(entry).get("POLYHOP_TEST_MARK") != self.mark:
                continue
            fact = facts(entry)
            if fact and fact[0] not in "ZX":
                found.append(int(entry))
        return found

    def end_all(self):
        while left := self.processes():
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def worker(self, rank):
        """The process that works for a rank: the child of the one that mpirun has started."""
        for pid in self.processes():
            known = environment(pid)
            number = known.get("OMPI_COMM_WORLD_RANK", known.get("PMI_RANK"))
            parent = facts(pid)
            if number != str(rank) or parent is None or executable(pid) != str(COMMAND):
                continue
            if executable(parent[1]) == str(COMMAND):
                return pid
        self.fail(f"rank {rank} has no process that works")
        return None

    def watcher(self, rank):
        """The process that mpirun has started for a rank."""
        return facts(self.worker(rank))[1]

    # Comparing.

    def said(self, error):
        """What polyhop wrote to the standard error, without what mpirun has to say."""
        return [line for line in error.splitlines() if line.startswith("polyhop: ")]

    def assert_one_message(self, error, *parts):
        lines = self.said(error)
        self.assertEqual(len(lines), 1, error)
        for part in parts:
            self.assertIn(part, lines[0])

    def results(self, folder):
        """The points without what is apart, models, and steps where they were recorded."""
        rows = [{key: row[key] for key in row if key not in APART} for row in self.curves(folder)]
        arrays = {}
        for name in ("models.npz", "steps.npz"):
            path = self.folder / folder / name
            if path.exists():
                with numpy.load(path) as held:
                    arrays.update({(name, key): held[key].tobytes() for key in held})
        return rows, arrays

    def assert_same_bits(self, one, other):
        (rows, arrays), (other_rows, other_arrays) = self.results(one), self.results(other)
        self.assertEqual(rows, other_rows)
        self.assertEqual(arrays.keys(), other_arrays.keys())
        self.assertTrue(any(name == "models.npz" for name, _ in arrays))
        for key, array in arrays.items():
            self.assertEqual(array, other_arrays[key], key)

    @staticmethod
    @functools.cache  # one for all tests of a program
    def _long_run():
        folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(folder.name) / "long.toml"
        path.write_text(LONG)
        subprocess.run([COMMAND, "run", path, "-o", path.with_name("alone"), "--quiet"], check=True, stdout=subprocess.DEVNULL)
        return folder, path.with_name("alone")

    def assert_bits_of_the_long_run(self, folder):
        """Those of a run by hand, that nothing happened to."""
        self.assert_same_bits(MpiTest._long_run()[1], folder)

    def assert_store_is_whole(self, folder):
        with contextlib.closing(sqlite3.connect(self.folder / folder / "experiment.sqlite")) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.done("report", folder)
        self.done("export", folder, "-o", "looked-at")

    def assert_no_scraps(self, folder="."):
        """No half-written files."""
        scraps = [name for name in self.listing(folder) if name.endswith((".tmp", "-wal", "-shm", "-journal"))]
        self.assertEqual(scraps, [])
