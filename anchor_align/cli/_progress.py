"""Progress of a study on stderr: what runs, how much is done, how long it took and will take."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from ..study import StudyProgress


@contextmanager
def doing(what: str, *, quiet: bool) -> Iterator[None]:
    """Say on a terminal what takes a while."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


class Bar:
    """Shows progress on a terminal and is silent elsewhere; tracebacks of failed runs are shown on request."""

    def __init__(self, *, quiet: bool, tracebacks: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._visible = console.is_terminal and not quiet
        self._tracebacks = tracebacks
        self.not_kept = False
        self._shown: set[str] = set()
        self._task: TaskID | None = None
        self._bar: Progress = Progress(
            TextColumn("{task.completed:.0f} of {task.total:.0f} runs"),
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            TextColumn("remaining"),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            redirect_stdout=False,
        )

    def __enter__(self) -> Bar:
        if self._visible:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._visible:
            self._bar.stop()

    def __call__(self, progress: StudyProgress) -> None:
        """Take in what the study tells."""
        self.not_kept = self.not_kept or progress.not_kept
        if self._task is None:
            # What was kept from before counts as done, but not for the speed.
            self._task = self._bar.add_task("", total=progress.total, completed=progress.done)
        self._bar.update(self._task, completed=progress.done, description=progress.label)
        for _, trace in progress.failures if self._tracebacks else ():
            if trace not in self._shown:
                self._shown.add(trace)
                print(trace, file=sys.stderr, end="")
