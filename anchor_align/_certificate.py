"""How good a match is: its two terms, an upper bound, and how clear each anchor's partner is."""

from __future__ import annotations

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


def certify(terms: PairTerms, lam: float, permutation: IndexArray, pairs: IndexArray) -> Certificate:
    """Judge a permutation; ``pairs`` are the correspondences that were fixed in advance."""
    problem = terms.problem(lam)
    feature = float(terms.K[np.arange(len(permutation)), permutation].sum())
    structure = float(np.vdot(terms.S1, terms.S2[permutation][:, permutation]))
    objective = problem.value(permutation)
    bound = upper_bound(problem.fix(pairs[:, 0], pairs[:, 1]) if len(pairs) else problem)
    # A bound that is attained leaves no gap: rounding must not show one.
    if bound - objective <= 4 * RELATIVE_TOLERANCE * problem.scale:
        bound = objective
    return Certificate(feature, structure, objective, bound, _margins(problem, permutation, pairs[:, 0]))


def ambiguous(margins: FloatArray, objective: float) -> npt.NDArray[np.bool_]:
    """Which anchors of a view have partners that are hardly better than others.

    An anchor is ambiguous if another partner would cost no more than a hundredth of what anchors add to the objective
    on average.
    """
    return np.asarray(margins <= AMBIGUOUS * max(objective, 0.0) / len(margins))


def _margins(problem: PairProblem, permutation: IndexArray, fixed: IndexArray) -> FloatArray:
    """Loss of the cheapest swap that gives an anchor another partner; infinite where there is none."""
    reduced = problem.reduced
    losses = -reduced.swap_gains(permutation, reduced.product(permutation))
    np.fill_diagonal(losses, np.inf)
    losses[fixed, :] = np.inf
    losses[:, fixed] = np.inf
    return np.asarray(losses.min(axis=1))
