#!/usr/bin/python3
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Puts what examples print into the documents again, about a minute: `docs/make_outputs.py [POLYHOP]`."""

import subprocess
import sys
import tempfile
import textwrap

from _document import ROOT, command, put

PLACES = {"failure-network": "failures.md", "failure-data": "failures.md", "comparison": "comparison.md"}


def printed(polyhop, example):
    """What `polyhop run` prints of an example, up to the plot."""
    with tempfile.TemporaryDirectory() as folder:
        run = [polyhop, "run", ROOT / "examples" / f"{example}.toml", "-o", f"{folder}/out", "--quiet"]
        return subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\nexcess risk\n")[0]


def main():
    polyhop = command(sys.argv[1:])
    for example, document in PLACES.items():
        shown = f"$ polyhop run examples/{example}.toml\n{printed(polyhop, example)}"
        put(document, example, textwrap.indent(shown, "    "))


main()
