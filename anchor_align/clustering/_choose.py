"""choose: the setting that the views agree on, without labels, and a clusterer that is fitted with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..checks import MOST_REPEATS, check_callback, check_seed, check_whole_number
from ..errors import MissingExtraError, unknown_name
from ..matching import check_reference
from ._candidates import AUTO_CANDIDATES, Candidate, CandidateResult, ChoiceCost, ChoiceProgress, check_candidates
from ._estimator import AlignedClusterer
from ._ranking import DRAWS, SAMPLE, Ranking, best_first
from ._views import Views, check_views


@dataclass(frozen=True, eq=False)
class Choice:
    """The result of :func:`choose`.

    Attributes
    ----------
    clusterer : AlignedClusterer
        Fitted on all samples with the chosen candidate.
    results : tuple of CandidateResult
        What was measured: the chosen candidate first, then the others by their score.
    cost : ChoiceCost
        What the choice cost: how many fits on how many samples.
    """

    clusterer: AlignedClusterer
    results: tuple[CandidateResult, ...]
    cost: ChoiceCost

    @property
    def candidate(self) -> Candidate:
        """The chosen candidate."""
        return self.results[0].candidate

    def __repr__(self) -> str:
        return f"Choice({self.candidate!r}, 1 of {len(self.results)})"

    def to_frame(self) -> Any:
        """The results as a pandas DataFrame, a row for every candidate, the chosen one first."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("A table needs pandas, which is not installed: pip install pandas.") from error
        return pd.DataFrame([_row(each) for each in self.results])


def _row(result: CandidateResult) -> dict[str, Any]:
    candidate = result.candidate
    name = candidate.adapter if isinstance(candidate.adapter, str) else candidate.adapter.name
    fusion = candidate.fusion if isinstance(candidate.fusion, str) else candidate.fusion.name
    return {
        "adapter": name,
        **dict(candidate.params),
        "n_anchors": candidate.n_anchors,
        "fusion": fusion,
        "lam": candidate.lam,
        "score": result.score,
        "agreement": result.agreement,
        "stability": result.stability,
        "evenness": result.evenness,
        "anchors_in_use": result.anchors_in_use,
        "degenerate": result.degenerate,
        "seconds": result.seconds,
        "reason": result.reason,
    }


def choose(
    views: Any,
    n_clusters: int,
    candidates: Any = None,
    *,
    draws: int = DRAWS,
    sample: int = SAMPLE,
    mask: Any = None,
    random_state: Any = None,
    callback: Callable[[ChoiceProgress], object] | None = None,
    **settings: Any,
) -> Choice:
    """Choose adapter, scale, number of anchors and fusion without labels, and fit with them.

    All candidates are fitted to the same random sample, with the same draws of anchors. Their score is the agreement of
    the views' graphs (linear CKA), multiplied by the stability of the clusters over the draws and by the evenness of
    their sizes. Candidates that leave most anchors or clusters without samples are degenerate and cannot be chosen. The
    first candidate is the default: another one is chosen only if its score is a tenth higher.

    Parameters
    ----------
    views : as for :meth:`AlignedClusterer.fit`; two views or more
    n_clusters : int
    candidates : list of Candidate, or dict, optional
        A dict is a grid: lists of adapters by name, and of values of ``n_anchors``, ``fusion``, ``lam`` and of settings
        of the adapters; all are combined. By default the short list of ``AlignedClusterer(adapter="auto")``.
    draws : int, default=3
        Draws of anchors for each candidate.
    sample : int, default=2000
        Most samples that candidates are compared on. A number of anchors that the adapter chooses is then that for the
        sample.
    mask : array-like of bool of shape (n_views, n_samples), optional
        As for :meth:`AlignedClusterer.fit`. Candidates whose adapter needs all samples fail, with the reason.
    random_state : int, Generator, RandomState or None, default=None
        The same number gives the same choice and the same clusters.
    callback : callable, optional
        Called with a :class:`ChoiceProgress`: first before any work, with the cost, then as fits are done.
    **settings
        Other parameters of :class:`AlignedClusterer`, the same for all candidates: ``weights``, ``storage``,
        ``column_groups`` and so on.

    Returns
    -------
    Choice

    Raises
    ------
    InputError
        If there are fewer than two views, or no candidate can be fitted.

    Examples
    --------
    >>> from anchor_align import choose
    >>> from anchor_align.data import make_simulated
    >>> views = make_simulated(0).views
    >>> grid = {"adapter": ["lmvsc"], "scale": ["unit", "standard"], "fusion": ["aligned", "rotated"]}
    >>> choice = choose(views, 4, grid, random_state=0)
    >>> print(choice.cost)
    4 candidates x 3 draws: 12 fits, with 6 sets of graphs, on 200 samples; then one fit on all samples
    >>> choice
    Choice(Candidate('lmvsc', scale='unit'), 1 of 4)
    >>> choice.clusterer.labels_.shape
    (200,)
    """
    listed = check_candidates(AUTO_CANDIDATES if candidates is None else candidates)
    check_callback(callback)
    clusterer, checked, ranking = _prepared(views, n_clusters, draws, sample, mask, random_state, settings)
    results = best_first(ranking.results(listed, checked, callback))
    clusterer.set_params(**results[0].candidate.settings(ranking.n_clusters), random_state=ranking.seed)
    clusterer.fit(checked)
    return Choice(clusterer, tuple(results), ranking.cost(listed, checked.n_samples))


def choice_cost(
    views: Any, n_clusters: int, candidates: Any = None, *, draws: int = DRAWS, sample: int = SAMPLE, **settings: Any
) -> ChoiceCost:
    """What :func:`choose` would cost with these arguments; nothing is fitted.

    Parameters
    ----------
    views, n_clusters, candidates, draws, sample : as for :func:`choose`
    **settings
        As for :func:`choose`, also ``mask``.

    Returns
    -------
    ChoiceCost

    Examples
    --------
    >>> from anchor_align import choice_cost
    >>> from anchor_align.data import make_simulated
    >>> choice_cost(make_simulated(0).views, 4, {"adapter": "lmvsc", "scale": ["unit", "standard"]}).n_fits
    6
    """
    listed = check_candidates(AUTO_CANDIDATES if candidates is None else candidates)
    mask = settings.pop("mask", None)
    _, checked, ranking = _prepared(views, n_clusters, draws, sample, mask, 0, settings)
    return ranking.cost(listed, checked.n_samples)


def _prepared(
    views: Any, n_clusters: int, draws: int, sample: int, mask: Any, random_state: Any, settings: dict[str, Any]
) -> tuple[AlignedClusterer, Views, Ranking]:
    """A clusterer with the common settings, checked views, and the way to compare."""
    taken = ("adapter", "adapter_params", "n_anchors", "fusion", "lam", "n_clusters", "random_state")
    known = [name for name in AlignedClusterer().get_params() if name not in taken]
    for name in settings:
        if name not in known:
            raise unknown_name("common setting of the candidates", name, known)
    clusterer = AlignedClusterer(n_clusters=n_clusters, **settings)
    checked = check_views(views, clusterer.column_groups, mask=mask, missing=clusterer.missing, join=clusterer.join)
    ranking = Ranking(
        check_whole_number("n_clusters", n_clusters, least=1),
        check_seed(random_state),
        check_whole_number("draws", draws, least=1, most=MOST_REPEATS),
        check_whole_number("sample", sample, least=2),
        check_reference(clusterer.reference, len(checked.matrices), checked.names),
        clusterer.many_to_one,
        clusterer.weights,
    )
    return clusterer, checked, ranking
