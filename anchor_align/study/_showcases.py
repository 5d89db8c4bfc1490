"""Fitted runs for figures: a typical repeat of every adapter on every data set."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Sequence

from threadpoolctl import threadpool_limits

from ..clustering import AlignedClusterer
from ..plugins import Registry, contained
from ._data_sets import DataSpec, Shelf
from ._plan import Grid
from ._results import Record, Showcase, setting_key
from ._vocabulary import DONE

# The showcase has this value if the study has several.
PREFERRED_LAM = 0.1


def fit_showcases(
    records: Sequence[Record],
    specs: Sequence[DataSpec],
    registry: Registry,
    shelf: Shelf,
    grid: Grid,
    score: str,
    arms: tuple[str, str],
) -> Iterator[Showcase]:
    """Fit a typical repeat of each data set and adapter again, if one was finished."""
    options = grid.options
    for runs in _typical_repeats(records, score, arms):
        setting, seed, repeat = runs["aligned"].setting, runs["aligned"].seed, runs["aligned"].repeat
        data = shelf.get(next(spec for spec in specs if spec.name == setting.dataset))
        clusterer = AlignedClusterer(
            registry.get(setting.adapter, **dict(setting.params)),
            n_clusters=data.info.n_clusters,
            n_anchors=setting.n_anchors,
            lam=setting.lam,
            reference=grid.reference,
            weights=options.weights,
            missing=options.missing,
            many_to_one=options.many_to_one,
            random_state=seed,
        )
        try:
            with threadpool_limits(1), contained(seed), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the record has them
                views = options.drop_samples(data.views, seed)
                clusterer.fit(dict(zip(views.names, views.matrices, strict=True)), mask=views.mask)
        except (Exception, SystemExit):  # the run worked: the study has its result, and this figure is left out
            continue
        accuracy = {arm: record.scores["acc"] for arm, record in runs.items() if record.scores is not None}
        yield Showcase(setting, clusterer, data.labels, accuracy, repeat)


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
