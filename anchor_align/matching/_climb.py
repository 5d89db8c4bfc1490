"""One climb: moves from a permutation to one that neither an assignment nor a swap improves.

There are two moves, each taken only if it raises the objective:

- *assignment*: the permutation that is best for the gradient at the current one, all anchors at once;
- *swaps*: two anchors exchange their partners; many such pairs at once.

All matrices are kept in the current order, C = L[:, p] and D = B[p][:, p], together with M = A D, half the gradient of
the quadratic term. A move changes few anchors, so M changes by a matrix of low rank: t swaps cost 2 t m^2 operations
instead of the m^3 of a new product.

Swaps of disjoint pairs interact. The gain of both (a, b) and (c, d) is the sum of their gains and of

    2 (A_ac - A_ad - A_bc + A_bd) (D_ac - D_ad - D_bc + D_bd).

So the exact gain of a set of swaps is known without trying it, and a set is chosen that raises the objective with each
of its members.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IndexArray
from ._pair_problem import Reduced, assign, permuted, total

LARGE = 80  # from this size on a linear assignment is slower than the swaps: swaps come first


class Climb:
    """A climb from ``p``; ``history`` is the objective after each move."""

    def __init__(self, reduced: Reduced, p: IndexArray) -> None:
        self._reduced = reduced
        self.p = p
        self._identity = np.arange(reduced.size)
        self._linear = reduced.L[:, p]
        self._structure = permuted(reduced.B, p)
        self._product = total(reduced.A @ self._structure)
        self.history = [self._value()]

    def run(self, visited: set[bytes]) -> bool:
        """Climb to the top. False if the way leads through a permutation that was visited before."""
        moves = [self._assign, self._swap]
        if self._reduced.size >= LARGE:
            moves.reverse()
        failed = 0
        while failed < len(moves):
            if not moves[0]():
                failed += 1
                moves.reverse()
                continue
            failed = 0
            key = self.p.tobytes()
            if key in visited:
                return False  # an earlier climb continued from here
            visited.add(key)
        return True

    def _value(self) -> float:
        return float(self._linear.trace() + self._product.trace() + self._reduced.constant)

    def _assign(self) -> bool:
        """Move towards the permutation that is best for the gradient."""
        gradient = 2.0 * self._product
        gradient += self._linear
        q = assign(gradient, near=self._identity)
        cycles = _cycles(q)
        return self._take(cycles, q, (gradient[self._identity, q] - gradient.diagonal())) if cycles else False

    def _swap(self) -> bool:
        """Exchange partners in disjoint pairs."""
        gains = swap_gains(self._linear, self._product, self._reduced.A, self._structure)
        np.fill_diagonal(gains, -np.inf)
        partner = gains.argmax(axis=1)
        q = _disjoint(gains[self._identity, partner], partner, self._reduced.tolerance)
        cycles = _cycles(q)
        if not cycles:
            return False
        first_order = self._linear[self._identity, q] - self._linear.diagonal()
        first_order += 2.0 * (self._product[self._identity, q] - self._product.diagonal())
        return self._take(cycles, q, first_order)

    def _take(self, cycles: list[list[int]], q: IndexArray, first_order: FloatArray) -> bool:
        """Take those cycles of ``q`` that raise the objective, each given those before it."""
        A, D, tolerance = self._reduced.A, self._structure, self._reduced.tolerance
        moved = np.array([anchor for cycle in cycles for anchor in cycle])
        starts = np.cumsum([0, *map(len, cycles[:-1])])
        change = D.take(q[moved], axis=-2) - D.take(moved, axis=-2)
        second = total(_part(A, moved) * (change.take(q[moved], axis=-1) - change.take(moved, axis=-1)))
        together = np.add.reduceat(np.add.reduceat(second, starts, axis=0), starts, axis=1)
        gains = np.add.reduceat(first_order[moved], starts) + together.diagonal()
        taken = _raising(gains, 2.0 * together, tolerance)
        if not taken:
            return False
        if len(taken) < len(cycles):
            kept = np.repeat(np.isin(np.arange(len(cycles)), taken), list(map(len, cycles)))
            cycles = [cycles[number] for number in taken]
            change, moved = change[..., kept, :], moved[kept]
        # The rows of ``change`` sum to zero over a cycle: its last row need not be multiplied.
        lengths = np.array([len(cycle) for cycle in cycles])
        last = np.cumsum(lengths) - 1
        inner = np.ones(len(moved), dtype=bool)
        inner[last] = False
        columns = A.take(moved, axis=-1)
        weights = columns[..., inner] - np.repeat(columns[..., last], lengths - 1, axis=-1)
        self._product += total(weights @ change[..., inner, :])
        target = q[moved]
        self._product[:, moved] = self._product[:, target]
        self._linear[:, moved] = self._linear[:, target]
        D[..., moved, :] = D[..., target, :]
        D[..., moved] = D[..., target]
        self.p = self.p.copy()
        self.p[moved] = self.p[target]
        self.history.append(self._value())
        return True


def swap_gains(linear: FloatArray, product: FloatArray, A: FloatArray, structure: FloatArray) -> FloatArray:
    """Change of the objective, for every pair of anchors, when they exchange their partners; all in current order."""
    gradient = 2.0 * product
    gradient += linear
    gradient -= gradient.diagonal().copy()[:, None]
    gains = total(A * structure)
    gains *= 4.0
    gains += gradient
    gains += gradient.T
    return gains


def _disjoint(best: FloatArray, partner: IndexArray, tolerance: float) -> IndexArray:
    """Permutation of swaps without a common anchor, largest gain first."""
    rows = np.flatnonzero(best > tolerance)
    rows = rows[np.argsort(-best[rows], kind="stable")]
    q = list(range(len(best)))
    for a, b in zip(rows.tolist(), partner[rows].tolist(), strict=True):
        if q[a] == a and q[b] == b:
            q[a], q[b] = b, a
    return np.array(q, dtype=np.intp)


def _cycles(q: IndexArray) -> list[list[int]]:
    """Cycles of a permutation, without fixed points."""
    to = q.tolist()
    found = []
    for start in np.flatnonzero(q != np.arange(len(q))).tolist():
        if to[start] >= 0:
            cycle, anchor = [], start
            while to[anchor] >= 0:
                cycle.append(anchor)
                to[anchor], anchor = -1, to[anchor]
            found.append(cycle)
    return found


def _raising(gains: FloatArray, interactions: FloatArray, tolerance: float) -> list[int]:
    """Cycles, largest gain first, that still gain after those before them."""
    taken = []
    left = gains.copy()
    for number in np.argsort(-gains, kind="stable").tolist():
        if left[number] > tolerance:
            taken.append(number)
            left += interactions[number]
    return sorted(taken)


def _part(S: FloatArray, anchors: IndexArray) -> FloatArray:
    return S.take(anchors, axis=-2).take(anchors, axis=-1)
