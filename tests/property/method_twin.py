# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy twin of every algorithm and every step-size rule, beyond what gap_twin.py has for ATC.

Dense, slow and literal: one function per formula, then one class per algorithm and per rule that only keeps what
survives an iteration. Notation: W (K, M) the points whose gradients G are taken, A (K, K) weights, mu (K) steps.
Every recursion that GAP works on is W+ = P(X - diag(mu) Y), P = (1-c) I + c A, metric B = P^T P: X = W, but A W for
dgd and diging, and 2 W - psi for the primal form of exact diffusion, which is W+ = Wg (2 W - psi - diag(mu) G).
`python3 method_twin.py` runs its self-test.

Readings, where the formulas leave room:
- Order of an iteration: draw the sample, evaluate it, update trackers with the new gradient, choose steps, move.
  So Y_i = A(Y_{i-1} + G_i - G_{i-1}), with G_{i-1} as it was evaluated, on the sample of its own iteration.
- `adgd`, `barzilai-borwein`, `cap = "curvature"`: differences of gradients are those of the current sample at both
  points. The sources of the second are deterministic, so that nothing else is said there.
- `barzilai-borwein`, `adgd`: the previous step is the agent's own, before agreement. The limits of the former hold for
  its first step as well.
- `polyak`, `sps`, `decsps` on other recursions than ATC: y and what it is the gradient of, as for GAP.
- `decsps`: the ratchet c_{i-1} mu_{i-1} is that of the last step that was not 0.
- `cap = "curvature"`: 1e-2 at iteration 0; later 1.5 cap_k alone where there is no difference to divide by.
- `damping = "sketch"` where P = I: the step is the local Polyak step, which needs nobody's sketch.
- `optimum = "per-sample"` where values are tracked: the one number J(w^o).
- `kuruzov`: an agent's first trial of all is `first`, later growth times the network's last alpha.
- `next`: iteration 0 uses gamma itself.
- `quasi-newton`: iteration 0 evaluates the average of the starts and moves nobody from there. Without a step remembered the
  first trial is 1/max(1, ||g||) along -g, later 1 along -Hg, H scaled by the last s.z/z.z. A step is kept when s.z is above
  1e-16 ||s|| ||z||. A trial is accepted where the value falls by 1e-4 of what the slope promises, or where slopes say so (at most
  (2e-4 - 1) times the first) and the value rises by no more than 1e-12 of its size, and the slope is at least 0.9 times the
  first. Else it ends an interval: the lower end where it is too short, the upper one where it is too long; the next trial is
  where a line through the slopes at the trial and at the lower end vanishes, cut to 2 to 20 times the trial as long as
  there is no upper end, then to the inner 80% of the interval; without such a line, since it has to rise, 20 times or a
  quarter of the interval. Without a step remembered, the 7th, 9th, ... trial that is not accepted is followed by one at a
  tenth of the interval if the lower end was 0.
- `optimum = "estimate"`: level l_k = 0. An epoch is the largest max(50, ceil(N/b)) of all agents. e_k averages Jhat_k
  (where values are tracked: f_k) with rate 1/epoch, from its first value on. After the last iteration of an epoch:
  ebar_k = sum_l a_kl e_l; flag_k = 1 if e_k < 0.99 times what it was an epoch before (infinite before the first);
  progress_k is the largest flag of the neighbourhood. If ebar_k exceeds 1.05 times what it was at the last raise, that
  raise is taken back and the share, 1/2 at first, is halved; else, without progress, the level rises by
  share (ebar_k - level). A raise is taken back at most once, and an epoch that takes one back makes none. No level is
  above ebar_k.
- `auto`, the claims' watch: the way that an agent went is the largest of its squared distances within a window from
  where the window began, summed over agents like the claims. Both are compared before the step, in the middle and at
  the end of a window; that of the middle counts from the window's beginning.
- `auto`, the descent that remembers, in its first iteration t = 0: nothing is remembered yet, so that e_k is the gradient
  without the penalty, num the mean of l'^2 over the largest curvature, and den at least a tenth of the sum of q0^2.
  num and den forget that at t = 1, while a and b, 0 by then, forget nothing. rho_k stays where num_k or den_k is not
  above 0; as long as there is none the agent rests. lambda_k is 0 where b_k is. The averages are by A, and P mixes as
  much as in stage 0, also where that is more than agent-wise steps are proven for.
- `auto`, Newton's method: passes end after 1, 2, ... epochs, half an epoch later if models do not begin at 0, and the last one
  with the run if at least a tenth of the samples can be tested by then. The order of the samples is j s mod N, s the first number
  from 0.618034 N on that has no divisor in common with N.
- `auto`, other costs: their stage 1 watches ||g_k + d_k||^2/L_k with the new d_k, and a verdict, after the step, is that
  of the iterations before it.
"""

import math
import unittest
from dataclasses import dataclass

import numpy as np

import gap_twin
from gap_twin import moving, neighbourhoods, two_hop_weights

CAP_AT_START = 1e-2  # `cap = "curvature"`
SHORTEST_EPOCH = 50  # `optimum = "estimate"`
MOST_SHRINKS = 50
LOSSES = ("least-squares", "logistic", "huber", "smoothed-hinge", "poisson")  # of one prediction
FAR_OFF = 16  # of `auto`: a curvature this many times that of the trial is that of another place
FOLDS = 8
FORGETTING = 1 - 1 / 32
LONGEST = 4  # times 1/L_k, of costs that are functions
AUTO_GAP = {"bound": "tight", "damping": "rows", "project": True, "sweeps": 5, "relaxation": 1.5, "optimum": "zero",
            "exchange": "lists", "cap": None, "sums": "mixed", "agree": "none"}  # stage 0 of `auto`

RULE_DEFAULTS = {
    "constant": {"value": None},
    "decay": {"value": None, "power": 0.5},
    "schedule": {"value": None, "warmup": 0, "every": 0, "factor": 0.5, "steps": None},
    "polyak": {"optimum": "zero", "c": 1.0, "max": None},
    "sps": {"optimum": "zero", "c": 0.5, "max": None},
    "decsps": {"optimum": "zero", "c0": 1.0},
    "backtracking": {"growth": 2.0, "delta": 1.0, "shrink": 0.5, "first": 1.0, "reach": "neighbours"},
    "barzilai-borwein": {"kind": "long", "first": 1e-3, "min": 1e-6, "max": 10.0, "agree": "none"},
    "adgd": {"first": 1e-6, "agree": "none"},
    "gap": {"bound": "paper", "damping": "paper", "sweeps": 2, "project": False, "relaxation": 1.0, "optimum": "zero",
            "agree": "none", "cap": None, "sums": "mixed", "exchange": "lists", "sketch_size": 32,
            "products": "auto"},
}
ALGORITHM_DEFAULTS = {
    "atc": {}, "cta": {}, "dgd": {}, "extra": {}, "diging": {},
    "exact-diffusion": {"form": "dual", "mixing": 0.5},
    "gradient-tracking": {"rounds": 1},
    "next": {"gamma": 1.0, "theta": 0.01},
    "kuruzov": {"delta": 0.9, "growth": 1.0, "shrink": 0.5, "first": 1.0, "mixing": 0.45},
    "dadam": {"beta1": 0.9, "beta2": 0.999, "beta3": 0.9, "epsilon": 1e-4},
    "damsgrad": {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-4},
    "quasi-newton": {"memory": 20},
    "auto": {"mixing": None},  # None: the largest that is safe
}


# ---------------------------------------------------------------- recursions


def scaled(mu, Y):
    """diag(mu) Y."""
    return np.asarray(mu)[:, None] * Y


def mixing_matrix(A, c):
    """Wg = (1-c) I + c A; c = 1/2 is Abar."""
    return (1.0 - c) * np.eye(len(A)) + c * A


def largest_mixing(A, form):
    """`mixing = "auto"`: 1/(1 - lambda_min(A)) for the primal form, 1/(2 (1 - min a_kk)) for the dual one, at most 1."""
    least = np.linalg.eigvalsh(A)[0] if form == "primal" else 2.0 * np.min(np.diag(A)) - 1.0
    return 1.0 / (1.0 - min(0.0, least))


def move(P, X, mu, Y):
    """W+ = P(X - diag(mu) Y)."""
    return P @ (X - scaled(mu, Y))


def exact_diffusion_primal(Wg, W, psi, mu, G):
    """(W_i, psi_i): psi_i = W_{i-1} - mu G_{i-1}; W_i = Wg (psi_i + W_{i-1} - psi_{i-1})."""
    moved = W - scaled(mu, G)
    return Wg @ (moved + W - psi), moved


def exact_diffusion_dual(Wg, X, D, mu, G):
    """(X+, D+) with one step mu: D+ = D + (I-Wg)(X/mu - G - D); X+ = X - mu(G + D+)."""
    D = D + (np.eye(len(X)) - Wg) @ (X / mu - G - D)
    return X - mu * (G + D), D


def exact_diffusion_agents(Wg, X, D, mu, G):
    """(X+, D+): Y = X - Lambda(G+D); D_k += sum_l wg_kl (y_k - y_l)/max(mu_k, mu_l); X+ = X - Lambda(G + D+)."""
    Y = X - scaled(mu, G + D)
    D = D.copy()
    for k, l in np.argwhere(neighbourhoods(Wg)):
        larger = max(mu[k], mu[l])
        if k != l and larger > 0:
            D[k] += Wg[k, l] * (Y[k] - Y[l]) / larger
    return X - scaled(mu, G + D), D


def extra_first(A, W, mu, G):
    """W_1 = A W_0 - mu G_0."""
    return A @ W - scaled(mu, G)


def extra_next(A, W, G, before, G_before, mu):
    """W_{i+2} = (I+A) W_{i+1} - Abar W_i - mu (G_{i+1} - G_i)."""
    return W + A @ W - mixing_matrix(A, 0.5) @ before - scaled(mu, G - G_before)


def track_then_mix(P, Y, now, before):
    """Aug-DGM: Y+ = P(Y + G+ - G)."""
    return P @ (Y + now - before)


def mix_then_track(A, Y, now, before):
    """DIGing, NEXT: Y+ = A Y + G+ - G."""
    return A @ Y + now - before


def next_gamma(gamma, theta):
    """gamma_i = gamma_{i-1}(1 - theta gamma_{i-1})."""
    return gamma * (1.0 - theta * gamma)


def kuruzov_accepts(batch, k, x, g, trial, a, delta):
    """f(x+) <= f(x) + g.(x+ - x) + delta/(2a) ||x+ - x||^2, but for rounding."""
    before, d = batch.value(k, x), trial - x
    return batch.value(k, trial) <= before + g @ d + delta / (2 * a) * (d @ d) + 1e-12 * max(1.0, abs(before))


def kuruzov_search(batch, k, x, g, xh, dh, last, growth, delta, shrink):
    """(a, how often f_k was evaluated): growth * last, shrunk until x+ = xh - a dh is accepted, at most 50 times."""
    a = growth * last
    if a * (g @ g) < 1e4 * np.finfo(float).eps * max(1.0, abs(batch.value(k, x))):
        a = last
    for tried in range(MOST_SHRINKS):
        if kuruzov_accepts(batch, k, x, g, xh - a * dh, a, delta):
            return a, tried + 2
        a *= shrink
    return a, MOST_SHRINKS + 1


def kuruzov_move(X, Xh, Dh, alpha, G):
    """(X+, D+): X+ = Xh - alpha Dh; D+ = Dh + (X - Xh)/alpha - G."""
    return Xh - alpha * Dh, Dh + (X - Xh) / alpha - G


def lbfgs_direction(g, pairs):
    """-H g: H = V H V^T + s s^T/s.z for each remembered (s, z), the oldest first, V = I - s z^T/s.z, from s.z/z.z of the last."""
    if not pairs:
        return -g
    s, z = pairs[-1]
    H = (s @ z) / (z @ z) * np.eye(len(g))
    for s, z in pairs:
        V = np.eye(len(g)) - np.outer(s, z) / (s @ z)
        H = V @ H @ V.T + np.outer(s, s) / (s @ z)
    return -H @ g


def moment(beta, m, x):
    """m = beta m + (1 - beta) x."""
    return beta * m + (1.0 - beta) * x


def dadam_move(A, W, mu, m, vhat, epsilon):
    """w+ = sum_l a_kl w_l - mu m/(sqrt(vhat) + eps), coordinate by coordinate."""
    return A @ W - scaled(mu, m / (np.sqrt(vhat) + epsilon))


def damsgrad_move(A, W, mu, m, uh, epsilon):
    """x = A W; u = max(uh, eps); w+ = x - mu m/sqrt(u)."""
    return A @ W - scaled(mu, m / np.sqrt(np.maximum(uh, epsilon)))


def first_window(K, end=128):
    """e_0, doubled while K e_0 < 512."""
    while K * end < 512:
        end *= 2
    return end


def claimed(Z, cbar, mu):
    """-mu_k (2 cbar_k + (Z mu)_k): what an agent's step claims to win of the squared distance to a model that fits."""
    return -mu * (2.0 * cbar + Z @ mu)


def folded(E, signs):
    """(K, 8): q0_kj = sum of s_m e_km over m = j, j + 8, ..."""
    return np.array([[np.sum((signs * e)[j::FOLDS]) for j in range(FOLDS)] for e in E])


def met_by_the_network(P, q0):
    """sum_j (2 q0 (P q0) - (P q0)^2)_kj: the energy of q0 in the metric 2P - P^2, agent by agent."""
    q = P @ q0
    return np.sum(2.0 * q0 * q - q**2, axis=1)


def curvature_along(batch, k, w, g, a):
    """c = 2 (Jhat(w - a g) - Jhat(w) + a ||g||^2)/(a^2 ||g||^2); None where rounding would decide."""
    before, energy = batch.value(k, w), g @ g
    if a * energy < 1e4 * np.finfo(float).eps * max(1.0, abs(before)):
        return None
    with np.errstate(over="ignore"):
        return 2.0 * (batch.value(k, w - a * g) - before + a * energy) / (a**2 * energy)


def measured_curvature(batch, k, w, g, L, longest=1.0):
    """(L, c, trials): at a = longest/L, L raised 16-fold while c is above that times L."""
    for trials in range(1, MOST_SHRINKS + 1):
        c = curvature_along(batch, k, w, g, longest / L)
        if c is None or c <= FAR_OFF * L:
            return L, c, trials
        L *= FAR_OFF
    return L, None, MOST_SHRINKS


def first_curvature(batch, k, w, g, longest=1.0):
    """(L, trials) where no smoothness is known: three measurements from 1 on, none below what was far too small."""
    L, least, all_trials = 1.0, 0.0, 0
    for _ in range(3):
        before = L
        L, c, trials = measured_curvature(batch, k, w, g, before, longest)
        least = L if L > before else least
        L = max(least, c) if c is not None and c > 0 else L
        all_trials += trials
    return L, all_trials


def largest_curvature(L, c, t):
    """max(0.97 L, c) while t < 100, max(L, c) after that; L where there is no c."""
    if c is None:
        return L
    return max(0.97 * L, c) if t < 100 else max(L, c)


def secant(s, z, g):
    """||z|| / ||s||, z the difference of gradients over the move s; None where z is nothing but rounding of g."""
    return math.sqrt((z @ z) / (s @ s)) if s @ s > 0 and z @ z > 1e-16 * (g @ g) else None


# ---------------------------------------------------------------- rules


def decayed(i, value, power):
    """c/i^p, iterations counted from 1."""
    return value / (i + 1) ** power


def scheduled(i, value, warmup, every, factor):
    """value min(1, (i+1)/(warmup+1)) factor^floor(i/every)."""
    return value * min(1.0, (i + 1) / (warmup + 1)) * (factor ** (i // every) if every else 1.0)


def from_list(i, steps):
    """One step per iteration, the last one repeated."""
    return steps[min(i, len(steps) - 1)]


def polyak_ratio(values, optimum, G):
    """(f - l)/||g||^2, at least 0; g = 0: 0."""
    return gap_twin.polyak_steps(values, optimum, G, 1.0, None)


def barzilai_borwein(s, z, kind):
    """BB1 s.s/s.z (long) or BB2 s.z/z.z (short); None where s.z <= 0."""
    product = s @ z
    if product <= 0:
        return None
    return (s @ s) / product if kind == "long" else product / (z @ z)


def adgd_step(mu, theta, dw, dg):
    """min{sqrt(1+theta) mu, ||dw||/(2||dg||)}; the first alone where dg = 0."""
    growth, change = math.sqrt(1.0 + theta) * mu, np.linalg.norm(dg)
    return growth if change == 0 else min(growth, np.linalg.norm(dw) / (2.0 * change))


def curvature_cap(cap, dw, dg):
    """min(1.5 cap, 0.5 ||dw||/||dg||); the first alone where dw or dg is 0."""
    cap, moved, change = float(cap), np.linalg.norm(dw), np.linalg.norm(dg)
    return 1.5 * cap if moved == 0 or change == 0 else min(1.5 * cap, 0.5 * moved / change)


@dataclass
class View:
    """What a rule sees of one iteration of W+ = P(X - diag(mu) Y), with Y made of the gradients G at W."""

    i: int
    A: np.ndarray
    P: np.ndarray
    batch: gap_twin.Batch
    W: np.ndarray
    X: np.ndarray
    Y: np.ndarray
    G: np.ndarray
    value: np.ndarray  # Jhat_k(w_k), or the tracker f of the network's
    tracked: bool

    def is_diagonal(self):
        return np.array_equal(self.P, np.eye(len(self.P)))


class Rule:
    """A step-size rule; `choose(view)` gives mu and moves the state on. `values`: of the last line search."""

    def __init__(self, name, options, run):
        unknown = set(options) - set(RULE_DEFAULTS[name])
        if unknown:
            raise ValueError(f"options of {name} that the twin does not know: {sorted(unknown)}")
        self.o, self.run, self.K = {**RULE_DEFAULTS[name], **options}, run, len(run.A)
        self.values = None
        self.level = Level(run) if self.o.get("optimum") == "estimate" else None

    def optimum(self, view):
        """Jhat_k(w^o) as the option gives it."""
        given = self.o["optimum"]
        if given == "zero":
            return np.zeros(self.K)
        if given == "estimate":
            return self.level.level
        if given == "per-sample":
            return self.run.costs_at_optimum() if view.tracked else view.batch.values(np.tile(self.run.wo, (self.K, 1)))
        return np.broadcast_to(np.asarray(given, dtype=float), (self.K,)).copy()

    def observe(self, view):
        """After the steps of an iteration: what the estimate of the optimum learns."""
        if self.level is not None:
            self.level.observe(view)


class Common(Rule):
    """constant, decay, schedule: the same number for every agent."""

    def __init__(self, name, options, run):
        super().__init__(name, options, run)
        self.name = name

    def choose(self, view):
        o = self.o
        if self.name == "constant":
            step = o["value"]
        elif self.name == "decay":
            step = decayed(view.i, o["value"], o["power"])
        elif o["steps"] is not None:
            step = from_list(view.i, o["steps"])
        else:
            step = scheduled(view.i, o["value"], o["warmup"], o["every"], o["factor"])
        return np.full(self.K, float(step))


class Polyak(Rule):
    def choose(self, view):
        mu = gap_twin.polyak_steps(view.value, self.optimum(view), view.Y, self.o["c"], self.o["max"])
        self.observe(view)
        return mu


class DecSps(Rule):
    """(1/c_i) min{(f-l)/||g||^2, c_{i-1} mu_{i-1}}, c_i = c0 sqrt(i+1)."""

    def __init__(self, name, options, run):
        super().__init__(name, options, run)
        self.ratchet = np.full(self.K, np.inf)

    def choose(self, view):
        ratio = polyak_ratio(view.value, self.optimum(view), view.Y)
        lower = np.minimum(ratio, self.ratchet)
        self.ratchet = np.where(lower > 0, lower, self.ratchet)
        self.observe(view)
        return lower / (self.o["c0"] * math.sqrt(view.i + 1))


class Backtracking(Rule):
    def __init__(self, name, options, run):
        super().__init__(name, options, run)
        self.last = np.full(self.K, float(self.o["first"]))

    def choose(self, view):
        o = self.o
        found = [gap_twin.backtrack(view.batch, k, view.W[k], view.G[k], self.last[k], o["growth"], o["delta"],
                                    o["shrink"]) for k in range(self.K)]
        self.last = np.array([a for a, _ in found])
        self.values = sum(count for _, count in found)
        if o["reach"] == "neighbours":
            return gap_twin.agree(view.A, self.last, "min")
        return np.full(self.K, np.min(self.last))


class BarzilaiBorwein(Rule):
    def __init__(self, name, options, run):
        super().__init__(name, options, run)
        self.own, self.before = np.full(self.K, self.clipped(self.o["first"])), None

    def clipped(self, step):
        return min(max(step, self.o["min"]), self.o["max"])

    def choose(self, view):
        o = self.o
        if self.before is not None:
            G = view.batch.gradients(self.before)
            for k in range(self.K):
                step = barzilai_borwein(view.W[k] - self.before[k], view.G[k] - G[k], o["kind"])
                if step is not None:
                    self.own[k] = self.clipped(step)
        self.before = view.W.copy()
        return gap_twin.agree(view.A, self.own.copy(), o["agree"])


class Adgd(Rule):
    def __init__(self, name, options, run):
        super().__init__(name, options, run)
        self.own, self.theta, self.before = np.full(self.K, float(self.o["first"])), np.full(self.K, 1e9), None

    def choose(self, view):
        if self.before is not None:
            G = view.batch.gradients(self.before)
            for k in range(self.K):
                mu = adgd_step(self.own[k], self.theta[k], view.W[k] - self.before[k], view.G[k] - G[k])
                self.theta[k], self.own[k] = mu / self.own[k], mu
        self.before = view.W.copy()
        return gap_twin.agree(view.A, self.own.copy(), self.o["agree"])


class Level:
    """`optimum = "estimate"`, as the module says."""

    def __init__(self, run):
        K = len(run.A)
        self.A, self.epoch = run.A, max(SHORTEST_EPOCH, math.ceil(run.H.shape[1] / run.batch_size))
        self.level, self.average, self.epoch_before = np.zeros(K), None, np.full(K, np.inf)
        self.share, self.at_raise, self.before_raise = np.full(K, 0.5), np.full(K, np.inf), np.zeros(K)

    def observe(self, view):
        if self.average is None:
            self.average = view.value
        else:
            self.average = self.average + (view.value - self.average) / self.epoch
        if (view.i + 1) % self.epoch == 0:
            self.end_epoch()

    def end_epoch(self):
        ebar = self.A @ self.average
        flag = self.average < 0.99 * self.epoch_before
        self.epoch_before = self.average
        for k, near in enumerate(neighbourhoods(self.A)):
            if ebar[k] > 1.05 * self.at_raise[k]:
                self.level[k], self.at_raise[k] = self.before_raise[k], np.inf
                self.share[k] /= 2
            elif not np.any(flag[near]):
                self.before_raise[k], self.at_raise[k] = self.level[k], ebar[k]
                self.level[k] += self.share[k] * (ebar[k] - self.level[k])
        self.level = np.minimum(self.level, ebar)


class Gap(Rule):
    def __init__(self, name, options, run):
        super().__init__(name, options, run)
        K = self.K
        self.S, self.r = np.zeros(K), np.zeros(K)  # cap = "distance"
        self.cap, self.before, self.start = np.full(K, CAP_AT_START), None, None  # cap = "curvature"

    def cbar(self, view, B):
        """The bound on c_k = sum_l b_kl y_k.(w^o - x_l)."""
        bound, optimum = self.o["bound"], self.optimum(view)
        drift = np.sum(view.Y * (view.W - B @ view.X), axis=1)
        if bound == "oracle":
            return gap_twin.bound_oracle(B, view.X, view.Y, self.run.wo)
        if bound == "paper":
            return gap_twin.bound_paper(B, view.X, view.batch, optimum)
        if bound == "linear":
            return optimum - view.value + drift
        if view.batch.loss == "least-squares" and view.batch.l2 == 0:
            return 2.0 * (optimum - view.value) + drift
        L, energy = view.batch.smoothness(), np.sum(view.G**2, axis=1)  # tight
        return optimum - view.value + drift - np.divide(energy, 2 * L, out=np.zeros_like(L), where=L > 0)

    def alpha(self, view, B):
        damping, Y = self.o["damping"], view.Y
        if damping == "graph":
            return gap_twin.damping_graph(B, Y, self.run.lambda_B or gap_twin.graph_lambda(B))
        if damping == "sketch" and view.is_diagonal():
            return gap_twin.damping_rows(B, Y)
        if damping == "sketch":
            return gap_twin.damping_sketch(B, Y, self.run.sketch)
        return {"paper": gap_twin.damping_paper, "rows": gap_twin.damping_rows,
                "norms": gap_twin.damping_norms}[damping](B, Y)

    def limit(self, view, B):
        """cap_k of this iteration; moves what it is made of on."""
        cap = self.o["cap"]
        if cap == "distance":
            self.start = view.W.copy() if self.start is None else self.start
            self.S = gap_twin.accumulate_energy(view.A, self.S, gap_twin.surviving_energy(B, view.Y), self.o["sums"])
            self.r = gap_twin.accumulate_radius(view.A, self.r, np.linalg.norm(view.W - self.start, axis=1))
            return gap_twin.distance_cap(self.r, self.S) if view.i >= gap_twin.CAP_STARTS_AT else np.inf
        if cap == "curvature":
            if self.before is not None:
                dW, dG = view.W - self.before, view.G - view.batch.gradients(self.before)
                own = [curvature_cap(c, dw, dg) for c, dw, dg in zip(self.cap, dW, dG)]
                self.cap = np.full(self.K, np.min(own))
            self.before = view.W.copy()
            return self.cap
        if isinstance(cap, dict):
            return cap["gamma"] / math.sqrt(view.i + 1)
        return np.inf if cap is None else float(cap)

    def choose(self, view):
        o, B = self.o, two_hop_weights(view.P)
        cbar = self.cbar(view, B)
        if o["sweeps"] == "exact":
            mu = gap_twin.exact_steps(gap_twin.gram(B, view.Y), cbar, moving(view.Y))
        else:
            mu = gap_twin.sweeps(view.P, view.Y, self.alpha(view, B), cbar, o["sweeps"], o["project"], o["exchange"])
        mu = np.minimum(o["relaxation"] * mu, self.limit(view, B))
        self.observe(view)
        return gap_twin.agree(view.A, mu, o["agree"])


RULES = {"constant": Common, "decay": Common, "schedule": Common, "polyak": Polyak, "sps": Polyak, "decsps": DecSps,
         "backtracking": Backtracking, "barzilai-borwein": BarzilaiBorwein, "adgd": Adgd, "gap": Gap}


# ---------------------------------------------------------------- algorithms


class Algorithm:
    """`step(i, batch, rule)` moves W on and gives the steps; `values` counts those of its own line search."""

    def __init__(self, options, A, start):
        self.o, self.A, self.W, self.values = options, A, start.copy(), None
        self.I = np.eye(len(A))

    def view(self, i, batch, W, X, Y, G, P, value=None):
        return View(i, self.A, P, batch, W, X, Y, G, batch.values(W) if value is None else value, value is not None)


class Atc(Algorithm):
    def step(self, i, batch, rule):
        G = batch.gradients(self.W)
        mu = rule.choose(self.view(i, batch, self.W, self.W, G, G, self.A))
        self.W = move(self.A, self.W, mu, G)
        return mu


class Cta(Algorithm):
    """Psi = A W; W+ = Psi - diag(mu) grad(Psi)."""

    def step(self, i, batch, rule):
        psi = self.A @ self.W
        G = batch.gradients(psi)
        mu = rule.choose(self.view(i, batch, psi, psi, G, G, self.I))
        self.W = move(self.I, psi, mu, G)
        return mu


class Dgd(Algorithm):
    """W+ = A W - diag(mu) grad(W)."""

    def step(self, i, batch, rule):
        X, G = self.A @ self.W, batch.gradients(self.W)
        mu = rule.choose(self.view(i, batch, self.W, X, G, G, self.I))
        self.W = move(self.I, X, mu, G)
        return mu


class ExactDiffusion(Algorithm):
    def __init__(self, options, A, start):
        super().__init__(options, A, start)
        self.Wg, self.psi, self.D = mixing_matrix(A, options["mixing"]), start.copy(), np.zeros_like(start)

    def step(self, i, batch, rule):
        G = batch.gradients(self.W)
        if self.o["form"] == "primal":
            mu = rule.choose(self.view(i, batch, self.W, 2 * self.W - self.psi, G, G, self.Wg))
            self.W, self.psi = exact_diffusion_primal(self.Wg, self.W, self.psi, mu, G)
        else:
            mu = rule.choose(self.view(i, batch, self.W, self.W, G + self.D, G, self.Wg))
            self.W, self.D = exact_diffusion_agents(self.Wg, self.W, self.D, mu, G)
        return mu


class Extra(Algorithm):
    def __init__(self, options, A, start):
        super().__init__(options, A, start)
        self.before = None

    def step(self, i, batch, rule):
        G = batch.gradients(self.W)
        mu = rule.choose(self.view(i, batch, self.W, self.W, G, G, self.A))
        if self.before is None:
            after = extra_first(self.A, self.W, mu, G)
        else:
            after = extra_next(self.A, self.W, G, *self.before, mu)
        self.W, self.before = after, (self.W, G)
        return mu


class Tracking(Algorithm):
    """Trackers Y of the gradient and f of the value: Y_0 = G_0, f_0 = J(W_0); f+ = A(f + J(W+) - J(W))."""

    def __init__(self, options, A, start):
        super().__init__(options, A, start)
        self.before, self.Y, self.f = None, None, None

    def track(self, batch, mix):
        G, J = batch.gradients(self.W), batch.values(self.W)
        if self.before is None:
            self.Y, self.f = G, J
        else:
            self.Y = mix(self.Y, G, self.before[0])
            self.f = track_then_mix(self.A, self.f, J, self.before[1])
        self.before = (G, J)
        return G


class GradientTracking(Tracking):
    """W+ = A^R(W - diag(mu) Y); Y+ = A^R(Y + G+ - G)."""

    def step(self, i, batch, rule):
        P = np.linalg.matrix_power(self.A, self.o["rounds"])
        G = self.track(batch, lambda Y, now, before: track_then_mix(P, Y, now, before))
        mu = rule.choose(self.view(i, batch, self.W, self.W, self.Y, G, P, self.f))
        self.W = move(P, self.W, mu, self.Y)
        return mu


class Diging(Tracking):
    """W+ = A W - diag(mu) Y; Y+ = A Y + G+ - G."""

    def step(self, i, batch, rule):
        G = self.track(batch, lambda Y, now, before: mix_then_track(self.A, Y, now, before))
        X = self.A @ self.W
        mu = rule.choose(self.view(i, batch, self.W, X, self.Y, G, self.I, self.f))
        self.W = move(self.I, X, mu, self.Y)
        return mu


class Next(Tracking):
    """z_k = w_k - (gamma_i/tau) y_k; W+ = A Z; Y+ = A Y + G+ - G."""

    def __init__(self, options, A, start):
        super().__init__(options, A, start)
        self.gamma = options["gamma"]

    def step(self, i, batch, rule):
        G = self.track(batch, lambda Y, now, before: mix_then_track(self.A, Y, now, before))
        mu = self.gamma * rule.choose(self.view(i, batch, self.W, self.W, self.Y, G, self.A, self.f))
        self.W = move(self.A, self.W, mu, self.Y)
        self.gamma = next_gamma(self.gamma, self.o["theta"])
        return mu


class Kuruzov(Algorithm):
    def __init__(self, options, A, start):
        super().__init__(options, A, start)
        self.Wg, self.D, self.last = mixing_matrix(A, options["mixing"]), np.zeros_like(start), options["first"]

    def step(self, i, batch, rule):
        o, X, G = self.o, self.W, batch.gradients(self.W)
        Xh, Dh = self.Wg @ X, self.Wg @ (G + self.D)
        growth = o["growth"] if i > 0 else 1.0
        found = [kuruzov_search(batch, k, X[k], G[k], Xh[k], Dh[k], self.last, growth, o["delta"], o["shrink"])
                 for k in range(len(X))]
        self.last, self.values = min(a for a, _ in found), sum(count for _, count in found)
        self.W, self.D = kuruzov_move(X, Xh, Dh, self.last, G)
        return np.full(len(X), self.last)


class Search:
    """The search for a step a along a direction with this slope, from a value; `scaled`: a is about 1."""

    def __init__(self, value, slope, a, scaled):
        self.value, self.slope, self.a, self.low, self.high = value, slope, a, (0.0, slope), None
        self.scaled, self.tries = scaled, 0

    def accepts(self, value, slope):
        """Takes what was found at a; else the next a is there."""
        finite = np.isfinite(value) and np.isfinite(slope)
        falls = value <= self.value + 1e-4 * self.a * self.slope
        falls_by_slope = slope <= (2e-4 - 1) * self.slope and value <= self.value + 1e-12 * abs(self.value)
        lower = finite and (falls or falls_by_slope)
        if lower and slope >= 0.9 * self.slope:
            return True
        root = np.inf
        if finite and slope > self.low[1]:
            root = self.a - slope * (self.a - self.low[0]) / (slope - self.low[1])
        if not self.scaled and self.tries >= 6 and self.tries % 2 == 0 and self.low[0] == 0:
            root = 0.0
        self.tries += 1
        if lower:
            self.low = (self.a, slope)
        else:
            self.high = self.a
        if self.high is None:
            self.a = np.clip(root, 2 * self.a, 20 * self.a)
        else:
            width = self.high - self.low[0]
            inner = np.clip(root, self.low[0] + 0.1 * width, self.high - 0.1 * width)
            self.a = inner if np.isfinite(root) else self.low[0] + 0.25 * width
        return False


class QuasiNewton(Algorithm):
    """L-BFGS on the mean of all costs, one evaluation an iteration, at W[0] + a d; all rows of W are the last accepted point."""

    def __init__(self, options, A, start):
        super().__init__(options, A, start)
        self.pairs, self.mu, self.values = [], 0.0, len(A)

    def step(self, i, batch, rule):
        at = np.mean(self.W, axis=0) if i == 0 else self.W[0] + self.search.a * self.d
        everywhere = np.tile(at, (len(self.W), 1))
        value, g = np.mean(batch.values(everywhere)), np.mean(batch.gradients(everywhere), axis=0)
        if i == 0 or self.search.accepts(value, g @ self.d):
            if i > 0:
                self.mu = self.search.a
                self.remember(at - self.W[0], g - self.g)
            self.W, self.g = everywhere, g
            self.d = lbfgs_direction(g, self.pairs)
            first = 1.0 if self.pairs else 1.0 / max(1.0, np.linalg.norm(g))
            self.search = Search(value, g @ self.d, first, bool(self.pairs))
        return np.full(len(self.W), self.mu)

    def remember(self, s, z):
        if s @ z > 1e-16 * np.linalg.norm(s) * np.linalg.norm(z):
            self.pairs = (self.pairs + [(s, z)])[-self.o["memory"]:]


class SlopeSearch:
    """The search for the point on a line where a convex cost stops to fall, eight points at a time; `at`: where to look next."""

    def __init__(self, value, slope):
        self.value, self.slope, self.low, self.high = value, slope, (0.0, slope), None
        self.best, self.looks, self.at = (abs(slope), 0.0), 0, 4.0 ** np.arange(-3, 5)

    def ends(self, values, slopes):
        """Takes what was found there; else the next points are there."""
        for a, value, slope in zip(self.at, values, slopes):
            if np.isfinite(slope) and value <= self.value + 1e-12 * abs(self.value) and abs(slope) < self.best[0]:
                self.best = abs(slope), a
            if np.isfinite(slope) and slope < 0:
                self.low = max(self.low, (a, slope))
            elif self.high is None or a < self.high[0]:
                self.high = a, slope
        self.looks += 1
        flat = self.high is not None and self.best[0] <= 0.05 * abs(self.slope)
        if self.best[0] == 0 or flat or self.looks == 6:
            return True
        self.at = self.next_points()
        return False

    def next_points(self):
        if self.high is None:
            return self.low[0] * 4.0 ** np.arange(1, 9)
        if self.low[0] == 0:
            return self.high[0] * np.append(0.5 ** np.arange(8, 1, -1), 0.75)
        width = self.high[0] - self.low[0]
        at = self.low[0] + np.arange(1, 9) / 9 * width
        root = self.low[0] - self.low[1] * width / (self.high[1] - self.low[1])
        if self.low[0] < root < self.high[0]:
            at[4] = root
        return at


class Newton:
    """Newton's method on the mean of all costs, a pass over all samples at a time; all agents are at `w`.

    `looks`, `summed`: how often points were looked at along the line in the last pass, and whether its matrix is a new
    sum; `corrected`: whether a matrix ever was not.
    """

    def __init__(self, A, W, whole):
        self.A, self.whole, self.w, self.matrices, self.move = A, whole, np.mean(W, axis=0), 0, None
        self.looks, self.summed, self.corrected, self.rests = 0, False, False, False

    def step(self, i, tested):
        """mu of a pass that ends with iteration i, and chooses it on this share of the samples."""
        batch, (K, N, M) = self.whole, self.whole.h.shape
        everywhere = np.tile(self.w, (K, 1))
        value, g = np.mean(batch.values(everywhere)), np.mean(batch.gradients(everywhere), axis=0)
        links = np.sum(gap_twin.neighbourhoods(self.A)) - K
        self.summed = self.matrices == 0 or (self.matrices + 1) * (K - 1) * (M + 1) <= 0.5 * links * (i + 1)
        if self.summed:
            c = gap_twin.loss_curvature(batch.loss, batch.h @ self.w, batch.y, batch.delta)
            self.H = np.einsum("kn,kni,knj->ij", c, batch.h, batch.h) / (K * N)  # without the penalty
            self.matrices += 1
        else:
            self.correct(self.move, g - self.g - batch.l2 * self.move)
        self.g, p = g, -np.linalg.solve(self.H + batch.l2 * np.eye(M), g)
        self.first, is_exact, self.looks = value if self.move is None else self.first, batch.loss == "least-squares", 0
        lost = -(g @ p) <= max(1e-12 * abs(value), 1e-24 * self.first if is_exact else 0)
        untested = tested < 1 and is_exact
        mu = 1.0 if lost or untested else self.search(value, g @ p, p, tested)
        self.move = mu * p
        self.w = self.w + self.move
        self.rests = lost or mu == 0 or np.linalg.norm(self.move) <= np.finfo(float).eps * np.linalg.norm(self.w - self.move)
        return mu

    def correct(self, s, z):
        """BFGS."""
        self.corrected = True
        Hs = self.H @ s
        self.H = self.H + np.outer(z, z) / (s @ z) - np.outer(Hs, Hs) / (s @ Hs)

    def search(self, value, slope, p, tested):
        """a at which the slope along p vanishes; samples that are not tested count as at the start, but their slope may make up for a loss up to a = 1."""
        batch, N = self.whole, self.whole.h.shape[1]
        stride = max(1, int(0.618034 * N))
        while math.gcd(stride, N) != 1:
            stride += 1
        chosen = np.arange(math.ceil(tested * N)) * stride % N
        some = gap_twin.Batch(batch.h[:, chosen], batch.y[:, chosen], batch.loss, batch.l2, batch.delta)

        def look(a):
            everywhere = np.tile(self.w + a * p, (len(batch.h), 1))
            return np.mean(some.values(everywhere)), np.mean(some.gradients(everywhere), axis=0) @ p

        start = look(0.0)
        self.looks, search = int(tested < 1), SlopeSearch(value, slope)
        found = False
        while not found:
            self.looks += 1
            values, slopes = zip(*(look(a) for a in search.at))
            rest = value - start[0] + np.where(search.at <= 1, search.at, 0) * min(slope - start[1], 0)
            found = search.ends(np.array(values) + rest, np.array(slopes) + slope - start[1])
        return search.best[1]


class Dadam(Algorithm):
    """m, v, vhat = b3 vhat + (1-b3) max(vhat, v), all from 0."""

    def __init__(self, options, A, start):
        super().__init__(options, A, start)
        self.m, self.v, self.vhat = np.zeros((3,) + start.shape)

    def step(self, i, batch, rule):
        o, G = self.o, batch.gradients(self.W)
        mu = rule.choose(self.view(i, batch, self.W, self.A @ self.W, G, G, self.I))
        self.m, self.v = moment(o["beta1"], self.m, G), moment(o["beta2"], self.v, G**2)
        self.vhat = moment(o["beta3"], self.vhat, np.maximum(self.vhat, self.v))
        self.W = dadam_move(self.A, self.W, mu, self.m, self.vhat, o["epsilon"])
        return mu


class Damsgrad(Algorithm):
    """m, v from 0, vhat = max(vhat, v) and its consensus u~ from epsilon: uh = A u~; u~ = uh - vhat_old + vhat_new."""

    def __init__(self, options, A, start):
        super().__init__(options, A, start)
        self.m, self.v = np.zeros((2,) + start.shape)
        self.vhat, self.u = np.full((2,) + start.shape, options["epsilon"])

    def step(self, i, batch, rule):
        o, G = self.o, batch.gradients(self.W)
        mu = rule.choose(self.view(i, batch, self.W, self.A @ self.W, G, G, self.I))
        self.m, self.v = moment(o["beta1"], self.m, G), moment(o["beta2"], self.v, G**2)
        uh, largest = self.A @ self.u, np.maximum(self.vhat, self.v)
        self.W = damsgrad_move(self.A, self.W, mu, self.m, uh, o["epsilon"])
        self.u, self.vhat = uh - self.vhat + largest, largest
        return mu


class Watch:
    """Whether numbers x (K) still fall: windows [e/2, e), late half against early half, summed over the network."""

    def __init__(self, K, first=128):
        self.n, self.end, self.early, self.late = 0, first_window(K, first), 0.0, 0.0

    def ratio(self):
        """q at n = e, None at other times; the next window follows."""
        if self.n != self.end:
            return None
        q = self.late / self.early if self.early != 0 else 0.0
        self.end, self.early, self.late = 2 * self.end, 0.0, 0.0
        return q

    def see(self, x):
        if self.n >= 3 * self.end // 4:
            self.late += np.sum(x)
        elif self.n >= self.end // 2:
            self.early += np.sum(x)
        self.n += 1


class Claims:
    """Whether what GAP claims to win is kept; windows end at 32, 64, 128, ... iterations. `below`: whether a cost was ever below 0."""

    def __init__(self, start):
        self.n, self.begin, self.end, self.half, self.below = 0, 0, 32, 0.0, False
        self.open(start)

    def open(self, W):
        self.start, self.claimed, self.went = W.copy(), 0.0, np.zeros(len(W))

    def asks(self):
        """Before a step: whether sums over the network are made."""
        return self.n in ((self.begin + self.end) // 2, self.end)

    def broken(self, W):
        """Where sums were asked for: the verdict on a window at its end."""
        if self.below:
            return True
        way = np.sum(self.went)
        ratio = self.claimed / way if way > 0 else 0.0
        if self.n < self.end:
            self.half = ratio
            return False
        if ratio > 3 and ratio > 1.25 * self.half:
            return True
        self.begin, self.end = self.end, 2 * self.end
        self.open(W)
        return False

    def see(self, claims, W):
        """After a step to W."""
        self.claimed += np.sum(claims)
        self.went = np.maximum(self.went, np.sum((W - self.start) ** 2, axis=1))
        self.n += 1


class Remembering:
    """Dual exact diffusion that remembers samples: (w, gradient without a linear model's penalty) of each when it was last drawn.

    `curvature`: that of costs which are functions, None for linear models; it limits steps, and samples' gradients have their penalty.
    `ends`: whether the run has a known end.
    `t`: its iterations; `gradients`, `values`: how many the last one evaluated; `lambdas`: of the last one; `limited`: whether L_k
    ever limited a step.
    """

    def __init__(self, A, P, start, curvature, ends):
        K = len(A)
        self.A, self.P, self.t, self.start, self.curvature, self.ends = A, P, 0, start.copy(), curvature, ends
        self.D, self.rho, self.memory = np.zeros_like(start), np.zeros(K), [{} for _ in range(K)]
        self.num, self.den, self.a, self.b, self.first = np.zeros((5, K))
        self.gradients, self.values, self.lambdas, self.limited = 0, 0, np.zeros(K), False

    def step(self, W, batch, signs, share):
        """(W, mu) after an iteration of this share of the step."""
        K = len(W)
        self.gradients, self.values = K, 0
        E, num, a, b = self.look_at_batches(W, batch)
        if self.curvature is not None:
            G = batch.gradients(W)
            self.values = K + self.curvature.update(W, G, batch)
            num = np.where(self.rho == 0, np.sum(G**2, axis=1) / self.curvature.L, num)
        q0 = folded(E, signs)
        den = met_by_the_network(self.P, q0)
        den = np.where(self.rho == 0, np.maximum(den, 0.1 * np.sum(q0**2, axis=1)), den)
        self.gossip(num, den, a, b)
        self.lambdas = np.clip(np.divide(self.a, self.b, out=np.zeros(K), where=self.b > 0), 0, 1)
        V = np.array([self.estimate(k, w, batch) for k, w in enumerate(W)])
        ramp = share * min(1.0, (self.t + 1) / 8) * (0.5 if self.curvature is not None and not self.ends else 1.0)
        mu = np.array([ramp / (rho + self.penalty(batch)) if rho > 0 else 0.0 for rho in self.rho])
        if self.curvature is not None:
            chosen, mu = mu, self.curvature.limited(mu, ramp * min(1.0, K / 4))
            self.limited = self.limited or np.any(mu < chosen)
        W, self.D = exact_diffusion_agents(self.P, W, self.D, mu, V)
        self.t += 1
        return W, mu

    def penalty(self, batch):
        """The weight of the penalty that is not a part of samples' gradients."""
        return batch.l2 if self.curvature is None else 0.0

    def gossip(self, num, den, a, b):
        kept = 0.0 if self.t == 1 else FORGETTING
        self.num, self.den = self.A @ (num + kept * self.num), self.A @ (den + kept * self.den)
        self.a, self.b = self.A @ (a + FORGETTING * self.a), self.A @ (b + FORGETTING * self.b)
        on = (self.num > 0) & (self.den > 0)
        found = np.divide(self.den, self.num, out=np.zeros(len(on)), where=on)
        self.first = np.where(on & (self.first == 0), found, self.first)
        self.rho[on] = np.maximum(found, self.first / 64)[on]

    def look_at_batches(self, W, batch):
        """(E, num, a, b) of batches: what their gradients have changed since each sample was drawn last."""
        seen = [self.look_at_batch(k, w, batch) for k, w in enumerate(W)]
        if self.t > 0:  # at the start, too
            self.gradients += sum(any(n not in self.memory[k] for n in drawn) for k, drawn in enumerate(batch.index))
        return tuple(np.array(x) for x in zip(*seen))

    def gradient_of(self, batch, h, y, w):
        return batch.slope(h @ w, y) * h + (0.0 if self.curvature is None else batch.l2 * w)

    def look_at_batch(self, k, w, batch):
        size, e, num, a, b = len(batch.y[k]), np.zeros_like(w), 0.0, 0.0, 0.0
        for n, h, y in zip(batch.index[k], batch.h[k], batch.y[k]):
            g = self.gradient_of(batch, h, y, w)
            if n in self.memory[k]:
                before, alpha = self.memory[k][n]
                a += g @ alpha / size
                b += alpha @ alpha / size
            else:
                before, alpha = self.start[k], self.gradient_of(batch, h, y, self.start[k])
            if self.rho[k] == 0:
                e += g / size
                num += batch.slope(h @ w, y) ** 2 / gap_twin.loss_curvature_bound(batch.loss) / size
            else:
                e += (g - alpha) / size
                num += (g - alpha) @ (w - before) / size
        return e, num, a, b

    def estimate(self, k, w, batch):
        """v_k = mean_b [g - lambda_k (alpha - abar_k)] + the penalty's; then the batch is remembered."""
        memory, size, v = self.memory[k], len(batch.y[k]), self.penalty(batch) * w
        abar = np.mean([alpha for _, alpha in memory.values()], axis=0) if memory else None
        for n, h, y in zip(batch.index[k], batch.h[k], batch.y[k]):
            v = v + self.gradient_of(batch, h, y, w) / size
            if n in memory:
                v = v - self.lambdas[k] * (memory[n][1] - abar) / size
        for n, h, y in zip(batch.index[k], batch.h[k], batch.y[k]):
            memory[n] = (w.copy(), self.gradient_of(batch, h, y, w))
        return v


class Curvature:
    """L_k, the largest curvature that each agent has met along its gradients, in trials of longest/L_k. `raised`: whether one was ever far too long."""

    def __init__(self, K, longest=1.0):
        self.L, self.t, self.raised, self.longest = np.ones(K), 0, False, longest

    def update(self, W, G, batch):
        """Returns how many values were tried."""
        values = 0
        for k, (w, g) in enumerate(zip(W, G)):
            if self.t == 0:
                self.L[k], trials = first_curvature(batch, k, w, g, self.longest)
                values += trials
            L, c, trials = measured_curvature(batch, k, w, g, self.L[k], self.longest)
            self.L[k] = largest_curvature(L, c, self.t if self.longest == 1 else 100)
            values, self.raised = values + trials, self.raised or trials > 1
        self.t += 1
        return values

    def limited(self, mu, share):
        """Steps of at most longest share/L_k."""
        return np.minimum(mu, self.longest * share / self.L)


class Corrected:
    """Dual exact diffusion with steps share/L_k that every agent finds for itself, of costs without a smoothness.

    No move along G + D is longer than `reach`. `t`: its iterations; `values`: how many the last one tried; `cut`: whether
    a move was ever cut.
    """

    def __init__(self, A, start, reach):
        K = len(A)
        self.Wg, self.t, self.D, self.last = mixing_matrix(A, 0.5), 0, np.zeros_like(start), None
        self.along_gradients, self.along_moves, self.L = Curvature(K), np.zeros(K), np.zeros(K)
        self.values, self.reach, self.cut = 0, reach, False

    def step(self, W, batch, exact, share):
        """(W, mu) after an iteration."""
        G = batch.gradients(W)
        self.values = self.along_gradients.update(W, G, batch)
        if exact and self.t > 0:
            secants = [secant(w - v, g - h, g) for w, v, g, h in zip(W, self.last[0], G, self.last[1])]
            self.along_moves = np.array([largest_curvature(L, c, self.t) for L, c in zip(self.along_moves, secants)])
        self.last = W.copy(), G
        self.L = np.maximum(self.along_gradients.L, self.along_moves)
        mu = share / self.L
        length = np.linalg.norm(G + self.D, axis=1)
        far = mu * length > self.reach
        mu[far] = np.broadcast_to(self.reach, mu.shape)[far] / length[far]
        self.cut = self.cut or bool(far.any())
        W, self.D = exact_diffusion_agents(self.Wg, W, self.D, mu, G)
        self.t += 1
        return W, mu


class Auto(Algorithm):
    """With full gradients: L-BFGS on sums. By batches, if the end of the run is known and far enough: passes of Newton's method from
    iteration `passes_begin` on, one per epoch; with more than 1000 numbers L-BFGS on sums from iteration `turn` on. Else, stage 0: GAP on exact diffusion while its claims are kept and losses fall. Stage 1: a descent that remembers, for losses whose
    curvature is bounded; of others one with 1/L_k, and stage 2 the same with falling steps.

    Of the last iteration: `asked`, how many numbers were summed over the network each time; `values` and `gradients`, evaluated;
    `evaluation`, the number of the evaluation of all samples that it made, None where it made none.
    """

    def __init__(self, options, A, start):
        super().__init__(options, A, start)
        c = largest_mixing(A, "primal") if options["mixing"] is None else options["mixing"]
        self.P, self.psi, self.start, self.claims = mixing_matrix(A, c), start.copy(), start, Claims(start)
        self.gap, self.curvature, self.limited, self.worse, self.compared = None, None, False, False, np.zeros(2)
        self.stage, self.left_at, self.descent, self.watch, self.tau = 0, None, None, Watch(len(A)), 0
        self.losses, self.asked, self.gradients = Watch(len(A), 32), [], 0
        self.sums = QuasiNewton(ALGORITHM_DEFAULTS["quasi-newton"], A, start)
        self.turn, self.mu, self.evaluation = None, None, None
        self.passes_begin, self.newton, self.tested = None, None, []

    def step(self, i, batch, rule):
        self.mu = self.chosen(i, batch, rule)
        return self.mu

    def share_tested(self, left):
        """Of all samples, by the last pass, when so many iterations are left for it."""
        return (left - self.epoch / 2) / (self.epoch / 2)

    def plan_newton(self):
        """The iteration from which on there are passes of Newton's method; None: there are none."""
        epoch, numbers = self.epoch, self.W.shape[1]
        if epoch == 1 or numbers > 1000 or (numbers > 200 and self.iterations < 5 * epoch):
            return None
        begin = (epoch + 1) // 2 if self.W.any() else 0
        left = self.iterations - begin
        return begin if left >= epoch or self.share_tested(left) >= 0.1 else None

    def pass_of_newton(self, i):
        self.evaluation, self.values, self.gradients = None, 0, 0
        since = i + 1 - self.passes_begin
        whole = since > 0 and since % self.epoch == 0
        tested = 1.0 if whole else self.share_tested(since % self.epoch)
        ends = whole or (since > 0 and i + 1 == self.iterations and tested >= 0.1)
        if not ends or (self.newton is not None and self.newton.rests):
            return np.zeros(len(self.W)) if self.mu is None else self.mu
        if self.newton is None:
            self.newton = Newton(self.A, self.W, self.whole)
        mu = self.newton.step(i, tested)
        self.tested.append(tested)
        self.evaluation, self.values = len(self.tested) - 1, self.epoch * len(self.W)
        self.gradients = self.values * (1 + self.newton.summed)
        self.W = np.tile(self.newton.w, (len(self.W), 1))
        return np.full(len(self.W), mu)

    def plan(self, bounded):
        """The iteration from which on gradients are whole; None: they never are."""
        epoch = self.epoch
        if epoch > 1 and self.iterations < 8 * epoch:
            return None
        return 3 * epoch + self.iterations % epoch if bounded and epoch > 1 else 0

    def chosen(self, i, batch, rule):
        bounded = gap_twin.loss_curvature_bound(batch.loss) < np.inf
        if i == 0:
            self.gap = Gap("gap", {**AUTO_GAP, "bound": "linear"} if self.own else AUTO_GAP, self)
            self.curvature = Curvature(len(self.W), LONGEST) if self.own else None
        if i == 0 and self.iterations > 0 and not self.exact and not self.own:
            self.passes_begin = self.plan_newton()
        if self.passes_begin is not None:
            return self.pass_of_newton(i)
        if i == 0 and (self.exact or self.iterations > 0) and not self.own:
            self.turn = self.plan(bounded)
        if self.turn is not None and i >= self.turn:
            return self.descend(i, rule)
        if i == 0 and (self.turn is not None or batch.l2 > 0 or not bounded) and not self.own:
            self.stage = 1
        self.asked, self.values, self.gradients = [], 0, 0
        if self.stage == 0:
            self.values = self.gradients = len(self.W)
            self.judge(i, batch)
        remembers = not self.exact if self.own else bounded
        if self.left_at == i and self.worse:
            self.W = self.start.copy()
        if self.stage == 0:
            return self.graph_aware(i, batch)
        if self.descent is None:
            reach = np.inf if self.own else self.reach
            self.descent = Remembering(self.A, self.P, self.W, self.curvature, self.iterations > 0) if remembers else Corrected(self.A, self.W, reach)
        if not remembers:
            return self.corrected(batch)
        end = self.iterations if self.turn is None else self.turn
        share = min(1.0, (1 - i / end) / 0.75) if self.iterations > 0 else 1.0
        self.W, mu = self.descent.step(self.W, batch, self.signs[i], share)
        self.gradients += self.descent.gradients
        self.values += self.descent.values
        return mu

    def descend(self, i, rule):
        """All samples at one point, at the end of each epoch."""
        number, phase = divmod(i - self.turn, self.epoch)
        self.evaluation, self.values, self.gradients = None, 0, 0
        if phase < self.epoch - 1:
            return np.zeros(len(self.W)) if self.mu is None else self.mu
        self.evaluation, self.values = number, self.epoch * len(self.W)
        self.gradients, self.sums.W = self.values, self.W
        mu = self.sums.step(number, self.whole, rule)
        self.W = self.sums.W
        return mu

    def lost_ground(self, i, batch, values):
        """Every 16 iterations, of costs that are functions: whether they are twice those of the same samples at the start."""
        lost = False
        if i > 0 and i % 16 == 0:
            self.asked.append(2)
            now, then = self.compared
            self.worse, lost, self.compared = now > then, now > 2 * then, np.zeros(2)
        self.compared += np.sum(values), np.sum(batch.values(self.start))
        self.values += len(values)
        return lost

    def judge(self, i, batch):
        values = batch.values(self.W)
        lost = self.own and self.lost_ground(i, batch, values)
        q = self.losses.ratio()
        self.losses.see(values)
        self.asked += [] if q is None else [2]
        broken = lost or (q is not None and q > 0.95)
        self.claims.below = self.claims.below or bool(np.any(values < 0))
        if self.claims.asks():
            self.asked.append(4)
            broken |= self.claims.broken(self.W)
        if broken:
            self.stage, self.left_at = 1, i

    def graph_aware(self, i, batch):
        W, G, B = self.W, batch.gradients(self.W), two_hop_weights(self.P)
        view = self.view(i, batch, W, 2 * W - self.psi, G, G, self.P)
        mu = self.gap.choose(view)
        if self.own:
            self.values += self.curvature.update(W, G, batch)
            chosen, mu = mu, self.curvature.limited(mu, min(1.0, (len(W) + 1) / 4))
            self.limited = self.limited or np.any(mu < chosen)
        claims = claimed(gap_twin.gram(B, G), self.gap.cbar(view, B), mu)
        self.W, self.psi = exact_diffusion_primal(self.P, W, self.psi, mu, G)
        self.claims.see(claims, self.W)
        return mu

    def corrected(self, batch):
        self.tau += self.stage == 2
        self.W, mu = self.descent.step(self.W, batch, self.exact, 1.0 / math.sqrt(1.0 + self.tau / 200))
        begins = self.own and self.descent.t == 1
        self.gradients = (2 if begins and self.worse else 1) * len(self.W)
        self.values = self.gradients + self.descent.values + (len(self.W) if begins else 0)
        if self.stage == 1:
            q = self.watch.ratio()
            self.watch.see(np.sum((batch.gradients(self.descent.last[0]) + self.descent.D) ** 2, axis=1) / self.descent.L)
            self.asked += [] if q is None else [2]
            self.stage = 2 if q is not None and q > 0.8 else 1
        return mu


ALGORITHMS = {"atc": Atc, "cta": Cta, "dgd": Dgd, "exact-diffusion": ExactDiffusion, "extra": Extra,
              "gradient-tracking": GradientTracking, "diging": Diging, "next": Next, "kuruzov": Kuruzov,
              "quasi-newton": QuasiNewton, "dadam": Dadam, "damsgrad": Damsgrad, "auto": Auto}


# ---------------------------------------------------------------- one run


class Saga:
    """`gradient = "saga"`: a_kn (K, N, M), the gradient of sample n when it was last drawn, 0 at first, the penalty apart."""

    def __init__(self, run):
        self.run, self.a = run, np.zeros_like(run.H)

    def begin(self, i, index):
        self.index, self.at = index, None

    def estimate(self, W):
        """v_k = mean_b (grad l_kn(w_k) - a_kn) + mean_n a_kn + l2 w_k, with a_kn as they were before the draw."""
        if self.at is None:
            self.at = W.copy()
        agents = np.arange(len(W))[:, None]
        new = self.run.sample_gradients(W, self.index)
        return np.mean(new - self.a[agents, self.index], axis=1) + np.mean(self.a, axis=1) + self.run.problem.get("l2", 0.0) * W

    def end(self):
        agents = np.arange(len(self.at))[:, None]
        self.a[agents, self.index] = self.run.sample_gradients(self.at, self.index)


class Lsvrg:
    """`gradient = "lsvrg"`: the gradient of all samples at u_k, where an agent's coin (iterations, K) says so the new w_k."""

    def __init__(self, run):
        self.run, self.u = run, None

    def begin(self, i, index):
        self.i, self.index, self.at = i, index, None

    def estimate(self, W):
        """v_k = mean_b (grad l_kn(w_k) - grad l_kn(u_k)) + mean_n grad l_kn(u_k) + l2 w_k."""
        if self.at is None:
            self.at = W.copy()
            moves = self.run.coins[self.i] > 0
            self.u = np.where(moves[:, None], W, W if self.u is None else self.u)
        K, N, _ = self.run.H.shape
        every = np.tile(np.arange(N), (K, 1))
        new, old = (self.run.sample_gradients(X, self.index) for X in (W, self.u))
        return np.mean(new - old, axis=1) + np.mean(self.run.sample_gradients(self.u, every), axis=1) + self.run.problem.get("l2", 0.0) * W

    def end(self):
        pass


ESTIMATES = {"plain": None, "saga": Saga, "lsvrg": Lsvrg}


class EstimatedBatch(gap_twin.Batch):
    """A batch whose gradients are estimates."""

    def gradients(self, W):
        return self.estimate(W)


class Run:
    """One algorithm with one rule on samples H (K, N, M), y (K, N); `step(i, index)` is one iteration.

    `algorithm` and `rule`: a name and its options; `problem`: loss, l2, delta. `sketch`: the projection (s, M);
    `lambda_B`: an upper bound of that of the metric, computed where it is not given. `gradient`: how gradients are
    estimated; `own`: costs are given as functions; `coins` (iterations, K): when those of `lsvrg` begin anew; `signs` (iterations, M): those of `auto`;
    `iterations`: those of the run, 0 where the algorithm does not know.
    """

    def __init__(self, A, H, y, start, batch_size, problem, algorithm, rule, wo=None, sketch=None, lambda_B=None,
                 gradient="plain", coins=None, signs=None, iterations=0, own=False):
        self.A, self.H, self.y, self.batch_size, self.problem, self.coins = A, H, y, batch_size, problem, coins
        self.estimate = None if gradient == "plain" else ESTIMATES[gradient](self)
        self.wo, self.sketch, self.lambda_B = wo, sketch, lambda_B
        name, options = algorithm
        unknown = set(options) - set(ALGORITHM_DEFAULTS[name])
        if unknown:
            raise ValueError(f"options of {name} that the twin does not know: {sorted(unknown)}")
        self.algorithm = ALGORITHMS[name]({**ALGORITHM_DEFAULTS[name], **options}, A, start)
        self.algorithm.exact = batch_size == H.shape[1]  # every sample is everything
        self.algorithm.own = own
        self.algorithm.signs, self.algorithm.iterations, self.algorithm.epoch = signs, iterations, -(-H.shape[1] // batch_size)
        self.algorithm.whole = gap_twin.Batch(H, y, **problem)
        self.algorithm.reach = 3 / np.max(np.linalg.norm(H, axis=2), axis=1)
        self.rule = None if rule is None else RULES[rule[0]](*rule, self)

    @property
    def W(self):
        return self.algorithm.W

    @property
    def values(self):
        """Loss values that the line search of the last iteration took, of the algorithm or of the rule."""
        own = self.algorithm.values
        return own if own is not None or self.rule is None else self.rule.values

    def batch(self, index):
        agents = np.arange(len(self.A))[:, None]
        batch = gap_twin.Batch(self.H[agents, index], self.y[agents, index], **self.problem)
        batch.index = index
        return batch

    def costs_at_optimum(self):
        """J(w^o), for every agent."""
        K, N, _ = self.H.shape
        return np.full(K, np.mean(self.batch(np.tile(np.arange(N), (K, 1))).values(np.tile(self.wo, (K, 1)))))

    def sample_gradients(self, W, index):
        """(K, b, M): of each sample alone, without the penalty."""
        agents, problem = np.arange(len(W))[:, None], self.problem
        z = np.einsum("kbm,km->kb", self.H[agents, index], W)
        slopes = gap_twin.loss_slope(problem["loss"], z, self.y[agents, index], problem.get("delta", 1.0))
        return slopes[:, :, None] * self.H[agents, index]

    def step(self, i, index):
        """mu of iteration i; W is the iterate after it."""
        batch = self.batch(index)
        if self.estimate is None:
            return self.algorithm.step(i, batch, self.rule)
        estimated = EstimatedBatch(batch.h, batch.y, **self.problem)
        estimated.estimate = self.estimate.estimate
        self.estimate.begin(i, index)
        mu = self.algorithm.step(i, estimated, self.rule)
        self.estimate.end()
        return mu

    def disturb(self, noise):
        """Moves the iterate, as rounding would."""
        self.algorithm.W = self.algorithm.W + noise


# ---------------------------------------------------------------- self-test


def ring_weights(K):
    ring = np.roll(np.eye(K, dtype=bool), 1, axis=1)
    return gap_twin.metropolis(ring | ring.T)


class SelfTest(unittest.TestCase):
    K, M, N = 8, 4, 12

    def setUp(self):
        self.random = np.random.default_rng(11)
        self.networks = {"ring": ring_weights(self.K), "erdos-renyi": gap_twin.random_weights(self.random, self.K),
                         "complete": np.full((self.K, self.K), 1.0 / self.K)}
        self.H = self.random.standard_normal((self.K, self.N, self.M))
        minimisers = self.random.standard_normal((self.K, self.M, 1))
        self.y = (self.H @ minimisers)[:, :, 0] + 0.3 * self.random.standard_normal((self.K, self.N))
        H = self.H.reshape(-1, self.M)
        self.wo = np.linalg.solve(H.T @ H, H.T @ self.y.ravel())
        self.L = max(np.linalg.eigvalsh(h.T @ h / self.N)[-1] for h in self.H)
        self.all = np.tile(np.arange(self.N), (self.K, 1))

    def run_of(self, A, algorithm, rule, start=None, batch_size=None, loss="least-squares", **more):
        start = self.random.standard_normal((self.K, self.M)) if start is None else start
        y = np.sign(self.y) if loss == "logistic" else self.y
        algorithm = (algorithm, {}) if isinstance(algorithm, str) else algorithm
        rule = (rule, {}) if isinstance(rule, str) else rule
        return Run(A, self.H, y, start, batch_size or self.N, {"loss": loss}, algorithm, rule, self.wo, **more)

    def iterate(self, run, iterations, index=None):
        for i in range(iterations):
            mu = run.step(i, self.all if index is None else index[i])
        return mu

    def draws(self, iterations, b):
        return self.random.integers(0, self.N, (iterations, self.K, b))

    def assert_solved(self, run, tolerance=1e-10):
        self.assertLess(np.max(np.linalg.norm(run.W - self.wo, axis=1)), tolerance)

    def test_corrected_algorithms_reach_the_minimiser(self):
        constant = ("constant", {"value": 0.3 / self.L})
        uneven = {"value": None, "steps": list(self.random.uniform(0.1, 0.4, 1500) / self.L)}
        exact = ("exact-diffusion", {"form": "primal"})
        for name, A in self.networks.items():
            for algorithm, rule in (("exact-diffusion", constant), (exact, constant), ("extra", constant),
                                    ("gradient-tracking", constant), (("gradient-tracking", {"rounds": 3}), constant),
                                    ("diging", ("constant", {"value": 0.05 / self.L})),
                                    (("next", {"theta": 1e-4}), constant), ("exact-diffusion", ("schedule", uneven)),
                                    ("gradient-tracking", ("schedule", uneven)), ("kuruzov", None),
                                    ("quasi-newton", None)):
                with self.subTest(network=name, algorithm=algorithm, rule=rule and rule[0]):
                    run = self.run_of(A, algorithm, rule)
                    self.iterate(run, 1500)
                    self.assert_solved(run)

    def test_remembered_gradients_reach_the_minimiser_by_single_samples(self):
        coins = self.random.random((2500, self.K)) < 1 / self.N
        coins[0] = True
        draws, step = self.draws(len(coins), 1), ("constant", {"value": 0.3 / np.max(np.sum(self.H**2, axis=2))})
        for algorithm, gradient, bound in (("exact-diffusion", "saga", 1e-5), ("gradient-tracking", "lsvrg", 1e-5),
                                           ("exact-diffusion", "plain", None)):
            run = self.run_of(self.networks["erdos-renyi"], (algorithm, {}), step, batch_size=1, gradient=gradient, coins=coins)
            self.iterate(run, len(coins), draws)
            far = np.max(np.abs(run.W - self.wo))
            self.assertTrue(far < bound if bound else far > 1e-3, (algorithm, gradient, far))

    def test_the_minimiser_with_its_gradients_remembered_is_a_fixed_point_for_any_steps(self):
        run = self.run_of(self.networks["ring"], "exact-diffusion", ("constant", {"value": 0.05}),
                          start=np.tile(self.wo, (self.K, 1)), batch_size=1, gradient="saga")
        run.estimate.a = run.sample_gradients(run.W, self.all)
        X, D = run.W, -np.mean(run.estimate.a, axis=1)
        np.testing.assert_allclose(np.sum(D, axis=0), 0, atol=1e-12)
        for i, index in enumerate(self.draws(50, 1)):
            run.estimate.begin(i, index)
            v = run.estimate.estimate(X)
            X, D = exact_diffusion_agents(mixing_matrix(self.networks["ring"], 0.5), X, D, self.random.uniform(0.01, 0.3, self.K), v)
            run.estimate.end()
            np.testing.assert_allclose(X, np.tile(self.wo, (self.K, 1)), atol=1e-11)
            np.testing.assert_allclose(np.sum(D, axis=0), 0, atol=1e-11)

    def test_uncorrected_algorithms_do_not(self):
        for algorithm in ("atc", "cta", "dgd"):
            run = self.run_of(self.networks["ring"], algorithm, ("constant", {"value": 0.3 / self.L}))
            self.iterate(run, 2000)
            self.assertGreater(np.max(np.linalg.norm(run.W - self.wo, axis=1)), 1e-2)
            self.assertLess(np.max(np.linalg.norm(run.W - self.wo, axis=1)), 2.0)

    def test_agent_wise_steps_reach_the_minimiser(self):
        A = self.networks["erdos-renyi"]
        mu = self.random.uniform(0.05, 0.3, self.K) / self.L

        class Own(Rule):
            def choose(self, view):
                return mu

        for algorithm, factor in (("exact-diffusion", 1.0), ("gradient-tracking", 1.0), ("diging", 0.2)):
            run = self.run_of(A, algorithm, ("constant", {"value": 1.0}))
            run.rule = Own("constant", {}, run)
            mu = factor * mu
            self.iterate(run, 3000)
            self.assert_solved(run)

    def test_forms_of_exact_diffusion_agree_under_one_constant_step(self):
        for A in self.networks.values():
            for mixing in (0.5, 0.3):
                mu, start = 0.3 / self.L, self.random.standard_normal((self.K, self.M))
                rule, Wg = ("constant", {"value": mu}), mixing_matrix(A, mixing)
                primal = self.run_of(A, ("exact-diffusion", {"form": "primal", "mixing": mixing}), rule, start)
                agents = self.run_of(A, ("exact-diffusion", {"mixing": mixing}), rule, start)
                X, D = start, np.zeros_like(start)
                for i in range(50):
                    X, D = exact_diffusion_dual(Wg, X, D, mu, agents.batch(self.all).gradients(X))
                    primal.step(i, self.all), agents.step(i, self.all)
                    np.testing.assert_allclose(primal.W, X, rtol=0, atol=1e-12)
                    np.testing.assert_allclose(agents.W, X, rtol=0, atol=1e-12)

    def test_dual_variable_sums_to_zero_also_with_a_resting_agent(self):
        for A in self.networks.values():
            X, D = self.random.standard_normal((2, self.K, self.M))
            D -= D.mean(axis=0)
            mu = self.random.uniform(0, 1, self.K) * (self.random.random(self.K) < 0.6)
            X, D = exact_diffusion_agents(mixing_matrix(A, 0.5), X, D, mu, X**3)
            self.assertTrue(np.all(np.isfinite(X)))
            np.testing.assert_allclose(D.sum(axis=0), 0.0, atol=1e-10)

    def test_trackers_keep_the_means_of_gradients_and_values(self):
        index = self.draws(40, 2)
        for algorithm in ("gradient-tracking", "diging", "next", ("gradient-tracking", {"rounds": 2})):
            run = self.run_of(self.networks["erdos-renyi"], algorithm, ("constant", {"value": 0.02}))
            for i in range(40):
                run.step(i, index[i])
                G, J = run.algorithm.before
                np.testing.assert_allclose(run.algorithm.Y.mean(axis=0), G.mean(axis=0), atol=1e-12)
                self.assertAlmostEqual(run.algorithm.f.mean(), J.mean(), delta=1e-12)

    def test_consensus_of_the_preconditioner_keeps_its_mean(self):
        run = self.run_of(self.networks["ring"], "damsgrad", ("constant", {"value": 0.01}))
        for i in range(30):
            run.step(i, self.all)
            np.testing.assert_allclose(run.algorithm.u.mean(axis=0), run.algorithm.vhat.mean(axis=0), rtol=1e-12)

    def test_adaptive_moments_descend(self):
        for algorithm in ("dadam", "damsgrad"):
            for loss in ("least-squares", "logistic"):
                run = self.run_of(self.networks["erdos-renyi"], algorithm, ("constant", {"value": 0.01}), loss=loss)
                before = np.mean(run.batch(self.all).values(run.W))
                self.iterate(run, 500)
                self.assertLess(np.mean(run.batch(self.all).values(run.W)), 0.9 * before)

    def test_one_agent_makes_every_recursion_gradient_descent(self):
        A, W = np.ones((1, 1)), self.random.standard_normal((1, self.M))
        for algorithm in ("atc", "cta", "dgd", "exact-diffusion", "extra", "gradient-tracking", "diging", "next"):
            options = {"theta": 0.0} if algorithm == "next" else {}
            run = Run(A, self.H[:1], self.y[:1], W, self.N, {}, (algorithm, options), ("constant", {"value": 0.1}))
            X = W
            for i in range(10):
                X = X - 0.1 * run.batch(self.all[:1]).gradients(X)
                run.step(i, self.all[:1])
                np.testing.assert_allclose(run.W, X, rtol=1e-12)

    def test_atc_is_the_twin_of_the_gap_family(self):
        index = self.draws(70, 2)
        A, start = self.networks["erdos-renyi"], self.random.standard_normal((self.K, self.M))
        for bound in gap_twin.BOUNDS:
            options = {"bound": bound, "damping": "rows", "cap": "distance", "agree": "mean", "optimum": "per-sample"}
            run = self.run_of(A, "atc", ("gap", options), start, loss="logistic")
            other = gap_twin.Twin(A, self.H, run.y, start, {**options, "loss": "logistic"}, self.wo)
            W = start
            for i in range(70):
                mu, W = other.step(i, W, index[i])
                np.testing.assert_allclose(run.step(i, index[i]), mu, rtol=1e-12)
                np.testing.assert_allclose(run.W, W, rtol=1e-12)

    def test_gap_on_a_diagonal_metric_is_local_polyak(self):
        options = {"bound": "linear", "damping": "rows"}
        start = np.tile(self.random.standard_normal(self.M), (self.K, 1))  # agreement: dgd has no drift either
        for algorithm in ("cta", "dgd", "diging"):
            for damping in ("rows", "norms", "graph", "paper", "sketch"):
                run = self.run_of(self.networks["ring"], algorithm, ("gap", {**options, "damping": damping}), start)
                batch = run.batch(self.all)
                expected = polyak_ratio(batch.values(start), np.zeros(self.K), batch.gradients(start))
                np.testing.assert_allclose(run.step(0, self.all), expected, rtol=1e-9)

    def test_oracle_bound_is_the_slope_of_the_distance_on_every_recursion(self):
        A = self.networks["erdos-renyi"]
        most = largest_mixing(A, "primal")
        self.assertGreater(most, 0.5)
        for algorithm, c in (("atc", 1.0), ("cta", 0.0), ("dgd", 0.0), ("diging", 0.0), ("gradient-tracking", 1.0),
                             (("exact-diffusion", {"form": "primal"}), 0.5),
                             (("exact-diffusion", {"form": "primal", "mixing": most}), most)):
            run = self.run_of(A, algorithm, ("gap", {"bound": "oracle", "damping": "rows", "sweeps": "exact"}))
            seen, choose = [], run.rule.choose
            run.rule.choose = lambda view: seen.append(view) or choose(view)
            self.iterate(run, 3)
            view, P = seen[-1], mixing_matrix(A, c)
            np.testing.assert_array_equal(view.P, P)
            distance = lambda u: np.sum((P @ (self.wo - view.X + scaled(u, view.Y))) ** 2)
            d = self.random.standard_normal(self.K)
            slope = (distance(d) - distance(-d)) / 2
            self.assertAlmostEqual(slope, 2 * run.rule.cbar(view, two_hop_weights(P)) @ d, delta=1e-9 * distance(d))

    def test_linear_bound_is_above_c_on_recursions_with_own_gradients(self):
        for algorithm in ("atc", "cta", "dgd", ("exact-diffusion", {"form": "primal"})):
            options = {"bound": "linear", "damping": "rows", "optimum": "per-sample"}
            run = self.run_of(self.networks["ring"], algorithm, ("gap", options), loss="logistic")
            seen, choose = [], run.rule.choose
            run.rule.choose = lambda view: seen.append(view) or choose(view)
            self.iterate(run, 5)
            for view in seen:
                B = two_hop_weights(view.P)
                c = gap_twin.bound_oracle(B, view.X, view.Y, self.wo)
                self.assertTrue(np.all(c <= run.rule.cbar(view, B) + 1e-10))

    def test_gap_with_a_curvature_cap_solves_by_tracking(self):
        options = {"bound": "linear", "damping": "rows", "project": True, "cap": "curvature",
                   "optimum": "per-sample"}
        for name, A in self.networks.items():
            with self.subTest(network=name):
                run = self.run_of(A, "gradient-tracking", ("gap", options))
                self.iterate(run, 2500)
                self.assert_solved(run, 1e-4)

    def test_gap_keeps_its_steps_at_the_fixed_point_of_primal_exact_diffusion(self):
        options = {"bound": "oracle", "damping": "rows", "sweeps": "exact"}
        A = self.networks["erdos-renyi"]
        run = self.run_of(A, ("exact-diffusion", {"form": "primal"}), ("gap", options))
        G, mu = run.batch(self.all).gradients(np.tile(self.wo, (self.K, 1))), np.full(self.K, 0.1)
        run.algorithm.W, run.algorithm.psi = np.tile(self.wo, (self.K, 1)), self.wo - scaled(mu, G)
        chosen = run.step(0, self.all)
        np.testing.assert_allclose(run.W, np.tile(self.wo, (self.K, 1)), atol=1e-9)
        self.assertTrue(np.all(chosen > 0))

    def test_curvature_cap_grows_by_half_until_it_knows_better(self):
        options = {"bound": "linear", "damping": "rows", "cap": "curvature"}
        run = self.run_of(self.networks["ring"], "atc", ("gap", options))
        run.step(0, self.all)
        np.testing.assert_array_equal(run.rule.cap, CAP_AT_START)
        run.step(1, self.all)
        np.testing.assert_array_equal(run.rule.cap, 1.5 * CAP_AT_START)
        self.iterate(run, 30)
        smallest = min(np.linalg.eigvalsh(h.T @ h / self.N)[0] for h in self.H)
        self.assertTrue(np.all(run.rule.cap >= 0.5 / self.L) and np.all(run.rule.cap <= 0.75 / smallest))
        self.assertEqual(curvature_cap(1.0, np.zeros(2), np.ones(2)), 1.5)
        self.assertEqual(curvature_cap(1.0, np.ones(2), np.zeros(2)), 1.5)

    def test_schedules(self):
        steps = [scheduled(i, 1.0, 3, 4, 0.5) for i in range(9)]
        self.assertEqual(steps, [0.25, 0.5, 0.75, 1.0, 0.5, 0.5, 0.5, 0.5, 0.25])
        self.assertEqual([from_list(i, [3.0, 2.0]) for i in range(4)], [3.0, 2.0, 2.0, 2.0])
        self.assertEqual(scheduled(5, 0.1, 0, 0, 0.5), 0.1)

    def test_decsps_never_rises_and_survives_a_zero_step(self):
        run = self.run_of(self.networks["ring"], "atc", "decsps", batch_size=1)
        index, last = self.draws(60, 1), np.inf
        for i in range(60):
            if i == 20:  # agent 3 has nothing to learn, once
                kept, run.H[3], run.y[3] = (run.H[3].copy(), run.y[3].copy()), 0.0, 0.0
            mu = run.step(i, index[i])
            if i == 20:
                self.assertEqual(mu[3], 0.0)
                run.H[3], run.y[3] = kept
            else:
                self.assertTrue(np.all(mu > 0) and np.all(mu <= last))
                last = mu

    def test_barzilai_borwein_lies_within_the_curvatures(self):
        for kind in ("long", "short"):
            rule = ("barzilai-borwein", {"kind": kind})
            run = self.run_of(self.networks["ring"], "gradient-tracking", rule)
            self.assertTrue(np.all(run.step(0, self.all) == 1e-3))
            for i in range(1, 10):
                mu = run.step(i, self.all)
                for k, h in enumerate(self.H):
                    values = np.linalg.eigvalsh(h.T @ h / self.N)
                    self.assertTrue(1 / values[-1] * (1 - 1e-9) <= mu[k] <= 1 / values[0] * (1 + 1e-9))
        s, z = np.array([1.0, 2.0]), np.array([2.0, 1.0])
        self.assertEqual((barzilai_borwein(s, z, "long"), barzilai_borwein(s, z, "short")), (1.25, 0.8))
        self.assertIsNone(barzilai_borwein(s, -z, "long"))
        self.assertIsNone(barzilai_borwein(s, 0 * z, "long"))

    def test_barzilai_borwein_with_rounds_solves(self):
        rule = ("barzilai-borwein", {"kind": "short", "agree": "min"})
        run = self.run_of(self.networks["erdos-renyi"], ("gradient-tracking", {"rounds": 6}), rule)
        self.iterate(run, 1500)
        self.assert_solved(run)

    def test_adgd_grows_without_curvature_and_is_limited_by_it(self):
        self.assertEqual(adgd_step(1e-6, 1e9, np.ones(2), np.zeros(2)), math.sqrt(1 + 1e9) * 1e-6)
        self.assertEqual(adgd_step(1.0, 0.0, np.ones(1), np.full(1, 4.0)), 0.125)
        run = self.run_of(self.networks["complete"], "atc", ("adgd", {"agree": "mean"}))
        self.assertTrue(np.allclose(run.step(0, self.all), 1e-6))
        for i in range(1, 60):
            mu = run.step(i, self.all)
        self.assertTrue(np.all(mu >= 0.4 / self.L))

    def test_adgd_compares_gradients_of_the_same_sample(self):
        index = self.draws(30, 1)
        run = self.run_of(self.networks["ring"], "atc", "adgd", batch_size=1)
        run.step(0, index[0])
        for i in range(1, 30):
            growth = np.sqrt(1 + run.rule.theta) * run.rule.own
            mu, h = run.step(i, index[i]), run.batch(index[i]).h[:, 0]
            limit = 0.5 / np.sum(h**2, axis=1)  # one sample: ||dg|| = ||h|| |h.dw| <= ||h||^2 ||dw||
            self.assertTrue(np.all(mu >= np.minimum(growth, limit) * (1 - 1e-9)))

    def test_level_rises_towards_the_value_it_stalls_at(self):
        index = self.draws(1500, 1)
        options = {"bound": "linear", "damping": "rows", "project": True, "optimum": "estimate"}
        run = self.run_of(self.networks["erdos-renyi"], "atc", ("gap", options), batch_size=1)
        level = run.rule.level
        self.assertEqual(level.epoch, 50)
        levels = []
        for i in range(1500):
            run.step(i, index[i])
            levels.append(level.level.copy())
            if (i + 1) % 50 == 0:
                self.assertTrue(np.all(level.level <= run.A @ level.average))
        self.assertTrue(np.all(np.array(levels[:99]) == 0))  # the first epoch counts as progress
        self.assertTrue(np.max(levels) > 0)

    def level_with(self, *averages):
        """The level of one agent after epochs that ended with these averages."""
        run = Run(np.ones((1, 1)), self.H[:1], self.y[:1], np.zeros((1, self.M)), 1, {}, ("atc", {}), None)
        level = Level(run)
        for average in averages:
            level.average = np.array([average])
            level.end_epoch()
        return level.level[0], level.share[0]

    def test_level_by_hand(self):
        self.assertEqual(self.level_with(1.0), (0.0, 0.5))
        self.assertEqual(self.level_with(1.0, 0.9), (0.0, 0.5))
        self.assertEqual(self.level_with(1.0, 1.0), (0.5, 0.5))
        self.assertEqual(self.level_with(1.0, 1.0, 1.0), (0.75, 0.5))
        self.assertEqual(self.level_with(1.0, 1.0, 1.04), (0.5 + 0.5 * 0.54, 0.5))
        self.assertEqual(self.level_with(1.0, 1.0, 1.06), (0.0, 0.25))  # taken back
        self.assertEqual(self.level_with(1.0, 1.0, 1.06, 1.06), (0.25 * 1.06, 0.25))
        self.assertEqual(self.level_with(1.0, 1.0, 0.4), (0.4, 0.5))  # never above the average

    def test_kuruzov_keeps_the_sum_of_d_and_its_step_under_the_smoothness(self):
        for A in self.networks.values():
            run = self.run_of(A, "kuruzov", None)
            smallest = min(np.linalg.eigvalsh(h.T @ h / self.N)[0] for h in self.H)
            for i in range(300):
                mu = run.step(i, self.all)
                self.assertTrue(np.all(mu <= 0.9 / smallest) and np.all(mu >= 0.45 / self.L))
                np.testing.assert_allclose(run.algorithm.D.sum(axis=0), 0.0, atol=1e-9)

    def test_windows_of_auto(self):
        self.assertEqual([first_window(K) for K in (1, 2, 3, 4, 9)], [512, 256, 256, 128, 128])
        watch, verdicts = Watch(4), {}
        for n in range(300):
            q = watch.ratio()
            if q is not None:
                verdicts[n] = q
            watch.see(np.full(4, float(n)))
        self.assertEqual(verdicts, {128: sum(range(96, 128)) / sum(range(64, 96)),
                                    256: sum(range(192, 256)) / sum(range(128, 192))})

    def test_curvature_along_the_gradient_is_that_of_a_quadratic(self):
        batch = gap_twin.Batch(self.H, self.y)
        for k, h in enumerate(self.H):
            w = self.random.standard_normal(self.M)
            g = batch.gradient(k, w)
            exact = g @ (h.T @ h / self.N) @ g / (g @ g)
            self.assertAlmostEqual(curvature_along(batch, k, w, g, 1 / 3), exact, delta=1e-9 * exact)
            self.assertIsNone(curvature_along(batch, k, w, 1e-9 * g, 1 / 3))
            first, trials = first_curvature(batch, k, w, g)
            self.assertAlmostEqual(first, exact, delta=1e-9 * exact)
            self.assertEqual(trials, 3)
            raised, c, trials = measured_curvature(batch, k, w, g, exact / 20)
            self.assertAlmostEqual(raised, 16 * exact / 20, delta=1e-12 * exact)
            self.assertAlmostEqual(c, exact, delta=1e-9 * exact)
            self.assertEqual(trials, 2)
        self.assertEqual([largest_curvature(2.0, 1.0, t) for t in (0, 99, 100)], [1.94, 1.94, 2.0])
        self.assertEqual((largest_curvature(2.0, 3.0, 100), largest_curvature(2.0, None, 0)), (3.0, 2.0))

    def test_claims_are_judged_by_their_growth_against_the_way(self):
        W = np.zeros((2, 3))
        # Of 32 that are claimed: nobody moves; 2.9 times the way; 3.2 times; the same, all of it in the first half.
        for far, until, expected in ((0.0, 32, None), (5.5, 32, None), (5.0, 32, 32), (5.0, 16, None)):
            claims, left = Claims(W), None
            for n in range(40):
                if claims.asks():
                    self.assertIn(n, (16, 32))
                    left = n if claims.broken(W) else left
                # Both agents go as far once and come back: the farthest counts.
                claims.see(np.array([32 / until * (n < until), 0.0]), W + math.sqrt(far / 3) * (n == 3))
            self.assertEqual(left, expected)

    def test_claims_are_what_the_model_promises(self):
        batch, A = gap_twin.Batch(self.H, self.y), self.networks["ring"]
        W = self.random.standard_normal((self.K, self.M))
        Z = gap_twin.gram(two_hop_weights(A), batch.gradients(W))
        mu, cbar = self.random.uniform(0, 1, (2, self.K))
        self.assertAlmostEqual(np.sum(claimed(Z, cbar, mu)), -gap_twin.model(Z, cbar, mu))

    def test_folds_keep_products_on_average(self):
        E = self.random.standard_normal((2, 19))
        q = [folded(E, signs) for signs in self.random.choice([-1.0, 1.0], (4000, 19))]
        self.assertAlmostEqual(np.mean([x[0] @ x[1] for x in q]), E[0] @ E[1], delta=0.3)
        np.testing.assert_allclose(folded(np.ones((1, 19)), np.ones(19)), [[3, 3, 3, 2, 2, 2, 2, 2]])

    def test_auto_reaches_the_minimiser_of_agents_that_disagree(self):
        for b, iterations, tolerance in ((self.N, 60, 1e-9), (1, 2000, 1e-4)):
            signs = self.random.choice([-1.0, 1.0], (iterations, self.M))
            run = self.run_of(self.networks["erdos-renyi"], "auto", None, batch_size=b, signs=signs)
            self.iterate(run, iterations, None if b == self.N else self.draws(iterations, b))
            self.assertEqual(run.algorithm.stage, 1 if b < self.N else 0)
            self.assert_solved(run, tolerance)


if __name__ == "__main__":
    unittest.main()
