"""One pair of views: the matching problem, its value, its swaps and its upper bound.

For a reference view 1 and a view 2 the paper maximises, over permutation matrices P,

    f(P) = Tr(K P) + lam * Tr(S_1' P' S_2 P),   K = Z_1' Z_2,   S_v = Z_v' Z_v.

With P written as an index array ``p`` (column j of the aligned view is column ``p[j]`` of view 2) this is

    f(p) = sum_j K[j, p_j]  +  sum_jk A[j, k] B[p_j, p_k],   A = lam * S_1,   B = S_2:

a quadratic assignment problem. Every solver takes a :class:`PairProblem` and returns a :class:`Match`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigvalsh, norm
from scipy.optimize import linear_sum_assignment

from ..arrays import FloatArray, IndexArray

# Two values closer than this times the scale of the problem are equal: it is far above the rounding of sums, which
# depends on the number of threads, and far below any real difference.
RELATIVE_TOLERANCE = 1e-12
PREPARE_FROM = 80  # preparation of a linear assignment saves time from this many anchors on
POTENTIAL_ROUNDS = 4


@dataclass(frozen=True, eq=False)
class Match:
    """The result of a solver for one pair; ``history`` is the objective along the iterations."""

    permutation: IndexArray
    value: float
    n_iter: int
    history: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Reduced:
    """The same problem with as much as possible in the linear term.

    Over permutations, the diagonals of A and B, and their parts that depend on one index only, are linear in P. They
    can be moved out of the quadratic term and change no value (the classical reduction of a quadratic assignment
    problem). The rest has zero diagonal and zero row sums. This matters in practice: the gradient of the original,
    convex objective rewards every anchor for its present place (through the diagonals), so repeated assignment stops at
    the first vertex. On the reduced form it continues, and most graphs are solved from any start.
    """

    L: FloatArray
    A: FloatArray
    B: FloatArray
    constant: float
    tolerance: float

    @property
    def size(self) -> int:
        return len(self.L)

    def product(self, p: IndexArray) -> FloatArray:
        """Half the gradient of the quadratic term at ``p``; rows are reference anchors."""
        return self.A @ self.B[p]

    def value(self, p: IndexArray, product: FloatArray | None = None) -> float:
        """Objective of the *original* problem at ``p``."""
        if product is None:
            product = self.product(p)
        rows = np.arange(self.size)
        return float(self.L[rows, p].sum() + product[rows, p].sum() + self.constant)

    def swap_gains(self, p: IndexArray, product: FloatArray) -> FloatArray:
        """Change of the objective, for every pair (a, b), when a and b exchange their partners."""
        gradient = (self.L + 2.0 * product)[:, p]
        stay = gradient.diagonal().copy()
        gains = gradient + gradient.T
        gains -= stay
        gains -= stay[:, None]
        gains += 4.0 * self.A * self.B[p][:, p]
        return gains

    def swap_gain(self, p: IndexArray, a: int, b: int) -> float:
        """One entry of :meth:`swap_gains` in O(m)."""
        L, A, B = self.L, self.A, self.B
        pa, pb = p[a], p[b]
        linear = L[a, pb] + L[b, pa] - L[a, pa] - L[b, pb]
        return float(linear + 2.0 * ((A[a] - A[b]) @ (B[pb] - B[pa])[p]) + 4.0 * A[a, b] * B[pa, pb])


@dataclass(frozen=True, eq=False)
class PairProblem:
    """Maximise ``sum_j K[j, p_j] + sum_jk A[j, k] B[p_j, p_k] + constant`` over permutations ``p``.

    A and B are symmetric; A includes the weight of the structure term. ``unit`` times the objective is the objective of
    the raw graphs; only the fixed point, which is not scale-free, needs it.
    """

    K: FloatArray
    A: FloatArray
    B: FloatArray
    constant: float = 0.0
    unit: float = 1.0

    @property
    def size(self) -> int:
        return len(self.K)

    @cached_property
    def scale(self) -> float:
        """Upper bound of the absolute value of the objective."""
        if not self.size:
            return abs(self.constant)
        structure = frobenius_norm(self.A) * frobenius_norm(self.B)
        return float(np.abs(self.K).max(axis=1).sum() + structure + abs(self.constant))

    def value(self, p: IndexArray) -> float:
        feature = self.K[np.arange(self.size), p].sum()
        return float(feature + np.vdot(self.A, self.B[p][:, p]) + self.constant)

    @cached_property
    def reduced(self) -> Reduced:
        A, a, e = _reduce(self.A)
        B, b, g = _reduce(self.B)
        L = self.K + np.outer(a, b) + 2.0 * (self.size - 2) * np.outer(e, g)
        constant = self.constant + 2.0 * float(e.sum() * g.sum())
        return Reduced(L, A, B, constant, RELATIVE_TOLERANCE * self.scale)

    def fix(self, rows: IndexArray, columns: IndexArray) -> PairProblem:
        """The remaining problem after anchor ``rows[i]`` of the reference gets anchor ``columns[i]``."""
        free_rows = np.setdiff1d(np.arange(self.size), rows)
        free_columns = np.setdiff1d(np.arange(self.size), columns)
        return PairProblem(
            K=self.K[np.ix_(free_rows, free_columns)]
            + 2.0 * self.A[np.ix_(free_rows, rows)] @ self.B[np.ix_(columns, free_columns)],
            A=self.A[np.ix_(free_rows, free_rows)],
            B=self.B[np.ix_(free_columns, free_columns)],
            constant=self.constant
            + float(self.K[rows, columns].sum())
            + float(np.vdot(self.A[np.ix_(rows, rows)], self.B[np.ix_(columns, columns)])),
            unit=self.unit,
        )

    def permute(self, rows: IndexArray, columns: IndexArray) -> PairProblem:
        return PairProblem(
            self.K.take(rows, axis=0).take(columns, axis=1),
            self.A.take(rows, axis=0).take(rows, axis=1),
            self.B.take(columns, axis=0).take(columns, axis=1),
            self.constant,
            self.unit,
        )


def _reduce(S: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Split S into a zero-diagonal, zero-row-sum rest, its diagonal d and e: S[j, k] = rest + e_j + e_k, j != k."""
    m = len(S)
    diagonal = S.diagonal().copy()
    rest = S.copy()
    np.fill_diagonal(rest, 0.0)
    if m <= 2:
        return np.zeros_like(S), diagonal, rest.sum(axis=1) / 2.0
    sums = rest.sum(axis=1)
    e = (sums - sums.sum() / (2 * (m - 1))) / (m - 2)
    rest -= e
    rest -= e[:, None]
    np.fill_diagonal(rest, 0.0)
    return rest, diagonal, e


def frobenius_norm(S: FloatArray) -> float:
    """Norm that neither overflows nor underflows where its square would."""
    return float(norm(S.ravel(), check_finite=False))


def assign(benefit: FloatArray, near: IndexArray | None = None) -> IndexArray:
    """Permutation with the largest total benefit: the linear assignment problem, solved by SciPy.

    A permutation ``near`` the answer makes a large problem faster. Column potentials do not change the answer; with
    good ones, from a few rounds of longest paths from ``near``, most rows find their column at once. On graphs of
    UCI-Digit with 100 to 500 anchors this takes 0.2 to 0.7 of the time of SciPy's call alone in eight problems of nine,
    and 1.9 in the other (``tests/benchmarks/bench_matching.py``).
    """
    if near is None or len(near) < PREPARE_FROM:
        return np.asarray(linear_sum_assignment(benefit, maximize=True)[1], dtype=np.intp)
    relative = benefit[:, near]
    relative -= relative.diagonal().copy()[:, None]
    potential = np.zeros(len(near))
    for _ in range(POTENTIAL_ROUNDS):
        potential = np.maximum(potential, (relative + potential[:, None]).max(axis=0))
    relative += potential[:, None]
    relative -= potential
    return near[assign(relative)]


def upper_bound(problem: PairProblem) -> float:
    """Value that no permutation exceeds: the smaller of an eigenvalue and an assignment bound.

    The eigenvalue bound is LAP(K) + sum_i e_i(A) e_i(B), with sorted eigenvalues. The assignment bound (of Gilmore and
    Lawler, on the reduced problem) is nearly always smaller: on anchor graphs of real data it leaves gaps of 0.01 % to
    1 %, the eigenvalue bound 1 % to 20 %.
    """
    if not problem.size:
        return problem.constant
    eigenvalues = np.dot(eigvalsh(problem.A, check_finite=False), eigvalsh(problem.B, check_finite=False))
    feature = float(problem.K[np.arange(problem.size), assign(problem.K)].sum())
    spectral = problem.constant + feature + float(eigenvalues)
    bound = min(spectral, gilmore_lawler(problem.reduced)[0])
    # Rounding of sums of m^2 terms must not put the bound below the optimum.
    return bound + RELATIVE_TOLERANCE * problem.scale


def gilmore_lawler(reduced: Reduced, near: IndexArray | None = None) -> tuple[float, IndexArray]:
    """Gilmore-Lawler bound of a reduced problem, and the assignment that attains it; ``near`` is a similar one."""
    # The diagonals are zero. At best, the other entries of a row meet those of its partner in sorted order.
    profile = reduced.L + _sorted_off_diagonal(reduced.A) @ _sorted_off_diagonal(reduced.B).T
    p = assign(profile, near)
    return float(profile[np.arange(reduced.size), p].sum() + reduced.constant), p


def _sorted_off_diagonal(S: FloatArray) -> FloatArray:
    m = len(S)
    off_diagonal = S[~np.eye(m, dtype=bool)].reshape(m, m - 1)
    off_diagonal.sort(axis=1)
    return off_diagonal
