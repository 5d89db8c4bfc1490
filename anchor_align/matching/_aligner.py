"""Aligning the anchors of several views: the estimator, with all numbers of the match."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import TransformerTags
from sklearn.utils.validation import check_is_fitted

from ..arrays import GraphLike
from ..blocks import blas_limit, check_graphs
from ..checks import check_callback, check_choice, check_flag, check_seed, check_whole_number
from ..errors import InputError
from ..graphs import MISSING, GramMatrices, GraphSet, Order, StoredGraphs, permute_columns
from ._certificate import ambiguous, warn_of_thin_anchors
from ._many_views import Matcher, Progress, Solution
from ._pair_solvers import EFFORTS, MANY_TO_ONE, METHODS
from ._parameters import check_lam, check_profiles, check_reference, check_seeds
from ._row_sample import RowSample
from ._scaled_grams import LAM_SCALES, scale_grams
from ._unequal import CommonColumns, drop_padding, pad_grams, shared_columns

NEAR_TIES = ("objective", "largest")


@dataclass(frozen=True, eq=False)
class _Solved:
    """A solution and its matcher, of padded views if the numbers of anchors differ."""

    grams: GramMatrices
    matcher: Matcher
    guided: Matcher | None  # the matcher with profiles, if there are any
    solution: Solution
    columns: CommonColumns
    sample: RowSample | None


class AnchorAligner(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Align the anchors of several views and measure the quality of the match.

    The parameters are those of :func:`align`, except that :meth:`fit` takes ``mask``, ``missing`` and ``join``, and
    ``near_ties``: "objective" (default) takes the match with the largest objective in any case; "largest" exchanges
    anchors if the objective hardly changes (by at most 1 % of an anchor's mean contribution for each of them) and if
    the largest anchors of the samples then coincide clearly more often. All numbers of a
    view describe its match to the reference view, or, with ``reference="consensus"``, to the mean of all other views;
    the reference is compared with itself. Pairs of views are compared by the samples that both have.

    Attributes
    ----------
    permutations_ : list of ndarray of shape (n_columns,)
        ``Z_list[v][:, permutations_[v]]`` is aligned. If the views have different numbers of anchors, -1 marks columns
        without an anchor of the view. Where several anchors share a column (``many_to_one=True`` or
        ``method="pfp-many-to-one"``), one of them; ``matrices_`` has all.
    matrices_ : list of ndarray of shape (n_anchors of the view, n_columns)
        The same as matrices, see :func:`align`: ``Z_list[v] @ matrices_[v]`` is aligned.
    reference_ : int or None
        Index of the reference view; None for "consensus".
    shared_ : ndarray of int of shape (n_views, n_views)
        Number of samples that two views share; on the diagonal, the number of samples of a view.
    feature_, structure_ : ndarray of shape (n_views,)
        The two terms of the objective, without lam; cosines in [0, 1] on the balanced scale for graphs >= 0.
    objective_ : ndarray of shape (n_views,)
        ``feature_ + lam * structure_`` (``structure_`` for infinite lam).
    upper_bound_ : ndarray of shape (n_views,)
        No permutation (that respects the seeds) has a larger objective.
    gap_ : ndarray of shape (n_views,)
        ``upper_bound_ - objective_``; 0 means proven optimal, up to rounding. Negative only for "pfp-many-to-one",
        where several anchors can share a column.
    margins_ : ndarray of shape (n_views, n_columns)
        For every aligned column, the least loss of the objective if the anchor exchanges its partner with another
        anchor. Near 0: the anchor is ambiguous. Infinite: there is no other choice, or no anchor. Negative: a better
        partner exists ("pfp", or a near-tie that was decided otherwise). NaN for "pfp-many-to-one". With
        ``profiles``, the loss includes that of their term, which ``objective_`` does not have.
    exchangeable_ : ndarray of int of shape (n_views,)
        Number of anchors with a margin near 0, at most 1 % of the mean contribution of an anchor to the objective: they
        could be exchanged with another at almost no loss.
    chance_, chance_sd_ : ndarray of shape (n_views,) or None
        Mean and standard deviation of the objective that a view reaches if its samples are shuffled against those of
        the others: 8 draws (3 for more than 50 anchors) of at most 2000 samples. NaN for the reference. None if
        samples are not at hand: for Gram matrices without ``graphs``, for Dask arrays, for one view, for infinite lam,
        and for "pfp-many-to-one".
    above_chance_ : ndarray of bool of shape (n_views,) or None
        Whether the view agrees with the others (linear CKA of the graphs, which no order of anchors changes) clearly
        better than with its samples shuffled: by more than 4 standard deviations of 20 draws of at most 500 samples.
    n_iter_ : ndarray of shape (n_views,)
        Number of iterations; for "exact" and up to 8 anchors, of evaluated permutations or branches.
    history_ : list of tuple of float
        Objective along the iterations. For "consensus", those of the last improvement of the view; a view without
        improvement keeps the history of its match to the best reference.

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
        reference: SupportsIndex | str = "consensus",
        method: str = "ascent",
        seeds: Any = None,
        many_to_one: bool = False,
        n_restarts: int = 4,
        random_state: Any = 0,
        callback: Callable[[Progress], object] | None = None,
        near_ties: str = "objective",
        effort: str = "normal",
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
        self.near_ties = near_ties
        self.effort = effort

    def fit(
        self,
        Z_list: Iterable[GraphLike] | GramMatrices,
        y: object = None,
        *,
        mask: npt.ArrayLike | None = None,
        missing: str = "error",
        graphs: Iterable[GraphLike] | GraphSet | None = None,
        join: str | None = None,
        profiles: Iterable[npt.ArrayLike] | None = None,
    ) -> AnchorAligner:
        """Find the permutations.

        Parameters
        ----------
        Z_list : list of array-like or sparse of shape (n_samples, n_anchors), or GramMatrices
        y : ignored
        mask : array-like of bool of shape (n_views, n_samples) or (n_samples, n_views), optional
            False where a sample is missing in a view, see :func:`align`. Not for Gram matrices, which include it.
        missing : {"error", "nan"}, default="error"
            "nan": a row with only NaN is a missing sample.
        graphs : list of graphs, optional
            With Gram matrices: the graphs that they were computed from, for ``chance_`` and near-ties. A few rows are
            read. ``mask``, ``missing`` and ``join`` then describe them.
        join : {"inner", "outer"}, optional
            Which samples to keep if DataFrames name different ones, see :func:`align`.
        profiles : list of array of shape (n_groups, n_anchors of the view), optional
            How much weight each anchor has in groups of samples, such as clusters that were found beforehand, see
            :func:`align`.
        """
        # On one thread, sums are rounded in the same way for any number of threads.
        with blas_limit.using():
            solved = self._solve(Z_list, mask, missing, graphs, join, profiles)
            certificates = solved.matcher.certificates(solved.solution, solved.guided)
            chance = None
            # The structure term alone does not depend on which samples belong together.
            if solved.sample is not None and solved.grams.n_views > 1 and np.isfinite(solved.matcher.scaled.lam):
                chance = solved.sample.chance(solved.matcher, solved.solution, solved.matcher.seed)
        self.permutations_ = solved.columns.permutations
        self.matrices_ = solved.columns.matrices(solved.grams.sizes)
        self.reference_ = solved.solution.reference
        self.shared_ = solved.grams.shared
        self.feature_ = np.array([c.feature for c in certificates])
        self.structure_ = np.array([c.structure for c in certificates])
        self.objective_ = np.array([c.objective for c in certificates])
        self.upper_bound_ = np.array([c.upper_bound for c in certificates])
        self.gap_ = self.upper_bound_ - self.objective_
        self.margins_ = solved.columns.margins([c.margins for c in certificates])
        self.exchangeable_ = np.array(
            [
                0 if v == self.reference_ else ambiguous(self.margins_[v], c.objective).sum()
                for v, c in enumerate(certificates)
            ]
        )
        self.chance_ = None if chance is None else chance.mean
        self.chance_sd_ = None if chance is None else chance.spread
        self.above_chance_ = None if chance is None else chance.exceeded
        self.n_iter_ = np.array([match.n_iter for match in solved.solution.matches])
        self.history_ = [match.history for match in solved.solution.matches]
        self._orders: list[Order] = solved.columns.orders
        return self

    def transform(self, Z_list: Iterable[GraphLike]) -> list[Any]:
        """Put the columns of graphs with the same anchors in the common order.

        Returns
        -------
        list of ndarray or csr
            One aligned graph per view, for any number of samples; sparse if the graph is sparse. Columns without an
            anchor of the view are zero. Rows of missing samples are permuted like all rows.
        """
        check_is_fitted(self)
        graphs = check_graphs(Z_list, same_anchors=False)
        if len(graphs) != len(self.permutations_):
            raise InputError(f"Got {len(graphs)} views; the aligner was fitted on {len(self.permutations_)}.")
        for view, (Z, P) in enumerate(zip(graphs, self.matrices_, strict=True)):
            if Z.shape[1] != len(P):
                raise InputError(f"View {view} has {Z.shape[1]} anchors; the aligner was fitted on {len(P)}.")
        return [permute_columns(Z, order) for Z, order in zip(graphs, self._orders, strict=True)]

    def fit_transform(
        self,
        Z_list: Iterable[GraphLike],
        y: object = None,
        *,
        mask: npt.ArrayLike | None = None,
        missing: str = "error",
        join: str | None = None,
    ) -> list[Any]:
        """Fit, then return the aligned graphs, all with the same samples."""
        rows = StoredGraphs.from_user(Z_list, mask, missing, join)
        return self.fit(rows.graphs, mask=rows.mask).transform(rows.graphs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # a list of graphs
        tags.input_tags.sparse = True
        tags.transformer_tags = TransformerTags(preserves_dtype=["float64", "float32"])
        return tags

    def _solve(
        self,
        Z_list: Iterable[GraphLike] | GramMatrices,
        mask: Any,
        missing: str,
        graphs: Iterable[GraphLike] | GraphSet | None,
        join: str | None,
        profiles: Iterable[npt.ArrayLike] | None,
    ) -> _Solved:
        lam = check_lam(self.lam)
        check_choice("lam_scale", self.lam_scale, LAM_SCALES)
        check_choice("method", self.method, METHODS)
        check_choice("missing", missing, MISSING)
        check_choice("near_ties", self.near_ties, NEAR_TIES)
        check_choice("effort", self.effort, EFFORTS)
        many_to_one = check_flag("many_to_one", self.many_to_one)
        n_restarts = check_whole_number("n_restarts", self.n_restarts)
        seed = check_seed(self.random_state)
        check_callback(self.callback)
        grams, rows = self._read(Z_list, mask, missing, graphs, join)
        grams.check_digits()
        reference = check_reference(self.reference, grams.n_views)
        seeds = check_seeds(self.seeds, grams.sizes)
        if len(seeds) and self.method == MANY_TO_ONE:
            raise InputError(f"method={MANY_TO_ONE!r} takes no seeds, like the paper's code; use 'ascent' or 'pfp'.")
        scaled = scale_grams(pad_grams(grams), lam, self.lam_scale)
        matcher = Matcher(scaled, seeds, self.method, n_restarts, seed, self.callback, grams.sizes, self.effort)
        guided = None
        if profiles is not None:
            guided = replace(matcher, scaled=scaled.guided_by(check_profiles(profiles, grams.sizes)))
        used = matcher if guided is None else guided
        solution = used.solve(reference)
        # Matches that are not one-to-one have no chance level: a shuffled view is matched one-to-one.
        sample = None if rows is None or self.method == MANY_TO_ONE else RowSample.of_set(rows)
        if sample is not None and self.near_ties == "largest":
            solution = sample.decide_near_ties(used, solution)
        base = solution.reference
        if self.method == MANY_TO_ONE and base is not None:
            columns = shared_columns(solution.permutations, grams.sizes, base)
        else:
            columns = drop_padding(
                solution.permutations,
                grams.sizes,
                base,
                many_to_one=many_to_one,
                problem=lambda view: used.problem(view if base is None else base, view),
            )
        warn_of_thin_anchors(grams, base)
        return _Solved(grams, matcher, guided, solution, columns, sample)

    def _read(
        self, Z_list: Any, mask: Any, missing: str, graphs: Iterable[GraphLike] | GraphSet | None, join: str | None
    ) -> tuple[GramMatrices, GraphSet | None]:
        """Gram matrices and, if they are at hand, the graphs."""
        if isinstance(Z_list, GramMatrices):
            if graphs is None and (mask is not None or missing != "error" or join is not None):
                raise InputError(
                    "Gram matrices include the missing samples: pass mask, missing and join to GramMatrices."
                )
            rows = (
                graphs
                if graphs is None or isinstance(graphs, GraphSet)
                else StoredGraphs.from_user(graphs, mask, missing, join)
            )
            if rows is not None and (rows.sizes, rows.n_samples) != (Z_list.sizes, Z_list.n_samples):
                raise InputError(
                    f"The graphs have {rows.n_samples} samples and {rows.sizes} anchors; the Gram matrices have "
                    f"{Z_list.n_samples} and {Z_list.sizes}."
                )
            return Z_list, rows
        if graphs is not None:
            raise InputError("graphs are for Gram matrices; here they are given twice.")
        callback = self.callback
        report = None if callback is None else lambda done, total: callback(Progress("grams", done, total))
        rows = StoredGraphs.from_user(Z_list, mask, missing, join)
        return GramMatrices.of_set(rows, report), rows
