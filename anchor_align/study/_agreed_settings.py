"""The setting of a grid that the agreement of the views chooses: no labels are used."""

from __future__ import annotations

from collections.abc import Sequence

from ..clustering import Criteria, DrawCriteria, chosen_setting
from ._results import Record


def agreed(grid: Sequence[list[Record]]) -> list[Record]:
    """The runs of the chosen setting; ``grid`` has the runs of each setting of an arm, the default setting first.

    As everywhere, the first setting stays unless another has a clearly higher score.
    """
    found = [criteria_of(runs) for runs in grid]
    return grid[chosen_setting([0.0 if each is None else each.score for each in found])]


def criteria_of(runs: Sequence[Record]) -> DrawCriteria | None:
    """Agreement, evenness and stability over the repeats of a setting; None if no repeat has them."""
    draws, labels = [], []
    for run in runs:
        if run.labels is not None and run.anchors_in_use is not None and run.evenness is not None:
            draws.append(Criteria(run.agreement, run.anchors_in_use, run.evenness))
            labels.append(run.labels)
    return DrawCriteria.of(draws, labels)
