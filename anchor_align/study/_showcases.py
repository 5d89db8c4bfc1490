"""Fitted runs for figures: a typical repeat of each data set and adapter is fitted again."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Sequence

from threadpoolctl import threadpool_limits

from ..clustering import AlignedClusterer
from ..plugins import contained
from ._data_sets import DataSpec
from ._execution import Processes
from ._plan import Grid
from ._results import Record, Setting, Showcase, setting_key
from ._run import Worker
from ._view_options import ViewOptions
from ._vocabulary import DONE
from ._worker_process import Tell

# The showcase has this value if the study has several.
PREFERRED_LAM = 0.1


def fit_showcases(
    records: Sequence[Record],
    specs: Sequence[DataSpec],
    grid: Grid,
    worker: Worker,
    processes: Processes | None,
    score: str,
    arms: tuple[str, str],
) -> Iterator[Showcase]:
    """Fit a typical repeat of each data set and adapter again, if one was finished; adapters of others elsewhere.

    ``processes`` is None if all code may run in this process.
    """
    for runs in _typical_repeats(records, score, arms):
        setting, seed, repeat = runs["aligned"].setting, runs["aligned"].seed, runs["aligned"].repeat
        spec = next(spec for spec in specs if spec.name == setting.dataset)
        given = spec, setting, seed, grid.reference, grid.options
        try:
            if processes is None or worker.registry.record(setting.adapter).is_ours:
                clusterer = _fit(worker, lambda _: None, *given)
            else:
                clusterer = processes.call(_fit, *given)
        except (Exception, SystemExit):  # noqa: S112  # the run worked: only this figure is left out
            continue
        accuracy = {arm: record.scores["acc"] for arm, record in runs.items() if record.scores is not None}
        yield Showcase(setting, clusterer, worker.shelf.get(spec).labels, accuracy, repeat)


def _fit(
    worker: Worker,
    tell: Tell,
    spec: DataSpec,
    setting: Setting,
    seed: int,
    reference: int | str,
    options: ViewOptions,
) -> AlignedClusterer:
    data = worker.shelf.get(spec)
    tell(None)
    clusterer = AlignedClusterer(
        worker.registry.get(setting.adapter, **dict(setting.params)),
        n_clusters=data.info.n_clusters,
        n_anchors=setting.n_anchors,
        lam=setting.lam,
        reference=reference,
        weights=options.weights,
        missing=options.missing,
        many_to_one=options.many_to_one,
        random_state=seed,
    )
    with threadpool_limits(1), contained(seed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the record has them
        views = options.drop_samples(data.views, seed)
        return clusterer.fit(dict(zip(views.names, views.matrices, strict=True)), mask=views.mask)


def _typical_repeats(records: Sequence[Record], score: str, arms: tuple[str, str]) -> list[dict[str, Record]]:
    """Arms of one repeat at one setting of each data set and adapter: that nearest the mean difference."""
    by_setting: dict[Hashable, dict[int, dict[str, Record]]] = {}
    for record in records:
        if record.status == DONE:
            by_setting.setdefault(setting_key(record.setting), {}).setdefault(record.repeat, {})[record.arm] = record
    chosen: dict[tuple[str, str], dict[str, Record]] = {}
    for repeats in by_setting.values():
        finished = [runs for _, runs in sorted(repeats.items()) if "aligned" in runs]
        if finished:
            setting = finished[0]["aligned"].setting
            shown = chosen.get((setting.dataset, setting.adapter))
            if shown is None or PREFERRED_LAM == setting.lam != shown["aligned"].setting.lam:
                chosen[setting.dataset, setting.adapter] = _nearest_mean(finished, score, arms)
    return list(chosen.values())


def _nearest_mean(finished: list[dict[str, Record]], score: str, arms: tuple[str, str]) -> dict[str, Record]:
    """The first of the repeats whose difference is nearest the mean; the first of all without scores."""
    gains = []
    for at, runs in enumerate(finished):
        first, second = (runs[arm].scores if arm in runs else None for arm in arms)
        if first is not None and second is not None:
            gains.append((first[score] - second[score], at))
    if not gains:
        return finished[0]
    mean = sum(gain for gain, _ in gains) / len(gains)
    # Rounded: rounding errors must not decide between repeats.
    return finished[min(gains, key=lambda pair: (round(abs(pair[0] - mean), 12), pair[1]))[1]]
