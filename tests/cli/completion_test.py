# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""completion_test.py POLYHOP: completions in the real shells, and the manual page, tell the commands as they are."""

import pathlib
import re
import subprocess

import _polyhop
from _polyhop import CommandTest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "polyhop.1"
# What is typed, and what must be among the answers.
CASES = (
    (["gr"], {"graph"}),
    (["--ver"], {"--version"}),
    (["run", "--thr"], {"--threads"}),
    (["graph", "--topology", "st"], {"star", "stochastic-block"}),
    (["graph", "e.toml", "--wei"], {"--weights"}),
    (["methods", "ga"], {"gap"}),
    (["doctor", "--color", "a"], {"auto", "always"}),
    (["completion", "z"], {"zsh"}),
    (["help", "gr"], {"graph"}),
    (["fit", "d.csv", "--loss", "h"], {"huber"}),
    (["fit", "d.csv", "--graph", "st"], {"star", "stochastic-block"}),
    (["fit", "d.csv", "--set", "graph.pro"], {"graph.probability="}),
    (["fit", "d.csv", "--set", "graph.topology=st"], {"star", "stochastic-block"}),
    (["run", "e.toml", "--set", "graph.topology=st"], {"star", "stochastic-block"}),
    (["run", "e.toml", "--set", "problem.loss=h"], {"huber"}),
    (["run", "e.toml", "--set", "problem.partition.kind=l"], {"label"}),
    (["check", "--set", "tuning.goal=final-risk-"], {"final-risk-averaged"}),
    (["run", "e.toml", "--set", "tuning."], {"tuning.seeds=", "tuning.goal=", "tuning.resolution=", "tuning.budget="}),
)


class Completion(CommandTest):
    def script(self, shell):
        return self.done("completion", shell).stdout

    def shell(self, *command):
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""), command)
        return result.stdout

    def test_bash(self):
        self.put("c.bash", self.script("bash"))
        for typed, expected in CASES:
            # Bash breaks words at =, too.
            words = ["polyhop", *(part for word in typed for part in re.split("(=)", word))]
            answer = self.shell("bash", "-uc", f"source ./c.bash; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; "
                                "_polyhop; echo ${COMPREPLY[@]+\"${COMPREPLY[@]}\"}")
            self.assertEqual(set(answer.split()), expected, typed)

    def test_bash_leaves_files_to_itself(self):
        self.put("c.bash", self.script("bash"))
        for typed in ("run e", "run --output o", "graph e.toml --draw x"):
            answer = self.shell("bash", "-c", f"source ./c.bash; COMP_WORDS=(polyhop {typed}); "
                                f"COMP_CWORD={len(typed.split())}; _polyhop; echo ${{#COMPREPLY[@]}}")
            self.assertEqual(answer, "0\n", typed)

    def test_bash_completes_right_behind_the_equals_sign(self):
        self.put("c.bash", self.script("bash"))
        answer = self.shell("bash", "-uc", "source ./c.bash; COMP_WORDS=(polyhop run --set record.steps =); COMP_CWORD=4; "
                            "_polyhop; echo ${COMPREPLY[@]}")
        self.assertEqual(answer, "summary agents\n")

    def test_bash_completes_the_words_that_bands_takes(self):
        self.put("c.bash", self.script("bash"))
        answer = self.shell("bash", "-uc", "source ./c.bash; COMP_WORDS=(polyhop report --bands a); COMP_CWORD=3; "
                            "_polyhop; echo ${COMPREPLY[@]}")
        self.assertEqual(answer, "auto all\n")

    def test_fish(self):
        self.put("c.fish", self.script("fish"))
        for typed, expected in CASES:
            line = " ".join(["polyhop", *typed])
            answer = self.shell("fish", "--no-config", "-c", f"source c.fish; complete -C '{line}'")
            found = {text.split("\t")[0] for text in answer.splitlines()}
            if "=" in typed[-1]:
                found = {text.split("=")[1] for text in found}
            self.assertEqual(found, expected, typed)

    def test_zsh(self):
        script = self.script("zsh")
        self.assertTrue(script.startswith("#compdef polyhop\n"))
        self.put("c.zsh", script)
        self.shell("zsh", "-f", "-n", "c.zsh")
        # What the completion system is told, with its own two functions replaced by echoes.
        head = "compdef() { }; _describe() { print -l ${(P)2} }; _arguments() { print -l -- \"$@\" }; source ./c.zsh; "
        commands = self.shell("zsh", "-f", "-c", head + "CURRENT=2; words=(polyhop gr); _polyhop")
        self.assertIn("graph:describe a network", commands)
        told = self.shell("zsh", "-f", "-c", head + "CURRENT=3; words=(polyhop graph ''); _polyhop")
        self.assertRegex(told, r"--topology\[[^]]*\]:value:\(ring path ")
        self.assertRegex(told, r"--json\[print JSON\]\n")
        told = self.shell("zsh", "-f", "-c", head + "CURRENT=3; words=(polyhop run ''); _polyhop")
        self.assertRegex(told, r"\*--set\[[^]]*\]:value:\{_polyhop_value \|\| compadd -S \"\" -- name= seeds= ")
        self.assertNotIn("=ring", told)
        # The same way for what stands behind a key.
        values = head + ("compset() { [[ $PREFIX == *=* ]] && IPREFIX=${PREFIX%%=*}= }; compadd() { shift; print -l -- $@ }; "
                         "PREFIX={0}; _polyhop_value || print none")
        for typed, expected in (("record.steps=", ["summary", "agents"]), ("graph.agents=", []), ("graph.a", ["none"])):
            self.assertEqual(self.shell("zsh", "-f", "-c", values.replace("{0}", typed)).split(), expected)

    def test_an_unknown_shell(self):
        result = self.polyhop("completion", "tcsh")
        self.assertEqual(result.returncode, 2)
        self.assertIn("SHELL", result.stderr)
        result = self.polyhop("completion")
        self.assertEqual(result.returncode, 2)
        self.assertIn("SHELL is missing: the shell, bash|zsh|fish", result.stderr)


class Help(CommandTest):
    def test_help_is_a_command_too(self):
        self.assertEqual(self.done("help", "run").stdout, self.done("run", "--help").stdout)
        self.assertEqual(self.done("help").stdout, self.done("--help").stdout)
        result = self.polyhop("help", "runs")
        self.assertEqual(result.returncode, 2)
        self.assertIn("polyhop: unknown command 'runs'; did you mean 'run'?", result.stderr)

    def test_it_fits_the_terminal_and_names_all_values(self):
        commands = re.findall(r"^  (\w+) ", self.done("--help").stdout.split("Commands:")[1], re.MULTILINE)
        for columns in (60, 80, 120):
            for arguments in (["--help"], *([command, "--help"] for command in commands)):
                text = self.on_terminal(*arguments, columns=columns)
                self.assertLessEqual(max(len(line) for line in text.splitlines()), columns, arguments)
            flat = " ".join(self.on_terminal("graph", "--help", columns=columns).split())
            self.assertIn("ring, path, star, complete, grid", flat)
            self.assertIn("numbered from 0", " ".join(self.on_terminal("fit", "--help", columns=columns).split()))


class ManualPage(CommandTest):
    def test_the_page_in_docs_is_up_to_date(self):
        self.assertEqual(PAGE.read_text(), self.done("--man").stdout,
                         "write it anew: polyhop --man > docs/polyhop.1")

    def test_it_has_every_command_and_flag(self):
        page = self.done("--man").stdout.replace("\\-", "-")
        commands = re.findall(r"^  (\w+) ", self.done("--help").stdout.split("Commands:")[1], re.MULTILINE)
        self.assertIn("run", commands)
        for command in commands:
            self.assertIn(f".SS \\fBpolyhop {command}\\fR", page)
            for flag in set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", self.done(command, "--help").stdout, re.MULTILINE)):
                if flag != "--help":
                    self.assertIn(f"\\fB{flag}\\fR", page, command)

    def test_it_is_sound_roff(self):
        result = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8"], input=self.done("--man").stdout, text=True,
                                capture_output=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    _polyhop.main()
