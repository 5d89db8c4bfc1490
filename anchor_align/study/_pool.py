"""Runs on several processes. A process that dies takes only its own run with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TypeAlias

from ..data import MultiViewData
from ..errors import AnchorAlignError
from ..plugins import load_plugins
from ._cache import Cache
from ._run import Done, Run, Worker, failure
from ._source import Shelf

# Runs handed out for every process: the next one is there when one ends.
AHEAD = 2

Finished: TypeAlias = tuple[Run, Done]


class WorkerDied(AnchorAlignError, RuntimeError):
    """The process that computed a run is gone."""


@dataclass(frozen=True, eq=False)
class Setup:
    """What every process is given once: single files with adapters, the cache, and data that have no source."""

    plugins: tuple[str, ...]
    cache: Cache | None
    memory: Mapping[str, MultiViewData]


def compute_all(runs: Sequence[Run], jobs: int, setup: Setup, started: Callable[[Run], None]) -> Generator[Finished]:
    """Compute the runs on ``jobs`` new processes; yields them as they finish.

    When a process dies it is not known which of the runs handed out was the cause: each of these is tried again alone.
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
    """Processes that end with this one, however it ends, and at once when the block is left."""

    def __init__(self, jobs: int, setup: Setup) -> None:
        # Started afresh, not forked: a fork of a process with threads may hang.
        context = multiprocessing.get_context("spawn")
        # Nothing is ever sent: the other end closes when this process ends.
        self._watched, self._lifeline = context.Pipe(duplex=False)
        self._jobs = jobs
        self._executor = ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_start, initargs=(self._watched, setup)
        )

    def __enter__(self) -> _Pool:
        try:
            with _without_interrupts():
                ready = self._executor.submit(_nothing)
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

    def compute(self, waiting: list[Run], suspects: list[Run], started: Callable[[Run], None]) -> Iterator[Finished]:
        """Take runs from ``waiting``; those that were handed out when a process died go to ``suspects``."""
        handed: dict[Future[Done], Run] = {}
        try:
            while waiting or handed:
                while waiting and len(handed) < AHEAD * self._jobs:
                    with _without_interrupts():
                        future = self._executor.submit(_compute, waiting[0])
                    handed[future] = waiting[0]
                    started(waiting.pop(0))
                done, _ = wait(handed, return_when=FIRST_COMPLETED)
                for future in done:
                    result = _result(future, handed[future])
                    yield handed.pop(future), result
        except BrokenProcessPool:
            suspects += handed.values()


def _result(future: Future[Done], run: Run) -> Done:
    try:
        return future.result()
    except BrokenProcessPool:
        raise
    except Exception as error:  # a run that cannot be sent to another process
        return Done([failure(error)] * len(run.arms))


_worker: Worker


def _start(watched: Connection, setup: Setup) -> None:
    """Prepare a new process."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(watched,), daemon=True).start()
    _worker = Worker(load_plugins(setup.plugins), setup.cache, Shelf(setup.memory), interruptible=False)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let new processes inherit that Ctrl-C is not for them: it reaches all, and the first process decides."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _nothing() -> None:
    """What a process does to show that it works."""


def _end_with(watched: Connection) -> None:
    watched.poll(None)
    os._exit(1)


def _compute(run: Run) -> Done:
    return _worker.compute(run)
