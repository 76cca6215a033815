# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""fit_test.py REPORT_DUMP: the page of a fit in a browser."""

import csv

import _page
from _page import HOSTILE, Page


class Fit(Page):
    """Two classes, 40 features of which the last weighs most, full gradients."""

    def setUp(self):
        self.open("fit", "fit.html")

    def rows(self, table):
        self.script("for (const fold of document.querySelectorAll('details')) fold.open = true")
        return [[cell.text for cell in row.find_elements("css selector", "td")] for row in self.all(f"{table} tbody tr")]

    def shown(self):
        return [s.get_attribute("id") for s in self.all("section") if s.is_displayed()]

    def test_says_what_was_fitted_and_how_it_ended(self):
        self.assertEqual(self.one("h1").text, "logistic on wine")
        self.assertIn("100 samples, 40 features, 2 classes; 8 agents", self.one("#facts").text)
        self.assertEqual(self.one("#ending").text, "It ended fit.")
        self.press("#settings summary")
        self.assertIn("3456", self.texts("#traffic-table td"))
        self.assertIn("0.1.0", self.one("#provenance-table").text)
        self.assertIn("tolerance", self.one("#settings-groups").text)

    def test_how_good_the_model_is_comes_first(self):
        self.assertEqual(self.one("#headline").text,
                         "Accuracy 0.875 on the 90 samples that the model was fitted to; none were held out.")
        self.assertEqual(self.one(".tile").text, "0.875\naccuracy")
        self.assertEqual(len(self.all(".tile")), 2, "a metric that is not defined has none, nor one that repeats another")
        self.assertEqual(self.shown()[0], "quality")
        self.assertLess(self.script("return document.querySelector('.tile').getBoundingClientRect().bottom"), 400)
        self.open("fit-classes", "fit.html")
        self.assertEqual(self.one("#headline").text, "Accuracy 0.5 on 10 samples held out; 0.875 on the 90 used for the fit.")
        self.assertEqual(self.one(".tile").text, "0.5\naccuracy\non fitted samples: 0.875")
        self.open("fit-single", "fit.html")
        self.assertEqual(self.one("#headline").text, "Accuracy 0.5 on 1 sample held out; 0.875 on the 90 used for the fit.")
        self.open("fit-diverged", "fit.html")
        self.assertEqual(self.one("#headline").text, "It ended fit-diverged.")

    def test_shows_metrics_classes_and_confusion(self):
        rows = self.rows("#metrics-table")
        self.assertEqual([row[1] for row in rows], ["0.875", "0.25", "not defined", "0.25"])
        self.assertEqual(self.rows("#class-table")[1], ["yes", "41", "0.9", "0.8"])
        self.assertEqual(self.rows("#confusion-table"), [["no", "40", "0"], ["yes", "1", "40"]])

    def test_says_what_was_minimised_and_how_samples_were_dealt(self):
        self.assertIn("The fit minimised the mean loss: 0.125.", self.one("#quality-note").text)
        self.assertIn("8 agents, ring, dealt at random", self.one("#facts").text)
        self.open("fit-classes", "fit.html")
        self.assertIn("The fit minimised the mean loss plus the penalty: 0.125.", self.one("#quality-note").text)
        self.open("fit-numbers", "fit.html")
        self.assertIn("dealt at random in uneven shares", self.one("#facts").text)
        self.assertEqual(self.all(".tile")[1].text, "0.5\nR\u00b2")

    def test_the_model_that_was_kept_is_marked(self):
        for case, kept in (("fit-single", 200), ("fit-classes", 39000)):
            self.open(case, "fit.html")
            self.assertEqual(self.one("#heldout-figure .kept").text, f"kept: iteration {kept}")
            box, frame = (self.script("return arguments[0].getBoundingClientRect().toJSON()", self.one(e))
                          for e in ("#heldout-figure .kept", "#heldout-figure .background"))
            self.assertLessEqual(box["right"], frame["right"])
            share = (float(self.one("#heldout-figure .now").get_attribute("x1")) / frame["width"])
            self.assertAlmostEqual(share, kept / 39980, places=3)

    def test_the_axis_of_the_loss_has_numbers_all_along_and_room_for_its_title(self):
        self.narrow(390)
        self.open("fit-single", "fit.html")
        ticks = self.script("return [...document.querySelectorAll('#heldout-figure .axis')].pop()"
                            ".querySelectorAll('.tick').values().map(t => t.__data__).toArray()")
        self.assertLessEqual(min(ticks), 0.2)
        self.assertGreaterEqual(max(ticks), 2)
        for figure in ("progress", "heldout"):
            title, numbers = self.script("""
                const svg = document.getElementById(arguments[0] + "-figure"), axis = [...svg.querySelectorAll(".axis")].pop();
                const title = [...svg.querySelectorAll(".title")].find(e => e.hasAttribute("transform"));
                return [title.getBoundingClientRect().right,
                        Math.min(...[...axis.querySelectorAll("text")].map(e => e.getBoundingClientRect().left))];""", figure)
            self.assertGreater(numbers - title, 4, figure)

    def test_gradient_and_disagreement_are_drawn(self):
        lines = self.paths("#progress-figure .line")
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertNotRegex(line, "NaN|Infinity|undefined")
        self.assertTrue(self.one("#legend").is_displayed())
        self.assertEqual(self.texts("#progress-figure .target text"), ["tolerance"])
        self.assertNotIn("heldout", self.shown())

    def test_disagreement_that_is_rounding_is_not_drawn(self):
        self.open("fit-together", "fit.html")
        self.assertIn("heldout", self.shown())
        self.assertEqual([self.one(part).is_displayed() for part in ("#ending", "#progress-figure", "#legend")],
                         [True, False, False])
        self.assertEqual([b.text for b in self.all("#progress [data-save]") if b.is_displayed()], ["CSV"])
        self.assertEqual(self.one("#progress-note").text, "All agents have the same model at every step.")

    def test_the_largest_coefficient_comes_first(self):
        rows = self.rows("#coefficients-table")
        self.assertEqual(rows[0][:2], ["h40", "0.4"])
        self.assertEqual((len(rows), rows[-1][:2]), (26, ["intercept", "0.25"]))
        widths = [self.script("return arguments[0].getBoundingClientRect().width", bar) for bar in self.all(".track i")]
        self.assertGreater(min(widths), 0)
        self.assertEqual(widths, sorted(widths, reverse=True))
        self.assertIn("adds to the score of 'yes'", self.one("#coefficients-note").text)
        self.open("fit-numbers", "fit.html")
        self.assertIn("The intercept per deviation is the prediction where", self.one("#coefficients-note").text)
        track, bar = (self.script("return arguments[0].getBoundingClientRect().toJSON()", self.one(e))
                      for e in (".track", ".track i"))
        self.assertEqual((track["left"], track["width"]), (bar["left"], bar["width"]), "bars of one sign have all the width")
        self.open("fit", "fit.html")
        self.press("#more")
        self.assertEqual(len(self.rows("#coefficients-table")), 41)

    def test_files_can_be_saved(self):
        self.assertIn("disagreement", self.download("progress.svg").decode())
        self.assertTrue(self.download("progress.png").startswith(b"\x89PNG"))
        progress = list(csv.DictReader(self.download("progress.csv").decode().splitlines()))
        self.assertEqual((progress[0]["iteration"], progress[-1]["iteration"]), ("0", "39980"))
        coefficients = list(csv.reader(self.download("coefficients.csv").decode().splitlines()))
        self.assertEqual((len(coefficients), coefficients[1]), (42, ["h40", "0.4"]))
        self.assertIn(b"accuracy,0.875", self.download("metrics.csv"))

    def test_themes_and_narrow_screens(self):
        self.narrow(390)
        for case in ("fit", "fit-classes"):
            self.open(case, "fit.html")
            self.assert_fits(390)
        self.open("fit", "fit.html")
        bars = self.script("return [...document.querySelectorAll('.track')].map(e => e.getBoundingClientRect().right)")
        self.assertLessEqual(max(bars), 390, "the bars are on the screen")
        lines = self.script("""
            return [...document.querySelectorAll("#traffic-table th")].map(
                e => e.firstChild && (r => (r.selectNodeContents(e), new Set([...r.getClientRects()].map(b => b.top)).size))(
                    document.createRange()));""")
        self.assertLessEqual(max(lines), 2, "there is room for what the numbers are")
        self.open("fit-classes", "fit.html")
        tall = self.script("""
            const cell = document.querySelector("#coefficients-table tr.apart td");
            return cell.getBoundingClientRect().height / parseFloat(getComputedStyle(cell).lineHeight);""")
        self.assertLess(tall, 2, "the word intercept is whole")
        names = self.script("return document.querySelector('#confusion-table td.text').getBoundingClientRect().width")
        self.assertLess(names, 60, "the counts have the room")
        tops = self.script("return [...document.querySelectorAll('.tile')].map(e => e.getBoundingClientRect().top)")
        self.assertEqual(tops[0], tops[1], "two tiles side by side")
        grounds = set()
        for _ in range(3):
            grounds.add(self.script("return getComputedStyle(document.body).backgroundColor"))
            self.press("#theme")
        self.assertEqual(len(grounds), 2)

    def test_texts_can_be_read_by_day_and_by_night(self):
        for case in ("fit", "fit-classes"):
            self.open(case, "fit.html")
            self.assert_readable()

    def test_figures_follow_the_width(self):
        self.assert_figures_follow_the_width()

    def test_many_classes_and_samples_held_out(self):
        self.open("fit-classes", "fit.html")
        self.assertEqual(self.rows("#metrics-table")[0][1:], ["0.5", "0.875"])
        self.assertEqual(len(self.paths("#heldout-figure .line")), 1)
        self.assertEqual(len(self.paths("#progress-figure .line")), 1, "batches have no gradient to show")
        self.assertFalse(self.one("#legend").is_displayed(), "of one line the axis says what it is")
        # By what a deviation changes: the last feature hardly varies.
        rows = self.rows("#coefficients-table")
        self.assertEqual((rows[0][0], len(rows[0])), ("h39", 4))
        # Beside these stand the scores at the mean, to which the tenth feature adds 10 * 0.1 of either sign.
        self.assertEqual(rows[-1], ["intercept", "1.25", "\u22120.75", "1.25"])
        self.assertEqual(self.rows("#confusion-table")[0], ["red", "40", "7", "0"])
        self.script("document.querySelector('#samples-shown [value=fitted]').click()")
        self.assertEqual(self.rows("#confusion-table")[0], ["red", "40", "0", "0"])

    def test_hostile_names_are_shown_as_text(self):
        self.open("fit-hostile", "fit.html")
        self.assertIn(HOSTILE, self.one("h1").text)
        self.assertIn(HOSTILE, self.one("#class-table").text)
        self.assertIn(HOSTILE, self.one("#provenance-table").text)
        self.press("#more")
        self.assertIn(HOSTILE, self.one("#coefficients-table").text)
        self.assertEqual(self.all("img, b"), [])
        self.assertEqual(len(self.all("script")), 3)

    def test_of_a_fit_that_diverged_the_way_is_shown_and_no_model(self):
        self.open("fit-diverged", "fit.html")
        self.assertEqual(self.shown(), ["progress", "traffic", "settings", "provenance"])
        for line in self.paths("#progress-figure .line"):
            self.assertNotRegex(line, "NaN|Infinity|undefined")


if __name__ == "__main__":
    _page.main()
