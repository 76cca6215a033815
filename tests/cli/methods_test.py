# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""methods_test.py POLYHOP: the list of methods is the one that experiments are built from."""

import json

import _polyhop
from _polyhop import CommandTest


class Methods(CommandTest):
    def listed(self):
        return json.loads(self.done("methods", "--json").stdout)

    def test_all_are_listed_with_what_they_cost(self):
        listed = self.listed()
        text = self.done("methods").stdout
        self.assertIn("atc", [algorithm["name"] for algorithm in listed["algorithms"]])
        self.assertLessEqual({"constant", "polyak", "gap"}, {rule["name"] for rule in listed["rules"]})
        for entry in listed["algorithms"] + listed["rules"]:
            self.assertIn(entry["summary"], text)
        for rule in listed["rules"]:
            self.assertTrue(rule["cost"], rule["name"])

    def test_one_is_shown_with_every_option(self):
        gap = json.loads(self.done("methods", "gap", "--json").stdout)
        text = self.done("methods", "gap").stdout
        self.assertIn("damping", [option["name"] for option in gap["options"]])
        for option in gap["options"]:
            for part in (option["name"], option["type"], option["constraint"], option["default"], option["help"]):
                self.assertIn(part, text)
        self.assertIn('step = "gap"', text)

    def test_it_says_what_costs_count(self):
        self.assertIn("Vectors and scalars are what an agent sends to each neighbour", self.done("methods").stdout)

    def test_an_algorithm_is_shown(self):
        self.assertIn('algorithm = "atc"', self.done("methods", "atc").stdout)

    def test_a_name_of_a_rule_and_an_algorithm_shows_both(self):
        text = self.done("methods", "auto").stdout
        self.assertIn("auto (rule): ", text)
        self.assertIn('step = "auto"', text)
        self.assertIn("auto (algorithm): ", text)
        self.assertIn('algorithm = "auto"', text)
        listed = self.listed()
        algorithm = next(each for each in listed["algorithms"] if each["name"] == "auto")
        rule = next(each for each in listed["rules"] if each["name"] == "auto")
        self.assertEqual(json.loads(self.done("methods", "auto", "--json").stdout), {**rule, "algorithm": algorithm})

    def test_required_options_stand_in_the_example(self):
        self.assertIn('step = { rule = "constant", value = ... }', self.done("methods", "constant").stdout)

    def test_a_listed_default_is_what_a_run_takes(self):
        gap = json.loads(self.done("methods", "gap", "--json").stdout)
        self.put("e.toml", self.changed(('{ rule = "gap", bound = "tight", damping = "rows" }', '"gap"')))
        config = json.loads(self.done("check", "e.toml", "--json").stdout)["config"]
        step = config["method"][0]["step"]
        for option in gap["options"]:
            if option["default"] != "-":
                self.assertEqual(step[option["name"]], json.loads(option["default"]), option["name"])

    def test_an_unknown_name_suggests_the_nearest(self):
        result = self.polyhop("methods", "gpa")
        self.assertEqual(result.returncode, 3)
        self.assertIn("no method is called \"gpa\"; did you mean 'gap'?", result.stderr)
        self.assertIn("did you mean 'gap'?", self.polyhop("methods", "GAP").stderr)


if __name__ == "__main__":
    _polyhop.main()
