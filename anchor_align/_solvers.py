"""Solving one pair by name: known correspondences, a canonical numbering of the anchors, then the solver."""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np

from ._ascent import ascend
from ._exact import MAX_ENUMERATED, solve_exactly
from ._matching import Match, PairProblem, assign
from ._pfp import fixed_point
from ._types import FloatArray, IndexArray

MANY_TO_ONE: Final = "pfp-many-to-one"
METHODS: Final = ("ascent", "pfp", "exact", MANY_TO_ONE)


def solve_pair(problem: PairProblem, method: str, pairs: IndexArray, *, n_restarts: int, seed: int) -> Match:
    """Match one pair of views.

    Parameters
    ----------
    problem : PairProblem
    method : {"ascent", "pfp", "exact", "pfp-many-to-one"}
    pairs : ndarray of shape (n_pairs, 2)
        Reference anchors and the view's anchors that are known to correspond.
    n_restarts, seed : int
        Of the ascent.
    """
    if not len(pairs):
        return _solve_free(problem, method, np.arange(problem.size), n_restarts, seed)
    rows, columns = pairs[:, 0], pairs[:, 1]
    free_rows = np.setdiff1d(np.arange(problem.size), rows)
    free_columns = np.setdiff1d(np.arange(problem.size), columns)
    rest = problem.fix(rows, columns)
    # The identity is a fair comparison only if the seeds allow it.
    identity = np.arange(rest.size) if np.array_equal(rows, columns) else None
    match = _solve_free(rest, method, identity, n_restarts, seed)
    permutation = np.empty(problem.size, dtype=np.intp)
    permutation[rows] = columns
    permutation[free_rows] = free_columns[match.permutation]
    return dataclasses.replace(match, permutation=permutation)


def _solve_free(problem: PairProblem, method: str, identity: IndexArray | None, n_restarts: int, seed: int) -> Match:
    if problem.size <= 1:
        permutation = np.arange(problem.size)
        value = problem.value(permutation)
        return Match(permutation, value, 0, (value,))
    # Anchors are numbered by what they are, not by where they came, and the last bits, which depend on the order of
    # summation, are dropped: shuffled columns, other threads or another scale meet the same numbers in the same order,
    # so the same random starts and the same ties lead to the same partners.
    problem = dataclasses.replace(problem, K=_round(problem.K), A=_round(problem.A), B=_round(problem.B))
    rows = _canonical_order(problem.K, problem.A)
    columns = _canonical_order(problem.K.T, problem.B)
    canonical = problem.permute(rows, columns)
    rng = np.random.default_rng(seed)
    if method in ("pfp", MANY_TO_ONE):
        match = fixed_point(canonical, one_to_one=method == "pfp")
    elif method == "exact" or problem.size <= MAX_ENUMERATED:
        match = solve_exactly(canonical, rng)
    elif not problem.A.any() or not problem.B.any():
        # Feature term only: one linear assignment is the exact answer.
        match = _finished(canonical, assign(canonical.K))
    else:
        candidates = () if identity is None else (np.argsort(columns)[identity[rows]],)
        match = ascend(canonical, n_restarts=n_restarts, rng=rng, candidates=candidates)
    permutation = np.empty(problem.size, dtype=np.intp)
    permutation[rows] = columns[match.permutation]
    return dataclasses.replace(match, permutation=permutation)


def _finished(problem: PairProblem, permutation: IndexArray) -> Match:
    value = problem.value(permutation)
    return Match(permutation, value, 1, (value,))


def _round(X: FloatArray) -> FloatArray:
    """Each entry to 40 significant bits (1e-12): of the 52 bits behind the point the last 12 are rounded off."""
    bits = np.ascontiguousarray(X).view(np.int64) + (1 << 11)
    bits &= -(1 << 12)
    return bits.view(np.float64)


def _canonical_order(K: FloatArray, S: FloatArray) -> IndexArray:
    """Order of the anchors of the rows by numbers that do not depend on how anchors are numbered."""
    diagonal = S.diagonal()
    # The diagonal divided by its largest entry: lam may be as large as a float can be.
    keys = (S @ (diagonal / (diagonal.max() or 1.0)), S.sum(axis=1), diagonal, K.max(axis=1), K.sum(axis=1))
    # Equal up to rounding is equal.
    return np.lexsort([np.round(values / (np.abs(values).max() or 1.0), 9) for values in keys])
