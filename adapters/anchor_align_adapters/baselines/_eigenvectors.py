"""Eigenvectors of the largest eigenvalues of a symmetric matrix: dense for small ones, by Lanczos steps for large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse.linalg as spl

from anchor_align.arrays import FloatArray

# Up to this size a dense decomposition is as fast, and finds all copies of a repeated eigenvalue.
DENSE = 600


def leading_eigenvectors(
    n: int, k: int, product: Callable[[FloatArray], FloatArray], dense: Callable[[], FloatArray], random_state: int
) -> FloatArray:
    """Eigenvectors of the ``k`` largest eigenvalues, largest first, as columns of unit length.

    ``product`` multiplies the matrix with a vector or with columns; ``dense`` makes the matrix, which is done for small
    matrices, and if the iteration does not converge. The sign of a vector makes its largest entry positive.
    """
    vectors: Any = None
    if n > max(DENSE, 4 * k):
        operator = spl.LinearOperator((n, n), matvec=product, matmat=product, dtype=np.float64)
        start = np.random.default_rng(random_state).standard_normal(n)
        try:
            values, vectors = spl.eigsh(operator, k, which="LA", v0=start, ncv=min(n - 1, max(4 * k, 40)), maxiter=300)
            vectors = vectors[:, np.argsort(-values)]
        except spl.ArpackNoConvergence:
            vectors = None
    if vectors is None:
        _, vectors = scipy.linalg.eigh(dense(), subset_by_index=(n - k, n - 1))
        vectors = vectors[:, ::-1]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(k)])
    return np.ascontiguousarray(vectors * signs)
