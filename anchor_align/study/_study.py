"""The study as a whole: plan, what is known already, what is left to compute, and the result."""

from __future__ import annotations

import itertools
import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._validation import check_choice, check_lam
from ..checks import check_flag, check_whole_number
from ..data import MultiViewData
from ..errors import InputError, InputTypeError
from ..plugins import Registry, load_plugins
from ._anchors import Rule
from ._cache import Cache, Outcome
from ._execution import Callback, outcomes_of
from ._identity import environment
from ._options import check_options
from ._plan import Cell, Grid, Learnable, cells, check_grid
from ._results import DONE, FAILED, FOOTINGS, SCORES, AdapterInfo, Record, Setting, StudyResult
from ._run import Run, Worker
from ._showcase import showcases
from ._source import DataSpec, Shelf, name_all
from ._statistics import setting_key, summarise

DEFAULT_DATA = ("simulated", "digits", "breast-cancer")


def compare(
    adapters: str | Sequence[str],
    data: Any = DEFAULT_DATA,
    *,
    n_anchors: int | str | Sequence[Rule] | None = None,
    lam: float | Sequence[float] = 0.1,
    params: Mapping[str, Any] | None = None,
    repeats: int = 10,
    seed: int = 0,
    reference: int | str = "consensus",
    weights: Any = None,
    many_to_one: bool = False,
    rotated: bool = False,
    missing: str = "error",
    drop: float = 0.0,
    score: str = "acc",
    footings: Sequence[str] = ("fixed",),
    jobs: int = 1,
    cache: str | os.PathLike[str] | None = None,
    plugins: Sequence[str | os.PathLike[str]] = (),
    pictures: bool = False,
    callback: Callback | None = None,
) -> StudyResult:
    """Compare unaligned, aligned and concatenated fusion of the same anchor graphs.

    Parameters
    ----------
    adapters : str or list of str
        Names of adapters.
    data : str, path, MultiViewData or DataSpec, or a list or dict of these
        Data sets: files, folders or bundled sets as :func:`anchor_align.load_views` knows them, or data in memory. A
        dict gives their names.
    n_anchors : int or str, or a list of these, optional
        A number, or "2k" for two for each cluster; by default as the adapter suggests. A number for each view is one
        text, "10,20" or "k,2k", or a list inside the list: ``[[10, 20]]``.
    lam : float or list of float, default=0.1
        Weight of the structure term in the alignment.
    params : dict, optional
        Values, or lists of values, of the adapters' settings. ``{"fmvacc.beta": [1, 100]}`` is for one adapter,
        ``{"scale": "unit"}`` for all that have such a setting.
    repeats : int, default=10
        Draws of anchors. Arms are paired: the same draw for all.
    seed : int, default=0
    reference : int, "auto" or "consensus", default="consensus"
        As for :class:`anchor_align.AlignedClusterer`.
    weights : "auto" or list of float, optional
        Weights of the views in the mean, for the unaligned and the aligned arm, as for
        :class:`anchor_align.AlignedClusterer`.
    many_to_one : bool, default=False
        As for :class:`anchor_align.AlignedClusterer`.
    rotated : bool, default=False
        One more arm, "rotated": the aligned graphs are rotated towards each other before the mean, see
        :func:`anchor_align.fuse`. Adapters that cluster in their own way do not have it.
    missing : {"error", "nan"}, default="error"
        "nan": samples that are NaN throughout in a view are not in it.
    drop : float, default=0.0
        Simulate views that lack samples: in every repeat each view loses each sample with this probability, but every
        sample stays in one view at least, see :func:`drop_mask`. All arms, adapters and settings of a repeat lack the
        same samples; all samples are clustered and scored.
    score : {"acc", "nmi", "purity", "fscore", "ari"}, default="acc"
        What the best of a grid is chosen by, and what tables and pictures show.
    footings : list of {"fixed", "best"}, default=("fixed",)
        "fixed": every setting is a row. "best": for every arm the best setting by label, as in much of the literature.
    jobs : int, default=1
        Processes. The result is the same for any number. With more than one, a script needs the usual
        ``if __name__ == "__main__":``.
    cache : path, optional
        Folder in which finished runs are kept; by default nothing is.
    plugins : list of path, optional
        Single files with adapters, see :func:`anchor_align.load_plugins`.
    pictures : bool, default=False
        Also fit one run of every adapter on every data set to look at, for reports and figures.
    callback : callable, optional
        Called with a :class:`StudyProgress`; what it raises ends the study, and finished runs are kept.

    Returns
    -------
    StudyResult

    Examples
    --------
    >>> from anchor_align.study import compare
    >>> result = compare("lmvsc", "simulated", n_anchors="k", repeats=5)
    >>> row = result.summaries[0]
    >>> row.arms["aligned"].mean["acc"], row.arms["unaligned"].mean["acc"] < 1
    (1.0, True)
    """
    files = [os.fspath(path) for path in plugins]
    registry = load_plugins(files)
    grid = Grid(
        adapters=_listed(adapters),
        n_anchors=_listed(n_anchors),
        lam=tuple(map(check_lam, _listed(lam))),
        params={name: _listed(values) for name, values in (params or {}).items()},
        repeats=check_whole_number("repeats", repeats, least=1),
        seed=check_whole_number("seed", seed, least=0),
        reference=reference,
        options=check_options(missing, drop, weights, many_to_one),
        rotated=check_flag("rotated", rotated),
    )
    check_choice("score", score, SCORES)
    for footing in footings:
        check_choice("footing", footing, FOOTINGS)
    jobs = check_whole_number("jobs", jobs, least=1)
    check_grid(grid, registry)
    specs = name_all(_specs(data))
    if grid.options.missing != "error":
        specs = [replace(spec, missing=grid.options.missing) for spec in specs]
    store = None if cache is None else Cache(cache)
    if store is not None:
        store.open()
    shelf = Shelf()
    infos, learnable = [], []
    for spec in specs:
        prepared = shelf.get(spec)
        infos.append(prepared.info)
        learnable.append(Learnable(*(prepared.views.n_learnable(apart) for apart in (True, False))))
    plan = list(cells(grid, specs, infos, registry, learnable))
    outcomes = outcomes_of([cell.run for cell in plan], Worker(registry, store, shelf), jobs, files, callback)
    records = tuple(_records(plan, outcomes))
    shown = tuple(showcases(records, specs, registry, shelf, reference, grid.options)) if pictures else ()
    return StudyResult(
        kind="compare",
        records=records,
        summaries=summarise(records, score=score, footings=footings),
        data=tuple(infos),
        adapters=tuple(_adapter_info(registry, name) for name in grid.adapters),
        score=score,
        repeats=grid.repeats,
        seed=grid.seed,
        reference=str(reference),
        command="",
        environment=environment(),
        showcases=shown,
        options=grid.options.given,
    )


def _listed(values: Any) -> tuple[Any, ...]:
    """One value or several, as a tuple."""
    return tuple(values) if isinstance(values, list | tuple | range) else (values,)


def _specs(data: Any) -> list[DataSpec]:
    """Data sets as users name them."""
    if isinstance(data, Mapping):
        return [replace(_spec(each), name=str(name)) for name, each in data.items()]
    specs = [_spec(each) for each in _listed(data)]
    if not specs:
        raise InputError("Got no data; expected one data set or more.")
    return specs


def _spec(data: Any) -> DataSpec:
    if isinstance(data, DataSpec):
        return data
    if isinstance(data, MultiViewData):
        return DataSpec("data in memory", data=data)
    if isinstance(data, str | os.PathLike):
        return DataSpec(os.fspath(data))
    raise InputTypeError(f"Expected data as a name, a path, MultiViewData or DataSpec, got {type(data).__name__}.")


def _records(plan: Sequence[Cell], outcomes: Sequence[list[Outcome]]) -> Iterator[Record]:
    """All arms of every setting and repeat; arms that do not depend on ``lam`` are there for each value."""
    groups: dict[Hashable, list[tuple[Cell, list[Outcome]]]] = {}
    for cell, found in zip(plan, outcomes, strict=True):
        groups.setdefault(setting_key(cell.settings[0]), []).append((cell, found))
    for pairs in groups.values():
        first = pairs[0][0]
        for setting, (cell, found), arm in itertools.product(first.settings, pairs, first.arms):
            yield _record(setting, cell.run, arm, found[cell.arm(arm, setting.lam)])


def _record(setting: Setting, run: Run, arm: str, outcome: Outcome) -> Record:
    return Record(
        setting=setting,
        arm=arm,
        repeat=run.repeat,
        seed=run.seed,
        scores=outcome.scores,
        seconds=outcome.seconds,
        status=FAILED if outcome.reason else DONE,
        reason=outcome.reason,
        objective=outcome.objective,
        upper_bound=outcome.upper_bound,
        warnings=outcome.warnings,
        labels=outcome.labels,
    )


def _adapter_info(registry: Registry, name: str) -> AdapterInfo:
    record = registry.record(name)
    return AdapterInfo(name, record.distribution, record.version)
