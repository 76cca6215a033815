# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that are held in the middle: a test then kills, interrupts or watches them at its leisure."""

import contextlib
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time


def committed_points(folder):
    """How many points the store in a folder holds; whoever writes it must be held, or gone."""
    with tempfile.TemporaryDirectory() as place:
        # The writer keeps others out of its file, so a copy is looked at: what a crash at this instant would leave.
        for name in ("experiment.sqlite", "experiment.sqlite-wal"):
            if (pathlib.Path(folder) / name).exists():
                shutil.copy(pathlib.Path(folder) / name, place)
        with contextlib.closing(sqlite3.connect(pathlib.Path(place) / "experiment.sqlite")) as database:
            found = database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'points'").fetchone()[0]
            return database.execute("SELECT count(*) FROM points").fetchone()[0] if found else 0


def held(test, command, folder, **options):
    """Starts a run and stops its process (SIGSTOP) once the store in `folder` has points that it did not have before.
    Fails where the run ends before that."""
    before = committed_points(folder)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    test.addCleanup(process.communicate)
    test.addCleanup(process.kill)
    while True:
        time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        if process.poll() is not None:
            test.fail(f"the run ended before it could be held:\n{process.communicate()[1]}")
        if committed_points(folder) > before:
            return process
        process.send_signal(signal.SIGCONT)


def interrupted(process, number):
    """Sends a signal to a run that is held, and lets it go: what it prints."""
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    return process.communicate(timeout=200)[0]
