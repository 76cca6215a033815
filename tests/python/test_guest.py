# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""How the engine behaves inside a Python process: interrupts, threads, forks, exits, and callbacks that misbehave."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import polyhop as ph


def run_script(text, **more):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=100, **more)


PROBLEM = """
import os, signal, sys, threading, time
import numpy as np
import polyhop as ph
random = np.random.default_rng(0)
problem = ph.least_squares(random.normal(size=(80, 5)), random.normal(size=80), agents=8)
net = ph.graph.ring(8).metropolis()
"""


@pytest.mark.parametrize("call", [
    "ph.solve(problem, net, 'gap', iterations=10**9, stop_at_target=False, record_every=1000, callback=begun)",
    "ph.compare(problem, net, ['gap', 'auto'], iterations=10**9, record_every=1000, progress=False)",
    "ph.solve(problem, net, Slow, iterations=10**9, stop_at_target=False)"])
def test_ctrl_c_ends_a_run_and_leaves_python_as_it_was(call):
    done = run_script(PROBLEM + f"""
begun = lambda point: None
@ph.rule("slow")
class Slow(ph.StepSize):
    def choose(self, at, network):
        return 0.01
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
print(ph.solve(problem, net, iterations=10, stop_at_target=False).status)
try:
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    time.sleep(30)
except KeyboardInterrupt:
    print("again")
""")
    assert done.stdout.split() == ["interrupted", "done", "again"], done.stderr


@pytest.mark.parametrize("fresh", [False, True])
def test_ctrl_c_in_a_run_says_how_to_resume(fresh, tmp_path):
    done = run_script(PROBLEM + f"""
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
ph.run({{"name": "long", "iterations": 10**9, "record_every": 1000, "graph": {{"topology": "ring", "agents": 4}},
         "problem": {{"dimension": 3, "samples": 4}}, "method": [{{"name": "GAP", "step": "gap"}}]}},
       {str(tmp_path / "out")!r}, fresh={fresh}, progress=False)
""")
    how = "the same call without fresh=True resumes it" if fresh else "the same call again resumes it"
    told = f"KeyboardInterrupt: {str(tmp_path / 'out')!r} keeps what was done; {how}"
    assert done.stderr.splitlines()[-1] == told, done.stderr
    assert (tmp_path / "out" / "experiment.sqlite").exists()


def test_other_threads_go_on_while_the_engine_works(squares, net):
    counted, started, ended = [0], threading.Event(), threading.Event()

    def count():
        started.set()
        while not ended.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    started.wait()
    before = counted[0]
    seen = []
    ph.solve(squares, net, "gap", iterations=20000, record_every=20000, stop_at_target=False)
    seen.append(counted[0] - before)
    ended.set()
    thread.join()
    assert seen[0] > 100  # it counted while the engine did not hold the lock


def test_threads_solve_side_by_side(bowls, squares, net):
    f, _ = bowls
    expected = ph.solve(ph.objective(f, 8, 3), net, "gap", iterations=50, reference="none").models
    found, failed = [], []

    def work():
        try:
            found.append(ph.solve(ph.objective(f, 8, 3), net, "gap", iterations=50, reference="none", threads=2).models)
        except BaseException as error:  # told in the test's own thread
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and len(found) == 6
    assert all((models == expected).all() for models in found)


def child(queue):
    problem = ph.least_squares(np.eye(8), np.ones(8), agents=8)
    queue.put(ph.solve(problem, ph.graph.ring(8), "gap", iterations=20).models)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_give_the_same(method):
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    theirs = queue.get(timeout=60)
    process.join(60)
    mine = ph.solve(ph.least_squares(np.eye(8), np.ones(8), agents=8), ph.graph.ring(8), "gap", iterations=20).models
    np.testing.assert_array_equal(theirs, mine)


def test_a_daemon_thread_at_work_does_not_crash_the_exit():
    done = run_script(PROBLEM + """
def f(W, agents, batches):
    return (W * W).sum(axis=1), 2 * W
own = ph.objective(f, 8, 3)
threading.Thread(target=lambda: ph.solve(own, net, "gap", iterations=10**9, stop_at_target=False), daemon=True).start()
time.sleep(0.3)
print("leaving")
""")
    assert done.returncode == 0 and done.stdout == "leaving\n", (done.returncode, done.stderr)


def test_what_a_callback_raises_comes_through(bowls, squares, net):
    f, _ = bowls
    for threads in (1, 3):
        def broken(W, agents, batches):
            raise ZeroDivisionError("mine")

        with pytest.raises(ZeroDivisionError, match="mine"):
            ph.solve(ph.objective(broken, 8, 3, check=False), net, iterations=10, threads=threads, reference="none")
        with pytest.raises(ZeroDivisionError, match="point"):
            ph.solve(squares, net, iterations=100, threads=threads, callback=lambda point: raise_(ZeroDivisionError("point")))
    assert ph.solve(ph.objective(f, 8, 3), net, iterations=10).status in ("done", "target")


def raise_(error):
    raise error


@pytest.mark.parametrize("returned, message", [
    (lambda W: None, r"must return two arrays, \(values, gradients\); it returned NoneType"),
    (lambda W: (np.zeros(len(W)),), "must return two arrays"),
    (lambda W: (np.zeros(len(W) + 1), np.zeros(W.shape)), r"values: has the shape"),
    (lambda W: (np.zeros(len(W)), np.zeros((len(W), 7))), r"gradients: has the shape"),
    (lambda W: (np.zeros(len(W)), "a"), "gradients"),
    (lambda W: (np.zeros(len(W)), np.zeros(W.shape, dtype=complex)), "dtype complex128"),
    (lambda W: (np.zeros(len(W)), [[object()] * 3] * len(W)), "gradients")])
def test_what_a_function_must_not_return(returned, message, net):
    with pytest.raises(ph.InputError, match=message):
        ph.solve(ph.objective(lambda W, a, b: returned(W), 8, 3, check=False), net, iterations=5, reference="none")


def test_a_function_may_not_change_its_input(net):
    def changes(W, agents, batches):
        W[:] = 0
        return np.zeros(len(W)), np.zeros(W.shape)

    with pytest.raises(ValueError, match="read-only"):
        ph.solve(ph.objective(changes, 8, 3, check=False), net, iterations=5)


@pytest.mark.parametrize("part", [lambda W: W, lambda W: W[3:], lambda W: W.T, lambda W: memoryview(W)])
def test_a_function_that_keeps_its_input_is_told_and_keeps_sound_memory(part, bowls, net):
    f, _ = bowls
    kept = []

    def keeps(W, agents, batches):
        kept.append(part(W))
        return f(W, agents, batches)

    with pytest.raises(ValueError, match=r"W was kept beyond the call.*W.copy\(\)"):
        ph.solve(ph.objective(keeps, 8, 3, check=False), net, iterations=50, reference="none", start=np.full(3, 7.0))
    # What was kept stays as it was, whatever is allocated since.
    junk = [np.full(100000, 3.0) for _ in range(20)]
    assert (np.asarray(kept[0]) == 7).all() and junk


def test_an_exception_keeps_the_models_of_its_moment(bowls, net):
    def fails(W, agents, batches):
        local = W
        raise KeyError("look at me")

    with pytest.raises(KeyError) as caught:
        ph.solve(ph.objective(fails, 8, 3, check=False), net, iterations=50, reference="none", start=np.full(3, 7.0))
    junk = [np.full(100000, 3.0) for _ in range(20)]
    frame = caught.tb
    while frame.tb_next is not None:
        frame = frame.tb_next
    assert (frame.tb_frame.f_locals["local"] == 7).all() and junk


def test_importing_is_quick_and_asks_for_little():
    done = run_script("""
import sys
import polyhop
print(sorted({"pandas", "matplotlib", "sklearn", "networkx", "scipy"} & set(sys.modules)))
""")
    assert done.stdout.strip() == "[]", done.stderr
