"""What is known already, what is left to compute, and who is told of progress."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from ._cache import Cache, Outcome
from ._pool import Setup, compute_all
from ._run import Arm, Done, Run, Worker


@dataclass(frozen=True)
class StudyProgress:
    """What a study's callback is told, before and after every draw of anchors.

    Attributes
    ----------
    done, total : int
        Runs, one for each arm.
    kept : int
        How many of those done were finished by an earlier call.
    label : str
        What was started or finished.
    failures : tuple of (str, str)
        Reason and traceback of what failed just now.
    not_kept : bool
        The cache did not take what was finished just now.
    """

    done: int
    total: int
    kept: int
    label: str
    failures: tuple[tuple[str, str], ...] = ()
    not_kept: bool = False


Callback = Callable[[StudyProgress], object]


def outcomes_of(
    runs: Sequence[Run], worker: Worker, jobs: int, files: Sequence[str], callback: Callback | None
) -> list[list[Outcome]]:
    """Outcomes of all arms of all runs: those kept from before, and the rest computed now."""
    found = [[_kept(worker.cache, arm) for arm in run.arms] for run in runs]
    missing = [[at for at, outcome in enumerate(each) if outcome is None] for each in found]
    left = {
        replace(run, arms=tuple(run.arms[at] for at in places)): number
        for number, (run, places) in enumerate(zip(runs, missing, strict=True))
        if places
    }
    total = sum(len(run.arms) for run in runs)
    kept = done = total - sum(map(len, missing))

    def tell(label: str, finished: Done | None = None) -> None:
        if callback is not None:
            failed = [outcome for outcome in finished.outcomes if outcome.reason] if finished else []
            failures = tuple((outcome.reason, outcome.traceback) for outcome in failed)
            callback(StudyProgress(done, total, kept, label, failures, finished is not None and not finished.kept))

    def started(run: Run) -> None:
        tell(run.label)

    def here() -> Generator[tuple[Run, Done]]:
        for run in left:
            started(run)
            yield run, worker.compute(run)

    tell("")
    memory = {run.spec.name: run.spec.data for run in left if run.spec.data is not None}
    if jobs > 1 and left:
        # Data in memory are sent once to every process, not with every run.
        left = {replace(run, spec=replace(run.spec, data=None)): number for run, number in left.items()}
        computed = compute_all(list(left), jobs, Setup(tuple(files), worker.cache, memory), started)
    else:
        computed = here()
    with closing(computed):
        for run, result in computed:
            number = left[run]
            for at, outcome in zip(missing[number], result.outcomes, strict=True):
                found[number][at] = outcome
            done += len(result.outcomes)
            tell(run.label, result)
    assert all(outcome is not None for each in found for outcome in each)
    return found  # type: ignore[return-value]  # mypy does not see the line above


def _kept(cache: Cache | None, arm: Arm) -> Outcome | None:
    return None if cache is None or arm.key is None else cache.get(arm.key)
