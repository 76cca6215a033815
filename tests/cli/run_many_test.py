# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""run_many_test.py POLYHOP: `polyhop run` on several files and on folders, and the scoreboard they make."""

import csv
import json
import os
import pty
import signal
import sqlite3
import subprocess

import _held_run
import _polyhop
from _polyhop import COMMAND, CommandTest

METHODS = """\
[tuning]
budget = 3

[[method]]
name = "tuned"
step = "tuned"

[[method]]
name = "GAP"
step = { rule = "gap", bound = "tight", damping = "rows" }
"""

INSTANCE = """\
include = "_methods.toml"
name = "%s"
seeds = "0..1"
iterations = 60
record_every = 5
target = 1e-2

[graph]
topology = "%s"
agents = 4

[problem]
dimension = 3
samples = 2
"""

SCOREBOARD = ["scoreboard.csv", "scoreboard.html", "scoreboard.md"]


class Many(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "set").mkdir()
        self.put("set/_methods.toml", METHODS)
        for name, topology in (("b", "path"), ("a", "ring"), ("c", "star")):
            self.put(f"set/{name}.toml", INSTANCE % (name, topology))

    def board(self, folder="out/set"):
        with open(self.folder / folder / "scoreboard.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def refused(self, *arguments, says=()):
        before = self.listing()
        result = self.polyhop("run", *arguments)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(result.stdout, "")
        for part in says:
            self.assertIn(part, result.stderr)
        self.assertEqual(self.listing(), before, "nothing is written")

    def test_a_folder_is_run_in_order_of_names(self):
        result = self.done("run", "set")
        lines = [line.split()[:2] for line in result.stderr.splitlines()]
        self.assertEqual(lines, [["[1/3]", "a"], ["[2/3]", "b"], ["[3/3]", "c"]])
        self.assertIn("3 instances, 2 methods, 2 seeds", result.stdout)
        self.assertIn("The page: out/set/scoreboard.html", result.stdout)
        self.assertNotIn("\x1b", result.stdout + result.stderr)
        names = sorted(p.name for p in (self.folder / "out/set").iterdir())
        self.assertEqual(names, ["a", "b", "c", "figures", *SCOREBOARD])
        self.assertEqual(sorted(self.listing("out/set/figures")),
                         [f"scoreboard-{s}.svg" for s in ("final-risk-averaged", "iterations", "vectors")])
        for name in "abc":
            self.assertEqual(sorted(self.listing(f"out/set/{name}")),
                             ["curves.csv", "experiment.sqlite", "models.npz", "report.html", "summary.json"])

    def test_files_are_run_as_they_are_named(self):
        result = self.done("run", "set/c.toml", "e.toml", "--quiet")
        self.assertEqual(result.stderr, "")
        self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir() if p.is_dir()),
                         ["c", "figures", "tiny"])
        self.assertEqual([row["instance"] for row in self.board("out")], ["c"] * 3 + ["tiny"] * 3)
        self.done("run", "set/c.toml", "e.toml", "-o", "there", "--quiet")
        self.assertTrue((self.folder / "there/tiny/experiment.sqlite").exists())

    def test_one_file_is_one_experiment(self):
        self.done("run", "set/c.toml", "--quiet")
        self.assertFalse((self.folder / "out/scoreboard.md").exists())
        self.assertTrue((self.folder / "out/c/report.html").exists())

    def test_the_same_numbers_as_one_by_one(self):
        self.done("run", "set", "--quiet")
        self.done("run", "set/a.toml", "-o", "alone", "--quiet")
        drop = lambda rows: [{k: v for k, v in row.items() if k != "seconds"} for row in rows]
        self.assertEqual(drop(self.curves("out/set/a")), drop(self.curves("alone")))

    def test_flags_hold_for_all(self):
        self.done("run", "set", "--quiet", "--seeds", "[3, 4, 5]", "--set", "graph.agents=5", "--threads", "1")
        for row in self.board():
            self.assertEqual((row["agents"], row["seeds"], row["runs"]), ("5", "3", "3"))
        # The document says how it was made, with all that decides its numbers.
        document = (self.folder / "out/set/scoreboard.md").read_text(encoding="utf-8")
        self.assertIn("polyhop run set --set graph.agents=5 --set 'seeds=[3, 4, 5]'", document)

    def test_the_table_holds_ratios_to_the_tuned_constant(self):
        self.done("run", "set", "--quiet")
        rows = {(row["instance"], row["method"]): row for row in self.board()}
        self.assertEqual(len(rows), 6)
        for (instance, method), row in rows.items():
            base = rows[instance, "tuned"]
            self.assertEqual(row["baseline"], "tuned")
            for score in ("iterations", "vectors"):
                value, ratio = float(row[score]), float(row[f"{score}_ratio"])
                if value < float("inf") and float(base[score]) < float("inf"):
                    self.assertAlmostEqual(ratio, value / float(base[score]), places=12)
            self.assertEqual(int(row["trials"]) > 0, method == "tuned")

    def test_json_is_the_scoreboard(self):
        result = self.done("run", "set", "--json", "--quiet")
        board = json.loads(result.stdout)
        self.assertEqual([i["name"] for i in board["instances"]], ["a", "b", "c"])
        self.assertEqual({m["method"] for m in board["methods"]}, {"tuned", "GAP"})
        self.assertEqual(set(board["profiles"]), {"methods", "iterations", "vectors", "final_risk_averaged"})
        self.assertIn("polyhop", board["provenance"])

    def test_colours_are_for_those_who_want_them(self):
        self.assertIn("\x1b[1m", self.done("run", "set", "--quiet", "--color", "always").stdout)
        self.assertNotIn("\x1b", self.done("run", "set", "--quiet", "--color", "never").stdout)
        self.assertIn("\x1b[1m", self.done("run", "e.toml", "--quiet", "--color", "always").stdout)

    def test_what_is_finished_is_not_run_again(self):
        self.done("run", "set", "--quiet")
        before = self.listing("out/set")
        self.done("run", "set", "--quiet")
        after = self.listing("out/set")
        curves = [name for name in before if name.endswith("curves.csv")]
        self.assertEqual(len(curves), 3)
        for name in curves:  # seconds among them: a run again would take another time
            self.assertEqual(before[name], after[name], name)

    def test_fresh_starts_all_over(self):
        self.done("run", "set", "--quiet")
        with sqlite3.connect(self.folder / "out/set/a/experiment.sqlite") as store:
            store.execute("UPDATE points SET excess_risk = 5")
        store.close()
        self.done("run", "set", "--quiet")
        self.assertEqual({row["excess_risk"] for row in self.curves("out/set/a")}, {"5"})
        self.done("run", "set", "--quiet", "--fresh")
        self.assertNotEqual({row["excess_risk"] for row in self.curves("out/set/a")}, {"5"})

    def test_a_bad_file_ends_all_before_it_begins(self):
        self.put("set/b.toml", (INSTANCE % ("b", "path")).replace("iterations = 60", "iteration = 60"))
        self.refused("set", says=["set/b.toml:4: iteration: unknown key; did you mean 'iterations'?"])
        self.refused("set/a.toml", "nowhere.toml", says=["nowhere.toml"])

    def test_errors_in_an_included_file_name_it(self):
        self.put("set/_methods.toml", METHODS.replace("tight", "tihgt"))
        self.refused("set", says=["set/_methods.toml:10: method.\"GAP\".step.bound: unknown name"])

    def test_two_experiments_of_one_name_are_refused(self):
        self.put("set/d.toml", INSTANCE % ("a", "path"))
        self.refused("set", says=["set/a.toml", "set/d.toml", "name"])

    def test_a_folder_without_experiments_is_refused(self):
        (self.folder / "none").mkdir()
        self.put("none/_methods.toml", METHODS)
        self.refused("none", says=["none: holds no experiment"])

    def test_the_folder_of_one_experiment_is_not_that_of_many(self):
        self.done("run", "e.toml", "-o", "mine", "--quiet")
        self.refused("set", "-o", "mine", says=["-o", "mine"])

    def test_one_that_fails_does_not_stop_the_others(self):
        # The numbers of this start do not fit the network.
        self.put("set/w.txt", "1 2\n")
        self.put("set/a.toml", 'start = "w.txt"\n' + INSTANCE % ("a", "ring"))
        result = self.polyhop("run", "set")
        self.assertEqual(result.returncode, 3)
        self.assertRegex(result.stderr, r"\[1/3\] a +failed\n")
        self.assertRegex(result.stderr.splitlines()[-1], r"polyhop: failed: set/a.toml: .*w.txt")
        self.assertEqual([row["instance"] for row in self.board()][::2], ["b", "c"])
        self.assertFalse((self.folder / "out/set/a").exists(), "nothing stays of it")
        self.put("set/a.toml", INSTANCE % ("a", "ring"))
        self.done("run", "set", "--quiet")
        self.assertEqual([row["instance"] for row in self.board()][::2], ["a", "b", "c"])

    def test_a_store_that_cannot_be_read_fails_alone(self):
        (self.folder / "out/set/b").mkdir(parents=True)
        self.put("out/set/b/notes.txt", "mine")
        result = self.polyhop("run", "set", "--quiet")
        self.assertEqual(result.returncode, 3)
        self.assertIn("notes.txt", result.stderr)
        self.assertEqual([row["instance"] for row in self.board()][::2], ["a", "c"])

    def test_report_makes_the_scoreboard_again(self):
        ran = self.done("run", "set", "--quiet")
        written = self.listing("out/set")
        for name in SCOREBOARD:
            (self.folder / "out/set" / name).unlink()
        shown = self.done("report", "out/set")
        self.assertEqual(shown.stdout, ran.stdout)
        self.assertEqual(self.listing("out/set")["scoreboard.csv"], written["scoreboard.csv"])
        self.assertIn("polyhop report out/set", (self.folder / "out/set/scoreboard.md").read_text(encoding="utf-8"))
        self.done("report", "out/set", "--figure", "p.svg", "--score", "vectors", "--quiet")
        self.assertIn("vectors", (self.folder / "p.svg").read_text(encoding="utf-8"))
        refused = self.polyhop("report", "out/set", "out/set/a")
        self.assertEqual(refused.returncode, 3)
        self.assertIn("shown alone", refused.stderr)

    def test_without_gnuplot_there_are_no_figures(self):
        self.done("run", "set", "--quiet", env={"PATH": str(self.folder)})
        self.assertFalse((self.folder / "out/set/figures").exists())
        self.assertNotIn("figures/", (self.folder / "out/set/scoreboard.md").read_text(encoding="utf-8"))

    def test_a_terminal_sees_one_line_for_each(self):
        leader, follower = pty.openpty()
        process = subprocess.Popen([COMMAND, "run", "set"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=follower)
        os.close(follower)
        seen = b""
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:
                break
            if not part:
                break
            seen += part
        os.close(leader)
        self.assertEqual(process.wait(), 0)
        lines = [line.split("\x1b[K")[-1] for line in seen.decode().replace("\r\n", "\n").rstrip("\n").split("\n")]
        self.assertEqual([line.split()[1] for line in lines if line.startswith("[")], ["a", "b", "c"])
        self.assertEqual(len(lines), 3)


class Interrupted(CommandTest):
    LONG = """\
name = "%s"
seeds = "0..1"
iterations = 60000
record_every = 1000
checkpoint_every = 0.02
[graph]
topology = "ring"
agents = 6
[problem]
dimension = 40
samples = 4
[[method]]
name = "GAP"
step = "gap"
"""

    def test_an_interrupted_command_goes_on_to_the_same_bits(self):
        (self.folder / "set").mkdir()
        for name in "ab":
            self.put(f"set/{name}.toml", self.LONG % name)
        self.done("run", "set", "-o", "whole", "--quiet")
        command = [COMMAND, "run", "set", "-o", "cut", "--quiet"]
        process = _held_run.held(self, command, self.folder / "cut/a", cwd=self.folder)
        out = _held_run.interrupted(process, signal.SIGINT)
        self.assertEqual(process.returncode, 130)
        self.assertIn("run the same command to continue", out)
        self.assertFalse((self.folder / "cut/b").exists(), "the next one was not begun")
        self.done("run", "set", "-o", "cut", "--quiet")
        for name in "ab":
            rows = [[{k: v for k, v in row.items() if k != "seconds"} for row in self.curves(f"{folder}/{name}")]
                    for folder in ("whole", "cut")]
            self.assertEqual(rows[0], rows[1])


if __name__ == "__main__":
    _polyhop.main()
