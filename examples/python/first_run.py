# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Agents that agree on a model
# Twelve agents hold some samples each, and find the logistic regression of all of them by talking to their neighbours.

# %%
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import polyhop as ph

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
labels = data.target_names[data.target]
problem = ph.logistic(X, labels, agents=12, l2=1e-2, intercept=True, batch="all")
net = ph.graph.random_geometric(12, radius=0.45, seed=3).metropolis()
net

# %% [markdown]
# There is nothing to choose: `auto` finds its own steps.

# %%
run = ph.solve(problem, net, iterations=2000)
run

# %% [markdown]
# Every agent's model predicts like one that saw all samples in one place.

# %%
scores = np.column_stack([X, np.ones(len(X))]) @ run.models.T
right = problem.classes[(scores > 0).astype(int)] == labels[:, None]
print(f"right: {right.mean(axis=0).min():.1%} for the worst agent, {right.mean(axis=0).max():.1%} for the best")

# %%
ax = run.plot(x="vectors")
