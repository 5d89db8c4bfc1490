"""Runs to look at: for each data set and adapter, one draw of anchors with all that a picture needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from .._containment import contained
from .._types import IndexArray
from ..estimator import AlignedClusterer
from ..plugins import Registry
from ._results import DONE, Record, Setting
from ._source import DataSpec, Shelf

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
    records: Sequence[Record], specs: Sequence[DataSpec], registry: Registry, shelf: Shelf, reference: int | str
) -> Iterator[Showcase]:
    """One for each data set and adapter that has a finished run."""
    for setting, runs in _chosen(records).items():
        data = shelf.get(next(spec for spec in specs if spec.name == setting.dataset))
        clusterer = AlignedClusterer(
            registry.get(setting.adapter, **dict(setting.params)),
            n_clusters=data.info.n_clusters,
            n_anchors=setting.n_anchors,
            lam=setting.lam,
            reference=reference,
            random_state=runs["aligned"].seed,
        )
        with threadpool_limits(1), contained(runs["aligned"].seed):
            clusterer.fit(dict(zip(data.views.names, data.views.matrices, strict=True)))
        accuracy = {arm: record.scores["acc"] for arm, record in runs.items() if record.scores is not None}
        yield Showcase(setting, clusterer, data.labels, accuracy)


def _chosen(records: Sequence[Record]) -> dict[Setting, dict[str, Record]]:
    """Arms of the first repeat at one setting of each data set and adapter."""
    first: dict[Setting, dict[str, Record]] = {}
    for record in records:
        if record.repeat == 0 and record.status == DONE:
            first.setdefault(record.setting, {})[record.arm] = record
    chosen: dict[tuple[str, str], Setting] = {}
    for setting, runs in first.items():
        place = (setting.dataset, setting.adapter)
        better = place in chosen and setting.lam == PREFERRED_LAM and chosen[place].lam != PREFERRED_LAM
        if "aligned" in runs and (place not in chosen or better):
            chosen[place] = setting
    return {setting: first[setting] for setting in chosen.values()}
