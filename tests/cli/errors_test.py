# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""errors_test.py POLYHOP: what `polyhop` refuses, with which code and words, and that it leaves nothing behind."""

import os
import resource
import shutil
import subprocess

import _polyhop
from _polyhop import CommandTest


class Usage(CommandTest):
    def refused(self, *arguments, says):
        result = self.polyhop(*arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.startswith("polyhop: "), result.stderr)
        self.assertIn(says, result.stderr)
        self.assertIn("--help", result.stderr)
        self.assertEqual(self.listing().keys(), {"e.toml"})

    def test_no_command(self):
        self.refused(says="a command is missing. To start:")
        for command in ("polyhop init", "polyhop run FILE", "polyhop fit DATA"):
            self.refused(says=f"  {command}  ")

    def test_a_word_of_other_programs(self):
        self.refused("plot", "out", says="unknown command 'plot'; did you mean `polyhop report`?")
        self.refused("train", "d.csv", says="unknown command 'train'; did you mean `polyhop fit`?")
        self.refused("version", says="unknown command 'version'; did you mean `polyhop --version`?")

    def test_what_cannot_go_to_the_standard_output(self):
        for command in (["run", "e.toml", "-o"], ["export", "out", "-o"]):
            self.refused(*command, "-", says="found '-'; this cannot go to the standard output, so name a folder")
        for command in (["report", "out", "-o"], ["report", "out", "--figure"], ["fit", "d.csv", "-o"],
                        ["fit", "d.csv", "--report"], ["graph", "e.toml", "--draw"]):
            self.refused(*command, "-", says="found '-'; this cannot go to the standard output, so name a file")

    def test_a_key_as_a_flag(self):
        for command in ("run", "check"):
            self.refused(command, "e.toml", "--iterations", "5",
                         says="unknown flag '--iterations'; to change this key, write --set iterations=VALUE")
            self.refused(command, "e.toml", "--topology=ring",
                         says="unknown flag '--topology'; to change this key, write --set graph.topology=VALUE")

    def test_what_is_missing_is_explained(self):
        self.refused("report", says="DIR is missing, and there are no results in out; `polyhop run` writes some")
        self.refused("export", "out", says="--output is missing: the folder to write to")
        self.refused("report", "out", "--figure", says="--figure needs a value: FILE")
        self.refused("report", "out", "--legend", says="--legend needs a value: auto, inside, ")
        self.refused("fit", "--l2", says="--l2 needs a value: NUMBER")
        self.refused("fit", "breast-cancer", "--drop", "1", "--drop", "2", says="--drop was given 2 times; give it once")

    def test_unknown_command_suggests_the_nearest(self):
        self.refused("rnu", "e.toml", says="unknown command 'rnu'")
        self.refused("report", "out", "--fig", says="unknown flag '--fig'; did you mean '--figure'?")
        self.refused("runs", "e.toml", says="unknown command 'runs'; did you mean 'run'?")
        self.refused("hlep", "run", says="unknown command 'hlep'; did you mean 'help'?")
        self.refused("", says="unknown command ''")

    def test_no_file(self):
        self.put("pyproject.toml", "[project]\nname = 'x'\n")
        self.put("_part.toml", _polyhop.EXPERIMENT)
        self.done("run", "e.toml", "-o", "named", "--quiet")
        for arguments in (["check"], ["run", "-o", "out", "--threads", "1"]):
            self.assertIn("polyhop: using e.toml, the only experiment in this folder\n", self.done(*arguments).stderr)
        self.assertEqual(self.curves("named")[-1]["excess_risk"], self.curves("out")[-1]["excess_risk"])
        self.put("broken.toml", "[problem]\nx = \n")
        for command in ("run", "check"):
            result = self.polyhop(command)
            self.assertEqual(result.returncode, 2)
            self.assertIn("this folder holds several experiments; name one: broken.toml, e.toml\n", result.stderr)
        for name in ("broken.toml", "e.toml"):
            (self.folder / name).unlink()
        result = self.polyhop("run")
        self.assertEqual(result.returncode, 2)
        self.assertIn("this folder holds no experiment (*.toml); `polyhop init` writes one", result.stderr)

    def test_no_folder(self):
        self.done("run", "e.toml", "--quiet")
        for arguments in (["report"], ["export", "-o", "tables"]):
            self.assertIn("polyhop: using out/tiny, the only experiment in out\n", self.done(*arguments).stderr)
        self.assertTrue((self.folder / "tables" / "curves.csv").exists())
        self.assertEqual(self.done("report", "--json").stderr, "")
        self.done("run", "e.toml", "--quiet", "-o", "out/other")
        for arguments in (["report"], ["export", "-o", "tables"]):
            result = self.polyhop(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn("DIR is missing, and out holds several experiments; name one: out/other, out/tiny\n",
                          result.stderr)

    def test_unknown_flag_suggests_the_nearest(self):
        self.refused("--verion", says="unknown flag '--verion'; did you mean '--version'?")
        self.refused("run", "--treads", "2", "e.toml", says="unknown flag '--treads'; did you mean '--threads'?")
        self.refused("run", "e.toml", "--thread=2", says="unknown flag '--thread'; did you mean '--threads'?")
        for name in ("--seed", "--seed=3"):
            self.refused("run", "e.toml", name, "3", says="unknown flag '--seed'; did you mean '--seeds'?")
        self.refused("run", "--quit", says="unknown flag '--quit'; did you mean '--quiet'?")
        for name in ("-v", "-V"):
            self.refused(name, says=f"unknown flag '{name}'; did you mean '--version'?")
        self.refused("run", "e.toml", "-x", says="unknown flag '-x'; allowed: --help, --output, --set")

    def test_too_many_arguments(self):
        self.refused("check", "e.toml", "e.toml", says="unexpected: e.toml")

    def test_threads_out_of_range(self):
        for threads in ("0", "-1", "x", "1.5", "", "99999999999999999999"):
            self.refused("run", "e.toml", "--threads", threads, says="--threads")

    def test_a_flag_without_its_value(self):
        for flag in ("-o", "--set", "--seeds", "--threads"):
            self.refused("run", "e.toml", flag, says=flag)

    def test_arguments_cannot_steer_the_terminal(self):
        for arguments in (["check", "e.toml", "\x1b[31mx"], ["run", "e.toml", "--\x1b[31mx"], ["\x1b[31mx"]):
            result = self.polyhop(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertNotIn("\x1b", result.stderr)
            self.assertIn("\\x1b[31mx", result.stderr)


class BadInput(CommandTest):
    def refused(self, text, *says, arguments=(), file="e.toml"):
        """Refused with code 3 and one line of words, and nothing is written: to a new folder, or to an old one."""
        if text is not None:
            self.put(file, text)
        (self.folder / "old").mkdir(exist_ok=True)
        self.put("old/curves.csv", "kept")
        before = self.listing()
        for folder in ("new", "new/deeper", "old", "old/deeper"):
            result = self.polyhop("run", file, "-o", folder, *arguments)
            self.assertEqual(result.returncode, 3, f"{result.returncode}: {result.stderr}")
            self.assertEqual(result.stdout, "")
            self.assertRegex(result.stderr, r"\Apolyhop: [^\n]+\n\Z")
            for part in says:
                self.assertIn(part, result.stderr)
            self.assertEqual(self.listing(), before)

    def test_no_such_file(self):
        self.refused(None, "nowhere.toml: cannot open the file", file="nowhere.toml")
        self.refused(None, "ee.toml: cannot open the file: ", "; did you mean 'e.toml'?", file="ee.toml")

    def test_a_key_outside_of_its_table(self):
        self.refused(self.changed(('name = "tiny"\n', 'topology = "ring"\n')),
                     "e.toml:1: topology: unknown key; did you mean 'graph.topology'?")

    def test_a_file_without_its_ending(self):
        self.refused(None, "e: cannot open the file", "; did you mean 'e.toml'?", file="e")

    def test_data_in_place_of_an_experiment(self):
        for name, text in (("a.csv", "x,y\n1,2\n"), ("a.svm", "1 1:2\n"), ("a.npz", b"PK\x03\x04\0")):
            self.refused(text, f"polyhop: {name}: is not an experiment; `polyhop fit` takes data", file=name)
        self.refused(None, "cannot open the file", file="")

    def test_a_folder(self):
        (self.folder / "sub").mkdir()
        self.refused(None, "sub: holds no experiment", file="sub")
        self.done("run", "e.toml", "--quiet", "-o", "results")
        self.assertIn("results: holds results; `polyhop report results` shows them", self.polyhop("run", "results").stderr)
        self.put("sub/a.toml", _polyhop.EXPERIMENT)
        self.assertIn("sub: is a folder; expected a file, such as sub/a.toml", self.polyhop("check", "sub").stderr)

    def test_not_a_regular_file(self):
        os.mkfifo(self.folder / "pipe")
        self.refused(None, "polyhop: pipe: ", file="pipe")
        self.refused(None, "polyhop: /dev/zero: ", file="/dev/zero")

    def test_a_file_of_many_gigabytes(self):
        with open(self.folder / "huge.toml", "wb") as file:
            file.truncate(50 * 10**9)  # sparse: takes no room
        self.refused(None, "huge.toml: the file is larger than 16 MB", file="huge.toml")

    def test_a_file_that_may_not_be_read(self):
        os.chmod(self.folder / "e.toml", 0)
        result = self.unprivileged("run", "e.toml", "-o", "new")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("e.toml: cannot open the file: Permission denied", result.stderr)
        self.assertFalse((self.folder / "new").exists())

    def unprivileged(self, *arguments):
        """Root may read and write everywhere; this runs a copy of the command as somebody who may not."""
        if os.geteuid() != 0:
            return self.polyhop(*arguments)
        nobody = 65534
        os.chmod(self.folder, 0o755)
        command = self.folder / "polyhop"
        shutil.copy(_polyhop.COMMAND, command)
        return self.polyhop(*arguments, command=command, user=nobody, group=nobody, extra_groups=[])

    def test_texts_that_break_toml_parsers(self):
        self.refused(b"[)", "e.toml:1: ")
        self.refused(b"a = 1\n[)\n", "e.toml:2: ")
        for prefix in (b"", b"a = ", b"a", b"[", b"a = 1 ", b"a = [", b"a = 1\n"):
            self.refused(prefix + b"\xef\xba\xbf", "e.toml:")

    def test_bytes_that_are_no_text(self):
        self.refused(b"name = \"\xff\"\n", "e.toml:1: ", "UTF-8")
        self.refused(b"name = \"a\0b\"\n", "e.toml:1: ", "NUL")
        self.refused(bytes(range(256)), "e.toml:")
        self.refused(b"\x7fELF\x02\x01\x01", "e.toml:1: ")

    def test_nesting_without_end(self):
        self.refused(b"a = " + b"[" * 100000, "e.toml:1: ")
        self.refused(b"a" + b".a" * 100000 + b" = 1", "e.toml:1: ")

    def test_an_empty_file(self):
        self.put("e.toml", "")
        result = self.polyhop("run", "e.toml")
        self.assertEqual(result.returncode, 3)
        self.assertEqual([line.split(": ", 1)[1].split("; ")[0] for line in result.stderr.splitlines()],
                         ["e.toml:1: graph: missing", "e.toml:1: problem: missing",
                          "e.toml: method: found none, expected at least one [[method]]"])

    def test_a_misspelt_key(self):
        self.refused(self.changed(("iterations", "iteration")),
                     "e.toml:3: iteration: unknown key; did you mean 'iterations'?")
        self.refused(self.changed(("agents", "agent")), "e.toml:9: graph.agent: unknown key; did you mean 'agents'?")
        self.refused(self.changed(("samples", "sample")),
                     "e.toml:13: problem.sample: unknown key; did you mean 'samples'?")
        self.refused(self.changed(("bound", "bond")),
                     "e.toml:17: method.\"GAP\".step.bond: unknown key; did you mean 'bound'?")
        self.refused(self.changed(("average", "averages")),
                     "e.toml:21: method.\"far\".averages: unknown key; did you mean 'average'?")

    def test_a_misspelt_name(self):
        self.refused(self.changed(('"path"', '"paths"')),
                     "e.toml:8: graph.topology: unknown name \"paths\"; did you mean 'path'?")
        self.refused(self.changed(('"gap"', '"gab"')),
                     "e.toml:17: method.\"GAP\".step.rule: unknown name \"gab\"; did you mean 'gap'?")
        self.refused(self.changed(('"tight"', '"tigt"')),
                     "e.toml:17: method.\"GAP\".step.bound: unknown name \"tigt\"; did you mean 'tight'?")

    def test_all_errors_are_told_at_once(self):
        self.put("e.toml", self.changed(("iterations = 20", "iteration = 20"), ("agents = 4", "agents = 0\nradius = -1"),
                                        ("samples = 5", "sample = 5"), ('"tight"', '"tigt"'), ("value = 1e6", "value = -1")))
        for command in (["check", "e.toml"], ["run", "e.toml", "-o", "out", "--quiet"]):
            result = self.polyhop(*command)
            self.assertEqual(result.returncode, 3)
            self.assertEqual([line.split("; ")[0].split(", ")[0] for line in result.stderr.splitlines()], [
                "polyhop: e.toml:3: iteration: unknown key",
                "polyhop: e.toml:9: graph.agents: found 0",
                "polyhop: e.toml:10: graph.radius: found -1",
                "polyhop: e.toml:14: problem.sample: unknown key",
                'polyhop: e.toml:18: method."GAP".step.bound: unknown name "tigt"',
                'polyhop: e.toml:23: method."far".step.value: found -1',
            ])

    def test_a_misspelt_loss_hides_no_other_error(self):
        self.put("e.toml", self.changed(("samples = 5", 'loss = "huger"\ndeltta = 2\nsampels = 5\ndelta = 1'),
                                        ("value = 1e6", "value = -1")))
        result = self.polyhop("check", "e.toml")
        self.assertEqual([line.split("; ")[0].split(", ")[0] for line in result.stderr.splitlines()], [
            'polyhop: e.toml:13: problem.loss: unknown name "huger"',
            "polyhop: e.toml:14: problem.deltta: unknown key",
            "polyhop: e.toml:15: problem.sampels: unknown key",
            'polyhop: e.toml:25: method."far".step.value: found -1',
        ])

    def test_a_wrong_number_hides_no_misspelt_key_beside_it(self):
        self.put("e.toml", self.changed(("dimension = 3", "dimension = 0\nbatch = 3"), ("samples = 5", "sampels = 5")))
        self.assertEqual([line.split(", ")[0] for line in self.polyhop("check", "e.toml").stderr.splitlines()], [
            "polyhop: e.toml:12: problem.dimension: found 0",
            "polyhop: e.toml:14: problem.sampels: unknown key; did you mean 'samples'?",
        ])

    def test_everything_wrong_with_a_method_is_told_at_once(self):
        self.put("e.toml", self.changed(('name = "far"\naverage = false', 'name = "GAP"\naverag = 1\nalgorithm = "atcc"'),
                                        ("value = 1e6", "value = -1")))
        self.assertEqual([line.split("; ")[0].split(", ")[0]
                          for line in self.polyhop("check", "e.toml").stderr.splitlines()], [
            'polyhop: e.toml:19: method."GAP".name: two methods are called "GAP"',
            'polyhop: e.toml:21: method."GAP".averag: unknown key',
            'polyhop: e.toml:22: method."GAP".algorithm: unknown name "atcc"',
            'polyhop: e.toml:23: method."GAP".step.value: found -1',
        ])

    def test_all_that_is_missing_is_told_at_once(self):
        self.put("e.toml", self.changed(("dimension = 3\nsamples = 5\n", "")))
        self.assertEqual([line.split("; ")[0] for line in self.polyhop("check", "e.toml").stderr.splitlines()],
                         ["polyhop: e.toml:11: problem.dimension: missing", "polyhop: e.toml:11: problem.samples: missing"])

    def test_a_wrong_type(self):
        self.refused(self.changed(("agents = 4", 'agents = "four"')),
                     'e.toml:9: graph.agents: found "four", expected an integer')
        self.refused(self.changed(("iterations = 20", "iterations = 20.0")),
                     "e.toml:3: iterations: found 20.0, expected an integer")
        self.refused(self.changed(('name = "tiny"', "name = 1")), "e.toml:1: name: found 1, expected text in quotes")

    def test_out_of_range(self):
        self.refused(self.changed(("agents = 4", "agents = 0")),
                     "e.toml:9: graph.agents: found 0, expected an integer >= 1")
        self.refused(self.changed(("agents = 4", "agents = -1")),
                     "e.toml:9: graph.agents: found -1, expected an integer >= 1")
        self.refused(self.changed(("dimension = 3", "dimension = 0")),
                     "e.toml:12: problem.dimension: found 0, expected an integer >= 1")
        self.refused(self.changed(("value = 1e6", "value = -1")),
                     "e.toml:22: method.\"far\".step.value: found -1, expected a number > 0")
        self.refused(self.changed(("value = 1e6", "value = nan")),
                     "e.toml:22: method.\"far\".step.value: found nan, expected a number > 0")
        self.refused(self.changed(("target = 1e-200", "target = 0")), "e.toml:5: target: found 0, expected a number > 0")
        self.refused(self.changed(("record_every = 7", "record_every = 0")),
                     "e.toml:4: record_every: found 0, expected an integer >= 1")

    def test_too_large_for_any_memory(self):
        self.refused(self.changed(("dimension = 3", "dimension = 1000000000000")), "e.toml:11: problem: ", "the memory limit is ")
        self.refused(self.changed(('"path"', '"complete"'), ("agents = 4", "agents = 1000000")),
                     "e.toml:9: graph.agents: ", "the memory limit is ")

    def test_no_methods(self):
        tables = _polyhop.EXPERIMENT.split("[[method]]")[0]
        self.refused(tables, "e.toml: method: found none, expected at least one [[method]]")

    def test_two_methods_of_one_name(self):
        self.refused(self.changed(('name = "far"', 'name = "GAP"')),
                     'e.toml:19: method."GAP".name: two methods are called "GAP"')

    def test_control_characters_in_names(self):
        self.refused(self.changed(('"GAP"', r'"G\u001b[2JP"')),
                     r'e.toml:16: method."G\u001b[2JP".name: found "G\u001b[2JP"', "without control characters")
        self.refused(self.changed(('"tiny"', r'"t\n"')), "e.toml:1: name: found ", "without control characters")

    def test_seeds(self):
        most = 2**64 - 1
        for seeds in ('"3..1"', "-1", "[]", "[1, 1]", f'"0..{most}"', f'"{most}..{most}"'):
            self.refused(self.changed(('"0..1"', seeds)), "e.toml:2: seeds: found ")
        for seeds in ("3..1", "x", "", "-1"):
            self.refused(_polyhop.EXPERIMENT, f"polyhop: --seeds {seeds}: seeds: found ", arguments=("--seeds", seeds))

    def test_settings(self):
        for setting, says in (
            ("graph.agent=3", "graph.agent: unknown key; did you mean 'agents'?"),
            ("grph.agents=3", "grph: unknown key; did you mean 'graph'?"),
            ("graph.agents=0", "graph.agents: found 0, expected an integer >= 1"),
            ("graph.radius=0.5", 'graph.radius: topology "path" does not use this key'),
            ("problem.loss=softmax", 'problem.loss: "softmax" needs real data'),
            ("method.GAP.step.bond=1", "method.\"GAP\".step.bond: unknown key; did you mean 'bound'?"),
            ("method.nobody.average=true", "method.nobody.average: method has 2 entries"),
            ("nothing", 'the setting "nothing" has no'),
        ):
            self.refused(_polyhop.EXPERIMENT, f"polyhop: --set {setting}: {says}",
                         arguments=("--set", "iterations=3", "--set", setting))

    def test_a_graph_that_stays_disconnected(self):
        self.refused(self.changed(('"path"', '"erdos-renyi"\nprobability = 0.0')),
                     "e.toml:8: graph.topology: ", "is connected; raise probability")

    def test_a_graph_file_that_is_not_connected(self):
        text = self.changed(('"path"', '"file"\nfile = "g.txt"'), ("agents = 4", "agents = 5"))
        self.put("g.txt", "0 1\n1 2\n2 0\n3 4\n")
        self.refused(text, "g.txt: graph.file: not connected: agent 3 cannot be reached from agent 0")

    def test_keys_a_topology_lacks_or_does_not_use(self):
        self.refused(self.changed(('"path"', '"erdos-renyi"')), "e.toml:7: graph.probability: missing")
        self.refused(self.changed(('"path"', '"path"\nradius = 0.5')),
                     "e.toml:9: graph.radius: ", "does not use this key")

    def given(self, matrix, *says):
        text = self.changed(('"path"', '"file"\nfile = "a.mat"\nweights = "given"'), ("agents = 4\n", ""))
        self.put("a.mat", matrix)
        self.refused(text, "a.mat:", *says)

    def test_given_weights_that_are_not_symmetric(self):
        self.given("0.5 0.5 0\n0.25 0.5 0.25\n0.25 0 0.75\n", "symmetric")

    def test_given_weights_that_are_not_doubly_stochastic(self):
        self.given("0.5 0.4\n0.4 0.5\n", "sum")

    def test_given_weights_that_are_negative(self):
        self.given("1.5 -0.5\n-0.5 1.5\n", "-0.5", "negative")

    def test_given_weights_that_are_not_finite(self):
        for weight in ("nan", "inf", "-inf", "1e999"):
            self.given(f"{weight} 0.5\n0.5 0.5\n", "finite")

    def test_given_weights_that_are_not_square(self):
        self.given("0.5 0.5\n0.5 0.5\n0 0\n")
        self.given("0.5 0.5\n1\n")

    def test_given_weights_that_are_not_connected(self):
        self.given("1 0\n0 1\n", "connected")

    def test_given_weights_that_are_periodic(self):
        self.given("0 1\n1 0\n")

    def test_given_weights_without_a_file(self):
        self.refused(self.changed(('"path"', '"path"\nweights = "given"')),
                     'e.toml:9: graph.weights: "given" needs topology "file"')

    def test_a_graph_file_that_cannot_be_read(self):
        text = self.changed(('"path"', '"file"\nfile = "g.txt"'), ("agents = 4\n", ""))
        self.refused(text, "g.txt: graph.file: no such file")
        self.put("g.txt", "")
        self.refused(text, "g.txt: graph.file: is empty")
        self.put("g.txt", "0 one\n")
        self.refused(text, "g.txt:1: graph.file: ")
        with open(self.folder / "g.txt", "wb") as file:
            file.truncate(50 * 10**9)
        self.refused(text, "g.txt: graph.file: has 50000000000 bytes")
        os.remove(self.folder / "g.txt")
        (self.folder / "g.txt").mkdir()
        self.refused(text, "g.txt: graph.file: is a folder")

    def test_an_optimum_of_the_wrong_length(self):
        self.refused(self.changed(('"rows"', '"rows", optimum = [1, 2]')),
                     'e.toml:17: method."GAP".step.optimum: found 2 values, expected one for each of the 4 agents')
        self.put("best.txt", "1 2 3 4 5\n")
        self.refused(self.changed(('"rows"', '"rows", optimum = { file = "best.txt" }')),
                     'method."GAP".step.optimum: found 5 values')
        self.put("best.txt", "1 2 three 4\n")
        self.refused(self.changed(('"rows"', '"rows", optimum = { file = "best.txt" }')),
                     "best.txt:1: ", "column 5 is not a finite number")

    def test_an_optimum_of_the_wrong_length_for_any_rule(self):
        for rule in ("polyak", "sps", "decsps"):
            for optimum, count in (("[1.0, 2.0, 3.0]", 3), ("[1.0, 2.0, 3.0, 4.0, 5.0]", 5)):
                step = f'{{ rule = "{rule}", optimum = {optimum} }}'
                self.refused(self.with_method(step),
                             f'e.toml:22: method."far".step.optimum: found {count} values, expected one for each of the '
                             "4 agents")

    def with_method(self, step, algorithm=None):
        """The experiment with another second method; its step stands in line 22, its algorithm, if any, before it."""
        lines = self.changed(("step = { rule = \"constant\", value = 1e6 }\n", "")).splitlines()
        lines[20] = "average = false" if algorithm is None else f"algorithm = {algorithm}"
        return "\n".join(lines + ([] if step is None else [f"step = {step}"])) + "\n"

    def test_a_rule_that_an_algorithm_cannot_take(self):
        gap, constant = '"gap"', '{ rule = "constant", value = 0.1 }'
        for name in ("extra", "next"):
            self.refused(self.with_method(gap, f'"{name}"'),
                         f'e.toml:22: method."far".step: rule "gap" does not go with algorithm "{name}", which takes one '
                         'constant step, the same for all agents and iterations: "constant" or "tuned"')
        self.refused(self.with_method(gap, '"dadam"'),
                     'e.toml:22: method."far".step: rule "gap" does not go with algorithm "dadam", which takes a step '
                     'that is the same for all agents: "constant", "decay", "schedule" or "tuned"')
        self.refused(self.with_method('{ rule = "decay", value = 0.1 }', '"extra"'),
                     'e.toml:22: method."far".step: rule "decay" does not go with algorithm "extra"')
        for name in ("kuruzov", "quasi-newton", "auto"):
            self.refused(self.with_method(constant, f'"{name}"'),
                         f'e.toml:22: method."far".step: rule "constant" does not go with algorithm "{name}", which '
                         "chooses its own steps; leave `step` out")
        self.refused(self.with_method('"auto"', '"dgd"'),
                     'e.toml:22: method."far".step: rule "auto" chooses the algorithm too; leave `algorithm` = "dgd" out')
        self.refused(self.with_method(None, '"dgd"'),
                     'e.toml:19: method."far".step: missing; "dgd" needs a rule: step = "gap"')

    def test_options_out_of_range_of_every_rule(self):
        for rule, key, rest, wrong in (
            ("decay", "value", "", ("-1", "0", "nan", "inf")), ("decay", "power", "value = 1, ", ("-0.5", "nan")),
            ("schedule", "value", "", ("-1", "nan")), ("schedule", "factor", "value = 1, ", ("-1", "0", "nan")),
            ("schedule", "warmup", "value = 1, ", ("-1",)), ("schedule", "every", "value = 1, ", ("-1",)),
            ("decsps", "c0", "", ("-1", "0", "nan")), ("adgd", "first", "", ("-1", "0", "nan")),
            ("barzilai-borwein", "first", "", ("-1", "nan")), ("barzilai-borwein", "min", "", ("-1", "nan")),
            ("barzilai-borwein", "max", "", ("-1", "nan")), ("polyak", "max", "", ("-1", "nan")),
            ("gap", "sketch_size", "", ("0", "-1")),
        ):
            for value in wrong:
                self.refused(self.with_method(f'{{ rule = "{rule}", {rest}{key} = {value} }}'),
                             f"e.toml:22: method.\"far\".step.{key}: found {value}, expected ")

    def test_options_out_of_range_of_every_algorithm(self):
        step = '{ rule = "constant", value = 0.1 }'
        for name, key, wrong in (
            ("exact-diffusion", "mixing", ("-1", "0", "nan")), ("gradient-tracking", "rounds", ("0", "-1")),
            ("next", "gamma", ("-1", "nan", "2")), ("next", "theta", ("-1", "nan", "2")),
            ("kuruzov", "delta", ("-1", "nan")), ("kuruzov", "growth", ("0.5", "-1", "nan")),
            ("kuruzov", "shrink", ("-1", "1", "nan")), ("kuruzov", "first", ("-1", "0", "nan")),
            ("kuruzov", "mixing", ("-1", "0.5", "nan")), ("quasi-newton", "memory", ("0", "-1")), ("dadam", "beta1", ("-1", "1", "nan")),
            ("dadam", "beta2", ("-1", "1", "nan")), ("dadam", "beta3", ("-1", "nan")),
            ("dadam", "epsilon", ("-1", "0", "nan")), ("damsgrad", "beta1", ("-1", "1", "nan")),
            ("damsgrad", "epsilon", ("-1", "0", "nan")),
        ):
            for value in wrong:
                own = None if name in ("kuruzov", "quasi-newton") else step
                self.refused(self.with_method(own, f'{{ name = "{name}", {key} = {value} }}'),
                             f"e.toml:21: method.\"far\".algorithm.{key}: found {value}, expected ")

    def test_batches_where_whole_costs_are_needed(self):
        self.refused(self.with_method(None, '"quasi-newton"'),
                     'e.toml:21: method."far".algorithm.name: "quasi-newton" needs whole costs, not those of batches; set '
                     'batch = "all" in [problem]')

    def test_a_bound_that_tracking_cannot_have(self):
        for bound in ("tight", "paper"):
            self.refused(self.with_method(f'{{ rule = "gap", bound = "{bound}" }}', '"gradient-tracking"'),
                         'e.toml:22: method."far".step.bound: ', f'"{bound}"', '"gradient-tracking"')

    def test_a_start_of_the_wrong_size(self):
        self.put("w.txt", "1 2\n")
        self.refused('start = "w.txt"\n' + _polyhop.EXPERIMENT, "e.toml:1: start: ",
                     "holds 2 numbers, expected 3 (one model for all) or 12")
        self.refused('start = "zeros"\n' + _polyhop.EXPERIMENT, "e.toml:1: start: ", "zeros")
        with open(self.folder / "w.txt", "wb") as file:
            file.truncate(50 * 10**9)
        self.refused('start = "w.txt"\n' + _polyhop.EXPERIMENT, "e.toml:1: start: ", "has 50000000000 bytes")

    def test_gap_on_weights_that_may_be_negative(self):
        # The centre of a star of 4 keeps 1 - 3 * 2/5 < 0 for itself.
        text = self.changed(('"path"', '"star"\nweights = "best-constant"'))
        self.refused(text, 'e.toml:18: method."GAP".step.rule = "gap": ', "negative weights")

    def test_options_of_gap_that_do_not_go_together(self):
        self.refused(self.changed(('"tight"', '"paper", sweeps = "exact"')),
                     'method."GAP".step.sweeps: "exact" is refused with bound = "paper"')
        self.refused(self.changed(('"tight"', '"oracle"'), ("samples = 5", 'samples = 5\nreference = "none"')),
                     'method."GAP".step.bound = "oracle": needs a known minimiser')

    def test_messages_cannot_steer_the_terminal(self):
        self.put("e.toml", self.changed(('"path"', r'"pa\u001b[31mth"')))
        result = self.polyhop("run", "e.toml", "-o", "new")
        self.assertEqual(result.returncode, 3)
        self.assertNotIn("\x1b", result.stderr)
        self.put("x\x1b[31m.toml", "[)")
        result = self.polyhop("run", "x\x1b[31m.toml", "-o", "new")
        self.assertEqual(result.returncode, 3)
        self.assertNotIn("\x1b", result.stderr)
        self.assertIn(r"x\x1b[31m.toml:1: ", result.stderr)

    def test_an_impossible_output_folder(self):
        for folder in ("e.toml", "e.toml/x", "/proc/polyhop", ""):
            before = self.listing()
            result = self.polyhop("run", "e.toml", "-o", folder)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertEqual(result.stdout, "")
            # No progress either: nothing has run.
            self.assertRegex(result.stderr, r"\Apolyhop: -o: [^\n]+\n\Z")
            self.assertIn(f"cannot make the folder '{folder}': ", result.stderr)
            self.assertEqual(self.listing(), before)

    def test_an_output_that_is_a_folder(self):
        (self.folder / "old/models.npz").mkdir(parents=True)
        result = self.polyhop("run", "e.toml", "-o", "old")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(result.stderr, "polyhop: -o: cannot write 'old/models.npz': Is a directory\n")
        self.assertEqual(self.listing("old").keys(), {"models.npz"})

    def test_a_read_only_output_folder(self):
        (self.folder / "fixed").mkdir()
        os.chmod(self.folder / "fixed", 0o555)
        for folder, message in (
            ("fixed", "cannot write 'fixed/curves.csv'"),
            ("fixed/new", "cannot make the folder 'fixed/new'"),
        ):
            result = self.unprivileged("run", "e.toml", "-o", folder)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertEqual(result.stderr, f"polyhop: -o: {message}: Permission denied\n")
            self.assertEqual(os.listdir(self.folder / "fixed"), [])

    def test_a_read_only_output_file(self):
        (self.folder / "old").mkdir()
        self.put("old/curves.csv", "kept")
        os.chmod(self.folder / "old/curves.csv", 0o444)
        os.chmod(self.folder / "old", 0o777)
        result = self.unprivileged("run", "e.toml", "-o", "old")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("-o: cannot write 'old/curves.csv': Permission denied", result.stderr)
        self.assertEqual(self.listing("old"), {"curves.csv": b"kept"})

    def test_a_name_that_leaves_the_output_folder(self):
        for name in ("../up", "a/b", "/abs", ".", "..", "dir/"):
            self.put("e.toml", self.changed(('"tiny"', f'"{name}"')))
            before = self.listing()
            result = self.polyhop("run", "e.toml")
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn(f'e.toml: name: "{name}" cannot be the name of a folder; choose one with -o', result.stderr)
            self.assertEqual(self.listing(), before)
        self.done("run", "e.toml", "--quiet", "-o", "out")
        self.assertEqual(self.curves()[0]["experiment"], "dir/")


class Failing(CommandTest):
    def test_a_seed_that_fails_is_told_and_the_others_are_kept(self):
        # Two agents and 1000 draws of a link with probability 1/1000: about one seed in three stays without.
        self.put("e.toml", self.changed(('"path"', '"erdos-renyi"\nprobability = 1e-3'), ("agents = 4", "agents = 2")))
        codes = [self.polyhop("run", "e.toml", "-o", f"single{s}", "--seeds", str(s)).returncode for s in range(12)]
        good = [seed for seed, code in enumerate(codes) if code == 0]
        bad = [seed for seed, code in enumerate(codes) if code == 3]
        self.assertEqual(len(good) + len(bad), 12)
        self.assertTrue(good and bad)
        seeds = f"[{good[0]}, {bad[0]}]"
        result = self.polyhop("run", "e.toml", "--threads", "1", "-o", "new/deeper", "--seeds", seeds)
        self.assertEqual(result.returncode, 3)
        self.assertIn("2 of 4 runs", result.stdout)
        self.assertIn(f"failed: GAP seed {bad[0]}: graph.topology: none of 1000 draws", result.stderr)
        self.assertTrue((self.folder / "new/deeper/curves.csv").exists())

    def test_a_standard_output_that_is_full_is_an_error(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([_polyhop.COMMAND, "run", "e.toml", "--quiet", "-o", "out"], cwd=self.folder,
                                    stdout=full, stderr=subprocess.PIPE, text=True, timeout=250, check=False)
        self.assertEqual(result.returncode, 6)
        self.assertRegex(result.stderr, r"\Apolyhop: [^\n]*standard output[^\n]*\n\Z")

    def test_files_that_may_not_grow_are_an_error(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))

        result = subprocess.run([_polyhop.COMMAND, "run", "e.toml", "--quiet", "-o", "out"], cwd=self.folder,
                                preexec_fn=limited, capture_output=True, text=True, timeout=250, check=False)
        self.assertEqual(result.returncode, 6, result.stderr)
        self.assertRegex(result.stderr, r"\Apolyhop: [^\n]*out/[^\n]*\n\Z")
        self.assertEqual(self.polyhop("run", "e.toml", "--quiet", "-o", "out").returncode, 0)
        for flags in (["export", "out", "-o", "files"], ["report", "out", "-o", "page.html", "--quiet"],
                      ["report", "out", "-o", "page.html", "--quiet", "--figure", "a.pdf"]):
            with self.subTest(flags):
                result = subprocess.run([_polyhop.COMMAND, *flags], cwd=self.folder, capture_output=True, text=True, timeout=250,
                                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50)), check=False)
                self.assertEqual(result.returncode, 6, result.stderr)


if __name__ == "__main__":
    _polyhop.main()
