# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Your own cost
# Agents with noisy measurements fit a curve robustly: the loss is log cosh of the residual, which polyhop does not have.

# %%
import numpy as np

import polyhop as ph

random = np.random.default_rng(0)
agents, samples, degree = 16, 30, 6
t = random.uniform(-1, 1, size=(agents, samples))
measured = np.sin(3 * t) + 0.1 * random.standard_t(1.5, size=t.shape)  # with outliers now and then
basis = np.polynomial.chebyshev.chebvander(t, degree - 1)


# %%
def log_cosh(W, who, batches):
    h, target = basis[who], measured[who]
    residual = (h @ W[:, :, None])[:, :, 0] - target
    values = np.logaddexp(residual, -residual).mean(axis=1) - np.log(2)
    gradients = (h * np.tanh(residual)[:, :, None]).mean(axis=1)
    return values, gradients


problem = ph.objective(log_cosh, agents, degree)
net = ph.graph.torus(4, 4).metropolis()
run = ph.solve(problem, net, iterations=4000, target=1e-6)
print(run)

# %%
grid = np.linspace(-1, 1, 5)
print(np.round(np.polynomial.chebyshev.chebval(grid, run.mean_model) - np.sin(3 * grid), 2))
