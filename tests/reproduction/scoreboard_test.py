# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Some instances of examples/scoreboard against bands: `python3 scoreboard_test.py PATH_TO_polyhop`.

Ratios to the tuned constant of the same instance, whose search runs on other seeds; medians over SEEDS.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

POLYHOP = pathlib.Path(sys.argv.pop(1)).resolve()
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "scoreboard"

SEEDS = "0..2"
# Data that one model fits, by least squares: where the repaired rule is to be as good as the tuned constant.
FIT = ["ls-fit-er-k8", "ls-fit-ring-k8", "ls-fit-complete-k8", "ls-fit-er-k20"]
# One of each kind that no model fits: noise, agents that disagree, classes, full gradients.
UNFIT = ["ls-noisy-er-k8", "ls-unlike-full-ring-k8", "logistic-l2-er-k20", "huber-noisy-er-k20"]
# method, score, instances: the largest ratio allowed on each of them.
BANDS = [
    ("GAP tight", "iterations", FIT, 1.05),
    ("auto", "iterations", FIT, 0.3),
    ("auto", "final_risk_averaged", FIT + UNFIT, 0.01),
]
# Methods none of whose runs may diverge, and on which instances.
NEVER_DIVERGE = [
    ("GAP tight", FIT + UNFIT),
    ("auto", FIT + UNFIT),
]


class ScoreboardTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        names = sorted({name for _, _, instances, _ in BANDS for name in instances}
                       | {name for _, instances in NEVER_DIVERGE for name in instances})
        files = [FOLDER / f"{name}.toml" for name in names]
        with tempfile.TemporaryDirectory() as folder:
            command = [POLYHOP, "run", *files, "-o", pathlib.Path(folder) / "out", "--seeds", SEEDS, "--quiet", "--json"]
            board = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        cls.scores = {(i["name"], m["method"]): m for i in board["instances"] for m in i["methods"]}

    def test_ratios_lie_in_their_bands(self):
        for method, score, instances, most in BANDS:
            for instance in instances:
                with self.subTest(method=method, score=score, instance=instance):
                    ratio = self.scores[instance, method][score]["ratio"]
                    self.assertIsNotNone(ratio, "the method or the tuned constant never reached the target")
                    self.assertLessEqual(ratio, most)

    def test_methods_that_must_not_diverge_do_not(self):
        for method, instances in NEVER_DIVERGE:
            for instance in instances:
                with self.subTest(method=method, instance=instance):
                    score = self.scores[instance, method]
                    self.assertGreater(score["runs"], 0)
                    self.assertEqual((score["diverged"], score["missing"]), (0, 0))


if __name__ == "__main__":
    unittest.main()
