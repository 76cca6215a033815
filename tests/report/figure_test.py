# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""figure_test.py REPORT_DUMP: figures for papers in a browser: their legends hide nothing, dark pages do not either."""

import _page
from _page import Page

# The boxes of the texts that name methods, and those of their points that lie in one, of all curves.
MEASURE = """
    const names = [...document.querySelectorAll("text")].filter(e => e.textContent.trim().startsWith("method"));
    const plain = new Set(["rgb(228, 228, 228)", "rgb(32, 32, 32)", "none", "gray", "black"]);
    const paths = [...document.querySelectorAll("path")].filter(e => !plain.has(getComputedStyle(e).stroke));
    const boxes = names.map(e => e.getBoundingClientRect());
    const inside = [];
    for (const path of paths) {
      const at = path.getScreenCTM(), length = path.getTotalLength();
      for (let s = 0; s <= length; s += 1) {
        const p = path.getPointAtLength(s).matrixTransform(at);
        boxes.forEach((b, n) => {
          if (p.x > b.left && p.x < b.right && p.y > b.top + 2 && p.y < b.bottom - 2) inside.push(names[n].textContent);
        });
      }
    }
    const size = document.querySelector("svg").getBoundingClientRect();
    return {boxes: boxes.map(b => [b.left, b.top, b.right, b.bottom]), inside: [...new Set(inside)], paths: paths.length,
            size: [size.width, size.height]};"""


class Figures(Page):
    def measured(self, name):
        self.browser.get((self.write("figures") / name).as_uri())
        return self.script(MEASURE)

    def test_a_legend_hides_no_curve_wherever_it_stands(self):
        for name, names in (("free-inside", 3), ("free-auto", 3), ("crowded-auto", 4), ("crowded-outside", 4),
                            ("crowded-below", 4), ("large-letters", 4), ("many-below", 13), ("many-outside", 13),
                            ("profile-below", 5), ("profile-outside", 5)):
            with self.subTest(name):
                found = self.measured(name + ".svg")
                self.assertEqual(len(found["boxes"]), names)
                self.assertGreaterEqual(found["paths"], names)
                self.assertEqual(found["inside"], [])
                self.assert_apart(found["boxes"])
                for left, top, right, bottom in found["boxes"]:
                    self.assertGreaterEqual(min(left, top), 0)
                    self.assertLessEqual(right, found["size"][0] + 1)
                    self.assertLessEqual(bottom, found["size"][1] + 1)

    def test_the_legend_of_many_methods_is_much_lower_than_the_plot(self):
        boxes = self.measured("many-below.svg")["boxes"]
        height = max(box[3] for box in boxes) - min(box[1] for box in boxes)
        self.assertLess(height, 0.4 * 7.5 / 2.54 * 96)

    def test_also_rans_of_a_profile_are_grey(self):
        self.measured("profile-below.svg")
        self.assertIn("8 other methods", [e.text.strip() for e in self.all("text")])
        lines = self.script("""
            return [...document.querySelectorAll("path")].filter(e => e.getTotalLength() > 60)
                .map(e => getComputedStyle(e).stroke).filter(c => c === "rgb(184, 184, 184)").length;""")
        self.assertGreaterEqual(lines, 8)

    def test_a_curve_that_falls_to_0_leaves_the_frame_there(self):
        self.measured("falling.svg")
        falls, lags = self.script("""
            const lowest = colour => Math.max(...[...document.querySelectorAll("path")]
                .filter(e => getComputedStyle(e).stroke === colour).map(e => e.getBoundingClientRect().bottom));
            return [lowest("rgb(0, 76, 134)"), lowest("rgb(230, 159, 0)")];""")
        self.assertGreaterEqual(falls, lags - 1)

    def test_the_ground_is_white_on_a_dark_page(self):
        self.measured("free-auto.svg")
        ground = self.script("""
            const all = [...document.querySelectorAll("rect")];
            const size = document.querySelector("svg").getBoundingClientRect();
            const whole = all.find(e => e.getBoundingClientRect().width >= size.width - 1 &&
                                        e.getBoundingClientRect().height >= size.height - 1);
            return whole ? getComputedStyle(whole).fill : null""")
        self.assertEqual(ground, "rgb(255, 255, 255)")


if __name__ == "__main__":
    _page.main()
