# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""fit_test.py POLYHOP: what `polyhop fit` writes and says, and that `predict` and `evaluate` take its model."""

import gzip
import json
import math
import random
import re
import signal
import subprocess

import numpy

import _polyhop
from _polyhop import CommandTest

SAMPLES = 80


def libsvm():
    """Two classes, separated but for some: label, then about half of six features."""
    draw = random.Random(3)
    lines = []
    for _ in range(SAMPLES):
        h = {j: draw.gauss(0, 1) for j in range(1, 7) if draw.random() < 0.5}
        z = h.get(1, 0) - 2 * h.get(2, 0) + 0.3 * draw.gauss(0, 1)
        lines.append(f"{'+1' if z > 0 else '-1'} " + " ".join(f"{j}:{x:.6f}" for j, x in h.items()))
    return "\n".join(lines) + "\n"


class Fit(CommandTest):
    def setUp(self):
        super().setUp()
        self.put("a.svm", libsvm())

    def fit(self, *arguments):
        return self.polyhop("fit", "a.svm", "--loss", "logistic", "--l2", "0.01", "--agents", "5", *arguments)

    def refused(self, *arguments, says=(), code=3, files=1):
        """Refused with a line per file that says why; nothing is written, and what was there stays."""
        self.put("model.npz", "kept")
        before = self.listing()
        result = self.polyhop("fit", *arguments)
        self.assertEqual(result.returncode, code, f"{result.returncode}: {result.stderr}")
        self.assertEqual(result.stdout, "")
        for part in says:
            self.assertIn(part, result.stderr)
        if code == 3:
            self.assertRegex(result.stderr, r"\A(polyhop: [^\n]+\n){%d}\Z" % files)
        self.assertEqual(self.listing(), before)

    def test_data_in_predictions_out(self):
        said = self.done("fit", "a.svm", "--loss", "logistic", "--l2", "0.01", "-o", "m.npz").stdout
        for part in ("logistic", f"{SAMPLES} samples", "8 agents", "Converged", "m.npz"):
            self.assertIn(part, said)
        predicted = self.done("predict", "m.npz", "a.svm").stdout.splitlines()[1:]
        self.assertEqual(len(predicted), SAMPLES)
        self.assertEqual(set(predicted), {"-1", "1"})
        truth = [str(int(line.split()[0])) for line in libsvm().splitlines()]
        right = sum(a == b for a, b in zip(predicted, truth)) / SAMPLES
        said = json.loads(self.done("evaluate", "m.npz", "a.svm", "--json").stdout)
        self.assertAlmostEqual(said["metrics"]["accuracy"], right)
        self.assertGreater(right, 0.75)

    def test_json_says_what_was_reached(self):
        result = self.fit("--json", "--quiet", "-o", "m.npz")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        said = json.loads(result.stdout)
        self.assertEqual((said["model"], said["converged"], said["samples"], said["agents"]), ("m.npz", True, SAMPLES, 5))
        self.assertLessEqual(said["gradient"], 1e-8)
        self.assertGreater(said["vectors"], 0)

    def test_the_model_is_the_same_for_any_number_of_threads(self):
        models = []
        for threads in ("1", "2", "3"):
            self.assertEqual(self.fit("--threads", threads, "--quiet").returncode, 0)
            models.append((self.folder / "model.npz").read_bytes())
        self.assertEqual(len(set(models)), 1)

    def test_too_few_iterations_are_told_and_the_model_is_there(self):
        result = self.fit("--iterations", "1")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("Not converged after 1 iteration", result.stdout)
        self.assertIn("--iterations", result.stdout)
        self.done("predict", "model.npz", "a.svm")
        result = self.fit("--iterations", "1", "--json")
        self.assertEqual(result.returncode, 4)
        self.assertIs(json.loads(result.stdout)["converged"], False)

    def test_nothing_but_the_model_is_left_behind(self):
        before = set(self.listing())
        self.assertEqual(self.fit("-o", "m.npz").returncode, 0)
        self.assertEqual(set(self.listing()) - before, {"m.npz"})

    def test_files_of_the_agents(self):
        for agent in range(3):
            self.put(f"site-{agent}.csv", "a,y\n" + "".join(f"{n},{2 * n + 1}\n" for n in range(agent, agent + 3)))
        said = self.done("fit", "site-{agent}.csv", "--agents", "3", "--json", "-o", "m.npz").stdout
        self.assertEqual(json.loads(said)["samples"], 9)
        self.put("new.csv", "a\n10\n")
        self.assertAlmostEqual(float(self.done("predict", "m.npz", "new.csv").stdout.splitlines()[1]), 21, places=4)

    def test_files_of_the_agents_that_are_not_well_behaved(self):
        lines = [f"{n},{(n * 7) % 5},{2 * n + 3 * ((n * 7) % 5) + 1}\n" for n in range(9)]
        self.put("all.csv", "a,b,y\n" + "".join(lines))
        self.put("site-1.csv", "a,b,y\n" + "".join(lines[:8]))
        self.put("site-2.csv", "a,b,y\n")
        self.put("site-3.csv", "y,b,a\n" + ",".join(reversed(lines[8].strip().split(","))) + "\n")
        flags = ["--target", "y", "--json", "--quiet", "-o", "m.npz"]
        said = json.loads(self.done("fit", "site-{agent+1}.csv", *flags).stdout)
        self.assertEqual((said["samples"], said["agents"], said["loss"]), (9, 3, "least-squares"))
        got = [float(x) for x in self.done("predict", "m.npz", "all.csv").stdout.splitlines()[1:]]
        numpy.testing.assert_allclose(got, [int(line.split(",")[2]) for line in lines], atol=1e-4)
        self.refused("site-{agent}.csv", says=["site-0.csv", "site-{agent+1}.csv"])
        self.refused("site-{agent}.csv", "--agents", "3", says=["site-0.csv", "site-{agent+1}.csv"])
        self.refused("site-{agent-1}.csv", says=["{agent-1}", "{agent+1}"])
        self.refused("site-{agent+1}.csv", says=["site-3.csv", "--target y"])
        self.put("site-3.csv", "y,note,b,a\n1,late,2,3\n")
        self.refused("site-{agent+1}.csv", says=["site-3.csv: its columns are not those of 'site-1.csv': its target is "
                                                 "'a' instead of 'y'; name the target: --target y"])
        self.put("site-2.csv", "")
        self.refused("site-{agent+1}.csv", "--target", "y",
                     says=["site-2.csv: is empty; an agent without samples needs the line that names the columns"], files=2)
        self.put("site-2.csv", "a,b,y\n")
        self.put("site-3.csv", "y,c,a\n1,2,3\n")
        self.refused("site-{agent+1}.csv", "--target", "y", says=["site-3.csv", "'b'", "'c'", "--columns", "--drop"])
        self.done("fit", "site-{agent+1}.csv", "--drop", "b,c", *flags)
        self.done("fit", "site-{agent+1}.csv", "--columns", "a", *flags)
        for n in (1, 3):
            self.put(f"site-{n}.csv", "a,b,y\n")
        self.refused("site-{agent+1}.csv", says=["none of these files holds a sample"])

    def test_rows_that_lack_a_value_are_skipped_on_request(self):
        lines = [f"{n},{2 * n + 1}\n" for n in range(8)]
        self.put("site-0.csv", "a,y\n" + "".join(lines[:4]) + "9,\n")
        self.put("site-1.csv", "a,y\n,3\nNA,4\n")
        self.put("site-2.csv", "y,a\n" + "".join(",".join(reversed(line.strip().split(","))) + "\n" for line in lines[4:]))
        flags = ["--target", "y", "-o", "m.npz", "--loss", "least-squares"]
        self.refused("site-{agent}.csv", "--target", "y", says=["site-0.csv:6", "site-1.csv:2", "--skip-missing"], files=2)
        said = json.loads(self.done("fit", "site-{agent}.csv", *flags, "--skip-missing", "--json").stdout)
        self.assertEqual((said["samples"], said["skipped"]), (8, 3))
        told = self.done("fit", "site-{agent}.csv", *flags, "--skip-missing").stdout
        self.assertIn("\nSkipped 3 rows with missing values.\n", told)
        self.put("all.csv", "a,y\n" + "".join(lines) + ",1\n")
        said = json.loads(self.done("fit", "all.csv", *flags, "--skip-missing", "--json", "--agents", "2").stdout)
        self.assertEqual((said["samples"], said["skipped"]), (8, 1))
        self.refused("nowhere/all.csv", says=["there is no file \"nowhere/all.csv\"; there is no folder 'nowhere'"])
        self.refused("all.csv", "--skip-missing", "-o", "no/m.npz", says=["there is no folder 'no'; make it with mkdir"])

    def test_a_measure_without_a_value_is_told_in_words(self):
        self.put("flat.csv", "a,y\n1,1\n2,1\n3,1\n")
        self.assertIn("R2 not defined.", self.done("fit", "flat.csv", "--agents", "3").stdout)

    def test_all_that_a_topology_needs_is_asked_for_at_once(self):
        self.refused("wine", "--graph", "grid", says=["--set graph.rows, graph.columns: missing", "write --set graph.rows=4 --set graph.columns=4"])
        self.refused("wine", "--graph", "grid", "--set", "rows=2",
                     says=["--set rows: only keys of graph can be set here; did you mean 'graph.rows'?"])

    def test_a_batch_of_more_than_all_samples_is_remarked_on(self):
        self.put("few.csv", "a,y\n" + "".join(f"{n},{2 * n + n % 3}\n" for n in range(12)))
        told = self.polyhop("fit", "few.csv", "--agents", "2", "--batch", "50", "--iterations", "50", "-o", "m.npz").stderr
        self.assertIn("samples of an agent, so samples repeat within it", told)

    def test_names_that_stand_for_several_files(self):
        for agent in range(3):
            self.put(f"site-{agent}.csv", "a,y\n1,2\n2,3\n3,5\n")
            self.put(f"from-{agent + 1}.csv", "a,y\n1,2\n2,3\n3,5\n")
        self.refused("site-*.csv", says=["one file per agent is written 'site-{agent}.csv', of which there are 3"])
        self.refused("from-{i}.csv", says=["one file per agent is written 'from-{agent+1}.csv', of which there are 3"])
        self.refused("none-*.csv", says=["'none-{agent}.csv', with agents numbered from 0, but no such file is there"])
        self.refused("site-{agent}.csv", "--agents", "4",
                     says=["site-3.csv: no such file; each of the 4 agents needs its own", "there are 3; --agents 3 "])
        self.refused("none-{agent}.csv", says=["none-0.csv: no such file", "agents are numbered from 0"])

    def test_no_file_is_left_out_without_a_word(self):
        for agent in (0, 1, 3):
            self.put(f"site-{agent}.csv", "a,y\n1,2\n2,3\n3,5\n")
        self.refused("site-{agent}.csv", says=["site-3.csv: exists, but site-2.csv is missing; give --agents 2 to leave"])
        self.refused("site-{agent+1}.csv", says=["site-0.csv: is there, too, but 'site-{agent+1}.csv' starts from 1"])
        self.done("fit", "site-{agent}.csv", "--agents", "2", "--quiet", "-o", "m.npz")

    def test_an_experiment_in_place_of_data(self):
        self.refused("e.toml", says=["e.toml: is an experiment, not data; `polyhop run e.toml` runs it"])

    def test_a_name_with_a_comma_goes_by_its_number(self):
        self.put("t.csv", 'who,"city, district",age,y\n' + "".join(f"p{n},x,{n % 5},{3 * n}\n" for n in range(12)))
        self.refused("t.csv", says=["'city, district'", "--drop who,2;"])
        self.refused("t.csv", "--drop", "who,city, district", says=["no column 'city'", "'city, district' is 2"])
        self.done("fit", "t.csv", "--drop", "who,2", "--agents", "3", "--quiet", "-o", "m.npz")

    def test_columns_are_chosen_by_name(self):
        rows = [(f"p{n}", n, (n * n) % 7, "note", 3 * n + 1) for n in range(12)]
        text = "who,a,b,text,y\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
        self.put("t.csv", text)
        self.refused("t.csv", says=["'who'", "--drop who"])
        self.assertNotIn("drop =", self.polyhop("fit", "t.csv").stderr)
        self.refused("t.csv", "--drop", "who,txt", says=["--drop", "'txt'", "did you mean 'text'"])
        self.refused("t.csv", "--id", "whom", says=["--id", "'whom'", "did you mean 'who'"])
        self.refused("t.csv", "--columns", "a,y", says=["--columns", "--target"])
        self.refused("a.svm", "--columns", "1", says=["a.svm", "--columns", "CSV"])
        self.refused("wine", "--drop", "1", says=["wine", "--drop", "polyhop data"])
        models = set()
        for flags in (["--drop", "text", "--id", "who"], ["--columns", "a,b", "--id", "who"],
                      ["--columns", "2-3", "--id", "1"]):
            self.done("fit", "t.csv", *flags, "--agents", "3", "--quiet", "-o", "m.npz")
            models.add((self.folder / "m.npz").read_bytes())
        self.assertEqual(len(models), 1)
        predicted = self.done("predict", "m.npz", "t.csv").stdout.splitlines()
        self.assertEqual(predicted[0], "who,prediction")
        self.assertEqual([line.split(",")[0] for line in predicted[1:]], [row[0] for row in rows])
        self.put("new.csv", "b,a\n" + "".join(f"{row[2]},{row[1]}\n" for row in rows))
        self.assertEqual(self.done("predict", "m.npz", "new.csv").stdout.splitlines(),
                         [line.split(",")[1] for line in predicted])
        said = json.loads(self.done("evaluate", "m.npz", "t.csv", "--json").stdout)
        self.assertLess(said["metrics"]["rmse"], 1e-4)

    def test_columns_without_names_go_by_number(self):
        draw = numpy.random.default_rng(6)
        x = draw.normal(size=(30, 2))
        y = x @ [1.0, -2.0] + 4
        table = numpy.column_stack([numpy.arange(30), x[:, 0], y, numpy.full(30, numpy.nan), x[:, 1]])
        bare = numpy.delete(table, 2, axis=1)  # without the target
        for name, numbers in (("t", table), ("no", bare), ("x", x), ("xy", numpy.column_stack([x, y]))):
            numpy.save(self.folder / f"{name}.npy", numbers)
            cells = ["".join(",".join("?" if numpy.isnan(v) else repr(v) for v in row)) for row in numbers.tolist()]
            self.put(f"{name}.csv", "\n".join(cells) + "\n")
        predicted = set()
        for kind in ("npy", "csv"):
            self.done("fit", f"t.{kind}", "--target", "3", "--drop", "1,4", "--agents", "3", "--quiet", "-o", "m.npz")
            for other in ("npy", "csv"):
                for name in ("t", "no", "x"):
                    predicted.add(self.done("predict", "m.npz", f"{name}.{other}").stdout)
                predicted.add(self.done("predict", "m.npz", f"xy.{other}", "--target", "3").stdout)
                for name, flags in (("t", []), ("xy", ["--target", "3"])):
                    said = json.loads(self.done("evaluate", "m.npz", f"{name}.{other}", *flags, "--json").stdout)
                    self.assertLess(said["metrics"]["rmse"], 1e-4)
        self.assertEqual(len(predicted), 1)
        numpy.savez(self.folder / "t.npz", X=table[:, [0, 1, 4]], y=y)
        self.done("fit", "t.npz", "--columns", "2-3", "--agents", "3", "--quiet", "-o", "m.npz")
        got = [float(v) for v in self.done("predict", "m.npz", "t.npz").stdout.splitlines()[1:]]
        numpy.testing.assert_allclose(got, y, atol=1e-4)
        self.put("narrow.csv", "1,2,3,4,5,6,7\n")
        result = self.polyhop("predict", "m.npz", "narrow.csv")
        self.assertEqual(result.returncode, 3)
        self.assertIn("7 columns", result.stderr)

    def test_an_option_without_effect_is_refused(self):
        for flags, says in (
            (["--method", "tree", "--batch", "2"], ["--batch", "no effect", "--method auto"]),
            (["--sampling", "cyclic"], ["--sampling", "without --batch"]),
            (["--batch", "2", "--tolerance", "1e-3"], ["--tolerance", "no effect", "--method tree"]),
            (["--graph", "grid", "--set", "graph.rows=2", "--set", "graph.columns=2", "--agents", "4"], ["--agents", "no effect"]),
            (["--graph", "grid", "--agents", "4"], ["--agents", "leave it out, and write --set graph.rows=4 --set graph.columns=4"]),
        ):
            with self.subTest(flags=flags):
                self.refused("a.svm", *flags, says=says)
        self.put("own-0.csv", "a,y\n1,2\n2,3\n")
        self.refused("own-{agent}.csv", "--partition", "label", says=["--partition", "no effect"])

    def test_what_it_is_going_to_do_is_said_before(self):
        for flags, says in (([], ["L-BFGS over a spanning tree", "sends 8 vectors"]),
                            (["--method", "exact-diffusion"], ["exact diffusion", "iteration"]),
                            (["--batch", "2", "--iterations", "60"], ["auto on batches", "held out"])):
            with self.subTest(flags=flags):
                result = self.polyhop("fit", "a.svm", "--agents", "5", "--graph", "ring", "--l2", "0.1", *flags)
                for text in ["Fitting ", " samples of 5 agents", *says]:
                    self.assertIn(text, result.stderr)
                self.assertEqual(self.polyhop("fit", "a.svm", "--agents", "5", "--quiet", *flags).stderr, "")

    def test_a_penalty_on_columns_of_unlike_size_is_told(self):
        draw = numpy.random.default_rng(4)
        rows = draw.normal(size=(40, 2)) * [1e-4, 1e2]
        self.put("raw.csv", "dose,weight,y\n" + "".join(f"{a!r},{b!r},{a * 1e4 + b / 100!r}\n" for a, b in rows.tolist()))
        advice = "The columns differ in size by a factor of "
        told = self.done("fit", "raw.csv", "--agents", "4", "--l2", "0.1", "--report", "p.html", "--quiet").stdout
        self.assertRegex(told, advice + r"\S*e\+0[56], and --l2 acts on .*; add --standardise\.\n")
        self.assertIn(advice, (self.folder / "p.html").read_text())
        for flags in ([], ["--l2", "0.1", "--standardise"]):
            self.assertNotIn(advice, self.done("fit", "raw.csv", "--agents", "4", "--quiet", *flags).stdout)

    def test_a_column_that_is_constant_is_told(self):
        draw = numpy.random.default_rng(4)
        self.put("d.csv", "a,site,b,y\n" + "".join(f"{a!r},0.3,{b},{2 * a + b!r}\n"
                                                    for a, b in zip(draw.normal(size=40).tolist(), [-1, 1] * 20)))
        advice = "Column 'site' has one value in all samples: nothing can be learned from it.\n"
        # Standardised, b has a deviation of exactly 1, as columns that do not vary are given.
        for flags in ([], ["--standardise"], ["--batch", "2"]):
            self.assertIn(advice, self.done("fit", "d.csv", "--agents", "4", "--report", "p.html", "--quiet", *flags).stdout)
            self.assertIn(advice.rstrip("\n"), (self.folder / "p.html").read_text())
        self.assertNotIn("nothing can be learned", self.done("fit", "d.csv", "--agents", "4", "--drop", "site", "--quiet").stdout)
        self.put("same.csv", "".join(f"{x!r},1,2,3,4,5,6,7,{2 * x!r}\n" for x in draw.normal(size=20).tolist()))
        self.assertIn("Features 2, 3, 4, 5, 6 and 2 others have one value each in all samples: nothing can be learned from them.",
                      " ".join(self.done("fit", "same.csv", "--agents", "4", "--quiet").stdout.split()))

    def test_a_disagreement_made_by_rounding_is_0(self):
        fit = ["fit", "wine", "--batch", "2", "--iterations", "60", "--quiet"]
        self.assertGreater(json.loads(self.polyhop(*fit, "--json").stdout)["disagreement"], 0)
        self.assertIn(", disagreement 0. Raise --iterations.", self.polyhop(*fit).stdout)

    def test_an_interrupted_fit_says_that_it_starts_over(self):
        self.put("large.svm", libsvm() * 40)
        command = [_polyhop.COMMAND, "fit", "large.svm", "--loss", "logistic", "--agents", "40", "--graph", "ring",
                   "--method", "exact-diffusion", "--tolerance", "1e-300", "--iterations", "1000000"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            while "iteration " not in run.stderr.readline().replace("Each iteration sends", ""):
                pass
            run.send_signal(signal.SIGINT)
            said, _ = run.communicate(timeout=250)
        self.assertEqual(run.returncode, 130)
        self.assertRegex(said.replace("\n", " "), r"Interrupted after \d+ iterations, not converged: .* run the command again: a fit starts over\.")

    def test_a_model_worse_than_the_frequencies_is_told(self):
        # What the samples fitted to say, those held out contradict: no model is better than none.
        draw = numpy.random.default_rng(1)
        x = draw.normal(size=(60, 20))
        y = draw.integers(0, 2, 60)
        self.put("noise.csv", "".join(",".join(repr(v) for v in row) + f",{label}\n" for row, label in zip(x.tolist(), y)))
        told = self.polyhop("fit", "noise.csv", "--agents", "3", "--held-out", "0.5", "--quiet")
        self.assertIn("no better than the frequencies of the classes", told.stdout)
        self.assertNotIn("no better", self.fit().stdout)

    def test_features_that_say_nothing_are_told(self):
        self.put("nothing.csv", "a,y\n1,yes\n1,no\n2,yes\n2,no\n")
        told = self.done("fit", "nothing.csv", "--agents", "2", "--quiet")
        self.assertIn("On the fitted samples this model is no better than the frequencies of the classes",
                      told.stdout)

    def test_a_random_network_has_twice_the_links_that_keep_it_connected(self):
        def plan(*flags):
            said = self.polyhop("fit", "a.svm", "--agents", "20", "--method", "exact-diffusion", "--iterations", "1",
                                *flags)
            return re.search(r"Each iteration sends (\d+) vectors", said.stderr).group(1)

        likely = math.log(20) / 20
        self.assertEqual(plan(), plan("--set", f"graph.probability={2 * likely!r}"))
        self.assertNotEqual(plan(), plan("--set", f"graph.probability={likely!r}"))

    def test_the_loss_follows_from_the_target_and_is_said(self):
        for name, targets, loss in (("two", "01", "logistic"), ("three", "123", "softmax"),
                                    ("words", ["no", "yes"], "logistic"), ("gaps", "135", "least-squares"), ("real", ["0.5", "1"], "least-squares")):
            with self.subTest(name):
                rows = "".join(f"{n},{(n * n) % 5},{targets[(n * 7) % 11 % len(targets)]}\n" for n in range(24))
                self.put(f"{name}.csv", "a,b,y\n" + rows)
                flags = ["fit", f"{name}.csv", "--agents", "3", "--l2", "0.1", "--quiet", "--report", "p.html"]
                said = self.done(*flags).stdout
                loud = subprocess.run([_polyhop.COMMAND, *[flag for flag in flags if flag != "--quiet"]], cwd=self.folder,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout
                self.assertLess(loud.index("The loss is"), loud.index("Fitting "))
                self.assertRegex(said, rf"\AThe loss is {loss}, because the target"
                                 + (rf"[^\n]*\([^\n]*{targets[0]}" if loss != "least-squares" else "'s values are numbers"))
                self.assertIn(loss, (self.folder / "p.html").read_text())
                told = json.loads(self.done(*flags, "--json").stdout)
                self.assertEqual(told["loss"], loss)
                self.assertIn("target", told["why_loss"])
                self.assertNotIn("why_loss", json.loads(self.done(*flags, "--json", "--loss", loss).stdout))
        self.refused("two.csv", "--delta", "2", says=["--delta", "huber"])
        self.assertIn("from the target", self.done("fit", "--help").stdout)

    def test_one_agent_needs_no_network(self):
        said = json.loads(self.done("fit", "a.svm", "--agents", "1", "--graph", "complete", "--json").stdout)
        self.assertEqual((said["agents"], said["vectors"]), (1, 0))

    def test_data_that_is_not_there(self):
        self.refused("nowhere.svm", says=["nowhere.svm"])
        (self.folder / "sub").mkdir()
        self.refused("sub", says=["sub: is a folder; name a file in it, or one file per agent, such as 'sub/{agent}.csv'"])
        self.refused("site-{agent}.csv", says=["site-0.csv"])
        self.refused("", says=[])

    def test_malformed_lines_are_told_with_file_and_line(self):
        self.put("bad.svm", "1 1:2\n-1 2:x\n")
        self.refused("bad.svm", "--loss", "logistic", "--agents", "2", says=["bad.svm:2:"])
        self.put("bad.csv", "a,y\n1,2\n3\n")
        self.refused("bad.csv", "--agents", "2", says=["bad.csv:3:"])

    def test_all_missing_values_are_told_at_once(self):
        self.put("gaps.csv", "age,bmi,y\n1,,2\n,3,4\n5,6,\n7,8,9\n")
        self.refused("gaps.csv", "--agents", "2",
                     says=["gaps.csv:2: values are missing in 3 of 4 rows: column 1 ('age') (1), column 2 ('bmi') (1), ",
                           "leave the columns out: --drop age,bmi"])
        for agent in range(3):
            self.put(f"site-{agent}.csv", "a,b,y\n1,2,3\n" + ("4,,6\n" if agent != 1 else "4,5,6\n"))
        result = self.polyhop("fit", "site-{agent}.csv")
        self.assertEqual(result.returncode, 3)
        self.assertEqual([line.split(": ")[1] for line in result.stderr.splitlines()], ["site-0.csv:3", "site-2.csv:3"])

    def test_more_agents_than_samples(self):
        self.refused("a.svm", "--agents", "100", says=[f"--agents: there are {SAMPLES} samples for 100 agents"])
        self.put("single.csv", "a,y\n1,2\n")
        self.refused("single.csv", "--agents", "2", says=["--agents: there is 1 sample for 2 agents; every agent needs"])

    def test_unknown_names_come_with_a_suggestion(self):
        self.refused("a.svm", "--loss", "logistc", says=["--loss", "did you mean 'logistic'"], code=2)
        self.refused("a.svm", "--graph", "rign", says=["polyhop: --graph: unknown name", "did you mean 'ring'"])
        self.refused("a.svm", "--graph", "random-geometric", says=["polyhop: --set graph.radius: missing"])
        self.refused("a.svm", "--graph", "barabasi-albert",
                     says=["--set graph.attach: missing; ", "links that a new agent makes, such as attach = 2"])
        self.refused("a.svm", "--graph", "ring", "--set", "graph.radius=0.5",
                     says=["polyhop: --set graph.radius=0.5: graph.radius: ", "does not use this key"])
        self.refused("a.svm", "--partition", "lable", says=["--partition", "did you mean 'label'"], code=2)
        self.refused("a.svm", "--batch", "some", says=["--batch", '"all"'], code=2)
        self.refused("a.svm", "--loss", "huber", "--delta", "0", says=["--delta: found 0, expected a number > 0"], code=2)
        self.refused("a.svm", "--loss", "logistic", "--delta", "2", says=['--delta: is an option of loss = "huber"'])
        self.refused("a.svm", "--set", "problem.loss=huber", says=["--set"])

    def test_targets_that_the_loss_cannot_take(self):
        self.put("three.csv", "a,y\n" + "".join(f"{n},{n % 3}\n" for n in range(12)))
        self.refused("three.csv", "--loss", "logistic", says=["three.csv", "3 classes", "softmax"])
        self.put("words.csv", "a,y\n" + "".join(f"{n},{'no' if n % 2 else 'yes'}\n" for n in range(12)))
        self.refused("words.csv", "--loss", "least-squares", says=["words.csv", "least-squares", "numbers"])

    def test_outputs_are_opened_before_the_work(self):
        self.put("bad.svm", "1 1:x\n")
        (self.folder / "sub").mkdir()
        for flag in ("-o", "--report"):
            for path in ("nowhere/file", "sub"):
                self.refused("bad.svm", flag, path, says=[flag, path])
        self.refused("bad.svm", "--report", "./model.npz", says=["--report", "a name of its own"])
        self.refused("bad.svm", "--report", "page.html", says=["bad.svm:1:"])

    def test_a_page_shows_the_fit(self):
        said = self.fit("--report", "page.html", "-o", "m.npz")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("The page: page.html", said.stdout)
        page = (self.folder / "page.html").read_text()
        self.assertIn("<title>logistic on a.svm - polyhop</title>", page)
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL).group(1))
        told = json.loads(self.fit("--json", "--report", "page.html").stdout)
        self.assertEqual(told["report"], "page.html")
        self.assertEqual(data["history"]["iterations"][-1], told["iterations"])
        self.assertAlmostEqual(data["fitted"]["metrics"][0][1], told["metrics"]["accuracy"])
        weights = numpy.load(self.folder / "m.npz")["weights"][0]
        self.assertEqual([w[0] for w in data["coefficients"]["weights"]], sorted(weights, key=abs, reverse=True))
        self.assertIn(f"{SAMPLES} samples, 6 features, 2 classes; 5 agents", data["facts"])

    def test_a_fit_that_did_not_converge_has_a_page_that_says_so(self):
        self.assertEqual(self.fit("--iterations", "1", "--report", "page.html").returncode, 4)
        self.assertIn("Not converged after 1 iteration", (self.folder / "page.html").read_text())

    def test_stopped_before_the_first_iteration_no_model_is_written(self):
        draw = random.Random(1)
        line = ",".join(f"{draw.random():.6f}" for _ in range(20))
        self.put("large.csv", (line + "\n") * 100000)
        before = self.listing()
        command = [_polyhop.COMMAND, "fit", "large.csv", "--report", "page.html"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            while set(p.name for p in self.folder.iterdir()) == set(before):
                pass  # its outputs are not open yet
            run.send_signal(signal.SIGINT)
            said, told = run.communicate(timeout=250)
        self.assertEqual((run.returncode, said), (130, ""), told)
        self.assertIn("No model was written", told)
        self.assertEqual(self.listing(), before)

    def test_unit_rows_are_scaled_again_when_predicting(self):
        self.assertEqual(self.fit("--unit-rows", "--standardise", "-o", "unit.npz").returncode, 0)
        plain = self.done("predict", "unit.npz", "a.svm", "--probabilities").stdout
        scaled = []
        for n, line in enumerate(libsvm().splitlines()):
            label, *cells = line.split()
            pairs = [cell.split(":") for cell in cells]
            scaled.append(label + "".join(f" {j}:{float(x) * 2 ** (n % 3)!r}" for j, x in pairs))
        self.put("scaled.svm", "\n".join(scaled) + "\n")
        self.assertEqual(self.done("predict", "unit.npz", "scaled.svm", "--probabilities").stdout, plain)
        told = json.loads(self.fit("--unit-rows", "--standardise", "--json").stdout)
        said = json.loads(self.done("evaluate", "unit.npz", "a.svm", "--json").stdout)
        # Rows with a single feature have the same unit row, so that rounding decides which of their scores is larger:
        # each such pair counts 1, 1/2 or 0 in the AUC.
        for metric, value in said["metrics"].items():
            self.assertAlmostEqual(told["metrics"][metric], value, delta=2e-3 if metric == "auc" else 1e-7)

    def test_held_out_samples_end_a_fit_where_that_is_asked(self):
        told = json.loads(self.fit("--json").stdout)
        self.assertNotIn("held_out", told)
        ended = json.loads(self.fit("--json", "--held-out", "0.25", "--method", "exact-diffusion", "--tolerance", "1e-300").stdout)
        self.assertIs(ended["converged"], True)
        self.assertEqual(ended["held_out_samples"], SAMPLES // 4)
        self.assertIn("accuracy", ended["held_out_metrics"])

    def test_near_misses_of_sets_and_files(self):
        self.refused("breast-cancr", says=["breast-cancr", "did you mean 'breast-cancer'"])
        self.refused("b.svm", says=["b.svm", "did you mean 'a.svm'"])
        self.refused("wine", "--loss", "least-squares", says=["--loss", "softmax"])
        self.refused("breast-cancer", "--loss", "softmx", says=["did you mean 'softmax'"], code=2)

    def test_matrices_are_read_as_tables_are(self):
        draw = numpy.random.default_rng(5)
        x = draw.normal(size=(40, 3))
        y = x @ [1.0, -2.0, 0.5] + 4
        numpy.save(self.folder / "first.npy", numpy.column_stack([y, x]))
        numpy.save(self.folder / "x.npy", x)
        self.put("first.csv", "".join(",".join(repr(v) for v in row) + "\n" for row in numpy.column_stack([y, x]).tolist()))
        with gzip.open(self.folder / "first.npy.gz", "wb") as packed:
            packed.write((self.folder / "first.npy").read_bytes())
        predicted = set()
        for data in ("first.npy", "first.csv", "first.npy.gz"):
            self.done("fit", data, "--target", "1", "--agents", "4", "-o", "m.npz", "--quiet")
            predicted |= {self.done("predict", "m.npz", other).stdout for other in ("first.npy", "first.csv", "x.npy")}
            told = json.loads(self.done("evaluate", "m.npz", "first.npy", "--json").stdout)
            self.assertLess(told["metrics"]["rmse"], 1e-5)
        self.assertEqual(len(predicted), 1)
        self.assertEqual(self.done("predict", "m.npz", "first.npy", "--target", "1").stdout, predicted.pop())
        self.refused("first.npy", "--target", "y", says=["first.npy", "'y'", "1 to 4"])

    def test_bad_flags(self):
        self.refused(says=["DATA"], code=2)
        self.refused("a.svm", "--los", "logistic", says=["--loss"], code=2)
        self.refused("a.svm", "b.svm", says=["b.svm; name the files of all agents by one pattern", "{agent}"], code=2)
        self.refused("a.svm", "--agents", "0", says=["--agents"], code=2)
        self.refused("a.svm", "--l2", "-1", says=["--l2"], code=2)


if __name__ == "__main__":
    _polyhop.main()
