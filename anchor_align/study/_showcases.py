"""Fitted runs for figures: the first repeat of each data set and adapter is fitted again."""

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
    records: Sequence[Record], specs: Sequence[DataSpec], grid: Grid, worker: Worker, processes: Processes
) -> Iterator[Showcase]:
    """Fit the first repeat of each data set and adapter again, if it was finished; adapters of others elsewhere."""
    for runs in _first_repeats(records):
        setting, seed = runs["aligned"].setting, runs["aligned"].seed
        spec = next(spec for spec in specs if spec.name == setting.dataset)
        given = spec, setting, seed, grid.reference, grid.options
        try:
            if worker.registry.record(setting.adapter).is_ours:
                clusterer = _fit(worker, lambda _: None, *given)
            else:
                clusterer = processes.call(_fit, *given)
        except (Exception, SystemExit):  # the run worked: the study has its result, and this figure is left out
            continue
        accuracy = {arm: record.scores["acc"] for arm, record in runs.items() if record.scores is not None}
        yield Showcase(setting, clusterer, worker.shelf.get(spec).labels, accuracy)


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


def _first_repeats(records: Sequence[Record]) -> list[dict[str, Record]]:
    """Arms of the first repeat at one setting of each data set and adapter."""
    by_setting: dict[Hashable, dict[str, Record]] = {}
    for record in records:
        if record.repeat == 0 and record.status == DONE:
            by_setting.setdefault(setting_key(record.setting), {})[record.arm] = record
    chosen: dict[tuple[str, str], dict[str, Record]] = {}
    for runs in by_setting.values():
        if "aligned" in runs:
            setting = runs["aligned"].setting
            shown = chosen.setdefault((setting.dataset, setting.adapter), runs)
            if PREFERRED_LAM == setting.lam != shown["aligned"].setting.lam:
                chosen[setting.dataset, setting.adapter] = runs
    return list(chosen.values())
