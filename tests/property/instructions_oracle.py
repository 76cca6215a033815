# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""instructions_oracle.py INSTRUCTIONS_DUMP: five kernels and two short runs take no more instructions than they did.

Times are noisy on shared machines; instructions, counted by callgrind, are not. They depend on the compiler, so they are
compared only where it is the one that the numbers below come from. A change for the better is written down here, too.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import unittest

COMPILER = "12.2.0"
KERNELS = "x86-64-v3"  # valgrind knows no wider vectors
TOLERANCE = 0.02
EXPECTED = {
    "dot": 7323,
    "combine": 41137,
    "pairs": 37327,
    "products": 42499,
    "blend": 12649,
    "constant": 878380,
    "gap": 2896330,
}


def count(name):
    with tempfile.TemporaryDirectory(prefix="polyhop_count_") as folder:
        words = ["/usr/bin/valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", "--toggle-collect=counted", DUMP, name]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "POLYHOP_CPU": KERNELS})
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        raise RuntimeError(f"{' '.join(words)}\n{done.stderr}")
    return int(found.group(1))


class Instructions(unittest.TestCase):
    def test_no_more_than_they_were(self):
        version = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
        if version != COMPILER or os.uname().machine != "x86_64":
            self.skipTest(f"the numbers are of g++ {COMPILER} on x86_64, this is {version} on {os.uname().machine}")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = dict(zip(EXPECTED, pool.map(count, EXPECTED)))
        for name, expected in EXPECTED.items():
            with self.subTest(name):
                self.assertLess(abs(found[name] / expected - 1), TOLERANCE, f"{name}: {found[name]} instructions, expected {expected}")


if __name__ == "__main__":
    DUMP = sys.argv.pop(1)
    unittest.main(verbosity=2)
