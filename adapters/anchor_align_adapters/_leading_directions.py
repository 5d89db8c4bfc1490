"""The largest eigenvalues of T' T and their eigenvectors for a sparse T, by Lanczos iteration.

T is the normalised bipartite graph of :mod:`._rank`. Each of its connected components gives an eigenvalue 1 and a
known eigenvector, the roots of the column degrees within the component. Lanczos iteration from one vector finds a
multiple eigenvalue only once, so these known vectors are kept apart from the start. What may still be missed is looked
for by a second, short iteration from the complement of all vectors found.

Every vector is made orthogonal to all before it, and the start does not depend on earlier rounds: from a vector of an
earlier round, the iteration needs as many steps.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from anchor_align.arrays import FloatArray, IndexArray

# The decomposition of the whole matrix is faster for fewer columns than this, or columns for each direction.
LEAST_COLUMNS, COLUMNS_PER_DIRECTION = 500, 16
RESIDUAL = 1e-11  # largest |T' T v - lambda v|; the largest eigenvalue is 1
# Residual of the search for a missed eigenvalue, and by how much a missed one must exceed the smallest found.
ROUGH, MARGIN = 1e-2, 1e-6
FIRST_TEST, GROWTH = 16, 1.2  # step of the first test of the residuals, and of the next relative to the last


def leading_directions(
    T: sp.csr_array, column_degrees: FloatArray, component: IndexArray, k: int
) -> tuple[FloatArray, FloatArray] | None:
    """The k largest eigenvalues of T' T, descending, and their eigenvectors.

    ``component`` has the connected component of every column; there are fewer than k. None if the decomposition of the
    whole matrix is faster, if the iteration takes too long, or if it has missed an eigenvalue.
    """
    m = T.shape[1]
    if m < max(LEAST_COLUMNS, COLUMNS_PER_DIRECTION * k):
        return None
    _, component = np.unique(component, return_inverse=True)  # some numbers may belong to samples without entries
    known = np.zeros((component.max() + 1, m))
    known[component, np.arange(m)] = np.sqrt(column_degrees)
    known /= np.linalg.norm(known, axis=1, keepdims=True)
    transposed = sp.csr_array(T.T)
    found = _lanczos(T, transposed, known, k - len(known), RESIDUAL)
    if found is None:
        return None
    values, directions = found
    directions = np.concatenate([known, directions])
    rest = _lanczos(T, transposed, directions, 1, ROUGH)
    if rest is None or rest[0][0] > values[-1] + MARGIN:
        return None
    return np.concatenate([np.ones(len(known)), values]), directions.T


def _lanczos(
    T: sp.csr_array, transposed: sp.csr_array, known: FloatArray, k: int, residual: float
) -> tuple[FloatArray, FloatArray] | None:
    """The k largest eigenvalues of T' T besides those of the known eigenvectors, and their eigenvectors as rows.

    None after a quarter as many steps as there are columns, and if the iteration has come to its end before.
    """
    m, c = T.shape[1], len(known)
    most = m // 4
    basis = np.empty((c + most, m))
    basis[:c] = known
    diagonal, beside = np.empty(most), np.empty(most)
    test = max(2 * k, FIRST_TEST)
    # A second iteration from the same start would miss the same eigenvectors.
    vector = np.random.default_rng(c).standard_normal(m)
    vector -= known.T @ (known @ vector)
    vector /= np.linalg.norm(vector)
    for step in range(1, most + 1):
        before = basis[: c + step]
        before[-1] = vector
        image = transposed @ (T @ vector)
        diagonal[step - 1] = vector @ image
        for _ in range(2):  # after the first time, a small remainder is mostly rounding
            image -= before.T @ (before @ image)
        beside[step - 1] = length = np.linalg.norm(image)
        if length < residual * 1e-3:
            return None
        vector = image / length
        if step >= test:
            test = int(GROWTH * step) + 1
            values, Y = scipy.linalg.eigh_tridiagonal(
                diagonal[:step], beside[: step - 1], select="i", select_range=(step - k, step - 1)
            )
            if (length * np.abs(Y[-1]) <= residual).all():
                return np.asarray(values[::-1], dtype=np.float64), Y[:, ::-1].T @ before[c:]
    return None
