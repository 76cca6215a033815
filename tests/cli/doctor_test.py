# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""doctor_test.py POLYHOP: what `polyhop doctor` finds, and when it calls a machine fit."""

import json
import os
import shutil
import subprocess

import _polyhop
from _polyhop import CommandTest


class Doctor(CommandTest):
    def test_this_machine_is_fit(self):
        result = self.done("doctor")
        self.assertIn("This machine is fit to run polyhop.", result.stdout)
        self.assertIn("one and two threads give the same bits", result.stdout)
        self.assertNotIn("failed", result.stdout)
        self.assertRegex(result.stdout, r"\Averdict  checked +found\n-------  -+  -+\nok       version ")
        self.assertRegex(result.stdout, r"memory +\d[\d.]* GB, \d[\d.]* [GM]B of it free\n")
        self.assertEqual(self.listing().keys(), {"e.toml"})

    def test_what_it_found_as_json(self):
        said = json.loads(self.done("doctor", "--json").stdout)
        self.assertTrue(said["fit"])
        self.assertGreaterEqual(said["cores"], 1)
        self.assertIn(said["instruction_set"], ("plain", "x86-64-v3", "x86-64-v4"))
        version = self.done("--version").stdout.split()[1]
        self.assertEqual(said["version"], version)
        tests = [finding for finding in said["findings"] if finding["subject"] == "self-test"]
        self.assertGreaterEqual(len(tests), 4)

    def test_kernels_can_be_asked_for(self):
        for name in ("plain", json.loads(self.done("doctor", "--json").stdout)["instruction_set"]):
            environment = {**os.environ, "POLYHOP_CPU": name}
            said = json.loads(self.done("doctor", "--json", env=environment).stdout)
            self.assertEqual(said["instruction_set"], name)
            self.assertTrue(said["fit"], "the kernels give the expected bits")
        result = self.polyhop("doctor", env={**os.environ, "POLYHOP_CPU": "x86-64-v9"})
        self.assertEqual(result.returncode, 3)
        self.assertRegex(result.stderr, r'POLYHOP_CPU: found "x86-64-v9"; this machine can run kernels for .*"plain"')

    def test_it_tells_what_is_built_in(self):
        found = {finding["subject"]: finding for finding in json.loads(self.done("doctor", "--json").stdout)["findings"]}
        linked = subprocess.run(["ldd", _polyhop.COMMAND], check=True, capture_output=True, text=True).stdout
        for subject, library, package in (("MPI", "libmpi", "libopenmpi-dev"), ("METIS", "libmetis", "libmetis-dev")):
            if library in linked:
                self.assertEqual(found[subject]["verdict"], "ok")
                self.assertIn("is built in", found[subject]["found"])
            else:
                self.assertEqual(found[subject]["verdict"], "note")
                self.assertIn(f"apt-get install {package}", found[subject]["advice"])

    def test_missing_programs_name_their_package_and_do_no_harm(self):
        (self.folder / "bin").mkdir()
        bare = {**os.environ, "PATH": str(self.folder / "bin")}
        text = self.done("doctor", env=bare).stdout
        for package in ("gnuplot-nox", "chromium", "openmpi-bin"):
            self.assertIn(f"apt-get install {package}", text)
        program = self.folder / "bin" / "gnuplot"
        program.write_text("#!/bin/sh\n")
        self.assertIn("apt-get install gnuplot-nox", self.done("doctor", env=bare).stdout)
        program.chmod(0o755)
        text = self.done("doctor", env=bare).stdout
        self.assertNotIn("apt-get install gnuplot-nox", text)
        self.assertIn(str(program), text)

    def test_a_folder_that_cannot_be_written_is_unfit(self):
        command = self.folder / "polyhop"
        shutil.copy(_polyhop.COMMAND, command)
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        as_nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        result = self.polyhop("doctor", command=command, **as_nobody)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("cannot be written", result.stdout)
        self.assertIn("write elsewhere with -o", result.stdout)
        self.assertIn("This machine is not fit", result.stdout)


if __name__ == "__main__":
    _polyhop.main()
