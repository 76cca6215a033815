# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""What a server would reach that sees all images of Fashion-MNIST: `python3 _pooled_accuracy.py L2`."""

import gzip
import pathlib
import sys
import warnings

import numpy as np
from sklearn import linear_model, preprocessing
from sklearn.exceptions import ConvergenceWarning

FOLDER = pathlib.Path("/usr/share/datasets/fashion-mnist")


def numbers(name, header):
    with gzip.open(FOLDER / f"{name}-ubyte.gz") as file:
        return np.frombuffer(file.read(), np.uint8, offset=header)


def images(part):
    return numbers(f"{part}-images-idx3", 16).reshape(-1, 784).astype(float), numbers(f"{part}-labels-idx1", 8)


def main():
    l2 = float(sys.argv[1])
    h, y = images("train")
    test_h, test_y = images("t10k")
    scale = preprocessing.StandardScaler().fit(h)
    model = linear_model.LogisticRegression(C=1 / (l2 * len(y)), max_iter=300, multi_class="multinomial")
    warnings.simplefilter("ignore", ConvergenceWarning)
    model.fit(scale.transform(h), y)
    accuracy = model.score(scale.transform(test_h), test_y)
    print(f"scikit-learn's `LogisticRegression` on the pooled images, with the same penalty and features, {model.n_iter_[0]}")
    print(f"iterations of L-BFGS: accuracy {accuracy:.4f} on the same test images.")


if __name__ == "__main__":
    main()
