"""Whether the partners that were found rest on enough samples."""

from __future__ import annotations

import itertools
import warnings

import numpy as np

from ._grams import GramMatrices
from ._types import IndexArray

# An anchor that has less than this among the samples that both views have rests on too few: the sum of its column, in
# units of a mean row's sum. For graphs whose rows sum to one it is the weight of a single sample.
LEAST_MASS = 1.0
# Anchors that a message names for each view.
MOST_NAMED = 5


def warn_of_thin_anchors(grams: GramMatrices, reference: int | None) -> None:
    """Warn, once, of anchors whose partners rest on too few shared samples, and of views that share none.

    A view is judged by the samples that it shares with the reference, or, without one, with the view that is best for
    the anchor.
    """
    if grams.pairs is None:
        return
    parts = []
    pairs = [pair for pair in itertools.combinations(range(grams.n_views), 2) if reference is None or reference in pair]
    apart = [(u, v) for u, v in pairs if not grams.shared[u, v]]
    if apart:
        more = f" and {len(apart) - MOST_NAMED} other pairs" if len(apart) > MOST_NAMED else ""
        named = ", ".join(f"{u} and {v}" for u, v in apart[:MOST_NAMED])
        parts.append(f"views {named}{more} (no sample shared: matched through other views)")
    for view in range(grams.n_views):
        if view == reference or grams.n_views == 1 or (reference is not None and not grams.shared[reference, view]):
            continue
        thin = _thin_anchors(grams, view, reference)
        if thin.size:
            more = f" and {thin.size - MOST_NAMED} more" if thin.size > MOST_NAMED else ""
            parts.append(f"view {view}, anchors {thin[:MOST_NAMED].tolist()}{more}")
    if parts:
        warnings.warn(
            f"Too few shared samples to trust the partners of: {'; '.join(parts)}. "
            f"Expected a column to sum to {LEAST_MASS:g} mean rows or more over the samples that both views have.",
            stacklevel=4,
        )


def _thin_anchors(grams: GramMatrices, view: int, reference: int | None) -> IndexArray:
    others = [u for u in range(grams.n_views) if u != view] if reference is None else [reference]
    masses = np.array([_masses(grams, view, other) for other in others])
    return np.flatnonzero(masses.max(axis=0) < LEAST_MASS)


def _masses(grams: GramMatrices, view: int, other: int) -> np.ndarray:
    """Sums of a view's columns over the samples shared with another, in units of its mean row's sum over all it has."""
    sums = np.abs(grams.column_sums(view, other))
    mean_row = np.abs(grams.column_sums(view)).sum() / max(int(grams.shared[view, view]), 1)
    return np.asarray(sums / mean_row if mean_row > 0 else np.zeros_like(sums))
