"""Aligning the anchors of several views: the function, permutations only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex

import numpy.typing as npt

from ..arrays import FloatArray, GraphLike
from ..blocks import blas_limit
from ..graphs import GramMatrices
from ._aligner import AnchorAligner
from ._many_views import Progress


def align(
    Z_list: Iterable[GraphLike] | GramMatrices,
    lam: float = 0.1,
    *,
    lam_scale: str = "balanced",
    reference: SupportsIndex | str = "consensus",
    method: str = "ascent",
    seeds: Any = None,
    many_to_one: bool = False,
    n_restarts: int = 4,
    random_state: Any = 0,
    callback: Callable[[Progress], object] | None = None,
    mask: npt.ArrayLike | None = None,
    missing: str = "error",
    join: str | None = None,
    effort: str = "normal",
    profiles: Iterable[npt.ArrayLike] | None = None,
) -> list[FloatArray]:
    """Find the permutations that make the anchors of several views correspond.

    Parameters
    ----------
    Z_list : list of array-like or sparse of shape (n_samples, n_anchors), or GramMatrices
        One anchor graph per view, with the same order of samples: ndarray, memmap, DataFrame, scipy sparse or Dask
        array (its products are computed where its chunks are). Rows of DataFrames are paired by their names, in the
        order of the first view. The numbers of anchors may differ. Inputs are not modified.
    lam : float, default=0.1
        Weight of the structure term, >= 0. With 0 only the feature term counts (solved exactly), with ``inf`` only the
        structure term.
    lam_scale : {"balanced", "paper"}, default="balanced"
        "balanced" divides K by the norms of the two graphs and each S by its norm. Both terms are then cosines, and lam
        has the same meaning for any number of samples and anchors. "paper" uses the raw matrices.
    reference : int, "auto" or "consensus", default="consensus"
        The view whose order of anchors the others take. "consensus" has no reference: views, and groups of similar
        views, are matched in turn to the mean of all others, until the total over all pairs of views no longer rises;
        view 0 then keeps its order. The total is never below that of the best reference; with more than 32 anchors
        and a ``lam`` of at most 0.3, only references whose quick match comes within 3 % are compared in full. It need
        not be the best of all: for few anchors, other starts are tried, too. "auto": of the views with the most
        anchors, the one that all others match best (largest total objective). Both match all v (v - 1) / 2 pairs of v
        views, and store the Gram matrices, O(v^2 m^2) numbers; an index needs v - 1 matches.
    method : {"ascent", "pfp", "exact", "pfp-many-to-one"}, default="ascent"
        "ascent" is fast. Up to 8 anchors it is optimal, because all permutations are tried; with more anchors nearly
        always. "pfp" is the projected fixed point of the paper, for comparison: its result depends on the size of the
        raw graphs, also with ``lam_scale="balanced"``. "exact" is proven optimal, for up to 10 anchors.
        "pfp-many-to-one" is "pfp" as in the released code of the paper: every anchor of a view goes to the reference
        anchor with the largest entry. No anchor is lost and rows keep their sums, but several anchors may share a
        column, and some columns get none. It takes no seeds and has no consensus: give an index or "auto" as reference.
    seeds : array-like of int of shape (n_seeds, n_views), optional
        Known correspondences. Each row has one anchor per view; they correspond. For two views a row is a pair
        ``(anchor of view 0, anchor of view 1)``. -1 means not known; the anchor of the reference must be known.
    many_to_one : bool, default=False
        The place of anchors without a partner, if a view has more anchors than the named reference. False: each gets
        its own column, after those of the reference. True: each joins the reference anchor with the largest benefit
        (gradient of the objective), at most ceil(anchors of the view / anchors of the reference) in one column.
    n_restarts : int, default=4
        Restarts of the ascent if the match is not clear.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the random starts of the ascent. None draws a new seed.
    callback : callable, optional
        Called with a :class:`Progress` during the work. An exception in it stops the work.
    mask : array-like of bool of shape (n_views, n_samples) or (n_samples, n_views), optional
        False where a sample is missing in a view; these rows are not read. Each pair of views is matched by the samples
        that both have: "balanced" divides by the norms over these samples, "paper" multiplies the raw matrices by the
        number of all samples over their number. Every sample must be in some view, and every view must share samples
        with the reference; "auto" and "consensus" can match views through other views. Not for Dask arrays.
    missing : {"error", "nan"}, default="error"
        "nan": a row with only NaN is a missing sample. A row with some NaN is an error.
    join : {"inner", "outer"}, optional
        For DataFrames that name different samples: "inner" keeps the samples that all views have, "outer" keeps all and
        takes those that a view lacks as missing. By default different samples are an error.
    effort : {"normal", "high"}, default="normal"
        "high": a tabu search goes on from the result of the ascent, for many times its time. The objective of a pair,
        and the total of a consensus, are never below those with "normal".
    profiles : list of array of shape (n_groups, n_anchors of the view), optional
        How much weight each anchor has in groups of samples, such as clusters that were found beforehand. Anchors with
        similar profiles are matched: the cosine of the profiles counts ten times as much as the feature term, which
        decides between anchors of the same groups. Ignored for infinite lam.

    Returns
    -------
    list of ndarray of shape (n_anchors of the view, n_columns)
        One matrix of zeros and ones per view; the columns of ``Z_list[v] @ P[v]`` are in the common order, that of the
        reference. The matrix of the reference (of view 0 for "consensus") is the identity. If all views have the same
        number of anchors these are permutation matrices. Otherwise they have one 1 in each row and at most one in each
        column, and views with fewer anchors have columns of zeros. "pfp-many-to-one" has one 1 in each row, and any
        number in a column. The number of columns is the largest number of
        anchors. If a named reference has fewer, columns for anchors without a partner follow (see ``many_to_one``); in
        the matrix of the reference they are zero.

    Warns
    -----
    UserWarning
        If, with a mask, the column of an anchor sums to less than one mean row over the shared samples, or if views
        without a shared sample were matched through other views.

    Raises
    ------
    InputError
        If the graphs or parameters cannot be used. The message names the view, the given and the expected value.

    See Also
    --------
    AnchorAligner : the same with the objective, its upper bound and the margins of the anchors.
    fuse : the mean of the aligned graphs.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import align
    >>> rng = np.random.default_rng(0)
    >>> Z0 = rng.dirichlet(np.full(4, 0.3), size=50)
    >>> Z1 = Z0[:, [2, 0, 3, 1]]
    >>> P = align([Z0, Z1])
    >>> P[1].argmax(axis=0)
    array([1, 3, 0, 2])
    >>> bool((Z1 @ P[1] == Z0).all())
    True

    A view with three anchors has no anchor for one of the columns:

    >>> align([Z0, Z1[:, :3]])[1].astype(int)
    array([[0, 0, 1, 0],
           [1, 0, 0, 0],
           [0, 0, 0, 1]])
    """
    aligner = AnchorAligner(
        lam,
        lam_scale=lam_scale,
        reference=reference,
        method=method,
        seeds=seeds,
        many_to_one=many_to_one,
        n_restarts=n_restarts,
        random_state=random_state,
        callback=callback,
        effort=effort,
    )
    with blas_limit.using():
        solved = aligner._solve(Z_list, mask, missing, None, join, profiles)
    return solved.columns.matrices(solved.grams.sizes)
