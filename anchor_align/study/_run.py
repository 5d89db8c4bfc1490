"""One run: anchor graphs drawn once, then all arms on them."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from threadpoolctl import threadpool_limits

from .._align import AnchorAligner
from .._containment import contained
from .._mapping import working
from .._memo import Memo
from .._pipeline import Graphs, build_graphs, cluster_graph, count_anchors, fuse_graphs
from ..adapter import Adapter
from ..errors import AnchorAlignError, InputError
from ..metrics import score_all
from ..plugins import Registry, one_line
from ._anchors import Anchors, anchors_text
from ._cache import Cache, Outcome
from ._drop import dropped
from ._options import ViewOptions
from ._results import SCORES
from ._source import DataSpec, Prepared, Shelf


@dataclass(frozen=True)
class Arm:
    """One way of fusing; ``lam`` is None where it does not matter, ``key`` None where nothing is kept."""

    name: str
    lam: float | None
    key: str | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """A draw of anchors, and the arms that are to be computed on it."""

    spec: DataSpec
    digest: str
    adapter: str
    version: str
    params: dict[str, Any]
    n_anchors: Anchors
    reference: int | str
    options: ViewOptions
    repeat: int
    seed: int
    arms: tuple[Arm, ...]

    @property
    def label(self) -> str:
        """What runs, to be read."""
        anchors = "" if self.n_anchors is None else f", {anchors_text(self.n_anchors)} anchors"
        return f"{self.spec.name} {self.adapter}{anchors}, repeat {self.repeat}"


@dataclass(frozen=True, eq=False)
class Done:
    """Outcomes of a run's arms, and whether those that should be kept are."""

    outcomes: list[Outcome]
    kept: bool = True


@dataclass(eq=False)
class Worker:
    """What a process needs to compute runs, and keeps between them."""

    registry: Registry
    cache: Cache | None
    shelf: Shelf = field(default_factory=Shelf)
    memo: Memo = field(default_factory=Memo)
    # Whether Ctrl-C reaches this process; in others an adapter raised what looks like it.
    interruptible: bool = True

    def compute(self, run: Run) -> Done:
        """Outcomes of the run's arms, each kept as soon as it is there. Whatever goes wrong is an outcome too."""
        outcomes: list[Outcome] = []
        kept = True
        try:
            # One thread, whatever the number of processes.
            self.memo.use((run.digest, run.seed, run.options.drop) if run.options.drop else run.digest)
            with threadpool_limits(1), working(memo=self.memo):
                for arm, outcome in self._arms(run):
                    outcomes.append(outcome)
                    if arm.key is not None and self.cache is not None and not outcome.reason:
                        kept = self.cache.put(arm.key, outcome) and kept
        except BaseException as error:  # an adapter may raise anything
            self._let_through(error)
            outcomes += [failure(error)] * (len(run.arms) - len(outcomes))
        return Done(outcomes, kept)

    def _let_through(self, error: BaseException) -> None:
        if isinstance(error, KeyboardInterrupt) and self.interruptible:
            raise error

    def _arms(self, run: Run) -> Iterator[tuple[Arm, Outcome]]:
        data = self.shelf.get(run.spec)
        if data.info.digest != run.digest:
            raise InputError(f"Data {run.spec.name!r} changed while the study ran.")
        record = self.registry.record(run.adapter)
        if record.version != run.version:
            raise InputError(f"Adapter {run.adapter!r} changed while the study ran.")
        adapter = record.make(**run.params)
        n_clusters = data.info.n_clusters
        views = dropped(data.views, run.options.drop, run.seed)
        n_anchors = count_anchors(adapter, run.n_anchors, data.info.n_samples, n_clusters, len(views.matrices))
        started = time.perf_counter()
        with _recorded() as warned, contained(run.seed):
            graphs = build_graphs(adapter, views, n_clusters, n_anchors, run.seed)
        # Anchors that another run has found already count as if this one had looked for them.
        seconds = time.perf_counter() - started + self.memo.seconds
        computed: dict[str, Outcome] = {}
        for arm in run.arms:
            # Where anchors correspond, nothing is permuted: the same graph, the same seed.
            same_as = "unaligned" if graphs.learned.aligned and arm.name == "aligned" else arm.name
            if same_as not in computed or arm.name == same_as:
                with _recorded() as warned_too:
                    outcome = self._attempt_arm(run, arm, adapter, data, graphs)
                # What arms share counts for each of them: an arm that is computed on its own has the same outcome.
                total = None if outcome.seconds is None else outcome.seconds + seconds
                computed[same_as] = replace(outcome, seconds=total, warnings=_texts([*warned, *warned_too]))
            yield arm, computed[same_as]

    def _attempt_arm(self, run: Run, arm: Arm, adapter: Adapter, data: Prepared, graphs: Graphs) -> Outcome:
        try:
            return _compute_arm(run, arm, adapter, data, graphs)
        except BaseException as error:
            self._let_through(error)
            return failure(error)


def _compute_arm(run: Run, arm: Arm, adapter: Adapter, data: Prepared, graphs: Graphs) -> Outcome:
    n_clusters = data.info.n_clusters
    started = time.perf_counter()
    aligner = AnchorAligner(
        0.0 if arm.lam is None else arm.lam,
        reference=run.reference,
        many_to_one=run.options.many_to_one,
        random_state=run.seed,
    )
    with contained(run.seed):
        fused = fuse_graphs(adapter, graphs, arm.name, aligner, n_clusters, run.seed, weights=run.options.weights)
        labels = cluster_graph(adapter, fused, n_clusters, run.seed).labels
    seconds = time.perf_counter() - started
    scores = None
    if data.labels is not None:
        every = score_all(data.labels, labels)
        scores = {name: float(getattr(every, name)) for name in SCORES}
    objective = None if fused.aligner is None else float(fused.aligner.objective_.sum())
    upper_bound = None if fused.aligner is None else float(fused.aligner.upper_bound_.sum())
    return Outcome(scores, labels, seconds, objective, upper_bound)


def failure(error: BaseException) -> Outcome:
    """The outcome of a run that failed."""
    if isinstance(error, AnchorAlignError):
        reason = one_line(error)
    else:
        said = one_line(error)
        reason = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return Outcome(reason=reason, traceback="".join(traceback.format_exception(error)))


@contextmanager
def _recorded() -> Iterator[list[warnings.WarningMessage]]:
    """Collect warnings meant for users; those meant for programmers are dropped."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        yield caught


def _texts(caught: list[warnings.WarningMessage]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one_line(each.message) for each in caught))
