# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the notebooks of examples/python from the scripts beside them, whose cells begin with `# %%`.

usage: make_notebooks.py
"""

import pathlib

import nbformat

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "examples" / "python"


def cells(text):
    """(is it prose, its text) of each cell."""
    for part in text.split("\n# %%")[1:]:
        head, _, body = part.partition("\n")
        if head.strip() == "[markdown]":
            yield True, "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines())
        else:
            yield False, body.strip()


def notebook(script):
    made = nbformat.v4.new_notebook()
    for number, (is_prose, text) in enumerate(cells("\n" + script.read_text())):
        cell = (nbformat.v4.new_markdown_cell if is_prose else nbformat.v4.new_code_cell)(text)
        cell["id"] = f"cell-{number}"
        made.cells.append(cell)
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.writes(made) + "\n"


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.py")):
        path.with_suffix(".ipynb").write_text(notebook(path))
        print(path.with_suffix(".ipynb"))
