# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""width_test.py POLYHOP: what is printed fits a terminal of 60, 80 and 120 columns, and nothing is cut for that."""

import json
import os
import re

import _polyhop
from _polyhop import CommandTest

WIDTHS = (60, 80, 120)
LONG = "gradient tracking of a long name"
EXPERIMENT = f"""\
name = "wide"
seeds = "0..2"
iterations = 60
record_every = 10
target = 1e-3

[graph]
topology = "erdos-renyi"
probability = 0.6
agents = 6

[problem]
dimension = 5
samples = 4

[tuning]
budget = 3

[[method]]
name = "{LONG}"
algorithm = "gradient-tracking"
step = "tuned"

[[method]]
name = "GAP, as published"
step = "gap"

[[method]]
name = "far"
step = {{ rule = "constant", value = 1e6 }}
"""
NUMBER = re.compile(r"\d[\d.]*(?:e[+-]\d+)?[kMG]?")


def numbers(text):
    """The numbers that a text shows, those that rows begin with and times apart."""
    return set(NUMBER.findall(text))


class Width(CommandTest):
    def setUp(self):
        super().setUp()
        self.put("wide.toml", EXPERIMENT)
        rows = "".join(f"{n % 7},{n * n % 11},{'malignant' if n % 3 else 'benign'}\n" for n in range(60))
        self.put("d.csv", "a,b,kind\n" + rows)

    def fits(self, text, columns, *command):
        self.assertTrue(text, command)
        for line in text.splitlines():
            self.assertLessEqual(len(line), columns, command)
        self.assertNotIn("\u2026", text, command)

    def test_every_command_fits(self):
        self.done("run", "wide.toml", "-o", "one", "--quiet")
        self.done("fit", "d.csv", "--agents", "3", "--l2", "0.1", "-o", "m.npz", "--quiet")
        commands = (["run", "wide.toml", "-o", "one", "--quiet"], ["report", "one"], ["check", "wide.toml"], ["methods"],
                    ["methods", "gap"], ["methods", "constant"], ["methods", "exact-diffusion"], ["methods", "huber"],
                    ["data"], ["fit", "d.csv", "--agents", "3", "-o", "n.npz"], ["evaluate", "m.npz", "d.csv"],
                    ["predict", "m.npz", "d.csv"], ["graph", "wide.toml"], ["graph", "--topology", "star", "--agents", "40"],
                    ["doctor"])
        for columns in WIDTHS:
            for command in commands:
                text = self.on_terminal(*command, columns=columns)
                # Paths and the experiment that `check` prints are for copying: they stay in one line each.
                copied = r"Written: |The (page|data|model): " + (r"|[a-z_]+ = " if columns < 80 else "")
                kept = [line for line in text.splitlines() if not re.match(copied, line)]
                if command == ["doctor"]:
                    kept = [line for line in kept if "current folder" not in line and "/" not in line]
                self.fits("\n".join(kept), columns, command, columns)

    def test_names_that_one_copies_are_whole(self):
        listed = json.loads(self.done("methods", "--json").stdout)
        names = [entry["name"] for kind in ("algorithms", "rules", "losses") for entry in listed[kind]]
        for columns in WIDTHS:
            words = set(self.on_terminal("methods", columns=columns).split())
            self.assertLessEqual(set(names), words)
            options = self.on_terminal("methods", "gap", columns=columns)
            for option in json.loads(self.done("methods", "gap", "--json").stdout)["options"]:
                self.assertRegex(options, rf"(?m)^{option['name']}\b")

    def test_a_ranking_shows_the_same_numbers_and_names_at_every_width(self):
        self.done("run", "wide.toml", "-o", "one", "--quiet")
        whole = self.done("report", "one").stdout
        ranking = whole[:whole.index("Written")]
        for columns in WIDTHS:
            text = self.on_terminal("report", "one", columns=columns)
            tables = ranking[:ranking.index("excess risk\n")]
            self.assertLessEqual(numbers(tables), numbers(text), columns)
            self.assertIn(LONG, " ".join(text.split()))
            flat = " ".join(text.split())
            for sentence in ranking.split("\n"):
                if sentence.endswith("."):
                    self.assertIn(sentence, flat)

    def test_every_column_has_a_label(self):
        self.done("fit", "d.csv", "--agents", "3", "--l2", "0.1", "-o", "m.npz", "--quiet")
        for command in (["data"], ["methods"], ["methods", "gap"], ["check", "wide.toml"], ["evaluate", "m.npz", "d.csv"],
                        ["graph", "wide.toml"]):
            lines = self.done(*command).stdout.splitlines()
            rules = [n for n, line in enumerate(lines) if re.fullmatch(r"(# )?-+(  -+)*", line)]
            self.assertTrue(rules, command)
            for n in rules:
                for column in re.finditer(r"-+", lines[n]):
                    self.assertTrue(lines[n - 1][column.start():column.end()].strip(), (command, lines[n - 1]))

    def test_the_columns_of_doctor_have_labels(self):
        head, rule, first = self.done("doctor").stdout.splitlines()[:3]
        self.assertRegex(rule, r"^-+  -+  -+$")
        self.assertEqual(head.split(), ["verdict", "checked", "found"])
        for label, text in (("verdict", "ok"), ("checked", "version"), ("found", "polyhop ")):
            self.assertEqual(head.index(label), first.index(text), (head, first))

    def test_a_scoreboard_fits(self):
        (self.folder / "set").mkdir()
        for n in range(3):
            self.put(f"set/{n}.toml", EXPERIMENT.replace('"wide"', f'"instance-{n}"') + f"[faults]\ndrop = 0.{n}\n")
        self.done("run", "set", "--quiet")
        for columns in WIDTHS:
            text = self.on_terminal("report", "out/set", columns=columns)
            self.fits(text[:text.index("The page:")], columns)
            for n in range(3):
                self.assertIn(f"instance-{n}", text)

    def test_without_a_terminal_lines_have_80_columns_or_those_of_the_environment(self):
        for env, columns in (({}, 80), ({"COLUMNS": "66"}, 66), ({"COLUMNS": "none"}, 80), ({"COLUMNS": "0"}, 80)):
            plain = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
            text = self.done("methods", "gap", env={**plain, "COLUMNS": "", **env}).stdout
            widest = max(len(line) for line in text.splitlines())
            self.assertLessEqual(widest, columns)
            self.assertGreater(widest, columns - 12)


class Errors(CommandTest):
    def told(self, *command, columns, code=3):
        return self.on_terminal(*command, columns=columns, stream="stderr", code=code)

    def test_messages_are_wrapped_between_words(self):
        self.put("e.toml", self.changed(('"path"', '"erdos-reny"'), ("iterations", "iteration")))
        for columns in WIDTHS:
            text = self.told("run", "e.toml", columns=columns)
            self.assertGreater(len(text.splitlines()), 2 if columns < 120 else 1)
            for line in text.splitlines():
                self.assertLessEqual(len(line), columns)
                self.assertTrue(line.startswith(("polyhop: ", "  ")), line)
            flat = " ".join(text.split())
            self.assertIn("e.toml:3: iteration: unknown key; did you mean 'iterations'?", flat)
            usage = self.told("run", "e.toml", "--blue", columns=columns, code=2)
            self.assertLessEqual(max(len(line) for line in usage.splitlines()), columns)

    def test_paths_and_names_stay_whole(self):
        folder = "a folder with blanks in its name and more words than a line has room for"
        (self.folder / folder).mkdir()
        self.put(f"{folder}/e.toml", self.changed(("iterations", "iteration")))
        for columns in WIDTHS:
            text = self.told("run", f"{folder}/e.toml", columns=columns)
            self.assertIn(f"{folder}/e.toml:3:", text)
            text = self.told("report", f"{folder}/nothing", columns=columns)
            self.assertIn(f"'{folder}/nothing'", text)
        long = "x" * 150
        self.assertIn(long, self.told("run", f"{long}.toml", columns=60))

    def test_a_pipe_gets_each_message_in_one_line(self):
        self.put("e.toml", self.changed(('"path"', '"erdos-reny"'), ("iterations", "iteration")))
        result = self.polyhop("run", "e.toml", env={**os.environ, "COLUMNS": "60"})
        self.assertEqual(len(result.stderr.splitlines()), 2, result.stderr)


class ProgressLine(CommandTest):
    def setUp(self):
        super().setUp()
        self.put("long.toml", EXPERIMENT.replace("iterations = 60", "iterations = 20000"))

    def test_it_is_drawn_in_place_and_fits(self):
        for columns in WIDTHS:
            shown = self.on_terminal("run", "long.toml", "-o", f"out-{columns}", columns=columns, stream="stderr")
            lines = shown.split("\n")
            drawn = lines[0].split("\r\033[K")[1:]
            self.assertEqual(lines[1:], [""], "one line in place, ended once")
            self.assertGreater(len(drawn), 2)
            for text in drawn:
                self.assertLess(len(text), columns)
            self.assertTrue(drawn[-1].startswith("100%"), drawn[-1])
            self.assertFalse(any(text.startswith("100%") for text in drawn[:-1]), "not before all is done")

    def test_a_pipe_gets_whole_lines_and_the_last_at_100_percent(self):
        # So many runs that the last of them is less than a tenth.
        result = self.done("run", "e.toml", "-o", "out", "--seeds", "0..10")
        lines = result.stderr.splitlines()
        self.assertGreater(len(lines), 3)
        for line in lines:
            self.assertRegex(line, r"^ *\d+%  \d+/22 runs")
        self.assertTrue(lines[-1].startswith("100%  22/22 runs"), lines[-1])
        self.assertNotIn("\r", result.stderr)

    def test_a_fit_draws_its_line_in_place(self):
        # Features of unlike sizes, labels that they do not tell, and a tolerance beyond rounding: it takes all iterations.
        rows = "".join(f"{','.join(str((n * k * k + 7 * k) % 101 * 10**(k % 5)) for k in range(1, 31))},"
                       f"{'a' if n * n % 17 < 8 else 'b'}\n" for n in range(3000))
        self.put("big.csv", rows)
        fit = ("fit", "big.csv", "--method", "exact-diffusion", "--tolerance", "1e-18", "--iterations", "1500", "-o", "m.npz")
        for columns in WIDTHS:
            shown = self.on_terminal(*fit, columns=columns, stream="stderr", code=4)
            plan, *drawn = shown.split("\r\033[K")
            for line in plan.splitlines():
                self.assertLessEqual(len(line), columns)
            self.assertIn("Fitting logistic to 3000 samples of 8 agents", " ".join(plan.split()))
            self.assertGreater(len(drawn), 1)
            for text in drawn:
                self.assertRegex(text, r"^ *\d+%  iteration ")
                self.assertLess(len(text.rstrip("\n")), columns)
            self.assertNotIn("\n", "".join(drawn[:-1]))
            self.assertTrue(drawn[-1].startswith("100%  iteration 1500,"), drawn[-1])
            self.assertFalse(any(text.startswith("100%") for text in drawn[:-1]), "not before all is done")
        # In a pipe there is a line per second, and what share is done never falls.
        piped = self.polyhop(*fit[:-4], "--iterations", "30000", "-o", "m.npz").stderr.splitlines()
        told = [line for line in piped if "%  iteration " in line]
        self.assertGreater(len(told), 1)
        self.assertTrue(told[-1].startswith("100%  iteration 30000, "), told[-1])
        shares = [int(line.split("%")[0]) for line in told]
        self.assertEqual(shares, sorted(shares))


if __name__ == "__main__":
    _polyhop.main()
