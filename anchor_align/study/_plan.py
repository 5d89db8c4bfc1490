"""The plan of a study: all combinations of data, adapters and settings, in their order, with seeds and keys."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..clustering import count_anchors
from ..errors import AdapterError, AnchorAlignError, InputError, unknown_name
from ..matching import check_reference
from ..plugins import (
    Adapter,
    AdapterRecord,
    BaselineRecord,
    FusionRecord,
    Method,
    MethodRecord,
    Registry,
    contained,
    one_line,
)
from ._cache import covered_places, describe_fusion, describe_method, run_key
from ._data_sets import DataSpec
from ._results import DataInfo, Setting
from ._run import Arm, Run
from ._view_options import Anchors, Rule, ViewOptions, anchors_for
from ._vocabulary import BASELINE

Params = tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class Grid:
    """Values that are combined: every adapter with every number of anchors, every ``lam``, and so on.

    ``extra`` has arms of rivals, by the name of the method. In ``params``, "fmvacc.beta" is for the adapter fmvacc
    only, "beta" is for all methods that have this setting.
    """

    adapters: tuple[str, ...]
    n_anchors: tuple[Rule | None, ...]
    lam: tuple[float, ...]
    params: Mapping[str, tuple[object, ...]]
    repeats: int
    seed: int
    reference: int | str
    options: ViewOptions
    fusions: tuple[str, ...]
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PlannedData:
    """A data set; ``n_apart`` samples are in the smallest view, ``n_together`` samples are in all views."""

    spec: DataSpec
    info: DataInfo
    n_apart: int
    n_together: int

    def n_learnable(self, adapter: Adapter, drop: float) -> int:
        """Number of samples that an adapter learns anchors from; the mean number if samples are dropped at random."""
        if adapter.views_apart:
            return max(int(self.n_apart * (1 - drop)), 1)
        return max(int(self.n_together * (1 - drop) ** len(self.info.views)), 1)


def check_grid(grid: Grid, registry: Registry) -> None:
    """Refuse unknown adapters and settings, and values given twice."""
    for adapter in grid.adapters:
        registry.record(adapter)
    lists = {"adapter": grid.adapters, "number of anchors": grid.n_anchors, "lam": grid.lam}
    for what, values in {**lists, **{f"value of {name}": each for name, each in grid.params.items()}}.items():
        if not values:
            raise InputError(f"Got no {what}; expected one or more.")
        seen = set()
        for value in values:
            if _identity(value) in seen:
                raise InputError(f"The {what} {value!r} is given twice.")
            seen.add(_identity(value))
    for rule in grid.n_anchors:
        if rule is not None:
            anchors_for(rule, 1)
    known = {method: registry.method(method).parameters for method in (*grid.adapters, *grid.extra)}
    for name in grid.params:
        adapter, dot, setting = name.partition(".")
        if dot and adapter not in known:
            raise unknown_name("method of a setting", adapter, known)
        places, wanted = ([adapter], setting) if dot else (list(known), name)
        if not any(wanted in known[place] for place in places):
            every = dict.fromkeys(each for place in places for each in known[place])
            raise unknown_name(f"setting of {' and '.join(places)}", wanted, every)


def _identity(value: object) -> tuple[type, object]:
    """Equal for a value that is given twice: 1 and 1.0 are the same, True and 1 are not."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return (float, value) if is_number else (type(value), repr(value))


def planned_runs(grid: Grid, data: Sequence[PlannedData], registry: Registry) -> Iterator[Run]:
    """All draws of anchors, in the order of the result."""
    fusions = [(each, describe_fusion(each)) for each in registry.fusions]
    arms_of = [(name, grid.fusions, False) for name in grid.adapters]
    arms_of += [(name, arms, True) for name, arms in grid.extra.items()]
    for each, (name, arms, extra) in itertools.product(data, arms_of):
        if arms == (BASELINE,):
            baseline = registry.method(name)
            assert isinstance(baseline, BaselineRecord)
            yield from _baseline_runs(grid, each, baseline)
            continue
        info, weights, n_views = each.info, grid.options.weights, len(each.info.views)
        reference = check_reference(grid.reference, n_views, [view for view, _ in info.views])
        if isinstance(weights, tuple) and len(weights) != n_views:
            raise InputError(f"Data {info.name!r}: got {len(weights)} weights for {n_views} views.")
        record = registry.record(name)
        for params in _params_of(grid, record):
            adapter = _make(record, params)
            identity = describe_method(record, adapter)
            n_learnable = each.n_learnable(adapter, grid.options.drop)
            counts = [_count(rule, adapter, info, n_learnable) for rule in grid.n_anchors]
            used = [pair for pair in fusions if pair[0].name in arms]
            usable = [pair for pair in used if adapter.clusters_spectrally or not pair[0].fusion.needs_spectral]
            for n_anchors, repeat in itertools.product(dict.fromkeys(counts), range(grid.repeats)):
                run = Run(
                    spec=each.spec,
                    digest=info.digest,
                    n_samples=info.n_samples,
                    version=record.version,
                    settings=tuple(
                        Setting(info.name, name, n_anchors, lam, params, grid.options.given) for lam in grid.lam
                    ),
                    reference=reference,
                    options=grid.options,
                    repeat=repeat,
                    seed=_seed_of(grid.seed, info.rows_digest, repeat),
                    extra=extra,
                    covered=_covered(adapter, *(pair[0].fusion for pair in usable)),
                )
                if usable:
                    yield replace(run, arms=tuple(_arms(run, info, identity, usable)))


def _baseline_runs(grid: Grid, data: PlannedData, record: BaselineRecord) -> Iterator[Run]:
    """Runs of a baseline: it depends on its settings, the data and the seed, not on ``lam`` or numbers of anchors."""
    info = data.info
    for params in _params_of(grid, record):
        baseline = _make(record, params)
        identity = describe_method(record, baseline)
        for repeat in range(grid.repeats):
            seed = _seed_of(grid.seed, info.rows_digest, repeat)
            parts = {"data": info.digest, "kinds": info.kinds, "n_clusters": info.n_clusters, "seed": seed}
            drop = {"drop": repr(grid.options.drop)} if grid.options.drop else {}
            key = None if identity is None else run_key({**parts, **drop, "baseline": identity})
            yield Run(
                spec=data.spec,
                digest=info.digest,
                n_samples=info.n_samples,
                version=record.version,
                settings=(Setting(info.name, record.name, None, 0.0, params, grid.options.given),),
                reference=grid.reference,
                options=grid.options,
                repeat=repeat,
                seed=seed,
                arms=(Arm(BASELINE, record.version, None, key),),
                extra=True,
                covered=_covered(baseline),
            )


def _seed_of(seed: int, rows_digest: int, repeat: int) -> int:
    """Seed of a repeat. It depends on the study's seed and the samples, never on adapter, setting or arm."""
    return int(np.random.SeedSequence([seed, rows_digest, repeat]).generate_state(1)[0])


def _params_of(grid: Grid, record: AdapterRecord | BaselineRecord) -> list[Params]:
    """All combinations of the values that the grid gives for the adapter's settings."""
    known = record.parameters
    values: dict[str, tuple[object, ...]] = {}
    for name, given in grid.params.items():
        adapter, dot, setting = name.partition(".")
        if dot and adapter == record.name:
            values[setting] = given
        elif not dot and name in known:
            values.setdefault(name, given)
    return [tuple(zip(values, each, strict=True)) for each in itertools.product(*values.values())]


def _count(rule: Rule | None, adapter: Adapter, info: DataInfo, n_samples: int) -> Anchors:
    if adapter.chooses_n_anchors:
        return None
    if rule is not None:
        given = anchors_for(rule, info.n_clusters)
        if isinstance(given, int):
            return given
        try:
            by_view = count_anchors(adapter, given, n_samples, info.n_clusters, len(info.views))
        except InputError as error:
            raise InputError(f"Data {info.name!r}: {error}") from error
        return by_view if isinstance(by_view, int) else tuple(by_view)
    try:
        with contained():
            count = count_anchors(adapter, None, n_samples, info.n_clusters)
            assert isinstance(count, int)  # adapters suggest one number for all views
            return count
    except (Exception, SystemExit):  # the run will fail and report the reason
        return None


def _make(record: MethodRecord[Method], params: Params) -> Method:
    try:
        with contained():
            return record.make(**dict(params))
    except AnchorAlignError:
        raise
    except (Exception, SystemExit) as error:
        given = ", ".join(f"{name}={value}" for name, value in params) or "(none)"
        reason = one_line(f"{type(error).__name__}: {error}")
        kind = "Adapter" if isinstance(record.prototype, Adapter) else "Baseline"
        raise AdapterError(f"{kind} {record.name!r} does not take the settings {given}: {reason}") from error


def _covered(*methods: object) -> frozenset[str]:
    return frozenset().union(*(covered_places(type(method)) for method in methods))


def _arms(
    run: Run,
    info: DataInfo,
    adapter: dict[str, Any] | None,
    fusions: Sequence[tuple[FusionRecord, dict[str, Any] | None]],
) -> Iterator[Arm]:
    """Every fusion, once for each ``lam`` if it aligns. The key has all that the outcome depends on, and no more."""
    parts = {
        "data": info.digest,
        "kinds": info.kinds,
        "n_clusters": info.n_clusters,
        "adapter": adapter,
        "n_anchors": run.settings[0].n_anchors,
        "seed": run.seed,
    }
    for record, described in fusions:
        fusion = record.fusion
        for lam in [setting.lam for setting in run.settings] if fusion.aligns else [None]:
            key = None
            if adapter is not None and described is not None:
                used = {} if lam is None else {"lam": repr(lam), "reference": run.reference}
                key = run_key({**parts, **described, **run.options.identity(fusion), **used})
            yield Arm(record.name, record.version, lam, key)
