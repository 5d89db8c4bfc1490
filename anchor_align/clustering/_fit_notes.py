"""Sentences about a fit: views that agree with the others hardly better than by chance, and what an adapter chose."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..errors import ChanceWarning
from ..matching import AnchorAligner, chance_notes
from ..plugins import Adapter


def warn_of_chance(aligner: AnchorAligner | None, names: Sequence[str]) -> None:
    """Warn of views that agree with the others hardly better than views with other samples would."""
    if aligner is None:
        return
    notes = chance_notes(aligner, [f"view {name}" for name in names])
    if notes:
        text, which = "; ".join(notes), "It" if len(notes) == 1 else "They"
        text = f"{text[0].upper()}{text[1:]}. {which} may not show the clusters of the other views."
        warnings.warn(text, ChanceWarning, stacklevel=3)


def choice_note(adapter: Adapter, chosen: dict[str, Any]) -> str:
    """What an adapter chose from the data, and the scores behind the choice, in one sentence."""
    of_settings = adapter.get_params(deep=False)
    settings, scores = (
        "; ".join(f"{name} {_listed(value)}" for name, value in chosen.items() if (name in of_settings) is wanted)
        for wanted in (True, False)
    )
    return f"Adapter {adapter.name!r} chose {settings or 'no setting'}" + (f" ({scores})." if scores else ".")


def _listed(value: Any) -> str:
    each = value if isinstance(value, (list, tuple)) else [value]
    return ", ".join(f"{x:.2f}" if isinstance(x, float) else str(x) for x in each)
