"""What the commands print: results on stdout; progress, notes and errors on stderr."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID
    from rich.text import Text

    from ..clustering import FitProgress
    from ..study import StudyProgress


def say(text: str) -> None:
    """One line on stderr; several, if the text has line breaks."""
    print(f"anchor-align: {visible_lines(text)}", file=sys.stderr)


def visible_lines(text: str) -> str:
    """Text for the terminal: all control characters but line breaks are written out."""
    return "\n".join(map(visible, text.split("\n")))


def visible_line(value: object) -> str:
    """Text of any object on one line, not too long, with control characters written out."""
    from ..plugins import one_line

    return one_line(value, lambda each: visible(" ".join(str(each).split())))


def result_console() -> Console:
    """Console for results: as wide as COLUMNS or the terminal, else 80 columns."""
    from rich.console import Console

    return Console(highlight=False)


def plain(value: object, console: Console, style: str = "") -> Text:
    """Text without markup, as users and plug-ins wrote it. Characters that the terminal does not know become "?"."""
    from rich.text import Text

    return Text(visible_line(value).encode(console.encoding, "replace").decode(console.encoding), style=style)


def print_table(
    console: Console,
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numbers: Container[str] = (),
    widest: int | None = None,
) -> None:
    """Print a table without lines.

    Columns in ``numbers`` are aligned on the right and not wrapped. All columns but the last have at most ``widest``
    characters. If no column has a heading, there is no line of headings.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_header=any(headings))
    for place, heading in enumerate(headings, start=1):
        right = heading in numbers
        width = widest if place < len(headings) else None
        table.add_column(heading, justify="right" if right else "left", no_wrap=right, overflow="fold", max_width=width)
    for row in rows:
        table.add_row(*(each if isinstance(each, Text) else plain(each, console) for each in row))
    console.print(table)


def print_json(value: object) -> None:
    import json

    print(json.dumps(value, indent=2))


def print_text(text: str) -> None:
    """Text for other programs: UTF-8 if the encoding of stdout does not have all characters."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    else:
        sys.stdout.write(text)


@contextmanager
def status(text: str, *, quiet: bool) -> Iterator[None]:
    """Show on a terminal what the program does, as long as it does it."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
        return
    with console.status(text):
        yield


class FitBar:
    """Progress of one fit or prediction: a bar on a terminal; elsewhere, if it takes longer, a line now and then."""

    QUIET_SECONDS = LINE_SECONDS = 10.0

    def __init__(self, *, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        self._quiet, self._on_terminal = quiet, console.is_terminal and not quiet
        self._last = 0.0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            TextColumn("{task.fields[rest]}"),
            console=console,
            transient=True,
            redirect_stdout=False,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> FitBar:
        if self._on_terminal:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._on_terminal:
            self._bar.stop()

    def __call__(self, progress: FitProgress) -> None:
        """The callback of the clusterer."""
        from ..clustering import progress_text, time_text

        if self._quiet:
            return
        if self._on_terminal:
            rest = "" if progress.remaining is None else f"about {time_text(progress.remaining)} remain"
            if self._task is None:
                self._task = self._bar.add_task(progress.step, total=1.0, rest=rest)
            self._bar.update(self._task, completed=progress.fraction, description=progress.step, rest=rest)
        elif progress.seconds >= max(self._last + self.LINE_SECONDS, self.QUIET_SECONDS):
            self._last = progress.seconds
            say(progress_text(progress))


class ProgressBar:
    """Progress of a study, on a terminal only; with ``tracebacks`` also the tracebacks of failed runs."""

    def __init__(self, *, quiet: bool, tracebacks: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._visible = console.is_terminal and not quiet
        self._tracebacks = tracebacks
        self.not_kept = False
        self._shown: set[str] = set()
        self._task: TaskID | None = None
        self._bar = Progress(
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

    def __enter__(self) -> ProgressBar:
        if self._visible:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._visible:
            self._bar.stop()

    def __call__(self, progress: StudyProgress) -> None:
        """The study's callback."""
        self.not_kept = self.not_kept or progress.not_kept
        if self._task is None:
            # Runs from the cache count as done, but not for the speed.
            self._task = self._bar.add_task("", total=progress.total, completed=progress.done)
        self._bar.update(self._task, completed=progress.done, description=visible(progress.label))
        for _, trace in progress.failures if self._tracebacks else ():
            if trace not in self._shown:
                self._shown.add(trace)
                print(visible_lines(trace), file=sys.stderr, end="")
