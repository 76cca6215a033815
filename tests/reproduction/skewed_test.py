# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""What examples/bundled/wine-skewed.toml says: `python3 skewed_test.py PATH_TO_polyhop`.

Dealt by class, constant steps of diffusion and the published rule end beside the optimum; exact diffusion and `auto` end
on it.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

POLYHOP = pathlib.Path(sys.argv.pop(1)).resolve()
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "bundled" / "wine-skewed.toml"


class SkewedTest(unittest.TestCase):
    def test_biased_methods_end_beside_the_optimum_and_unbiased_ones_on_it(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([POLYHOP, "run", EXAMPLE, "-o", folder, "--quiet"], check=True, stdout=subprocess.DEVNULL)
            summary = json.loads((pathlib.Path(folder) / "summary.json").read_text())
        risk = {m["method"]: m["final_risk"]["median"] for m in summary["methods"]}
        for exact in ("exact diffusion", "auto"):
            self.assertLess(risk[exact], 1e-6, exact)
        for biased in ("diffusion value=0.1", "diffusion value=0.5", "GAP, as published"):
            self.assertTrue(risk[biased] is None or risk[biased] > 1e-4, (biased, risk[biased]))
        self.assertGreater(risk["diffusion value=0.5"], 5 * risk["diffusion value=0.1"], "the larger the step, the further")


if __name__ == "__main__":
    unittest.main()
