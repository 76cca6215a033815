# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""report_test.py POLYHOP: what `polyhop report` and `polyhop export` make of a run."""

import json
import re

import numpy as np

import _polyhop
from _polyhop import CommandTest


class Report(CommandTest):
    def setUp(self):
        super().setUp()
        self.done("run", "e.toml", "-o", "out", "--quiet")

    def outputs(self):
        """Everything but what SQLite keeps beside a database."""
        return {name for name in self.listing() if "sqlite-" not in name}

    def test_shows_the_ranking_and_the_curves_again(self):
        printed = self.done("report", "out", "--plain").stdout
        self.assertIn("tiny: 4 of 4 runs ended", printed)
        self.assertIn("Excess risk at the end", printed)
        self.assertIn("a GAP", printed)
        self.assertTrue(printed.isascii())

    def test_json_is_the_summary_and_nothing_else(self):
        before = self.outputs()
        (self.folder / "out/report.html").unlink()
        printed = self.done("report", "out", "--json").stdout
        self.assertEqual(printed, (self.folder / "out/summary.json").read_text())
        self.assertEqual([method["method"] for method in json.loads(printed)["methods"]], ["GAP", "far"])
        self.assertEqual(self.outputs(), before - {"out/report.html"}, "no page unless -o asks for one")
        self.done("run", "e.toml", "-o", "other", "--quiet", "--set", "name=other")
        both = json.loads(self.done("report", "out", "other", "--json", "-o", "page.html").stdout)
        self.assertEqual([each["name"] for each in both], ["tiny", "other"])
        self.assertTrue((self.folder / "page.html").exists())

    def test_json_of_a_folder_of_experiments_is_its_scoreboard(self):
        self.done("run", "e.toml", "-o", "many/one", "--quiet")
        board = json.loads(self.done("report", "many", "--json").stdout)
        self.assertEqual([instance["name"] for instance in board["instances"]], ["tiny"])

    def test_colours_are_for_terminals_and_for_who_asks(self):
        bold = "\033[1m"
        self.assertNotIn("\033", self.done("report", "out").stdout)
        self.assertNotIn("\033", self.done("report", "out", "--color", "auto").stdout)
        self.assertIn(bold, self.done("report", "out", "--color", "always").stdout)
        self.assertIn(bold, self.done("run", "e.toml", "-o", "out", "--quiet", "--color", "always").stdout)
        for no_color, expected in (("", True), ("1", False)):
            text = self.on_terminal("report", "out", columns=80, env={"NO_COLOR": no_color, "TERM": "xterm"})
            self.assertEqual(bold in text, expected)
        self.assertNotIn("\033", self.on_terminal("report", "out", "--color", "never", columns=80, env={"NO_COLOR": ""}))
        self.assertIn("\033[33m'far' diverged", self.done("report", "out", "--color", "always").stdout)

    def test_axes_change_the_plot_on_the_terminal_too(self):
        shown = self.done("report", "out", "--plain", "--x", "vectors", "--y", "consensus-error").stdout
        self.assertRegex(shown, r"(?m)^consensus error$")
        self.assertRegex(shown, r"(?m)^ +0 .*  vectors$")
        self.assertNotIn("  iterations\n", shown[shown.index("consensus error"):])

    def test_what_is_no_folder_of_results(self):
        def refused(name, says):
            for command in (["report", name], ["export", name, "-o", "tables"]):
                result = self.polyhop(*command)
                self.assertEqual(result.returncode, 3)
                self.assertIn(says, result.stderr)

        refused("e.toml", "'e.toml' is an experiment, and its results are in a folder; run it first, with "
                          "`polyhop run e.toml`")
        self.done("run", "e.toml", "--quiet", "-o", "out/tiny")
        refused("e.toml", "'e.toml' is an experiment, and its results are in a folder: give 'out/tiny' instead")
        refused("tiny", "there is no experiment in 'tiny'; did you mean 'out/tiny'?")
        refused("out/report.html", "'out/report.html' is a file of an experiment's results; give their folder, 'out'")
        refused("nowhere", "'nowhere' does not exist; `polyhop run` writes the results of the experiment NAME into out/NAME")

    def test_flags_of_figures_without_a_figure_are_told(self):
        told = self.done("report", "out", "--width", "3in", "--legend", "below").stderr
        self.assertEqual(told, "polyhop: --width has no effect without --figure\n"
                               "polyhop: --legend has no effect without --figure\n")

    def test_writes_the_page_beside_the_store_or_where_it_is_told(self):
        (self.folder / "out/report.html").unlink(missing_ok=True)
        self.assertEqual(self.done("report", "out", "--quiet").stdout, "")
        self.assertIn("report.html", self.listing("out"))
        self.done("report", "out", "-o", "page.html", "--quiet")
        self.assertTrue((self.folder / "page.html").read_text(encoding="utf-8").lower().startswith("<!doctype html>"))

    def test_the_settings_that_the_page_copies_make_the_experiment_again(self):
        page = (self.folder / "out/report.html").read_text(encoding="utf-8")
        data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))
        self.put("again.toml", "".join(line + "\n" for line in data["experiments"][0]["toml"]))
        self.done("run", "again.toml", "-o", "again", "--quiet")
        seconds = {"seconds": ""}
        self.assertEqual([row | seconds for row in self.curves("again")], [row | seconds for row in self.curves("out")])

    def test_the_page_of_several_experiments_stands_in_none_of_their_folders(self):
        self.done("run", "e.toml", "-o", "other", "--quiet", "--set", "name=other")
        for folder in ("out", "other"):
            (self.folder / folder / "report.html").unlink()
        self.done("report", "out", "other", "--quiet")
        self.assertEqual([name for name in self.listing() if name.endswith("report.html")], ["report.html"])

    def test_draws_figures_in_three_formats(self):
        starts = {"a.svg": b"<?xml", "b.pdf": b"%PDF", "c.png": b"\x89PNG"}
        flags = [flag for name in starts for flag in ("--figure", name)]
        for x in ("iterations", "vectors", "evaluations", "seconds"):
            self.done("report", "out", "--x", x, "--y", "consensus-error", "--quiet", *flags)
            for name, start in starts.items():
                self.assertTrue((self.folder / name).read_bytes().startswith(start), name)
                (self.folder / name).unlink()

    def test_several_experiments_share_a_figure_under_their_names(self):
        self.done("run", "e.toml", "-o", "other", "--quiet", "--set", "name=other")
        self.done("report", "out", "other", "--figure", "f.svg", "--method", "GAP", "--quiet")
        text = (self.folder / "f.svg").read_text(encoding="utf-8")
        self.assertIn(">tiny: GAP<", text)
        self.assertIn(">other: GAP<", text)
        self.assertNotIn("far<", text)

    def test_experiments_of_one_name_go_by_their_folders(self):
        self.done("run", "e.toml", "-o", "other", "--quiet", "--set", "iterations=10")
        printed = self.done("report", "out", "other", "--figure", "f.svg", "--method", "GAP").stdout
        self.assertIn("\nother: 4 of 4 runs ended", "\n" + printed)
        self.assertNotIn("tiny", printed)
        text = (self.folder / "f.svg").read_text(encoding="utf-8")
        self.assertIn(">out: GAP<", text)
        self.assertIn(">other: GAP<", text)
        both = json.loads(self.done("report", "out", "other", "--json").stdout)
        self.assertEqual([each["name"] for each in both], ["tiny", "tiny"])
        for folder in ("one", "two"):
            self.done("run", "e.toml", "-o", f"many/{folder}", "--quiet")
        board = json.loads(self.done("report", "many", "--json").stdout)
        self.assertEqual([instance["name"] for instance in board["instances"]], ["one", "two"])

    def test_a_figure_has_the_size_and_the_font_that_are_asked_for(self):
        size = lambda *flags: [int(n) for n in re.search(r'width="(\d+)" height="(\d+)"', self.figure(*flags)).groups()]
        self.assertEqual(size("--width", "3.5in")[0], 336)
        self.assertEqual(size("--width", "3.5in", "--height", "50.8mm", "--legend", "none"), [336, 192])
        narrow, wide = (size("--width", width, "--legend", "none") for width in ("3.5in", "7in"))
        self.assertAlmostEqual(narrow[1] / narrow[0], wide[1] / wide[0], places=2, msg="the height follows")
        self.assertIn("Times New Roman", self.figure("--font", "Times New Roman,9"))

    def test_bands_and_legends_are_drawn_as_asked_for(self):
        bands = lambda *flags: "fill-opacity" in self.figure("--method", "GAP", *flags)
        for flags in ([], ["--bands", "all"], ["--bands", "GAP"], ["--bands", "auto"]):
            self.assertTrue(bands(*flags), flags)
        for flags in (["--bands", "none"], ["--no-band"]):
            self.assertFalse(bands(*flags), flags)
        for place, shown in (("below", True), ("outside", True), ("none", False)):
            self.assertEqual(">GAP<" in self.figure("--legend", place), shown, place)

    def figure(self, *flags):
        self.done("report", "out", "--figure", "f.svg", "--quiet", *flags)
        return (self.folder / "f.svg").read_text(encoding="utf-8")

    def test_bad_arguments_are_told(self):
        before = self.outputs()
        for code, words, *arguments in (
            (2, "unknown name \"iteration\"; did you mean 'iterations'?", "--x", "iteration"),
            (2, "unknown name", "--y", "loss"),
            (3, "should end in .svg, .pdf or .png", "--figure", "f.gif"),
            (3, "there is no method", "--figure", "f.svg", "--method", "GAPE"),
            (3, "--method: there is no method \"GAPE\"; did you mean 'GAP'?", "--method", "GAPE"),
            (3, "--figure: cannot write 'no/f.pdf': there is no folder 'no'; make it with mkdir -p no", "--figure", "no/f.pdf"),
            (3, "no/page.html", "-o", "no/page.html"),
            (2, "such as 8.8cm or 3.5in", "--figure", "f.svg", "--width", "3.5ft"),
            (2, "should be from 3 to 100 cm", "--figure", "f.svg", "--height", "0in"),
            (2, "should be from 4 to 40 points, found 0", "--figure", "f.svg", "--font", "Times,0"),
            (2, "is not the name of a font; write", "--figure", "f.svg", "--font", "a'b"),
            (2, "unknown name \"right\"", "--figure", "f.svg", "--legend", "right"),
            (3, "--bands: there is no method \"GAPE\"; did you mean 'GAP'?", "--figure", "f.svg", "--bands", "GAPE"),
            (3, "--bands: takes auto, all or none alone", "--figure", "f.svg", "--bands", "all", "--bands", "GAP"),
        ):
            with self.subTest(arguments=arguments):
                result = self.polyhop("report", "out", "--quiet", *arguments)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(words, result.stderr)
        self.assertEqual(self.outputs(), before)

    def test_a_method_without_a_figure_is_told_to_do_nothing(self):
        told = self.done("report", "out", "--quiet", "--method", "GAP").stderr
        self.assertIn("--method has no effect without --figure", told)

    def test_the_ranking_is_shown_where_the_page_cannot_be_written(self):
        (self.folder / "out/report.html").unlink()
        (self.folder / "out/report.html").mkdir()
        result = self.polyhop("report", "out")
        self.assertEqual(result.returncode, 3)
        self.assertIn("Excess risk at the end", result.stdout)
        self.assertRegex(result.stderr, "^polyhop: .*out/report.html.*; -o FILE writes the page elsewhere\n$")
        self.done("report", "out", "-o", "page.html")

    def test_a_folder_without_an_experiment_is_told(self):
        for command in (["report", "nowhere"], ["export", "nowhere", "-o", "x"]):
            result = self.polyhop(*command)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("nowhere", result.stderr)
        self.assertFalse((self.folder / "x").exists())

    def test_without_gnuplot_it_says_what_to_install(self):
        result = self.polyhop("report", "out", "--figure", "f.svg", "--quiet", env={"PATH": str(self.folder)})
        self.assertEqual(result.returncode, 1)
        self.assertIn("apt-get install gnuplot-nox", result.stderr)
        self.assertFalse((self.folder / "f.svg").exists())

    def test_export_writes_what_scripts_read(self):
        self.done("export", "out", "-o", "data")
        self.assertEqual(sorted(self.listing("data")), ["curves.csv", "models.npz", "steps.npz", "summary.json"])
        self.assertEqual(self.listing("data")["curves.csv"], self.listing("out")["curves.csv"])
        self.assertEqual(self.listing("data")["models.npz"], self.listing("out")["models.npz"])
        summary = json.loads((self.folder / "data/summary.json").read_text(encoding="utf-8"))
        self.assertEqual(summary["seeds"], [0, 1])
        self.assertEqual([m["method"] for m in summary["methods"]], ["GAP", "far"])
        self.assertEqual(summary["methods"][1]["diverged"], 2)
        self.assertIsNone(summary["methods"][0]["iterations"]["median"])
        self.assertEqual(summary["config"]["graph"]["agents"], 4)

    def test_export_holds_every_agents_steps_where_they_were_recorded(self):
        self.done("run", "e.toml", "-o", "steps", "--quiet", "--set", "record.steps=agents")
        self.done("export", "steps", "-o", "data")
        rows = [row for row in self.curves("data") if row["method"] == "GAP" and row["seed"] == "0"]
        with np.load(self.folder / "data/steps.npz", allow_pickle=False) as steps:
            taken = steps["GAP/0"]
        self.assertEqual(taken.shape, (len(rows), 4))
        self.assertTrue(np.isnan(taken[0]).all())
        self.assertEqual([float(row["step_max"]) for row in rows[1:]], taken[1:].max(axis=1).tolist())


if __name__ == "__main__":
    _polyhop.main()
