# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Stores of older versions are read, exported and resumed: `python3 old_store_test.py PATH_TO_polyhop`.

tests/data/store-format-3.sqlite was written by the version whose format was 3, from the file beside it, and
interrupted: its first run is finished, its second has a checkpoint. The second is of a later version, put into
the tables of format 3, since no earlier rule of that test has the same arithmetic today.
"""

import contextlib
import pathlib
import shutil
import sqlite3

import numpy as np

import _polyhop
from _polyhop import CommandTest

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
FILE = DATA / "store-format-3.toml"


# What was sent before the store was interrupted is counted as its version did.
SENT = dict.fromkeys(("rounds", "vectors", "scalars", "step_vectors", "step_scalars"), "")


def by_point(rows):
    return {(row["method"], row["iteration"]): row for row in rows}


class OldStoreTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.store = self.folder / "out" / "experiment.sqlite"
        self.store.parent.mkdir()
        shutil.copy(DATA / "store-format-3.sqlite", self.store)

    def sql(self, *commands):
        """The rows that the last command gives, by the names of their columns."""
        with contextlib.closing(sqlite3.connect(self.store, isolation_level=None)) as database:
            database.row_factory = sqlite3.Row
            return [list(map(dict, database.execute(command))) for command in commands][-1]

    def resume(self):
        return self.done("run", FILE, "-o", "out", "--quiet")

    def whole(self):
        self.done("run", FILE, "-o", "whole", "--quiet")
        return by_point(self.curves("whole"))

    def assert_same_models(self):
        with np.load(self.folder / "out/models.npz") as found, np.load(self.folder / "whole/models.npz") as wanted:
            self.assertEqual(set(found), set(wanted))
            for name in wanted:
                np.testing.assert_array_equal(found[name], wanted[name], name)

    def test_it_is_exported_with_all_its_numbers(self):
        before = self.store.read_bytes()
        self.done("export", "out", "-o", "data")
        self.done("report", "out")
        stored = self.sql("SELECT layout.method, points.* FROM points JOIN layout USING (cell) "
                          "ORDER BY position, iteration")
        shown = self.curves("data")
        self.assertEqual(len(stored), len(shown))
        self.assertEqual([row["status"] for row in shown], ["done"] * 11 + ["unfinished"] * (len(shown) - 11))
        for row, point in zip(shown, stored):
            self.assertEqual(row["method"], point.pop("method"))
            point.pop("cell")
            for name, number in point.items():
                np.testing.assert_equal(float(row[name]), np.nan if number is None else float(number), name)
        self.assertEqual(self.store.read_bytes(), before)

    def test_it_resumes_with_bit_identical_results(self):
        self.done("export", "out", "-o", "data")
        begun = by_point(self.curves("data"))
        self.resume()
        resumed, whole = by_point(self.curves("out")), self.whole()
        self.assertEqual(resumed.keys(), whole.keys())
        self.assertGreater(len(resumed), len(begun))
        apart = {"seconds": ""} | SENT
        for point, row in resumed.items():
            self.assertEqual(row | apart, whole[point] | apart)
        # Their times and counts show that these were not run again; counts go on from there by what is sent now.
        for point, row in begun.items():
            self.assertEqual({name: resumed[point][name] for name in apart}, {name: row[name] for name in apart})
        for name in SENT:
            first, last = (("GAP", iteration) for iteration in ("240000", "300000"))
            self.assertEqual(int(resumed[last][name]) - int(resumed[first][name]),
                             int(whole[last][name]) - int(whole[first][name]), name)
        self.assert_same_models()
        self.assertEqual(self.sql("PRAGMA user_version"), [{"user_version": 4}])

    def test_columns_that_it_lacks_are_empty_and_filled_from_then_on(self):
        self.sql("ALTER TABLE points DROP COLUMN distance", "ALTER TABLE points DROP COLUMN gradients",
                 "ALTER TABLE cells DROP COLUMN gradients", "ALTER TABLE points ADD COLUMN taste TEXT DEFAULT 'salty'")
        self.done("export", "out", "-o", "data")
        begun = by_point(self.curves("data"))
        self.assertEqual({(row["distance"], row["gradients"]) for row in begun.values()}, {("nan", "0")})
        self.resume()
        resumed, whole = by_point(self.curves("out")), self.whole()
        lacking = {"seconds": "", "gradients": ""} | SENT
        for point, row in resumed.items():
            distance = {"distance": "nan"} if point in begun else {}
            self.assertEqual(row | lacking, whole[point] | lacking | distance)
        self.assertGreater(int(resumed["GAP", "300000"]["gradients"]), 0)
        self.assert_same_models()
        self.assertEqual({row["taste"] for row in self.sql("SELECT taste FROM points")}, {"salty"})

    def test_distances_that_it_lacks_are_shown_of_new_runs_alone(self):
        self.assertNotIn("distances", {row["name"] for row in self.sql("SELECT name FROM pragma_table_info('steps')")})
        self.resume()
        kept = self.sql("SELECT layout.method, count(*) AS points, count(distances) AS known FROM steps JOIN layout "
                        "USING (cell) GROUP BY layout.method")
        self.assertEqual([row["known"] for row in kept], [0, 0], "both runs began without them")
        self.assertGreater(min(row["points"] for row in kept), 0)

    def test_one_without_a_common_format_is_refused(self):
        self.sql("PRAGMA user_version = 2")
        for command in (["report", "out"], ["run", FILE, "-o", "out"]):
            result = self.polyhop(*command)
            self.assertEqual(result.returncode, 3)
            self.assertIn("another version of polyhop (its format is 2, this version's is 4)", result.stderr)


if __name__ == "__main__":
    _polyhop.main()
