"""Computing the runs of a study, here or in other processes. A process that dies or hangs loses only its own run.

Code of plug-ins runs in other processes: a plug-in may end its process, fork it, or compute for ever.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from ..data import MultiViewData
from ..errors import AdapterError, AnchorAlignError, PluginError
from ..plugins import DISABLE_VARIABLE, AdapterRecord, BaselineRecord, Plugin, load_and_report
from ._cache import Cache, Outcome
from ._data_sets import Shelf
from ._given import with_methods
from ._plan import Grid, PlannedData, planned_runs
from ._run import Done, Run, Worker, failure
from ._vocabulary import FAILED, TIMEOUT
from ._worker_loop import ERROR, GONE, VALUE
from ._worker_process import Reply, Tell, WorkerProcess

# Seconds between two looks at processes that say nothing.
TICK = 0.1
# Owner of a process in which no code of others runs but what their import does.
OURS = ""

Methods = tuple[AdapterRecord | BaselineRecord, ...]


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


class RunTimeout(AnchorAlignError, TimeoutError):
    """A run took longer than the study allows."""


class Processes:
    """Other processes that have the same plug-ins. They start when they are needed and end with the block.

    Parameters
    ----------
    files : sequence of str
        Files with plug-ins.
    cache : Cache or None
    memory : dict of MultiViewData by name
        Data that have no source to read. A process gets them once.
    timeout : float or None
        Seconds that one run may take.
    objects : tuple of records
        Methods that the user gave as objects; a process that computes runs gets them once.
    """

    def __init__(
        self,
        files: Sequence[str],
        cache: Cache | None,
        memory: Mapping[str, MultiViewData],
        timeout: float | None,
        objects: Methods = (),
    ) -> None:
        self._setup = files, cache
        self._objects = objects
        self._memory = memory
        self._timeout = timeout
        self._inbox: queue.SimpleQueue[Reply] = queue.SimpleQueue()
        self._idle: list[WorkerProcess] = []
        # Processes that compute, and the time at which they are late.
        self._busy: dict[WorkerProcess, float | None] = {}
        self._all: list[WorkerProcess] = []
        # Whose code each process runs; None for loading and planning.
        self._owners: dict[WorkerProcess, str | None] = {}
        self._with_plugins: set[WorkerProcess] = set()
        self._with_data: set[WorkerProcess] = set()

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        for process in self._all:
            if kind is None and process in self._idle:
                process.close()
            else:
                process.kill()

    def load(self) -> None:
        """Load the plug-ins in another process, to see whether it survives.

        Raises
        ------
        PluginError
            If a file cannot be loaded, or if a plug-in ends its process.
        """
        latest: list[Plugin] = []
        try:
            self.call(_nothing, told=latest)
        except (WorkerDied, AdapterError) as error:
            if not latest:
                raise
            hint = f" {DISABLE_VARIABLE} disables it." if latest[-1].entry_point else ""
            raise PluginError(f"Plug-in failure: {latest[-1]}: it cannot be loaded: {error}{hint}") from None

    def plan(self, grid: Grid, data: Sequence[PlannedData]) -> list[Run]:
        """All runs, planned where the plug-ins run: adapters are made, and suggest numbers of anchors."""
        try:
            runs: list[Run] = self.call(_plan, grid, data)
        except (WorkerDied, RunTimeout) as error:
            names = ", ".join(grid.adapters)
            raise AdapterError(f"The study of {names} cannot be planned, because of a plug-in: {error}") from error
        return runs

    def call(self, task: Callable[..., Any], *arguments: object, told: list[Plugin] | None = None) -> Any:
        """Result of ``task(worker, tell, *arguments)`` in another process; ``told`` gets the plug-ins it loads.

        Raises
        ------
        AnchorAlignError
            If the task raises an error, the process dies, or it takes too long.
        """
        process = self._ready()
        self._send(process, task, arguments)
        while True:
            reply = self._next_reply()
            if reply.kind == ERROR:
                raise reply.value
            if reply.kind != VALUE:
                return reply.value
            if told is not None and isinstance(reply.value, Plugin):
                told.append(reply.value)

    def compute(
        self, runs: Sequence[Run], jobs: int, started: Callable[[Run], None], owner: Callable[[Run], str]
    ) -> Generator[tuple[Run, Done]]:
        """Compute the runs in up to ``jobs`` processes at a time; yields them as they finish.

        A process has runs of one ``owner`` only: code of others may change what it shares with ours, such as numpy. If
        a process dies, an earlier run may have done the harm: the run is tried again in a new process.
        """
        waiting = list(reversed(runs))
        assigned: dict[WorkerProcess, tuple[Run, list[Outcome]]] = {}
        used: set[WorkerProcess] = set()
        while waiting or assigned:
            while waiting and len(assigned) < jobs:
                run = waiting.pop()
                process = self._ready(owner(run))
                try:
                    self._send(process, _compute_run, (run,))
                except AnchorAlignError as error:  # the run cannot be sent to another process
                    yield run, Done([failure(error)] * len(run.arms))
                    continue
                assigned[process] = run, []
                started(run)
            if not assigned:
                continue
            reply = self._next_reply()
            run, outcomes = assigned[reply.sender]
            if reply.kind == VALUE:
                outcomes += [reply.value] if isinstance(reply.value, Outcome) else []
                continue
            del assigned[reply.sender]
            if isinstance(reply.value, WorkerDied) and reply.sender in used:
                while self._idle:
                    self._end(self._idle.pop())
                waiting.append(run)
            elif reply.kind == ERROR:
                failed = failure(reply.value, TIMEOUT if isinstance(reply.value, RunTimeout) else FAILED)
                yield run, Done([*outcomes, *[failed] * (len(run.arms) - len(outcomes))])
            else:
                used.add(reply.sender)
                yield run, Done(outcomes, reply.value)

    def _ready(self, owner: str | None = None) -> WorkerProcess:
        for process in [each for each in self._idle if each.has_ended]:
            self._idle.remove(process)
            self._end(process)
        for process in self._idle:
            used_by = self._owners[process]
            # Loading, planning and pictures run code of others, and may share a process with them; ours may not.
            if used_by == owner or (owner != OURS and used_by != OURS and None in (owner, used_by)):
                self._idle.remove(process)
                self._owners[process] = used_by if owner is None else owner
                return process
        self._all.append(WorkerProcess(self._inbox))
        self._owners[self._all[-1]] = owner
        return self._all[-1]

    def _end(self, process: WorkerProcess) -> str:
        self._all.remove(process)
        return process.kill()

    def _send(self, process: WorkerProcess, task: Callable[..., Any], arguments: Sequence[object]) -> None:
        setup = None if process in self._with_plugins else self._setup
        in_memory = None if process in self._with_data or task is _nothing else (self._memory, self._objects)
        try:
            process.send(_in_worker, (setup, in_memory, task, arguments))
        except AnchorAlignError:
            self._idle.append(process)
            raise
        self._busy[process] = None
        self._with_plugins.add(process)
        if in_memory is not None:
            self._with_data.add(process)

    def _next_reply(self) -> Reply:
        """The next message of a busy process. After an error or a result the process is not busy any more."""
        while True:
            for process, deadline in self._busy.items():
                if deadline is not None and time.monotonic() > deadline:
                    return self._lost(process, RunTimeout(f"Timeout: more than {self._timeout:g} seconds."))
            try:
                reply = self._inbox.get(timeout=TICK)
            except queue.Empty:
                ended = [process for process in self._busy if process.has_ended]
                if not ended:
                    continue
                reply = Reply(ended[0], GONE)
            if reply.sender not in self._busy:
                continue
            if reply.kind == GONE:
                return self._lost(reply.sender)
            if reply.kind != VALUE:
                del self._busy[reply.sender]
                self._idle.append(reply.sender)
            elif self._timeout is not None and not isinstance(reply.value, Plugin):
                self._busy[reply.sender] = time.monotonic() + self._timeout
            return reply

    def _lost(self, process: WorkerProcess, error: AnchorAlignError | None = None) -> Reply:
        del self._busy[process]
        how = self._end(process)
        died = WorkerDied(f"The process died ({how}): it ended itself, crashed, was killed, or ran out of memory.")
        return Reply(process, ERROR, error or died)


_worker: Worker


def _in_worker(
    tell: Tell,
    setup: tuple[Sequence[str], Cache | None] | None,
    in_memory: tuple[Mapping[str, MultiViewData], Methods] | None,
    task: Callable[..., Any],
    arguments: Sequence[object],
) -> Any:
    global _worker
    if setup is not None:
        files, cache = setup
        _worker = Worker(load_and_report(files, tell), cache, interruptible=False)
    if in_memory is not None:
        memory, objects = in_memory
        _worker.shelf = Shelf(memory)
        _worker.registry = with_methods(_worker.registry, objects)
    return task(_worker, tell, *arguments)


def _nothing(worker: Worker, tell: Tell) -> None:
    pass


def _plan(worker: Worker, tell: Tell, grid: Grid, data: Sequence[PlannedData]) -> list[Run]:
    tell(None)
    return list(planned_runs(grid, data, worker.registry))


def _compute_run(worker: Worker, tell: Tell, run: Run) -> bool:
    return worker.compute(run, tell).kept


def outcomes_of(
    runs: Sequence[Run], worker: Worker, jobs: int, processes: Processes | None, callback: Callback | None
) -> list[list[Outcome]]:
    """Outcomes of all arms of all runs: from the cache, or computed now, here or by ``processes``."""
    found = [[worker.kept(run, arm) for arm in run.arms] for run in runs]
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

    def owner(run: Run) -> str:
        arms = {arm.name for arm in run.arms}
        fusions = [record for record in worker.registry.fusions if record.name in arms]
        used = [worker.registry.method(run.settings[0].adapter), *fusions]
        return next((record.name for record in used if not record.is_ours), OURS)

    computed = compute_here() if processes is None else processes.compute(list(to_compute), jobs, report_start, owner)
    with closing(computed):
        for run, result in computed:
            number = to_compute[run]
            for at, outcome in zip(absent[number], result.outcomes, strict=True):
                found[number][at] = outcome
            done += len(result.outcomes)
            report(run.label, result)
    assert all(outcome is not None for each in found for outcome in each)
    return found  # type: ignore[return-value]  # mypy does not see the line above
