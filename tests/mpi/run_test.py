# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""run_test.py POLYHOP: `mpirun polyhop run` does what `polyhop run` does, with the same bits, for any number of ranks."""

import os
import signal

import _mpi
from _mpi import COMMAND, LONG, MpiTest, executable

# Random graphs and data, rules that talk along the edges, a search for a constant, an algorithm with more state.
MANY = """\
name = "many"
seeds = "0..1"
iterations = 20
record_every = 7
[graph]
topology = "erdos-renyi"
agents = 9
probability = 0.4
[problem]
dimension = 6
samples = 5
[record]
steps = "agents"
[tuning]
budget = 3
[[method]]
name = "auto"
step = "auto"
[[method]]
name = "GAP"
step = "gap"
[[method]]
name = "tuned"
step = "tuned"
[[method]]
name = "exact"
algorithm = "exact-diffusion"
step = { rule = "constant", value = 0.02 }
[[method]]
name = "remembering"
algorithm = "exact-diffusion"
step = { rule = "constant", value = 0.02 }
gradient = ["saga", "lsvrg"]
"""

# The same where messages are lost: lists over two hops, numbers, sums over the tree.
LOSSY = MANY.replace("[record]", "[faults]\ndrop = 0.2\n[record]")

SINGLE = MANY.replace("[record]", 'precision = "single"\n[record]')

# Agents at different ends, and rules whose traffic differs.
ONE_EACH = """\
name = "one-each"
seeds = [1]
iterations = 6
record_every = 2
[graph]
topology = "path"
agents = 4
[problem]
dimension = 3
samples = 4
[[method]]
name = "GAP"
step = { rule = "gap", products = "computed" }
[[method]]
name = "constant"
step = { rule = "constant", value = 0.05 }
"""


class Run(MpiTest):
    def setUp(self):
        super().setUp()
        self.put("many.toml", MANY)
        self.put("long.toml", LONG)

    def run_alone(self, file, folder, *more):
        return self.done("run", file, "-o", folder, "--quiet", *more)

    def run_with(self, ranks, file, folder, *more):
        return self.done_mpi(ranks, "run", file, "-o", folder, "--quiet", *more)

    def test_any_number_of_ranks_gives_the_same_bits(self):
        self.run_alone("many.toml", "alone")
        self.done("export", "alone", "-o", "alone-exported")
        for ranks, more in (
            (2, ["--threads", "2"]),
            (3, ["--placement", "metis"]),
            (3, ["--threads", "2", "--placement", "metis"]),
            (4, []),
        ):
            with self.subTest(ranks=ranks, more=more):
                self.run_with(ranks, "many.toml", "ranks", "--fresh", *more)
                self.assert_same_bits("alone", "ranks")
                self.done("export", "ranks", "-o", "ranks-exported")
                self.assert_same_bits("alone-exported", "ranks-exported")
                self.assertTrue((self.folder / "ranks-exported" / "steps.npz").exists())
                self.assert_no_scraps()

    def test_the_same_messages_are_lost_whoever_has_the_agents(self):
        self.put("lossy.toml", LOSSY)
        self.run_alone("lossy.toml", "alone", "--threads", "1")
        for ranks, more in ((2, ["--threads", "2"]), (3, ["--placement", "metis"])):
            with self.subTest(ranks=ranks, more=more):
                self.run_with(ranks, "lossy.toml", "ranks", "--fresh", *more)
                self.assert_same_bits("alone", "ranks")

    def test_single_precision_has_the_same_bits_too(self):
        self.put("single.toml", SINGLE)
        self.run_alone("single.toml", "alone", "--threads", "1")
        for ranks, more in ((2, ["--threads", "2"]), (3, ["--placement", "metis"])):
            with self.subTest(ranks=ranks, more=more):
                self.run_with(ranks, "single.toml", "ranks", "--fresh", *more)
                self.assert_same_bits("alone", "ranks")

    def test_a_run_that_was_stopped_goes_on_with_another_number_of_ranks(self):
        self.run_alone("long.toml", "alone")
        for number, ranks, then in ((signal.SIGUSR1, 3, 2), (signal.SIGTERM, 2, 4)):
            with self.subTest(signal=number):
                folder = f"stopped-{number}"
                process = self.begin_and_reach_a_checkpoint(
                    ranks, "run", "long.toml", "-o", folder, "--quiet", folder=folder
                )
                process.send_signal(number)
                result = self.end(process)
                self.assertNotEqual(result.returncode, 0)
                self.assertEqual(self.said(result.stderr), [])
                self.assert_store_is_whole(folder)
                self.run_with(then, "long.toml", folder)
                self.assert_same_bits("alone", folder)

    def test_stopped_it_saves_reports_and_says_how_to_go_on(self):
        process = self.begin_and_reach_a_checkpoint(3, "run", "long.toml", "-o", "out", "--quiet")
        process.send_signal(signal.SIGUSR1)  # which mpirun passes on and has no opinion of
        result = self.end(process)
        self.assertEqual(result.returncode, 128 + signal.SIGUSR1, result.stderr)
        self.assertEqual(result.stdout.count("run the same command to continue"), 1)
        self.assertTrue((self.folder / "out" / "curves.csv").exists())
        self.assert_no_scraps()

    def test_a_signal_to_every_process_is_one_signal(self):
        # As Slurm sends it: to those that mpirun started, and to those that they started.
        process = self.begin_and_reach_a_checkpoint(2, "run", "long.toml", "-o", "out", "--quiet")
        for pid in [p for p in self.processes() if executable(p) == str(COMMAND)]:
            os.kill(pid, signal.SIGUSR1)
        result = self.end(process)
        self.assertEqual(result.returncode, 128 + signal.SIGUSR1, result.stderr)
        self.assertEqual(result.stdout.count("run the same command to continue"), 1, result.stderr)

    def test_a_store_begun_by_hand_goes_on_under_mpirun_and_the_other_way_round(self):
        self.run_alone("many.toml", "alone")
        # The seeds are cells of their own: those that are there are not run again.
        self.run_alone("many.toml", "by-hand", "--seeds", "0")
        self.run_with(3, "many.toml", "by-hand")
        self.assert_same_bits("alone", "by-hand")
        self.run_with(2, "many.toml", "by-ranks", "--seeds", "1")
        self.run_alone("many.toml", "by-ranks")
        self.assert_same_bits("alone", "by-ranks")

    def test_a_checkpoint_of_ranks_goes_on_by_hand_and_the_other_way_round(self):
        self.run_alone("long.toml", "alone")
        process = self.begin_and_reach_a_checkpoint(3, "run", "long.toml", "-o", "ranks", "--quiet", folder="ranks")
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(self.end(process).returncode, 128 + signal.SIGUSR1)
        self.run_alone("long.toml", "ranks")
        self.assert_same_bits("alone", "ranks")
        # With one rank it is as if it were started by hand.
        process = self.begin_and_reach_a_checkpoint(1, "run", "long.toml", "-o", "hand", "--quiet", folder="hand")
        process.send_signal(signal.SIGUSR1)
        self.end(process)
        self.run_with(2, "long.toml", "hand", "--placement", "metis")
        self.assert_same_bits("alone", "hand")

    def test_the_first_rank_alone_speaks(self):
        result = self.done_mpi(3, "run", "many.toml", "-o", "out")
        self.assertEqual(result.stdout.count("many: 12 runs"), 1, result.stdout)
        self.assertEqual(result.stdout.count("The page: out/report.html"), 1)
        self.assertNotIn("\033", result.stdout)
        self.assertEqual(result.stderr.count("12/12 runs"), 1, result.stderr)
        by_hand = self.done("methods").stdout
        self.assertEqual(self.done_mpi(3, "methods").stdout.replace("\r", ""), by_hand)

    def test_with_one_agent_a_rank_all_traffic_crosses_ranks(self):
        self.put("one-each.toml", ONE_EACH)
        self.run_with(4, "one-each.toml", "out")
        rows = self.curves()
        self.assertEqual({row["method"] for row in rows}, {"GAP", "constant"})
        for row in rows:
            self.assertEqual((row["crossed_vectors"], row["crossed_scalars"]), (row["vectors"], row["scalars"]))
        self.assertGreater(int(rows[-1]["vectors"]), 0)

    def test_within_a_rank_nothing_crosses(self):
        self.put("one-each.toml", ONE_EACH)
        self.run_alone("one-each.toml", "alone")
        self.run_with(2, "one-each.toml", "out")
        self.assertEqual({row["crossed_vectors"] for row in self.curves("alone")}, {"0"})
        for row in self.curves():
            if row["method"] == "constant":  # of a path's three edges one joins the two ranks
                self.assertEqual(3 * int(row["crossed_vectors"]), int(row["vectors"]))

    def test_several_experiments_are_compared(self):
        self.put("one-each.toml", ONE_EACH)
        self.done("run", "e.toml", "one-each.toml", "-o", "alone", "--quiet")
        result = self.done_mpi(3, "run", "e.toml", "one-each.toml", "-o", "ranks", "--quiet")
        self.assertEqual(result.stdout.count("one-each"), self.done("run", "e.toml", "one-each.toml", "-o", "alone",
                                                                    "--quiet").stdout.count("one-each"))
        for name in ("tiny", "one-each"):
            self.assert_same_bits(f"alone/{name}", f"ranks/{name}")


if __name__ == "__main__":
    _mpi.main()
