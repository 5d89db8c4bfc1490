"""The least-squares problems that all rows share, on a common scale, and their solution on a set of anchors per row.

With anchors a_1 ... a_m (rows of A) and a row x, ``sum(z) = 1`` makes the problem

    min |x - z A|^2 + alpha |z|^2   s.t.  z >= 0,  sum(z) = 1

independent of a common shift of x and A. The mean anchor is subtracted from both: the rest has the size of the
distances between the points, and a large common offset costs no digits. All numbers are then divided by one unit, so
that they are near one for any scale of the data. Up to a constant, half the objective of a row is

    z H z' / 2 - c z',      H = A A' + alpha I  (the same for all rows),      c = x A'.

Sets are small and rows are many, so arrays of sets have the rows *last*: one NumPy operation does one step of a small
elimination in all rows. With five anchors that is ten times faster than a LAPACK call per row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IndexArray
from ..errors import InputError

# Below this condition of H solutions are usually dense, and a few exchanges of the whole support find them.
EASY_CONDITION = 8.0
FEW_FEATURES = 32
LAPACK_FROM = 24  # from this many anchors in a set on, a LAPACK call per row is faster
CACHE, CHUNK = 2**18, 2**20  # numbers in the systems that are solved together: 2 MB, which fits in a cache, and 8 MB
# Least pivot relative to H, a rounding of it: a set that is dependent up to rounding has a pivot of any sign.
LEAST_PIVOT = 1e-15


@dataclass(frozen=True, eq=False)
class Quadratic:
    """Data of all rows: centred anchors over ``unit``, their Gram matrix, its largest eigenvalue, alpha over unit^2."""

    anchors: FloatArray
    gram: FloatArray
    alpha: float
    shift: FloatArray
    unit: float
    top: float

    @classmethod
    def from_anchors(cls, A: FloatArray, alpha: float) -> Quadratic:
        with np.errstate(over="ignore", invalid="ignore"):
            shift = A.mean(axis=0)
            B = A - shift
        if not np.isfinite(B).all():
            raise InputError("A has numbers too large to average.")
        unit = max(float(np.abs(B).max()), math.sqrt(alpha)) or 1.0
        B = B / unit
        gram = B @ B.T
        return cls(B, gram, alpha / unit / unit, shift, unit, float(np.linalg.eigvalsh(gram)[-1]))

    @property
    def n_anchors(self) -> int:
        return len(self.gram)

    @property
    def few_features(self) -> bool:
        """Whether products with the anchors are cheaper and more exact than products with their Gram matrix."""
        return bool(self.anchors.shape[1] <= min(FEW_FEATURES, self.n_anchors // 4))

    @property
    def easy(self) -> bool:
        """Whether the ridge alone makes the problem well conditioned."""
        return self.alpha > 0.0 and self.top <= EASY_CONDITION * self.alpha

    @property
    def size(self) -> float:
        """Largest diagonal entry of H; one where H is zero."""
        return float(self.gram.diagonal().max()) + self.alpha or 1.0


@dataclass(frozen=True, eq=False)
class RowProblems:
    """The rows of one block: their c, and their centred coordinates if products with these are cheaper."""

    shared: Quadratic
    linear: FloatArray
    coordinates: FloatArray | None

    def __len__(self) -> int:
        return len(self.linear)

    def take(self, index: np.ndarray) -> RowProblems:
        coordinates = None if self.coordinates is None else self.coordinates[index]
        return RowProblems(self.shared, self.linear[index], coordinates)

    def gradient(self, Z: FloatArray) -> FloatArray:
        """H z - c of every row."""
        shared = self.shared
        if self.coordinates is None:
            G = Z @ shared.gram
            G -= self.linear
        else:
            G = (Z @ shared.anchors - self.coordinates) @ shared.anchors.T
        if shared.alpha:
            G += shared.alpha * Z
        return np.asarray(G)

    def scales(self) -> FloatArray:
        shared = self.shared
        spread = np.ptp(self.linear, axis=1)
        # If all anchors are equal and alpha is 0, every term is zero, and so is every gap.
        return np.asarray(spread + (float(shared.gram.diagonal().max()) + shared.alpha / shared.n_anchors or 1.0))

    def gaps(self, Z: FloatArray) -> FloatArray:
        """Relative KKT gap of every row: z g' - min(g), over the row's scale."""
        G = self.gradient(Z)
        gap = np.einsum("ij,ij->i", Z, G) - G.min(axis=1)
        return np.asarray(gap / self.scales())


def padded_hessian(shared: Quadratic, alpha: float, set_size: int = 1) -> FloatArray:
    """H for some ridge, with a last row and column of zeros for empty slots.

    The constant added to all entries acts as a feature with the same value for all anchors. It changes nothing on the
    simplex, and makes sets positive definite that are only affinely independent, such as d + 1 anchors in d features.
    The condition is best if the constant times the size of the sets is as large as the rest.
    """
    m = shared.n_anchors
    hessian = np.zeros((m + 1, m + 1))
    hessian[:m, :m] = shared.gram + (float(shared.gram.diagonal().mean()) + alpha or 1.0) / set_size
    hessian[np.arange(m), np.arange(m)] += alpha
    return hessian


def solve_on_sets(hessian: FloatArray, linear: FloatArray, sets: IndexArray) -> FloatArray:
    """Minimiser of each row on its set, with the sum constraint only: H y = c, H v = 1, z = y + lambda v.

    ``hessian`` is padded, ``linear`` has the rows' c, and ``sets``, of shape (K, n), has the anchors of each row, m in
    empty slots. The result, of shape (K, n), is zero in empty slots.
    """
    K, n = sets.shape
    small = K < LAPACK_FROM
    z = np.empty((K, n))
    step = max(1, (CACHE if small else CHUNK) // (K * (K + 2)))
    for at in range(0, n, step):
        part = slice(at, at + step)
        y, v = (_eliminate if small else _lapack)(hessian, linear[part], sets[:, part])
        z[:, part] = y + (1.0 - y.sum(axis=0)) / v.sum(axis=0) * v
    return z


def _eliminate(hessian: FloatArray, linear: FloatArray, sets: IndexArray) -> FloatArray:
    """The y and v of all rows, by Gaussian elimination in the upper triangles. Empty slots are an equation x = 0."""
    K, n = sets.shape
    m = linear.shape[1]
    used = sets < m
    W = np.empty((K, K + 2, n))
    for i in range(K):
        np.take(hessian.ravel(), sets[i] * (m + 1) + sets[i:], out=W[i, i:K], mode="clip")
    W[np.arange(K), np.arange(K)] += ~used
    W[:, K] = _linear_on_sets(linear, sets)
    W[:, K + 1] = used
    least = LEAST_PIVOT * float(hessian.max())
    for j in range(K):
        np.maximum(W[j, j], least, out=W[j, j])
        factors = W[j, j + 1 : K] / W[j, j]
        for i in range(j + 1, K):
            W[i, i:] -= factors[i - j - 1] * W[j, i:]
    x = W[:, K:]
    for j in range(K - 1, -1, -1):
        x[j] /= W[j, j]
        x[:j] -= W[:j, j, None] * x[j]
    return np.moveaxis(x, 1, 0)


def _lapack(hessian: FloatArray, linear: FloatArray, sets: IndexArray) -> FloatArray:
    """The same with rows first and one LAPACK call per row."""
    m = linear.shape[1]
    K = len(sets)
    first = np.ascontiguousarray(sets.T)
    systems = hessian.ravel().take(first[:, :, None] * (m + 1) + first[:, None, :])
    systems[:, np.arange(K), np.arange(K)] += first == m
    right = np.stack([_linear_on_sets(linear, sets).T, first < m], axis=2)
    return np.moveaxis(solve_systems(systems, right), 0, 2).swapaxes(0, 1)


def solve_systems(systems: FloatArray, right: FloatArray) -> FloatArray:
    """``np.linalg.solve``. One singular system fails the call for all; then all get a ridge of the size of rounding."""
    try:
        return np.asarray(np.linalg.solve(systems, right), dtype=np.float64)
    except np.linalg.LinAlgError:
        K = systems.shape[-1]
        ridge = K * LEAST_PIVOT * float(np.abs(systems).max())
        return np.asarray(np.linalg.solve(systems + ridge * np.eye(K), right), dtype=np.float64)


def _linear_on_sets(linear: FloatArray, sets: IndexArray) -> FloatArray:
    m = linear.shape[1]
    at = np.arange(0, linear.size, m) + np.minimum(sets, m - 1)
    return np.where(sets < m, linear.ravel().take(at), 0.0)
