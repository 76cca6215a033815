#!/usr/bin/python3
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""A scoreboard for readers: `python3 _short_scoreboard.py < scoreboard.md`.

Every table leaves out the methods that were tuned for another score; diverged runs are listed by method.
"""

import re
import sys

NOTE = "The tables leave out methods that were tuned for another score; `scoreboard.csv`, which the command writes, has them all.\n\n"
LAST, AVERAGED = r"for the last( risk)?$", r"for the averaged( risk)?$"
OTHERS = r"^(exact diffusion|gradient tracking) tuned$"
LEFT_OUT = {
    "Iterations to the target": [LAST, AVERAGED],
    "Vectors to the target": [LAST, AVERAGED],
    "Final excess risk": [AVERAGED, OTHERS],
    "Final excess risk, averaged iterates": [LAST, OTHERS],
    "Excess risk at equal vectors": [AVERAGED, OTHERS],
    "Excess risk at equal vectors, averaged iterates": [LAST, OTHERS],
}


def cells(line):
    return line.strip().strip("|").split("|")


def with_columns(rows, kept):
    return ["|" + "|".join(cells(row)[c] for c in kept) + "|" for row in rows]


def diverged(rows):
    """A row per method: where it diverged."""
    out = ["| method | runs that diverged, by instance |", "|---|---|"]
    for c, name in enumerate(cells(rows[0])[1:], 1):
        found = [f"{cells(row)[0].strip()} {cells(row)[c].strip()}" for row in rows[2:]]
        found = [text for text in found if " 0/" not in text]
        if found:
            out.append(f"|{name}| {', '.join(found)} |")
    return out


def shortened(title, rows):
    """The rows of a table that belongs under a title."""
    if title == "Diverged runs":
        return diverged(rows)
    columns = range(len(cells(rows[0])))
    names = [name.strip() for name in cells(rows[0])]
    out = LEFT_OUT.get(title, [])
    return with_columns(rows, [c for c in columns if not any(re.search(pattern, names[c]) for pattern in out)])


def main():
    title, rows = "", []
    for line in sys.stdin.read().splitlines() + ["<end>"]:
        if line.startswith("|"):
            rows.append(line)
            continue
        if rows:
            print("\n".join(shortened(title, rows)))
            rows = []
        if line == "<end>":
            break
        if line.startswith("## "):
            title = line[3:]
            if title == "Iterations to the target":
                print(NOTE, end="")
        print(line)


main()
