# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Does the command give the same bits on other processors? qemu stands in for them.

usage: other_cpus.py POLYHOP

Runs one experiment and one fit on this machine and on processors that lack some of its instructions: Haswell, whose
kernels are those of x86-64-v3, and Nehalem, without fused multiply-adds, whose kernels are the plain ones. The mathematical
library chooses among its own versions, too.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from same_numbers import FITS, RANKS, hash_of_arrays, hash_of_curves

QEMU = "qemu-x86_64"
# The processor and the kernels it must choose, or else it is no other processor.
CPUS = {"Haswell": "x86-64-v3", "Nehalem": "plain"}


class OtherCpus(unittest.TestCase):
    def call(self, cpu, *arguments):
        words = [str(word) for word in ([QEMU, "-cpu", cpu] if cpu else []) + [COMMAND, *arguments]]
        done = subprocess.run(words, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{' '.join(words)}\n{done.stderr}")
        return done.stdout

    def numbers(self, cpu):
        """Hashes of all that is computed on a processor; without one, on this machine."""
        out = self.folder / (cpu or "here")
        self.call(cpu, "run", "short.toml", "-o", out, "--quiet", "--threads", "2")
        self.call(cpu, "fit", *FITS[1], "-o", out / "model.npz", "--quiet")
        return {
            "curves": hash_of_curves(out / "curves.csv"),
            "models": hash_of_arrays(out / "models.npz"),
            "fit": hash_of_arrays(out / "model.npz"),
        }

    def test_they_give_the_bits_of_this_machine(self):
        with tempfile.TemporaryDirectory(prefix="polyhop_cpus_") as name:
            self.folder = pathlib.Path(name)
            (self.folder / "short.toml").write_text(RANKS, encoding="utf-8")
            here = self.numbers(None)
            for cpu, kernels in CPUS.items():
                with self.subTest(cpu=cpu):
                    self.assertEqual(json.loads(self.call(cpu, "doctor", "--json"))["instruction_set"], kernels)
                    self.assertEqual(self.numbers(cpu), here)


if __name__ == "__main__":
    COMMAND = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
