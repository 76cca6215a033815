# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""The time of one iteration of ATC-diffusion, constant step or GAP, in vectorised NumPy: the bar for the C++.

Least squares, batch 1, Metropolis weights, optimum zero, no noise, every sample drawn beforehand. A gradient is a scale
times a feature row, g_k = r_k h_k with r_k = h_k.w_k - y_k, so all products of gradients come from those of features.

What is fastest depends on the size; by default every kind is timed and the fastest kept.
  combine  dense     gemm with A
           fused     adapt and combine in one gemm, [A, -A diag(mu r)] [W; h]: fewer calls, twice the work
           sparse    CSR times rows
  pairs    stacked   h_k.w_l and h_k.h_l over all pairs in one gemm, h [W; h]^T: fewest calls
           gemm      gemm for h W^T, syrk for h h^T, dense weights B
           gathered  the same, then only the two-hop entries
           lists     the two-hop products alone, one gemv per agent
           relay     none: B W and the sweeps as A(A .), where alpha needs no pairwise products (norms, graph)
Prints one JSON line; `--check` compares the iteration with tests/property/gap_twin.py instead.
"""

import argparse
import itertools
import json
import os
import pathlib
import sys
import time

import networkx
import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from numpy.core.multiarray import c_einsum as einsum  # np.einsum without its Python front end
from scipy.sparse import _sparsetools

SAMPLES = 10  # an agent
TINY = 1e-280


def make_graph(kind, agents, degree, probability, seed):
    """A connected graph; random graphs are drawn again until they are."""
    for attempt in itertools.count(seed):
        if kind == "ring":
            graph = networkx.cycle_graph(agents)
        elif kind == "random-regular":
            graph = networkx.random_regular_graph(degree, agents, seed=attempt)
        else:
            p = probability if probability is not None else degree / (agents - 1)
            graph = networkx.fast_gnp_random_graph(agents, p, seed=attempt)
        if networkx.is_connected(graph):
            return graph


def metropolis(graph):
    """a_kl = 1/(1 + max(d_k, d_l)), as CSR with sorted columns."""
    adjacency = networkx.to_scipy_sparse_array(graph, nodelist=range(len(graph)), dtype=float, format="coo")
    degree = np.array([graph.degree(k) for k in range(len(graph))], dtype=float)
    weight = 1.0 / (1.0 + np.maximum(degree[adjacency.row], degree[adjacency.col]))
    A = scipy.sparse.csr_matrix((weight, (adjacency.row, adjacency.col)), adjacency.shape)
    A = (A + scipy.sparse.diags(1.0 - np.asarray(A.sum(axis=1)).ravel())).tocsr()
    A.sort_indices()
    return A


class Problem:
    """Features, and the drawn samples of all iterations: feature rows (numbered over all agents), y, ||h||^2."""

    def __init__(self, agents, dimension, iterations, seed):
        random = np.random.default_rng(seed)
        self.features = random.standard_normal((agents * SAMPLES, dimension))
        self.minimiser = random.standard_normal(dimension)
        self.targets = self.features @ self.minimiser
        self.rows = random.integers(0, SAMPLES, (iterations, agents)) + SAMPLES * np.arange(agents)
        squares = np.einsum("ij,ij->i", self.features, self.features)
        self.draws = list(zip(self.rows, self.targets[self.rows], squares[self.rows]))


class Combine:
    """out = A X into a given buffer, by gemm or by CSR kernels (`@` of scipy.sparse cannot write into a buffer)."""

    def __init__(self, A, kind):
        self.dense, self.A = (None if kind == "sparse" else A.toarray()), A

    def __call__(self, X, out):
        if self.dense is not None:
            return np.matmul(self.dense, X, out=out)
        out.fill(0.0)
        K, M = X.shape
        _sparsetools.csr_matvecs(K, K, M, self.A.indptr, self.A.indices, self.A.data, X.ravel(), out.ravel())
        return out


class DensePairs:
    """h_k.w_l and b_kl h_k.h_l as K x K matrices; `stacked`: both in one gemm."""

    def __init__(self, B, dimension, stacked):
        K, self.B, self.stacked = B.shape[0], B.toarray(), stacked
        self.half_B = 0.5 * self.B
        self.both = np.empty((K, 2 * K)) if stacked else None
        self.at, self.gram = (self.both[:, :K], self.both[:, K:]) if stacked else np.empty((2, K, K))
        self.own = np.einsum("kk->k", self.at)  # a view: h_k.w_k
        self.work = np.empty((K, K))

    def load(self, stack, W, h, with_gram):
        if with_gram and self.stacked:
            np.matmul(h, stack.T, out=self.both)
        else:
            np.matmul(h, W.T, out=self.at)
            if with_gram:
                np.matmul(h, h.T, out=self.gram)  # NumPy calls syrk
        if with_gram:
            np.multiply(self.B, self.gram, out=self.gram)
        return self.own

    def half_squares(self, y, out):
        """sum_l b_kl (h_k.w_l - y_k)^2 / 2."""
        np.subtract(self.at, y[:, None], out=self.work)
        return einsum("kl,kl,kl->k", self.half_B, self.work, self.work, out=out)

    def mixed(self, h, W, out):
        """h_k.(B W)_k."""
        return einsum("kl,kl->k", self.B, self.at, out=out)

    def square_sums(self, x, out):
        """sum_l (b_kl h_k.h_l)^2 x_l."""
        return np.matmul(np.multiply(self.gram, self.gram, out=self.work), x, out=out)

    def absolute_sums(self, x, out):
        """sum_l b_kl |h_k.h_l| x_l."""
        return np.matmul(np.abs(self.gram, out=self.work), x, out=out)

    def weighted_sums(self, x, h, out):
        """sum_l b_kl h_k.h_l x_l."""
        return np.matmul(self.gram, x, out=out)


class ListPairs:
    """The same over the two-hop pattern, in CSR order; `gathered`: picked from the gemm over all pairs."""

    def __init__(self, B, dimension, gathered):
        K, self.B, self.half_b = B.shape[0], B, 0.5 * B.data
        self.at, self.gram, self.work = np.empty((3, B.nnz))
        self.spans = list(zip(B.indptr[:-1], B.indptr[1:]))
        self.agents = np.repeat(np.arange(K), np.diff(B.indptr))
        self.diagonal = np.flatnonzero(B.indices == self.agents)
        self.near = np.empty((max(end - begin for begin, end in self.spans), dimension))
        self.all = np.empty((K, K)) if gathered else None
        self.places = self.agents * K + B.indices

    def load(self, stack, W, h, with_gram):
        self.products(W, h, self.at)
        if with_gram:
            self.products(h, h, self.gram)
            np.multiply(self.B.data, self.gram, out=self.gram)
        return self.at[self.diagonal]

    def products(self, X, h, out):
        if self.all is not None:
            np.matmul(h, X.T, out=self.all)
            self.all.ravel().take(self.places, out=out, mode="clip")
            return
        for k, (begin, end) in enumerate(self.spans):
            near = self.near[: end - begin]
            X.take(self.B.indices[begin:end], axis=0, out=near, mode="clip")
            np.dot(near, h[k], out=out[begin:end])

    def reduce(self, products, out):
        return np.add.reduceat(products, self.B.indptr[:-1], out=out)

    def times(self, data, x, out):
        K = len(x)
        out.fill(0.0)
        _sparsetools.csr_matvec(K, K, self.B.indptr, self.B.indices, data, x, out)
        return out

    def half_squares(self, y, out):
        np.subtract(self.at, y[self.agents], out=self.work)
        np.multiply(self.work, self.work, out=self.work)
        np.multiply(self.work, self.half_b, out=self.work)
        return self.reduce(self.work, out)

    def mixed(self, h, W, out):
        return self.reduce(np.multiply(self.B.data, self.at, out=self.work), out)

    def square_sums(self, x, out):
        return self.times(np.multiply(self.gram, self.gram, out=self.work), x, out)

    def absolute_sums(self, x, out):
        return self.times(np.abs(self.gram, out=self.work), x, out)

    def weighted_sums(self, x, h, out):
        return self.times(self.gram, x, out)


class RelayPairs:
    """No pairwise products: B X as A(A X), then a dot product per agent."""

    def __init__(self, A, dimension, kind):
        self.combine, K = Combine(A, kind), A.shape[0]
        self.once, self.twice, self.scaled = np.empty((3, K, dimension))
        self.own = np.empty(K)

    def load(self, stack, W, h, with_gram):
        return einsum("km,km->k", h, W, out=self.own)

    def mixed(self, h, X, out):
        self.combine(self.combine(X, self.once), self.twice)
        return einsum("km,km->k", h, self.twice, out=out)

    def weighted_sums(self, x, h, out):
        return self.mixed(h, np.multiply(h, x[:, None], out=self.scaled), out)


class Atc:
    """psi = W - diag(s) h with s_k = mu_k r_k, then W <- A psi. Two buffers [W; h] that change places."""

    def __init__(self, A, problem, combine_kind):
        K, M = A.shape[0], problem.features.shape[1]
        self.features, self.combine, self.fused = problem.features, Combine(A, combine_kind), combine_kind == "fused"
        stacks = np.zeros((2, 2 * K, M))
        self.current, self.other = [(stack, stack[:K], stack[K:]) for stack in stacks]
        self.psi = np.empty((K, M))
        self.r, self.s = np.empty(K), np.empty(K)
        if self.fused:
            self.weights = np.hstack([A.toarray(), np.zeros((K, K))])
            self.scaled, self.minus_A = self.weights[:, K:], -A.toarray()

    @property
    def W(self):
        return self.current[1]

    def reset(self):
        self.W.fill(0.0)

    def adapt_combine(self):
        (stack, W, h), after = self.current, self.other[1]
        if self.fused:
            np.multiply(self.minus_A, self.s, out=self.scaled)
            np.matmul(self.weights, stack, out=after)
        else:
            np.multiply(h, self.s[:, None], out=self.psi)
            np.subtract(W, self.psi, out=self.psi)
            self.combine(self.psi, after)
        self.current, self.other = self.other, self.current


class ConstantAtc(Atc):
    def __init__(self, A, problem, combine_kind, mu):
        super().__init__(A, problem, combine_kind)
        self.mu = mu

    def iterate(self, rows, y, squares):
        _, W, h = self.current
        self.features.take(rows, axis=0, out=h, mode="clip")
        einsum("km,km->k", h, W, out=self.r)
        np.subtract(self.r, y, out=self.r)
        np.multiply(self.r, self.mu, out=self.s)
        self.adapt_combine()


class GapAtc(Atc):
    """GAP. With q_kl = b_kl h_k.h_l: (Z mu)_k = r_k sum_l q_kl r_l mu_l. Divisors 0 become TINY: mu_k r_k stays 0."""

    def __init__(self, A, problem, combine_kind, pairs_kind, bound, damping, sweeps):
        super().__init__(A, problem, combine_kind)
        K, M = A.shape[0], problem.features.shape[1]
        B = (A.T @ A).tocsr()
        B.sort_indices()
        self.bound, self.damping, self.sweeps = bound, damping, sweeps
        self.with_gram = damping in ("paper", "rows") or (sweeps > 1 and pairs_kind != "relay")
        self.pairs = make_pairs(pairs_kind, A, B, M, combine_kind)
        self.B_times = Combine(B, "sparse" if K > 64 else "dense")
        self.b_own = B.diagonal()
        if damping == "graph":
            self.b_own_lambda = self.b_own * lambda_max(B)
        self.alpha, self.minus_cbar, self.zu, self.mu, self.work, self.size = np.empty((6, K))

    def iterate(self, rows, y, squares):
        stack, W, h = self.current
        self.features.take(rows, axis=0, out=h, mode="clip")
        np.subtract(self.pairs.load(stack, W, h, self.with_gram), y, out=self.r)
        self.set_cbar(W, h, y)
        self.set_alpha(squares)
        self.sweep(h)
        self.adapt_combine()

    def set_cbar(self, W, h, y):
        """-cbar_k. Without noise h.w^o = y, so that `tight` and `oracle` are one: r_k (h_k.(B W)_k - y_k)."""
        if self.bound == "paper":
            self.pairs.half_squares(y, self.minus_cbar)
            return
        self.pairs.mixed(h, W, self.minus_cbar)
        np.subtract(self.minus_cbar, y, out=self.minus_cbar)
        if self.bound == "linear":
            np.multiply(self.r, 0.5, out=self.work)
            np.subtract(self.minus_cbar, self.work, out=self.minus_cbar)
        np.multiply(self.minus_cbar, self.r, out=self.minus_cbar)

    def set_alpha(self, squares):
        alpha, work = self.alpha, self.work
        if self.damping == "paper":  # b_kk ||h_k||^2 / sum_l (q_kl r_l)^2
            self.pairs.square_sums(np.multiply(self.r, self.r, out=work), alpha)
            numerator = np.multiply(self.b_own, squares, out=work)
        elif self.damping == "rows":  # 1 / (|r_k| sum_l |q_kl r_l|)
            self.pairs.absolute_sums(np.abs(self.r, out=work), alpha)
            np.multiply(alpha, work, out=alpha)
            numerator = 1.0
        elif self.damping == "norms":  # 1 / (n_k (B n)_k), n_k = |r_k| ||h_k||
            np.abs(self.r, out=work)
            np.multiply(np.sqrt(squares, out=self.size), work, out=work)
            self.B_times(work[:, None], alpha[:, None])
            np.multiply(alpha, work, out=alpha)
            numerator = 1.0
        else:  # 1 / (lambda_B b_kk ||g_k||^2)
            np.multiply(self.r, self.r, out=work)
            np.multiply(work, squares, out=work)
            np.multiply(self.b_own_lambda, work, out=alpha)
            numerator = 1.0
        np.maximum(alpha, TINY, out=alpha)
        np.divide(numerator, alpha, out=alpha)

    def sweep(self, h):
        """T sweeps from 0, the clip, and s_k = mu_k r_k."""
        mu, zu = np.multiply(self.alpha, self.minus_cbar, out=self.mu), self.zu
        for _ in range(self.sweeps - 1):
            self.pairs.weighted_sums(np.multiply(mu, self.r, out=self.s), h, zu)
            np.multiply(zu, self.r, out=zu)
            np.subtract(self.minus_cbar, zu, out=zu)
            np.multiply(zu, self.alpha, out=zu)
            np.add(mu, zu, out=mu)
        np.maximum(mu, 0.0, out=mu)
        np.multiply(mu, self.r, out=self.s)


def lambda_max(B):
    """lambda_max(D^-1/2 B D^-1/2), D the diagonal of B."""
    root = scipy.sparse.diags(B.diagonal() ** -0.5)
    scaled = root @ B @ root
    if B.shape[0] <= 2000:
        return np.linalg.eigvalsh(scaled.toarray())[-1]
    return scipy.sparse.linalg.eigsh(scaled, 1)[0][0]


def make_pairs(kind, A, B, dimension, combine_kind):
    if kind == "relay":
        return RelayPairs(A, dimension, combine_kind)
    if kind in ("stacked", "gemm"):
        return DensePairs(B, dimension, kind == "stacked")
    return ListPairs(B, dimension, kind == "gathered")


def candidates(o):
    """The (combine, pairs) kinds that the options leave open."""
    combines = ("fused", "dense", "sparse") if o.combine == "auto" else (o.combine,)
    if o.rule == "constant":
        return [(c, None) for c in combines]
    pairs = ("stacked", "gemm", "gathered", "lists") if o.pairs == "auto" else (o.pairs,)
    if o.pairs == "auto" and o.bound != "paper" and o.damping in ("norms", "graph"):
        pairs += ("relay",)
    return list(itertools.product(combines, pairs))


def build(o, A, problem, combine, pairs):
    if o.rule == "constant":
        return ConstantAtc(A, problem, combine, o.value if o.value is not None else 0.5 / o.dimension)
    return GapAtc(A, problem, combine, pairs, o.bound, o.damping, o.sweeps)


def seconds_per_iteration(run, draws):
    """One pass over the draws from W = 0."""
    run.reset()
    begin = time.perf_counter()
    for draw in draws:
        run.iterate(*draw)
    return (time.perf_counter() - begin) / len(draws)


def best_times(o, A, problem):
    """Best pass of every kind: a short trial of all, then `repeats` full passes of those within twice the best."""
    times, short = {}, problem.draws[: max(3, len(problem.draws) // 10)]
    with np.errstate(all="ignore"):  # `paper` diverges on dense graphs; the time stays the same
        for kind in candidates(o):
            run = build(o, A, problem, *kind)
            times[kind] = min(seconds_per_iteration(run, short) for _ in range(5))
        close = [kind for kind in times if times[kind] <= 2.0 * min(times.values())]
        runs = {kind: build(o, A, problem, *kind) for kind in close}
        for _, (kind, run) in itertools.product(range(o.repeats), runs.items()):
            times[kind] = min(times[kind], seconds_per_iteration(run, problem.draws))
    return times


def check(o, A, problem):
    """Largest relative difference from the twin over a few iterations, for every kind."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "property"))
    import gap_twin

    K = A.shape[0]
    options = {"rule": "constant", "value": 0.5 / o.dimension} if o.rule == "constant" else \
        {"rule": "gap", "bound": o.bound, "damping": o.damping, "sweeps": o.sweeps}
    H, y = problem.features.reshape(K, SAMPLES, -1), problem.targets.reshape(K, SAMPLES)
    for combine, pairs in candidates(o):
        run, worst = build(o, A, problem, combine, pairs), 0.0
        twin = gap_twin.Twin(A.toarray(), H, y, run.W.copy(), options, wo=problem.minimiser)
        for i, draw in enumerate(problem.draws[:10]):
            _, expected = twin.step(i, run.W.copy(), (draw[0] - SAMPLES * np.arange(K))[:, None])
            run.iterate(*draw)
            worst = max(worst, np.max(np.abs(run.W - expected)) / max(1.0, np.max(np.abs(expected))))
        print(f"{o.rule} {o.bound} {o.damping} T={o.sweeps} combine={combine} pairs={pairs}: {worst:.1e}")
        if not worst < 1e-9:
            sys.exit("differs from the twin")


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--agents", type=int, default=8)
    p.add_argument("--dimension", type=int, default=100)
    p.add_argument("--topology", choices=("ring", "erdos-renyi", "random-regular"), default="erdos-renyi")
    p.add_argument("--degree", type=int, default=3, help="of random-regular; expected of erdos-renyi")
    p.add_argument("--probability", type=float, help="of erdos-renyi, in place of --degree")
    p.add_argument("--rule", choices=("constant", "gap"), default="gap")
    p.add_argument("--value", type=float, help="the constant step (0.5 / dimension)")
    p.add_argument("--bound", choices=("paper", "linear", "tight", "oracle"), default="paper")
    p.add_argument("--damping", choices=("paper", "rows", "norms", "graph"), default="paper")
    p.add_argument("--sweeps", type=int, default=2)
    p.add_argument("--iterations", type=int, default=1000)
    p.add_argument("--repeats", type=int, default=5)
    p.add_argument("--combine", choices=("auto", "fused", "dense", "sparse"), default="auto")
    p.add_argument("--pairs", choices=("auto", "stacked", "gemm", "gathered", "lists", "relay"), default="auto")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--check", action="store_true")
    o = p.parse_args()
    if o.rule == "gap" and o.pairs == "relay" and (o.bound == "paper" or o.damping in ("paper", "rows")):
        p.error("--pairs relay: `paper` values and `paper` or `rows` damping need pairwise products")
    return o


def main():
    o = parse()
    A = metropolis(make_graph(o.topology, o.agents, o.degree, o.probability, o.seed))
    problem = Problem(o.agents, o.dimension, o.iterations, o.seed)
    if o.check:
        return check(o, A, problem)
    times = best_times(o, A, problem)
    combine, pairs = min(times, key=times.get)
    print(json.dumps({
        "seconds_per_iteration": times[combine, pairs], "combine": combine, "pairs": pairs,
        "agents": o.agents, "dimension": o.dimension, "topology": o.topology, "edges": int(A.nnz - o.agents) // 2,
        "rule": o.rule, **({"bound": o.bound, "damping": o.damping, "sweeps": o.sweeps} if o.rule == "gap" else {}),
        "threads": os.environ.get("OPENBLAS_NUM_THREADS", "default"),
        "all": {"+".join(filter(None, kind)): seconds for kind, seconds in times.items()},
    }))


if __name__ == "__main__":
    main()
