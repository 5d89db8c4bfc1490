"""The columns of a view's anchors among the common columns.

An *order* has one of two forms. An index array ``p`` gives the anchor of every common column, or -1 for none. A matrix
P of zeros and ones (anchors x common columns) can also put several anchors in one column, which are then added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays import FloatArray, Graph, IndexArray, is_sparse
from ..blocks import engine_of
from ..checks import is_iterable
from ..errors import InputError, InputTypeError

# An index array (1-D) or a matrix (2-D).
Order: TypeAlias = IndexArray | FloatArray


def permute_columns(Z: Graph, order: Order) -> Graph:
    """Put the columns of a checked graph in the common order. Columns without an anchor of the view are zero."""
    engine = engine_of(Z)
    if engine.distributed:
        meta = sp.csr_array if engine.is_sparse(Z) else np.empty
        moved: Graph = engine.parts(Z).map(permute_columns, order).joined(meta((0, n_columns(order)), dtype=Z.dtype))
        return moved
    if order.ndim == 1 and (order >= 0).all():
        return Z[:, np.asarray(order, dtype=np.intp)]
    if is_sparse(Z):
        return Z @ sp.csr_array(order_matrix(order, Z.shape[1]).astype(Z.dtype))
    dense = np.zeros((Z.shape[0], n_columns(order)), dtype=Z.dtype)
    # Not a product: rows of missing samples may contain any value, also NaN.
    for anchor, column in zip(*np.nonzero(order_matrix(order, Z.shape[1])), strict=True):
        dense[:, column] += Z[:, anchor]
    return dense


def n_columns(order: Order) -> int:
    return int(order.shape[-1])


def order_matrix(order: Order, n_anchors: int) -> FloatArray:
    """An order as a matrix, anchors x common columns."""
    if order.ndim == 2:
        return np.asarray(order, dtype=np.float64)
    P = np.zeros((n_anchors, len(order)))
    columns = np.flatnonzero(order >= 0)
    P[order[columns], columns] = 1.0
    return P


def aligned_product(K: FloatArray, rows: Order, columns: Order) -> FloatArray:
    """P' K Q for two orders P and Q: the product of two graphs with their anchors in the common columns."""
    if all(order.ndim == 1 and (order >= 0).all() for order in (rows, columns)):
        return np.asarray(K[np.ix_(rows, columns)])
    return np.asarray(order_matrix(rows, K.shape[0]).T @ K @ order_matrix(columns, K.shape[1]))


def check_orders(P_list: Iterable[Any] | None, sizes: Sequence[int]) -> list[Order]:
    """Check the orders from users, one per view. Without any, anchors stay in place."""
    m = max(sizes)
    if P_list is None:
        return [np.append(np.arange(size), np.full(m - size, -1)).astype(np.intp) for size in sizes]
    if not is_iterable(P_list):
        raise InputTypeError(f"P_list must be a list of permutations, one per view, got {type(P_list).__name__}.")
    matrices = list(P_list)
    if len(matrices) != len(sizes):
        raise InputError(f"Got {len(matrices)} permutations for {len(sizes)} views.")
    same = len(set(sizes)) == 1
    orders = [_check_order(P, view, size, same) for view, (P, size) in enumerate(zip(matrices, sizes, strict=True))]
    for view, order in enumerate(orders):
        if n_columns(order) != n_columns(orders[0]):
            raise InputError(
                f"The permutation of view {view} has {n_columns(order)} common columns; that of view 0 has "
                f"{n_columns(orders[0])}."
            )
    return orders


def _check_order(P: Any, view: int, m: int, same: bool) -> Order:
    """The order of one view: an index array if possible, else a matrix."""
    try:
        P = P.toarray() if is_sparse(P) else np.asarray(P)
    except ValueError as error:
        raise InputError(f"The permutation of view {view} is not a rectangular array: {error}.") from error
    if P.ndim == 1 and len(P) >= m and P.dtype.kind in "iu":
        if np.array_equal(np.sort(P[P != -1]), np.arange(m)):
            return np.asarray(P, dtype=np.intp)
    elif P.ndim == 2 and len(P) == m and P.shape[1] and P.dtype.kind in "fiub":
        order = _order_of_matrix(P)
        if order is not None:
            return order
    else:
        expected = f"a {m} x {m} matrix or {m} indices" if same else f"a matrix of {m} rows or {m} indices or more"
        raise InputError(
            f"The permutation of view {view} has shape {P.shape} and dtype {P.dtype}; expected {expected}."
        )
    raise InputError(f"The permutation of view {view} does not have each of its {m} anchors exactly once.")


def _order_of_matrix(P: Any) -> Order | None:
    """None unless every anchor is in exactly one column."""
    P = P.astype(np.float64)
    if not np.isin(P, (0.0, 1.0)).all() or (P.sum(axis=1) != 1).any():
        return None
    in_columns = P.sum(axis=0)
    return np.where(in_columns == 1, P.argmax(axis=0), -1).astype(np.intp) if (in_columns <= 1).all() else P
