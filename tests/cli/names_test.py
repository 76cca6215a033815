# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Names that somebody chose badly, or with bad intent: `python3 names_test.py PATH_TO_polyhop`.

They come from experiments and data, and go into archives, tables, figures and terminals.
"""

import csv
import os
import pty
import subprocess
import xml.etree.ElementTree
import zipfile

import _polyhop
from _polyhop import CommandTest

EXPERIMENT = """\
name = "names"
iterations = 20
record_every = 5
""" + _polyhop.SMALL


class Names(CommandTest):
    def experiment(self, *names):
        methods = "".join(f"[[method]]\nname = '''{name}'''\nalgorithm = \"atc\"\nstep = {{ rule = \"constant\", value = 0.{n + 1} }}\n" for n, name in enumerate(names))
        self.put("e.toml", EXPERIMENT + methods)

    def test_long_ones_are_refused(self):
        self.experiment("m" * 1000)
        self.done("check", "e.toml")
        self.experiment("m" * 70000)
        for command in (["check", "e.toml"], ["run", "e.toml", "-o", "out"]):
            result = self.polyhop(*command)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("a name of 70000 bytes, expected at most 1000", result.stderr)

    def test_what_no_xml_can_hold_is_refused(self):
        for character in ("\\uFFFE", "\\uFFFF", "\\u0001"):
            self.put("odd.toml", 'name = "n"\n' + _polyhop.SMALL + f'[[method]]\nname = "a{character}"\nstep = "gap"\n')
            result = self.polyhop("check", "odd.toml")
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("expected a name without control characters", result.stderr)

    def test_archives_unpack_into_their_folder(self):
        self.experiment("../../up", "/etc/root", "a/../../b", "..", "fine..name")
        self.done("run", "e.toml", "-o", "out", "--quiet")
        with zipfile.ZipFile(self.folder / "out" / "models.npz") as archive:
            members = archive.namelist()
        self.assertEqual(len(members), 10)
        for member in members:
            self.assertFalse(member.startswith("/"), member)
            self.assertNotIn("..", member.replace("fine..name", "").split("/"), member)

    def test_spreadsheets_compute_nothing(self):
        names = ["=1+1", "+cmd", "-cmd", "@sum(a)", "-1.5", "plain"]
        self.experiment(*names)
        self.done("run", "e.toml", "-o", "out", "--quiet")
        with open(self.folder / "out" / "curves.csv", newline="") as file:
            found = {row["method"] for row in csv.DictReader(file)}
        self.assertEqual(found, {"'=1+1", "'+cmd", "'-cmd", "'@sum(a)", "-1.5", "plain"})

    def test_figures_are_xml(self):
        self.experiment("]]>", "<b>&amp;</b>", "a]]>b\"'")
        self.done("run", "e.toml", "-o", "out", "--quiet")
        self.done("report", "out", "--figure", "f.svg")
        xml.etree.ElementTree.parse(self.folder / "f.svg")

    def test_terminals_are_told_nothing(self):
        label = "\033]0;owned\007\033[31mred"
        self.put("d.csv", "a,y\n" + "".join(f"{n},{label if n % 2 else 'b'}\n" for n in range(20)))
        self.done("fit", "d.csv", "--agents", "2", "--graph", "path", "--l2", "0.1", "--quiet", "-o", "m.npz")
        ours, theirs = pty.openpty()
        with subprocess.Popen([_polyhop.COMMAND, "predict", "m.npz", "d.csv"], cwd=self.folder, stdout=theirs) as process:
            os.close(theirs)
            shown = b""
            while True:
                try:
                    part = os.read(ours, 4096)
                except OSError:
                    break
                if not part:
                    break
                shown += part
            self.assertEqual(process.wait(), 0)
        os.close(ours)
        self.assertIn(b"red", shown)
        self.assertNotIn(b"\033", shown)
        self.assertIn(label, self.done("predict", "m.npz", "d.csv").stdout)  # a pipe gets what there is


if __name__ == "__main__":
    _polyhop.main()
