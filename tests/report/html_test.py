# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""html_test.py REPORT_DUMP: report.html in a browser: what it draws, what its controls do, that it does no harm."""

import base64
import csv
import re
import tomllib
import unicodedata

import numpy as np
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

import _page
from _page import HOSTILE, Page

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


class Small(Page):
    """Four methods of five seeds: GAP, plain, far (diverges), slow (does not reach the target)."""

    def setUp(self):
        self.open("small")

    def test_shows_the_headline_and_what_was_run(self):
        self.assertEqual(self.one("h1").text, "small")
        self.assertIn("'GAP' reached an excess risk of 1e\u22126", self.one("#headline").text, "as in the tables")
        self.assertIn("5 seeds", self.one("#facts").text)
        self.assertIn("0.1.0", self.one("#provenance").text)
        self.assertNotIn("topology", self.one("#settings").text)
        self.press("#settings summary")
        self.assertIn("topology", self.one("#settings").text)
        self.assertIn("0.125", self.one("#tunings-table").text)
        self.assertIn("final-risk", self.one("#tunings-table").text)

    def test_curves_are_drawn_at_finite_places(self):
        lines = self.paths("#curves-figure .line")
        self.assertEqual(len(lines), 4)
        self.assertEqual(len(self.all("#curves-figure .band")), 4)
        for path in lines + self.paths("#curves-figure .band") + self.paths("#steps-figure path.agent"):
            self.assertNotRegex(path, "NaN|Infinity|undefined")
            self.assertTrue(np.isfinite([float(n) for n in NUMBER.findall(path)]).all())
        # The first reaches what rounding makes after an eighth of its points.
        self.assertGreater(lines[0].count("L"), 10)
        self.assertGreater(min(path.count("L") for path in (lines[1], lines[3])), 20)

    def test_a_line_ends_where_rounding_begins(self):
        note = self.one("#curves-note").text
        floor = re.search(r"A line ends where it is less than (\S+), the size of rounding errors\.", note).group(1)
        self.assertLess(float(floor.replace("\u2212", "-")), 1e-12)
        bottom = self.script("""
            const ticks = [...document.querySelectorAll("#curves-figure .y.axis text, #curves-figure .axis text")];
            return ticks.map(e => e.textContent).filter(t => t.startsWith("10"));""")
        self.assertTrue(bottom)
        Select(self.one("#measure")).select_by_value("distance")
        self.assertNotIn("A line ends", self.one("#curves-note").text)

    def floor(self, figure):
        """Where a plot ends below."""
        return float(self.one(f"#{figure}-figure clipPath rect").get_attribute("height"))

    def test_a_line_stands_where_its_data_say(self):
        # The risks fall geometrically: a straight line on the logarithmic axis.
        at = np.array([float(n) for n in NUMBER.findall(self.paths("#curves-figure .line")[0])]).reshape(-1, 2)
        self.assertGreater(at[-1, 1], self.floor("curves"))
        at = at[:-1]  # up to where it leaves the plot
        slopes = np.diff(at[:, 1]) / np.diff(at[:, 0])
        np.testing.assert_allclose(slopes, slopes[0], rtol=1e-2)
        self.assertGreater(slopes[0], 0)

    def test_every_measure_and_every_cost_changes_the_lines(self):
        titles, drawn, axes = set(), set(), set()
        for option in [o.get_attribute("value") for o in self.all("#measure option")]:
            Select(self.one("#measure")).select_by_value(option)
            titles.add(self.one("#curves-figure text.title + text.title").text)
            drawn.add(tuple(self.paths("#curves-figure .line")))
        self.assertEqual(len(titles), len(self.all("#measure option")))
        self.assertEqual(len(titles), 6)
        self.assertGreaterEqual(len(drawn), 3)
        Select(self.one("#measure")).select_by_value("excess-risk")
        for cost in ("vectors", "evaluations", "seconds", "iterations"):
            self.script("document.querySelector(`#cost [value=${arguments[0]}]`).click()", cost)
            axes.add(tuple(self.texts("#curves-figure .axis text")))
        self.assertEqual(len(axes), 4)
        before = self.paths("#curves-figure .line")
        self.press("#log-x")
        self.assertNotEqual(self.paths("#curves-figure .line"), before)

    def test_averaged_iterates_are_drawn_from_their_own_numbers(self):
        before = self.paths("#curves-figure .line")
        Select(self.one("#measure")).select_by_value("excess-risk-averaged")
        self.assertNotEqual(self.paths("#curves-figure .line"), before)

    def test_the_target_is_a_line_for_risks_alone(self):
        self.assertEqual(self.texts("#curves-figure .target text"), ["target 1e\u22126"])
        Select(self.one("#measure")).select_by_value("distance")
        self.assertEqual(self.all("#curves-figure .target"), [])

    def test_a_line_that_falls_to_0_leaves_the_plot_there(self):
        # Below rounding a risk is 0: a line that stopped where it was last above seemed never to reach the target.
        end = lambda path: float(NUMBER.findall(self.paths(path)[0])[-1])
        self.assertGreater(end("#curves-figure .curve[data-method='0'] .line"), self.floor("curves"))
        self.assertGreater(end("#run-figure .line"), self.floor("run"))
        self.assertLess(end("#curves-figure .curve[data-method='3'] .line"), self.floor("curves"), "slow stays above 0")
        start = float(NUMBER.findall(self.paths("#curves-figure .end[data-key='0/0'] path")[0])[1])
        self.assertAlmostEqual(start, self.floor("curves"), places=3, msg="its name is led to from there")

    def test_a_cross_at_the_edge_is_whole(self):
        for n in (1, 2, 4):
            self.press(f"#legend button:nth-child({n})")
        ends = self.script("const right = (e) => e.getBoundingClientRect().right;"
                           "return [...document.querySelectorAll('#curves-figure .lost')].map(right).concat("
                           "right(document.querySelector('#curves-figure .background')))")
        self.assertEqual(len(ends), 6)
        self.assertLessEqual(max(ends[:-1]), ends[-1])

    def test_texts_can_be_read_by_day_and_by_night(self):
        self.assert_readable()
        self.press("#legend button:nth-child(2)")
        self.press("#curves-figure .end text")
        self.script("document.activeElement.blur()")
        self.assert_readable()

    def test_runs_that_diverged_are_marked(self):
        self.assertEqual(len(self.all("#curves-figure .lost")), 5)
        self.assertIn("5 diverged", self.texts("#legend button")[2])
        self.assertIn("diverged", self.one("#troubled-table").text)

    def test_says_what_to_change(self):
        self.assertEqual(self.texts("#advice p"), ["A batch of 50 is more than the 5 samples of an agent, so samples repeat "
                                                   "within it; a batch of \"all\" takes each once."])

    def test_the_legend_hides_and_shows(self):
        button = "#legend button:nth-child(2)"
        self.press(button)
        self.assertEqual(self.one(button).get_attribute("aria-pressed"), "false")
        self.assertEqual([e.get_attribute("data-method") for e in self.all("#curves-figure .curve")], ["0", "2", "3"])
        self.assertEqual(self.browser.switch_to.active_element, self.one(button))
        self.browser.switch_to.active_element.send_keys(Keys.SPACE)
        self.assertEqual(len(self.all("#curves-figure .curve")), 4)

    def test_zooms_by_dragging_by_buttons_and_by_keys(self):
        before = self.paths("#curves-figure .line")
        self.assertFalse(self.one("#zoom-reset").is_enabled())
        area = self.one("#curves-figure .background")
        self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", area)
        ActionChains(self.browser).move_to_element(area).click_and_hold().move_by_offset(150, 90).release().perform()
        self.assertNotEqual(self.paths("#curves-figure .line"), before)
        self.press("#zoom-reset")
        self.assertEqual(self.paths("#curves-figure .line"), before)
        self.press("#zoom-in")
        self.assertNotEqual(self.paths("#curves-figure .line"), before)
        self.one("#curves-figure").send_keys("0")
        self.assertEqual(self.paths("#curves-figure .line"), before)
        for key in ("+", "-", Keys.ARROW_LEFT, Keys.ARROW_RIGHT, Keys.ARROW_UP, Keys.ARROW_DOWN):
            self.one("#curves-figure").send_keys(key)
            self.assertNotEqual(self.paths("#curves-figure .line"), before, key)
            self.one("#curves-figure").send_keys("0")

    def test_pointing_at_the_chart_tells_the_values(self):
        area = self.one("#curves-figure .background")
        self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", area)
        ActionChains(self.browser).move_to_element(area).perform()
        self.assertIn("iterations", self.one("#tooltip").text)
        self.assertIn("GAP", self.one("#tooltip").text)

    def test_a_run_without_a_risk_has_diverged(self):
        row = next(e for e in self.all("#ranking-table tbody tr") if "far" in e.text)
        cells = [e.text for e in row.find_elements(By.CSS_SELECTOR, "td")]
        self.assertEqual((cells[3], cells[7]), ("\u221e", "\u221e"), "both of its iterates")
        self.open("diverges")
        area = self.one("#curves-figure .background")
        self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", area)
        ActionChains(self.browser).move_to_element_with_offset(area, int(0.45 * area.rect["width"]), 0).perform()
        self.assertIn("far\ndiverged", self.one("#tooltip").text)

    def test_the_note_says_that_a_click_hides_a_method(self):
        self.assertIn("Click a method above to hide or show it.", self.one("#curves-note").text)
        self.assertNotIn("at most", self.one("#curves-note").text)

    def test_the_tip_follows_when_the_axes_change(self):
        area = self.one("#curves-figure .background")
        self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", area)
        ActionChains(self.browser).move_to_element(area).perform()
        self.assertIn("500 iterations", self.one("#tooltip").text)
        self.script("document.querySelector('#cost [value=vectors]').click()")
        self.assertIn("12k vectors", self.one("#tooltip").text)
        before = self.one("#tooltip").text
        self.script("const s = document.getElementById('measure'); s.value = 'distance';"
                    "s.dispatchEvent(new Event('change'))")
        self.assertNotEqual(self.one("#tooltip").text, before)
        ActionChains(self.browser).move_to_element(self.one("#ranking-title")).perform()
        self.assertFalse(self.one("#tooltip").is_displayed())

    def shown_bands(self):
        return [e.find_element(By.XPATH, "..").get_attribute("data-method")
                for e in self.all("#curves-figure .band") if e.value_of_css_property("display") != "none"]

    def test_a_band_is_shown_for_the_line_that_is_pointed_at_or_chosen(self):
        self.assertEqual(self.shown_bands(), [])
        ActionChains(self.browser).move_to_element(self.one("#legend button:nth-child(2)")).perform()
        self.assertEqual(self.shown_bands(), ["1"])
        ActionChains(self.browser).move_to_element(self.one("h1")).perform()
        self.assertEqual(self.shown_bands(), [])
        label = next(e for e in self.all("#curves-figure .end text") if e.text.startswith("slow"))
        label.click()
        ActionChains(self.browser).move_to_element(self.one("h1")).perform()
        self.assertEqual(self.shown_bands(), ["3"])
        for n in (2, 3, 4):
            self.press(f"#legend button:nth-child({n})")
        ActionChains(self.browser).move_to_element(self.one("h1")).perform()
        self.assertEqual(self.shown_bands(), ["0"], "a line alone has its band")

    def test_lines_are_labelled_at_their_ends_and_labels_do_not_overlap(self):
        for cost in ("iterations", "vectors"):
            self.script("document.querySelector(`#cost [value=${arguments[0]}]`).click()", cost)
            self.assertEqual(sorted(self.texts("#curves-figure .end text")), ["GAP", "far", "plain", "slow"])
            boxes = self.script("return [...document.querySelectorAll('#curves-figure .end text')].map("
                                "e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })")
            frame = self.script("const r = document.querySelector('#curves-figure svg').getBoundingClientRect();"
                                "return [r.left, r.top, r.right, r.bottom]")
            self.assert_apart(boxes)
            for left, top, right, bottom in boxes:
                self.assertGreater(left, frame[0])
                self.assertGreaterEqual(top, frame[1] - 1)
                self.assertLessEqual(right, frame[2] + 1)
                self.assertLessEqual(bottom, frame[3])

    def test_lines_that_end_at_one_place_all_have_their_names(self):
        for width in (1400, 1024, 700):
            self.narrow(width)
            self.open("bundle")
            self.assertEqual(len(self.all("#curves-figure .end")), 11, width)
            self.assert_apart(self.script("return [...document.querySelectorAll('#curves-figure .end text')].map("
                                          "e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })"))

    def test_the_axis_ends_at_rounding_where_only_bands_go_on(self):
        self.open("lucky")
        low = self.script("return Math.min(...JSON.parse(document.getElementById('data').textContent)"
                          ".experiments[0].methods[0].curves.y['excess-risk'].low.filter(x => x > 0))")
        self.assertLess(low, 1e-20)
        ticks = [unicodedata.normalize("NFKC", text).replace("\u2212", "-") for text in self.texts("#curves-figure .axis text")]
        self.assertGreaterEqual(min(int(tick[2:]) for tick in ticks if tick.startswith("10")), -17)

    def test_a_line_that_ends_early_has_its_name_there(self):
        # GAP, plain and far end inside of the plot, slow at its right.
        ends = {name: self.one(f"#curves-figure .end[data-key='0/{n}']") for n, name in enumerate(("GAP", "plain", "far"))}
        edge = self.script("return document.querySelector('#curves-figure .background').getBoundingClientRect().right")
        for name, end in ends.items():
            self.assertEqual(end.text, name)
            box = self.script("return arguments[0].getBoundingClientRect().toJSON()", end)
            self.assertLess(box["right"], edge, name)
            length = self.script("return arguments[0].getTotalLength()", end.find_element(By.CSS_SELECTOR, "path"))
            self.assertLess(length, 70, "a short leader")
        self.assertGreater(self.script("return arguments[0].getBoundingClientRect().right",
                                       self.one("#curves-figure .end[data-key='0/3']")), edge)

    def test_a_name_inside_of_the_plot_hides_no_line_no_cross_and_no_target(self):
        for width in (1400, 1024, 700):
            for case in ("small", "several", "crowded", "apart"):
                self.narrow(width)
                self.open(case)
                hidden = self.script("""
                    const boxes = [...document.querySelectorAll("#curves-figure .end text")].map(e => e.getBoundingClientRect());
                    const inside = p => boxes.some(b => p.x > b.left && p.x < b.right && p.y > b.top + 2 && p.y < b.bottom - 2);
                    const drawn = "#curves-figure .line, #curves-figure .lost, #curves-figure .target line";
                    return [...document.querySelectorAll(drawn)].filter(path => {
                      const at = path.getScreenCTM(), steps = [...Array(Math.ceil(path.getTotalLength())).keys()];
                      return steps.some(s => inside(path.getPointAtLength(s).matrixTransform(at)));
                    }).length;""")
                self.assertEqual(hidden, 0, (case, width))

    def test_the_chart_stands_above_the_fold(self):
        for width, height in ((1400, 900), (1024, 768)):
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                         {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
            for case in ("small", "several"):
                self.open(case)
                bottom = self.script("return document.querySelector('#curves-figure svg').getBoundingClientRect().bottom")
                self.assertLessEqual(bottom, height, case)
                top = self.script("return document.querySelector('#curves-figure svg').getBoundingClientRect().top")
                self.assertGreaterEqual(bottom - top, 320, case)

    def test_the_settings_can_be_copied_as_toml(self):
        self.script("Object.defineProperty(navigator, 'clipboard', {value: {writeText: (text) => {"
                    " window.copied = text; return Promise.resolve(); }}})")
        self.press("#copy")
        WebDriverWait(self.browser, 20).until(lambda _: self.one("#copy").text == "Copied")
        copied = tomllib.loads(self.script("return window.copied"))
        self.assertEqual(copied["name"], "small")
        self.assertEqual(copied["graph"], {"topology": "ring", "agents": 8})
        self.assertEqual([m["name"] for m in copied["method"]], ["GAP", "plain", "far", "slow"])

    def test_without_a_clipboard_what_is_selected_is_copied(self):
        self.script("Object.defineProperty(navigator, 'clipboard', {value: undefined});"
                    "document.addEventListener('copy', () => { window.copied = document.activeElement.value; })")
        self.press("#copy")
        WebDriverWait(self.browser, 20).until(lambda _: self.one("#copy").text == "Copied")
        self.assertIn('name = "small"\n', self.script("return window.copied"))

    def test_the_table_says_what_the_data_say(self):
        with open(self.work / "small" / "curves.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        shown, taken = {}, {}
        for line in self.all("#ranking-table tbody tr"):
            cells = line.find_elements(By.CSS_SELECTOR, "td")
            method = cells[1].text.split("\n")[0]
            shown[method] = [float(c.get_attribute("data-value").replace("Infinity", "inf")) for c in cells[2:8]]
            taken[method] = cells[8].text.split("\n")
        for method in ("GAP", "plain", "slow"):
            reached, final, averaged = [], [], []
            for seed in range(5):
                run = [r for r in rows if r["method"] == method and r["seed"] == str(seed)]
                final.append(float(run[-1]["excess_risk"]))
                averaged.append(float(run[-1]["excess_risk_averaged"]))
                first = next((r for r in run if float(r["excess_risk"]) <= 1e-6), None)
                costs = [np.inf] * 4 if first is None else [
                    float(first["iteration"]), float(first["vectors"]),
                    float(first["values"]) + float(first["gradients"]), float(first["seconds"])]
                reached.append(costs)
            iterations, *others = np.median(reached, axis=0)
            expected = [iterations, np.median(final), *others, np.median(averaged)]
            np.testing.assert_allclose(shown[method], expected, rtol=1e-12)
            better = np.less(averaged, final)
            self.assertEqual(taken[method], ["averaged", f"on {better.sum()} of 5"] if np.median(averaged) < np.median(final)
                             else ["last", f"on {(~better).sum()} of 5"])
        self.assertEqual(taken["far"], ["\u2013"])
        self.assertIn("Take the last iterate of", self.one("#recommendation").text)

    def test_risks_below_rounding_are_zero_with_a_note(self):
        told = re.search(r"0: less than (\S+), the size of rounding errors", self.one("#ranking-note").text)
        floor = float(told.group(1).replace("\u2212", "-"))
        self.assertLess(floor, 1e-12)
        shown = [(float(cell.get_attribute("data-value").replace("Infinity", "inf")), cell.text.split("\n"))
                 for cell in self.all("#ranking-table tbody tr td:nth-child(4)")]
        self.assertEqual([text[0] == "0" for _, text in shown], [value < floor for value, _ in shown])
        self.assertIn(["0"], [text for _, text in shown], "quantiles that are alike are left out")

    def test_the_table_is_sorted_by_mouse_and_by_key(self):
        methods = lambda: [text.split("\n")[0] for text in self.texts("#ranking-table td.method")]
        self.assertEqual(methods(), ["GAP", "plain", "slow", "far"])
        self.press("#ranking-table th:nth-child(2) button")
        self.assertEqual(methods(), ["far", "GAP", "plain", "slow"])
        self.assertEqual(self.one("#ranking-table th:nth-child(2)").get_attribute("aria-sort"), "ascending")
        self.browser.switch_to.active_element.send_keys(Keys.ENTER)
        self.assertEqual(methods(), ["slow", "plain", "GAP", "far"])
        self.press("#ranking-table th:nth-child(3) button")
        self.browser.switch_to.active_element.send_keys(Keys.SPACE)
        # What never got there stands last in both directions.
        self.assertEqual(methods(), ["plain", "GAP", "slow", "far"])

    def test_the_network_is_drawn_the_same_each_time(self):
        places = lambda: [(e.get_attribute("cx"), e.get_attribute("cy")) for e in self.all("#network-figure .node")]
        first = places()
        self.assertEqual(len(first), 8)
        self.assertEqual(len(self.all("#network-figure .edge")), 8)
        self.assertEqual(len(set(first)), 8)
        self.open("small")
        self.assertEqual(places(), first)

    def test_a_ring_is_drawn_as_one(self):
        at = np.array([[float(e.get_attribute(c)) for c in ("cx", "cy")] for e in self.all("#network-figure .node")])
        radius = np.linalg.norm(at - at.mean(axis=0), axis=1)
        np.testing.assert_allclose(radius, radius.mean(), rtol=0.05)

    def test_agents_have_their_numbers_and_a_rim(self):
        self.assertEqual(self.texts("#network-figure .number"), [str(k) for k in range(8)])
        at = lambda selector, x, y: [(float(e.get_attribute(x)), float(e.get_attribute(y))) for e in self.all(selector)]
        np.testing.assert_allclose(at("#network-figure .number", "x", "y"), at("#network-figure .node", "cx", "cy"), atol=4)
        for theme in ("light", "dark"):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                         {"features": [{"name": "prefers-color-scheme", "value": theme}]})
            rim, ground = self.script("return [getComputedStyle(document.querySelector('.node')).stroke,"
                                      "        getComputedStyle(document.body).backgroundColor]")
            rim, ground = ([int(n) for n in re.findall(r"\d+", colour)[:3]] for colour in (rim, ground))
            self.assertGreater(np.abs(np.subtract(rim, ground)).max(), 100, theme)
        self.open("large")
        self.assertEqual(self.all("#network-figure .number"), [], "300 agents are too small for them")

    def test_iterations_stand_at_the_same_places_in_both_charts(self):
        zeros = self.script("""
            return ["run", "steps"].map(id => document.querySelector(`#${id}-figure .background, #${id}-figure .axis path`)
                .getBoundingClientRect().left);""")
        self.assertAlmostEqual(zeros[0], zeros[1], places=1)

    def test_the_slider_moves_the_colours(self):
        colours = lambda: [e.value_of_css_property("fill") for e in self.all("#network-figure .node")]
        last = colours()
        self.assertEqual(len(set(last)), 8)
        mark = self.one("#steps-figure .now").get_attribute("x1")
        slider = self.one("#time")
        slider.send_keys(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        self.assertNotEqual(colours(), last)
        self.assertNotEqual(self.one("#steps-figure .now").get_attribute("x1"), mark)
        self.assertEqual(self.one("#time-value").text, "20")
        slider.send_keys(Keys.END)
        self.assertEqual(colours(), last)

    def test_the_run_is_played_to_its_end(self):
        cursor = lambda: [float(self.one(f"#{f}-figure .now").get_attribute("x1")) for f in ("run", "steps")]
        end = cursor()
        self.press("#play")
        self.assertIn("Pause", self.one("#play").text)
        self.assert_drawn(self.one("#play").text)
        WebDriverWait(self.browser, 20).until(lambda _: int(self.one("#time-value").text) > 0)
        self.press("#play")
        self.assertIn("Play", self.one("#play").text)
        stopped = cursor()
        self.assertLess(stopped[0], end[0])
        self.assertLess(stopped[1], end[1])
        self.one("#time").send_keys(Keys.END, Keys.ARROW_LEFT, Keys.ARROW_LEFT)
        self.press("#play")
        WebDriverWait(self.browser, 20).until(lambda _: "Play" in self.one("#play").text)
        self.assertEqual(cursor(), end)

    def test_agents_are_coloured_by_their_distance_from_consensus(self):
        colours = lambda: [e.value_of_css_property("fill") for e in self.all("#network-figure .node")]
        by_step = colours()
        self.script("document.querySelector('#colour [value=distances]').click()")
        self.assertNotEqual(colours(), by_step)
        self.assertIn("distance from consensus", self.texts("#network-figure .scale text"))
        self.assertIn("numbered from 0", self.one("#network-note").text)
        late = colours()
        self.one("#time").send_keys(Keys.HOME, Keys.ARROW_RIGHT)
        lightness = lambda fills: np.mean([[int(n) for n in re.findall(r"\d+", f)[:3]] for f in fills])
        self.assertGreater(lightness(colours()), lightness(late), "agents come together")

    def test_a_larger_step_has_a_lighter_colour(self):
        steps = self.script("return JSON.parse(document.getElementById('data').textContent)"
                            ".experiments[0].methods[0].steps.agents.steps.pop()")
        fills = [e.value_of_css_property("fill") for e in self.all("#network-figure .node")]
        lightness = [np.dot([0.3, 0.6, 0.1], [int(n) for n in re.findall(r"\d+", f)[:3]]) for f in fills]
        self.assertEqual(list(np.argsort(steps)), list(np.argsort(lightness)))

    def test_steps_are_drawn_for_each_method_and_agent(self):
        self.assertEqual(len(self.all("#steps-figure .agent")), 8)
        before = self.paths("#steps-figure .line")
        Select(self.one("#step-method")).select_by_visible_text("far")
        self.assertNotEqual(self.paths("#steps-figure .line"), before)

    def test_pointing_at_an_agent_shows_its_line(self):
        node = self.one("#network-figure .node")
        self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", node)
        ActionChains(self.browser).move_to_element(node).perform()
        self.assertEqual(len(self.all("#steps-figure .agent.chosen")), 1)
        self.assertIn("Agent 0", self.one("#tooltip").text)

    def test_figures_can_be_saved(self):
        for figure in ("curves", "network", "run", "steps"):
            svg = self.download(figure + ".svg").decode()
            self.assertTrue(svg.startswith("<svg"), svg[:80])
            self.assertNotIn("var(--", svg)
            self.assertNotIn("class=", svg)
            png = self.download(figure + ".png")
            self.assertTrue(png.startswith(b"\x89PNG"))
            self.assertGreater(len(png), 5000)
        self.assertIn(">plain</text>", self.download("curves.svg").decode())

    def test_a_saved_figure_stays_light_in_the_dark(self):
        light = self.download("curves.svg")
        self.press("#theme")
        self.press("#theme")
        self.assertEqual(self.download("curves.svg"), light)
        self.assertEqual(self.script("return document.documentElement.dataset.theme"), "dark")

    def test_data_can_be_saved(self):
        ranking = list(csv.DictReader(self.download("ranking.csv").decode().splitlines()))
        self.assertEqual([r["method"] for r in ranking], ["GAP", "plain", "slow", "far"])
        self.assertEqual(float(ranking[0]["iterations median"]), 70)
        curves = list(csv.DictReader(self.download("curves.csv").decode().splitlines()))
        self.assertEqual(sum(r["method"] == "GAP" for r in curves), 101)
        self.assertEqual(curves[-1]["iterations"], "1000")
        steps = list(csv.DictReader(self.download("steps.csv").decode().splitlines()))
        self.assertIn("agent 7", steps[0])

    def test_dark_by_the_system_and_by_the_switch(self):
        ground = lambda: self.script("return getComputedStyle(document.body).backgroundColor")
        light = ground()
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                     {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        dark = ground()
        self.assertNotEqual(light, dark)
        self.press("#theme")
        self.assertEqual((self.one("#theme").text, ground()), ("Theme: light", light))
        self.press("#theme")
        self.assertEqual((self.one("#theme").text, ground()), ("Theme: dark", dark))

    def test_prints_light_and_without_controls(self):
        self.press("#theme")
        self.press("#theme")
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        self.assertEqual(self.script("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertFalse(self.one(".controls").is_displayed())
        self.assertTrue(self.one("#curves-figure svg").is_displayed())
        self.assertTrue(base64.b64decode(self.browser.print_page()).startswith(b"%PDF"))

    def test_how_often_a_model_was_better_is_not_broken(self):
        self.narrow(1024)
        self.open("long-names")
        lines = self.script("return [...document.querySelectorAll('#ranking-table td.take small')].map("
                            "(e) => e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight))")
        self.assertTrue(lines)
        self.assertLess(max(lines), 1.5)

    def test_fits_a_narrow_screen(self):
        for width in (360, 390):
            self.narrow(width)
            for case in ("small", "several", "long-names"):
                self.open(case)
                self.assert_fits(width)

    def test_numbers_in_texts_are_not_broken(self):
        for width in range(330, 400, 10):
            self.narrow(width)
            self.open("small")
            self.assertIn("1e\u22126", self.one("#headline").text)
            lines = self.script("""
                return [...document.querySelectorAll("#headline .beside, #recommendation .beside, #curves-note .beside")]
                    .map(e => e.getClientRects().length)""")
            self.assertTrue(lines)
            self.assertEqual(max(lines), 1)

    def test_a_key_stays_beside_its_name(self):
        self.narrow(390)
        self.open("long-names")
        apart = self.script("""
            return [...document.querySelectorAll("#ranking-table td.method")].map(cell => {
              const words = document.createRange();
              words.selectNodeContents(cell.querySelector(".key").nextSibling.firstChild);
              const lines = [...words.getClientRects()], key = cell.querySelector(".key").getBoundingClientRect();
              return [Math.abs(lines[0].bottom - key.bottom), Math.min(...lines.map(r => r.left)) - key.right];
            });""")
        self.assertEqual(len(apart), 2)
        self.assertLess(max(down for down, _ in apart), 12)
        self.assertGreater(min(right for _, right in apart), 0, "no line of a long name is below the key")

    def test_a_narrow_screen_shows_what_matters_first(self):
        self.narrow(390)
        self.open("small")
        heads = self.all("#ranking-table th")
        self.assertEqual([e.text.split()[0] for e in heads[:4]], ["#", "Method", "Iterations", "Final"])
        right = self.script("return arguments[0].getBoundingClientRect().right", heads[3])
        self.assertLessEqual(right, 390)
        self.assertIn("diverged", self.one("#ranking-table tbody tr:last-child td.method").text)
        cure = self.one("#troubled-table small")
        self.assertIn("take half of it", cure.text)
        left, right = (self.script(f"return arguments[0].getBoundingClientRect().{side}", cure) for side in ("left", "right"))
        self.assertTrue(0 <= left < right <= 390, (left, right))
        box = self.one("#troubled .scroll")
        self.assertEqual(box.get_property("scrollWidth"), box.get_property("clientWidth"), "all of it is seen")
        heads = self.texts("#tunings-table th")
        self.assertLess(heads.index("Trial runs"), heads.index("Share used"))

    def test_a_legend_that_goes_on_to_the_right_fades_out_there(self):
        self.narrow(390)
        self.open("several")
        rows = """
            return [...document.querySelectorAll("#legend .scroll")]
                .map(e => [e.scrollWidth > e.clientWidth + 1, e.classList.contains("more")]);"""
        WebDriverWait(self.browser, 20).until(lambda _: all(longer == faded for longer, faded in self.script(rows)))
        self.assertIn([True, True], self.script(rows))

    def test_a_table_that_goes_on_to_the_right_fades_out_there(self):
        def fades():
            return self.script("""
                const box = document.getElementById("ranking-table").parentNode;
                const style = getComputedStyle(box);
                return (style.maskImage || style.webkitMaskImage) !== "none";""")

        self.assertFalse(fades(), "all of it is shown")
        self.narrow(390)
        WebDriverWait(self.browser, 20).until(lambda _: fades())
        self.script('const box = document.getElementById("ranking-table").parentNode; box.scrollLeft = box.scrollWidth;')
        WebDriverWait(self.browser, 20).until(lambda _: not fades())

    def test_figures_follow_the_width(self):
        self.assert_figures_follow_the_width()

    def test_the_policy_allows_nothing_else(self):
        policy = self.one("meta[http-equiv='Content-Security-Policy']").get_attribute("content")
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.script("""
            const late = document.createElement("script");
            late.textContent = "window.intruder = true";
            document.body.append(late);""")
        self.assertIsNone(self.script("return window.intruder"))
        refused = self.browser.get_log("browser")
        self.assertEqual(len(refused), 1)
        self.assertIn("Content Security Policy", refused[0]["message"])


class Others(Page):
    def test_hostile_names_are_shown_as_text(self):
        self.open("hostile")
        self.assertEqual(self.one("h1").text, HOSTILE)
        self.assertIn(HOSTILE, self.texts("#ranking-table td.method"))
        self.press("#settings summary")
        self.assertIn(HOSTILE, self.texts("#legend button")[0])
        self.assertIn(HOSTILE, self.one("#settings").text)
        self.assertIn(HOSTILE, self.one("#provenance").text)
        self.assertIn(HOSTILE, self.one("#tunings").text)
        self.assertIn("<b>" + HOSTILE, self.one("#troubled").text)
        self.assertEqual(self.all("img, b"), [])
        self.assertTrue(self.browser.title.startswith(HOSTILE))
        self.assertEqual(len(self.all("script")), 3)
        ActionChains(self.browser).move_to_element(self.one("#curves-figure .background")).perform()
        self.assertEqual(self.all("img"), [])
        self.assertIn("onerror", self.download("curves.svg").decode().replace("&lt;img", "<img"))
        self.assertNotIn("<img", self.download("curves.svg").decode())

    def test_several_experiments_are_shown_together_and_one_by_one(self):
        self.open("several")
        self.assertEqual(self.texts("#experiments button"), ["All together", "small", "second", "bare"])
        self.assertEqual(self.one("h1").text, "3 experiments")
        self.assertEqual(len(self.all("#curves-figure .line")), 7)
        self.assertEqual(self.texts("#legend button")[4:6], ["GAP", "other"])
        self.assertEqual(self.texts("#legend div > span"), ["small", "second", "bare"])
        self.assertEqual([e.get_attribute("aria-label") for e in self.all("#legend [role=group]")], ["small", "second", "bare"])
        look = lambda experiment, method: next(
            e.find_element(By.CSS_SELECTOR, "line").get_attribute("class").split()
            for e in self.all(f"#legend div:nth-child({experiment}) button") if e.text == method)
        # Methods of one name share a colour, experiments their dashes.
        self.assertEqual(look(1, "GAP")[0], look(2, "GAP")[0])
        self.assertEqual(look(2, "GAP")[1], look(2, "other")[1])
        self.assertNotEqual(look(1, "GAP")[1], look(2, "GAP")[1])
        self.assertEqual(self.texts("#ranking-table tr.group"), ["small", "second", "bare"])
        places = [[row.text.split()[0] for row in body.find_elements(By.CSS_SELECTOR, "tr:not(.group)")]
                  for body in self.all("#ranking-table tbody")]
        self.assertEqual(places, [["1", "2", "3", "4"], ["1", "2"], ["1"]])
        self.assertIn("GAP", [text.split("\n")[0] for text in self.texts("#ranking-table td.method")])
        self.press("#ranking-table th:nth-child(2) button")
        self.assertEqual([text.split("\n")[0] for text in self.texts("#ranking-table td.method")],
                         ["far", "GAP", "plain", "slow", "GAP", "other", "GAP"], "each experiment is sorted by itself")
        for section in ("steps", "settings", "provenance", "tunings", "troubled"):
            self.assertFalse(self.one("#" + section).is_displayed(), section)
        self.assertEqual({row["experiment"] for row in csv.DictReader(self.download("curves.csv").decode().splitlines())},
                         {"small", "second", "bare"})

        self.all("#experiments button")[2].click()
        self.assertEqual(self.one("h1").text, "second")
        self.assertEqual(len(self.all("#curves-figure .line")), 2)
        self.assertFalse(self.one("#tunings").is_displayed())
        self.assertTrue(self.one("#steps").is_displayed())
        self.assertEqual(self.browser.switch_to.active_element.get_attribute("aria-current"), "true")
        self.all("#experiments button")[1].click()
        self.assertEqual(len(self.all("#curves-figure .line")), 4)

    def test_many_names_in_several_experiments_keep_the_colours_of_methods(self):
        # Nine names are more than there are colours, yet no two lines look alike.
        self.open("apart")
        looks = [e.get_attribute("class") for e in self.all("#legend button line")]
        self.assertEqual(len(set(looks)), 10)
        colours = [look.split()[0] for look in looks]
        self.assertEqual(colours[3], colours[5], "of the method that both have")
        self.assertEqual([look.split()[1] for look in looks], 5 * ["d0"] + 5 * ["d1"])

    def test_what_was_not_recorded_is_said_or_not_offered(self):
        self.open("bare")
        self.assertEqual(self.all("#network-figure svg"), [])
        self.assertIn("501 agents", self.one("#network-note").text)
        self.assertIn('[record] steps = "agents"', self.one("#network-note").text)
        self.assertFalse(self.one("#time").is_displayed())
        self.assertFalse(self.one("#play").is_displayed())
        self.assertFalse(self.one("#colour").is_displayed())
        self.assertEqual(len(self.all("#steps-figure .line")), 1)
        measures = [o.get_attribute("value") for o in self.all("#measure option")]
        self.assertNotIn("excess-risk-averaged", measures)
        self.assertNotIn("error-rate", measures)
        for measure in measures:
            Select(self.one("#measure")).select_by_value(measure)
            self.assertEqual(len(self.all("#curves-figure .line")), 1, measure)

    def test_an_interrupted_experiment_says_that_it_is_one(self):
        self.open("interrupted")
        self.assertTrue(self.one("#headline").text.startswith("So far: 'GAP' reached"), self.one("#headline").text)
        self.assertIn("Medians over the runs that have ended", self.one("#ranking-note").text)
        self.open("small")
        self.assertIn("Medians over 5 seeds", self.one("#ranking-note").text)

    def test_a_name_that_stands_out_is_not_cut_off(self):
        for case in ("several", "long-names"):
            self.open(case)
            for label in self.all("#curves-figure .end text"):
                label.click()
                self.assertIn("lit", label.find_element(By.XPATH, "..").get_attribute("class"))
                right = self.script("return [arguments[0], document.querySelector('#curves-figure svg')].map("
                                    "(e) => e.getBoundingClientRect().right)", label)
                self.assertLessEqual(right[0], right[1], label.text)

    def test_one_run_of_each_method_has_no_medians(self):
        self.open("brief")
        for note in ("#ranking-note", "#curves-note"):
            self.assertNotRegex(self.one(note).text, "[Mm]edian|quantile|seeds")
        self.assertIn("Each method has one run.", self.one("#ranking-note").text)

    def test_a_step_that_was_recorded_once_is_a_dot(self):
        self.open("brief")
        line = self.one("#steps-figure .line")
        self.assertNotIn("L", line.get_attribute("d"))
        self.assertEqual(line.value_of_css_property("stroke-linecap"), "round")
        self.assertIn('stroke-linecap="round"', self.download("steps.svg").decode())

    def test_the_name_of_the_target_hides_no_line(self):
        for width in (1200, 390):
            self.narrow(width)
            for case in ("level", "crowded"):
                self.open(case)
                hidden = self.script("""
                    const box = document.querySelector("#curves-figure .target text").getBoundingClientRect();
                    return [...document.querySelectorAll("#curves-figure .line")].flatMap(path => {
                      const at = path.getScreenCTM(), steps = [...Array(Math.ceil(path.getTotalLength())).keys()];
                      return steps.map(s => path.getPointAtLength(s).matrixTransform(at))
                          .filter(p => p.x > box.left && p.x < box.right && p.y > box.top && p.y < box.bottom - 2);
                    }).length;""")
                self.assertEqual(hidden, 0, (case, width))

    def test_crosses_of_a_dashed_line_are_whole(self):
        self.open("dashed")
        crosses = self.all("#curves-figure .lost")
        self.assertEqual(len(crosses), 2)
        self.assertNotEqual(self.one("#curves-figure .curve[data-method='7'] .line")
                            .value_of_css_property("stroke-dasharray"), "none")
        self.assertEqual({c.value_of_css_property("stroke-dasharray") for c in crosses}, {"none"})

    def test_the_axis_ends_where_nothing_more_is_drawn(self):
        # Ten methods reach rounding within 80 of 9999 iterations.
        self.open("large")
        ticks = self.script("const across = document.querySelector('#curves-figure .axis');"
                            "return [...across.querySelectorAll('.tick')].map(tick => tick.__data__);")
        self.assertLess(max(ticks), 200)

    def test_the_legend_of_a_saved_figure_has_columns(self):
        self.open("large")
        shown = float(self.one("#curves-figure svg").get_attribute("height"))
        saved = self.download("curves.svg").decode()
        self.assertEqual(len(re.findall(r"<text[^>]*>method \d</text>", saved)), 10)
        self.assertLess(float(re.search(r'<svg[^>]* height="([\d.]+)"', saved).group(1)), shown + 5 * 20)

    def test_an_experiment_without_runs_opens(self):
        self.open("empty")
        self.assertEqual(self.all("#curves-figure .line"), [])

    def test_a_million_points_make_a_page_like_any_other(self):
        page = self.write("large") / "report.html"
        self.assertLess(page.stat().st_size, 10_000_000)
        self.open("large")
        lines = self.paths("#curves-figure .line")
        self.assertEqual(len(lines), 10)
        self.assertLessEqual(max(path.count("L") for path in lines), 600)
        self.assertEqual(len(self.all("#network-figure .node")), 300)
        self.press("#curves summary")
        self.assertIn("1M recorded", self.one("#curves-more").text)


if __name__ == "__main__":
    _page.main()
