# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""scoreboard_test.py REPORT_DUMP: scoreboard.html in a browser."""

import csv
import re

import numpy as np

import _page
from _page import HOSTILE, Page

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


class Scoreboard(Page):
    """Three instances. `far` always diverges; on the second the tuned constant never reaches the target, on the third
    `slow` has no runs."""

    def setUp(self):
        self.open("scoreboard", "scoreboard.html")

    def choose(self, group, key):
        self.script("document.querySelector(`#${arguments[0]} [value=${arguments[1]}]`).click()", group, key)

    def row(self, table, first):
        rows = [[cell.text for cell in row] for row in map(self.cells, self.all(f"{table} tbody tr, {table} tfoot tr"))]
        return next(row for row in rows if row[0].split("\n")[0] == first)

    def cells(self, row):
        return row.find_elements("css selector", "td")

    def test_says_what_is_compared(self):
        self.assertEqual(self.one("h1").text, "Scoreboard")
        self.assertIn("3 instances, 4 methods, 3 seeds", self.one("#facts").text)
        self.assertIn("relative to the best constant step (tuned)", self.one("#facts").text)
        self.assertTrue(self.one("#headline").text.startswith("GAP is within 1.5 times"))
        self.assertIn("0.125", self.one("#tunings-table").text)
        self.assertIn("0.1.0", self.one("#provenance").text)

    def test_every_instance_shows_its_ratios(self):
        first = self.row("#ratio-table", "first")
        self.assertEqual(first[1], "1")
        self.assertLess(float(first[2]), 1)
        self.assertGreater(float(first[3]), 1)
        self.assertEqual(first[4], "\u2013")
        self.assertEqual(self.row("#ratio-table", "second")[1:], ["\u2013", "+", "\u2013", "\u2013"])
        self.assertEqual(self.row("#ratio-table", "third")[3], "\u2013")
        self.assertEqual(len(self.all("#ratio-table td.lost")), 2, "far, where the tuned one got there")

    def test_diverged_runs_are_counted(self):
        self.choose("ratio-score", "diverged")
        self.assertEqual(self.row("#ratio-table", "first")[1:], ["0/3", "0/3", "0/3", "3/3"])
        self.assertEqual(self.row("#summary-table", "far")[-2], "9/9")

    def test_the_choice_of_a_score_changes_each_table(self):
        for group, table in (("summary-score", "#summary-table"), ("ratio-score", "#ratio-table")):
            seen = set()
            for score in ("iterations", "final_risk", "final_risk_averaged"):
                self.choose(group, score)
                seen.add(self.one(table).text)
            self.assertEqual(len(seen), 3, table)

    def test_profiles_are_stairs_that_never_fall(self):
        for score in ("iterations", "vectors", "final_risk_averaged"):
            self.choose("profile-score", score)
            lines = self.paths("#profile-figure .line")
            self.assertEqual(len(lines), 4)
            for path in lines:
                self.assertNotRegex(path, "NaN|Infinity|undefined")
                heights = np.array([float(y) for y in re.findall(r"V(-?[\d.]+)", path)])
                self.assertTrue((np.diff(heights) <= 0).all(), path)
        self.assertIn("of the 3 instances", self.one("#profile-note").text)

    def test_a_profile_ends_at_the_share_that_the_method_solves(self):
        rows = list(csv.DictReader(self.download("profile.csv").decode().splitlines()))
        last = {row["method"]: row for row in rows}
        self.assertEqual(float(last["GAP"]["share"]), 1)
        self.assertAlmostEqual(float(last["tuned"]["share"]), 2 / 3)
        self.assertAlmostEqual(float(last["slow"]["share"]), 1 / 3)
        self.assertNotIn("far", last)
        self.assertGreaterEqual(min(float(row["tau"]) for row in rows), 1)

    def test_the_legend_hides_and_shows(self):
        self.press("#legend button:nth-child(2)")
        self.assertEqual(len(self.all("#profile-figure .line")), 3)
        self.press("#legend button:nth-child(2)")
        self.assertEqual(len(self.all("#profile-figure .line")), 4)

    def test_files_can_be_saved(self):
        self.assertIn(b"<svg", self.download("profile.svg"))
        self.assertIn("GAP", self.download("profile.svg").decode())
        self.assertTrue(self.download("profile.png").startswith(b"\x89PNG"))
        methods = list(csv.DictReader(self.download("methods.csv").decode().splitlines()))
        self.assertEqual(methods[0]["method"], "GAP")
        self.assertEqual(len(list(csv.reader(self.download("instances.csv").decode().splitlines()))), 1 + 3 * 4)

    def test_themes_and_narrow_screens(self):
        grounds = set()
        for _ in range(3):
            grounds.add(self.script("return getComputedStyle(document.body).backgroundColor"))
            self.press("#theme")
        self.assertEqual(len(grounds), 2)
        self.narrow(390)
        self.open("scoreboard", "scoreboard.html")
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 390)

    def test_figures_follow_the_width(self):
        self.assert_figures_follow_the_width()


class Others(Page):
    def test_hostile_names_are_shown_as_text(self):
        self.open("hostile", "scoreboard.html")
        self.assertIn(HOSTILE, self.one("#ratio-table").text)
        self.assertIn(HOSTILE, self.texts("#legend button")[0])
        self.assertIn(HOSTILE, self.one("#tunings").text)
        self.assertEqual(self.all("img, b"), [])
        self.assertEqual(len(self.all("script")), 3)

    def test_without_anything_to_compare_it_opens(self):
        self.open("empty", "scoreboard.html")
        self.assertIn("no method was tuned", self.one("#facts").text)
        self.assertFalse(self.one("#headline").is_displayed())


if __name__ == "__main__":
    _page.main()
