# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""bad_test.py POLYHOP: of what is wrong, on all ranks or on one, the job says one sentence, and every rank ends."""

import re

import _mpi
from _mpi import COMMAND, LONG, MpiTest

# On one rank other words than on the others: AS_RANK RANK OTHERS... -- COMMAND; OTHERS replace the last words.
AS_RANK = """\
#!/usr/bin/python3
import os, sys
rank, *words = sys.argv[1:]
border = words.index("--")
others, command = words[:border], words[border + 1:]
if os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK")) == rank:
    command[len(command) - len(others):] = others
os.execv(command[0], command)
"""

# One rank is there and never joins the others: STAYS_AWAY RANK COMMAND... (One that ends makes mpirun end the job, or not,
# by whether others have joined yet.)
STAYS_AWAY = """\
#!/bin/sh
rank=$1
shift
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = "$rank" ] && exec sleep 100
exec "$@"
"""

# Each rank in a folder of its own: IN_FOLDER COMMAND...
IN_FOLDER = """\
#!/bin/sh
cd "host-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && exec "$@"
"""


class Bad(MpiTest):
    def setUp(self):
        super().setUp()
        self.put("as_rank", AS_RANK)
        (self.folder / "as_rank").chmod(0o755)

    def refused(self, ranks, *arguments, code=3, says=(), **options):
        """Every rank ends, with one message and nothing written."""
        before = self.listing()
        result = self.mpi(ranks, *arguments, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assert_one_message(result.stderr, *says)
        self.assertEqual(result.stdout, "")
        self.assertEqual(self.listing(), before)

    def odd_one(self, rank, *words):
        """The command whose last words differ on one rank."""
        return ("./as_rank", str(rank), *words, "--", COMMAND)

    def test_more_ranks_than_agents(self):
        self.refused(5, "run", "e.toml", says=["5 processes for 4 agents", "at most as many"])
        self.refused(5, "run", "e.toml", "--placement", "metis", says=["5 processes for 4 agents"])
        self.put("d.csv", "a,y\n" + "".join(f"{n},{n}\n" for n in range(9)))
        self.refused(4, "fit", "d.csv", "--agents", "3", "--graph", "path", says=["4 processes for 3 agents"])

    def test_ranks_with_different_experiments(self):
        self.put("other.toml", self.changed(("iterations = 20", "iterations = 21")))
        self.refused(3, "run", "e.toml", command=self.odd_one(1, "other.toml"),
                     says=["rank 1 on ", "another", "rank 0 on ", "all must have the same"])
        self.refused(2, "run", "e.toml", "--set", "iterations=20", command=self.odd_one(1, "iterations=30"),
                     says=["rank 1 on ", "another"])

    def test_a_rank_without_the_experiment(self):
        self.refused(3, "run", "e.toml", command=self.odd_one(2, "nowhere.toml"), says=["nowhere.toml", "rank 2 on "])
        self.refused(3, "run", "e.toml", command=self.odd_one(0, "nowhere.toml"), says=["nowhere.toml", "rank 0 on "])
        self.refused(3, "run", "nowhere.toml", says=["nowhere.toml"])

    def test_ranks_with_different_commands(self):
        self.put("d.csv", "a,y\n" + "".join(f"{n},{n}\n" for n in range(9)))
        self.refused(2, "run", "e.toml", command=self.odd_one(1, "fit", "d.csv"), says=["rank 1 on ", "another command"])

    def test_a_rank_that_never_joins(self):
        self.put("stays_away", STAYS_AWAY)
        (self.folder / "stays_away").chmod(0o755)
        result = self.mpi(2, "run", "e.toml", "--peer-timeout", "2", command=("./stays_away", "1", COMMAND))
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assert_one_message(result.stderr, "rank 0 on ", "waited 2 s for all 2 processes", "the same command")

    def test_fits_of_different_models(self):
        self.put("d.csv", "a,y\n" + "".join(f"{n},{n}\n" for n in range(9)))
        self.refused(2, "fit", "d.csv", "--agents", "3", "--l2", "0.1", command=self.odd_one(1, "0.2"),
                     says=["rank 1 on ", "another"])

    def test_ranks_on_one_machine_share_its_memory(self):
        self.put("huge.toml", self.changed(('"path"', '"complete"'), ("agents = 4", "agents = 100000000")))

        def limit(result):
            self.assertEqual(result.returncode, 3, result.stderr)
            number, unit = re.search("the memory limit is ([0-9.]+) ([kMGT]B)", result.stderr).groups()
            return float(number) * 1000 ** "kMGT".index(unit[0])

        alone = limit(self.polyhop("run", "huge.toml"))
        self.assertAlmostEqual(limit(self.mpi(4, "run", "huge.toml")) / alone, 1 / 4, places=2)
        # One that is given is each rank's own.
        self.assertEqual(limit(self.mpi(2, "run", "huge.toml", "--memory-limit", "30MB")), 30_000)

    def test_ranks_that_place_agents_differently(self):
        self.refused(2, "run", "e.toml", "--placement", "contiguous", command=self.odd_one(1, "metis"),
                     says=["rank 1 on ", "another --placement or --peer-timeout"])

    def test_ranks_that_wait_for_each_other_unlike_long(self):
        self.refused(2, "run", "e.toml", "--peer-timeout", "60", command=self.odd_one(1, "30"),
                     says=["rank 1 on ", "--peer-timeout", "all must have the same"])

    def test_a_data_file_that_one_rank_lacks(self):
        self.put("in_folder", IN_FOLDER)
        (self.folder / "in_folder").chmod(0o755)
        for rank in range(3):
            (self.folder / f"host-{rank}").mkdir()
            self.put(f"host-{rank}/e.toml",
                     self.changed(("dimension = 3\nsamples = 5", 'source = "file"\ndata = "d.csv"')))
            self.put(f"host-{rank}/d.csv", "a,y\n" + "".join(f"{n},{n % 5}\n" for n in range(40)))
        for lacking in (2, 0):
            data = self.folder / f"host-{lacking}" / "d.csv"
            data.rename(self.folder / "away.csv")
            self.refused(3, "run", "e.toml", command=("./in_folder", COMMAND), says=["d.csv", f"rank {lacking} on "])
            (self.folder / "away.csv").rename(data)
        self.done_mpi(3, "run", "e.toml", "--quiet", command=("./in_folder", COMMAND))

    def test_a_malformed_experiment(self):
        self.put("bad.toml", self.changed(("agents = 4", "agents = -4")))
        self.refused(3, "run", "bad.toml", says=["bad.toml:9:", "graph.agents"])

    def test_arguments_that_are_not_known(self):
        self.refused(3, "run", "e.toml", "--peer-timout", "2", code=2,
                     says=["unknown flag '--peer-timout'", "--peer-timeout"])
        self.refused(2, "run", "e.toml", "--placement", "round", code=2, says=["--placement"])
        self.refused(2, "rnu", "e.toml", code=2, says=["unknown command 'rnu'"])

    def test_arguments_that_one_rank_does_not_know(self):
        before = self.listing()
        result = self.mpi(3, "run", "e.toml", "--json", command=self.odd_one(1, "--jsno"))
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(self.listing(), before)

    def test_a_place_that_cannot_be_written(self):
        self.put("file", "not a folder")
        self.refused(3, "run", "e.toml", "-o", "file/out", says=["file/out"])
        self.put("d.csv", "a,y\n" + "".join(f"{n},{n}\n" for n in range(9)))
        self.refused(2, "fit", "d.csv", "--agents", "3", "-o", "nowhere/model.npz", says=["nowhere/model.npz"])

    def test_a_folder_of_others(self):
        (self.folder / "mine").mkdir()
        self.put("mine/letter.txt", "dear")
        self.refused(3, "run", "e.toml", "-o", "mine", says=["letter.txt"])

    def test_a_store_in_use_by_another_job(self):
        self.put("long.toml", LONG.replace("iterations = 200", "iterations = 1000000"))
        first = self.begin_and_reach_a_checkpoint(2, "run", "long.toml", "-o", "out", "--quiet")
        mark, self.mark = self.mark, self.mark + "-second"
        second = self.mpi(2, "run", "long.toml", "-o", "out", "--quiet")
        self.mark = mark
        self.assertEqual(second.returncode, 3, second.stderr)
        self.assert_one_message(second.stderr, "in use by another run")
        self.assertIsNone(first.poll())
        self.end_all()
        self.end(first)

    def test_a_run_that_diverges_is_told_as_by_hand(self):
        by_hand = self.done("run", "e.toml", "-o", "alone", "--quiet")
        result = self.done_mpi(3, "run", "e.toml", "-o", "out", "--quiet")
        self.assertIn("diverged", by_hand.stdout)
        self.assertEqual(result.stdout.count("diverged"), by_hand.stdout.count("diverged"))
        self.assert_same_bits("alone", "out")
        self.assert_no_scraps()


if __name__ == "__main__":
    _mpi.main()
