# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""What docs/failures.md says of examples/failure-*.toml: `python3 failures_test.py PATH_TO_polyhop`.

The published rule diverges where the page says so, the repaired ones nowhere, and the message names the cure. Some of
the files' seeds, and no more iterations than it takes.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

POLYHOP = pathlib.Path(sys.argv.pop(1)).resolve()
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def methods(example, *more):
    """The summary of each method of an example, and what was printed."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        run = [POLYHOP, "run", EXAMPLES / f"{example}.toml", "-o", out, "--quiet", *more]
        printed = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "1000"}).stdout
        summary = json.loads((out / "summary.json").read_text())
    return {m["method"]: m for m in summary["methods"]}, printed


def final_risk(method):
    """Its median; infinite where half of the runs diverged."""
    median = method["final_risk"]["median"]
    return float("inf") if median is None else median


class FailuresTest(unittest.TestCase):
    def check_failure(self, found, printed, repaired):
        """GAP diverges, whatever is repaired does not, and the reader is told what to do."""
        self.assertGreaterEqual(found["GAP"]["diverged"], 1)
        for method in repaired:
            self.assertEqual(found[method]["diverged"], 0, method)
        self.assertRegex(printed, r'GAP.* diverged: .*docs/failures\.md.* bound = "tight".*damping = "rows"')

    def test_the_published_rule_diverges_on_a_larger_network(self):
        found, printed = methods("failure-network")
        repaired = ("GAP linear", "GAP tight")
        self.check_failure(found, printed, repaired)
        # It is the bound: without any sweep after the first, and with sweeps that cannot diverge, it is no better.
        for published in ("GAP", "GAP, one sweep", "GAP, rows"):
            for better in repaired:
                ratio = final_risk(found[published]) / final_risk(found[better])
                self.assertGreater(ratio, 10, (published, better))

    def test_the_published_rule_diverges_on_data_that_cannot_be_fitted(self):
        found, printed = methods("failure-data", "--seeds", "0..3")
        self.check_failure(found, printed, ("GAP linear", "GAP tight", "GAP tight, capped", "auto"))
        for good in ("GAP tight, capped", "auto"):
            for noisy in ("GAP linear", "GAP tight"):
                ratio = final_risk(found[noisy]) / final_risk(found[good])
                self.assertGreater(ratio, 4, (good, noisy))

    def test_told_the_truth_about_each_sample_it_converges(self):
        found, _ = methods("failure-data", "--seeds", "0..3", "--set", "method.GAP.step.optimum=per-sample")
        self.assertEqual(found["GAP"]["diverged"], 0)
        self.assertLess(found["GAP"]["final_risk"]["high"], 1e-10)


if __name__ == "__main__":
    unittest.main()
