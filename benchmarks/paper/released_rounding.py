"""Fusions of the paper's ablation: the mean of graphs that are aligned as in the paper's released code.

The fixed point on the raw graphs, view 0 as reference, every anchor of a view to the reference anchor with the largest
entry. The code's weight c multiplies the feature term, so lam is 1 / (2 c).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anchor_align import Fusion, align, hookimpl

WEIGHTS = {"released-0": 0.0, "released-1e-4": 1e-4, "released-1": 1.0, "released-1e4": 1e4}


class Released(Fusion):
    """The mean after the released alignment, for one weight of the feature term."""

    aligns = False  # not by the study's own match
    uses_grams = True
    c: float

    def maps(self, orders: Sequence[Any], grams: Any) -> Sequence[Any]:
        """One matrix for each view, a 1 in each row."""
        lam = 1 / (2 * self.c) if self.c else np.inf
        return align(grams, lam, lam_scale="paper", reference=0, method="pfp-many-to-one")


@hookimpl
def anchor_align_fusions() -> list[type[Fusion]]:
    """One fusion for each weight of the paper's grid."""
    return [type("Released", (Released,), {"name": name, "c": c}) for name, c in WEIGHTS.items()]
