# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Your own rule, in a comparison
# A step size that shrinks where neighbours disagree, next to GAP and a tuned constant.

# %%
import numpy as np

import polyhop as ph


@ph.rule("careful")
class Careful(ph.StepSize):
    """Local Polyak, divided by how many times an agent's gradient is longer than those around it"""

    def choose(self, at, network):
        squares = at.squared_norms
        mean, least, most = network.hear(squares)
        polyak = np.divide(at.values, squares, out=np.zeros_like(squares), where=squares > 1e-300)
        return polyak * np.divide(mean, most, out=np.ones_like(most), where=most > 0)


# %%
random = np.random.default_rng(0)
X = random.normal(size=(200, 20)) * np.geomspace(0.3, 3, 200)[:, None]  # some agents see larger numbers than others
y = X @ random.normal(size=20)
problem = ph.least_squares(X, y, agents=10)
net = ph.graph.watts_strogatz(10, degree=4, rewire=0.2, seed=1).metropolis()

# %%
found = ph.compare(problem, net, {"careful": "careful", "local Polyak": "polyak", "GAP": ph.gap(bound="tight"), "tuned constant": "tuned"},
                   seeds=range(5), iterations=1500, target=1e-4)
print(found)

# %%
ax = found.plot(x="vectors")
