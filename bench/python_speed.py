# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""What Python costs: a call, the engine's iterations against those of C++, and a vectorised objective against the loop
that one would write by hand.

usage: PYTHONPATH=build/python python_speed.py BUILD_DIR    (which holds bench/solve_call)
"""

import subprocess
import sys
import time

import numpy as np

begin = time.perf_counter()
import polyhop as ph  # noqa: E402

importing = time.perf_counter() - begin


def best(call, times=7):
    """The least seconds of several calls."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def problem_of(agents, dimension, samples):
    random = np.random.default_rng(0)
    X = random.normal(size=(agents * samples, dimension))
    return X, X @ random.normal(size=dimension)


def by_hand(A, X, y, step, iterations):
    """Diffusion on full gradients, K agents at once: no records, no counting, no checks."""
    agents, samples = A.shape[0], len(y) // A.shape[0]
    H, t = X.reshape(agents, samples, -1), y.reshape(agents, samples, 1)
    W = np.zeros((agents, X.shape[1]))
    for _ in range(iterations):
        r = H @ W[:, :, None] - t
        W = A @ (W - step * (H.transpose(0, 2, 1) @ r)[:, :, 0] / samples)
    return W


def vectorised(X, y, agents):
    samples = len(y) // agents
    H, t = X.reshape(agents, samples, -1), y.reshape(agents, samples, 1)
    everybody = np.arange(agents)

    def f(W, who, batches):
        h, s = (H, t) if len(who) == agents and (who == everybody).all() else (H[who], t[who])
        r = h @ W[:, :, None] - s
        return (r * r)[:, :, 0].mean(axis=1) / 2, (h.transpose(0, 2, 1) @ r)[:, :, 0] / samples

    return f


def main():
    print(f"import polyhop, after numpy: {importing:.3f} s")
    build = sys.argv[1]
    print("solve(), GAP, the seconds of a whole call without a reference optimum:")
    for agents, dimension, samples, iterations in ((8, 10, 20, 1000), (64, 1000, 4, 1000)):
        X, y = problem_of(agents, dimension, samples)
        net = ph.graph.ring(agents).metropolis()
        options = dict(iterations=iterations, reference="none", stop_at_target=False, record_every=iterations, threads=1)
        rounds = []
        for _ in range(8):  # in turns, the best of each; each time with other pages of memory, which may be slower ones
            problem = ph.least_squares(X, y, agents=agents)
            native = float(subprocess.run([f"{build}/bench/solve_call", str(agents), str(dimension), str(samples), str(iterations)],
                                          check=True, capture_output=True, text=True).stdout)
            rounds.append((native, best(lambda: ph.solve(problem, net, "gap", **options))))
        native, python = (min(r[i] for r in rounds) for i in (0, 1))
        print(f"  K={agents:3} M={dimension:5} {iterations} iterations: C++ {native * 1e3:9.3f} ms, Python {python * 1e3:9.3f} ms, "
              f"{(python - native) * 1e3:+.3f} ms, {python / native - 1:+.1%}")
    agents, dimension, samples, iterations, step = 64, 1000, 4, 500, 1e-4
    X, y = problem_of(agents, dimension, samples)
    net = ph.graph.ring(agents).metropolis()
    A = net.matrix.toarray()
    own = ph.objective(vectorised(X, y, agents), agents, dimension, check=False)

    def engine(**options):
        return ph.solve(own, net, ph.constant(value=step), algorithm="atc", iterations=iterations, reference="none",
                        stop_at_target=False, average=False, **options)

    np.testing.assert_allclose(engine().models, by_hand(A, X, y, step, iterations), rtol=1e-9, atol=1e-12)
    rounds = [(best(lambda: by_hand(A, X, y, step, iterations), 2), best(lambda: engine(record_every=iterations), 2),
               best(engine, 2)) for _ in range(8)]
    hand, ends, usual = (min(r[i] for r in rounds) for i in range(3))
    print(f"a vectorised NumPy objective, K={agents} M={dimension}, {iterations} iterations: by hand {hand:.3f} s, polyhop {ends:.3f} s "
          f"({ends / hand:.2f} times) with both ends recorded, {usual:.3f} s ({usual / hand:.2f} times) with every tenth iteration")


if __name__ == "__main__":
    main()
