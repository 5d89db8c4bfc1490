"""The plan of a study: which data, adapters and settings meet, in which order, with which seeds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._containment import contained
from .._pipeline import count_anchors
from .._validation import check_reference
from ..adapter import Adapter
from ..errors import AdapterError, AnchorAlignError, InputError, InputTypeError, unknown_name
from ..plugins import AdapterRecord, Registry, one_line
from ._anchors import Anchors, Rule, anchors_for
from ._identity import describe_adapter, run_key
from ._options import ViewOptions
from ._results import ALL_ARMS, ARMS, LAM_ARMS, DataInfo, Setting
from ._run import Arm, Run
from ._source import DataSpec

Params = tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class Grid:
    """Everything that is crossed with everything.

    Attributes
    ----------
    adapters : tuple of str
    n_anchors : tuple of int, str, sequence or None
        Numbers, such as "2k", one for each view, such as "k,2k", or None for what the adapter suggests.
    lam : tuple of float
    params : dict of tuples
        Values by name of an adapter's setting; a name with the adapter before it, as in "fmvacc.beta", is for this
        adapter alone, any other for all adapters that have such a setting.
    repeats, seed : int
    reference : int or str
    options : ViewOptions
    rotated : bool
        Whether there is an arm with rotated graphs, for adapters that can cluster them.
    """

    adapters: tuple[str, ...]
    n_anchors: tuple[Rule | None, ...]
    lam: tuple[float, ...]
    params: Mapping[str, tuple[object, ...]]
    repeats: int
    seed: int
    reference: int | str
    options: ViewOptions = field(default_factory=ViewOptions)
    rotated: bool = False

    def arms(self, adapter: Adapter) -> tuple[str, ...]:
        """Ways of fusing an adapter's graphs."""
        return ALL_ARMS if self.rotated and adapter.clusters_spectrally else ARMS


@dataclass(frozen=True, eq=False)
class Cell:
    """One draw of anchors, and the settings whose runs it serves: one for each ``lam``."""

    run: Run
    settings: tuple[Setting, ...]

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the run's arms."""
        return tuple(dict.fromkeys(arm.name for arm in self.run.arms))

    def arm(self, name: str, lam: float) -> int:
        """Place of an arm among the run's."""
        wanted = (name, lam if name in LAM_ARMS else None)
        return next(at for at, arm in enumerate(self.run.arms) if (arm.name, arm.lam) == wanted)


@dataclass(frozen=True)
class Learnable:
    """Samples of a data set that anchors can be learned from: in each view for itself, and where all views count."""

    apart: int
    together: int

    def left(self, adapter: Adapter, drop: float, n_views: int) -> int:
        """How many there are for an adapter, on average if samples are dropped at random."""
        if adapter.views_apart:
            return max(int(self.apart * (1 - drop)), 1)
        return max(int(self.together * (1 - drop) ** n_views), 1)


def check_grid(grid: Grid, registry: Registry) -> None:
    """Refuse unknown adapters and settings, and values given twice."""
    for adapter in grid.adapters:
        if not isinstance(adapter, str):
            raise InputTypeError(
                f"Expected adapters by name, got {type(adapter).__name__}; a file with the adapter goes into plugins."
            )
        registry.record(adapter)
    lists: dict[str, tuple[object, ...]] = {
        "adapter": grid.adapters,
        "number of anchors": grid.n_anchors,
        "lam": grid.lam,
    }
    lists.update({f"value of {name}": values for name, values in grid.params.items()})
    for what, values in lists.items():
        if not values:
            raise InputError(f"Got no {what}; expected one or more.")
        for at, value in enumerate(values):
            if any(_is_same(value, earlier) for earlier in values[:at]):
                raise InputError(f"The {what} {value!r} is given twice.")
    for rule in grid.n_anchors:
        if rule is not None:
            anchors_for(rule, 1)
    known = {adapter: registry.record(adapter).parameters for adapter in grid.adapters}
    for name in grid.params:
        adapter, dot, setting = name.partition(".")
        if dot and adapter not in known:
            raise unknown_name("adapter of a setting", adapter, known)
        places, wanted = ([adapter], setting) if dot else (list(known), name)
        if not any(wanted in known[place] for place in places):
            every = dict.fromkeys(each for place in places for each in known[place])
            raise unknown_name(f"setting of {' and '.join(places)}", wanted, every)


def _is_same(one: object, other: object) -> bool:
    """Whether two values are one given twice: 1 and 1.0 are, True and 1 are not."""
    if isinstance(one, bool) or isinstance(other, bool) or not isinstance(one, int | float):
        return type(one) is type(other) and repr(one) == repr(other)
    return isinstance(other, int | float) and one == other


def cells(
    grid: Grid,
    specs: Sequence[DataSpec],
    data: Sequence[DataInfo],
    registry: Registry,
    learnable: Sequence[Learnable] = (),
) -> Iterator[Cell]:
    """All draws of anchors in the order of the result.

    ``learnable`` says how many samples anchors can be learned from where views lack some.
    """
    known = learnable or [Learnable(info.n_samples, info.n_samples) for info in data]
    for (spec, info, there), adapter in itertools.product(zip(specs, data, known, strict=True), grid.adapters):
        check_reference(grid.reference, len(info.views))
        grid.options.check_views(info.name, len(info.views))
        record = registry.record(adapter)
        for params in _params_of(grid, record):
            made = _make(record, params)
            # Once for all repeats: sources are read for it.
            identity = describe_adapter(record, made)
            n_left = there.left(made, grid.options.drop, len(info.views))
            counts = [_count(rule, made, info, n_left) for rule in grid.n_anchors]
            for n_anchors, repeat in itertools.product(dict.fromkeys(counts), range(grid.repeats)):
                settings = tuple(
                    Setting(info.name, adapter, n_anchors, lam, params, grid.options.given) for lam in grid.lam
                )
                arms = grid.arms(made)
                yield Cell(_run(grid, spec, info, record, identity, arms, settings, repeat), settings)


def seed_of(seed: int, digest: str, repeat: int) -> int:
    """Seed of a repeat: depends on the study's seed and the data's content, never on adapter, setting or arm."""
    content = int(digest.partition(":")[2][:16], 16)
    return int(np.random.SeedSequence([seed, content, repeat]).generate_state(1)[0])


def _params_of(grid: Grid, record: AdapterRecord) -> list[Params]:
    """The adapter's settings that the grid gives, crossed."""
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
    except (Exception, SystemExit):  # the run will fail, and say why
        return None


def _make(record: AdapterRecord, params: Params) -> Adapter:
    try:
        with contained():
            return record.make(**dict(params))
    except AnchorAlignError:
        raise
    except (Exception, SystemExit) as error:
        given = ", ".join(f"{name}={value}" for name, value in params)
        reason = one_line(f"{type(error).__name__}: {error}")
        raise AdapterError(
            f"Adapter {record.name!r} does not take the settings {given or '(none)'}: {reason}"
        ) from error


def _run(
    grid: Grid,
    spec: DataSpec,
    info: DataInfo,
    record: AdapterRecord,
    identity: dict[str, Any] | None,
    names: Sequence[str],
    settings: tuple[Setting, ...],
    repeat: int,
) -> Run:
    params: dict[str, Any] = dict(settings[0].params)
    seed = seed_of(grid.seed, info.views_digest, repeat)
    parts = {
        "data": info.digest,
        "kinds": info.kinds,
        "n_clusters": info.n_clusters,
        "adapter": identity,
        "n_anchors": settings[0].n_anchors,
        "seed": seed,
    }
    arms = []
    for name, lam in itertools.product(names, grid.lam):
        fusion = {"arm": name, "lam": repr(lam), "reference": grid.reference} if name in LAM_ARMS else {"arm": name}
        used = grid.options.identity(name)
        key = run_key({**parts, **fusion, **used}) if identity is not None else None
        arm = Arm(name, lam if name in LAM_ARMS else None, key)
        if arm not in arms:
            arms.append(arm)
    return Run(
        spec=spec,
        digest=info.digest,
        adapter=record.name,
        version=record.version,
        params=params,
        n_anchors=settings[0].n_anchors,
        reference=grid.reference,
        options=grid.options,
        repeat=repeat,
        seed=seed,
        arms=tuple(arms),
    )
