"""Quality of a match: its terms, an upper bound, the margin of each partner, and a warning about few shared samples."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IndexArray
from ..errors import view_name
from ..graphs import GramMatrices
from ._pair_problem import RELATIVE_TOLERANCE, PairProblem, permuted, upper_bound
from ._scaled_grams import PairTerms

# A margin below this fraction of the mean contribution of an anchor to the objective is not significant.
AMBIGUOUS = 0.01
# Least column sum of an anchor over the samples that both views have, in units of the mean row sum. If rows sum to one,
# it is the weight of a single sample.
LEAST_MASS = 1.0
MOST_NAMED = 5  # anchors that a message names for each view


@dataclass(frozen=True, eq=False)
class Certificate:
    """Numbers about one view's match; ``margins`` has one entry per aligned column.

    Margins are losses of what the match maximises: the objective and what profiles add.
    """

    feature: float
    structure: float
    objective: float
    upper_bound: float
    margins: FloatArray


def certify(
    terms: PairTerms,
    lam: float,
    permutation: IndexArray,
    pairs: IndexArray,
    sizes: tuple[int, int],
    guided: PairTerms | None = None,
) -> Certificate:
    """Certificate of a permutation.

    ``pairs``, of shape (n_pairs, 2), are fixed correspondences. ``sizes`` are the numbers of anchors of the reference
    and of the view; higher numbers are padding. ``guided`` are the terms with what profiles add.
    """
    problem = terms.problem(lam)
    feature = float(terms.K[np.arange(len(permutation)), permutation].sum())
    structure = float(np.vdot(terms.S1, permuted(terms.S2, permutation)))
    objective = problem.value(permutation)
    bound = upper_bound(problem.fix(pairs[:, 0], pairs[:, 1]) if len(pairs) else problem)
    # Rounding must not show a gap where the bound is attained.
    if bound - objective <= 4 * RELATIVE_TOLERANCE * problem.scale:
        bound = objective
    maximised = problem if guided is None else guided.problem(lam)
    return Certificate(feature, structure, objective, bound, _margins(maximised, permutation, pairs[:, 0], sizes))


def certify_many_to_one(terms: PairTerms, lam: float, partners: IndexArray) -> Certificate:
    """Certificate of the reference anchor of every anchor: the bound is that of permutations, and margins are NaN."""
    problem = terms.problem(lam)
    feature = float(terms.K[partners, np.arange(len(partners))].sum())
    structure = float(np.vdot(permuted(terms.S1, partners), terms.S2))
    objective = problem.exchanged.value(partners)
    return Certificate(feature, structure, objective, upper_bound(problem), np.full(len(partners), np.nan))


def ambiguous(margins: FloatArray, objective: float) -> npt.NDArray[np.bool_]:
    """Whether another partner costs an anchor at most a hundredth of the mean contribution of anchors."""
    return np.asarray(margins <= AMBIGUOUS * max(objective, 0.0) / len(margins))


def _margins(problem: PairProblem, permutation: IndexArray, fixed: IndexArray, sizes: tuple[int, int]) -> FloatArray:
    """Loss of the cheapest swap that gives an anchor another partner; infinite if there is none."""
    reduced = problem.reduced
    losses = -reduced.swap_gains(permutation, reduced.product(permutation))
    # Rounding must not show a loss or a gain where two partners are equally good.
    losses[np.abs(losses) <= 4 * reduced.tolerance] = 0.0
    np.fill_diagonal(losses, np.inf)
    losses[fixed, :] = np.inf
    losses[:, fixed] = np.inf
    # An exchange of two padded anchors changes nothing.
    for absent in (np.arange(len(permutation)) >= sizes[0], permutation >= sizes[1]):
        losses[np.ix_(absent, absent)] = np.inf
    margins = np.asarray(losses.min(axis=1))
    margins[permutation >= sizes[1]] = np.inf
    return margins


def warn_of_thin_anchors(grams: GramMatrices, reference: int | None) -> None:
    """Warn once about anchors with too few shared samples, and about views that share none.

    Shared samples are those with the reference or, without one, with the view that is best for the anchor.
    """
    if grams.pairs is None:
        return
    parts = []
    pairs = [pair for pair in itertools.combinations(range(grams.n_views), 2) if reference is None or reference in pair]
    apart = [(u, v) for u, v in pairs if not grams.shared[u, v]]
    if apart:
        more = f" and {len(apart) - MOST_NAMED} other pairs" if len(apart) > MOST_NAMED else ""
        named = ", ".join(f"{view_name(u)} and {view_name(v)}" for u, v in apart[:MOST_NAMED])
        parts.append(f"views {named}{more} (no sample shared: matched through other views)")
    for view in range(grams.n_views):
        if view == reference or grams.n_views == 1 or (reference is not None and not grams.shared[reference, view]):
            continue
        others = [u for u in range(grams.n_views) if u != view] if reference is None else [reference]
        sums = np.abs([grams.column_sums(view, other) for other in others]).max(axis=0)
        mean_row = np.abs(grams.column_sums(view)).sum() / max(int(grams.shared[view, view]), 1)
        thin = np.flatnonzero((sums / mean_row if mean_row > 0 else np.zeros_like(sums)) < LEAST_MASS)
        if thin.size:
            more = f" and {thin.size - MOST_NAMED} more" if thin.size > MOST_NAMED else ""
            parts.append(f"view {view_name(view)}, anchors {thin[:MOST_NAMED].tolist()}{more}")
    if parts:
        warnings.warn(
            f"Too few shared samples to trust the partners of: {'; '.join(parts)}. "
            f"Expected a column to sum to {LEAST_MASS:g} mean rows or more over the samples that both views have.",
            stacklevel=4,
        )
