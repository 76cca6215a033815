# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""run_test.py POLYHOP: what `polyhop run` prints and writes when all is well."""

import contextlib
import math
import os
import pty
import re
import signal
import subprocess

import numpy as np

import _polyhop
from _polyhop import CommandTest


OUTPUTS = ["curves.csv", "experiment.sqlite", "models.npz", "report.html", "summary.json"]


class Run(CommandTest):
    def models(self, folder):
        return (self.folder / folder / "models.npz").read_bytes()

    def curves_without_seconds(self, folder):
        return [{name: x for name, x in row.items() if name != "seconds"} for row in self.curves(folder)]

    def run_tiny(self, *arguments, folder="out"):
        return self.done("run", "e.toml", "-o", folder, *arguments)

    def test_results_go_to_stdout_and_progress_to_stderr(self):
        loud = self.run_tiny()
        quiet = self.run_tiny("--quiet")
        self.assertEqual(quiet.stderr, "")
        self.assertEqual(loud.stdout, quiet.stdout)
        self.assertIn("GAP", loud.stdout)
        self.assertIn("tiny: 4 runs, medians over 2 seeds", loud.stdout)
        self.assertIn("out/curves.csv", loud.stdout)
        self.assertIn("out/models.npz", loud.stdout)
        self.assertNotIn("seed 0:", loud.stdout)
        lines = loud.stderr.splitlines()
        self.assertEqual([line[:9] for line in lines], [" 25%  1/4", " 50%  2/4", " 75%  3/4", "100%  4/4"])
        self.assertNotIn("\x1b", loud.stdout + loud.stderr)
        self.assertNotIn("\r", loud.stdout + loud.stderr)

    def test_curves_have_the_columns_and_points_of_the_interface(self):
        self.run_tiny("--quiet")
        text = (self.folder / "out/curves.csv").read_text(encoding="utf-8")
        self.assertEqual((text.splitlines()[0] + ",")[:len(_polyhop.COLUMNS) + 1], _polyhop.COLUMNS + ",")
        rows = [row for row in self.curves() if row["method"] == "GAP"]
        self.assertEqual([(r["seed"], r["iteration"]) for r in rows],
                         [(seed, i) for seed in "01" for i in ("0", "7", "14", "20")])
        for row in rows:
            self.assertEqual(row["experiment"], "tiny")
            self.assertEqual(row["status"], "done")
            for name in ("excess_risk", "excess_risk_worst", "excess_risk_mean_model", "excess_risk_averaged",
                         "consensus_error", "distance"):
                self.assertTrue(math.isfinite(float(row[name])), name)
            self.assertGreaterEqual(float(row["excess_risk_worst"]), float(row["excess_risk"]))
            self.assertEqual(math.isnan(float(row["step_median"])), row["iteration"] == "0")
            # One vector for each of the 6 directed edges in an iteration of the recursion itself.
            self.assertEqual(int(row["vectors"]) - int(row["step_vectors"]), 6 * int(row["iteration"]))
            self.assertEqual(int(row["gradients"]), 4 * int(row["iteration"]))

    def test_models_load_with_numpy_and_match_the_curves(self):
        self.run_tiny("--quiet")
        last = {(r["method"], r["seed"]): r for r in self.curves()}
        with np.load(self.folder / "out/models.npz", allow_pickle=False) as models:
            self.assertEqual(sorted(models.files),
                             sorted(["GAP/0", "GAP/0/averaged", "GAP/1", "GAP/1/averaged", "far/0", "far/1"]))
            for name in models.files:
                self.assertEqual(models[name].shape, (4, 3), name)
                self.assertEqual(models[name].dtype, np.float64)
            for seed in "01":
                w = models[f"GAP/{seed}"]
                self.assertTrue(np.isfinite(w).all())
                self.assertTrue(np.isfinite(models[f"GAP/{seed}/averaged"]).all())
                consensus = np.mean(np.sum((w - w.mean(axis=0)) ** 2, axis=1))
                np.testing.assert_allclose(consensus, float(last["GAP", seed]["consensus_error"]), rtol=1e-9)

    def test_a_method_that_diverges_is_a_result(self):
        result = self.run_tiny()
        line = next(line for line in result.stdout.splitlines() if line.split()[1:2] == ["far"])
        self.assertTrue(line.endswith("  diverged"), line)
        self.assertIn("far seed 0: diverged", result.stderr)
        rows = [row for row in self.curves() if row["method"] == "far"]
        self.assertEqual({row["status"] for row in rows}, {"diverged"})
        self.assertEqual([row["iteration"] for row in rows if row["seed"] == "0"], ["0", "7"])

    def test_numbers_that_overflow_are_written_as_such(self):
        self.put("e.toml", self.changed(("value = 1e6", "value = 1e300")))
        self.run_tiny("--quiet")
        last = [row for row in self.curves() if row["method"] == "far"][-1]
        self.assertEqual(last["status"], "diverged")
        self.assertFalse(math.isfinite(float(last["excess_risk"])))
        self.assertFalse(math.isfinite(float(last["excess_risk_worst"])))

    def test_threads_change_nothing_but_the_seconds(self):
        self.run_tiny("--quiet", "--threads", "1", folder="one")
        for threads in ("2", "5"):
            self.run_tiny("--quiet", "--threads", threads, folder=threads)
            self.assertEqual(self.curves_without_seconds(threads), self.curves_without_seconds("one"))
            self.assertEqual(self.models(threads), self.models("one"))

    def test_a_cell_on_many_threads_is_the_same_too(self):
        # 100,000 numbers of state: every run takes all threads.
        big = ["--quiet", "--seeds", "0", "--set", "problem.dimension=25000", "--set", "iterations=8"]
        self.run_tiny(*big, "--threads", "1", folder="one")
        self.run_tiny(*big, "--threads", "3", folder="three")
        self.assertEqual(self.curves_without_seconds("three"), self.curves_without_seconds("one"))
        self.assertEqual(self.models("three"), self.models("one"))

    def test_set_changes_keys(self):
        settings = ("iterations=3", "graph.agents=2", 'method.far.step={rule="polyak"}')
        self.run_tiny("--quiet", *(argument for setting in settings for argument in ("--set", setting)))
        self.assertEqual({r["iteration"] for r in self.curves()}, {"0", "3"})
        self.assertEqual({r["status"] for r in self.curves()}, {"done"})
        with np.load(self.folder / "out/models.npz") as models:
            self.assertEqual(models["GAP/0"].shape, (2, 3))

    def test_set_takes_one_value_so_that_the_file_may_follow(self):
        self.done("run", "--quiet", "--set", "iterations=3", "e.toml", "-o", "out")
        self.assertEqual(self.curves()[-1]["iteration"], "3")

    def test_seeds_replace_those_of_the_file(self):
        for argument, expected in (("7", {"7"}), ("[1, 5]", {"1", "5"}), ("2..4", {"2", "3", "4"})):
            self.run_tiny("--quiet", "--seeds", argument)
            self.assertEqual({r["seed"] for r in self.curves()}, expected)

    def test_a_second_run_overwrites_its_own_outputs(self):
        self.run_tiny("--quiet")
        before = self.listing("out")
        self.run_tiny("--quiet", "--set", "iterations=3")
        after = self.listing("out")
        self.assertEqual(sorted(after), OUTPUTS)
        self.assertEqual(self.curves()[-1]["iteration"], "3")
        self.assertNotEqual(after["models.npz"], before["models.npz"])

    def test_other_files_of_the_experiments_folder_stay(self):
        self.run_tiny("--quiet")
        self.put("out/notes.txt", "mine")
        self.run_tiny("--quiet", "--fresh")
        self.assertEqual(sorted(self.listing("out")), sorted([*OUTPUTS, "notes.txt"]))
        self.assertEqual(self.listing("out")["notes.txt"], b"mine")

    def test_outputs_go_to_a_folder_of_the_experiments_name(self):
        self.done("run", "e.toml", "--quiet")
        self.assertEqual(sorted(self.listing("out/tiny")), OUTPUTS)

    def test_folders_are_made_with_their_parents(self):
        self.run_tiny("--quiet", folder="a/b/c")
        self.assertEqual(sorted(self.listing("a/b/c")), OUTPUTS)

    def test_one_agent_works(self):
        self.run_tiny("--quiet", "--set", "graph.agents=1")
        last = [r for r in self.curves() if r["method"] == "GAP"][-1]
        self.assertEqual((last["status"], last["vectors"], float(last["consensus_error"])), ("done", "0", 0))
        with np.load(self.folder / "out/models.npz") as models:
            self.assertEqual(models["GAP/0"].shape, (1, 3))

    def test_no_iterations_work(self):
        self.run_tiny("--quiet", "--set", "iterations=0")
        self.assertEqual({r["iteration"] for r in self.curves()}, {"0"})
        with np.load(self.folder / "out/models.npz") as models:
            self.assertTrue((models["GAP/0"] == 0).all())

    def test_files_are_found_beside_the_experiment(self):
        (self.folder / "deep").mkdir()
        self.put("deep/e.toml", self.changed(('"path"', '"file"\nfile = "g.txt"'), ("agents = 4\n", "")))
        self.put("deep/g.txt", "0 1\n1 2\n")
        self.done("run", "deep/e.toml", "--quiet", "-o", "out")
        with np.load(self.folder / "out/models.npz") as models:
            self.assertEqual(models["GAP/0"].shape, (3, 3))

    def test_given_weights_work(self):
        self.put("e.toml", self.changed(('topology = "path"', 'topology = "file"\nfile = "a.mat"\nweights = "given"'),
                                        ("agents = 4\n", "")))
        self.put("a.mat", "0.5 0.5 0\n0.5 0.25 0.25\n0 0.25 0.75\n")
        self.run_tiny("--quiet")
        # Two links: 4 directed edges.
        last = [r for r in self.curves() if r["method"] == "far"][-1]
        self.assertEqual(int(last["vectors"]), 4 * int(last["iteration"]))

    def test_names_from_the_file_cannot_steer_the_terminal(self):
        # U+009B begins an escape sequence, U+202E turns the direction of writing.
        self.put("e.toml", self.changed(('name = "tiny"', r'name = "t\u009b31m"'),
                                        ('name = "GAP"', r'name = "G\u009b2J\u202eP"')))
        result = self.done("run", "e.toml")
        for stream in (result.stdout, result.stderr):
            for bad in "\x1b\x9b\u202e":
                self.assertNotIn(bad, stream)
        self.assertIn(r"\u202eP", result.stdout)
        self.assertIn(r"\u202eP seed 0: done", result.stderr)
        # Files keep the names as they are.
        self.assertEqual(self.curves("out/t\x9b31m")[0]["method"], "G\x9b2J\u202eP")
        with np.load(self.folder / "out/t\x9b31m/models.npz") as models:
            self.assertIn("G\x9b2J\u202eP/0", models.files)

    def test_names_that_need_quoting_survive_in_the_curves(self):
        self.put("e.toml", self.changed(('name = "GAP"', r'name = "a, \"b\" c/d µ"')))
        self.run_tiny("--quiet")
        self.assertEqual(self.curves()[0]["method"], 'a, "b" c/d µ')
        with np.load(self.folder / "out/models.npz") as models:
            self.assertIn('a, "b" c/d µ/0', models.files)

    def test_a_list_makes_one_method_for_each_value(self):
        self.put("e.toml", self.changed(('damping = "rows"', 'damping = "rows", sweeps = [1, 3]')))
        self.run_tiny("--quiet")
        self.assertEqual({r["method"] for r in self.curves()}, {"GAP sweeps=1", "GAP sweeps=3", "far"})

    def test_a_risk_below_rounding_is_0_in_progress_too(self):
        self.put("e.toml", self.changed(("samples = 5", 'samples = 5\nnoise = 0.5\nbatch = "all"'),
                                        ("iterations = 20", "iterations = 60"),
                                        ('{ rule = "constant", value = 1e6 }', '"auto"')))
        told = self.run_tiny()
        self.assertRegex(told.stderr, r"far seed 0: done at iteration 60, excess risk 0\n")
        self.assertRegex(told.stdout, r"\nfar +0 ")

    def test_a_search_tells_now_and_then_how_far_it_is(self):
        self.put("e.toml", self.changed(('"path"\nagents = 4', '"path"\nagents = 60'), ("iterations = 20", "iterations = 20000"),
                                        ("dimension = 3", "dimension = 300"),
                                        ("{ rule = \"constant\", value = 1e6 }", "\"tuned\"\n[tuning]\nbudget = 30")))
        command = [_polyhop.COMMAND, "run", "e.toml", "-o", "out", "--threads", "1"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
            told = [run.stderr.readline() for _ in range(2)]
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=250)
        self.assertRegex(told[1], r"^tuning far: \d+ steps? tried, at most 30, up to [\d.]+ (s|min) left\n$")
        self.assertEqual(run.returncode, 130)
        # Stopped in the search, it has no runs to show.
        result = self.polyhop("report", "out")
        self.assertEqual(result.returncode, 3)
        self.assertIn("has no runs yet: it was stopped before the first, as in the search for a constant; "
                      "`polyhop run` with its file continues it", result.stderr)

    def interrupted(self, pattern):
        """What a run shows on a terminal that is interrupted once this has been shown."""
        main, other = pty.openpty()
        with os.fdopen(main, "rb", buffering=0) as screen:
            with subprocess.Popen([_polyhop.COMMAND, "run", "e.toml", "-o", "out", "--threads", "1"], cwd=self.folder,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=other) as run:
                os.close(other)
                shown = b""
                while not re.search(pattern, shown):
                    shown += screen.read(65536)
                run.send_signal(signal.SIGINT)
                with contextlib.suppress(OSError):  # nobody writes any more
                    while part := screen.read(65536):
                        shown += part
            self.assertEqual(run.returncode, 130, shown)
        return shown

    def test_an_interrupted_run_takes_no_percentage_back(self):
        # Runs of many seconds: the interruption comes in the middle of one, however late it is.
        self.put("e.toml", self.changed(("iterations = 20", "iterations = 40000000"), ("record_every = 7", "record_every = 10000")))
        shown = self.interrupted(rb"[1-9]%")
        shares = [int(share) for share in re.findall(rb"(\d+)%", shown)]
        self.assertEqual(shares, sorted(shares))
        self.assertIn(b": unfinished", shown)
        again = self.interrupted(rb"left")
        self.assertRegex(again, rb"^\r\x1b\[K *[1-9]\d*%", "a run that goes on begins where it was")

    def test_a_search_shows_on_a_terminal_where_it_is_within_a_step(self):
        self.put("e.toml", self.changed(("iterations = 20", "iterations = 40000000"), ("record_every = 7", "record_every = 10000"),
                                        ("{ rule = \"constant\", value = 1e6 }", "\"tuned\"\n[tuning]\nbudget = 30")))
        self.interrupted(rb"\r\x1b\[Ktuning far: step \d+ of at most 30 \([-\d.e]+\), seed \d+: [1-9]\d?%, up to [\d.]+ (min|h) left")

    def test_progress_stays_in_one_line_on_a_terminal(self):
        main, other = pty.openpty()
        with os.fdopen(main, "rb", buffering=0) as screen:
            result = subprocess.run([_polyhop.COMMAND, "run", "e.toml", "-o", "out"], cwd=self.folder,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=other, timeout=250,
                                    check=False)
            os.close(other)
            shown = screen.read(65536).decode()
        self.assertEqual(result.returncode, 0)
        self.assertEqual(shown.count("\n"), 1)
        self.assertGreaterEqual(shown.count("\r\x1b[K"), 4)
        self.assertNotIn(b"\x1b", result.stdout)


class Sites(CommandTest):
    EXPERIMENT = '''name = "sites"
iterations = 3
[graph]
topology = "path"
agents = 2
[problem]
source = "file"
data = "site-{agent+1}.csv"
target = "y"
[[method]]
name = "GAP"
step = "gap"
'''

    def test_columns_are_chosen_and_matched_by_name(self):
        self.put("site-1.csv", "who,a,b,y\nann,1,2,3\nbob,2,5,4\n")
        curves = set()
        for header, rows in (("who,a,b,y", "cy,3,1,2"), ("y,b,who,a", "2,1,cy,3")):
            self.put("site-2.csv", f"{header}\n{rows}\n")
            for choice in ('drop = "who"', 'columns = "a,b"'):
                self.put("sites.toml", self.EXPERIMENT.replace("[[method]]", f"{choice}\n[[method]]"))
                self.done("run", "sites.toml", "-o", "out", "--fresh", "--quiet")
                self.done("export", "out", "-o", "exported")
                lines = (self.folder / "exported" / "curves.csv").read_text().splitlines()
                curves.add(tuple(tuple(cell for n, cell in enumerate(line.split(",")) if n != 4) for line in lines))
        self.assertEqual(len(curves), 1)  # seconds apart

    def test_a_site_without_samples_is_refused(self):
        self.put("site-1.csv", "a,y\n1,3\n")
        self.put("site-2.csv", "a,y\n")
        self.put("sites.toml", self.EXPERIMENT)
        result = self.polyhop("run", "sites.toml", "-o", "out", "--quiet")
        self.assertEqual(result.returncode, 3, result.stderr)
        for part in ("site-2.csv", "no samples", "polyhop fit"):
            self.assertIn(part, result.stderr)


class StandardFiles(CommandTest):
    def run_with(self, redirection):
        return subprocess.run(["/bin/sh", "-c", f'"$0" run e.toml -o out {redirection}', str(_polyhop.COMMAND)],
                              cwd=self.folder, capture_output=True, text=True, timeout=250, check=False)

    def test_a_standard_error_that_is_full_does_not_matter(self):
        self.assertEqual(self.run_with("2>/dev/full").returncode, 0)

    def test_a_closed_standard_error_is_not_taken_for_an_output(self):
        self.assertEqual(self.run_with("2>&-").returncode, 0)
        self.assertTrue((self.folder / "out/curves.csv").read_text().startswith("experiment,method,seed,"))


class Help(CommandTest):
    def test_version(self):
        result = self.done("--version")
        self.assertRegex(result.stdout, r"\Apolyhop \d+\.\d+\.\d+\n\Z")
        self.assertEqual(result.stderr, "")

    def test_help_lists_the_commands(self):
        result = self.done("--help")
        self.assertIn("run ", result.stdout)
        self.assertEqual(result.stderr, "")

    def test_help_of_run_lists_its_flags(self):
        result = self.done("run", "--help")
        for flag in ("-o", "--set", "--seeds", "--threads", "--quiet"):
            self.assertIn(flag, result.stdout)
        self.assertEqual(self.listing().keys(), {"e.toml"})


class MissingValues(CommandTest):
    def test_rows_that_lack_a_value_are_skipped_and_counted(self):
        rows = "".join(f"{n % 7},{n % 3}\n" for n in range(40))
        self.put("d.csv", "x,y\n,1\n" + rows)
        self.put("gaps.toml", """\
name = "gaps"
iterations = 10
[graph]
topology = "ring"
agents = 4
[problem]
source = "file"
data = "d.csv"
loss = "least-squares"
[[method]]
step = "gap"
""")
        refused = self.polyhop("run", "gaps.toml")
        self.assertEqual(refused.returncode, 3)
        self.assertIn("skip_missing = true", refused.stderr)
        result = self.done("run", "gaps.toml", "--set", "problem.skip_missing=true")
        self.assertEqual(result.stderr.count("skipped 1 row with missing values"), 1)


class Batches(CommandTest):
    def test_a_batch_larger_than_an_agents_samples_is_told(self):
        self.put("d.csv", "x,y\n" + "".join(f"{n % 7},{n % 3}\n" for n in range(40)))
        self.put("e.toml", """\
name = "large"
seeds = "0..1"
iterations = 3
[graph]
topology = "ring"
agents = 4
[problem]
source = "file"
data = "d.csv"
loss = "least-squares"
batch = 50
[[method]]
step = "gap"
""")
        note = "A batch of 50 is more than the 10 samples of an agent"
        self.assertEqual(self.done("run", "e.toml").stderr.count(note), 1)
        self.assertEqual(self.done("run", "e.toml", "--fresh", "--set", "problem.batch=10").stderr.count("A batch of"), 0)
        self.assertIn(note, self.done("check", "e.toml").stdout)


class RawColumns(CommandTest):
    def test_columns_of_unlike_size_get_advice_once(self):
        rows = "".join(f"{n % 7},{(n * 37) % 101 * 1000000},{n % 3}\n" for n in range(40))
        self.put("d.csv", "small,large,y\n" + rows)
        self.put("raw.toml", """\
name = "raw"
iterations = 30
[graph]
topology = "ring"
agents = 4
[problem]
source = "file"
data = "d.csv"
loss = "least-squares"
intercept = true
[[method]]
name = "a"
step = "gap"
[[method]]
name = "b"
step = "polyak"
""")
        advice = r"The columns of the data differ in size by a factor of [1-9](?:\.\d)?e\+0[67], .*: consider problem\.standardise = true\."
        for command in (["run", "raw.toml", "--quiet"], ["report", "out/raw"], ["run", "raw.toml", "--quiet"]):
            self.assertEqual(len(re.findall(advice, self.done(*command).stdout)), 1)
        told = self.done("run", "raw.toml", "--quiet", "--set", "problem.standardise=true").stdout
        self.assertNotIn("standardise", told)


if __name__ == "__main__":
    _polyhop.main()
