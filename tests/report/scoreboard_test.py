# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""scoreboard_test.py REPORT_DUMP: scoreboard.html in a browser."""

import csv
import re

import numpy as np

from selenium.webdriver.common.action_chains import ActionChains

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
        self.assertEqual(self.browser.title, "Scoreboard: scoreboard - polyhop")
        self.assertEqual(self.one("h1").text, "Scoreboard")
        self.assertIn("3 instances, 4 methods, 3 seeds", self.one("#facts").text)
        self.assertIn("relative to the best constant step (tuned)", self.one("#facts").text)
        self.assertTrue(self.one("#headline").text.startswith("GAP is within 1.5 times"))
        self.assertIn("of 3 instances", self.one("#headline").text)
        self.assertIn("over the 2 where both reach the target, the geometric mean is 0.", self.one("#headline").text)
        self.assertIn("0.125", self.one("#tunings-table").text)
        self.assertIn("final-risk", self.one("#tunings-table").text)
        self.assertIn("0.1.0", self.one("#provenance").text)

    def test_one_instance_has_no_mean(self):
        self.open("single", "scoreboard.html")
        self.assertRegex(self.one("#headline").text, r"^GAP is .* on 1 of 1 instance; it takes 0\.\d+ times as many on "
                                                     r"the only one where both reach the target\.$")

    def test_every_instance_shows_its_ratios(self):
        first = self.row("#ratio-table", "first")
        self.assertLess(float(first[1]), 1)
        self.assertEqual(first[2], "1")
        self.assertGreater(float(first[3]), 1)
        self.assertEqual(first[4], "\u2013")
        self.assertEqual(self.row("#ratio-table", "second")[1:], ["+", "never", "\u2013", "\u2013"])
        self.assertEqual(self.row("#ratio-table", "third")[3], "\u2013")
        self.assertEqual(len(self.all("#ratio-table td.lost")), 2, "far, where the tuned one got there")

    def test_diverged_runs_are_counted(self):
        self.choose("ratio-score", "diverged")
        self.assertEqual(self.row("#ratio-table", "first")[1:], ["0/3", "0/3", "0/3", "3/3"])
        self.assertEqual(self.row("#summary-table", "far")[-2], "9/9")

    def test_the_choice_of_a_score_changes_each_table(self):
        for group, table in (("summary-score", "#summary-table"), ("ratio-score", "#ratio-table")):
            seen = set()
            for score in ("iterations", "final_risk", "final_risk_averaged", "equal_vectors"):
                self.choose(group, score)
                seen.add(self.one(table).text)
            self.assertEqual(len(seen), 4, table)

    def test_best_methods_come_first(self):
        self.assertEqual([text.strip() for text in self.texts("#ratio-table th")],
                         ["Instance", "GAP", "tuned", "slow", "far"])
        self.assertEqual(self.texts("#legend button"), ["GAP", "tuned", "slow", "far"])

    def test_methods_are_compared_with_the_best_of_all_tuned_ones_too(self):
        board = self.script("return JSON.parse(document.getElementById('data').textContent).board")
        by_name = {m["method"]: m for m in board["methods"]}
        self.choose("rival", "best")
        for score in ("iterations", "equal_vectors", "equal_vectors_averaged"):
            self.choose("summary-score", score)
            best = by_name["GAP"][score]["best"]
            self.assertEqual(self.row("#summary-table", "GAP")[3], f"{best['within_1.05']}/{best['comparable']}")
        self.assertIn("the best tuned method", self.one("#summary-note").text)
        self.assertIn("the best tuned method", self.one("#ratio-note").text)
        self.choose("ratio-score", "iterations")
        ratio = next(m for m in board["instances"][0]["methods"] if m["method"] == "slow")["iterations"]["best_ratio"]
        self.assertAlmostEqual(float(self.row("#ratio-table", "first")[3]), ratio, places=1)

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

    def test_how_many_instances_a_mean_is_over_is_said(self):
        mean = self.row("#summary-table", "tuned")[2].split("\n")
        self.assertEqual(mean, ["(1)", "over 2 of 3"])
        self.assertEqual(self.row("#summary-table", "slow")[7], "2/3")

    def test_themes_and_narrow_screens(self):
        grounds = set()
        for _ in range(3):
            grounds.add(self.script("return getComputedStyle(document.body).backgroundColor"))
            self.press("#theme")
        self.assertEqual(len(grounds), 2)
        self.narrow(390)
        self.open("scoreboard", "scoreboard.html")
        self.assert_fits(390)

    def test_texts_can_be_read_by_day_and_by_night(self):
        self.assert_readable()
        self.assertTrue(self.all("#ratio-table td.lost"))

    def test_shades_are_explained_and_can_be_told_apart_by_day_and_by_night(self):
        self.assertEqual(self.texts("#shades > span"), ["up to 1.05", "to 1.5", "to 3", "above 3", "never"])
        for theme in ("light", "dark"):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                         {"features": [{"name": "prefers-color-scheme", "value": theme}]})
            shades = np.array(self.script("""
                const pen = Object.assign(document.createElement("canvas"), {width: 1, height: 1})
                                .getContext("2d", {willReadFrequently: true});
                const seen = (e) => {
                  for (const node of [document.body, e]) {
                    pen.fillStyle = getComputedStyle(node).backgroundColor;
                    pen.fillRect(0, 0, 1, 1);
                  }
                  return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)];
                };
                return [...document.querySelectorAll("#shades .swatch")].map(seen);"""))
            steps = np.abs(np.diff(shades, axis=0)).max(axis=1)
            self.assertGreaterEqual(steps.min(), 34, (theme, shades))
        self.choose("ratio-score", "diverged")
        self.assertFalse(self.one("#shades").is_displayed())

    def test_the_baseline_stands_below_its_instance(self):
        self.assertEqual(self.texts("#tunings-table td.text:first-child"), [f"{name}\ntuned" for name in ("first", "second", "third")])

    def test_figures_follow_the_width(self):
        self.assert_figures_follow_the_width()


class Many(Page):
    """Fourteen methods with long names; the last one ran on one of four instances, where it was the fastest."""

    def setUp(self):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": 1400, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        self.open("methods", "scoreboard.html")

    def test_all_methods_are_seen_at_once(self):
        heads = self.all("#ratio-table th")
        self.assertEqual(len(heads), 15)
        right = self.script("return Math.max(...arguments[0].map(e => e.getBoundingClientRect().right))", heads)
        self.assertLessEqual(right, 1400)
        self.assertGreater(right, 1300, "the width is used")

    def test_also_rans_are_muted(self):
        self.assertEqual(len(self.all("#profile-figure .line")), 14)
        self.assertEqual(len(self.all("#profile-figure .line.muted")), 9)
        self.assertEqual(len(self.all("#profile-figure .end")), 5)
        boxes = self.script("return [...document.querySelectorAll('#profile-figure .end text')].map("
                            "e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })")
        self.assert_apart(boxes)
        self.assertLessEqual(max(box[2] for box in boxes), 1400)
        muted = lambda: [n for n, e in enumerate(self.all("#legend line")) if "muted" in e.get_attribute("class")]
        self.assertEqual(muted(), list(range(5, 14)), "as in the figure")
        self.press("#legend button:nth-child(1)")
        self.assertEqual(muted(), [0, *range(6, 14)])
        self.press("#legend button:nth-child(1)")
        ActionChains(self.browser).move_to_element(self.one("#legend button:nth-child(9)")).perform()
        self.assertEqual(len(self.all("#profile-figure .line.lit")), 1)

    def test_a_saved_profile_explains_the_lines_that_have_colours(self):
        shown = float(self.one("#profile-figure svg").get_attribute("height"))
        saved = self.download("profile.svg").decode()
        names = re.findall(r">([^<>]*)</text>", saved)
        self.assertEqual(names[-1], "9 other methods")
        self.assertNotIn("lucky", names)
        self.assertLess(float(re.search(r'<svg[^>]* height="([\d.]+)"', saved).group(1)), 1.2 * shown)

    def test_the_legend_is_dense_on_a_phone(self):
        self.narrow(390)
        self.open("methods", "scoreboard.html")
        height = self.script("return document.getElementById('legend').getBoundingClientRect().height")
        self.assertLess(height, 14 * 28)

    def test_a_narrow_screen_shows_that_more_columns_follow(self):
        self.narrow(390)
        self.open("methods", "scoreboard.html")
        heads, edge = self.script("""
            const box = (e) => e.getBoundingClientRect();
            return [[...document.querySelectorAll("#summary-table th")].map(e => [box(e).left, box(e).right]),
                    box(document.querySelector("#summary .scroll")).right];""")
        cut = [n for n, (left, right) in enumerate(heads) if left < edge - 20 and right > edge + 2]
        self.assertTrue(cut, (heads, edge))
        self.assertGreaterEqual(cut[0], 4, "beside those that are seen whole")

    def test_headings_begin_at_the_bottom(self):
        self.script("document.querySelector('#ratio-table .upright').textContent += ' for the averaged iterates'")
        bottoms = self.script("""
            return [...document.querySelectorAll("#ratio-table .upright")].map(e => {
              const words = document.createRange();
              words.selectNodeContents(e);
              return [...words.getClientRects()].map(r => Math.round(r.bottom));
            });""")
        self.assertTrue(any(len(lines) > 1 for lines in bottoms))
        self.assertEqual({len(set(lines)) for lines in bottoms}, {1}, bottoms)

    def test_what_an_instance_does_not_have_is_left_out(self):
        self.assertEqual(self.one("#ratio-table td.text small").text, "8 agents \u00b7 ring")

    def test_a_mean_over_few_instances_is_no_win(self):
        row = next(r for r in self.all("#summary-table tbody tr") if "lucky" in r.text)
        mean = row.find_elements("css selector", "td")[2]
        self.assertRegex(mean.text, r"^\(0\.\d+\)\nover 1 of 4$")
        self.assertEqual(len(mean.find_elements("css selector", ".few")), 1)
        self.assertEqual(row, self.all("#summary-table tbody tr")[-1], "most solved first")
        foot = self.all("#ratio-table tfoot td")[-1]
        self.assertEqual(len(foot.find_elements("css selector", ".few")), 1)


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
        for part in ("headline", "profile", "rival"):
            self.assertFalse(self.one("#" + part).is_displayed(), part)

    def test_where_the_baseline_never_got_there_the_page_says_so(self):
        self.open("beaten", "scoreboard.html")
        self.assertIn("(tuned), which never reached the target", self.one("#facts").text)
        self.assertEqual(self.one("#headline").text, "The tuned constant never reached the target. GAP did on 1 of 1 instance.")
        names = [text.split("\n")[0] for text in self.texts("#summary-table tbody td.text")]
        self.assertEqual(names, ["GAP", "other", "slow", "tuned"])
        self.assertEqual(self.texts("#ratio-table tbody td")[1:], ["+", "+", "\u2013", "never"])
        self.assertEqual(self.texts("#summary-table tbody tr:last-child td")[2], "never")

    def test_where_nobody_got_there_the_page_says_who_comes_closest(self):
        self.open("unsolved", "scoreboard.html")
        self.assertEqual(self.one("#headline").text, "No method reached the target. tuned comes closest, by the excess risk of "
                                                     "the last iterates.")

    def test_a_method_that_is_always_best_is_not_on_the_edge(self):
        self.open("single", "scoreboard.html")
        best = [float(x) for x in re.findall(r"-?[\d.]+", self.paths("#profile-figure .line")[-1])]
        self.assertGreater(best[0], 5)
        self.assertGreater(best[-1], 5)

    def test_a_profile_is_offered_of_what_some_method_solved(self):
        self.open("unsolved", "scoreboard.html")
        offered = [e.get_attribute("value") for e in self.all("#profile-score input")]
        self.assertEqual(offered, ["final_risk_averaged"])
        self.assertIn("of the 1 instance that", self.one("#profile-note").text)
        self.assertEqual(self.texts("#profile-figure .axis text")[-1], "100%")
        self.assertEqual(len(self.all("#profile-figure .line")), 2)


if __name__ == "__main__":
    _page.main()
