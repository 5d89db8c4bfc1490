"""Functions over blocks of rows on several threads, the resources of these threads, and results that runs share."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from ._array_files import GrowingArrays, empty_on_disk

T = TypeVar("T")

# Numbers in a block: 8 MB as float64. Larger blocks are not faster; smaller ones lose time between calls.
BLOCK_NUMBERS = 2**20
MOST_ROWS = 2**16
DEFAULT_MEMORY = 2**28  # bytes for all blocks at work, and for what k-means keeps of every row
COPIES = 3  # work arrays in memory at any time, in units of a block


@dataclass(eq=False)
class Work:
    """Resources and threads for blocks."""

    threads: int
    memory: int = DEFAULT_MEMORY
    on_disk: bool = False
    folder: Path | None = None
    memo: Memo | None = None
    progress: Callable[[int, int], object] | None = None
    _reports: bool = False  # whether a pass reports; passes within it do not
    _pool: ThreadPoolExecutor | None = None
    _process: int = field(default_factory=os.getpid)

    def pool(self) -> ThreadPoolExecutor:
        if self._pool is None or self._process != os.getpid():  # threads do not follow into a forked process
            self._process = os.getpid()
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="anchor-align")
        return self._pool

    def close(self) -> None:
        """End the threads. Blocks that have started are finished; no other block starts."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = None

    def reported(self, results: Iterator[T], slices: list[slice], n_rows: int) -> Iterator[T]:
        """The results of a pass; the number of rows that are done is reported before each next one."""
        if self.progress is None or self._reports:
            yield from results
            return
        self._reports = True
        try:
            for rows, result in zip(slices, results, strict=True):
                self.progress(rows.stop, n_rows)
                yield result
        finally:
            self._reports = False


_current: ContextVar[Work | None] = ContextVar("anchor_align_work", default=None)
_thread = threading.local()


@contextmanager
def working(
    *,
    memory: int | None = None,
    on_disk: bool = False,
    folder: Path | None = None,
    threads: int | None = None,
    one_blas_thread: bool = True,
    memo: Memo | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Iterator[None]:
    """Set the resources of all computations on blocks within a ``with`` statement.

    Parameters
    ----------
    memory : int, optional
        Bytes for the work arrays of blocks, 256 MB by default. With less memory, blocks are smaller or fewer run at
        once. One block of one row always runs.
    on_disk : bool, default=False
        Whether :func:`empty` makes arrays in files.
    folder : Path, optional
        Folder of these files; by default the folder of temporary files.
    threads : int, optional
        By default the number of BLAS threads, so that ``OMP_NUM_THREADS`` and ``threadpool_limits`` apply here too.
    one_blas_thread : bool, default=True
        Keep BLAS on one thread: its sums are then rounded in the same way for any number of threads.
    memo : Memo, optional
        Keeps the results of :func:`remember` for later computations on the same views.
    progress : callable, optional
        Called in this thread with the number of rows that are done and the number of all, after every block of a pass.
        Passes within a pass do not report.

    Examples
    --------
    >>> from anchor_align import blocks
    >>> with blocks.working(threads=2):
    ...     sum(blocks.map_rows(lambda rows: rows.stop - rows.start, 1000, width=10_000))
    1000
    """
    threads = blas_threads() if threads is None else threads
    work = Work(threads, DEFAULT_MEMORY if memory is None else memory, on_disk, folder, memo, progress)
    token = _current.set(work)
    try:
        with blas_limit.using(limited=one_blas_thread):
            yield
    finally:
        _current.reset(token)
        work.close()


def block_rows(width: int) -> int:
    """Number of rows in a block that needs ``width`` numbers for each row.

    Examples
    --------
    >>> from anchor_align.blocks import block_rows
    >>> block_rows(1024)
    1024
    """
    numbers = min(BLOCK_NUMBERS, work_memory() // (8 * COPIES))
    return max(1, min(numbers // max(width, 1), MOST_ROWS))


def work_memory() -> int:
    work = _current.get()
    return DEFAULT_MEMORY if work is None else work.memory


def map_rows(function: Callable[[slice], T], n_rows: int, *, width: int) -> Iterator[T]:
    """Call a function for every block of rows, on several threads. Results come in order.

    Parameters
    ----------
    function : callable
        Called as ``function(rows)`` with a slice. It must change only its own rows.
    n_rows : int
    width : int
        Numbers that the function needs for each row. It sets the size of the blocks.

    Examples
    --------
    >>> from anchor_align import blocks
    >>> list(blocks.map_rows(lambda rows: (rows.start, rows.stop), 5, width=2**19))
    [(0, 2), (2, 4), (4, 5)]
    """
    step = block_rows(width)
    slices = [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
    # A block may work on blocks itself; it already has its thread.
    if getattr(_thread, "at_work", False):
        yield from map(function, slices)
        return
    work = current = _current.get()
    with ExitStack() as stack:
        if len(slices) == 1:
            work = Work(1)
        elif work is None:
            work = Work(blas_threads())
            stack.callback(work.close)
        at_once = max(1, min(work.threads, work.memory // (8 * COPIES * step * max(width, 1))))
        stack.enter_context(blas_limit.using())
        results = map(function, slices) if at_once == 1 else _in_order(work.pool(), function, slices, at_once)
        yield from results if current is None else current.reported(results, slices, n_rows)


def _in_order(
    pool: ThreadPoolExecutor, function: Callable[[slice], T], slices: list[slice], at_once: int
) -> Iterator[T]:
    waiting: deque[Future[T]] = deque()
    try:
        for rows in slices:
            if len(waiting) == at_once:
                yield waiting.popleft().result()
            waiting.append(pool.submit(copy_context().run, _call, function, rows))
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _call(function: Callable[[slice], T], rows: slice) -> T:
    _thread.at_work = True
    return function(rows)


def run_rows(function: Callable[[slice], object], n_rows: int, *, width: int) -> None:
    """:func:`map_rows` for functions that write their rows and return nothing."""
    deque(map_rows(function, n_rows, width=width), maxlen=0)


def empty(shape: tuple[int, ...], dtype: npt.DTypeLike, *, on_disk: bool = False) -> npt.NDArray[Any]:
    """Array for a large result: in memory or, if :func:`working` says so, in an unnamed file that ends with it.

    ``on_disk`` puts it in a file in any case.
    """
    work = _current.get()
    if on_disk or (work is not None and work.on_disk):
        return empty_on_disk(shape, np.dtype(dtype), None if work is None else work.folder)
    return np.empty(shape, dtype)


def growing(n_arrays: int) -> GrowingArrays:
    """Flat arrays that grow by pieces, stored where :func:`empty` stores arrays."""
    work = _current.get() or Work(1)
    return GrowingArrays(n_arrays, on_disk=work.on_disk, folder=work.folder)


def remember(key: Hashable, make: Callable[[], T]) -> T:
    """The result of ``make``, computed once if a study uses the same views several times.

    For small results that depend on the views and the key only, for example the first anchors of a method. Warnings
    are repeated every time.

    Parameters
    ----------
    key : hashable
        All inputs of the result besides the views: seed, settings, the name of the method.
    make : callable

    Examples
    --------
    >>> from anchor_align.blocks import remember
    >>> remember(("anchors", 0), lambda: 42)
    42
    """
    work = _current.get()
    return make() if work is None or work.memo is None else work.memo.get(key, make)


def blas_threads() -> int:
    return min((library["num_threads"] for library in _controller().info() if library["user_api"] == "blas"), default=1)


class ThreadLimit:
    """Keeps libraries of one kind on one thread. Uses may overlap in any order, in several threads of Python.

    The numbers of threads are read when the first use begins and set again when the last one ends. Other code, such as
    scikit-learn's k-means, also limits these libraries and later sets the number that it found, which may be the one of
    this limit. A use that is not ``limited`` therefore counts too, although it leaves the libraries as they are.
    """

    def __init__(self, user_api: str) -> None:
        self._user_api = user_api
        self._lock = threading.Lock()
        self._uses = self._limited = 0
        self._before: list[tuple[Any, int]] = []

    @contextmanager
    def using(self, *, limited: bool = True) -> Iterator[None]:
        with self._lock:
            if self._uses == 0:
                libraries = _controller().select(user_api=self._user_api).lib_controllers
                self._before = [(library, library.get_num_threads()) for library in libraries]
            self._uses += 1
            if limited:
                self._limited += 1
                for library, _ in self._before:
                    library.set_num_threads(1)
        try:
            yield
        finally:
            with self._lock:
                self._uses -= 1
                self._limited -= limited
                if self._uses == 0 or (limited and self._limited == 0):
                    for library, number in self._before:
                        library.set_num_threads(number)


blas_limit = ThreadLimit("blas")
openmp_limit = ThreadLimit("openmp")


@cache
def _controller() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  # its own BLAS must be loaded to be found

    return ThreadpoolController()


MOST_SHARED = 64  # results that runs share, at most; the oldest is dropped first


@dataclass(frozen=True, eq=False)
class _Made:
    value: Any
    warned: tuple[warnings.WarningMessage, ...]
    seconds: float


class Memo:
    """Results computed from the same views, by key. Other views empty it."""

    def __init__(self) -> None:
        self._views: Hashable = None
        self._made: dict[Hashable, _Made] = {}
        self._seconds = 0.0

    def use(self, views: Hashable) -> None:
        """Set the views that results are now computed from."""
        if views != self._views:
            self._made.clear()
        self._views = views
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        """Time saved since :meth:`use`: a run on its own would take this much longer."""
        return self._seconds

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of ``make``, computed once. Its warnings are repeated every time."""
        made = self._made.get(key)
        if made is None:
            started = time.perf_counter()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                value = make()
            if isinstance(value, np.ndarray):  # a change would affect all users
                value.flags.writeable = False
            made = self._made[key] = _Made(value, tuple(caught), time.perf_counter() - started)
            if len(self._made) > MOST_SHARED:
                del self._made[next(iter(self._made))]
        else:
            self._seconds += made.seconds
        for each in made.warned:
            warnings.warn(each.message, each.category, stacklevel=2)
        value = made.value
        return value
