# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""memory_test.py POLYHOP: what would exceed --memory-limit is rejected by name, before the memory is taken."""

import gzip
import resource
import struct
import tempfile
import zipfile

import _polyhop
from _polyhop import COMMAND, CommandTest

# Runs a command, and writes its peak to the file `peak`.
MEASURED = """\
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
with open(sys.argv[1], "w") as file:
    file.write(str(1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""
LIMIT = 60_000_000  # given to the command
MOST = 110_000_000  # what it may have at any time: the program, its libraries and buffers come on top


def npy_header(shape, kind="<f8"):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


class Memory(CommandTest):
    def test_a_long_run_takes_no_more_than_a_short_one(self):
        self.put("e.toml", """\
name = "long"
[graph]
topology = "ring"
agents = 6
[problem]
dimension = 4
samples = 5
noise = 0.1
[[method]]
step = { rule = "constant", value = 0.01 }
""")
        peaks = []
        for iterations in (1000, 100_000):  # 10,000 recorded points, of 200 bytes each
            self.done("-c", MEASURED, "peak", COMMAND, "run", "e.toml", "-o", "out", "--fresh", "--quiet", "--set",
                      f"iterations={iterations}", command="/usr/bin/python3")
            peaks.append(int((self.folder / "peak").read_text()))
        self.assertLess(peaks[1], peaks[0] + 40_000_000)

    def packed(self, name, begin, part, times):
        """A gzip file of some kB that unpacks to hundreds of MB."""
        with gzip.open(self.folder / name, "wb", compresslevel=1) as file:
            file.write(begin)
            for _ in range(times):
                file.write(part)

    def put_bombs(self):
        lines = 10_000
        self.packed("rows.csv.gz", b"a,b,y\n", b"1,2,3\n" * lines, 1000)
        self.packed("words.csv.gz", b"a,y\n", b"".join(b"1,w%07d\n" % n for n in range(400_000)), 1)
        self.packed("one-line.csv.gz", b"", b"," * 1_000_000, 120)
        self.packed("sparse.svm.gz", b"", b"1 1:1 2:1\n" * lines, 1000)
        self.packed("empty-rows.svm.gz", b"1 1:1\n", b"1\n" * lines, 3000)
        self.packed("array.npy.gz", npy_header((8_000_000, 5)), b"\0" * 1_000_000, 320)
        self.packed("train-images-idx3-ubyte.gz", struct.pack(">4B3I", 0, 0, 8, 3, 400_000, 28, 28), b"\0" * 784_000, 400)
        self.packed("train-labels-idx1-ubyte.gz", struct.pack(">4BI", 0, 0, 8, 1, 400_000), b"\0" * 400_000, 1)
        with zipfile.ZipFile(self.folder / "arrays.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            for name, shape in (("X", (8_000_000, 5)), ("y", (8_000_000,))):
                with file.open(f"{name}.npy", "w") as member:
                    member.write(npy_header(shape))
                    for _ in range(shape[0] * (5 if name == "X" else 1) * 8 // 1_000_000):
                        member.write(b"\0" * 1_000_000)
        return ["rows.csv.gz", "words.csv.gz", "one-line.csv.gz", "sparse.svm.gz", "empty-rows.svm.gz", "array.npy.gz",
                "train-images-idx3-ubyte.gz", "arrays.npz"]

    def rejected(self, *arguments, names):
        before = self.listing().keys()
        with tempfile.NamedTemporaryFile("r") as peak:
            result = self.polyhop("-c", MEASURED, peak.name, COMMAND, *arguments, "--memory-limit", f"{LIMIT // 1000}kB",
                                  command="/usr/bin/python3")
            self.assertLess(int(peak.read()), MOST)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(result.stdout, "")
        for name in (*names, "the memory limit is ", "raise it with --memory-limit"):
            self.assertIn(name, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertEqual(self.listing().keys(), before)

    def test_files_that_unpack_to_more_are_left_while_they_are_read(self):
        for name in self.put_bombs():
            with self.subTest(name=name):
                self.assertLess((self.folder / name).stat().st_size, 5_000_000)
                self.rejected("fit", name, "--agents", "4", names=[f"polyhop: {name}: "])

    def test_whatever_the_command(self):
        self.packed("rows.csv.gz", b"a,b,y\n", b"1,2,3\n" * 10_000, 300)
        self.put("small.csv", "a,b,y\n" + "".join(f"{n},{n * n % 7},{n % 5}\n" for n in range(30)))
        self.done("fit", "small.csv", "--agents", "3", "-o", "model.npz", "--quiet")
        self.put("data.toml", self.changed(
            ("dimension = 3\nsamples = 5\n", 'source = "file"\ndata = "rows.csv.gz"\nloss = "least-squares"\n')))
        for command in (["predict", "model.npz", "rows.csv.gz"], ["evaluate", "model.npz", "rows.csv.gz"],
                        ["run", "data.toml", "--quiet"], ["check", "data.toml"]):
            with self.subTest(command=command[0]):
                self.rejected(*command, names=["rows.csv.gz: "])

    def test_one_of_the_agents_own_files(self):
        for agent in range(3):
            self.put(f"own-{agent}.csv", "a,y\n1,2\n2,3\n")
        self.packed("own-3.csv.gz", b"a,y\n", b"1,2\n" * 10_000, 300)
        (self.folder / "own-3.csv.gz").rename(self.folder / "own-3.csv")
        self.rejected("fit", "own-{agent}.csv", "--agents", "4", names=["polyhop: own-3.csv: "])

    def test_enough_small_files_together(self):
        for agent in range(4):
            self.put(f"own-{agent}.csv", "a,y\n" + "1,2\n" * 200_000)
        # Each would fit, and all of them would, but not these and the table that is made of them.
        self.rejected("fit", "own-{agent}.csv", "--agents", "4", names=["polyhop: own-{agent}.csv: "])
        self.done("fit", "own-{agent}.csv", "--agents", "4", "--memory-limit", "1GB", "--quiet")

    def test_graph_files(self):
        self.put("g.edges", "0 1\n" * 3_000_000)
        self.rejected("graph", "--set", "graph.topology=file", "--set", "graph.file=g.edges", names=["g.edges"])
        edge = '<edge source="a" target="b"/>'
        self.put("g.graphml", f'<graphml><graph><node id="a"/><node id="b"/>{edge * 500_000}</graph></graphml>')
        self.rejected("graph", "--set", "graph.topology=file", "--set", "graph.file=g.graphml", names=["g.graphml"])

    def test_two_hop_lists(self):
        star = self.changed(('"path"', '"star"'), ("agents = 4", "agents = 5000"), ("samples = 5", "samples = 1"),
                            ('step = { rule = "gap", bound = "tight", damping = "rows" }',
                             'step = { rule = "gap", bound = "oracle" }'))
        self.put("star.toml", star)
        self.rejected("run", "star.toml", "--quiet", names=["star.toml", "two-hop lists", "needs no two-hop lists"])
        self.rejected("check", "star.toml", names=["star.toml", "two-hop lists"])

    def test_points_for_which_the_page_has_no_room(self):
        self.put("points.toml", """\
name = "points"
iterations = 2000
record_every = 1
[graph]
topology = "star"
agents = 18
[problem]
dimension = 2
samples = 2
noise = 0.1
reference = "none"
[record]
steps = "agents"
[[method]]
step = { rule = "constant", value = 0.01 }
""")
        few = self.polyhop("run", "points.toml", "--quiet", "--memory-limit", "2MB")
        self.assertEqual(few.returncode, 3, few.stderr)
        self.assertIn("polyhop: points.toml:3: record_every: needs ", few.stderr)
        # What was run is kept.
        self.done("run", "points.toml", "--quiet")

    def test_models_of_many_agents(self):
        self.put("many.toml", self.changed(("agents = 4", "agents = 20000"), ("dimension = 3", "dimension = 100"),
                                           ("samples = 5", "samples = 1"), ("iterations = 20", "iterations = 1")))
        self.rejected("run", "many.toml", "--quiet", names=["many.toml", "method"])

    def test_sizes(self):
        for size in ("", "4", "many", "-1GB", "10kB"):
            result = self.polyhop("check", "e.toml", "--memory-limit", size)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("--memory-limit", result.stderr)
        for size in ("20MB", "0.5GiB", "4G"):
            self.done("check", "e.toml", "--memory-limit", size)

    def test_memory_that_the_system_does_not_give(self):
        """The limit allows it, and the system does not."""
        self.put("d.csv", "a,y\n" + "1,2\n" * 3_000_000)
        room = 400_000_000

        def little():
            resource.setrlimit(resource.RLIMIT_AS, (room, room))

        result = self.polyhop("fit", "d.csv", "--agents", "4", "--memory-limit", "100GB", preexec_fn=little)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("polyhop: d.csv: the system has no memory left", result.stderr)
        # Unless someone sets it, the limit is half of what the system gives.
        result = self.polyhop("fit", "d.csv", "--agents", "4", preexec_fn=little)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("polyhop: d.csv: needs ", result.stderr)
        self.assertIn("the memory limit is 200 MB", result.stderr)


if __name__ == "__main__":
    _polyhop.main()
