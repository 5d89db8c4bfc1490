"""Settings of a fit, compared without labels on a bounded sample: same sample and same draws for all of them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import IndexArray
from ..blocks import spread_places, working
from ..errors import AnchorAlignError, InputError
from ..plugins import contained, one_line
from ._candidates import Candidate, CandidateResult, ChoiceCost, ChoiceProgress
from ._criteria import Criteria, DrawCriteria, chosen_setting
from ._pipeline import Pipeline, check_fusion, count_anchors
from ._sample_order import in_order_of_fit
from ._views import Views

# Separates the random numbers of the sample and the draws from those that adapters draw with the same seed.
_STREAM = 0xC400
SAMPLE, DRAWS = 2000, 3

Callback = Callable[[ChoiceProgress], object]


@dataclass(frozen=True, eq=False)
class Ranking:
    """How candidates are compared: the parameters that all of them share."""

    n_clusters: int
    seed: int
    draws: int = DRAWS
    sample: int = SAMPLE
    reference: Any = "consensus"
    many_to_one: bool = False
    weights: Any = None

    def cost(self, candidates: Sequence[Candidate], n_samples: int) -> ChoiceCost:
        return ChoiceCost(
            n_candidates=len(candidates),
            n_draws=self.draws,
            n_graphs=len(_by_graphs(candidates)) * self.draws,
            n_fits=len(candidates) * self.draws,
            n_samples=min(self.sample, n_samples),
            n_total=n_samples,
        )

    def results(
        self, candidates: Sequence[Candidate], views: Views, callback: Callback | None = None
    ) -> list[CandidateResult]:
        """Results of all candidates, in their order. A candidate that fails has the reason.

        Raises
        ------
        InputError
            If there are fewer than two views, or all candidates fail.
        """
        if len(views.matrices) < 2:
            raise InputError("Settings are chosen by the agreement of views: expected two views or more, got 1.")
        if views.distributed:
            raise InputError("Settings are chosen on views in memory; pass a sample of the views of the cluster.")
        taken = sample_views(views, self.sample, self.seed)
        if taken.n_samples < self.n_clusters:
            raise InputError(f"A sample of {taken.n_samples} is too small for {self.n_clusters} clusters.")
        cost, done = self.cost(candidates, views.n_samples), 0
        found: dict[int, CandidateResult] = {}
        if callback is not None:
            callback(ChoiceProgress(0, cost))
        for numbers in _by_graphs(candidates).values():
            group = [candidates[number] for number in numbers]
            with working():
                found |= zip(numbers, self._of_graphs(group, taken), strict=True)
            done += len(numbers) * self.draws
            if callback is not None:
                callback(ChoiceProgress(done, cost, group[-1]))
        if all(each.reason for each in found.values()):
            raise InputError(f"No candidate could be fitted. {candidates[0]!r}: {found[0].reason}")
        return [found[number] for number in range(len(candidates))]

    def _of_graphs(self, group: Sequence[Candidate], views: Views) -> list[CandidateResult]:
        """Results of candidates with the same graphs."""
        fits: list[list[tuple[Criteria, IndexArray]]] = [[] for _ in group]
        reasons = [""] * len(group)
        seconds = [0.0] * len(group)
        try:
            for seed in draw_seeds(self.seed, self.draws):
                self._draw(group, views, seed, fits, reasons, seconds)
        except Exception as error:  # an adapter may raise anything
            reasons = [reason or _reason(error) for reason in reasons]
        results = []
        for candidate, each, reason, took in zip(group, fits, reasons, seconds, strict=True):
            means = None if reason else DrawCriteria.of([found for found, _ in each], [labels for _, labels in each])
            if means is None:
                results.append(CandidateResult(candidate, reason=reason or "no two views share a sample", seconds=took))
            else:
                results.append(
                    CandidateResult(
                        candidate,
                        score=means.score,
                        agreement=means.agreement,
                        stability=means.stability,
                        evenness=means.evenness,
                        anchors_in_use=means.anchors_in_use,
                        degenerate=means.degenerate,
                        seconds=took,
                    )
                )
        return results

    def _draw(
        self,
        group: Sequence[Candidate],
        views: Views,
        seed: int,
        fits: list[list[tuple[Criteria, IndexArray]]],
        reasons: list[str],
        seconds: list[float],
    ) -> None:
        """One draw of anchors: graphs, then a fit of every candidate."""
        adapter = group[0].make_adapter()
        k, n = self.n_clusters, views.n_learnable(adapter.views_apart)
        n_anchors = count_anchors(adapter, group[0].anchors(k), n, k, len(views.matrices))
        pipeline = Pipeline(
            adapter,
            k,
            n_anchors,
            seed,
            reference=self.reference,
            many_to_one=self.many_to_one,
            weights=self.weights,
        )
        started = time.perf_counter()
        with contained(seed), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fit with the chosen candidate warns
            graphs = pipeline.build(in_order_of_fit(adapter, views))
            shared = time.perf_counter() - started
            for place, candidate in enumerate(group):
                started = time.perf_counter()
                try:
                    fused = pipeline.fuse(graphs, check_fusion(adapter, candidate.fusion), candidate.lam)
                    labels = pipeline.cluster(fused).labels
                    fits[place].append((Criteria.of(graphs.grams, labels, k), labels))
                except Exception as error:  # a fusion may raise anything
                    reasons[place] = reasons[place] or _reason(error)
                seconds[place] += shared + time.perf_counter() - started


def _reason(error: Exception) -> str:
    text = one_line(error)
    return text if isinstance(error, AnchorAlignError) else f"{type(error).__name__}: {text}"


def best_first(results: Sequence[CandidateResult]) -> list[CandidateResult]:
    """The chosen candidate, then the others by score; of equal ones the earlier first, failed ones last."""
    chosen = chosen_setting([each.score for each in results])
    if results[chosen].reason:  # the first one failed, and no other has a score
        chosen = next(number for number, each in enumerate(results) if not each.reason)
    others = [each for number, each in enumerate(results) if number != chosen]
    return [results[chosen], *sorted(others, key=lambda each: (bool(each.reason), -round(each.score, 12)))]


def sample_views(views: Views, most: int, seed: int) -> Views:
    """At most ``most`` samples, drawn at random, in the order of the data."""
    return views if views.n_samples <= most else views.take(sample_rows(views, most, seed))


def sample_rows(views: Views, most: int, seed: int) -> IndexArray:
    """Numbers of at most ``most`` samples, drawn at random by their content, in ascending order."""
    if views.n_samples <= most:
        return np.arange(views.n_samples)
    places = spread_places(views.n_samples, most, np.random.default_rng([seed, _STREAM]))
    return np.sort(views.content_order()[places])


def draw_seeds(seed: int, draws: int) -> list[int]:
    """Seeds of the draws of anchors; those of fewer draws are the first of those of more."""
    return [int(each.generate_state(1)[0]) for each in np.random.SeedSequence([seed, _STREAM]).spawn(draws)]


def _by_graphs(candidates: Sequence[Candidate]) -> dict[Hashable, list[int]]:
    """Numbers of the candidates that have the same graphs."""
    groups: dict[Hashable, list[int]] = {}
    for number, candidate in enumerate(candidates):
        groups.setdefault(candidate.graph_key, []).append(number)
    return groups
