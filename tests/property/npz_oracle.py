# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""npz_oracle.py NPZ_DUMP: numpy reads back, bit for bit, what NpzWriter wrote; the bytes depend on the arrays alone."""

import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

SHAPES = [(), (0,), (1,), (7,), (2, 3), (3, 0), (1, 1), (2, 3, 4), (1000, 1000), (1, 1, 1, 1, 1, 1, 1, 2)]


def numbers(count, seed):
    """The formula of npz_dump.cpp."""
    out = np.empty(count)
    state = seed
    for i in range(count):
        state = (state * 1103515245 + 12345) % 2147483648
        out[i] = state / 1024.0 - 1e6
    return out


def expected(seed):
    arrays = {f"GAP tight/{k}": numbers(int(np.prod(shape)), seed + k).reshape(shape) for k, shape in enumerate(SHAPES)}
    limits = np.finfo(np.float64)
    special = np.array([0.0, -0.0, np.inf, -np.inf, limits.max, limits.tiny, 5e-324, np.nan])
    arrays["GAP tight/0/averaged"] = special
    arrays["Größe 漢字 µ=0.5/3"] = special.reshape(2, 4)
    return arrays


def same_bits(a, b):
    return a.dtype == b.dtype == np.dtype("<f8") and a.shape == b.shape and a.tobytes() == b.tobytes()


def check(path, seed):
    arrays = expected(seed)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None, "a checksum is wrong"
        assert archive.namelist() == [name + ".npy" for name in arrays], archive.namelist()
    with np.load(path, allow_pickle=False) as loaded:
        assert loaded.files == list(arrays), loaded.files
        for name, array in arrays.items():
            assert same_bits(loaded[name], array), f"{name} differs"
            assert loaded[name].flags.c_contiguous, f"{name} is not in C order"


def main():
    dump = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        contents = []
        for seed, zone in [(1, "UTC"), (2, "UTC"), (1, "America/St_Johns"), (1, "Pacific/Kiritimati")]:
            path = os.path.join(folder, f"{len(contents)}.npz")
            subprocess.run([dump, path, str(seed)], check=True, env={**os.environ, "TZ": zone})
            check(path, seed)
            with open(path, "rb") as file:
                contents.append(file.read())
        assert contents[0] == contents[2] == contents[3], "the same arrays gave other bytes"
        assert contents[0] != contents[1]
        assert sorted(os.listdir(folder)) == [f"{k}.npz" for k in range(4)], "something was left behind"
    print(f"{len(SHAPES) + 2} arrays, 4 files: numpy reads the same bits")


if __name__ == "__main__":
    main()
