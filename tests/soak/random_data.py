"""Random graphs, views, masks and labels, many of them with ties, duplicates, empty columns or extreme sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

Rng = np.random.Generator


def pick(rng: Rng, *values: Any) -> Any:
    """One of the values; they need not be of one type."""
    return values[int(rng.integers(len(values)))]


def whole_numbers(rng: Rng, n: int, d: int) -> np.ndarray:
    """Few different whole numbers: ties in all distances, duplicate rows, constant columns."""
    X = rng.integers(-1, int(rng.integers(1, 4)), size=(n, d)).astype(np.float64)
    if rng.random() < 0.3:
        X[rng.integers(n, size=n // 2)] = X[0]
    return X


def numbers(rng: Rng, n: int, d: int) -> np.ndarray:
    """A matrix of one of many kinds."""
    match int(rng.integers(8)):
        case 0 | 1 | 2:
            X = whole_numbers(rng, n, d)
        case 3:
            X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-12, 13)
        case 4:
            X = rng.standard_normal((n, d)) + 10.0 ** rng.integers(0, 9)
        case 5:
            X = np.repeat(rng.standard_normal((1, d)), n, axis=0)
        case _:
            centres = 5.0 * rng.standard_normal((int(rng.integers(1, 6)), d))
            X = centres[rng.integers(len(centres), size=n)] + rng.standard_normal((n, d))
    if rng.random() < 0.1:
        X[:, int(rng.integers(d))] = 0.0
    return X


def stored(rng: Rng, X: np.ndarray) -> Any:
    """The matrix in one of the forms that users have."""
    match int(rng.integers(8)):
        case 0:
            return X.astype(np.float32)
        case 1:
            return sp.csr_array(np.where(rng.random(X.shape) < 0.5, X, 0.0))
        case 2:
            return pd.DataFrame(X)
        case 3:
            return np.asfortranarray(X)
        case 4 if (np.round(X) == X).all() and np.abs(X).max() < 100:
            return X.astype(np.int8)
    return X


def views(rng: Rng) -> list[Any]:
    """A few views of the same samples."""
    n = int(pick(rng, 2, 3, 5, 8, 13, 20, 40, 100))
    return [stored(rng, numbers(rng, n, int(rng.integers(1, 7)))) for _ in range(rng.integers(1, 4))]


def mask_for(rng: Rng, n_views: int, n: int) -> np.ndarray:
    """Missing samples; each sample is in some view."""
    mask = rng.random((n_views, n)) >= rng.uniform(0.0, 0.6)
    mask[rng.integers(n_views, size=n), np.arange(n)] = True
    return mask


def graph(rng: Rng, n: int, m: int) -> np.ndarray:
    """Rows on the simplex, sparse ones, with ties, or with empty anchors."""
    match int(rng.integers(5)):
        case 0:
            Z = np.eye(m)[rng.integers(m, size=n)]
        case 1:
            Z = np.round(rng.dirichlet(np.full(m, 0.5), size=n), 1)
        case 2:
            Z = rng.integers(0, 3, size=(n, m)).astype(np.float64)
        case _:
            Z = rng.dirichlet(np.full(m, rng.choice([0.1, 0.3, 1.0])), size=n)
    if rng.random() < 0.1:
        Z[:, int(rng.integers(m))] = 0.0
    if m > 1 and rng.random() < 0.1:
        Z[:, 0] = Z[:, -1]
    return Z


def graphs(rng: Rng, *, same_size: bool = False) -> list[Any]:
    """A few graphs of the same samples: related, unrelated, or of different sizes."""
    n = int(pick(rng, 1, 2, 5, 20, 60, 300, 2000))
    m = int(rng.integers(1, 12)) if n < 2000 else int(rng.integers(8, 40))
    n_views = int(rng.integers(1, 5))
    if rng.random() < 0.3:
        base = graph(rng, n, m)
        made = [base[:, rng.permutation(m)] for _ in range(n_views)]
    else:
        equal = same_size or rng.random() < 0.7
        made = [graph(rng, n, m if equal else int(rng.integers(1, 12))) for _ in range(n_views)]
    return [stored(rng, Z) for Z in made]
