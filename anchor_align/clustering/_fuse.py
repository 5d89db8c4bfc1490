"""``fuse``: one graph from the anchor graphs of all views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import GraphLike
from ..blocks import check_finite, is_distributed
from ..errors import InputError
from ..fusion import FusedRows, Fusion, Recipe, agreement_weights, check_weights, is_auto, is_finite
from ..graphs import GramMatrices, StoredGraphs, check_orders
from ..plugins import get_fusion


def fuse(
    Z_list: Iterable[GraphLike],
    P_list: Iterable[Any] | None = None,
    *,
    weights: npt.ArrayLike | str | None = None,
    how: str | Fusion = "mean",
    mask: npt.ArrayLike | None = None,
    missing: str = "error",
    join: str | None = None,
) -> Any:
    """Fuse the anchor graphs of several views.

    Parameters
    ----------
    Z_list : list of array-like, sparse or Dask array of shape (n_samples, n_anchors)
        One graph per view; the numbers of anchors may differ.
    P_list : list, optional
        Matrices from :func:`align`, or index arrays as in ``AnchorAligner.permutations_`` (-1: no anchor of the view in
        this column). A matrix has one 1 in each row; it may put several anchors in one column, which are then added.
        Without ``P_list`` anchors stay in their given order; views with fewer anchors then have none in the last
        columns. The controls ("unaligned", "concat") always take them in this order, whatever ``P_list`` says.
    weights : array-like of float of shape (n_views,), or "auto", optional
        One weight >= 0 per view; they are divided by their sum. By default the weights are equal. "auto": by the
        agreement of a view's graph, in the order of ``P_list``, with the others. Related views get nearly equal
        weights, a view of noise almost none. One or two views always get equal weights. It takes one more pass over the
        samples.
    how : {"mean", "rotated", "unaligned", "concat"}, name of a plug-in's fusion, or Fusion, default="mean"
        "mean" is the weighted mean, n_samples x n_columns; rows that sum to one still do. "rotated" first multiplies
        each graph by the orthogonal matrix that brings it closest to the others, starting from ``P_list``. Its mean has
        the same shape and is always dense. Entries may be negative and rows need not sum to one: it is for embedding
        (its leading left singular vectors), not for reading. "unaligned" is the mean of the graphs as they come.
        "concat" puts the graphs side by side, n_samples x (all anchors). It is a control without alignment, because its
        clusters are the same for any order of the columns; weights, divided by their mean, then multiply the columns of
        each view.
    mask : array-like of bool of shape (n_views, n_samples) or (n_samples, n_views), optional
        False where a sample is missing in a view; these rows are not read. The mean is then over the views that have
        the sample, with weights divided by their sum; "concat" has zeros for missing samples. Not for Dask arrays.
    missing : {"error", "nan"}, default="error"
        "nan": a row with only NaN is a missing sample.
    join : {"inner", "outer"}, optional
        For DataFrames that name different samples, see :func:`align`; rows of the result are in the order of
        :func:`anchor_align.data.join_views`.

    Returns
    -------
    ndarray, csr_array or Dask array
        Sparse if every graph is sparse. float32 if every graph is float32, else float64. For Dask arrays a Dask array,
        computed when it is needed and not checked for NaN and overflow.

    Raises
    ------
    InputError
        If graphs, permutations, weights or mask do not fit together, or a sample is in no view (or only in views with
        weight zero). The message names the view or the sample.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import align, fuse
    >>> Z0 = np.array([[1.0, 0.0], [0.2, 0.8], [0.0, 1.0]])
    >>> Z1 = np.array([[0.0, 1.0], [0.6, 0.4], [1.0, 0.0]])
    >>> fuse([Z0, Z1], align([Z0, Z1]))
    array([[1. , 0. ],
           [0.3, 0.7],
           [0. , 1. ]])

    The second sample is missing in view 1:

    >>> mask = [[True, True, True], [True, False, True]]
    >>> fuse([Z0, Z1], align([Z0, Z1]), mask=mask)
    array([[1. , 0. ],
           [0.2, 0.8],
           [0. , 1. ]])
    """
    fusion = get_fusion("aligned" if isinstance(how, str) and how == "mean" else how)
    rows = StoredGraphs.from_user(Z_list, mask, missing, join)
    graphs = rows.graphs
    orders = check_orders(P_list, rows.sizes)
    if not fusion.aligns:
        orders = check_orders(None, rows.sizes)
    grams = GramMatrices.of_set(rows) if fusion.uses_grams or is_auto(weights) else None
    maps = tuple(fusion.maps(orders, grams))
    if grams is not None and is_auto(weights):
        weights = agreement_weights(grams, maps if fusion.multiplies else orders)
    recipe = Recipe(fusion, maps, tuple(check_weights(weights, len(graphs))))
    if rows.mask is not None:
        recipe.check_present(rows.mask)
    with np.errstate(over="ignore", invalid="ignore"):
        fused = FusedRows(rows, recipe).stored()
    if is_distributed(fused):
        return fused
    if not is_finite(fused):
        check_finite(graphs, mask=rows.mask)
        raise InputError("The fused graph overflows; divide the graphs by a constant.")
    return fused
