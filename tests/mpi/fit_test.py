# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""fit_test.py POLYHOP: `mpirun polyhop fit` makes the very model of `polyhop fit`, and no rank needs another's data."""

import json
import random

import _mpi
from _mpi import COMMAND, MpiTest

# Each rank in a folder of its own: IN_SITE COMMAND...
IN_SITE = """\
#!/bin/sh
cd "site-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && exec "$@"
"""


def table(seed, lines):
    """Two features of very different size, and a class that they nearly decide."""
    draw = random.Random(seed)
    out = "small,large,y\n"
    for _ in range(lines):
        a, b = draw.gauss(0, 1), draw.gauss(500, 200)
        out += f"{a:.6f},{b:.4f},{'yes' if a + (b - 500) / 300 + 0.3 * draw.gauss(0, 1) > 0 else 'no'}\n"
    return out


class Fit(MpiTest):
    def setUp(self):
        super().setUp()
        self.put("all.csv", table(1, 60))
        self.put("in_site", IN_SITE)
        self.put("in", f'#!/bin/sh\ncd "$1" && shift && exec {COMMAND} "$@"\n')
        for name in ("in_site", "in"):
            (self.folder / name).chmod(0o755)

    def model(self, name):
        return (self.folder / name).read_bytes()

    def give_sites(self, ranks, agents_of):
        """All the agents' files in one folder, and for each rank a folder that holds only its agents'."""
        (self.folder / "together").mkdir()
        for rank in range(ranks):
            (self.folder / f"site-{rank}").mkdir()
            for agent in agents_of(rank):
                for folder in ("together", f"site-{rank}"):
                    self.put(f"{folder}/site-{agent}.csv", table(10 + agent, 8 + agent))

    def alone(self, *arguments):
        """By hand, where all files are."""
        return self.polyhop("together", *arguments, command=self.folder / "in")

    def test_one_file_dealt_to_all(self):
        for ranks, more in (
            (2, ["--iterations", "100"]),
            (3, ["--standardise", "--partition", "label"]),
            (2, ["--standardise", "--batch", "2", "--iterations", "60"]),
            (3, ["--standardise", "--partition", "dirichlet", "--alpha", "0.5", "--placement", "metis"]),
        ):
            with self.subTest(ranks=ranks, more=more):
                flags = ["fit", "all.csv", "--loss", "logistic", "--l2", "0.1", "--agents", "5", "--quiet", *more]
                alone = self.polyhop(*flags, "-o", "alone.npz")
                result = self.mpi(ranks, *flags, "-o", "ranks.npz")
                self.assertEqual(result.returncode, alone.returncode, result.stderr)
                self.assertEqual(self.model("ranks.npz"), self.model("alone.npz"))
                self.assert_no_scraps()

    def test_each_site_has_only_its_own_file(self):
        self.give_sites(3, lambda rank: [rank])
        for more in (["--standardise"], ["--standardise", "--batch", "2", "--iterations", "60"]):
            with self.subTest(more=more):
                flags = ["fit", "site-{agent}.csv", "--loss", "logistic", "--l2", "0.1", "--agents", "3"]
                flags += ["--graph", "path", "--quiet", "--json", *more, "-o"]
                alone = self.alone(*flags, "model.npz")
                result = self.mpi(3, *flags, "model.npz", command=("./in_site", COMMAND))
                self.assertEqual(result.returncode, alone.returncode, result.stderr)
                self.assertEqual(self.model("site-0/model.npz"), self.model("together/model.npz"))
                said, said_alone = json.loads(result.stdout), json.loads(alone.stdout)
                self.assertEqual(said["samples"], said_alone["samples"])
                for rank in (1, 2):
                    self.assertEqual(set(self.listing(f"site-{rank}")), {f"site-{rank}.csv"})

    def test_a_site_of_several_agents(self):
        self.give_sites(2, lambda rank: [2 * rank, 2 * rank + 1])
        flags = ["fit", "site-{agent}.csv", "--loss", "logistic", "--l2", "0.1", "--agents", "4", "--graph", "ring"]
        flags += ["--standardise", "--quiet", "-o", "model.npz"]
        self.assertEqual(self.alone(*flags).returncode, 0)
        self.done_mpi(2, *flags, command=("./in_site", COMMAND))
        self.assertEqual(self.model("site-0/model.npz"), self.model("together/model.npz"))

    def test_sites_that_are_not_well_behaved(self):
        self.give_sites(2, lambda rank: [2 * rank, 2 * rank + 1])
        for folder in ("together", "site-1"):
            rows = [line.split(",") for line in table(12, 10).splitlines()]
            self.put(f"{folder}/site-2.csv", "".join(f"{c},{b},{a}\n" for a, b, c in rows))  # another order
            self.put(f"{folder}/site-3.csv", "y,small,large\n")  # and no samples
        flags = ["fit", "site-{agent}.csv", "--target", "y", "--l2", "0.1", "--graph", "ring", "--standardise"]
        flags += ["--quiet", "--json", "-o", "model.npz"]
        said = json.loads(self.alone(*flags).stdout)  # which counts the files
        self.assertEqual((said["agents"], said["loss"]), (4, "logistic"))
        result = self.mpi(2, *flags, "--agents", "4", command=("./in_site", COMMAND))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.model("site-0/model.npz"), self.model("together/model.npz"))
        # Ranks that do not see the same files cannot count them.
        result = self.mpi(2, *flags, command=("./in_site", COMMAND))
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assert_one_message(result.stderr, "--agents", "do not see the same files")

    def test_a_site_without_its_file(self):
        self.give_sites(3, lambda rank: [rank])
        (self.folder / "site-2" / "site-2.csv").unlink()
        before = self.listing()
        result = self.mpi(3, "fit", "site-{agent}.csv", "--loss", "logistic", "--agents", "3", "--graph", "path",
                          "--quiet", command=("./in_site", COMMAND))
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assert_one_message(result.stderr, "site-2.csv", "rank 2 on ")
        self.assertEqual(self.listing(), before)

    def test_the_model_predicts(self):
        result = self.done_mpi(2, "fit", "all.csv", "--loss", "logistic", "--l2", "0.1", "--agents", "4",
                               "--standardise", "-o", "m.npz")
        self.assertEqual(result.stdout.count("m.npz"), 1, result.stdout)
        said = json.loads(self.done("evaluate", "m.npz", "all.csv", "--json").stdout)
        self.assertGreater(said["metrics"]["accuracy"], 0.75)


if __name__ == "__main__":
    _mpi.main()
