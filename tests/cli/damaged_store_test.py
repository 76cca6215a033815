# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Stores that somebody or something has changed: `python3 damaged_store_test.py PATH_TO_polyhop`.

Whatever stands in a store, it is read within its bounds or refused, with what is damaged and what to do.
"""

import shutil
import sqlite3

import _polyhop
from _polyhop import CommandTest

EXPERIMENT = """\
name = "small"
iterations = 30
record_every = 10
""" + _polyhop.SMALL + """\
[[method]]
name = "constant"
algorithm = "atc"
step = { rule = "constant", value = 0.1 }
"""


class DamagedStore(CommandTest):
    def setUp(self):
        super().setUp()
        self.put("e.toml", EXPERIMENT)
        self.done("run", "e.toml", "-o", "out", "--quiet")

    def changed(self, *statements):
        """A store like the first, but for these statements."""
        self.done("run", "e.toml", "-o", "out", "--quiet", "--fresh")
        store = sqlite3.connect(self.folder / "out" / "experiment.sqlite")
        with store:
            for statement in statements:
                store.execute(statement)
        store.close()

    def refused(self, *command, says=()):
        result = self.polyhop(*command)
        self.assertEqual(result.returncode, 3, result.stderr)
        for text in ("experiment.sqlite", *says):
            self.assertIn(text, result.stderr)

    def test_networks(self):
        for edges in ("x'00112233445566778899aabbcc'", "x'0000000009000000'", "x'ffffffff00000000'"):
            with self.subTest(edges):
                self.changed(f"UPDATE networks SET edges = {edges}")
                self.refused("report", "out", says=["damaged", "network of seed"])
        self.changed("UPDATE networks SET agents = 4611686018427387904")
        self.refused("report", "out", says=["damaged"])

    def test_steps(self):
        for change in ("data = zeroblob(8) WHERE iteration = 0", "data = zeroblob(8) WHERE iteration = 20", "data = x''"):
            with self.subTest(change):
                self.changed(f"UPDATE steps SET {change}")
                self.refused("export", "out", "-o", "files", says=["damaged: the steps of a run"])

    def test_what_means_nothing(self):
        for statement in ("UPDATE cells SET status = 'x'", "UPDATE about SET value = '[1,2' WHERE key = 'config'"):
            with self.subTest(statement):
                self.changed(statement)
                self.refused("report", "out", "-o", "page.html", says=["experiment.sqlite: is damaged: ", "--fresh"])

    def test_what_is_missing(self):
        for statement, command in (("DROP TABLE searches", ["run", "e.toml", "-o", "out", "--quiet", "--fresh"]),
                                   ("DROP TABLE tunings", ["report", "out", "-o", "page.html"]),
                                   ("ALTER TABLE networks RENAME COLUMN seed TO other", ["report", "out", "-o", "page.html"])):
            with self.subTest(statement):
                shutil.rmtree(self.folder / "out")
                self.changed(statement)
                self.refused(*command, says=["or is damaged (no such ", "or delete it"])

    def test_models(self):
        for change in ('"rows" = 1000000', '"columns" = 1000000', '"rows" = -1', '"columns" = 4611686018427387904',
                       "data = x'00112233'", "data = zeroblob(length(data))", "checksum = 7",
                       '"rows" = 1073741824, "columns" = 0, data = x\'\', checksum = NULL'):
            with self.subTest(change):
                self.changed(f"UPDATE arrays SET {change} WHERE name = 'models'")
                self.refused("export", "out", "-o", "files", says=["damaged", "'models'"])

    def test_distances(self):
        for change in ("distances = zeroblob(8)", "distances = x'0011'", "distances = x''"):
            with self.subTest(change):
                self.changed(f"UPDATE steps SET {change} WHERE iteration = 20")
                self.refused("report", "out", "-o", "page.html", says=["damaged", "the distances of a run's agents"])

    def test_bytes_of_steps(self):
        self.changed("UPDATE steps SET data = x'0011223344'")
        self.refused("export", "out", "-o", "files", says=["damaged", "steps"])

    def test_a_state_of_another_run_fails_that_run_alone(self):
        self.changed("UPDATE cells SET status = 'unfinished', checksum = NULL, iteration = 10",
                     "UPDATE arrays SET name = 'state/nonsense', checksum = NULL WHERE name = 'models'")
        result = self.polyhop("run", "e.toml", "-o", "out", "--quiet")
        self.assertEqual(result.returncode, 1, "no input of the user's is wrong")
        self.assertIn("failed: constant seed 0: the saved state has 'nonsense' where this run has", result.stderr)

    def test_checkpoints(self):
        unfinished = "UPDATE cells SET status = 'unfinished', checksum = NULL, iteration = "
        for iteration in ("-5", "9223372036854775806"):
            with self.subTest(iteration):
                self.changed(unfinished + iteration)
                self.refused("run", "e.toml", "-o", "out", says=["damaged", "checkpoint", "--fresh"])
        self.changed("UPDATE cells SET status = 'unfinished', iteration = 10, checksum = 1")
        self.refused("run", "e.toml", "-o", "out", says=["damaged", "checkpoint"])
        self.done("run", "e.toml", "-o", "out", "--fresh")

    def test_a_view_is_no_table(self):
        self.changed("ALTER TABLE points RENAME TO held", "CREATE VIEW points AS SELECT * FROM held")
        for command in (["report", "out"], ["run", "e.toml", "-o", "out"]):
            self.refused(*command, says=["'points' is not a table"])

    def test_bytes_in_the_file(self):
        path = self.folder / "out" / "experiment.sqlite"
        whole = path.read_bytes()
        for begin in range(0, len(whole), len(whole) // 40):
            path.write_bytes(whole[:begin] + bytes(x ^ 0x5A for x in whole[begin:begin + 64]) + whole[begin + 64:])
            for command in (["report", "out"], ["export", "out", "-o", "files"]):
                with self.subTest(begin=begin, command=command[0]):
                    self.assertIn(self.polyhop(*command).returncode, (0, 3))


if __name__ == "__main__":
    _polyhop.main()
