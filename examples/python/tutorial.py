# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # A figure for a paper in ten minutes
# The Python side of docs/tutorial.md. Twelve agents on a ring disagree: each has its own data, and its own best model.
# Which methods still find the model that is best for all of them, and what do they send?

# %%
import polyhop as ph

net = ph.graph.ring(12).metropolis()
net

# %% [markdown]
# An experiment is a dict with the keys of an experiment's file. Each method runs once per seed. `tuned` searches for the best
# constant step on other seeds; `auto` needs no tuning.

# %%
experiment = {
    "name": "tutorial", "seeds": list(range(10)), "iterations": 300, "record_every": 5, "target": 1e-8,
    "graph": {"topology": "ring", "agents": 12},
    "problem": {"loss": "logistic", "dimension": 10, "samples": 40, "noise": 1.0, "minimiser_spread": 1.0, "l2": 0.01,
                "batch": "all"},
    "method": [
        {"name": "ATC, tuned", "step": "tuned"},
        {"name": "gradient tracking, tuned", "algorithm": "gradient-tracking", "step": "tuned"},
        {"name": "exact diffusion, tuned", "algorithm": "exact-diffusion", "step": "tuned"},
        {"name": "auto", "step": "auto"},
    ],
}
found = ph.run(experiment)
print(found)

# %% [markdown]
# ATC diffusion stops short of the minimum, because a constant step leaves a bias where agents disagree. The other three get there.
# The ranking is a pandas frame; what the search for a constant sent is counted in columns of its own.

# %%
found.ranking[["iterations", "vectors", "tuning_vectors"]]

# %% [markdown]
# Results live in `out/tutorial/experiment.sqlite`. Run the cell above again: nothing is computed twice. Change one setting, into
# another folder:

# %%
complete = ph.run(experiment, out="out/complete", settings={"graph.topology": "complete"})
print(complete.ranking[["iterations", "vectors"]])

# %% [markdown]
# The figure: medians over seeds, with bands from the 10% to the 90% quantile.

# %%
ax = found.plot(x="vectors")
ax.figure.savefig("risk.pdf")

# %% [markdown]
# Or, without an experiment, one model of data that six agents share. None of them sends a sample.

# %%
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)  # a penalty suits columns of similar size
model = ph.DecentralizedLogisticRegression(l2=0.001, network=ph.graph.ring(6)).fit(X, y)
print(f"accuracy {model.score(X, y):.4f}, {model.vectors_sent_} vectors sent")
