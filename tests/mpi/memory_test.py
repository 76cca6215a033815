# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""memory_test.py POLYHOP: no rank holds more than its share of the data and the state."""

import _mpi
from _mpi import COMMAND, MpiTest

RANKS = 4
MEGABYTE = 1024.0  # in the kernel's kilobytes

# MEASURE COMMAND...: the most memory that the command, or the child that works for it, ever had.
MEASURE = """\
#!/usr/bin/python3
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open("peak-" + os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0")), "w") as file:
    file.write(str(usage.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status))
"""

# 160 MB of data, 1.6 MB of state.
DATA = """\
name = "data"
seeds = [0]
iterations = 4
record_every = 2
checkpoint_every = 0.01
[graph]
topology = "ring"
agents = 1000
[problem]
dimension = 200
samples = 100
reference = "none"
[[method]]
name = "m"
step = STEP
"""

MILLION = """\
name = "million"
seeds = [0]
iterations = 3
record_every = 3
[graph]
topology = "ring"
agents = 1000000
[problem]
dimension = 10
samples = 2
reference = "none"
[[method]]
name = "m"
step = { rule = "constant", value = 0.01 }
"""

NEXT_TO_NOTHING = ("--set", "graph.agents=8", "--set", "problem.dimension=2")
ONLY_THE_GRAPH = ("--set", "problem.dimension=1", "--set", "problem.samples=1")


class Memory(MpiTest):
    def setUp(self):
        super().setUp()
        self.put("measure", MEASURE)
        (self.folder / "measure").chmod(0o755)

    def peaks(self, ranks, *more):
        """The most memory of each rank, in MB; of a command started by hand as the only one."""
        flags = ["run", "e.toml", "-o", "out", "--fresh", "--quiet", "--threads", "1", *more]
        if ranks == 1:
            self.done(COMMAND, *flags, command=self.folder / "measure")
        else:
            self.done_mpi(ranks, *flags, command=("./measure", COMMAND))
        return [int((self.folder / f"peak-{rank}").read_text()) / MEGABYTE for rank in range(ranks)]

    def assert_shares(self, *least):
        """Above what a run takes with `least` set, a rank takes its share of all, and at most a fifth more; the first one
        also what is on its way to the store."""
        before, each_before = self.peaks(1, *least)[0], self.peaks(RANKS, *least)
        after, each_after = self.peaks(1)[0], self.peaks(RANKS)
        share = (after - before) / RANKS
        numbers = f"alone {before:.0f} -> {after:.0f} MB; of {RANKS} ranks " + ", ".join(
            f"{a:.0f} -> {b:.0f}" for a, b in zip(each_before, each_after))
        print(f"{self.id()}: {numbers}; a share is {share:.0f} MB", flush=True)
        self.assertGreater(share, 30, "too little to tell shares from the rest")
        for rank, (rank_before, rank_after) in enumerate(zip(each_before, each_after)):
            on_its_way = 16 if rank == 0 else 0  # to the store, so much at once (agent_stream.hpp)
            self.assertLessEqual(rank_after, rank_before + 1.2 * share + on_its_way, numbers)

    def test_a_constant_step(self):
        self.put("e.toml", DATA.replace("STEP", '{ rule = "constant", value = 0.001 }'))
        self.assert_shares(*NEXT_TO_NOTHING)

    def test_a_rule_that_asks_the_neighbours(self):
        self.put("e.toml", DATA.replace("STEP", '"gap"'))
        self.assert_shares(*NEXT_TO_NOTHING)

    def test_a_million_agents(self):
        self.put("e.toml", MILLION)
        self.assert_shares(*ONLY_THE_GRAPH)


if __name__ == "__main__":
    _mpi.main()
