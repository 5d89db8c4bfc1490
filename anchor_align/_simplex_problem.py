"""The least-squares problems that all rows share, on a common scale.

With anchors a_1 ... a_m (rows of A) and a row x, ``sum(z) = 1`` makes the problem

    min |x - z A|^2 + alpha |z|^2   s.t.  z >= 0,  sum(z) = 1

independent of a common shift of x and A, so the mean anchor is taken off both: what is left has the size of the
distances between the points, and no digits are lost to a large common offset. Everything is then divided by one unit,
so that numbers near one come out for any scale of the data. Up to a constant, half the objective of a row is

    z H z' / 2 - c z',      H = A A' + alpha I  (the same for all rows),      c = x A'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ._types import FloatArray
from .errors import InputError

# Conditions of H below this: solutions are dense as a rule, and a few whole exchanges of the support find them.
EASY_CONDITION = 8.0
FEW_FEATURES = 32


@dataclass(frozen=True, eq=False)
class Quadratic:
    """What all rows share: centred anchors over ``unit``, their Gram and its largest eigenvalue, alpha over unit^2."""

    anchors: FloatArray
    gram: FloatArray
    alpha: float
    shift: FloatArray
    unit: float
    top: float

    @classmethod
    def from_anchors(cls, A: FloatArray, alpha: float) -> Quadratic:
        """Centre and scale; alpha is that of the caller."""
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
        """Whether products with the anchors are cheaper, and lose fewer digits, than products with their Gram."""
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
class Rows:
    """Rows of one block: c of each, and the centred coordinates where products with them are cheaper."""

    shared: Quadratic
    linear: FloatArray
    coordinates: FloatArray | None

    def __len__(self) -> int:
        return len(self.linear)

    def take(self, index: np.ndarray) -> Rows:
        return Rows(self.shared, self.linear[index], None if self.coordinates is None else self.coordinates[index])

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
        """Size of each row's problem: what a gap is relative to."""
        shared = self.shared
        spread = np.ptp(self.linear, axis=1)
        # Nothing at all has a size where all anchors are equal and alpha is 0; every gap is 0 there.
        return np.asarray(spread + (float(shared.gram.diagonal().max()) + shared.alpha / shared.n_anchors or 1.0))

    def gaps(self, Z: FloatArray) -> FloatArray:
        """Relative KKT gap of every row: z g' - min(g), over the row's scale."""
        G = self.gradient(Z)
        gap = np.einsum("ij,ij->i", Z, G) - G.min(axis=1)
        return np.asarray(gap / self.scales())
