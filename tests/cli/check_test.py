# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""check_test.py POLYHOP: `polyhop check` refuses what `run` refuses, and what it prints is the same experiment."""

import json

import _polyhop
from _polyhop import CommandTest


class Check(CommandTest):
    FAR = """[[method]]
name = "far"
average = false
step = { rule = "constant", value = 1e6 }
"""

    def test_the_output_is_the_experiment_spelt_out(self):
        said = self.done("check", "e.toml")
        self.assertIn("e.toml: valid. 4 runs: 2 methods, 2 seeds, 20 iterations each.", said.stdout)
        self.assertIn("Estimate: ", said.stdout)
        self.assertEqual(self.listing().keys(), {"e.toml"})
        self.put("full.toml", said.stdout)
        first, second = (json.loads(self.done("check", file, "--json").stdout) for file in ("e.toml", "full.toml"))
        self.assertEqual(first["config"], second["config"])
        for file, folder in (("e.toml", "one"), ("full.toml", "two")):
            self.done("run", file, "-o", folder, "--quiet")
        one, two = ([{k: v for k, v in row.items() if k != "seconds"} for row in self.curves(f)] for f in ("one", "two"))
        self.assertEqual(one, two)

    def test_the_output_runs_for_data_from_a_file_too(self):
        self.put("d.csv", "a,y\n" + "".join(f"{n},{n % 3}\n" for n in range(12)))
        self.put("e.toml", self.changed(("dimension = 3\nsamples = 5", 'source = "file"\ndata = "d.csv"')))
        self.put("full.toml", self.done("check", "e.toml").stdout)
        first, second = (self.done("check", file, "--json").stdout for file in ("e.toml", "full.toml"))
        self.assertEqual(json.loads(first)["config"], json.loads(second)["config"])

    def test_settings_and_seeds_are_part_of_it(self):
        said = json.loads(self.done("check", "e.toml", "--set", "graph.agents=6", "--seeds", "0..9", "--json").stdout)
        self.assertEqual((said["agents"], said["cells"]), (6, 20))
        self.assertEqual(said["config"]["graph"]["agents"], 6)
        self.assertEqual(said["config"]["seeds"], "0..9")

    def test_the_estimate_covers_every_method(self):
        said = json.loads(self.done("check", "e.toml", "--threads", "1", "--json").stdout)
        estimate = said["estimate"]
        self.assertEqual([method["name"] for method in estimate["methods"]], ["GAP", "far"])
        self.assertGreater(estimate["memory_bytes"], 10**6)
        whole = 2 * sum(method["seconds"] for method in estimate["methods"])
        self.assertGreaterEqual(estimate["seconds"], whole * 0.999)

    def test_long_estimates_are_in_hours(self):
        # More iterations than a day has time for, so that the limit is the estimate: 100,000 s.
        day = self.changed(('"0..1"', "0"), ("iterations = 20", "iterations = 1_000_000_000_000\ntime_limit = 1e5"),
                           ("record_every = 7", "record_every = 1_000_000_000"),
                           (self.FAR, ""))
        self.put("e.toml", day)
        self.assertIn("Estimate: 27.8 h on 1 thread ", self.done("check", "e.toml", "--threads", "1").stdout)

    def test_a_search_is_told_with_its_runs(self):
        self.put("e.toml", self.changed(("{ rule = \"constant\", value = 1e6 }", "\"tuned\"\n[tuning]\nbudget = 3")))
        said = self.done("check", "e.toml").stdout.splitlines()
        self.assertEqual([line for line in said if "up to 3 steps on 2 seeds" in line],
                         [line for line in said if line.startswith("# far ")])

    def test_files_keep_their_place(self):
        (self.folder / "sub").mkdir()
        self.put("sub/g.txt", "0 1\n1 2\n2 3\n")
        self.put("sub/e.toml", self.changed(('"path"', '"file"\nfile = "g.txt"')))
        self.put("full.toml", self.done("check", "sub/e.toml").stdout)
        self.done("check", "full.toml")

    def test_what_run_refuses_is_refused_with_the_same_words(self):
        for old, new in (("iterations", "iteration"), ("agents = 4", "agents = 0"), ('"gap"', '"gab"'),
                         ('"path"', '"erdos-renyi"\nprobability = 0.0'), ('"rows"', '"rows", optimum = [1, 2]'),
                         ('"tight"', '"paper", sweeps = "exact"'), ('"path"', '"star"\nweights = "best-constant"'),
                         ('name = "tiny"', 'name = "tiny"\nstart = "nowhere.txt"')):
            self.put("e.toml", self.changed((old, new)))
            check, run = self.polyhop("check", "e.toml"), self.polyhop("run", "e.toml", "-o", "out", "--quiet")
            self.assertEqual((check.returncode, run.returncode), (3, 3), check.stderr + run.stderr)
            self.assertEqual(check.stderr, run.stderr)
            self.assertEqual(check.stdout, "")


if __name__ == "__main__":
    _polyhop.main()
