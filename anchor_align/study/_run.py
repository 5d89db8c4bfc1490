"""One run: anchor graphs are made once, then every arm fuses and clusters them."""

from __future__ import annotations

import subprocess
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..arrays import IndexArray
from ..blocks import Memo, openmp_limit, working
from ..clustering import Criteria, Pipeline, ViewGraphs, count_anchors, in_order_of_fit, labels_of_data
from ..errors import AnchorAlignError, InputError, program_text
from ..graphs import GramMatrices
from ..metrics import score_all
from ..plugins import Baseline, Registry, baseline_labels, contained, one_line
from ._cache import Cache, Outcome, covered_places
from ._data_sets import DataSpec, Prepared, Shelf
from ._results import Setting
from ._view_options import ViewOptions, anchors_text
from ._vocabulary import BASELINE, DONE, FAILED, NO_MEMORY, SCORES


@dataclass(frozen=True)
class Arm:
    """One fusion of a run; ``lam`` is None if the fusion does not use it, ``key`` is None if no outcome is kept."""

    name: str
    version: str
    lam: float | None
    key: str | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """One draw of anchors and the arms to compute on it; ``settings`` differ in ``lam`` only.

    A run of a baseline has one arm. ``extra`` runs are those of rivals. ``covered`` are the folders whose content is in
    the keys.
    """

    spec: DataSpec
    digest: str
    n_samples: int
    version: str
    settings: tuple[Setting, ...]
    reference: int | str
    options: ViewOptions
    repeat: int
    seed: int
    arms: tuple[Arm, ...] = ()
    extra: bool = False
    covered: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        """Text for people who watch the progress."""
        setting = self.settings[0]
        anchors = "" if setting.n_anchors is None else f", {anchors_text(setting.n_anchors)} anchors"
        return f"{setting.dataset} {setting.adapter}{anchors}, repeat {self.repeat}"


@dataclass(frozen=True, eq=False)
class Done:
    """Outcomes of a run's arms; ``kept`` is False if the cache did not take one of them."""

    outcomes: list[Outcome]
    kept: bool = True


@dataclass(eq=False)
class Worker:
    """What a process needs to compute runs, and keeps between them."""

    registry: Registry
    cache: Cache | None
    shelf: Shelf = field(default_factory=Shelf)
    memo: Memo = field(default_factory=Memo)
    # Ctrl-C reaches only the first process. In any other process an adapter raised the KeyboardInterrupt.
    interruptible: bool = True

    def kept(self, run: Run, arm: Arm) -> Outcome | None:
        """Outcome of an earlier study, if there is one."""
        return None if self.cache is None or arm.key is None else self.cache.get(arm.key, run.n_samples)

    def compute(self, run: Run, tell: Callable[[object], object] = lambda _: None) -> Done:
        """Compute the run's arms and keep each outcome at once. An error becomes the outcome of a failed run.

        ``tell`` is called with None when the data are read, and with each outcome.
        """
        outcomes: list[Outcome] = []
        kept = True
        try:
            # One thread, whatever the number of processes.
            with openmp_limit.using(), working(threads=1, memo=self.memo):
                data = self.shelf.get(run.spec)
                tell(None)
                for arm, outcome in self._arms(run, data):
                    outcomes.append(outcome)
                    tell(outcome)
                    if arm.key is not None and self.cache is not None and not outcome.reason and self._covers(run):
                        kept = self.cache.put(arm.key, outcome) and kept
        except BaseException as error:  # an adapter may raise anything
            for _ in run.arms[len(outcomes) :]:
                outcomes.append(self._failure(error))
                tell(outcomes[-1])
        return Done(outcomes, kept)

    def _covers(self, run: Run) -> bool:
        """Whether the key has all code that the run has loaded: a plug-in may import other folders late."""
        names = {arm.name for arm in run.arms}
        kinds: list[type] = [type(self.registry.method(run.settings[0].adapter).prototype)]
        kinds += [type(record.fusion) for record in self.registry.fusions if record.name in names]
        places = [Path(place) for kind in kinds for place in covered_places(kind)]
        return all(any(place.is_relative_to(covered) for covered in run.covered) for place in places)

    def _use_memo(self, run: Run, *, in_order: bool) -> None:
        """What was computed from other samples, or from the same in another order, is not used."""
        dropped = (run.seed, run.options.drop) if run.options.drop else None
        self.memo.use((run.digest, dropped, in_order))

    def _failure(self, error: BaseException) -> Outcome:
        if isinstance(error, KeyboardInterrupt) and self.interruptible:
            raise error
        return failure(error)

    def _arms(self, run: Run, data: Prepared) -> Iterator[tuple[Arm, Outcome]]:
        if data.info.digest != run.digest:
            raise InputError(f"Data {run.spec.name!r} changed while the study ran.")
        setting = run.settings[0]
        if run.arms[0].name == BASELINE:
            yield run.arms[0], self._compute_baseline(run, data)
            return
        record = self.registry.record(setting.adapter)
        if record.version != run.version:
            raise InputError(f"Adapter {setting.adapter!r} changed while the study ran.")
        adapter = record.make(**dict(setting.params))
        n_clusters = data.info.n_clusters
        views = run.options.drop_samples(data.views, run.seed)
        n_anchors = count_anchors(adapter, setting.n_anchors, data.info.n_samples, n_clusters, len(views.matrices))
        pipeline = Pipeline(
            adapter,
            n_clusters,
            n_anchors,
            run.seed,
            reference=run.reference,
            many_to_one=run.options.many_to_one,
            weights=run.options.weights,
        )
        started = time.perf_counter()
        with _recorded() as warned, contained(run.seed):
            fitted = in_order_of_fit(adapter, views)
            self._use_memo(run, in_order=fitted is not views)
            graphs = pipeline.build(fitted)
        # Anchors that another run found already count as if this run had searched for them.
        seconds = time.perf_counter() - started + self.memo.seconds
        computed: dict[str, Outcome] = {}
        grams: GramMatrices | None = None
        for arm in run.arms:
            # If anchors correspond by construction, nothing is permuted: both arms have the same graph and seed.
            same_as = "unaligned" if graphs.learned.aligned and arm.name == "aligned" else arm.name
            if same_as not in computed or arm.name == same_as:
                with _recorded() as warned_too:
                    outcome = self._compute_arm(arm, pipeline, data, graphs)
                if outcome.labels is not None:
                    # Not graphs.grams: an arm that matches anchors must compute them within its own time.
                    grams = grams or graphs.known_grams or GramMatrices.of_set(graphs.rows)
                    outcome = replace(outcome, **asdict(Criteria.of(grams, outcome.labels, n_clusters)))
                # Time and warnings of the graphs count for each arm: an arm computed alone has the same outcome.
                total = None if outcome.seconds is None else outcome.seconds + seconds
                texts = dict.fromkeys(one_line(each.message) for each in (*warned, *warned_too))
                computed[same_as] = replace(outcome, seconds=total, warnings=tuple(texts))
            yield arm, computed[same_as]

    def _compute_baseline(self, run: Run, data: Prepared) -> Outcome:
        setting = run.settings[0]
        record = self.registry.method(setting.adapter)
        if record.version != run.version:
            raise InputError(f"Baseline {setting.adapter!r} changed while the study ran.")
        baseline = record.make(**dict(setting.params))
        assert isinstance(baseline, Baseline)
        self._use_memo(run, in_order=False)
        views = run.options.drop_samples(data.views, run.seed)
        if views.mask is not None:
            n_missing = int((~views.mask).any(axis=0).sum())
            raise InputError(
                f"Baseline {record.name!r} needs all samples in all views; {n_missing} of {views.n_samples} samples "
                "are missing in some view."
            )
        started = time.perf_counter()
        with _recorded() as warned, contained(run.seed):
            labels = baseline_labels(baseline, views.matrices, n_clusters=data.info.n_clusters, random_state=run.seed)
        seconds = time.perf_counter() - started
        texts = dict.fromkeys(one_line(each.message) for each in warned)
        return Outcome(DONE, _scores(data, labels), labels, seconds, warnings=tuple(texts))

    def _compute_arm(self, arm: Arm, pipeline: Pipeline, data: Prepared, graphs: ViewGraphs) -> Outcome:
        try:
            fusion = self.registry.fusion(arm.name)
            if all(record.version != arm.version for record in self.registry.fusions if record.fusion is fusion):
                raise InputError(f"Fusion {arm.name!r} changed while the study ran.")
            started = time.perf_counter()
            with contained(pipeline.seed):
                fused = pipeline.fuse(graphs, fusion, 0.0 if arm.lam is None else arm.lam)
                labels = labels_of_data(pipeline.cluster(fused).labels, graphs.numbers)
            seconds = time.perf_counter() - started
            objective = upper_bound = None
            if fused.aligner is not None:
                objective = float(fused.aligner.objective_.sum())
                upper_bound = float(fused.aligner.upper_bound_.sum())
            return Outcome(DONE, _scores(data, labels), labels, seconds, objective, upper_bound)
        except BaseException as error:  # a fusion may raise anything
            return self._failure(error)


def _scores(data: Prepared, labels: IndexArray) -> dict[str, float] | None:
    if data.labels is None:
        return None
    every = score_all(data.labels, labels)
    return {name: float(getattr(every, name)) for name in SCORES}


def failure(error: BaseException, status: str = FAILED) -> Outcome:
    """The outcome of a run that failed."""
    if isinstance(error, MemoryError):
        status = NO_MEMORY
    show: Callable[[Any], str] = program_text if isinstance(error, subprocess.CalledProcessError) else str
    text = one_line(error, show)
    if not isinstance(error, AnchorAlignError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return Outcome(status=status, reason=text, traceback="".join(traceback.format_exception(error)))


@contextmanager
def _recorded() -> Iterator[list[warnings.WarningMessage]]:
    """Collect warnings for users; drop those for programmers."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        yield caught
