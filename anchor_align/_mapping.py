"""Calling a function for blocks of rows, on several threads, and what these threads may use."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from ._memo import Memo
from ._scratch import GrowingArrays, empty_on_disk

T = TypeVar("T")

# Numbers that a block holds: 8 MB as float64. Larger blocks are no faster, smaller ones lose time between calls.
BLOCK_NUMBERS = 2**20
MOST_ROWS = 2**16
# Bytes that all blocks at work, and what k-means keeps for every row, may take if nobody says otherwise.
DEFAULT_MEMORY = 2**28
# Work arrays come and go; about this many times a block's numbers are there at any time.
COPIES = 3


class Work:
    """Resources of the work on blocks, and its threads."""

    def __init__(
        self,
        memory: int | None = None,
        *,
        on_disk: bool = False,
        folder: Path | None = None,
        threads: int | None = None,
        memo: Memo | None = None,
    ) -> None:
        self.memory = DEFAULT_MEMORY if memory is None else memory
        self.on_disk = on_disk
        self.folder = folder
        self.threads = blas_threads() if threads is None else threads
        self.memo = memo
        self._pool: ThreadPoolExecutor | None = None
        self._process = os.getpid()

    def pool(self) -> ThreadPoolExecutor:
        """Threads that live until the work ends."""
        if self._pool is None or self._process != os.getpid():  # threads do not follow into a forked process
            self._process = os.getpid()
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="anchor-align")
        return self._pool

    def close(self) -> None:
        """End the threads: blocks that they have begun are finished, no others are."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = None


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
) -> Iterator[None]:
    """Set the resources of all work on blocks within a ``with`` statement.

    Parameters
    ----------
    memory : int, optional
        Bytes for the work arrays of blocks, 256 MB by default. With less, blocks are smaller or fewer are worked on at
        once; one block of one row is always worked on.
    on_disk : bool, default=False
        Whether :func:`empty` makes arrays in files.
    folder : Path, optional
        Where these files are; by default where temporary files are.
    threads : int, optional
        By default as many as BLAS has, so that ``OMP_NUM_THREADS`` and ``threadpool_limits`` count here too.
    one_blas_thread : bool, default=True
        Keep BLAS itself on one thread, so that its sums are rounded alike for any number of threads.
    memo : Memo, optional
        Keeps what :func:`remember` is given, from one work to the next on the same views.

    Examples
    --------
    >>> from anchor_align import blocks
    >>> with blocks.working(threads=2):
    ...     sum(blocks.map_rows(lambda rows: rows.stop - rows.start, 1000, width=10_000))
    1000
    """
    work = Work(memory, on_disk=on_disk, folder=folder, threads=threads, memo=memo)
    token = _current.set(work)
    try:
        with ExitStack() as stack:
            if one_blas_thread:
                stack.enter_context(_blas_limit)
            yield
    finally:
        _current.reset(token)
        work.close()


def block_rows(width: int) -> int:
    """Rows of a block whose work takes ``width`` numbers for each row.

    Examples
    --------
    >>> from anchor_align.blocks import block_rows
    >>> block_rows(1024)
    1024
    """
    numbers = min(BLOCK_NUMBERS, work_memory() // (8 * COPIES))
    return max(1, min(numbers // max(width, 1), MOST_ROWS))


def work_memory() -> int:
    """Bytes that work arrays may take."""
    work = _current.get()
    return DEFAULT_MEMORY if work is None else work.memory


def map_rows(function: Callable[[slice], T], n_rows: int, *, width: int) -> Iterator[T]:
    """Call a function for one block of rows after the other, on several threads; results come in order.

    Parameters
    ----------
    function : callable
        Called as ``function(rows)`` with a slice; must not change anything but its own rows.
    n_rows : int
    width : int
        Numbers that the function holds for every row, which sets the size of the blocks.

    Examples
    --------
    >>> from anchor_align import blocks
    >>> list(blocks.map_rows(lambda rows: (rows.start, rows.stop), 5, width=2**19))
    [(0, 2), (2, 4), (4, 5)]
    """
    step = block_rows(width)
    slices = [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
    # A block that itself works on blocks has its thread already.
    if len(slices) == 1 or getattr(_thread, "at_work", False):
        yield from map(function, slices)
        return
    work = _current.get()
    with ExitStack() as stack:
        if work is None:
            work = Work()
            stack.callback(work.close)
        at_once = max(1, min(work.threads, work.memory // (8 * COPIES * step * max(width, 1))))
        stack.enter_context(_blas_limit)
        if at_once == 1:
            yield from map(function, slices)
        else:
            yield from _in_order(work.pool(), function, slices, at_once)


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
    """:func:`map_rows` for functions that write their rows somewhere and return nothing."""
    deque(map_rows(function, n_rows, width=width), maxlen=0)


def empty(shape: tuple[int, int], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Array for a large result: in memory or, if :func:`working` says so, in a file that has no name.

    The file is gone with the array, however the process ends.
    """
    work = _current.get()
    if work is None or not work.on_disk:
        return np.empty(shape, dtype)
    return empty_on_disk(shape, np.dtype(dtype), work.folder)


def growing(n_arrays: int) -> GrowingArrays:
    """Flat arrays that grow by pieces, where :func:`empty` would put an array."""
    work = _current.get()
    if work is None:
        return GrowingArrays(n_arrays, on_disk=False, folder=None)
    return GrowingArrays(n_arrays, on_disk=work.on_disk, folder=work.folder)


def remember(key: Hashable, make: Callable[[], T]) -> T:
    """What ``make`` returns; made once where a study works on the same views several times.

    For small results that depend on the views and the key alone: the first anchors of a method, whatever its other
    settings are. Warnings are given every time.

    Parameters
    ----------
    key : hashable
        All that the result depends on besides the views: seed, settings, the name of the method.
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
    """Threads that BLAS may use now."""
    return min((library["num_threads"] for library in _controller().info() if library["user_api"] == "blas"), default=1)


class _BlasLimit:
    """Keeps BLAS on one thread while anybody needs it: uses may overlap in any order, in several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._stack = ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                self._stack.enter_context(_controller().limit(limits=1, user_api="blas"))
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._stack.close()


_blas_limit = _BlasLimit()


@cache
def _controller() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  # brings a BLAS of its own, which must be there to be found

    return ThreadpoolController()
