"""One climb: moves from a permutation to one that neither an assignment nor a swap improves.

There are two moves, each taken only if it raises the objective:

- *assignment*: the permutation that is best for the gradient at the current one, all anchors at once;
- *swaps*: two anchors exchange their partners; many such pairs at once.

All matrices are kept in the current order: D = B[p][:, p] and the gradient G = L[:, p] + 2 A D. A move changes few
anchors, so G changes by a matrix of low rank: t swaps cost 2 t m^2 operations instead of the m^3 of a new product.

Swaps of disjoint pairs interact. The gain of both (a, b) and (c, d) is the sum of their gains and of

    2 (A_ac - A_ad - A_bc + A_bd) (D_ac - D_ad - D_bc + D_bd).

So the exact gain of a set of swaps is known without trying it, and a set is chosen that raises the objective with each
of its members.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IndexArray
from ._pair_problem import PREPARE_FROM, Reduced, assign, permuted, potentials, total

LARGE = 80  # from this size on a linear assignment is slower than the swaps: swaps come first


class Climb:
    """A climb from ``p``; ``history`` is the objective after each move."""

    def __init__(self, reduced: Reduced, p: IndexArray) -> None:
        self._reduced = reduced
        self.p = p
        self._identity = np.arange(reduced.size)
        linear = reduced.L.take(p, axis=1)
        self._structure = permuted(reduced.B, p)
        product = total(reduced.A @ self._structure)
        self.history = [float(linear.trace() + product.trace() + reduced.constant)]
        product *= 2.0
        product += linear
        self._gradient = product
        self._entries = _entries(reduced.A, self._structure)
        # Large arrays that are made anew cost more than what is computed in them.
        self._gains, self._spare = np.empty_like(linear), linear
        self._potential: FloatArray | None = None  # of the columns, for the assignments

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

    def _assign(self) -> bool:
        """Move towards the permutation that is best for the gradient."""
        if self._reduced.size < PREPARE_FROM:
            return self._take(assign(self._gradient))
        # The gradient changes little between two assignments, so the potentials of the last answer are good ones.
        if self._potential is None:
            self._potential = potentials(self._gradient)
        benefit = np.subtract(self._gradient, self._potential, out=self._spare)
        q = assign(benefit)
        self._potential[q] += potentials(benefit.take(q, axis=1))
        return self._take(q)

    def _swap(self) -> bool:
        """Exchange partners in disjoint pairs."""
        gains, relative = self._gains, self._spare
        np.subtract(self._gradient, self._gradient.diagonal()[:, None], out=relative)
        np.add(self._entries, relative, out=gains)
        gains += relative.T
        np.fill_diagonal(gains, -np.inf)
        partner = gains.argmax(axis=1)
        return self._take(_disjoint(gains[self._identity, partner], partner, self._reduced.tolerance))

    def _take(self, q: IndexArray) -> bool:
        """Take those cycles of ``q`` that raise the objective, each given those before it."""
        cycles = _cycles(q)
        if not cycles:
            return False
        A, D, G = self._reduced.A, self._structure, self._gradient
        moved = np.array([anchor for cycle in cycles for anchor in cycle])
        lengths = np.array([len(cycle) for cycle in cycles])
        ends = lengths.cumsum()
        starts = ends - lengths
        target = q[moved]
        change = D.take(target, axis=-2) - D.take(moved, axis=-2)
        second = total(_part(A, moved) * (change.take(target, axis=-1) - change.take(moved, axis=-1)))
        together = np.add.reduceat(np.add.reduceat(second, starts, axis=0), starts, axis=1)
        gains = np.add.reduceat(G[moved, target] - G[moved, moved], starts) + together.diagonal()
        taken, gain = _raising(gains, 2.0 * together, self._reduced.tolerance)
        if not taken.any():
            return False
        if not taken.all():
            kept = np.repeat(taken, lengths)
            change, moved, target, lengths = change[..., kept, :], moved[kept], target[kept], lengths[taken]
            ends = lengths.cumsum()
        # The rows of ``change`` sum to zero over a cycle: its last row need not be multiplied.
        last = ends - 1
        inner = np.ones(len(moved), dtype=bool)
        inner[last] = False
        columns = A.take(moved, axis=-1)
        weights = columns[..., inner] - np.repeat(columns[..., last], lengths - 1, axis=-1)
        weights *= 2.0
        G += total(np.matmul(weights, change[..., inner, :], out=self._spare if A.ndim == 2 else None))
        G[:, moved] = G.take(target, axis=1)
        if self._potential is not None:
            self._potential[moved] = self._potential[target]
        D[..., moved, :] = D.take(target, axis=-2)
        D[..., moved] = D.take(target, axis=-1)
        rows = _entries(A.take(moved, axis=-2), D.take(moved, axis=-2))
        self._entries[moved] = rows
        self._entries[:, moved] = rows.T
        self.p = self.p.copy()
        self.p[moved] = self.p[target]
        self.history.append(self.history[-1] + gain)
        return True


def _entries(A: FloatArray, D: FloatArray) -> FloatArray:
    """What the gain of a swap has beside the gradient, for the same places of A and D."""
    entries = total(A * D)
    entries *= 4.0
    return entries


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


def _raising(gains: FloatArray, interactions: FloatArray, tolerance: float) -> tuple[npt.NDArray[np.bool_], float]:
    """Which cycles, largest gain first, still gain after those before them, and what they gain together."""
    taken = np.zeros(len(gains), dtype=bool)
    left = gains.copy()
    gain = 0.0
    for number in np.argsort(-gains, kind="stable").tolist():
        if left[number] > tolerance:
            taken[number] = True
            gain += float(left[number])
            left += interactions[number]
    return taken, gain


def _part(S: FloatArray, anchors: IndexArray) -> FloatArray:
    return S.take(anchors, axis=-2).take(anchors, axis=-1)
