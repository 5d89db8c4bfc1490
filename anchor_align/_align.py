"""Aligning the anchors of several views: ``align`` and ``AnchorAligner``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ._fusion import permutation_matrix, permute_columns
from ._grams import GramMatrices
from ._matcher import Matcher, Progress, Solution
from ._scale import LAM_SCALES, ScaledGrams
from ._solvers import METHODS
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
from .checks import check_whole_number
from .errors import InputError


def align(
    Z_list: Iterable[GraphLike] | GramMatrices,
    lam: float = 0.1,
    *,
    lam_scale: str = "balanced",
    reference: SupportsIndex | str = "auto",
    method: str = "ascent",
    seeds: Any = None,
    n_restarts: int = 4,
    random_state: Any = 0,
    callback: Callable[[Progress], object] | None = None,
) -> list[FloatArray]:
    """Find the permutations that make the anchors of several views correspond.

    Parameters
    ----------
    Z_list : list of array-like or sparse of shape (n_samples, n_anchors), or GramMatrices
        One anchor graph per view, rows in the same order of samples: ndarray, memmap, DataFrame (rows are paired by
        position) or scipy sparse. Inputs are not modified.
    lam : float, default=0.1
        Weight of the structure term, >= 0. 0 matches on the feature term only (solved exactly), ``inf`` on the
        structure term only.
    lam_scale : {"balanced", "paper"}, default="balanced"
        "balanced" divides K by the norms of the two graphs and each S by its norm: both terms are then cosines and lam
        means the same for any number of samples and anchors. "paper" uses the raw matrices.
    reference : int, "auto" or "consensus", default="auto"
        The view whose order of anchors is kept. "auto" takes the view that all others match best (the largest total
        objective). "consensus" has no reference: starting from the best reference, every view is matched to the mean
        of all the others in turn until the total over all pairs of views no longer rises; view 0 then keeps its order.
    method : {"ascent", "pfp", "exact"}, default="ascent"
        "ascent" is fast and nearly always optimal. "pfp" is the paper's projected fixed point, for comparison: its
        result depends on the size of the raw graphs, whatever ``lam_scale`` is. "exact" is proven optimal, for up to
        10 anchors.
    seeds : array-like of int of shape (n_seeds, n_views), optional
        Known correspondences: the anchors in one row, one per view, go together. With two views these are pairs
        ``(anchor of view 0, anchor of view 1)``. -1 says that a view's anchor is not known; the reference's must be.
    n_restarts : int, default=4
        How hard the ascent tries where the match is not clear.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the ascent's random starts. None draws a new one.
    callback : callable, optional
        Called with a :class:`Progress` as the work goes on. What it raises stops the work.

    Returns
    -------
    list of ndarray of shape (n_anchors, n_anchors)
        One permutation matrix per view; ``Z_list[v] @ P[v]`` has its columns in the reference's order. The reference's
        matrix (view 0's for "consensus") is the identity.

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
    """
    aligner = AnchorAligner(
        lam,
        lam_scale=lam_scale,
        reference=reference,
        method=method,
        seeds=seeds,
        n_restarts=n_restarts,
        random_state=random_state,
        callback=callback,
    )
    _, solution = aligner._solve(Z_list)
    return [permutation_matrix(p) for p in solution.permutations]


class AnchorAligner(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Align the anchors of several views and say how good the match is.

    Parameters are those of :func:`align`. All numbers about a view concern its match to the reference view, or, with
    ``reference="consensus"``, to the mean of all other views; the reference is compared with itself.

    Attributes
    ----------
    permutations_ : list of ndarray of shape (n_anchors,)
        ``Z_list[v][:, permutations_[v]]`` is aligned.
    matrices_ : list of ndarray of shape (n_anchors, n_anchors)
        The same as permutation matrices: ``Z_list[v] @ matrices_[v]`` is aligned.
    reference_ : int or None
        Index of the reference view; None for "consensus".
    feature_, structure_ : ndarray of shape (n_views,)
        The two terms of the objective, before lam; cosines in [0, 1] on the balanced scale for graphs >= 0.
    objective_ : ndarray of shape (n_views,)
        ``feature_ + lam * structure_`` (``structure_`` for infinite lam).
    upper_bound_ : ndarray of shape (n_views,)
        No permutation has a larger objective (none that respects the seeds).
    gap_ : ndarray of shape (n_views,)
        ``upper_bound_ - objective_``; 0 means proven optimal, up to rounding.
    margins_ : ndarray of shape (n_views, n_anchors)
        For every aligned column, how much the objective falls at least when the anchor gets another partner and the
        two anchors concerned exchange theirs. Near 0: the anchor is ambiguous. Infinite: there is no other choice.
        Negative: a better partner exists ("pfp" only).
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
        n_restarts: int = 4,
        random_state: Any = 0,
        callback: Callable[[Progress], object] | None = None,
    ) -> None:
        self.lam = lam
        self.lam_scale = lam_scale
        self.reference = reference
        self.method = method
        self.seeds = seeds
        self.n_restarts = n_restarts
        self.random_state = random_state
        self.callback = callback

    def fit(self, Z_list: Iterable[GraphLike] | GramMatrices, y: object = None) -> AnchorAligner:
        """Find the permutations.

        Parameters
        ----------
        Z_list : list of array-like or sparse of shape (n_samples, n_anchors), or GramMatrices
        y : ignored
        """
        matcher, solution = self._solve(Z_list)
        certificates = matcher.certificates(solution)
        self.permutations_ = solution.permutations
        self.matrices_ = [permutation_matrix(p) for p in solution.permutations]
        self.reference_ = solution.reference
        self.feature_ = np.array([c.feature for c in certificates])
        self.structure_ = np.array([c.structure for c in certificates])
        self.objective_ = np.array([c.objective for c in certificates])
        self.upper_bound_ = np.array([c.upper_bound for c in certificates])
        self.gap_ = self.upper_bound_ - self.objective_
        self.margins_ = np.array([c.margins for c in certificates])
        self.n_iter_ = np.array([match.n_iter for match in solution.matches])
        self.history_ = [match.history for match in solution.matches]
        return self

    def transform(self, Z_list: Iterable[GraphLike]) -> list[Any]:
        """Put the columns of graphs of the same anchors in the common order.

        Returns
        -------
        list of ndarray or csr
            One aligned graph per view, of any number of samples; sparse where the graph is sparse.
        """
        check_is_fitted(self)
        graphs = check_graphs(Z_list)
        if len(graphs) != len(self.permutations_):
            raise InputError(f"Got {len(graphs)} views; the aligner was fitted on {len(self.permutations_)}.")
        m = len(self.permutations_[0])
        if graphs[0].shape[1] != m:
            raise InputError(f"The views have {graphs[0].shape[1]} anchors; the aligner was fitted on {m}.")
        return [permute_columns(Z, p) for Z, p in zip(graphs, self.permutations_, strict=True)]

    def fit_transform(self, Z_list: Iterable[GraphLike], y: object = None) -> list[Any]:
        """Fit, then return the aligned graphs."""
        graphs = check_graphs(Z_list)
        return self.fit(graphs).transform(graphs)

    def _solve(self, Z_list: Iterable[GraphLike] | GramMatrices) -> tuple[Matcher, Solution]:
        """Check everything, then match; the matcher can judge the solution."""
        lam = check_lam(self.lam)
        check_choice("lam_scale", self.lam_scale, LAM_SCALES)
        check_choice("method", self.method, METHODS)
        n_restarts = check_whole_number("n_restarts", self.n_restarts)
        seed = check_seed(self.random_state)
        check_callback(self.callback)
        grams = self._grams(Z_list)
        grams.check_digits()
        reference = check_reference(self.reference, grams.n_views)
        seeds = check_seeds(self.seeds, grams.n_views, grams.sizes[0])
        scaled = ScaledGrams(grams, lam, self.lam_scale)
        matcher = Matcher(scaled, seeds, self.method, n_restarts, seed, self.callback)
        return matcher, matcher.solve(reference)

    def _grams(self, Z_list: Iterable[GraphLike] | GramMatrices) -> GramMatrices:
        if isinstance(Z_list, GramMatrices):
            if len(set(Z_list.sizes)) > 1:
                raise InputError(f"All views must have the same number of anchors, got {Z_list.sizes}.")
            return Z_list
        callback = self.callback
        rows = None if callback is None else lambda done, total: callback(Progress("grams", done, total))
        return GramMatrices.from_graphs(check_graphs(Z_list), callback=rows)
