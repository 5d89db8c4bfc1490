"""Rows as convex combinations of anchors: exact least squares on the simplex, all rows together.

The graph of an anchor method has, for every sample x, the weights z that solve

    min |x - z A|^2 + alpha |z|^2   s.t.  z >= 0,  sum(z) = 1.

Released codes call a general QP solver once per sample. All samples share the Hessian H = A A' + alpha I, so here they
are solved together, to rounding: by an active set where solutions have few anchors (:mod:`._simplex_active`), by
exchanging supports where they have many (:mod:`._simplex_pivot`). Whatever found it, a row is returned only with a
small KKT gap, as defined in :func:`simplex_least_squares`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._mapped import read_rows
from ._mapping import map_rows, run_rows
from ._simplex_active import Progress, active_set
from ._simplex_pivot import block_pivoting
from ._simplex_problem import Quadratic, Rows
from ._simplex_projection import project_rows
from ._types import FloatArray, is_sparse
from .checks import check_number, check_whole_number
from .errors import AnchorAlignError, InputError, InputTypeError

# Largest relative KKT gap that is returned; nearly all rows have less than 1e-14.
GAP = 1e-10
# Ridges, relative to H, that break ties for rows which miss the gap: the small one first, as it adds to the gap.
TIE_BREAKS = (1e-13, 1e-12, 1e-11)
# Anchors, or share of all, at which the active set hands a row over; least ridge over H for solves in feature space.
MANY_ANCHORS, MANY_SHARE = 16, 1 / 16
LEAST_RIDGE = 1e-12
# Numbers in one work array: rows of a block times anchors, or rows of a piece of X times features. 1 MB.
BLOCK = 2**17
# Work arrays of a block.
BLOCK_WIDTH = 4


@dataclass(frozen=True, eq=False)
class SimplexFit:
    """Weights, the largest relative KKT gap of any row, and the rounds of the block that took most."""

    Z: FloatArray
    gap: float
    n_rounds: int


def simplex_least_squares(X: Any, A: Any, alpha: float = 0.0, *, block_rows: int | None = None) -> FloatArray:
    """Weights on the simplex that best combine anchors into each row of X.

    Each row z of the result minimises ``|x - z A|^2 + alpha |z|^2`` over ``z >= 0, sum(z) = 1``. With
    g = H z - c, H = A A' + alpha I and c = x A', the KKT gap z g' - min(g) bounds how far half the objective is above
    its minimum. It is measured after the mean anchor is taken off x and A, which changes nothing on the simplex, and
    relative to::

        max(c) - min(c) + max_j |a_j|^2 + alpha / m,

    the size of the terms in g. That is never more than about twice the objective's mean over the m single anchors.
    Every row has a relative gap below 1e-10, nearly all below 1e-14.

    Parameters
    ----------
    X : array-like or scipy sparse of shape (n_samples, n_features)
        Real numbers of any dtype, of any scale. Sparse matrices stay sparse, so only their products are centred: an
        offset that is large against the distances between rows costs its digits there, and none in a dense X.
    A : array-like of shape (n_anchors, n_features)
        Anchors.
    alpha : float, default=0.0
        Weight of the ridge on the weights, in squared units of X; large values spread a row over more anchors.
        With 0 and dependent anchors the solution may not be unique; one of them is returned.
    block_rows : int, optional
        Rows that are solved together. By default as many as keep the work arrays at a few tens of megabytes;
        the result does not depend on it, up to rounding.

    Returns
    -------
    Z : ndarray of shape (n_samples, n_anchors)
        Rows on the simplex; anchors that a row does not use have weight exactly 0. float32 if X is, rounded from
        a solution in double precision.

    Raises
    ------
    InputError
        If shapes do not fit, something is empty or not finite, or alpha is negative.

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
    X, A = _check_matrix("X", X), _check_anchors(A)
    if X.shape[1] != A.shape[1]:
        raise InputError(f"X has {X.shape[1]} features; A has {A.shape[1]}. Samples and anchors must share theirs.")
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
        float32 if Y is, else float64.

    Raises
    ------
    InputError
        If Y is not a matrix, has no column, or is not finite.

    Examples
    --------
    >>> project_rows_on_simplex([[0.5, 0.25, -3.0], [1e300, 0.0, 0.0]])
    array([[0.625, 0.375, 0.   ],
           [1.   , 0.   , 0.   ]])
    """
    if is_sparse(Y):
        raise InputTypeError("Y is a sparse matrix; its projection is dense: pass Y.toarray().")
    Y = _check_matrix("Y", Y)
    Z = np.empty(Y.shape, dtype=np.float32 if Y.dtype == np.float32 else np.float64)

    def project(rows: slice) -> None:
        block = read_rows(Y, rows, Z.dtype)
        _check_rows("Y", block, rows.start)
        Z[rows] = project_rows(block)

    run_rows(project, len(Z), width=BLOCK_WIDTH * Y.shape[1])
    return Z


def _solve(problems: Rows) -> SimplexFit:
    """Solve one block: the fast way for most rows, a slower one for what is left, and ties broken for what misses."""
    Z = np.zeros(problems.linear.shape)
    left = np.arange(len(problems))
    n_rounds = 0
    for attempt in _attempts(problems.shared):
        progress = attempt(problems if len(left) == len(Z) else problems.take(left))
        Z[left] = progress.Z
        left = left[~progress.done]
        n_rounds += progress.n_rounds
        if not len(left):
            break
    Z /= Z.sum(axis=1, keepdims=True)
    gaps = problems.gaps(Z)
    for ridge in TIE_BREAKS:
        missed = np.flatnonzero(~(gaps <= GAP))
        if not len(missed):
            break
        problems_left = problems.take(missed)
        progress = active_set(problems_left, ridge=ridge)
        Z[missed] = progress.Z / progress.Z.sum(axis=1, keepdims=True)
        gaps[missed] = problems_left.gaps(Z[missed])
        n_rounds += progress.n_rounds
    gap = float(gaps.max())
    if not gap <= GAP:
        raise AnchorAlignError(f"A row stopped at a relative KKT gap of {gap:.1e}, above {GAP:g}; please report this.")
    return SimplexFit(Z, gap, n_rounds)


def _attempts(shared: Quadratic) -> Iterator[Callable[[Rows], Progress]]:
    """Solvers to try in turn, each on the rows that the ones before have left; the last one takes any row."""
    if not shared.easy:
        yield functools.partial(active_set, max_size=max(MANY_ANCHORS, int(MANY_SHARE * shared.n_anchors)))
    # With few features supports are solved by way of 1 / alpha. Without much of a ridge, few anchors suffice there.
    if not shared.few_features or shared.alpha > LEAST_RIDGE * shared.size:
        yield block_pivoting
    yield active_set


def _block(X: Any, shared: Quadratic, first: int) -> Rows:
    """Right-hand sides of some rows of X; ``first`` is the number of the first one, for messages."""
    coordinates = None
    with np.errstate(over="ignore", invalid="ignore"):
        if not is_sparse(X) or shared.few_features:
            linear, coordinates = _dense_products(X, shared)
        else:
            linear = (np.asarray(X @ shared.anchors.T) - shared.shift @ shared.anchors.T) / shared.unit
    _check_rows("X", linear, first)
    # A constant added to a row's c changes nothing on the simplex; near zero, its digits are the ones that matter.
    linear -= linear.max(axis=1, keepdims=True)
    return Rows(shared, linear, coordinates)


def _dense_products(X: Any, shared: Quadratic) -> tuple[FloatArray, FloatArray | None]:
    """The c of each row from centred rows, which lose fewer digits than centred products, a piece at a time."""
    n, d = X.shape
    linear = np.empty((n, shared.n_anchors))
    coordinates = np.empty((n, d)) if shared.few_features else None
    step = max(1, BLOCK // d)
    for at in range(0, n, step):
        piece = X[at : at + step]
        # With few features a piece is smaller than its weights, sparse or not.
        piece = (piece @ np.eye(d) if is_sparse(piece) else _floats(piece)) - shared.shift
        piece /= shared.unit
        np.matmul(piece, shared.anchors.T, out=linear[at : at + step])
        if coordinates is not None:
            coordinates[at : at + step] = piece
    return linear, coordinates


def _floats(Y: Any) -> FloatArray:
    return np.asarray(Y, dtype=np.float64)


def _check_matrix(name: str, X: Any) -> Any:
    """A 2-D real matrix that is not empty: an ndarray, or CSR if it is sparse."""
    if not is_sparse(X):
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise InputError(f"{name} is not a rectangular array: {error}.") from error
    if X.ndim != 2:
        raise InputError(f"{name} has {X.ndim} dimension(s), shape {X.shape}; expected 2.")
    if X.dtype.kind not in "fiub":
        raise InputTypeError(f"{name} has dtype {X.dtype}; expected real numbers.")
    if 0 in X.shape:
        raise InputError(f"{name} is empty: its shape is {X.shape}.")
    return X.tocsr() if is_sparse(X) else X


def _check_anchors(A: Any) -> FloatArray:
    if is_sparse(A):
        raise InputTypeError("A is a sparse matrix; anchors must be dense: pass A.toarray().")
    anchors = _floats(_check_matrix("A", A))
    _check_rows("A", anchors, 0)
    return anchors


def _check_rows(name: str, values: FloatArray, first: int) -> None:
    """Name the first row that is not finite, or so large that its products are not."""
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise InputError(f"{name} has NaN, infinity or numbers too large to square in row {first + bad[0]}.")
