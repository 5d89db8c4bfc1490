"""Ascent: repeated linear assignment and pairwise swaps from several starts.

It uses the reduced form of the problem (see ``Reduced``) and the moves of :mod:`._climb`.

Starts are the gradient at the uniform matrix (the centre of all permutations) and the assignment of the Gilmore-Lawler
bound. For few anchors there are also the feature term alone and random starts, most of them for up to twelve anchors;
for more anchors, but not for very many, the feature term if the first two disagree. If the bound is far, the problem is
hard: the best answer is then shaken and climbed again.

The result is never below any start, nor below the assignment of the feature term. It may be below the result of the
fixed point or of another solver: in one or two of a hundred problems of ``benchmarks/speed/pair_problems.py``, by at
most a thousandth. A guarantee would need all of these methods.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import IndexArray
from ._climb import Climb
from ._pair_problem import Match, PairProblem, Reduced, assign, gilmore_lawler

FEW = 12  # up to this many anchors there are several times as many starts and restarts
FEW_STARTS = 40  # random starts for few anchors
FEW_RESTARTS = 4  # and restarts, in units of ``n_restarts``
SMALL = 32  # up to this many anchors a climb is so fast that random starts are always added
# Up to this size all restarts are used; beyond it fewer, because each takes time of about the cube of the size.
ALL_RESTARTS = 50
MANY = 700  # from this many anchors on a climb takes so long that the feature term alone is no start
# Relative distance from the bound above which a problem is hard; up to the second, half the restarts are enough.
HARD_GAP = 3e-3
VERY_HARD_GAP = 2e-2


def ascend(
    problem: PairProblem, *, n_restarts: int, rng: np.random.Generator, candidates: tuple[IndexArray, ...] = ()
) -> Match:
    """Climb from several starts and keep the best; the result is not below any of the ``candidates``.

    The best answer of a hard problem is shaken and climbed again ``n_restarts`` times, less often for many anchors.
    """
    reduced = problem.reduced
    search = _Search(reduced)
    # At the uniform matrix the gradient of the reduced quadratic term is zero: only the linear term is left.
    uniform = assign(reduced.L)
    search.climb(uniform)
    bound, profile = gilmore_lawler(reduced, near=uniform)
    search.climb(profile)
    feature = assign(problem.K, near=uniform)
    if reduced.size <= SMALL and not search.proven(bound):
        search.climb(feature)
        for _ in range(FEW_STARTS if reduced.size <= FEW else min(8, 160 // reduced.size)):
            search.climb(rng.permutation(reduced.size))
    hard = not search.proven(bound, HARD_GAP)
    if reduced.size < MANY and (hard or (search.disagreed and not search.proven(bound))):
        search.climb(feature)
    if hard:
        # Without a feature term there is one start less.
        wanted = n_restarts * (0.5 if problem.K.any() and search.proven(bound, VERY_HARD_GAP) else 1.0)
        wanted *= FEW_RESTARTS if reduced.size <= FEW else min(1.0, ALL_RESTARTS / reduced.size)
        for _ in range(math.ceil(wanted)):
            search.climb(_shake(search.best.permutation, rng))
    for candidate in (feature, *candidates):
        # An equally good one is climbed too: a swap may improve it, though not the best one.
        if problem.value(candidate) > search.best.value - reduced.tolerance:
            search.climb(candidate)
    return search.best


def climb(problem: PairProblem, *starts: IndexArray) -> Match:
    """Climb from a few permutations; the best result, the first of equals."""
    search = _Search(problem.reduced)
    for start in starts:
        search.climb(start)
    return search.best


def _shake(p: IndexArray, rng: np.random.Generator) -> IndexArray:
    """Move six of ten anchors to each other's places in a random cycle."""
    moved = rng.permutation(len(p))[: max(3, int(0.6 * len(p)))]
    shaken = p.copy()
    shaken[moved] = p[np.roll(moved, 1)]
    return shaken


class _Search:
    """The climbs of one problem: the best result, and the permutations that were visited."""

    def __init__(self, reduced: Reduced) -> None:
        self.reduced = reduced
        self.best = Match(np.arange(reduced.size), -np.inf, 0, ())
        self.disagreed = False
        self._visited: set[bytes] = set()

    def climb(self, p: IndexArray) -> None:
        """Climb from ``p`` to a permutation that neither an assignment nor a swap improves."""
        key = p.tobytes()
        if key in self._visited:
            return
        self._visited.add(key)
        way = Climb(self.reduced, p)
        if not way.run(self._visited):
            return
        value = way.history[-1]
        if np.isfinite(self.best.value) and abs(value - self.best.value) > self.reduced.tolerance:
            self.disagreed = True
        if value > self.best.value + self.reduced.tolerance:
            self.best = Match(way.p, value, len(way.history), tuple(way.history))

    def proven(self, bound: float, gap: float = 0.0) -> bool:
        return self.best.value >= bound - gap * abs(bound) - self.reduced.tolerance
