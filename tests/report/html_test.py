# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""html_test.py REPORT_DUMP: report.html in a browser: what it draws, what its controls do, that it does no harm."""

import base64
import csv
import re

import numpy as np
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import _page
from _page import HOSTILE, Page

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


class Small(Page):
    """Four methods of five seeds: GAP, plain, far (diverges), slow (does not reach the target)."""

    def setUp(self):
        self.open("small")

    def test_shows_the_headline_and_what_was_run(self):
        self.assertEqual(self.one("h1").text, "small")
        self.assertIn("'GAP' reached an excess risk of 1e-06", self.one("#headline").text)
        self.assertIn("5 seeds", self.one("#facts").text)
        self.assertIn("0.1.0", self.one("#provenance").text)
        self.assertIn("topology", self.one("#settings").text)
        self.assertIn("0.125", self.one("#tunings-table").text)

    def test_curves_are_drawn_at_finite_places(self):
        lines = self.paths("#curves-figure .line")
        self.assertEqual(len(lines), 4)
        self.assertEqual(len(self.all("#curves-figure .band")), 4)
        for path in lines + self.paths("#curves-figure .band") + self.paths("#steps-figure path.agent"):
            self.assertNotRegex(path, "NaN|Infinity|undefined")
            self.assertTrue(np.isfinite([float(n) for n in NUMBER.findall(path)]).all())
        self.assertGreater(min(path.count("L") for path in (lines[0], lines[1], lines[3])), 50)

    def test_a_line_stands_where_its_data_say(self):
        # The risks fall geometrically: a straight line on the logarithmic axis.
        at = np.array([float(n) for n in NUMBER.findall(self.paths("#curves-figure .line")[0])]).reshape(-1, 2)
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
        self.assertGreaterEqual(len(titles), 7)
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

    def test_runs_that_diverged_are_marked(self):
        self.assertEqual(len(self.all("#curves-figure .lost")), 5)
        self.assertIn("5 diverged", self.texts("#legend button")[2])
        self.assertIn("diverged", self.one("#troubled-table").text)

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

    def test_the_table_says_what_the_data_say(self):
        with open(self.work / "small" / "curves.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        shown, taken = {}, {}
        for line in self.all("#ranking-table tbody tr"):
            cells = line.find_elements(By.CSS_SELECTOR, "td")
            shown[cells[1].text] = [float(c.get_attribute("data-value").replace("Infinity", "inf")) for c in cells[2:8]]
            taken[cells[1].text] = cells[8].text.split("\n")
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
            expected = [*np.median(reached, axis=0), np.median(final), np.median(averaged)]
            np.testing.assert_allclose(shown[method], expected, rtol=1e-12)
            better = np.less(averaged, final)
            self.assertEqual(taken[method], ["averaged", f"on {better.sum()} of 5"] if np.median(averaged) < np.median(final)
                             else ["last", f"on {(~better).sum()} of 5"])
        self.assertEqual(taken["far"], ["\u2013"])
        self.assertIn("Take the last iterate of", self.one("#recommendation").text)

    def test_the_table_is_sorted_by_mouse_and_by_key(self):
        methods = lambda: self.texts("#ranking-table td.text")
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
        for figure in ("curves", "network", "steps"):
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

    def test_fits_a_narrow_screen(self):
        self.narrow(360)
        self.open("small")
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 360)

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
        self.assertIn(HOSTILE, self.texts("#ranking-table td.text"))
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

    def test_several_experiments_can_be_chosen(self):
        self.open("several")
        buttons = self.all("#experiments button")
        self.assertEqual(len(buttons), 3)
        buttons[1].click()
        self.assertEqual(self.one("h1").text, "second")
        self.assertEqual(len(self.all("#curves-figure .line")), 2)
        self.assertFalse(self.one("#tunings").is_displayed())
        self.assertEqual(self.browser.switch_to.active_element.get_attribute("aria-current"), "true")
        self.all("#experiments button")[0].click()
        self.assertEqual(len(self.all("#curves-figure .line")), 4)

    def test_what_was_not_recorded_is_said(self):
        self.open("bare")
        self.assertEqual(self.all("#network-figure svg"), [])
        self.assertIn("501 agents", self.one("#network-note").text)
        self.assertIn('[record] steps = "agents"', self.one("#network-note").text)
        self.assertFalse(self.one("#time").is_displayed())
        self.assertEqual(len(self.all("#steps-figure .line")), 1)
        Select(self.one("#measure")).select_by_value("excess-risk-averaged")
        self.assertEqual(self.all("#curves-figure .line"), [])
        self.assertIn("not recorded", self.one("#legend").text)

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
        self.assertIn("1M recorded", self.one("#curves-note").text)


if __name__ == "__main__":
    _page.main()
