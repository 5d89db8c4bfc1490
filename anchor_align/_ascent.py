"""Ascent: repeated linear assignment and pairwise swaps from several starts.

Works on the reduced form of the problem (see :class:`~anchor_align._matching.Reduced`). Two moves, each taken only
when it raises the objective:

- *assignment*: the permutation that is best for the gradient at the current one, all anchors at once;
- *swap*: two anchors exchange their partners; the gains of all pairs come from one matrix product, and after each
  swap the other candidates are checked again in O(m).

Starts: the gradient at the uniform matrix (the centre of all permutations) and the assignment behind the Gilmore-Lawler
bound; for few anchors also the feature term alone and random ones; else the feature term where the first two disagree.
Where the bound is far the problem is hard: then the best answer is shaken and climbed again a few times.

The result is never below any start, nor below the feature term's assignment. That it is not below the fixed point's
either is measured by the benchmarks, not guaranteed: a guarantee would cost running that too.
"""

from __future__ import annotations

import math

import numpy as np

from ._matching import Match, PairProblem, Reduced, assign, gilmore_lawler
from ._types import FloatArray, IndexArray

# Up to this many anchors a climb costs so little that random starts are always added.
SMALL = 32
# From this size on a linear assignment costs more than the swaps: swaps go first.
LARGE = 80
# Up to this size every restart asked for is spent; beyond it fewer, as each costs about size cubed.
ALL_RESTARTS = 50
# Relative distance from the bound above which a problem is hard; up to the second, half the restarts do.
HARD_GAP = 3e-3
VERY_HARD_GAP = 2e-2


def ascend(
    problem: PairProblem,
    *,
    n_restarts: int,
    rng: np.random.Generator,
    candidates: tuple[IndexArray, ...] = (),
) -> Match:
    """Climb from several starts and keep the best.

    Parameters
    ----------
    problem : PairProblem
    n_restarts : int
        How often the best answer of a hard problem is shaken and climbed again; fewer for many anchors.
    rng : numpy.random.Generator
    candidates : tuple of index arrays
        Permutations that the result must not fall below.
    """
    reduced = problem.reduced
    search = _Search(reduced)
    # The reduced quadratic term has no gradient at the uniform matrix: only the linear term is left.
    uniform = assign(reduced.L)
    bound, profile = gilmore_lawler(reduced, near=uniform)
    feature = assign(problem.K, near=uniform)
    search.climb(uniform)
    search.climb(profile)
    if reduced.size <= SMALL and not search.proven(bound):
        search.climb(feature)
        for _ in range(min(8, 160 // reduced.size)):
            search.climb(rng.permutation(reduced.size))
    hard = not search.proven(bound, HARD_GAP)
    if hard or (search.disagreed and not search.proven(bound)):
        search.climb(feature)
    if hard:
        # Without a feature term there is one start less, and less to go by.
        share = 0.5 if problem.K.any() and search.proven(bound, VERY_HARD_GAP) else 1.0
        for _ in range(_restarts(share * n_restarts, reduced.size)):
            search.climb(_shake(search.best.permutation, rng))
    for candidate in (feature, *candidates):
        if problem.value(candidate) > search.best.value + reduced.tolerance:
            search.climb(candidate)
    return search.best


def _restarts(wanted: float, size: int) -> int:
    return math.ceil(min(wanted, wanted * ALL_RESTARTS / size))


def _shake(p: IndexArray, rng: np.random.Generator) -> IndexArray:
    """Move six anchors in ten to each other's places in a random cycle."""
    moved = rng.permutation(len(p))[: max(3, int(0.6 * len(p)))]
    shaken = p.copy()
    shaken[moved] = p[np.roll(moved, 1)]
    return shaken


class _Search:
    """The climbs of one problem: the best so far, and which vertices were seen already."""

    def __init__(self, reduced: Reduced) -> None:
        self.reduced = reduced
        self.best = Match(np.arange(reduced.size), -np.inf, 0, ())
        self.disagreed = False
        self._seen: set[bytes] = set()

    def climb(self, p: IndexArray) -> None:
        """Climb from ``p`` to a permutation that neither an assignment nor a swap improves."""
        if not self._is_new(p):
            return
        reduced = self.reduced
        moves = [_assignment_step, _swap_step]
        if reduced.size >= LARGE:
            moves.reverse()
        product = reduced.product(p)
        history = [reduced.value(p, product)]
        failed = 0
        while failed < len(moves):
            step = moves[0](reduced, p, product)
            next_product = product if step is p else reduced.product(step)
            value = reduced.value(step, next_product)
            if value > history[-1] + reduced.tolerance:
                p, product = step, next_product
                history.append(value)
                failed = 0
                if not self._is_new(p):
                    return  # an earlier climb went on from here
            else:
                failed += 1
                moves.reverse()
        self._finish(p, history)

    def proven(self, bound: float, gap: float = 0.0) -> bool:
        """Whether the best is within a relative gap of the upper bound, up to rounding."""
        return self.best.value >= bound - gap * abs(bound) - self.reduced.tolerance

    def _is_new(self, p: IndexArray) -> bool:
        key = p.tobytes()
        new = key not in self._seen
        self._seen.add(key)
        return new

    def _finish(self, p: IndexArray, history: list[float]) -> None:
        tolerance = self.reduced.tolerance
        value = history[-1]
        if np.isfinite(self.best.value) and abs(value - self.best.value) > tolerance:
            self.disagreed = True
        if value > self.best.value + tolerance:
            self.best = Match(p, value, len(history), tuple(history))


def _assignment_step(reduced: Reduced, p: IndexArray, product: FloatArray) -> IndexArray:
    """Permutation that is best for the gradient at ``p``; ``p`` itself where that is none other."""
    step = assign(reduced.L + 2.0 * product, near=p)
    return p if np.array_equal(step, p) else step


def _swap_step(reduced: Reduced, p: IndexArray, product: FloatArray) -> IndexArray:
    """Take the improving swaps in order of their gain, checking each again once others have been taken."""
    m = reduced.size
    gains = np.triu(reduced.swap_gains(p, product), 1).ravel()
    candidates = np.flatnonzero(gains > reduced.tolerance)
    if candidates.size > m:
        candidates = candidates[np.argpartition(-gains[candidates], m)[:m]]
    if not candidates.size:
        return p
    order = candidates[np.argsort(-gains[candidates], kind="stable")]
    p = p.copy()
    for rank, pair in enumerate(order.tolist()):
        a, b = divmod(pair, m)
        if rank == 0 or reduced.swap_gain(p, a, b) > reduced.tolerance:
            p[a], p[b] = p[b], p[a]
    return p
