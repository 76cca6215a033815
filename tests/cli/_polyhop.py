# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: a folder of its own for each test, and runs of the real binary in it."""

import csv
import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

COMMAND = pathlib.Path(sys.argv[1]).resolve()

# So wide that no sentence is broken: what tests look for in outputs stands in one line. width_test.py has the others.
WIDE = "1000"

# A network and a problem for experiments that are about something else.
SMALL = """\
[graph]
topology = "ring"
agents = 4
[problem]
dimension = 3
samples = 5
"""

# Four agents, two seeds, two methods, of which the second diverges.
EXPERIMENT = """\
name = "tiny"
seeds = "0..1"
iterations = 20
record_every = 7
target = 1e-200

[graph]
topology = "path"
agents = 4

[problem]
dimension = 3
samples = 5

[[method]]
name = "GAP"
step = { rule = "gap", bound = "tight", damping = "rows" }

[[method]]
name = "far"
average = false
step = { rule = "constant", value = 1e6 }
"""

# Later ones may follow.
COLUMNS = (
    "experiment,method,seed,iteration,seconds,excess_risk,excess_risk_worst,excess_risk_mean_model,"
    "excess_risk_averaged,consensus_error,distance,step_min,step_median,step_max,rounds,vectors,scalars,"
    "step_vectors,step_scalars,values,gradients,status,level,error_rate,"
    "crossed_vectors,crossed_scalars"
)


class CommandTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="polyhop_cli_")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.put("e.toml", EXPERIMENT)

    def put(self, name, content):
        data = content if isinstance(content, bytes) else content.encode()
        (self.folder / name).write_bytes(data)

    def changed(self, *pairs):
        """The experiment with one text replaced by another, each of them found exactly once."""
        text = EXPERIMENT
        for old, new in pairs:
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        return text

    def polyhop(self, *arguments, command=COMMAND, env=None, **options):
        return subprocess.run(
            [command, *arguments],
            cwd=self.folder,
            env={"COLUMNS": WIDE, **env} if env is not None else {**os.environ, "COLUMNS": WIDE},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=250,
            check=False,
            **options,
        )

    def done(self, *arguments, **options):
        result = self.polyhop(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def on_terminal(self, *arguments, columns, stream="stdout", code=0, env=None):
        """What the command writes to a stream that is a terminal of so many columns, which it can tell itself."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        plain = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
        environment = {**plain, "NO_COLOR": "1", **(env or {})}
        other = "stderr" if stream == "stdout" else "stdout"
        shown = b""
        with subprocess.Popen([COMMAND, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, env=environment,
                              **{stream: theirs, other: subprocess.DEVNULL}) as process:
            os.close(theirs)
            while True:
                try:
                    part = os.read(ours, 65536)
                except OSError:  # nobody writes any more
                    break
                if not part:
                    break
                shown += part
            os.close(ours)
        self.assertEqual(process.returncode, code, shown)
        return shown.decode().replace("\r\n", "\n")

    def listing(self, folder=None):
        """Everything below a folder; the bytes of files, but for huge ones."""
        top = self.folder if folder is None else self.folder / folder
        found = {}
        for path in top.rglob("*"):
            readable = path.is_file() and path.stat().st_size < 10**8
            found[str(path.relative_to(top))] = path.read_bytes() if readable else None
        return found

    def curves(self, folder="out"):
        with open(self.folder / folder / "curves.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


def main():
    unittest.main(argv=sys.argv[:1], verbosity=1)
