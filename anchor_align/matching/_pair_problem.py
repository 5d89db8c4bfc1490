"""One pair of views: the matching problem, its value, its swaps and its upper bound.

For a reference view 1 and a view 2 the paper maximises, over permutation matrices P,

    f(P) = Tr(K P) + lam * Tr(S_1' P' S_2 P),   K = Z_1' Z_2,   S_v = Z_v' Z_v.

With P written as an index array ``p`` (column j of the aligned view is column ``p[j]`` of view 2) this is

    f(p) = sum_j K[j, p_j]  +  sum_jk A[j, k] B[p_j, p_k],   A = lam * S_1,   B = S_2:

a quadratic assignment problem. If samples are missing, a view has another S for each view that it is matched to, and
the match to all of them has several structure terms: A and B are then stacks of matrices, and the terms are added.
Every solver takes a :class:`PairProblem` and returns a :class:`Match`.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    """The result of a solver for one pair; ``history`` is the objective along the iterations.

    ``permutation`` has the anchor of the view for every anchor of the reference. If the match is many-to-one, it has
    the anchor of the reference for every anchor of the view.
    """

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
        return total(self.A @ self.B[..., p, :])

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
        gains += 4.0 * total(self.A * permuted(self.B, p))
        return gains


@dataclass(frozen=True, eq=False)
class PairProblem:
    """Maximise ``sum_j K[j, p_j] + sum_jk A[j, k] B[p_j, p_k] + constant`` over permutations ``p``.

    A and B are symmetric, or stacks of symmetric matrices of shape (n_terms, m, m), whose structure terms are added. A
    includes the weight of the structure term. ``unit`` times the objective is the objective of the raw graphs; only the
    fixed point, which is not scale-free, needs it.
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
        structure = sum(frobenius_norm(A) * frobenius_norm(B) for A, B in self.terms())
        return float(np.abs(self.K).max(axis=1).sum() + structure + abs(self.constant))

    def terms(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """A and B of every structure term."""
        shape = (-1, self.size, self.size)
        return zip(self.A.reshape(shape), self.B.reshape(shape), strict=True)

    def value(self, p: IndexArray) -> float:
        feature = self.K[np.arange(self.size), p].sum()
        return float(feature + np.vdot(self.A, permuted(self.B, p)) + self.constant)

    @cached_property
    def reduced(self) -> Reduced:
        A, a, e = _reduce(self.A)
        B, b, g = _reduce(self.B)
        L = self.K + total(outer(a, b)) + 2.0 * (self.size - 2) * total(outer(e, g))
        constant = self.constant + 2.0 * float(np.vdot(e.sum(axis=-1), g.sum(axis=-1)))
        return Reduced(L, A, B, constant, RELATIVE_TOLERANCE * self.scale)

    def fix(self, rows: IndexArray, columns: IndexArray) -> PairProblem:
        """The remaining problem after anchor ``rows[i]`` of the reference gets anchor ``columns[i]``."""
        free_rows = np.setdiff1d(np.arange(self.size), rows)
        free_columns = np.setdiff1d(np.arange(self.size), columns)
        return PairProblem(
            K=self.K[np.ix_(free_rows, free_columns)]
            + 2.0 * total(_part(self.A, free_rows, rows) @ _part(self.B, columns, free_columns)),
            A=_part(self.A, free_rows, free_rows),
            B=_part(self.B, free_columns, free_columns),
            constant=self.constant
            + float(self.K[rows, columns].sum())
            + float(np.vdot(_part(self.A, rows, rows), _part(self.B, columns, columns))),
            unit=self.unit,
        )

    @property
    def exchanged(self) -> PairProblem:
        """The problem of matching the reference to the view."""
        return PairProblem(self.K.T, self.B, self.A, self.constant, self.unit)

    def permute(self, rows: IndexArray, columns: IndexArray) -> PairProblem:
        return PairProblem(
            self.K.take(rows, axis=0).take(columns, axis=1),
            permuted(self.A, rows),
            permuted(self.B, columns),
            self.constant,
            self.unit,
        )


def total(terms: FloatArray) -> FloatArray:
    """Sum of a stack of matrices; a single matrix is its own sum."""
    return terms if terms.ndim == 2 else np.asarray(terms.sum(axis=0))


def permuted(S: FloatArray, p: IndexArray) -> FloatArray:
    """Rows and columns of a matrix, or of each matrix of a stack, in the order ``p``."""
    return S.take(p, axis=-2).take(p, axis=-1)


def outer(a: FloatArray, b: FloatArray) -> FloatArray:
    return a[..., :, None] * b[..., None, :]


def _part(S: FloatArray, rows: IndexArray, columns: IndexArray) -> FloatArray:
    return S.take(rows, axis=-2).take(columns, axis=-1)


def _reduce(S: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Split S into a zero-diagonal, zero-row-sum rest, its diagonal d and e: S[j, k] = rest + e_j + e_k, j != k."""
    m = S.shape[-1]
    places = np.arange(m)
    diagonal = S[..., places, places]
    rest = S.copy()
    rest[..., places, places] = 0.0
    if m <= 2:
        return np.zeros_like(S), diagonal, rest.sum(axis=-1) / 2.0
    sums = rest.sum(axis=-1)
    e = (sums - sums.sum(axis=-1, keepdims=True) / (2 * (m - 1))) / (m - 2)
    rest -= e[..., None, :]
    rest -= e[..., None]
    rest[..., places, places] = 0.0
    return rest, diagonal, e


def frobenius_norm(S: FloatArray) -> float:
    """Norm that neither overflows nor underflows where its square would."""
    return float(norm(S.ravel(), check_finite=False))


def assign(benefit: FloatArray, near: IndexArray | None = None) -> IndexArray:
    """Permutation with the largest total benefit: the linear assignment problem, solved by SciPy.

    A permutation ``near`` the answer makes a large problem faster. Column potentials do not change the answer; with
    good ones, from a few rounds of longest paths from ``near``, most rows find their column at once. With 100 anchors
    or more this is nearly always faster than SciPy's call alone.
    """
    if near is None or len(near) < PREPARE_FROM:
        return np.asarray(linear_sum_assignment(benefit, maximize=True)[1], dtype=np.intp)
    relative = benefit.take(near, axis=1)
    relative -= potentials(relative)
    return near[assign(relative)]


def potentials(benefit: FloatArray) -> FloatArray:
    """Column potentials that favour the identity: a few rounds of longest paths from it."""
    relative = benefit - benefit.diagonal()[:, None]
    paths = np.empty_like(relative)
    found = np.zeros(len(relative))
    for _ in range(POTENTIAL_ROUNDS):
        np.add(relative, found[:, None], out=paths)
        np.maximum(found, paths.max(axis=0), out=found)
    return found


def upper_bound(problem: PairProblem) -> float:
    """Value that no permutation exceeds: the smaller of an eigenvalue and an assignment bound.

    The eigenvalue bound is LAP(K) + sum_i e_i(A) e_i(B), with sorted eigenvalues. The assignment bound (of Gilmore and
    Lawler, on the reduced problem) is nearly always smaller: on anchor graphs of real data it leaves gaps of 0.01 % to
    1 %, the eigenvalue bound 1 % to 20 %.
    """
    if not problem.size:
        return problem.constant
    eigenvalues = sum(
        float(np.dot(eigvalsh(A, check_finite=False), eigvalsh(B, check_finite=False))) for A, B in problem.terms()
    )
    feature = float(problem.K[np.arange(problem.size), assign(problem.K)].sum())
    spectral = problem.constant + feature + eigenvalues
    bound = min(spectral, gilmore_lawler(problem.reduced)[0])
    # Rounding of sums of m^2 terms must not put the bound below the optimum.
    return bound + RELATIVE_TOLERANCE * problem.scale


def gilmore_lawler(reduced: Reduced, near: IndexArray | None = None) -> tuple[float, IndexArray]:
    """Gilmore-Lawler bound of a reduced problem, and the assignment that attains it; ``near`` is a similar one."""
    # The diagonals are zero. At best, the other entries of a row meet those of its partner in sorted order.
    A, B = _sorted_off_diagonal(reduced.A), _sorted_off_diagonal(reduced.B)
    profile = reduced.L + total(A @ np.swapaxes(B, -1, -2))
    p = assign(profile, near)
    return float(profile[np.arange(reduced.size), p].sum() + reduced.constant), p


def _sorted_off_diagonal(S: FloatArray) -> FloatArray:
    m = S.shape[-1]
    off_diagonal = S[..., ~np.eye(m, dtype=bool)].reshape(*S.shape[:-1], m - 1)
    off_diagonal.sort(axis=-1)
    return off_diagonal
