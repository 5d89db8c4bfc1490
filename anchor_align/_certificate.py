"""How good a match is: its two terms, an upper bound, and how clear each anchor's partner is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ._matching import RELATIVE_TOLERANCE, PairProblem, upper_bound
from ._scale import PairTerms
from ._types import FloatArray, IndexArray

# Share of what anchors add to the objective on average, below which a margin tells nothing.
AMBIGUOUS = 0.01


@dataclass(frozen=True, eq=False)
class Certificate:
    """Numbers about one view's match; ``margins`` has one entry per aligned column."""

    feature: float
    structure: float
    objective: float
    upper_bound: float
    margins: FloatArray


def certify(
    terms: Sequence[PairTerms], lam: float, permutation: IndexArray, pairs: IndexArray, sizes: tuple[int, int]
) -> Certificate:
    """Judge a permutation by the mean over some pairs of views.

    Parameters
    ----------
    terms : list of PairTerms
        Of one pair, or of several that the same view is in.
    lam : float
    permutation : ndarray of shape (n_anchors,)
    pairs : ndarray of shape (n_pairs, 2)
        Correspondences that were fixed in advance.
    sizes : tuple of int
        Numbers of anchors of the reference and of the view; those beyond stand for no anchor.
    """
    problems = [each.problem(lam) for each in terms]
    scale = _mean(problem.scale for problem in problems)
    feature = _mean(float(each.K[np.arange(len(permutation)), permutation].sum()) for each in terms)
    structure = _mean(float(np.vdot(each.S1, each.S2[permutation][:, permutation])) for each in terms)
    objective = _mean(problem.value(permutation) for problem in problems)
    # No permutation is better for the mean than the best one of each pair is for that pair.
    bound = _mean(upper_bound(each.fix(pairs[:, 0], pairs[:, 1]) if len(pairs) else each) for each in problems)
    if len(np.unique(permutation)) < len(permutation):
        # Not one-to-one: the bound does not hold for it, and there are no partners to exchange.
        return Certificate(feature, structure, objective, bound, np.full(len(permutation), np.nan))
    # A bound that is attained leaves no gap: rounding must not show one.
    if bound - objective <= 4 * RELATIVE_TOLERANCE * scale:
        bound = objective
    return Certificate(feature, structure, objective, bound, _margins(problems, permutation, pairs[:, 0], sizes))


def ambiguous(margins: FloatArray, objective: float) -> npt.NDArray[np.bool_]:
    """Which anchors of a view have partners that are hardly better than others.

    An anchor is ambiguous if another partner would cost no more than a hundredth of what anchors add to the objective
    on average.
    """
    return np.asarray(margins <= AMBIGUOUS * max(objective, 0.0) / len(margins))


def _margins(
    problems: Sequence[PairProblem], permutation: IndexArray, fixed: IndexArray, sizes: tuple[int, int]
) -> FloatArray:
    """Loss of the cheapest swap that gives an anchor another partner; infinite where there is none."""
    losses = np.zeros((len(permutation), len(permutation)))
    for problem in problems:
        reduced = problem.reduced
        losses -= reduced.swap_gains(permutation, reduced.product(permutation)) / len(problems)
    np.fill_diagonal(losses, np.inf)
    losses[fixed, :] = np.inf
    losses[:, fixed] = np.inf
    # To exchange two of those that stand for no anchor changes nothing.
    for absent in (np.arange(len(permutation)) >= sizes[0], permutation >= sizes[1]):
        losses[np.ix_(absent, absent)] = np.inf
    margins = np.asarray(losses.min(axis=1))
    margins[permutation >= sizes[1]] = np.inf
    return margins


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
