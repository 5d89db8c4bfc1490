"""Views with different numbers of anchors.

All views are padded to the largest number M of anchors with anchors that no sample has. These add nothing to the
objective, so a permutation of the padded views is a matching in which some anchors have no partner, and all solvers,
bounds and margins hold for it as they are. The padding is dropped at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from ._columns import Order, order_matrix
from ._grams import GramMatrices
from ._matching import RELATIVE_TOLERANCE, PairProblem
from ._observed import PairSums
from ._types import FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class Placed:
    """Where each view's anchors are among the common columns, without any padding.

    Attributes
    ----------
    permutations : list of ndarray
        For every common column the view's anchor that was matched there, or -1.
    orders : list of ndarray
        The same, or a matrix where several anchors share a column.
    places : list of ndarray
        Column of the padded view that each common column is, or -1.
    """

    permutations: list[IndexArray]
    orders: list[Order]
    places: list[IndexArray]

    def matrices(self, sizes: Sequence[int]) -> list[FloatArray]:
        """Matrices of shape (anchors, common columns)."""
        return [order_matrix(order, size) for order, size in zip(self.orders, sizes, strict=True)]

    def margins(self, padded: Sequence[FloatArray]) -> FloatArray:
        """Margins of the common columns; infinite where the view has no anchor."""
        return np.array([np.where(at >= 0, found[at], np.inf) for found, at in zip(padded, self.places, strict=True)])


def pad_grams(grams: GramMatrices) -> GramMatrices:
    """Gram matrices of the padded views; the same object where all views have as many anchors."""
    v, m = grams.n_views, max(grams.sizes)
    if set(grams.sizes) == {m}:
        return grams
    kept = np.concatenate([view * m + np.arange(size) for view, size in enumerate(grams.sizes)])
    matrix = np.zeros((v * m, v * m))
    matrix[np.ix_(kept, kept)] = grams.matrix
    pairs = None
    if grams.pairs is not None:
        structures, masses = np.zeros((v, v * m, m)), np.zeros((v, v * m))
        structures[:, kept] = grams.pairs.structures
        masses[:, kept] = grams.pairs.masses
        pairs = PairSums(grams.pairs.shared, structures, masses)
    return GramMatrices(matrix, (m,) * v, grams.n_samples, None, pairs)


def drop_padding(
    permutations: Sequence[IndexArray],
    sizes: Sequence[int],
    reference: int | None,
    *,
    many_to_one: bool = False,
    only_reference: bool = False,
    problem: Callable[[int], PairProblem],
) -> Placed:
    """Take the padding out of a solution.

    Parameters
    ----------
    permutations : list of ndarray of shape (most anchors,)
        Of the padded views.
    sizes : list of int
        Numbers of anchors of the views.
    reference : int or None
    many_to_one : bool, default=False
        Anchors without a partner go to the reference's anchors instead of columns of their own.
    only_reference : bool, default=False
        Drop what has no partner: for matches that are not one-to-one.
    problem : callable
        Called with a view: what matching it to the reference is about.
    """
    m = max(sizes)
    width = m if reference is None else sizes[reference]
    there = [np.where(p < size, p, -1) for p, size in zip(permutations, sizes, strict=True)]
    alone = [width + np.flatnonzero(p[width:] >= 0) for p in there]
    places = [np.where(p[:width] >= 0, np.arange(width), -1) for p in there]
    matched = [p[:width] for p in there]
    if only_reference or not any(map(len, alone)):
        return Placed(matched, list(matched), places)
    if many_to_one:
        orders: list[Order] = list(matched)
        for view, left in enumerate(alone):
            if len(left):
                orders[view] = _share_columns(problem(view), permutations[view], matched[view], sizes[view])
        return Placed(matched, orders, places)
    # Anchors without a partner were compared with the reference only: those of two views never share a column.
    total = sum(map(len, alone))
    start = 0
    for view, left in enumerate(alone):
        own = np.full(total, -1, dtype=np.intp)
        own[start : start + len(left)] = left
        start += len(left)
        places[view] = np.append(places[view], own)
        matched[view] = np.append(matched[view], np.where(own >= 0, there[view][own], -1))
    return Placed(matched, list(matched), places)


def fill_columns(problem: PairProblem, permutation: IndexArray, n_reference: int, n_anchors: int) -> IndexArray:
    """Give anchors of the reference that stand beside no anchor one that is left over, if there are any.

    Where nothing speaks for a partner, to have none is as good, and solvers stop there. The same permutation comes back
    if a partner would lower the objective, which it cannot where graphs are >= 0.
    """
    columns, there = np.arange(len(permutation)), permutation < n_anchors
    bare = np.flatnonzero(~there & (columns < n_reference))
    loose = np.flatnonzero(there & (columns >= n_reference))
    if not len(bare) or not len(loose):
        return permutation
    rows, chosen = linear_sum_assignment(
        _gradient(problem, permutation)[np.ix_(bare, permutation[loose])], maximize=True
    )
    filled = permutation.copy()
    filled[bare[rows]], filled[loose[chosen]] = permutation[loose[chosen]], permutation[bare[rows]]
    lost = problem.value(permutation) - problem.value(filled)
    return permutation if lost > RELATIVE_TOLERANCE * problem.scale else filled


def _share_columns(problem: PairProblem, permutation: IndexArray, matched: IndexArray, n_anchors: int) -> FloatArray:
    """Matrix that also gives anchors without a partner a column of the reference: those with the largest benefit.

    No column gets more anchors than it must if all get as many: the number of the view's anchors over that of the
    reference's, rounded up.
    """
    width = len(matched)
    capacity = -(-n_anchors // width)
    P = order_matrix(matched, n_anchors)
    left = np.setdiff1d(np.arange(n_anchors), matched)
    slots = np.repeat(np.arange(width), capacity - (matched >= 0))
    rows, chosen = linear_sum_assignment(_gradient(problem, permutation)[np.ix_(slots, left)].T, maximize=True)
    P[left[rows], slots[chosen]] = 1.0
    return P


def _gradient(problem: PairProblem, permutation: IndexArray) -> FloatArray:
    """What every pair of anchors would add to the objective, K' + 2 lam S_2 P S_1; rows are the reference's."""
    return np.asarray(problem.K + 2.0 * problem.A @ problem.B[permutation])
