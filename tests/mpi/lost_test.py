# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""lost_test.py POLYHOP: ranks that are killed or fall silent end the job, and what was saved goes on to the same bits."""

import os
import pathlib
import signal
import time

import _mpi
from _mpi import LONG, MpiTest


class Lost(MpiTest):
    def setUp(self):
        super().setUp()
        self.put("long.toml", LONG)

    def begin_long(self, ranks, *more):
        return self.begin_and_reach_a_checkpoint(ranks, "run", "long.toml", "-o", "out", "--quiet", *more)

    def goes_on(self, ranks):
        """What is there is whole, and ends with the bits of a run that nothing happened to."""
        self.assert_store_is_whole("out")
        self.done_mpi(ranks, "run", "long.toml", "-o", "out", "--quiet")
        self.assert_bits_of_the_long_run("out")

    def test_a_killed_rank_ends_the_job_and_fewer_go_on(self):
        for rank, then in ((2, 2), (0, 3)):
            with self.subTest(rank=rank):
                process = self.begin_long(3, "--fresh")
                # As long as no other rank counts as lost: it is the kill that ends the job, not silence.
                os.kill(self.worker(rank), signal.SIGKILL)
                result = self.end(process)
                self.assertEqual(result.returncode, 5, result.stderr)
                self.assert_one_message(result.stderr, f"rank {rank} on {os.uname().nodename} was killed by signal 9",
                                        "resumes from the last checkpoint")
                self.goes_on(then)

    def test_a_rank_that_crashes_is_told_by_its_signal(self):
        process = self.begin_long(2)
        os.kill(self.worker(1), signal.SIGSEGV)
        result = self.end(process)
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assert_one_message(result.stderr, "rank 1 on ", "signal 11")
        self.goes_on(2)

    def test_a_fit_that_loses_a_rank_writes_no_model(self):
        self.put("d.csv", "a,b,y\n" + "".join(f"{n % 7},{n % 5},{n % 3}\n" for n in range(60)))
        process = self.begin(3, "fit", "d.csv", "--agents", "6", "--method", "exact-diffusion", "--tolerance", "1e-300",
                             "--iterations", "1000000000")
        plan = [process.stderr.readline() for _ in range(2)]
        self.assertIn("exact diffusion", plan[0])
        self.assertIn("iteration ", process.stderr.readline())  # it is on its way
        os.kill(self.worker(1), signal.SIGKILL)
        result = self.end(process)
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assert_one_message(result.stderr, "rank 1 on ", "was killed by signal 9", "Nothing was saved")
        self.assertFalse((self.folder / "model.npz").exists())

    def test_a_silent_rank_ends_the_job_with_its_name(self):
        process = self.begin_long(3, "--peer-timeout", "2")
        silent = self.worker(1)
        os.kill(silent, signal.SIGSTOP)
        result = self.end(process)
        self.assertEqual(result.returncode, 5, result.stderr)
        lines = self.said(result.stderr)
        # Each of its neighbours may be the one that tells.
        self.assertGreaterEqual(len(lines), 1, result.stderr)
        for line in lines:
            self.assertRegex(line, f"rank 1 on {os.uname().nodename} has been silent for [0-9]+ s; rank [02] on ")
        self.assertRegex(lines[0], "along the edge from agent [23] to agent [14]")
        self.goes_on(2)

    def test_a_rank_whose_watcher_is_killed_says_so(self):
        process = self.begin_long(3)
        os.kill(self.watcher(1), signal.SIGKILL)
        result = self.end(process)
        # It was mpirun's own child that was killed, and mpirun ends with that.
        self.assertIn(result.returncode, (5, 128 + signal.SIGKILL), result.stderr)
        self.assert_one_message(result.stderr, f"the process that watches over rank 1 on {os.uname().nodename} was killed",
                                "resumes from the last checkpoint")
        self.goes_on(2)

    def test_a_stopped_rank_whose_watcher_is_killed_ends_too(self):
        process = self.begin_long(2)
        watcher = self.watcher(1)
        worker = self.worker(1)
        os.kill(worker, signal.SIGSTOP)
        self.until(lambda: all(task.read_text().rpartition(")")[2].split()[0] == "T"
                               for task in pathlib.Path(f"/proc/{worker}/task").glob("*/stat")))
        os.kill(watcher, signal.SIGKILL)
        self.end(process)  # nothing is left
        self.goes_on(2)

    def test_a_watcher_that_is_stopped_is_woken_and_the_job_ends_well(self):
        process = self.begin_long(3)
        paused = self.worker(0)
        os.kill(paused, signal.SIGSTOP)  # so that the job does not end before anybody looks
        os.kill(self.watcher(1), signal.SIGSTOP)
        said = process.stderr.readline()
        os.kill(paused, signal.SIGCONT)
        self.assertIn(f"the process that watches over rank 1 on {os.uname().nodename} was stopped; it was woken", said)
        result = self.end(process)
        self.assertEqual((result.returncode, self.said(result.stderr)), (0, []), result.stderr)
        self.assert_bits_of_the_long_run("out")

    def test_a_rank_that_comes_back_in_time_costs_only_time(self):
        process = self.begin_long(3, "--peer-timeout", "60")
        paused = self.worker(1)
        os.kill(paused, signal.SIGSTOP)
        os.kill(self.worker(0), signal.SIGPIPE)  # as after a write to a connection that is gone
        time.sleep(1)  # the others wait for it
        self.assertIsNone(process.poll())
        os.kill(paused, signal.SIGCONT)
        result = self.end(process)
        self.assertEqual((result.returncode, self.said(result.stderr)), (0, []), result.stderr)
        self.assert_bits_of_the_long_run("out")

    def test_a_job_that_is_stopped_as_a_whole_goes_on(self):
        process = self.begin_long(2, "--peer-timeout", "1")
        workers = [self.worker(rank) for rank in range(2)]
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        time.sleep(3)  # longer than anyone may be silent
        for worker in workers:
            os.kill(worker, signal.SIGCONT)
        result = self.end(process)
        self.assertEqual((result.returncode, self.said(result.stderr)), (0, []), result.stderr)


if __name__ == "__main__":
    _mpi.main()
