# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy twin of the GAP family: ATC-diffusion with the graph-aware Polyak rule and its local rivals.

Dense, slow and literal: one function per formula, with B = A^T A as a matrix, so that it reads next to the
formulas of the documentation and shares nothing with the C++ but them. Notation: W (K, M) iterates, G (K, M)
gradients on the current batch, A (K, K) weights, u or mu (K) steps. `python3 gap_twin.py` runs its self-test.
"""

import math
import unittest

import numpy as np

ZERO_GRADIENT = 1e-280  # ||g||^2 below this counts as g = 0: alpha_k = mu_k = 0
CAP_STARTS_AT = 50  # first iteration that `cap = "distance"` limits; its sums run from iteration 0

BOUNDS = ("paper", "linear", "tight", "oracle")
DAMPINGS = ("paper", "rows", "norms", "graph", "sketch")
RULES = ("gap", "constant", "decay", "polyak", "sps", "backtracking")

DEFAULTS = {
    "loss": "least-squares", "l2": 0.0, "delta": 1.0, "rule": "gap",
    "bound": "paper", "damping": "paper", "sweeps": 2, "project": False, "relaxation": 1.0,
    "optimum": "zero", "agree": "none", "cap": None, "sums": "mixed", "exchange": "lists", "products": "auto",
    "value": None, "power": None, "c": 1.0, "max": None, "lambda_B": None,
    "growth": 2.0, "decrease": 1.0, "shrink": 0.5, "first": 1.0, "reach": "neighbours",  # decrease: backtracking's delta
}


# ---------------------------------------------------------------- costs: mean loss over a batch + (l2/2)||w||^2


def loss_of_margin(kind, margin, y, delta):
    """Loss of the linear model's output margin = h.w against the target y."""
    if kind == "least-squares":
        return 0.5 * (margin - y) ** 2
    if kind == "logistic":
        return np.logaddexp(0.0, -y * margin)
    if kind == "huber":
        size = np.abs(margin - y)
        return np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta))
    if kind == "poisson":
        return np.exp(margin) - y * margin
    if kind == "smoothed-hinge":
        miss = 1 - y * margin
        return np.where(miss >= 1, miss - 0.5, 0.5 * np.maximum(miss, 0.0) ** 2)
    raise ValueError(f"unknown loss {kind!r}")


def loss_slope(kind, margin, y, delta):
    """Derivative of the loss with respect to the margin."""
    if kind == "least-squares":
        return margin - y
    if kind == "logistic":
        return -y * np.exp(-np.logaddexp(0.0, y * margin))
    if kind == "huber":
        return np.clip(margin - y, -delta, delta)
    if kind == "poisson":
        return np.exp(margin) - y
    if kind == "smoothed-hinge":
        return -y * np.clip(1 - y * margin, 0.0, 1.0)
    raise ValueError(f"unknown loss {kind!r}")


def loss_curvature(kind, margin, y, delta):
    """Second derivative of the loss with respect to the margin; where the loss is a line, its slope over the way to the target."""
    if kind == "least-squares":
        return np.ones_like(margin)
    if kind == "logistic":
        return np.exp(-np.logaddexp(0.0, y * margin) - np.logaddexp(0.0, -y * margin))
    if kind == "huber":
        return delta / np.maximum(np.abs(margin - y), delta)
    if kind == "poisson":
        return np.exp(margin)
    if kind == "smoothed-hinge":
        return np.where(y * margin < 1, 1.0 / np.maximum(np.abs(margin - y), 1.0), 0.0)
    raise ValueError(f"unknown loss {kind!r}")


def loss_curvature_bound(kind):
    """Largest second derivative of the loss."""
    return {"logistic": 0.25, "poisson": np.inf}.get(kind, 1.0)


class Batch:
    """The samples (h, y) that every agent drew: h (K, b, M), y (K, b); Jhat_k is agent k's cost on its own rows."""

    def __init__(self, h, y, loss="least-squares", l2=0.0, delta=1.0):
        self.h, self.y, self.loss, self.l2, self.delta = h, y, loss, l2, delta

    def value(self, k, w):
        """Jhat_k(w)."""
        losses = loss_of_margin(self.loss, self.h[k] @ w, self.y[k], self.delta)
        return np.mean(losses) + 0.5 * self.l2 * (w @ w)

    def gradient(self, k, w):
        """The gradient of Jhat_k at w."""
        slope = loss_slope(self.loss, self.h[k] @ w, self.y[k], self.delta)
        return self.h[k].T @ slope / len(slope) + self.l2 * w

    def slope(self, margin, y):
        """Derivative of a sample's loss with respect to its margin."""
        return loss_slope(self.loss, margin, y, self.delta)

    def slopes(self, W):
        """(K, b): of every sample at its agent's row."""
        return np.array([self.slope(h @ w, y) for h, w, y in zip(self.h, W, self.y)])

    def values(self, W):
        return np.array([self.value(k, w) for k, w in enumerate(W)])

    def gradients(self, W):
        return np.array([self.gradient(k, w) for k, w in enumerate(W)])

    def smoothness(self):
        """L_k: mean over the batch of ||h||^2 max loss'', plus the L2 weight."""
        return np.mean(np.sum(self.h**2, axis=2), axis=1) * loss_curvature_bound(self.loss) + self.l2


# ---------------------------------------------------------------- the squared distance after an iteration


def two_hop_weights(A):
    """B = A^T A."""
    return A.T @ A


def gram(B, G):
    """Z = B o (G G^T)."""
    return B * (G @ G.T)


def phi(A, W, G, u, wo):
    """||A(W~ + diag(u) G)||_F^2 with W~ = 1 wo^T - W: the squared distance to wo after the iteration."""
    return np.sum((A @ (wo - W + u[:, None] * G)) ** 2)


def model(Z, cbar, u):
    """q(u) = u^T Z u + 2 cbar^T u; phi(u) - phi(0) <= q(u) for u >= 0 when c <= cbar."""
    return u @ Z @ u + 2.0 * (cbar @ u)


# ---------------------------------------------------------------- the bounds: cbar, an upper bound on c


def bound_paper(B, W, batch, optimum):
    """cbar_k = sum_l b_kl (Jhat_k(w^o) - Jhat_k(w_l)), agent k's own sample at every two-hop w_l."""
    K = len(W)
    at_others = np.array([[batch.value(k, W[l]) if B[k, l] != 0 else 0.0 for l in range(K)] for k in range(K)])
    return np.sum(B * (optimum[:, None] - at_others), axis=1)


def drift(B, W, G):
    """g_k . (w_k - (B W)_k)."""
    return np.sum(G * (W - B @ W), axis=1)


def bound_linear(B, W, G, batch, optimum):
    """cbar_k = Jhat_k(w^o) - Jhat_k(w_k) + g_k.(w_k - (B W)_k)."""
    return optimum - batch.values(W) + drift(B, W, G)


def bound_tight(B, W, G, batch, optimum):
    """The linear bound minus ||g_k||^2/(2 L_k); least squares without L2: twice the gap in place of both."""
    if batch.loss == "least-squares" and batch.l2 == 0:
        return 2.0 * (optimum - batch.values(W)) + drift(B, W, G)
    L = batch.smoothness()
    energy = np.sum(G**2, axis=1)
    gain = np.divide(energy, 2.0 * L, out=np.zeros_like(L), where=L > 0)
    return bound_linear(B, W, G, batch, optimum) - gain


def bound_oracle(B, W, G, wo):
    """c_k = sum_l b_kl g_k.(w^o - w_l)."""
    return np.sum(B * (G @ (wo - W).T), axis=1)


# ---------------------------------------------------------------- the dampings: alpha, the diagonal preconditioner


def moving(G):
    """Which agents have a gradient to follow."""
    return np.sum(G**2, axis=1) >= ZERO_GRADIENT


def damping_paper(B, G):
    """[eq:alpha_k] b_kk ||g_k||^2 / sum_l (b_kl g_k.g_l)^2, as b_kk / sum_l b_kl^2 (ghat_k.g_l)^2."""
    alpha = np.zeros(len(G))
    for k in np.flatnonzero(moving(G)):
        unit = G[k] / np.linalg.norm(G[k])
        alpha[k] = B[k, k] / np.sum((B[k] * (G @ unit)) ** 2)
    return alpha


def damping_rows(B, G):
    """1 / sum_l |z_kl|."""
    alpha = np.zeros(len(G))
    on = moving(G)
    alpha[on] = 1.0 / np.sum(np.abs(gram(B, G)), axis=1)[on]
    return alpha


def damping_norms(B, G):
    """1 / (||g_k|| (B n)_k), n_l = ||g_l||."""
    alpha = np.zeros(len(G))
    on = moving(G)
    n = np.linalg.norm(G, axis=1)
    alpha[on] = 1.0 / (n * (B @ n))[on]
    return alpha


def graph_lambda(B):
    """lambda_B = lambda_max(D^-1/2 B D^-1/2), D the diagonal of B."""
    scale = 1.0 / np.sqrt(np.diag(B))
    return np.linalg.eigvalsh(scale[:, None] * B * scale)[-1]


def damping_graph(B, G, lambda_B):
    """1 / (lambda_B b_kk ||g_k||^2)."""
    alpha = np.zeros(len(G))
    on = moving(G)
    alpha[on] = 1.0 / (lambda_B * np.diag(B) * np.sum(G**2, axis=1))[on]
    return alpha


def damping_sketch(B, G, sketch):
    """`rows` on the projections S g_l (sketch: s x M), shortened by the margin 1 + 2/sqrt(s)."""
    alpha = np.zeros(len(G))
    on = moving(G)
    sums = np.sum(np.abs(gram(B, G @ sketch.T)), axis=1)
    on &= sums > 0
    alpha[on] = 1.0 / ((1.0 + 2.0 / math.sqrt(len(sketch))) * sums[on])
    return alpha


# ---------------------------------------------------------------- solving Z u = -cbar


def sweep_dense(Z, alpha, cbar, u):
    """u_k - beta_k - alpha_k (Z u)_k, beta = alpha cbar."""
    return u - alpha * cbar - alpha * (Z @ u)


def sweep_relay(A, G, alpha, cbar, u):
    """The printed form: v_k = sum_l a_kl u_l g_l; u_k - beta_k - alpha_k g_k . sum_l a_kl v_l."""
    v = A @ (u[:, None] * G)
    return u - alpha * cbar - alpha * np.sum(G * (A @ v), axis=1)


def sweeps(A, G, alpha, cbar, count, project=False, exchange="lists"):
    """`count` sweeps from 0, clipped at 0 after the last one or (project) after each."""
    Z = gram(two_hop_weights(A), G)
    u = np.zeros(len(G))
    for _ in range(count):
        u = sweep_relay(A, G, alpha, cbar, u) if exchange == "relay" else sweep_dense(Z, alpha, cbar, u)
        if project:
            u = np.maximum(u, 0.0)
    return np.maximum(u, 0.0)


def exact_steps(Z, cbar, on):
    """Minimiser of q over u >= 0 with u_k = 0 where `on` is false: Lawson-Hanson on the normal equations."""
    u = np.zeros(len(cbar))
    free = np.zeros(len(cbar), dtype=bool)
    scale = np.max(np.abs(cbar[on]), initial=0.0)
    for _ in range(30 * len(cbar) + 30):
        slope = -(Z @ u + cbar)
        candidates = on & ~free & (slope > 1e-13 * scale)
        if not candidates.any():
            break
        free[np.argmax(np.where(candidates, slope, -np.inf))] = True
        while True:
            trial = np.zeros_like(u)
            trial[free] = np.linalg.lstsq(Z[np.ix_(free, free)], -cbar[free], rcond=1e-14)[0]
            blocked = free & (trial <= 0)
            if not blocked.any():
                break
            t = np.min(u[blocked] / (u[blocked] - trial[blocked]), initial=1.0, where=u[blocked] != trial[blocked])
            u = np.maximum(u + t * (trial - u), 0.0)
            free &= ~(blocked & (u <= 1e-15 * np.max(u, initial=0.0)))
            u[~free] = 0.0
        if model(Z, cbar, trial) >= model(Z, cbar, u):
            break  # a singular block: no further descent within rounding
        u = trial
    return u


# ---------------------------------------------------------------- after the sweeps: cap and agreement


def neighbourhoods(A):
    """Boolean (K, K): l is k or a neighbour of k."""
    return (A != 0) | np.eye(len(A), dtype=bool)


def surviving_energy(B, G):
    """s_k = max(g_k.(B G)_k, 0): the gradient energy that survives the averaging."""
    return np.maximum(np.sum(G * (B @ G), axis=1), 0.0)


def accumulate_energy(A, S, s, how):
    """S_k <- sum_l a_kl (S_l + s_l) (mixed) or S_k + s_k (own)."""
    return A @ (S + s) if how == "mixed" else S + s


def accumulate_radius(A, r, distance):
    """r_k <- max over the neighbourhood of r_l and of distance_l = ||w_l - w_{l,0}||."""
    reached = np.maximum(r, distance)
    return np.array([np.max(reached[near]) for near in neighbourhoods(A)])


def distance_cap(r, S):
    """r_k / sqrt(S_k); S_k = 0: no cap."""
    return np.divide(r, np.sqrt(S), out=np.full(len(r), np.inf), where=S > 0)


def agree(A, mu, how):
    """The neighbourhood's minimum, or its average sum_l a_kl mu_l."""
    if how == "min":
        return np.array([np.min(mu[near]) for near in neighbourhoods(A)])
    return A @ mu if how == "mean" else mu


# ---------------------------------------------------------------- local rules


def polyak_steps(values, optimum, G, c, largest):
    """(Jhat_k - Jhat_k^o) / (c ||g_k||^2), at least 0, at most `largest`; g_k = 0: 0."""
    on = moving(G)
    energy = np.sum(G**2, axis=1)
    mu = np.divide(values - optimum, c * energy, out=np.zeros(len(G)), where=on)
    return np.clip(mu, 0.0, np.inf if largest is None else largest)


def enough_decrease(batch, k, w, g, a, delta):
    """Jhat_k(w - a g) <= Jhat_k(w) - (1 - delta/2) a ||g||^2, but for rounding."""
    before = batch.value(k, w)
    return batch.value(k, w - a * g) <= before - (1.0 - delta / 2) * a * (g @ g) + 1e-12 * max(1.0, abs(before))


def backtrack(batch, k, w, g, last, growth, delta, shrink):
    """(a, how often Jhat_k was evaluated): growth * last, shrunk until the cost decreases enough, at most 50 times."""
    a = growth * last
    if a * (g @ g) < 1e4 * np.finfo(float).eps * max(1.0, abs(batch.value(k, w))):
        a = last
    for tried in range(50):
        if enough_decrease(batch, k, w, g, a, delta):
            return a, tried + 2
        a *= shrink
    return a, 51


def diameter(A):
    """The longest of the shortest paths, by powers of the neighbourhoods."""
    near, within, length = neighbourhoods(A), np.eye(len(A), dtype=bool), 0
    while not within.all():
        within, length = (within.astype(int) @ near) > 0, length + 1
    return length


def atc(A, W, mu, G):
    """[eq:atc] psi_k = w_k - mu_k g_k; w_k <- sum_l a_kl psi_l."""
    return A @ (W - mu[:, None] * G)


# ---------------------------------------------------------------- one run


class Twin:
    """ATC with one rule. `step(i, W, index)` is iteration i = 0, 1, ...: sample, gradient, step, adapt, combine.

    State across iterations: S and r of `cap = "distance"` and the accepted steps of `backtracking` alone, so the
    iterates may be forced from outside. `values` counts the evaluations of backtracking in the last iteration.
    `sketch`: the projection (s, M), or one for each iteration (I, s, M).
    """

    def __init__(self, A, H, y, start, options, wo=None, sketch=None):
        unknown = set(options) - set(DEFAULTS)
        if unknown:
            raise ValueError(f"options the twin does not know: {sorted(unknown)}")
        self.options = {**DEFAULTS, **options}
        self.A, self.B = A, two_hop_weights(A)
        self.H, self.y, self.start, self.wo, self.sketch = H, y, start, wo, sketch
        self.state = (np.zeros(len(A)), np.zeros(len(A)), np.full(len(A), float(self.options["first"])))
        self.values = None
        if self.options["lambda_B"] is None and self.options["damping"] == "graph":
            self.options["lambda_B"] = graph_lambda(self.B)

    def batch(self, index):
        agents = np.arange(len(self.A))[:, None]
        o = self.options
        return Batch(self.H[agents, index], self.y[agents, index], o["loss"], o["l2"], o["delta"])

    def optimum(self, batch):
        """Jhat_k(w^o) as the option gives it."""
        given, K = self.options["optimum"], len(self.A)
        if given == "zero":
            return np.zeros(K)
        if given == "per-sample":
            return batch.values(np.tile(self.wo, (K, 1)))
        return np.broadcast_to(np.asarray(given, dtype=float), (K,)).copy()

    def cbar(self, W, G, batch):
        bound, optimum = self.options["bound"], self.optimum(batch)
        if bound == "paper":
            return bound_paper(self.B, W, batch, optimum)
        if bound == "linear":
            return bound_linear(self.B, W, G, batch, optimum)
        if bound == "tight":
            return bound_tight(self.B, W, G, batch, optimum)
        if bound == "oracle":
            return bound_oracle(self.B, W, G, self.wo)
        raise ValueError(f"unknown bound {bound!r}")

    def alpha(self, i, G):
        damping = self.options["damping"]
        if damping == "paper":
            return damping_paper(self.B, G)
        if damping == "rows":
            return damping_rows(self.B, G)
        if damping == "norms":
            return damping_norms(self.B, G)
        if damping == "graph":
            return damping_graph(self.B, G, self.options["lambda_B"])
        if damping == "sketch":
            return damping_sketch(self.B, G, self.sketch if self.sketch.ndim == 2 else self.sketch[i])
        raise ValueError(f"unknown damping {damping!r}")

    def solve(self, i, W, G, batch):
        """The steps before relaxation, cap and agreement."""
        o = self.options
        cbar = self.cbar(W, G, batch)
        if o["sweeps"] == "exact":
            return exact_steps(gram(self.B, G), cbar, moving(G))
        return sweeps(self.A, G, self.alpha(i, G), cbar, o["sweeps"], o["project"], o["exchange"])

    def limit(self, i, W, G, state):
        """cap_k of iteration i, and the state after it."""
        cap, (S, r, accepted) = self.options["cap"], state
        if cap is None:
            return np.inf, state
        if cap == "distance":
            S = accumulate_energy(self.A, S, surviving_energy(self.B, G), self.options["sums"])
            r = accumulate_radius(self.A, r, np.linalg.norm(W - self.start, axis=1))
            return (distance_cap(r, S) if i >= CAP_STARTS_AT else np.inf), (S, r, accepted)
        if isinstance(cap, dict):
            return cap["gamma"] / math.sqrt(i + 1), state
        return float(cap), state

    def gap(self, i, W, G, batch):
        """The GAP steps and the state after them."""
        mu = self.options["relaxation"] * self.solve(i, W, G, batch)
        cap, state = self.limit(i, W, G, self.state)
        return agree(self.A, np.minimum(mu, cap), self.options["agree"]), state

    def backtracking(self, W, G, batch):
        """The smallest accepted step in reach, and the state with everybody's own."""
        o, (S, r, last) = self.options, self.state
        found = [backtrack(batch, k, W[k], G[k], last[k], o["growth"], o["decrease"], o["shrink"]) for k in range(len(W))]
        accepted = np.array([a for a, _ in found])
        self.values = sum(count for _, count in found)
        mu = agree(self.A, accepted, "min") if o["reach"] == "neighbours" else np.full(len(W), np.min(accepted))
        return mu, (S, r, accepted)

    def choose(self, i, W, G, batch):
        """mu of iteration i and the state after it; moves nothing on."""
        o, K = self.options, len(W)
        if o["rule"] == "gap":
            return self.gap(i, W, G, batch)
        if o["rule"] == "constant":
            return np.full(K, float(o["value"])), self.state
        if o["rule"] == "decay":
            return np.full(K, o["value"] / (i + 1) ** o["power"]), self.state
        if o["rule"] in ("polyak", "sps"):
            return polyak_steps(batch.values(W), self.optimum(batch), G, o["c"], o["max"]), self.state
        if o["rule"] == "backtracking":
            return self.backtracking(W, G, batch)
        raise ValueError(f"unknown rule {o['rule']!r}")

    def probe(self, i, W, index):
        """(mu, W+) of iteration i from W, without moving the state on."""
        batch = self.batch(index)
        G = batch.gradients(W)
        mu, _ = self.choose(i, W, G, batch)
        return mu, atc(self.A, W, mu, G)

    def step(self, i, W, index):
        """(mu, W+) of iteration i from W."""
        batch = self.batch(index)
        G = batch.gradients(W)
        mu, self.state = self.choose(i, W, G, batch)
        return mu, atc(self.A, W, mu, G)


# ---------------------------------------------------------------- self-test


def metropolis(adjacency):
    """a_kl = 1/(1 + max(d_k, d_l)) on the edges."""
    degree = adjacency.sum(axis=1)
    A = np.where(adjacency, 1.0 / (1.0 + np.maximum(degree[:, None], degree)), 0.0)
    return A + np.diag(1.0 - A.sum(axis=1))


def random_weights(random, K):
    """Metropolis weights of a ring with random chords."""
    ring = np.roll(np.eye(K, dtype=bool), 1, axis=1)
    chords = np.triu(random.random((K, K)) < random.uniform(0.0, 0.6), 1)
    adjacency = (ring | ring.T | chords | chords.T) & ~np.eye(K, dtype=bool)
    return metropolis(adjacency)


def random_batch(random, K, M, b, loss="least-squares", l2=0.0, wo=None):
    """A batch of standard normal features, scales that differ between agents; interpolated by wo if it is given."""
    h = random.standard_normal((K, b, M)) * np.exp(0.5 * random.standard_normal((K, 1, 1)))
    y = h @ wo if wo is not None else random.standard_normal((K, b))
    return Batch(h, np.sign(y) if loss in ("logistic", "smoothed-hinge") else y, loss, l2, 1.0)


def all_alphas(B, G):
    return {
        "paper": damping_paper(B, G), "rows": damping_rows(B, G), "norms": damping_norms(B, G),
        "graph": damping_graph(B, G, graph_lambda(B)),
    }


def largest_eigenvalue(alpha, Z):
    """lambda_max(diag(alpha) Z) through its symmetric form."""
    root = np.sqrt(alpha)
    return np.linalg.eigvalsh(root[:, None] * Z * root)[-1]


class TwinTest(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(7)

    def instance(self, loss="least-squares", l2=0.0, interpolate=False, b=None):
        """(A, B, W, batch, G, w^o) of random shape."""
        K, M = int(self.random.integers(2, 13)), int(self.random.integers(2, 16))
        A = random_weights(self.random, K) if K > 2 else np.full((2, 2), 0.5)
        wo = self.random.standard_normal(M)
        b = int(self.random.integers(1, 4)) if b is None else b
        batch = random_batch(self.random, K, M, b, loss, l2, wo if interpolate else None)
        W = wo + self.random.standard_normal((K, M)) * 10.0 ** self.random.uniform(-2, 1)
        return A, two_hop_weights(A), W, batch, batch.gradients(W), wo

    def twin(self, A, batch, start, **options):
        """A twin whose every iteration sees this batch."""
        options = {"loss": batch.loss, "l2": batch.l2, "delta": batch.delta, **options}
        return Twin(A, batch.h, batch.y, start, options, wo=options.pop("wo", None))

    def test_losses_slopes_and_curvatures_belong_together(self):
        z = np.array([-2.5, -1.7, -0.3, 0.2, 0.6, 1.4, 2.5])  # no corner of any loss for targets of -1 and 1
        for loss in ("least-squares", "logistic", "huber", "smoothed-hinge", "poisson"):
            for y in (-1.0, 1.0):
                at = lambda what, by: what(loss, z + by, y, 1.0)
                slope = (at(loss_of_margin, 1e-5) - at(loss_of_margin, -1e-5)) / 2e-5
                np.testing.assert_allclose(loss_slope(loss, z, y, 1.0), slope, rtol=0, atol=1e-8)
                bend = (at(loss_slope, 1e-5) - at(loss_slope, -1e-5)) / 2e-5
                curvature = loss_curvature(loss, z, y, 1.0)
                is_line = (np.abs(bend) < 1e-9) & (np.abs(slope) > 1e-9)  # there it is the slope over the way to the target
                np.testing.assert_allclose(curvature[~is_line], bend[~is_line], rtol=0, atol=1e-8)
                np.testing.assert_allclose(curvature[is_line], np.abs(slope / (z - y))[is_line], rtol=1e-8)
                self.assertTrue(np.all(curvature <= loss_curvature_bound(loss)))

    def test_gradients_are_the_slopes_of_the_costs(self):
        for loss in ("least-squares", "logistic", "huber", "smoothed-hinge"):
            _, _, W, batch, G, _ = self.instance(loss, l2=0.3)
            for k, w in enumerate(W):
                d = self.random.standard_normal(w.size)
                slope = (batch.value(k, w + 1e-5 * d) - batch.value(k, w - 1e-5 * d)) / 2e-5
                self.assertAlmostEqual(slope, G[k] @ d, delta=1e-6 * max(1.0, abs(slope)))

    def test_slope_of_phi_is_twice_c_plus_z_u(self):
        for _ in range(20):
            A, B, W, _, G, wo = self.instance()
            u, d = self.random.standard_normal((2, len(A)))
            slope = (phi(A, W, G, u + d, wo) - phi(A, W, G, u - d, wo)) / 2.0  # exact: phi is quadratic
            exact = 2.0 * (bound_oracle(B, W, G, wo) + gram(B, G) @ u)
            self.assertAlmostEqual(slope, exact @ d, delta=1e-9 * max(1.0, phi(A, W, G, u + d, wo)))

    def test_phi_changes_by_the_model_with_the_true_c(self):
        for _ in range(20):
            A, B, W, _, G, wo = self.instance()
            u = self.random.standard_normal(len(A))
            change = phi(A, W, G, u, wo) - phi(A, W, G, 0 * u, wo)
            self.assertAlmostEqual(change, model(gram(B, G), bound_oracle(B, W, G, wo), u),
                                   delta=1e-9 * max(1.0, phi(A, W, G, u, wo)))

    def test_one_agent_is_polyak_for_every_number_of_sweeps(self):
        A = np.ones((1, 1))
        for loss in ("least-squares", "logistic", "huber"):
            batch = random_batch(self.random, 1, 5, 1, loss)
            W = self.random.standard_normal((1, 5))
            polyak = polyak_steps(batch.values(W), np.zeros(1), batch.gradients(W), 1.0, None)
            for bound in ("paper", "linear"):
                for damping in ("paper", "rows", "norms", "graph"):
                    for T in (1, 2, 3, 10):
                        twin = self.twin(A, batch, W, bound=bound, damping=damping, sweeps=T)
                        np.testing.assert_allclose(twin.probe(0, W, np.zeros((1, 1), int))[0], polyak, rtol=1e-12)

    def test_one_agent_with_the_tight_bound_solves_its_sample(self):
        batch = random_batch(self.random, 1, 5, 1)
        W = self.random.standard_normal((1, 5))
        mu, W1 = self.twin(np.ones((1, 1)), batch, W, bound="tight").probe(0, W, np.zeros((1, 1), int))
        np.testing.assert_allclose(mu, 1.0 / np.sum(batch.h**2))
        np.testing.assert_allclose(batch.values(W1), 0.0, atol=1e-25)

    def test_identical_agents_on_the_complete_graph_are_polyak(self):
        K, A = 6, np.full((6, 6), 1.0 / 6)
        one = random_batch(self.random, 1, 4, 1)
        batch = Batch(np.tile(one.h, (K, 1, 1)), np.tile(one.y, (K, 1)))
        W = np.tile(self.random.standard_normal(4), (K, 1))
        polyak = polyak_steps(batch.values(W), np.zeros(K), batch.gradients(W), 1.0, None)
        for bound in ("paper", "linear"):
            for damping in ("paper", "rows", "norms", "graph"):
                for T in (1, 2, 7):
                    twin = self.twin(A, batch, W, bound=bound, damping=damping, sweeps=T)
                    np.testing.assert_allclose(twin.probe(0, W, np.zeros((K, 1), int))[0], polyak, rtol=1e-11)

    def test_orthogonal_gradients_on_the_complete_graph_are_k_times_polyak(self):
        K, A = 5, np.full((5, 5), 0.2)
        basis = np.linalg.qr(self.random.standard_normal((8, 8)))[0][:K]
        batch = Batch(basis[:, None, :] * self.random.uniform(0.5, 2, (K, 1, 1)), self.random.standard_normal((K, 1)))
        W = np.tile(self.random.standard_normal(8), (K, 1))
        polyak = polyak_steps(batch.values(W), np.zeros(K), batch.gradients(W), 1.0, None)
        for bound in ("paper", "linear"):
            for damping, T in (("paper", 1), ("paper", 2), ("rows", 1), ("rows", 4), ("norms", 3000), ("graph", 3000)):
                twin = self.twin(A, batch, W, bound=bound, damping=damping, sweeps=T)
                np.testing.assert_allclose(twin.probe(0, W, np.zeros((K, 1), int))[0], K * polyak, rtol=1e-9)

    def test_relay_form_is_the_dense_form(self):
        for _ in range(20):
            A, B, W, batch, G, _ = self.instance()
            cbar = bound_paper(B, W, batch, np.zeros(len(A)))
            for alpha in all_alphas(B, G).values():
                lists, relay = (sweeps(A, G, alpha, cbar, 4, False, e) for e in ("lists", "relay"))
                np.testing.assert_allclose(relay, lists, rtol=1e-9, atol=1e-9 * np.max(lists, initial=1e-300))

    def test_lambda_max_bounds(self):
        for _ in range(200):
            A, B, _, _, G, _ = self.instance()
            Z = gram(B, G)
            n = np.max(np.sum(B > 0, axis=1))
            limit = {"paper": (1 + math.sqrt(n)) / 2, "rows": 1.0, "norms": 1.0, "graph": 1.0}
            for name, alpha in all_alphas(B, G).items():
                self.assertLessEqual(largest_eigenvalue(alpha, Z), limit[name] * (1 + 1e-12), name)

    def test_the_paper_damping_attains_its_bound(self):
        for K in (4, 9, 16, 30):
            B = np.full((K, K), 1.0 / K)
            cosine = 1.0 / (1.0 + math.sqrt(K))
            G = np.linalg.cholesky((1 - cosine) * np.eye(K) + cosine)
            self.assertAlmostEqual(largest_eigenvalue(damping_paper(B, G), gram(B, G)), (1 + math.sqrt(K)) / 2)

    def test_linear_bound_is_above_the_true_c(self):
        for loss in ("least-squares", "logistic", "huber"):
            for _ in range(50):
                A, B, W, batch, G, wo = self.instance(loss, l2=self.random.choice([0.0, 0.1]))
                at_wo = batch.values(np.tile(wo, (len(A), 1)))
                c, cbar = bound_oracle(B, W, G, wo), bound_linear(B, W, G, batch, at_wo)
                self.assertTrue(np.all(c <= cbar + 1e-10 * np.maximum(1.0, np.abs(c))))

    def test_paper_bound_with_smoothness_is_above_the_linear_bound(self):
        for _ in range(50):  # (b): add sum_l b_kl L_k/2 ||w_k - w_l||^2, the term that the paper drops
            A, B, W, batch, G, wo = self.instance("huber")
            zero = np.zeros(len(A))
            spread = np.sum(B * np.sum((W[:, None] - W) ** 2, axis=2), axis=1)
            paper = bound_paper(B, W, batch, zero) + 0.5 * batch.smoothness() * spread
            linear = bound_linear(B, W, G, batch, zero)
            self.assertTrue(np.all(linear <= paper + 1e-9 * np.maximum(1.0, np.abs(paper))))

    def test_tight_bound_is_c_for_least_squares_and_above_it_under_interpolation(self):
        for loss in ("least-squares", "huber"):
            for _ in range(50):
                A, B, W, batch, G, wo = self.instance(loss, interpolate=True)
                c, cbar = bound_oracle(B, W, G, wo), bound_tight(B, W, G, batch, np.zeros(len(A)))
                slack = 1e-10 * np.maximum(1.0, np.abs(c))
                self.assertTrue(np.all(c <= cbar + slack))
                if loss == "least-squares":
                    self.assertTrue(np.all(np.abs(c - cbar) <= slack))

    def guaranteed(self):
        """Instances with c <= cbar: (A, B, W, G, w^o, cbar)."""
        costs = (("least-squares", 0.0), ("least-squares", 0.1), ("logistic", 0.0), ("logistic", 0.05), ("huber", 0.0))
        for loss, l2 in costs:
            for _ in range(25):
                A, B, W, batch, G, wo = self.instance(loss, l2)
                yield A, B, W, G, wo, bound_linear(B, W, G, batch, batch.values(np.tile(wo, (len(A), 1))))
        for loss in ("least-squares", "huber"):
            for _ in range(25):
                A, B, W, batch, G, wo = self.instance(loss, interpolate=True)
                yield A, B, W, G, wo, bound_tight(B, W, G, batch, np.zeros(len(A)))

    def test_projected_sweeps_never_increase_the_distance(self):
        for A, B, W, G, wo, cbar in self.guaranteed():
            Z, before = gram(B, G), np.sum((wo - W) ** 2)
            for name, alpha in all_alphas(B, G).items():
                if name == "paper":
                    continue
                last = 0.0
                for T in (1, 2, 3, 5, 20):
                    u = sweeps(A, G, alpha, cbar, T, project=True)
                    rho = self.random.uniform(0.05, 1.95)
                    self.assertLessEqual(model(Z, cbar, u), last + 1e-12 * max(1.0, before))
                    last = model(Z, cbar, u)
                    for v in (u, rho * u):
                        self.assertLessEqual(model(Z, cbar, v), 1e-12 * max(1.0, before))
                        self.assertLessEqual(np.sum((wo - atc(A, W, v, G)) ** 2), before * (1 + 1e-12))

    def test_exact_steps_minimise_the_model(self):
        for A, B, W, G, wo, cbar in self.guaranteed():
            Z, on = gram(B, G), moving(G)
            u = exact_steps(Z, cbar, on)
            slope = Z @ u + cbar
            scale = np.max(np.abs(cbar))
            self.assertTrue(np.all(u >= 0) and np.all(slope[on] >= -1e-8 * scale))
            self.assertTrue(np.all(np.abs(slope[u > 0]) <= 1e-8 * scale))
            swept = sweeps(A, G, damping_rows(B, G), cbar, 50, project=True)
            self.assertLessEqual(model(Z, cbar, u), model(Z, cbar, swept) * (1 - 1e-9) + 1e-12)

    def test_zero_gradient_gives_zero_step(self):
        A = np.full((3, 3), 1.0 / 3)
        batch = random_batch(self.random, 3, 4, 1)
        W = self.random.standard_normal((3, 4))
        W[1], batch.y[1] = 0.0, 0.0
        for bound in BOUNDS:
            for damping in ("paper", "rows", "norms", "graph"):
                for T in (2, "exact"):
                    if (bound, T) == ("paper", "exact"):
                        continue
                    twin = self.twin(A, batch, W, bound=bound, damping=damping, sweeps=T, wo=np.ones(4))
                    mu, W1 = twin.probe(0, W, np.zeros((3, 1), int))
                    self.assertTrue(mu[1] == 0 and np.all(np.isfinite(mu)) and np.all(np.isfinite(W1)))

    def test_doubling_the_costs_halves_the_steps_and_keeps_the_path(self):
        A, _, W, batch, _, wo = self.instance(interpolate=True, b=1)
        double = Batch(batch.h * math.sqrt(2), batch.y * math.sqrt(2))
        for bound in BOUNDS:
            for damping in ("paper", "rows", "norms", "graph"):
                options = {"bound": bound, "damping": damping, "wo": wo}
                index = np.zeros((len(A), 1), int)
                mu, W1 = self.twin(A, batch, W, **options).probe(0, W, index)
                half, W2 = self.twin(A, double, W, **options).probe(0, W, index)
                np.testing.assert_allclose(2 * half, mu, rtol=1e-9, atol=1e-12)
                np.testing.assert_allclose(W2, W1, rtol=1e-9, atol=1e-9)

    def test_combine_keeps_the_mean_and_relabelling_relabels(self):
        A, _, W, batch, G, wo = self.instance("logistic", b=1)
        p = self.random.permutation(len(A))
        index = np.zeros((len(A), 1), int)
        for damping in ("paper", "rows", "norms", "graph"):
            options = {"bound": "linear", "damping": damping, "agree": "min", "cap": "distance"}
            mu, W1 = self.twin(A, batch, W, **options).probe(60, W, index)
            moved = Batch(batch.h[p], batch.y[p], "logistic")
            mu2, W2 = self.twin(A[np.ix_(p, p)], moved, W[p], **options).probe(60, W[p], index)
            np.testing.assert_allclose(mu2, mu[p], rtol=1e-9)
            np.testing.assert_allclose(W2, W1[p], rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(W1.mean(axis=0), (W - mu[:, None] * G).mean(axis=0), rtol=1e-9, atol=1e-12)

    def test_surviving_energy_of_orthogonal_and_equal_gradients(self):
        B = two_hop_weights(random_weights(self.random, 5))
        np.testing.assert_allclose(surviving_energy(B, np.eye(5)), np.diag(B))
        np.testing.assert_allclose(surviving_energy(B, np.ones((5, 3))), 3.0)

    def test_distance_cap_starts_at_iteration_50_and_sums_from_0(self):
        A, _, W, batch, _, _ = self.instance(b=1)
        index = np.zeros((len(A), 1), int)
        free = self.twin(A, batch, W + 1e-3, bound="linear", damping="rows")
        for how in ("mixed", "own"):
            capped = self.twin(A, batch, W + 1e-3, bound="linear", damping="rows", cap="distance", sums=how)
            for i in range(51):
                mu, expected = capped.step(i, W, index)[0], free.probe(i, W, index)[0]
                if i < 50:
                    np.testing.assert_array_equal(mu, expected)
            s = surviving_energy(capped.B, capped.batch(index).gradients(W))
            S, _, _ = capped.state
            np.testing.assert_allclose(S.sum(), 51 * s.sum())
            cap = distance_cap(np.full(len(A), 1e-3 * math.sqrt(W.shape[1])), S)
            np.testing.assert_allclose(mu, np.minimum(expected, cap), rtol=1e-6)

    def test_backtracking_accepts_up_to_delta_over_the_smoothness_of_a_sample(self):
        for delta in (0.5, 1.0, 1.5):
            for _ in range(20):
                A, _, W, batch, G, _ = self.instance(b=1)
                for k in range(len(A)):
                    limit = delta / np.sum(batch.h[k] ** 2)
                    self.assertTrue(enough_decrease(batch, k, W[k], G[k], limit * (1 - 1e-6), delta))
                    self.assertFalse(enough_decrease(batch, k, W[k], G[k], limit * (1 + 1e-6) + 1e-9, delta))
                    a, values = backtrack(batch, k, W[k], G[k], 1e3, 1.0, delta, 0.5)
                    self.assertTrue(limit / 2 < a <= limit * (1 + 1e-6))
                    self.assertEqual(values, 2 + round(math.log2(1e3 / a)))

    def test_backtracking_does_not_grow_where_rounding_decides_and_gives_up_after_50_halvings(self):
        batch = Batch(np.ones((1, 1, 1)), np.zeros((1, 1)))
        w = np.array([1e-7])
        self.assertEqual(backtrack(batch, 0, w, batch.gradient(0, w), 0.25, 2.0, 1.0, 0.5), (0.25, 2))
        self.assertEqual(backtrack(batch, 0, np.ones(1), -np.ones(1), 1.0, 1.0, 1.0, 0.5), (0.5**41, 43))
        self.assertEqual(backtrack(batch, 0, np.full(1, 1e9), np.full(1, -1e20), 1.0, 1.0, 1.0, 0.5), (0.5**50, 51))

    def test_diameter_of_a_ring_and_of_one_agent(self):
        ring = np.roll(np.eye(7, dtype=bool), 1, axis=1)
        self.assertEqual(diameter(metropolis(ring | ring.T)), 3)
        self.assertEqual(diameter(np.ones((1, 1))), 0)


if __name__ == "__main__":
    unittest.main()
