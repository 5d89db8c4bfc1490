"""Aligning the anchors of several views: ``align`` and ``AnchorAligner``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ._columns import Order, permute_columns
from ._grams import GramMatrices
from ._matcher import Matcher, Progress, Solution
from ._observed import MISSING
from ._padding import Placed, drop_padding, pad_grams
from ._scale import LAM_SCALES
from ._shared_scale import scale_grams
from ._solvers import MANY_TO_ONE, METHODS
from ._support import warn_of_thin_anchors
from ._types import FloatArray, GraphLike
from ._validation import (
    check_callback,
    check_choice,
    check_graphs,
    check_lam,
    check_reference,
    check_seed,
    check_seeds,
)
from .checks import check_flag, check_whole_number
from .errors import InputError


def align(
    Z_list: Iterable[GraphLike] | GramMatrices,
    lam: float = 0.1,
    *,
    lam_scale: str = "balanced",
    reference: SupportsIndex | str = "auto",
    method: str = "ascent",
    seeds: Any = None,
    many_to_one: bool = False,
    n_restarts: int = 4,
    random_state: Any = 0,
    callback: Callable[[Progress], object] | None = None,
    mask: npt.ArrayLike | None = None,
    missing: str = "error",
) -> list[FloatArray]:
    """Find the permutations that make the anchors of several views correspond.

    Parameters
    ----------
    Z_list : list of array-like or sparse of shape (n_samples, n_anchors), or GramMatrices
        One anchor graph per view, rows in the same order of samples: ndarray, memmap, DataFrame (rows are paired by
        position), scipy sparse or Dask arrays, whose products are added up where their chunks are. The numbers of
        anchors may differ. Inputs are not modified.
    lam : float, default=0.1
        Weight of the structure term, >= 0. 0 matches on the feature term only (solved exactly), ``inf`` on the
        structure term only.
    lam_scale : {"balanced", "paper"}, default="balanced"
        "balanced" divides K by the norms of the two graphs and each S by its norm: both terms are then cosines and lam
        means the same for any number of samples and anchors. "paper" uses the raw matrices.
    reference : int, "auto" or "consensus", default="auto"
        The view whose order of anchors is kept. "auto" takes the view that all others match best (the largest total
        objective), of those with the most anchors. "consensus" has no reference: starting from the best reference,
        every view is matched to the mean of all the others in turn until the total over all pairs of views no longer
        rises; view 0 then keeps its order. The total is never below that of the best reference. Both match all
        v (v - 1) / 2 pairs of v views, and hold the Gram matrices, O(v^2 m^2) numbers.
    method : {"ascent", "pfp", "exact", "pfp-many-to-one"}, default="ascent"
        "ascent" is fast and nearly always optimal. "pfp" is the paper's projected fixed point, for comparison: its
        result depends on the size of the raw graphs, whatever ``lam_scale`` is. "exact" is proven optimal, for up to
        10 anchors. "pfp-many-to-one" is "pfp" as in the paper's released code, where every reference anchor takes its
        largest entry: several may take the same anchor, and rows of the aligned graphs need not sum to one. It has no
        consensus.
    seeds : array-like of int of shape (n_seeds, n_views), optional
        Known correspondences: the anchors in one row, one per view, go together. With two views these are pairs
        ``(anchor of view 0, anchor of view 1)``. -1 says that a view's anchor is not known; the reference's must be.
    many_to_one : bool, default=False
        What becomes of anchors without a partner, where a view has more anchors than the reference that was named.
        False: each is a column of its own, after the reference's. True: each joins the reference's anchor that it
        benefits most (the gradient of the objective), so that no reference anchor gets more than
        ceil(anchors of the view / anchors of the reference).
    n_restarts : int, default=4
        How hard the ascent tries where the match is not clear.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the ascent's random starts. None draws a new one.
    callback : callable, optional
        Called with a :class:`Progress` as the work goes on. What it raises stops the work.
    mask : array-like of bool of shape (n_views, n_samples), optional
        True where a view has a sample; other rows of its graph are not looked at. Each pair of views is matched by the
        samples that both have: "balanced" divides by the norms over these, "paper" multiplies the raw matrices by the
        number of all samples over that of these. Every sample must be in some view, and every view must share samples
        with the reference; "auto" and "consensus" also go through other views. Not for Dask arrays.
    missing : {"error", "nan"}, default="error"
        "nan": rows that are NaN throughout are samples that the view does not have. Some NaN in a row is an error.

    Returns
    -------
    list of ndarray of shape (n_anchors of the view, n_columns)
        One matrix of zeros and ones per view; ``Z_list[v] @ P[v]`` has its columns in the common order, the
        reference's. The reference's matrix (view 0's for "consensus") is the identity. If all views have as many
        anchors these are permutation matrices. Else they have one 1 in each row and at most one in each column: a view
        with fewer anchors has columns of zeros. There are as many columns as the largest view has anchors; a reference
        with fewer that was named is followed by columns for anchors without a partner (see ``many_to_one``), and its
        identity by zeros.

    Warns
    -----
    UserWarning
        If, with a mask, an anchor's column sums to less than one mean row over the samples that it was matched by, or
        views were matched through others because they share no sample.

    Raises
    ------
    InputError
        If the graphs or parameters cannot be used; the message names the view, what was got and what was expected.

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

    A view with three anchors has none for one of the columns:

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
    )
    solved = aligner._solve(Z_list, mask, missing)
    return solved.placed.matrices(solved.grams.sizes)


@dataclass(frozen=True, eq=False)
class _Solved:
    """A solution, and who can judge it; the solution is of padded views if the numbers of anchors differ."""

    grams: GramMatrices
    matcher: Matcher
    solution: Solution
    placed: Placed


class AnchorAligner(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Align the anchors of several views and say how good the match is.

    Parameters are those of :func:`align`, except that :meth:`fit` takes ``mask`` and ``missing``. All numbers about a
    view concern its match to the reference view, or, with ``reference="consensus"``, to the mean of all other views;
    the reference is compared with itself. Pairs of views are compared by the samples that both have.

    Attributes
    ----------
    permutations_ : list of ndarray of shape (n_columns,)
        ``Z_list[v][:, permutations_[v]]`` is aligned. If the views have different numbers of anchors, -1 stands where
        a view has no anchor for a column. With ``many_to_one=True``, the anchor that was matched first; ``matrices_``
        has the others too. With ``method="pfp-many-to-one"`` some anchors come twice and others not at all.
    matrices_ : list of ndarray of shape (n_anchors of the view, n_columns)
        The same as matrices, see :func:`align`: ``Z_list[v] @ matrices_[v]`` is aligned.
    reference_ : int or None
        Index of the reference view; None for "consensus".
    shared_ : ndarray of int of shape (n_views, n_views)
        Numbers of samples that two views share; of those that a view has, on the diagonal.
    feature_, structure_ : ndarray of shape (n_views,)
        The two terms of the objective, before lam; cosines in [0, 1] on the balanced scale for graphs >= 0.
    objective_ : ndarray of shape (n_views,)
        ``feature_ + lam * structure_`` (``structure_`` for infinite lam).
    upper_bound_ : ndarray of shape (n_views,)
        No permutation has a larger objective (none that respects the seeds).
    gap_ : ndarray of shape (n_views,)
        ``upper_bound_ - objective_``; 0 means proven optimal, up to rounding. Negative only for "pfp-many-to-one",
        which may gain by taking an anchor more than once.
    margins_ : ndarray of shape (n_views, n_columns)
        For every aligned column, how much the objective falls at least when the anchor gets another partner and the
        two anchors concerned exchange theirs. Near 0: the anchor is ambiguous. Infinite: there is no other choice, or
        no anchor. Negative: a better partner exists ("pfp" only). NaN for matches that are not one-to-one.
    n_iter_ : ndarray of shape (n_views,)
        Iterations that led to the match; permutations or branches looked at, for "exact" and up to 6 anchors.
    history_ : list of tuple of float
        Objective along the iterations. For "consensus", of the view's last improvement; a view that needed none keeps
        the history of its match to the best reference.

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align import AnchorAligner
    >>> rng = np.random.default_rng(0)
    >>> Z0 = rng.dirichlet(np.full(4, 0.3), size=50)
    >>> aligner = AnchorAligner(lam=0.5, reference=0).fit([Z0, Z0[:, [2, 0, 3, 1]]])
    >>> aligner.permutations_[1]
    array([1, 3, 0, 2])
    >>> print(aligner.objective_[1].round(6), aligner.upper_bound_[1].round(6))
    1.5 1.5
    >>> bool((aligner.margins_[1] > 0).all())
    True
    """

    def __init__(
        self,
        lam: float = 0.1,
        *,
        lam_scale: str = "balanced",
        reference: SupportsIndex | str = "auto",
        method: str = "ascent",
        seeds: Any = None,
        many_to_one: bool = False,
        n_restarts: int = 4,
        random_state: Any = 0,
        callback: Callable[[Progress], object] | None = None,
    ) -> None:
        self.lam = lam
        self.lam_scale = lam_scale
        self.reference = reference
        self.method = method
        self.seeds = seeds
        self.many_to_one = many_to_one
        self.n_restarts = n_restarts
        self.random_state = random_state
        self.callback = callback

    def fit(
        self,
        Z_list: Iterable[GraphLike] | GramMatrices,
        y: object = None,
        *,
        mask: npt.ArrayLike | None = None,
        missing: str = "error",
    ) -> AnchorAligner:
        """Find the permutations.

        Parameters
        ----------
        Z_list : list of array-like or sparse of shape (n_samples, n_anchors), or GramMatrices
        y : ignored
        mask : array-like of bool of shape (n_views, n_samples), optional
            True where a view has a sample, see :func:`align`. Gram matrices know already.
        missing : {"error", "nan"}, default="error"
            "nan": rows that are NaN throughout are samples that the view does not have.
        """
        solved = self._solve(Z_list, mask, missing)
        certificates = solved.matcher.certificates(solved.solution)
        self.permutations_ = solved.placed.permutations
        self.matrices_ = solved.placed.matrices(solved.grams.sizes)
        self.reference_ = solved.solution.reference
        self.shared_ = solved.grams.shared
        self.feature_ = np.array([c.feature for c in certificates])
        self.structure_ = np.array([c.structure for c in certificates])
        self.objective_ = np.array([c.objective for c in certificates])
        self.upper_bound_ = np.array([c.upper_bound for c in certificates])
        self.gap_ = self.upper_bound_ - self.objective_
        self.margins_ = solved.placed.margins([c.margins for c in certificates])
        self.n_iter_ = np.array([match.n_iter for match in solved.solution.matches])
        self.history_ = [match.history for match in solved.solution.matches]
        self._orders: list[Order] = solved.placed.orders
        return self

    def transform(self, Z_list: Iterable[GraphLike]) -> list[Any]:
        """Put the columns of graphs of the same anchors in the common order.

        Returns
        -------
        list of ndarray or csr
            One aligned graph per view, of any number of samples; sparse where the graph is sparse. Columns that a view
            has no anchor for are zero. Rows that were not observed are moved like any other.
        """
        check_is_fitted(self)
        graphs = check_graphs(Z_list, same_anchors=False)
        if len(graphs) != len(self.permutations_):
            raise InputError(f"Got {len(graphs)} views; the aligner was fitted on {len(self.permutations_)}.")
        got, fitted = [Z.shape[1] for Z in graphs], [len(P) for P in self.matrices_]
        if got != fitted:
            if len(set(got)) == len(set(fitted)) == 1:
                raise InputError(f"The views have {got[0]} anchors; the aligner was fitted on {fitted[0]}.")
            view = next(view for view, size in enumerate(got) if size != fitted[view])
            raise InputError(f"View {view} has {got[view]} anchors; the aligner was fitted on {fitted[view]}.")
        return [permute_columns(Z, order) for Z, order in zip(graphs, self._orders, strict=True)]

    def fit_transform(
        self,
        Z_list: Iterable[GraphLike],
        y: object = None,
        *,
        mask: npt.ArrayLike | None = None,
        missing: str = "error",
    ) -> list[Any]:
        """Fit, then return the aligned graphs."""
        graphs = check_graphs(Z_list, same_anchors=False)
        return self.fit(graphs, mask=mask, missing=missing).transform(graphs)

    def _solve(self, Z_list: Iterable[GraphLike] | GramMatrices, mask: object, missing: str) -> _Solved:
        """Check everything, then match."""
        lam = check_lam(self.lam)
        check_choice("lam_scale", self.lam_scale, LAM_SCALES)
        check_choice("method", self.method, METHODS)
        check_choice("missing", missing, MISSING)
        many_to_one = check_flag("many_to_one", self.many_to_one)
        n_restarts = check_whole_number("n_restarts", self.n_restarts)
        seed = check_seed(self.random_state)
        check_callback(self.callback)
        grams = self._grams(Z_list, mask, missing)
        grams.check_digits()
        reference = check_reference(self.reference, grams.n_views)
        seeds = check_seeds(self.seeds, grams.sizes)
        scaled = scale_grams(pad_grams(grams), lam, self.lam_scale)
        matcher = Matcher(scaled, seeds, self.method, n_restarts, seed, self.callback, grams.sizes)
        solution = matcher.solve(reference)
        base = solution.reference
        placed = drop_padding(
            solution.permutations,
            grams.sizes,
            base,
            many_to_one=many_to_one,
            only_reference=self.method == MANY_TO_ONE,
            problem=lambda view: matcher.problem(view if base is None else base, view),
        )
        warn_of_thin_anchors(grams, base)
        return _Solved(grams, matcher, solution, placed)

    def _grams(self, Z_list: Iterable[GraphLike] | GramMatrices, mask: Any, missing: str) -> GramMatrices:
        if isinstance(Z_list, GramMatrices):
            if mask is not None or missing != "error":
                raise InputError("Gram matrices know which samples views have: give the mask to GramMatrices instead.")
            return Z_list
        callback = self.callback
        rows = None if callback is None else lambda done, total: callback(Progress("grams", done, total))
        return GramMatrices.from_graphs(Z_list, mask=mask, missing=missing, callback=rows)
