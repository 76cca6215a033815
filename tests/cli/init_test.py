# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""init_test.py POLYHOP: the file that `polyhop init` writes runs as it is."""

import json
import re

import _polyhop
from _polyhop import CommandTest


class Init(CommandTest):
    def test_the_file_runs_and_its_target_is_reached(self):
        said = self.done("init", "new.toml").stdout
        self.assertIn("Written: new.toml", said)
        self.assertIn("polyhop run new.toml", said)
        self.done("run", "new.toml", "-o", "out", "--quiet")
        methods = {row["method"] for row in self.curves()}
        self.assertLessEqual({"GAP tight", "GAP, as published"}, methods)
        reached = {row["method"] for row in self.curves() if float(row["excess_risk"]) <= 1e-6}
        self.assertIn("GAP tight", reached)

    def test_the_default_name(self):
        self.done("init")
        self.assertTrue((self.folder / "experiment.toml").exists())

    def test_a_name_without_an_ending_gets_one_that_run_finds(self):
        (self.folder / "e.toml").unlink()
        self.assertIn("polyhop run mine.toml", self.done("init", "mine").stdout)
        self.assertIn("using mine.toml", self.done("run", "--set", "iterations=3").stderr)

    def test_every_key_is_explained_in_the_options_own_words(self):
        text = self.done("init", "-").stdout
        self.assertEqual(self.listing().keys(), {"e.toml"})
        keys = re.findall(r"^(?:# )?([a-z_0-9]+) = ", text, re.MULTILINE)
        self.assertLessEqual({"name", "seeds", "iterations", "target", "topology", "agents", "loss", "dimension",
                              "samples", "noise", "batch", "step", "average", "l2", "time_limit"}, set(keys))
        self.assertIn("# excess risk that counts as solved", text)
        self.assertIn("# samples per agent and iteration", text)

    def test_lines_that_are_commented_out_are_valid_too(self):
        text = self.done("init", "-").stdout
        body = re.sub(r"^# (\[record\]|[a-z_0-9]+ = )", r"\1", text, flags=re.MULTILINE)
        self.put("all.toml", body)
        config = json.loads(self.done("check", "all.toml", "--json").stdout)["config"]
        self.assertEqual((config["start"], config["time_limit"], config["graph"]["seed"]), ("normal", 60, 1))
        self.assertEqual((config["problem"]["l2"], config["record"]["steps"]), (0.01, "agents"))

    def test_a_file_that_is_there_is_kept_unless_forced(self):
        result = self.polyhop("init", "e.toml")
        self.assertEqual(result.returncode, 3)
        self.assertIn("'e.toml' already exists; --force replaces it", result.stderr)
        self.assertEqual((self.folder / "e.toml").read_text(), _polyhop.EXPERIMENT)
        self.done("init", "e.toml", "--force")
        self.assertIn('name = "e"', (self.folder / "e.toml").read_text())

    def test_an_experiment_is_named_after_its_file(self):
        names = {"my.toml": "my", "a-2_b.toml": "a-2_b", "-": "mine", 'odd "name".toml': "mine", "two words.toml": "mine"}
        for file, name in names.items():
            said = self.done("init", file).stdout
            text = said if file == "-" else (self.folder / file).read_text()
            self.assertRegex(text, f'(?m)^name = "{name}" ')

    def test_the_command_to_run_next_can_be_copied_into_a_shell(self):
        for file, word in {"my.toml": "my.toml", "two words.toml": "'two words.toml'", "it's.toml": r"'it'\''s.toml'"}.items():
            self.assertIn(f"Next:    polyhop run {word}\n", self.done("init", file).stdout)

    def test_a_folder_that_is_not_there(self):
        result = self.polyhop("init", "no/such/e.toml")
        self.assertEqual(result.returncode, 3)
        self.assertIn("no/such/e.toml", result.stderr)


if __name__ == "__main__":
    _polyhop.main()
