# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""_same_output.py PROGRAM: started by hand and by mpirun, with any number of ranks, a program says the same."""

import pathlib
import subprocess
import sys

MPIRUN = pathlib.Path(__file__).resolve().parent / "mpirun"


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


by_hand = output(sys.argv[1])
assert by_hand.strip(), "it says nothing"
for ranks in (1, 3, 5):
    by_mpirun = output(MPIRUN, str(ranks), sys.argv[1])
    assert by_mpirun == by_hand, f"{ranks} ranks say\n{by_mpirun}and by hand it says\n{by_hand}"
