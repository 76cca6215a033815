# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""private_test.py POLYHOP: from files of the agents' own, no number of a sample is ever sent.

A spy (spy.cpp) writes down whatever each rank sends. Samples are random numbers, so that none of them turns up by
chance.
"""

import os
import pathlib
import re
import shutil
import subprocess

import _mpi
import numpy
from _mpi import COMMAND, MpiTest

SPY = pathlib.Path(os.environ["POLYHOP_SPY_LIBRARY"])
SITES, ROWS, FEATURES = 3, 40, 4

# What the command may call of MPI besides what the spy watches: nothing that carries numbers or texts of the caller's.
CARRIES_NOTHING = {
    "MPI_Abort", "MPI_Cancel", "MPI_Comm_dup", "MPI_Comm_free", "MPI_Comm_rank", "MPI_Comm_set_errhandler",
    "MPI_Comm_size", "MPI_Comm_test_inter", "MPI_Finalize", "MPI_Finalized",
    "MPI_Get_count", "MPI_Get_library_version", "MPI_Get_processor_name", "MPI_Ibarrier", "MPI_Init_thread",
    "MPI_Initialized", "MPI_Iprobe", "MPI_Irecv", "MPI_Query_thread", "MPI_Recv", "MPI_Recv_init", "MPI_Test",
    "MPI_Testall", "MPI_Wait",
}  # fmt: skip

EXPERIMENT = """\
name = "private"
seeds = [1]
iterations = 40
record_every = 10
checkpoint_every = 0.0001
[graph]
topology = "path"
agents = 3
[problem]
source = "file"
data = "DATA"
loss = "LOSS"
l2 = 0.1
batch = BATCH
[[method]]
name = "GAP"
step = "gap"
[[method]]
name = "tight"
step = { rule = "gap", bound = "tight", damping = "norms" }
[[method]]
name = "tracking"
algorithm = "gradient-tracking"
step = { rule = "constant", value = 0.01 }
"""


def watched():
    return set(re.findall(r"^int (MPI_\w+)\(", (pathlib.Path(__file__).parent / "spy.cpp").read_text("utf-8"), re.M))


class Sent:
    """All that the ranks of one run sent."""

    def __init__(self, folder):
        contents = [path.read_bytes() for path in sorted(folder.iterdir())]
        self.ranks = {int(path.name.split(".")[0]) for path in folder.iterdir()}
        self.text = b"\n".join(contents)
        numbers = []
        for content in contents:
            for offset in range(8):  # a number may stand anywhere
                count = (len(content) - offset) // 8
                numbers.append(numpy.frombuffer(content, "<f8", max(count, 0), offset))
        numbers = numpy.concatenate(numbers)
        with numpy.errstate(all="ignore"):
            self.sizes = numpy.unique(numpy.abs(numbers[numpy.isfinite(numbers)]))

    def holds(self, values):
        """Which of the values were sent as a number, with either sign, up to rounding; or as text."""
        sizes = numpy.abs(values)
        at = numpy.searchsorted(self.sizes, sizes * (1 - 1e-13))
        near = self.sizes[numpy.minimum(at, len(self.sizes) - 1)]
        found = numpy.abs(near - sizes) <= 1e-13 * sizes
        return [x for x, is_found in zip(values, found) if is_found or repr(float(abs(x)))[:12].encode() in self.text]


class Private(MpiTest):
    def setUp(self):
        super().setUp()
        draw = numpy.random.default_rng(5)
        lines = []
        self.samples = draw.standard_normal((SITES, ROWS, FEATURES + 1))
        self.samples[:, :, 1] = 40 + 10 * self.samples[:, :, 1]
        for site, rows in enumerate(self.samples):
            own = [",".join(repr(float(x)) for x in row) + "\n" for row in rows]
            self.put(f"site-{site}.csv", "a,b,c,d,y\n" + "".join(own))
            lines += own
            named = [line.rpartition(",")[0] + (",yes\n" if row[-1] > 0 else ",no\n") for line, row in zip(own, rows)]
            self.put(f"words-{site}.csv", "a,b,c,d,y\n" + "".join(named))
        self.put("all.csv", "a,b,c,d,y\n" + "".join(lines))
        pooled = self.samples[:, :, :FEATURES].reshape(-1, FEATURES)
        self.standardised = (pooled - pooled.mean(0)) / pooled.std(0)

    def spied(self, *arguments):
        """What three ranks send; whether they say so or not, they end well or at the last iteration."""
        folder = self.folder / "sent"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        command = ("env", f"LD_PRELOAD={SPY}", f"POLYHOP_SPY={folder}", COMMAND)
        result = self.mpi(SITES, *arguments, "--quiet", command=command)
        self.assertIn(result.returncode, (0, 4), result.stderr)
        sent = Sent(folder)
        self.assertEqual(sent.ranks, set(range(SITES)))
        return sent

    def spied_run(self, loss, batch, data, *more):
        text = EXPERIMENT.replace("DATA", data).replace("LOSS", loss).replace("BATCH", batch)
        self.put("private.toml", text)
        sent = self.spied("run", "private.toml", "-o", "out", "--fresh", *more)
        self.done("export", "out", "-o", "exported")
        with numpy.load(self.folder / "exported" / "models.npz") as held:
            models = numpy.concatenate([held[key][1:].ravel() for key in held])
        # The spy has eyes: it sees the first rank being sent the models of the others.
        self.assertEqual(len(sent.holds(models)), len(models))
        return sent

    def assert_private(self, sent):
        self.assertEqual(sent.holds(self.samples.ravel()), [])
        self.assertEqual(sent.holds(self.standardised.ravel()), [])

    def test_the_spy_stands_before_all_that_is_sent(self):
        symbols = subprocess.run(["nm", "-D", "--undefined-only", COMMAND], check=True, capture_output=True, text=True)
        called = set(re.findall(r"\b(MPI_[A-Z]\w*[a-z]\w*)", symbols.stdout))
        self.assertLessEqual({"MPI_Isend", "MPI_Startall"}, called)
        self.assertEqual(called - CARRIES_NOTHING - watched(), set(), "is it watched?")

    def test_a_run(self):
        for loss, batch, data, more in (
            ("least-squares", '"all"', "site-{agent}.csv", []),
            ("least-squares", "1", "site-{agent}.csv", []),
            ("huber", '"all"', "site-{agent}.csv", ["--set", "problem.standardise=true"]),
            ("logistic", '"all"', "words-{agent}.csv", ["--set", "problem.intercept=true"]),
            ("softmax", '"all"', "words-{agent}.csv", ["--threads", "2"]),
        ):
            with self.subTest(loss=loss, batch=batch, more=more):
                self.assert_private(self.spied_run(loss, batch, data, *more))

    def test_without_a_penalty(self):
        for loss, data in (("least-squares", "site-{agent}.csv"), ("logistic", "words-{agent}.csv")):
            with self.subTest(loss=loss):
                self.assert_private(self.spied_run(loss, '"all"', data, "--set", "problem.l2=0"))

    def test_one_file_for_all_is_seen_to_be_gathered(self):
        sent = self.spied_run("least-squares", '"all"', "all.csv")
        # The first rank, where they are gathered, sends none of its own third.
        self.assertEqual(len(sent.holds(self.samples.ravel())), self.samples.size * (SITES - 1) // SITES)

    def test_a_fit(self):
        for loss, data, more in (
            ("least-squares", "site-{agent}.csv", []),
            ("least-squares", "site-{agent}.csv", ["--method", "exact-diffusion"]),
            ("least-squares", "site-{agent}.csv", ["--standardise", "--held-out", "0.2"]),
            ("logistic", "words-{agent}.csv", ["--standardise"]),
            ("softmax", "words-{agent}.csv", ["--held-out", "0.2", "--iterations", "100"]),
        ):
            with self.subTest(loss=loss, more=more):
                flags = ["fit", data, "--agents", str(SITES), "--graph", "path", "--loss", loss, "--l2", "0.1"]
                sent = self.spied(*flags, *more, "-o", "model.npz")
                self.assert_private(sent)
                if more:
                    continue
                # The last site is a leaf of the tree: it sends the sums of its own columns.
                sums = self.samples[-1, :, :FEATURES].sum(axis=0)
                self.assertEqual(len(sent.holds(sums)), len(sums))

    def test_one_process_gives_the_same_bits(self):
        self.put("private.toml", EXPERIMENT.replace("DATA", "site-{agent}.csv").replace("LOSS", "least-squares")
                 .replace("BATCH", '"all"'))  # fmt: skip
        self.done("run", "private.toml", "-o", "alone", "--quiet")
        for ranks in (2, 3):
            self.done_mpi(ranks, "run", "private.toml", "-o", "ranks", "--quiet", "--fresh")
            self.assert_same_bits("alone", "ranks")


if __name__ == "__main__":
    _mpi.main()
