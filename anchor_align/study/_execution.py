"""Computing the runs of a study, on one process or several. A process that dies loses only its own run."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import TypeAlias

from ..data import MultiViewData
from ..errors import AnchorAlignError
from ..plugins import load_plugins
from ._cache import Cache, Outcome
from ._data_sets import Shelf
from ._run import Done, Run, Worker, failure

# Runs submitted for each process: the next run waits when one ends.
AHEAD = 2


@dataclass(frozen=True)
class StudyProgress:
    """Progress of a study; the callback gets one before and after every draw of anchors.

    Attributes
    ----------
    done, total : int
        Numbers of runs; every arm is a run.
    kept : int
        How many of the done runs come from an earlier study.
    label : str
        The draw that was started or finished.
    failures : tuple of (str, str)
        Reason and traceback of the runs of this draw that failed.
    not_kept : bool
        True if the cache could not store a run of this draw.
    """

    done: int
    total: int
    kept: int
    label: str
    failures: tuple[tuple[str, str], ...] = ()
    not_kept: bool = False


Callback = Callable[[StudyProgress], object]


class WorkerDied(AnchorAlignError, RuntimeError):
    """The process that computed a run is gone."""


# What every new process gets once: plug-in files, the cache, and data that have no source.
Setup: TypeAlias = tuple[Sequence[str], Cache | None, Mapping[str, MultiViewData]]


def outcomes_of(
    runs: Sequence[Run], worker: Worker, jobs: int, plugins: Sequence[str], callback: Callback | None
) -> list[list[Outcome]]:
    """Outcomes of all arms of all runs: from the cache, or computed now."""
    found = [[worker.kept(arm) for arm in run.arms] for run in runs]
    absent = [[at for at, outcome in enumerate(each) if outcome is None] for each in found]
    to_compute = {
        replace(run, arms=tuple(run.arms[at] for at in places)): number
        for number, (run, places) in enumerate(zip(runs, absent, strict=True))
        if places
    }
    total = sum(len(run.arms) for run in runs)
    kept = done = total - sum(map(len, absent))

    def report(label: str, finished: Done | None = None) -> None:
        if callback is not None:
            outcomes = finished.outcomes if finished else []
            failures = tuple((each.reason, each.traceback) for each in outcomes if each.reason)
            callback(StudyProgress(done, total, kept, label, failures, finished is not None and not finished.kept))

    def report_start(run: Run) -> None:
        report(run.label)

    def compute_here() -> Generator[tuple[Run, Done]]:
        for run in to_compute:
            report_start(run)
            yield run, worker.compute(run)

    report("")
    if jobs > 1 and to_compute:
        # Data in memory are sent once to every process, not with every run.
        memory = {run.spec.name: run.spec.data for run in to_compute if run.spec.data is not None}
        to_compute = {replace(run, spec=replace(run.spec, data=None)): number for run, number in to_compute.items()}
        computed = _compute_in_processes(list(to_compute), jobs, (plugins, worker.cache, memory), report_start)
    else:
        computed = compute_here()
    with closing(computed):
        for run, result in computed:
            number = to_compute[run]
            for at, outcome in zip(absent[number], result.outcomes, strict=True):
                found[number][at] = outcome
            done += len(result.outcomes)
            report(run.label, result)
    assert all(outcome is not None for each in found for outcome in each)
    return found  # type: ignore[return-value]  # mypy does not see the line above


def _compute_in_processes(
    runs: Sequence[Run], jobs: int, setup: Setup, started: Callable[[Run], None]
) -> Generator[tuple[Run, Done]]:
    """Compute the runs on ``jobs`` new processes; yields them as they finish.

    If a process dies, nobody knows which of the submitted runs was the cause: each of them is tried again alone.
    """
    waiting = list(runs)
    while waiting:
        suspects: list[Run] = []
        with _Pool(min(jobs, len(waiting)), setup) as pool:
            yield from pool.compute(waiting, suspects, started)
        for run in suspects:
            with _Pool(1, setup) as pool:
                dead: list[Run] = []
                yield from pool.compute([run], dead, started)
            if dead:
                error = WorkerDied("The process died: it crashed, was killed, or ran out of memory.")
                yield run, Done([failure(error)] * len(run.arms))


class _Pool:
    """Processes that end when the block ends, and also if this process is killed."""

    def __init__(self, jobs: int, setup: Setup) -> None:
        # New processes, no forks: a fork of a process with threads may hang.
        context = multiprocessing.get_context("spawn")
        # Nothing is ever sent. The other end closes when this process ends.
        self._watched, self._lifeline = context.Pipe(duplex=False)
        self._jobs = jobs
        self._executor = ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_start_process, initargs=(self._watched, *setup)
        )

    def __enter__(self) -> _Pool:
        try:
            with _without_interrupts():
                ready = self._executor.submit(os.getpid)
            ready.result()
        except BrokenProcessPool as error:
            self.__exit__()
            raise WorkerDied(
                "New processes could not be started; a script that asks for several must do so under "
                "`if __name__ == '__main__':`."
            ) from error
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._lifeline.close()
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._watched.close()

    def compute(
        self, waiting: list[Run], suspects: list[Run], started: Callable[[Run], None]
    ) -> Iterator[tuple[Run, Done]]:
        """Take runs from ``waiting``; if a process dies, the submitted runs go to ``suspects``."""
        submitted: dict[Future[Done], Run] = {}
        try:
            while waiting or submitted:
                while waiting and len(submitted) < AHEAD * self._jobs:
                    with _without_interrupts():
                        future = self._executor.submit(_compute, waiting[0])
                    submitted[future] = waiting[0]
                    started(waiting.pop(0))
                for future in wait(submitted, return_when=FIRST_COMPLETED).done:
                    try:
                        result = future.result()
                    except BrokenProcessPool:
                        raise
                    except Exception as error:  # the run cannot be sent to another process
                        result = Done([failure(error)] * len(submitted[future].arms))
                    yield submitted.pop(future), result
        except BrokenProcessPool:
            suspects += submitted.values()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back until the block ends, so that a process is started completely or not at all.

    The blocked signal is inherited by the new process: only the first process reacts to Ctrl-C. The block alone is not
    enough here, because the signal may arrive in another thread, and its handler then runs in the main thread.
    """
    held_back: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    # Python runs handlers in the main thread only; None is a handler of the program that embeds Python.
    handled_here = threading.current_thread() is threading.main_thread() and handler is not None
    if handled_here:
        signal.signal(signal.SIGINT, lambda number, _: held_back.append(number))
    blockable = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if blockable else set()
    try:
        yield
    finally:
        if blockable:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if handled_here:
            signal.signal(signal.SIGINT, handler)
            if held_back:
                signal.raise_signal(signal.SIGINT)


_worker: Worker


def _start_process(
    watched: Connection, plugins: Sequence[str], cache: Cache | None, memory: Mapping[str, MultiViewData]
) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(watched,), daemon=True).start()
    _worker = Worker(load_plugins(plugins), cache, Shelf(memory), interruptible=False)


def _end_with_parent(watched: Connection) -> None:
    watched.poll(None)
    os._exit(1)


def _compute(run: Run) -> Done:
    return _worker.compute(run)
