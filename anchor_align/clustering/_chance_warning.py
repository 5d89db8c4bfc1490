"""Warnings of a fit: views that agree with the others hardly better than by chance."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from ..errors import ChanceWarning
from ..matching import AnchorAligner, chance_notes


def warn_of_chance(aligner: AnchorAligner | None, names: Sequence[str]) -> None:
    """Warn of views that agree with the others hardly better than views with other samples would."""
    if aligner is None:
        return
    notes = chance_notes(aligner, [f"view {name}" for name in names])
    if notes:
        text, which = "; ".join(notes), "It" if len(notes) == 1 else "They"
        text = f"{text[0].upper()}{text[1:]}. {which} may not show the clusters of the other views."
        warnings.warn(text, ChanceWarning, stacklevel=3)
