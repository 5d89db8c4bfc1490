"""Rows as convex combinations of anchors: exact least squares on the simplex, all rows together.

The graph of an anchor method has, for every sample x, the weights z that solve

    min |x - z A|^2 + alpha |z|^2   s.t.  z >= 0,  sum(z) = 1.

Released codes call a general QP solver once per sample. All samples share the Hessian H = A A' + alpha I, so here they
are solved together, up to rounding: by an active set if solutions have few anchors (:mod:`._active_set`), by exchange
of supports if they have many (:mod:`._pivoting`). Compared with one call of ``quadprog`` per sample this is about a
hundred times as fast with 100 anchors (``benchmarks/speed/simplex_rows.py``). Every row has a small KKT gap, defined in
:func:`simplex_least_squares`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import FloatArray, is_sparse
from ..blocks import check_matrix, map_rows, project_rows, read_rows, run_rows
from ..checks import check_number, check_whole_number
from ..errors import AnchorAlignError, InputError, InputTypeError
from ._active_set import Attempt, active_set
from ._pivoting import block_pivoting
from ._shared_problem import Quadratic, RowProblems

GAP = 1e-10  # largest relative KKT gap that is returned; nearly all rows have less than 1e-14
# Ridges, relative to H, that break ties for rows with a larger gap: the small one first, as it adds to the gap.
TIE_BREAKS = (1e-13, 1e-12, 1e-11)
# Limit of the active set: anchors, or fraction of all. Least ridge over H for solves in feature space.
MANY_ANCHORS, MANY_FRACTION = 16, 1 / 16
LEAST_RIDGE = 1e-12
# Numbers in one work array: rows of a block times anchors, or rows of a piece of X times features. 1 MB.
BLOCK = 2**17
BLOCK_WIDTH = 4  # work arrays of a block


@dataclass(frozen=True, eq=False)
class SimplexFit:
    """Weights, the largest relative KKT gap of any row, and the largest number of rounds of any block."""

    Z: FloatArray
    gap: float
    n_rounds: int


def simplex_least_squares(X: Any, A: Any, alpha: float = 0.0, *, block_rows: int | None = None) -> FloatArray:
    """Express each row of X as the best convex combination of anchors.

    Each row z of the result minimises ``|x - z A|^2 + alpha |z|^2`` over ``z >= 0, sum(z) = 1``. With
    g = H z - c, H = A A' + alpha I and c = x A', the KKT gap z g' - min(g) bounds the distance of half the objective
    from its minimum. It is measured after the mean anchor is subtracted from x and A, which changes nothing on the
    simplex, and relative to::

        max(c) - min(c) + max_j |a_j|^2 + alpha / m,

    the size of the terms in g. That is never more than about twice the mean of the objective over the m single anchors.
    Every row has a relative gap below 1e-10, nearly all below 1e-14.

    Parameters
    ----------
    X : array-like or scipy sparse of shape (n_samples, n_features)
        Real numbers of any dtype and scale. Sparse matrices stay sparse, so only their products are centred. If all
        rows of a sparse X have a large common offset, digits are lost; a dense X loses none.
    A : array-like of shape (n_anchors, n_features)
        Anchors.
    alpha : float, default=0.0
        Weight of the ridge on the weights, in squared units of X. Large values spread a row over more anchors. With 0
        and dependent anchors the solution may not be unique; one solution is returned.
    block_rows : int, optional
        Number of rows that are solved together. By default the work arrays take a few tens of megabytes. The result
        does not depend on it, up to rounding.

    Returns
    -------
    Z : ndarray of shape (n_samples, n_anchors)
        Rows on the simplex. Anchors that a row does not use have weight exactly 0. float32 if X is float32, rounded
        from a solution in double precision.

    Raises
    ------
    InputError
        If shapes do not fit, an input is empty or not finite, or alpha is negative.

    Examples
    --------
    >>> A = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    >>> simplex_least_squares([[1.0, 2.0], [-1.0, 3.0]], A)
    array([[0.25, 0.25, 0.5 ],
           [0.25, 0.  , 0.75]])
    """
    return fit_simplex(X, A, alpha, block_rows=block_rows).Z


def fit_simplex(X: Any, A: Any, alpha: float = 0.0, *, block_rows: int | None = None) -> SimplexFit:
    """:func:`simplex_least_squares` with the gap and the number of rounds."""
    X = check_matrix(X, "X", ("samples", "features"))
    if is_sparse(A):
        raise InputTypeError("A is a sparse matrix; anchors must be dense: pass A.toarray().")
    A = np.asarray(check_matrix(A, "A", ("anchors", "features")), dtype=np.float64)
    _check_rows("A", A, 0)
    if X.shape[1] != A.shape[1]:
        raise InputError(f"X has {X.shape[1]} features; A has {A.shape[1]}. Both must have the same features.")
    shared = Quadratic.from_anchors(A, check_number("alpha", alpha))
    m = shared.n_anchors
    step = max(64, BLOCK // m) if block_rows is None else check_whole_number("block_rows", block_rows, least=1)
    Z = np.empty((X.shape[0], m), dtype=np.float32 if X.dtype == np.float32 else np.float64)

    def solve(rows: slice) -> tuple[float, int]:
        gap, n_rounds = 0.0, 0
        for at in range(rows.start, rows.stop, step):
            part = slice(at, min(at + step, rows.stop))
            block = _solve(_block(read_rows(X, part), shared, at))
            Z[part] = block.Z
            gap, n_rounds = max(gap, block.gap), max(n_rounds, block.n_rounds)
        return gap, n_rounds

    gaps, rounds = zip(*map_rows(solve, len(Z), width=BLOCK_WIDTH * m), strict=True)
    return SimplexFit(Z, max(gaps), max(rounds))


def project_rows_on_simplex(Y: Any) -> FloatArray:
    """Nearest point of each row on the simplex: entries >= 0 that sum to one.

    Parameters
    ----------
    Y : array-like of shape (n, m)
        Finite real numbers of any size.

    Returns
    -------
    Z : ndarray of shape (n, m)
        float32 if Y is float32, else float64.

    Raises
    ------
    InputError
        If Y is not a matrix, has no columns, or is not finite.

    Examples
    --------
    >>> project_rows_on_simplex([[0.5, 0.25, -3.0], [1e300, 0.0, 0.0]])
    array([[0.625, 0.375, 0.   ],
           [1.   , 0.   , 0.   ]])
    """
    if is_sparse(Y):
        raise InputTypeError("Y is a sparse matrix; its projection is dense: pass Y.toarray().")
    Y = check_matrix(Y, "Y")
    Z = np.empty(Y.shape, dtype=np.float32 if Y.dtype == np.float32 else np.float64)

    def project(rows: slice) -> None:
        block = read_rows(Y, rows, Z.dtype)
        _check_rows("Y", block, rows.start)
        Z[rows] = project_rows(block)

    run_rows(project, len(Z), width=BLOCK_WIDTH * Y.shape[1])
    return Z


def _solve(problems: RowProblems) -> SimplexFit:
    """Solve one block: first a fast solver for most rows, then slower ones. Ties are broken where the gap is large."""
    Z = np.zeros(problems.linear.shape)
    left = np.arange(len(problems))
    n_rounds = 0
    for solver in _solvers(problems.shared):
        attempt = solver(problems if len(left) == len(Z) else problems.take(left))
        Z[left] = attempt.Z
        left = left[~attempt.done]
        n_rounds += attempt.n_rounds
        if not len(left):
            break
    Z /= Z.sum(axis=1, keepdims=True)
    gaps = problems.gaps(Z)
    for ridge in TIE_BREAKS:
        missed = np.flatnonzero(~(gaps <= GAP))
        if not len(missed):
            break
        problems_left = problems.take(missed)
        attempt = active_set(problems_left, ridge=ridge)
        Z[missed] = attempt.Z / attempt.Z.sum(axis=1, keepdims=True)
        gaps[missed] = problems_left.gaps(Z[missed])
        n_rounds += attempt.n_rounds
    gap = float(gaps.max())
    if not gap <= GAP:
        raise AnchorAlignError(f"A row stopped at a relative KKT gap of {gap:.1e}, above {GAP:g}; please report this.")
    return SimplexFit(Z, gap, n_rounds)


def _solvers(shared: Quadratic) -> Iterator[Callable[[RowProblems], Attempt]]:
    """Solvers, in order of use. Each gets the rows that the earlier ones left; the last one takes any row."""
    if not shared.easy:
        yield functools.partial(active_set, max_size=max(MANY_ANCHORS, int(MANY_FRACTION * shared.n_anchors)))
    # With few features, supports are solved through 1 / alpha. With a small ridge, few anchors are enough there.
    if not shared.few_features or shared.alpha > LEAST_RIDGE * shared.size:
        yield block_pivoting
    yield active_set


def _block(X: Any, shared: Quadratic, first: int) -> RowProblems:
    """Right-hand sides of some rows of X; ``first`` is the number of the first row, for messages."""
    coordinates = None
    with np.errstate(over="ignore", invalid="ignore"):
        if not is_sparse(X) or shared.few_features:
            linear, coordinates = _dense_products(X, shared)
        else:
            linear = (np.asarray(X @ shared.anchors.T) - shared.shift @ shared.anchors.T) / shared.unit
    _check_rows("X", linear, first)
    # A constant added to the c of a row changes nothing on the simplex; near zero, c keeps the digits that matter.
    linear -= linear.max(axis=1, keepdims=True)
    return RowProblems(shared, linear, coordinates)


def _dense_products(X: Any, shared: Quadratic) -> tuple[FloatArray, FloatArray | None]:
    """The c of each row from centred rows, in pieces; they lose fewer digits than centred products."""
    n, d = X.shape
    linear = np.empty((n, shared.n_anchors))
    coordinates = np.empty((n, d)) if shared.few_features else None
    step = max(1, BLOCK // d)
    for at in range(0, n, step):
        piece = X[at : at + step]
        # With few features a piece is smaller than its weights, sparse or not.
        piece = (piece @ np.eye(d) if is_sparse(piece) else np.asarray(piece, dtype=np.float64)) - shared.shift
        piece /= shared.unit
        np.matmul(piece, shared.anchors.T, out=linear[at : at + step])
        if coordinates is not None:
            coordinates[at : at + step] = piece
    return linear, coordinates


def _check_rows(name: str, values: FloatArray, first: int) -> None:
    """Name the first row that is not finite, or so large that its products are not."""
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise InputError(f"{name} has NaN, infinity or numbers too large to square in row {first + bad[0]}.")
