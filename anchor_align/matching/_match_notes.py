"""Sentences about a match: views that are matched no better than by chance, and anchors that are nearly tied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ._aligner import AnchorAligner


def chance_notes(aligner: AnchorAligner, names: Sequence[str]) -> list[str]:
    """One clause for each view that agrees with the others no better than by chance; ``names`` are the views'."""
    if aligner.above_chance_ is None:
        return []
    return [
        f"{names[view]} agrees with the other views hardly better than by chance"
        for view in np.flatnonzero(~aligner.above_chance_).tolist()
    ]


def tie_notes(aligner: AnchorAligner) -> list[str]:
    """One clause if anchors are nearly tied."""
    number = int(aligner.exchangeable_.sum())
    matched = sum(int((p >= 0).sum()) for v, p in enumerate(aligner.permutations_) if v != aligner.reference_)
    return [f"{number} of {matched} anchors could be exchanged with another at almost no loss"] if number else []
