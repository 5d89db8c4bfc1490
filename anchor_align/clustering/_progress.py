"""Progress of a fit or a prediction: which step runs, how far it is, and about how long the rest takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..checks import check_callback, check_flag

# Work of the steps of a fit after the anchors, in passes of k-means over all rows: "local", 200,000 samples, two views.
STEPS = {"graphs": 35.0, "match": 15.0, "fuse": 4.0, "embed": 6.0, "cluster": 40.0}
# Passes over the rows that a step needed there. K-means does not know it: it runs until nothing changes.
PASSES = {"anchors": 700, "graphs": 3, "cluster": 60}
LEAST_SECONDS = 0.1  # between two calls of the callback within a step
LINE_SECONDS = 5.0  # between two lines of ``verbose`` within a step
SURPRISE = 0.25  # part of the passes so far that are expected to follow, if there are more than usual
EARLY = 0.02  # below this part of the work, nothing is said about the time that remains


@dataclass(frozen=True)
class FitProgress:
    """Progress of a fit or a prediction, the argument of the callback of :class:`AlignedClusterer`.

    Attributes
    ----------
    step : {"anchors", "graphs", "match", "fuse", "embed", "cluster", "predict", "done"}
        What runs: learning anchors, making graphs, matching anchors, fusing, the spectral embedding, clustering; for
        new samples "predict". "done" comes once, at the end.
    n_passes : int
        Passes over the samples that this step has begun.
    rows : int
        Rows, or blocks of rows, that the current pass has done.
    n_rows : int
        Rows, or blocks, of the current pass; 0 before the first one.
    fraction : float
        About which part of all work is done, from 0 to 1. It never falls.
    seconds : float
        Time since the beginning.
    remaining : float or None
        About how many seconds the rest takes; None at the beginning. K-means ends when nothing changes, so nobody
        knows the exact time.
    """

    step: str
    n_passes: int
    rows: int
    n_rows: int
    fraction: float
    seconds: float
    remaining: float | None


Callback = Callable[[FitProgress], object]


class Reporter:
    """Follows the steps of one fit and calls the callback.

    ``steps`` has the work of every step but "anchors", which is in passes over the ``n_rows`` of the views: passes over
    a sample of them are less work.
    """

    def __init__(self, callback: Callback | None, n_rows: int, steps: dict[str, float]) -> None:
        self._callback = callback
        self._all_rows = max(n_rows, 1)
        self._steps = steps
        self._step = ""
        self._before = 0.0  # work of earlier steps, and of earlier passes of the anchors
        self._fraction = 0.0
        self._passes = self._rows = self._n_rows = 0
        self._started = self._last = time.perf_counter()

    @property
    def rows_done(self) -> Callable[[int, int], None] | None:
        """What :func:`~anchor_align.blocks.working` calls after every block; None if nobody listens."""
        return None if self._callback is None else self._count

    def begin(self, step: str) -> None:
        """The next step begins."""
        self._before += self._steps.get(self._step, self._rows / self._all_rows)
        self._step, self._passes, self._rows, self._n_rows = step, 0, 0, 0
        self._call()

    def pause(self) -> None:
        """Rows that follow, which are put in another order, are not counted."""
        self._step = ""

    def end(self) -> None:
        """All steps are done."""
        self._step, self._fraction = "done", 1.0
        self._call()

    def _count(self, rows: int, n_rows: int) -> None:
        if not self._step:
            return
        if rows <= self._rows or n_rows != self._n_rows:
            self._passes += 1
            if self._step == "anchors":
                self._before += self._rows / self._all_rows
        self._rows, self._n_rows = rows, n_rows
        if time.perf_counter() - self._last >= LEAST_SECONDS:
            self._call()

    def _work(self) -> tuple[float, float]:
        """Work that is done, and work that is left; a step may need more passes than usual."""
        usual, names = PASSES.get(self._step, 1), list(self._steps)
        later = names[names.index(self._step) + 1 :] if self._step in names else names
        left = sum(self._steps[name] for name in later)
        if self._step == "anchors":
            size = (self._n_rows or self._all_rows) / self._all_rows
            more = max(usual - self._passes, SURPRISE * self._passes)
            return self._before + self._rows / self._all_rows, left + size * more
        passes = (self._passes - 1 + self._rows / self._n_rows if self._n_rows else 0.0) / usual
        own = self._steps.get(self._step, 0.0)
        return self._before + own * passes, left + own * max(1.0 - passes, SURPRISE * passes if usual > 1 else 0.0)

    def _call(self) -> None:
        if self._callback is None:
            return
        self._last = time.perf_counter()
        seconds, remaining = self._last - self._started, None
        if self._step == "done":
            remaining = 0.0
        else:
            done, left = self._work()
            part = done / (done + left) if done + left else 0.0
            self._fraction = max(self._fraction, part)
            remaining = seconds * left / done if part >= EARLY else None
        step = self._step, self._passes, self._rows, self._n_rows
        self._callback(FitProgress(*step, self._fraction, seconds, remaining))


class Lines:
    """Callback of ``verbose``: a line on stderr when a step begins, and every few seconds within a step.

    stderr, as warnings: what a program prints as its result stays clean.
    """

    def __init__(self) -> None:
        self._step = ""
        self._last = -LINE_SECONDS

    def __call__(self, progress: FitProgress) -> None:
        if progress.step == self._step and progress.seconds - self._last < LINE_SECONDS:
            return
        self._step, self._last = progress.step, progress.seconds
        sys.stderr.write(f"anchor-align: {progress_text(progress)}\n")


def progress_text(progress: FitProgress) -> str:
    """One line about the progress.

    Examples
    --------
    >>> progress_text(FitProgress("graphs", 1, 500_000, 1_000_000, 0.48, 12.0, 13.0))
    'graphs: 48 % done after 12 s, about 13 s remain'
    """
    if progress.step == "done":
        return f"done after {time_text(progress.seconds)}"
    rest = "" if progress.remaining is None else f", about {time_text(progress.remaining)} remain"
    return f"{progress.step}: {100 * progress.fraction:.0f} % done after {time_text(progress.seconds)}{rest}"


def time_text(seconds: float) -> str:
    """A time in a unit that people would choose.

    Examples
    --------
    >>> time_text(8.2), time_text(250), time_text(9000)
    ('8 s', '4 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def check_progress(verbose: object, callback: object) -> Callback | None:
    """The callback for both parameters of the estimator; None if nobody listens."""
    lines = Lines() if check_flag("verbose", bool(verbose) if isinstance(verbose, int) else verbose) else None
    check_callback(callback)
    given: Callback | None = callback  # type: ignore[assignment]  # just checked
    if lines is None or given is None:
        return lines or given

    def both(progress: FitProgress) -> None:
        lines(progress)
        given(progress)

    return both


@contextmanager
def reporting(callback: Callback | None, n_rows: int, steps: dict[str, float] = STEPS) -> Iterator[Reporter]:
    """A reporter; at the end without an error it says that all is done."""
    reporter = Reporter(callback, n_rows, steps)
    yield reporter
    reporter.end()
