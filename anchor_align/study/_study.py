"""The study as a whole: check the input, plan, compute and summarise."""

from __future__ import annotations

import itertools
import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..blocks import check_join
from ..checks import MOST_REPEATS, check_callback, check_choice, check_flag, check_number, check_whole_number
from ..errors import InputError, InputTypeError
from ..matching import check_lam
from ..plugins import check_files, has_third_party, load_plugins
from ._cache import Cache, Outcome, environment
from ._data_sets import Shelf, name_all
from ._differences import check_versus
from ._execution import Callback, Processes, outcomes_of
from ._given import GivenMethods, check_sendable, data_specs, with_methods
from ._plan import Grid, PlannedData, check_grid, planned_runs
from ._results import AdapterInfo, Record, setting_key
from ._rivals import check_rivals, extra_arms, summarise_rivals
from ._run import Run, Worker
from ._showcases import fit_showcases
from ._statistics import summarise
from ._study_result import StudyResult
from ._view_options import Rule, ViewOptions
from ._vocabulary import DEFAULT_DATA, FOOTINGS, SCORES


def compare(
    adapters: Any,
    data: Any = DEFAULT_DATA,
    *,
    against: Any = (),
    n_anchors: int | str | Sequence[Rule | None] | None = None,
    lam: float | Sequence[float] = 0.1,
    params: Mapping[str, Any] | None = None,
    repeats: int = 10,
    seed: int = 0,
    reference: int | str = "consensus",
    weights: Any = None,
    many_to_one: bool = False,
    fusions: str | Sequence[str] = (),
    rotated: bool = False,
    missing: str = "error",
    join: str | None = None,
    drop: float = 0.0,
    score: str | Sequence[str] = "acc",
    versus: str | Sequence[str | tuple[str, str]] = "aligned:unaligned",
    footings: Sequence[str] = ("fixed",),
    jobs: int = 1,
    cache: str | os.PathLike[str] | None = None,
    plugins: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    timeout: float | None = None,
    pictures: bool = False,
    callback: Callback | None = None,
) -> StudyResult:
    """Compare unaligned, aligned and concatenated fusion of the same anchor graphs, and methods with each other.

    Parameters
    ----------
    adapters : str, Adapter, class or callable, or a list or dict of these
        Adapters by name, as instances or classes, or functions that make graphs, as for
        :class:`anchor_align.FunctionAdapter`. The keys of a dict are the names of objects. Objects run in this process;
        runs with objects of your own classes are not kept.
    data : str, path, MultiViewData, DataSpec, list of arrays or callable, or a list or dict of these
        Data sets: files, folders or bundled sets, as for :func:`anchor_align.load_views`, or data in memory. A list of
        arrays has the views of one data set; a tuple ``(views, labels)`` has labels as well; a function returns data.
        Labels that are a Series are paired with the samples by name, if the views name their samples.
        The keys of a dict are the names of the data sets.
    against : str, Adapter, Baseline, class or callable, or a list or dict of these, optional
        Rivals: baselines, adapters, or arms of adapters such as "lmvsc:concat", on the same data with the same seeds.
        An adapter without an arm has the arm "aligned". The first of ``adapters`` with aligned fusion is compared with
        each rival and with the other adapters. A scikit-learn clusterer, or a function from views to labels, becomes a
        baseline, see :func:`anchor_align.as_baseline`.
    n_anchors : int or str, or a list of these, optional
        A number, or "2k" for two for each cluster; by default the adapter suggests it. One number for each view is a
        text, "10,20" or "k,2k", or a list inside the list: ``[[10, 20]]``.
    lam : float or list of float, default=0.1
        Weight of the structure term in the alignment.
    params : dict, optional
        Values, or lists of values, of the adapters' settings. ``{"fmvacc.beta": [1, 100]}`` is for one adapter,
        ``{"scale": "unit"}`` for all adapters that have this setting.
    repeats : int, default=10
        Number of draws of anchors. All arms use the same draws.
    seed : int, default=0
    reference : int, "auto" or "consensus", default="consensus"
        As for :class:`anchor_align.AlignedClusterer`.
    weights : "auto" or list of float, optional
        Weights of the views, as for :class:`anchor_align.AlignedClusterer`, for all arms but "concat".
    many_to_one : bool, default=False
        As for :class:`anchor_align.AlignedClusterer`.
    fusions : str or list of str, optional
        More arms, by the name of the fusion: "rotated", or the fusion of a plug-in, see
        :func:`anchor_align.list_fusions`. An adapter that does not cluster spectrally has no arm for a fusion with
        ``needs_spectral``, such as "rotated".
    rotated : bool, default=False
        The same as ``fusions="rotated"``.
    missing : {"error", "nan"}, default="error"
        "nan": a row of a view that is all NaN is a missing sample.
    join : {"inner", "outer"}, optional
        For tables that name different samples, see :func:`anchor_align.load_views`.
    drop : float, default=0.0
        Simulate missing samples: in every repeat each view loses each sample with this probability, but every sample
        stays in at least one view, see :func:`drop_mask`. The same samples are missing in all arms, adapters and
        settings of a repeat. All samples are clustered and scored.
    score : {"acc", "nmi", "purity", "fscore", "ari"} or a list of these, default="acc"
        The scores that tables show. The first one chooses the best setting of a grid, and figures show it.
    versus : str, or a list of these, default="aligned:unaligned"
        Pairs of arms to compare: "aligned:concat" is aligned - concat. An arm that is not part of every study is added,
        as with ``fusions``. Figures show the first pair.
    footings : list of {"fixed", "agreement", "best"}, default=("fixed",)
        "fixed": every setting is a row. "agreement": for every arm the setting that the views agree on, see
        :func:`anchor_align.choose`; no labels are used, and the first setting is the default. "best": for every arm the
        best setting by label, as in much of the literature.
    jobs : int, default=1
        Number of processes. It does not change the result.
    cache : path, optional
        Folder for finished runs; by default they are not kept.
    plugins : path or list of path, optional
        Single files with adapters or fusions, see :func:`anchor_align.load_plugins`. Runs with an adapter or a fusion
        that is not part of anchor-align are computed in another process, which lives as long as the study. If the
        plug-in ends this process or crashes, the run has failed, and the study goes on.
    timeout : float, optional
        Seconds that a run may take; the first arm of a repeat includes the time for the graphs, but no arm the time to
        read the data. A run that takes longer is ended and has the status "timeout". All runs are then computed in
        another process. By default there is no limit.
    pictures : bool, default=False
        Also fit one run of every adapter on every data set, for reports and figures.
    callback : callable, optional
        Called with a :class:`StudyProgress`. An error that it raises ends the study; what the cache has is kept.

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
    files = [os.fspath(path) for path in check_files(plugins)]
    pairs = check_versus(versus)
    wanted = [*_listed(fusions), *(["rotated"] if check_flag("rotated", rotated) else []), *sum(pairs, ())]
    grid = Grid(
        adapters=(),
        n_anchors=_listed(n_anchors),
        lam=tuple(map(check_lam, _listed(lam))),
        params=_check_params(params),
        repeats=check_whole_number("repeats", repeats, least=1, most=MOST_REPEATS),
        seed=check_whole_number("seed", seed, least=0),
        reference=reference,
        options=ViewOptions.checked(missing, drop, weights, many_to_one),
        fusions=(),
    )
    scores = tuple(dict.fromkeys(check_choice("score", each, SCORES) for each in _listed(score)))
    if not scores:
        raise InputError(f"Got no score; expected one or more of {', '.join(SCORES)}.")
    footings = _check_footings(footings)
    given, rivals = GivenMethods.adapters(adapters), GivenMethods.rivals(against)
    objects = (*given.records, *rivals.records)
    jobs = check_whole_number("jobs", jobs, least=1)
    limit = _check_timeout(timeout)
    check_flag("pictures", pictures)
    check_callback(callback)
    specs = name_all(data_specs(data))
    store = _open_cache(cache)
    # Data in memory are sent once to every process, not with every run.
    memory = {spec.name: spec.data for spec in specs if spec.data is not None}
    specs = [replace(spec, data=None) for spec in specs]
    if check_join(join) is not None:
        specs = [replace(spec, join=join) for spec in specs]
    if grid.options.missing != "error":
        specs = [replace(spec, missing=grid.options.missing) for spec in specs]
    with Processes(files, store, memory, limit, objects) as processes:
        if has_third_party(files):
            # A plug-in that ends its process is found before this process imports it.
            processes.load()
        registry = with_methods(load_plugins(files), objects)
        for name in wanted:
            registry.fusion(name)
        used_fusions = [each for each in registry.fusions if each.fusion.in_every_study or each.name in wanted]
        arms = tuple(record.name for record in used_fusions)
        for name in given.names:
            registry.record(name)
        methods = check_rivals(given.names, rivals.names, registry)
        grid = replace(grid, adapters=given.names, fusions=arms, extra=extra_arms(methods, given.names, arms))
        check_grid(grid, registry)
        used = [registry.record(name) for name in grid.adapters]
        called = [*used, *(registry.method(name) for name in grid.extra)]
        rival_arms = {arm for extra in grid.extra.values() for arm in extra}
        fused = [each for each in registry.fusions if each in used_fusions or each.name in rival_arms]
        # Objects are in this process already: only what is called by name can be kept away from it.
        isolated = not all(record.is_ours for record in (*called, *fused) if record not in objects)
        elsewhere = isolated or jobs > 1 or limit is not None
        if elsewhere:
            check_sendable(objects)
        worker = Worker(registry, store, Shelf(memory))
        planned = []
        for spec in specs:
            prepared = worker.shelf.get(spec)
            planned.append(PlannedData(spec, prepared.info, *map(prepared.views.n_learnable, (True, False))))
        runs = processes.plan(grid, planned) if isolated else list(planned_runs(grid, planned, registry))
        outcomes = outcomes_of(runs, worker, jobs, processes if elsewhere else None, callback)
        found = list(zip(runs, outcomes, strict=True))
        records = tuple(_records([each for each in found if not each[0].extra]))
        rival_records = tuple(_records([each for each in found if each[0].extra]))
        showcases = (
            tuple(fit_showcases(records, specs, grid, worker, processes if isolated else None, scores[0], pairs[0]))
            if pictures
            else ()
        )
    shown = tuple(record.fusion for record in used_fusions)
    rows = summarise_rivals(
        records,
        rival_records,
        methods,
        score=scores[0],
        footings=footings,
        lam_arms=[record.name for record in fused if record.fusion.aligns],
    )
    return StudyResult(
        kind="compare",
        records=records,
        summaries=summarise(records, score=scores[0], footings=footings, fusions=shown, versus=pairs),
        data=tuple(each.info for each in planned),
        adapters=tuple(AdapterInfo(record.name, record.distribution, record.version) for record in used),
        score=scores[0],
        more_scores=scores[1:],
        versus=pairs,
        repeats=grid.repeats,
        seed=grid.seed,
        reference=str(reference),
        command="",
        environment=environment(),
        showcases=showcases,
        options=grid.options.given,
        fusions=shown,
        methods=methods,
        rival_records=rival_records,
        against=rows,
    )


def _check_params(params: object) -> dict[str, tuple[object, ...]]:
    """Values of each setting."""
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise InputTypeError(f"params must be a dict of values by setting, got {type(params).__name__}.")
    for name in params:
        if not isinstance(name, str):
            raise InputTypeError(f"The keys of params must be names of settings, got a {type(name).__name__}.")
    return {name: _listed(values) for name, values in params.items()}


def _check_footings(footings: object) -> tuple[str, ...]:
    listed = _listed(footings)
    if not listed:
        raise InputError(f"Got no footing; expected one or more of {', '.join(FOOTINGS)}.")
    return tuple(check_choice("footing", footing, FOOTINGS) for footing in listed)


def _check_timeout(timeout: object) -> float | None:
    """Seconds, or None for no limit."""
    if timeout is None:
        return None
    seconds = check_number("timeout", timeout)
    if seconds == 0:
        raise InputError("timeout must be a finite number > 0, got 0.")
    return seconds


def _open_cache(folder: object) -> Cache | None:
    if folder is None:
        return None
    if not isinstance(folder, str | os.PathLike):
        raise InputTypeError(f"cache must be a path or None, got {type(folder).__name__}.")
    store = Cache(folder)
    store.open()
    return store


def _listed(values: Any) -> tuple[Any, ...]:
    """One value or several, as a tuple."""
    return tuple(values) if isinstance(values, list | tuple | range) else (values,)


def _records(runs: Sequence[tuple[Run, list[Outcome]]]) -> Iterator[Record]:
    """Records of all arms for every setting and repeat. An arm that does not use ``lam`` has one for each value."""
    groups: dict[Hashable, list[tuple[Run, list[Outcome]]]] = {}
    for run, found in runs:
        groups.setdefault(setting_key(run.settings[0]), []).append((run, found))
    for pairs in groups.values():
        for setting, (run, found) in itertools.product(pairs[0][0].settings, pairs):
            for arm, outcome in zip(run.arms, found, strict=True):
                if arm.lam in (None, setting.lam):
                    shown = {name: value for name, value in vars(outcome).items() if name != "traceback"}
                    yield Record(setting, arm.name, run.repeat, run.seed, **shown)
