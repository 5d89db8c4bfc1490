"""Views with different numbers of anchors.

All views are padded to the largest number M of anchors with columns of zeros. These add nothing to the objective. A
permutation of the padded views is therefore a match in which some anchors have no partner, and all solvers, bounds and
margins apply. The padding is dropped at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..arrays import FloatArray, IndexArray
from ..graphs import GramMatrices, Order, PairSums, order_matrix
from ._pair_problem import RELATIVE_TOLERANCE, PairProblem, total


@dataclass(frozen=True, eq=False)
class CommonColumns:
    """The anchors of each view in the common columns, without padding."""

    permutations: list[IndexArray]  # the matched anchor of every common column, or -1
    orders: list[Order]  # the same, or a matrix if several anchors share a column
    padded_columns: list[IndexArray]  # column of the padded view for every common column, or -1

    def matrices(self, sizes: Sequence[int]) -> list[FloatArray]:
        return [order_matrix(order, size) for order, size in zip(self.orders, sizes, strict=True)]

    def margins(self, padded: Sequence[FloatArray]) -> FloatArray:
        both = zip(padded, self.padded_columns, strict=True)
        return np.array([np.where(at >= 0, found[at], np.inf) for found, at in both])


def pad_grams(grams: GramMatrices) -> GramMatrices:
    """Gram matrices of the padded views; the same object if all views have the same number of anchors."""
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
    problem: Callable[[int], PairProblem],
) -> CommonColumns:
    """Remove the padding from the permutations of padded views; ``sizes`` are the numbers of anchors of the views.

    Anchors without a partner get their own columns. With ``many_to_one`` they join anchors of the reference, by the
    ``problem`` of matching the view to the reference.
    """
    width = max(sizes) if reference is None else sizes[reference]
    present = [np.where(p < size, p, -1) for p, size in zip(permutations, sizes, strict=True)]
    alone = [width + np.flatnonzero(p[width:] >= 0) for p in present]
    places = [np.where(p[:width] >= 0, np.arange(width), -1) for p in present]
    matched = [p[:width] for p in present]
    if not any(map(len, alone)):
        return CommonColumns(matched, list(matched), places)
    if many_to_one:
        orders: list[Order] = list(matched)
        for view, left in enumerate(alone):
            if len(left):
                orders[view] = _share_columns(problem(view), permutations[view], matched[view], sizes[view])
        return CommonColumns(matched, orders, places)
    # Anchors without a partner were compared with the reference only, so two views never share such a column.
    total = sum(map(len, alone))
    start = 0
    for view, left in enumerate(alone):
        own = np.full(total, -1, dtype=np.intp)
        own[start : start + len(left)] = left
        start += len(left)
        places[view] = np.append(places[view], own)
        matched[view] = np.append(matched[view], np.where(own >= 0, present[view][own], -1))
    return CommonColumns(matched, list(matched), places)


def shared_columns(partners: Sequence[IndexArray], sizes: Sequence[int], reference: int) -> CommonColumns:
    """Columns of a many-to-one match: every anchor of a view goes to the column of its reference anchor."""
    width = sizes[reference]
    matched: list[IndexArray] = []
    orders: list[Order] = []
    for partner, size in zip(partners, sizes, strict=True):
        P = np.zeros((size, width))
        P[np.arange(size), partner[:size]] = 1.0
        matched.append(np.where(P.any(axis=0), P.argmax(axis=0), -1).astype(np.intp))
        orders.append(P if (P.sum(axis=0) > 1).any() else matched[-1])
    return CommonColumns(matched, orders, [np.arange(width)] * len(sizes))


def fill_columns(problem: PairProblem, permutation: IndexArray, n_reference: int, n_anchors: int) -> IndexArray:
    """Match anchors of the reference without a partner to anchors of the view without a partner.

    If a partner adds nothing to the objective, solvers may leave an anchor without one. The permutation does not change
    if a partner would lower the objective, which cannot happen if graphs are >= 0.
    """
    columns, present = np.arange(len(permutation)), permutation < n_anchors
    empty = np.flatnonzero(~present & (columns < n_reference))
    loose = np.flatnonzero(present & (columns >= n_reference))
    if not len(empty) or not len(loose):
        return permutation
    benefit = _gradient(problem, permutation)[np.ix_(empty, permutation[loose])]
    rows, chosen = linear_sum_assignment(benefit, maximize=True)
    filled = permutation.copy()
    filled[empty[rows]], filled[loose[chosen]] = permutation[loose[chosen]], permutation[empty[rows]]
    lost = problem.value(permutation) - problem.value(filled)
    return permutation if lost > RELATIVE_TOLERANCE * problem.scale else filled


def _share_columns(problem: PairProblem, permutation: IndexArray, matched: IndexArray, n_anchors: int) -> FloatArray:
    """Matrix that also gives anchors without a partner a column of the reference, with the largest total benefit.

    No column gets more anchors than anchors of the view over anchors of the reference, rounded up.
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
    """Contribution of every pair of anchors to the objective, K' + 2 lam S_2 P S_1; rows are reference anchors."""
    return np.asarray(problem.K + 2.0 * total(problem.A @ problem.B[..., permutation, :]))
