# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Documents with places that scripts fill: what stands between `<!-- begin of NAME -->` and `<!-- end of NAME -->`."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]


def command(arguments):
    """The polyhop command that a script was given, or the one that quickstart leaves."""
    return pathlib.Path(arguments[0] if arguments else ROOT / "build" / "bin" / "polyhop").resolve()


def put(document, name, text):
    """Replaces what stands at the place; there must be one of this name."""
    path = ROOT / "docs" / document
    begin, end = f"<!-- begin of {name} -->", f"<!-- end of {name} -->"
    old = path.read_text()
    place = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    new, places = place.subn(lambda _: f"{begin}\n\n{text.strip(chr(10))}\n\n{end}", old)
    if places != 1:
        raise SystemExit(f"{path}: {places} places called {name!r}, not 1")
    path.write_text(new)
