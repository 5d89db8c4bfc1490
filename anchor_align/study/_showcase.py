"""Runs to look at: for each data set and adapter, one draw of anchors with all that a picture needs."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from .._containment import contained
from .._types import IndexArray
from ..estimator import AlignedClusterer
from ..plugins import Registry
from ._drop import dropped
from ._options import ViewOptions
from ._results import DONE, Record, Setting
from ._source import DataSpec, Shelf
from ._statistics import setting_key

# Where a study has several, this one is shown.
PREFERRED_LAM = 0.1


@dataclass(frozen=True, eq=False)
class Showcase:
    """The first repeat of an adapter on a data set.

    Attributes
    ----------
    setting : Setting
    clusterer : AlignedClusterer
        Fitted with aligned fusion, as in the run.
    labels : ndarray of shape (n_samples,) or None
        True clusters, where they are known.
    accuracy : dict
        ACC of every arm of this run; empty without labels.
    """

    setting: Setting
    clusterer: AlignedClusterer
    labels: IndexArray | None
    accuracy: Mapping[str, float]


def showcases(
    records: Sequence[Record],
    specs: Sequence[DataSpec],
    registry: Registry,
    shelf: Shelf,
    reference: int | str,
    options: ViewOptions,
) -> Iterator[Showcase]:
    """One for each data set and adapter that has a finished run and can be fitted again."""
    for setting, runs in _chosen(records):
        data = shelf.get(next(spec for spec in specs if spec.name == setting.dataset))
        clusterer = AlignedClusterer(
            registry.get(setting.adapter, **dict(setting.params)),
            n_clusters=data.info.n_clusters,
            n_anchors=setting.n_anchors,
            lam=setting.lam,
            reference=reference,
            weights=options.weights,
            missing=options.missing,
            many_to_one=options.many_to_one,
            random_state=runs["aligned"].seed,
        )
        try:
            with threadpool_limits(1), contained(runs["aligned"].seed), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the run has said it
                views = dropped(data.views, options.drop, runs["aligned"].seed)
                clusterer.fit(dict(zip(views.names, views.matrices, strict=True)), mask=views.observed)
        except (Exception, SystemExit):  # it worked in the run; a picture is not worth the result
            continue
        accuracy = {arm: record.scores["acc"] for arm, record in runs.items() if record.scores is not None}
        yield Showcase(setting, clusterer, data.labels, accuracy)


def _chosen(records: Sequence[Record]) -> list[tuple[Setting, dict[str, Record]]]:
    """Arms of the first repeat at one setting of each data set and adapter."""
    first: dict[Hashable, dict[str, Record]] = {}
    for record in records:
        if record.repeat == 0 and record.status == DONE:
            first.setdefault(setting_key(record.setting), {})[record.arm] = record
    chosen: dict[tuple[str, str], dict[str, Record]] = {}
    for runs in first.values():
        if "aligned" in runs:
            setting = runs["aligned"].setting
            place = (setting.dataset, setting.adapter)
            shown = chosen.get(place)
            if shown is None or PREFERRED_LAM == setting.lam != shown["aligned"].setting.lam:
                chosen[place] = runs
    return [(runs["aligned"].setting, runs) for runs in chosen.values()]
