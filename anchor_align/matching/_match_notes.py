"""Sentences about a match: views that are matched no better than by chance, and anchors that are nearly tied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ._aligner import AnchorAligner


def chance_notes(aligner: AnchorAligner, names: Sequence[str]) -> list[str]:
    """One clause for each view whose match is not clearly above chance; ``names`` are those of the views."""
    if aligner.chance_ is None or aligner.chance_sd_ is None or aligner.above_chance_ is None:
        return []
    return [
        f"{names[view]} is matched hardly better than by chance: objective {aligner.objective_[view]:.3g}, with its "
        f"samples shuffled {aligner.chance_[view]:.3g} \N{PLUS-MINUS SIGN} {aligner.chance_sd_[view]:.1g}"
        for view in np.flatnonzero(~aligner.above_chance_).tolist()
    ]


def tie_notes(aligner: AnchorAligner) -> list[str]:
    """One clause if anchors are nearly tied."""
    number = int(aligner.exchangeable_.sum())
    matched = sum(int((p >= 0).sum()) for v, p in enumerate(aligner.permutations_) if v != aligner.reference_)
    return [f"{number} of {matched} anchors could be exchanged with another at almost no loss"] if number else []
