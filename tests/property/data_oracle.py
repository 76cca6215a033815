# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""data_oracle.py DATA_DUMP: random files of every format read the same bits as numpy, csv and scikit-learn read from
them; files that are cut off or have bytes changed are read or refused, never more."""

import csv
import gzip
import io
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import numpy as np

try:
    from sklearn import datasets
except ImportError:  # the rest needs none of it
    datasets = None

DUMP = sys.argv[1]
SEED = int(os.environ.get("SEED", "1"))


class Table:
    """What data_dump printed of one file."""

    def __init__(self, lines):
        first = next(lines)
        self.refused = json.loads(first[8:]) if first.startswith("refused ") else None
        if self.refused is not None:
            return
        _, rows, columns, kind = first.split()
        self.sparse = kind == "sparse"
        self.names, self.labels, (self.target,) = [[json.loads(w) for w in next(lines).split("\t")[1:]] for _ in range(3)]
        self.targets = np.array([float.fromhex(x) for x in next(lines).split()[1:]])
        self.features = np.zeros((int(rows), int(columns)))
        for row in self.features:
            for c, word in enumerate(next(lines).split()):
                if self.sparse:
                    column, value = word.split(":")
                    row[int(column)] = float.fromhex(value)
                else:
                    row[c] = float.fromhex(word)


def dump(files, *options):
    done = subprocess.run([DUMP, "-", *options], input="\n".join(files) + "\n", capture_output=True, text=True,
                          errors="replace")
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    lines = iter(done.stdout.split("\n"))
    return [Table(lines) for _ in files]


def same(table, features, targets=()):
    assert table.refused is None, table.refused
    features = np.asarray(features, dtype=float)
    assert table.features.shape == features.shape, (table.features.shape, features.shape)
    assert np.array_equal(table.features, features), "other features"
    assert np.array_equal(table.targets, np.asarray(targets, dtype=float)), "other targets"


def write(path, data):
    with (gzip.open if path.endswith(".gz") else open)(path, "wb") as out:
        out.write(data)
    return path


def number(rng):
    kind = rng.randrange(5)
    if kind == 0:
        return str(rng.randrange(-1000, 1000))
    if kind == 1:
        return repr(rng.uniform(-1, 1))
    if kind == 2:
        return f"{rng.gauss(0, 1) * 10.0 ** rng.randrange(-300, 300):.{rng.randrange(1, 25)}e}"
    if kind == 3:
        return f"{rng.uniform(-9, 9):+.3f}"
    return f"{rng.randrange(1, 9)}."


def check_libsvm(folder, rng):
    for k in range(20):
        lines = []
        for _ in range(rng.randrange(1, 60)):
            picked = sorted(rng.sample(range(1, 200), rng.randrange(0, 20)))
            blank = rng.choice([" ", "  ", "\t"])
            line = blank.join([rng.choice(["-1", "+1", "2.5"])] + [f"{i}:{number(rng)}" for i in picked])
            lines.append(line + rng.choice(["", " ", " # a comment: 3:4"]))
            lines += rng.choice([[], [], [""], ["# 1:2"]])
        text = rng.choice(["\n", "\r\n"]).join(lines + ["1 200:1"]) + rng.choice(["", "\n"])
        path = write(os.path.join(folder, f"{k}." + rng.choice(["svm", "libsvm", "txt", "svm.gz", "other"])), text.encode())
        (table,) = dump([path])
        assert table.refused is None and table.sparse, table.refused
        if datasets:
            features, targets = datasets.load_svmlight_file(io.BytesIO(text.encode()), zero_based=False)
            same(table, features.toarray(), targets)


def quoted(cell, rng):
    needs = any(c in cell for c in ',;\t"\n')
    return '"' + cell.replace('"', '""') + '"' if needs or rng.randrange(5) == 0 else cell


def check_csv(folder, rng):
    words = ["red", "blue", 'with "quotes"', "a, b; c", "two\nlines", "größer"]
    for k in range(30):
        rows, columns = rng.randrange(2, 30), rng.randrange(2, 9)
        separator = rng.choice([",", ";", "\t"])
        cells = [[number(rng) for _ in range(columns)] for _ in range(rows)]
        header = [rng.choice(["x", "größe ", "a, b"]) + str(c) for c in range(columns)] if rng.randrange(2) else None
        target = rng.randrange(columns) if header else columns - 1
        if header and rng.randrange(2):
            for row in cells:
                row[target] = rng.choice(words)
        end = rng.choice(["\n", "\r\n"])
        text = end.join(separator.join(quoted(c, rng) for c in row) for row in ([header] if header else []) + cells)
        text = rng.choice(["", "\ufeff"]) + text + rng.choice(["", end, end + end])
        path = write(os.path.join(folder, f"{k}.csv" + rng.choice(["", ".gz"])), text.encode())
        table = dump([path], *(["target", header[target]] if header else []))[0]
        # Python's own reader is the oracle for the text, float for the numbers.
        found = [row for row in csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=separator) if row]
        names, found = (found[0], found[1:]) if header else (None, found)
        features = [[float(c) for i, c in enumerate(row) if i != target] for row in found]
        ys = [row[target] for row in found]
        labels = sorted(set(ys), key=str.encode) if ys[0] in words else []
        same(table, features, [labels.index(y) if labels else float(y) for y in ys])
        assert table.labels == labels, (table.labels, labels)
        assert table.names == ([n.strip() for i, n in enumerate(names) if i != target] if names else [])
        assert table.target == (names[target].strip() if names else str(target + 1))


TYPES = ["<f8", ">f8", "<f4", ">f4", "i1", "u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8",
         "<u8", ">u8", "?"]


def check_numpy(folder, rng):
    numbers = np.random.default_rng(rng.randrange(1000))
    for k, kind in enumerate(TYPES):
        for order in "CF":
            matrix = np.asarray(numbers.normal(0, 50, (rng.randrange(1, 9), rng.randrange(2, 9)))).astype(kind, order=order)
            path = os.path.join(folder, f"{k}{order}.npy")
            np.save(path, matrix)
            packed = write(path + ".gz", open(path, "rb").read())
            bare = write(os.path.join(folder, f"{k}{order}"), open(path, "rb").read())
            for table in dump([path, packed, bare]):
                same(table, matrix[:, :-1], matrix[:, -1])
            same(dump([path], "features-only")[0], matrix)
            x, y = rng.choice([("features", "targets"), ("X", "y"), ("data", "target")])
            targets = numbers.integers(0, 3, len(matrix)).astype(rng.choice(TYPES))
            archive = os.path.join(folder, f"{k}{order}.npz")
            rng.choice([np.savez, np.savez_compressed])(archive, **{y: targets, x: matrix, "more": [1.0]})
            same(dump([archive])[0], matrix, targets)
    for version in [(1, 0), (2, 0), (3, 0)]:
        path = os.path.join(folder, f"version{version[0]}.npy")
        with open(path, "wb") as out:
            np.lib.format.write_array(out, np.arange(6.0).reshape(2, 3), version=version)
        same(dump([path])[0], [[0, 1], [3, 4]], [2, 5])


def check_idx(folder, rng):
    for k in range(6):
        images = np.random.default_rng(k).integers(0, 256, (rng.randrange(1, 9), 5, 4)).astype("u1")
        labels = np.arange(len(images)).astype("u1")
        ends = rng.choice([("", ""), (".gz", ".gz"), (".gz", ""), ("", ".gz")])
        path = write(os.path.join(folder, f"{k}-images-idx3-ubyte{ends[0]}"),
                     struct.pack(">4B3I", 0, 0, 8, 3, *images.shape) + images.tobytes())
        write(os.path.join(folder, f"{k}-labels-idx1-ubyte{ends[1]}"),
              struct.pack(">4BI", 0, 0, 8, 1, len(labels)) + labels.tobytes())
        same(dump([path])[0], images.reshape(len(images), -1), labels)


def check_bundled():
    if not datasets:
        return
    wholes = {"diabetes": datasets.load_diabetes(scaled=False), "breast-cancer": datasets.load_breast_cancer(),
              "digits": datasets.load_digits(), "wine": datasets.load_wine()}
    for name, whole in wholes.items():
        (table,) = dump(["bundled:" + name])
        same(table, whole.data, whole.target)
        if table.labels:
            assert table.labels == [str(n) for n in whole.target_names], table.labels


def damaged(data, rng):
    data = bytearray(data)
    if rng.randrange(2):
        del data[rng.randrange(len(data)):]
    for _ in range(rng.randrange(6)):
        if data:
            data[rng.randrange(len(data))] = rng.choice([rng.randrange(256), 0, 0x22, 0x0A, 0x3A, 0x2C, 0xFF])
    if rng.randrange(8) == 0:
        at = rng.randrange(len(data) + 1)
        data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(40)))
    return bytes(data)


def check_damage(folder, rng, rounds):
    """Every file that the checks above wrote, damaged: the program answers each one and ends well."""
    endings = ("-images-idx3-ubyte", ".npy", ".npz", ".csv", ".svm", ".libsvm", ".txt", ".gz", "")
    seeds = sorted(f for f in os.listdir(folder) if "labels" not in f)
    refused = 0
    for _ in range(rounds):
        files = []
        with tempfile.TemporaryDirectory() as inner:
            for k in range(100):
                seed = rng.choice(seeds)
                with open(os.path.join(folder, seed), "rb") as source:
                    data = source.read()
                name = seed if rng.randrange(4) else "x" + rng.choice(endings)
                if rng.randrange(20) == 0:
                    data = bytes(rng.randrange(256) for _ in range(200))
                files.append(write(os.path.join(inner, f"{k}") + "-" + name.removesuffix(".gz"), damaged(data, rng)))
            refused += sum(table.refused is not None for table in dump(files, "features-only"))
            refused += sum(table.refused is not None for table in dump(files))
    assert refused > rounds * 20, refused
    return refused


def main():
    rng = random.Random(SEED)
    rounds = int(os.environ.get("ROUNDS", "3"))
    with tempfile.TemporaryDirectory() as folder:
        for check in check_libsvm, check_csv, check_numpy, check_idx:
            check(folder, rng)
        check_bundled()
        refused = check_damage(folder, rng, rounds)
    print(f"seed {SEED}: the same numbers; {refused} of {200 * rounds} damaged files refused")


if __name__ == "__main__":
    main()
