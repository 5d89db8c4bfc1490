"""Blocks of rows: order, threads, memory, files, and rows that are scaled on the way."""

from __future__ import annotations

import mmap
import os
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

from anchor_align import FileError
from anchor_align.blocks import (
    ScaledRows,
    _array_files,
    available_memory,
    block_rows,
    empty,
    map_rows,
    read_rows,
    run_rows,
    working,
    write_rows,
)
from anchor_align.blocks import _map_blocks as _mapping


def our_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("anchor-align")]


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n", [1, 7, 100])
def test_every_row_once_and_in_order(n: int, threads: int) -> None:
    """Results come in the order of the rows, though later blocks end first; the threads are gone afterwards."""

    def slow_first(rows: slice) -> list[int]:
        time.sleep(0.002 if rows.start == 0 else 0)
        return list(range(rows.start, rows.stop))

    with working(threads=threads):
        found = [row for part in map_rows(slow_first, n, width=2**18) for row in part]
    assert found == list(range(n))
    assert not our_threads()


def test_several_threads_work_at_once() -> None:
    """Two blocks that wait for each other both end."""
    meeting = threading.Barrier(2, timeout=120)
    with working(threads=2):
        run_rows(lambda _rows: meeting.wait(), 2, width=2**20)


def test_blocks_within_blocks_take_no_further_threads() -> None:
    """Work on blocks inside a block runs where it is, however few threads there are."""

    def inner(rows: slice) -> int:
        thread = threading.current_thread()
        same = map_rows(lambda _rows: threading.current_thread() is thread, 4, width=2**20)
        return [*same].count(True) + int(rows.start)

    with working(threads=2):
        assert list(map_rows(inner, 4, width=2**20)) == [4, 5, 6, 7]


def test_an_error_in_a_block_ends_the_work() -> None:
    """It comes out as it is, blocks that have not begun are dropped, and no thread is left."""
    begun: list[int] = []

    def fail(rows: slice) -> None:
        begun.append(rows.start)
        raise ValueError(f"row {rows.start}")

    with pytest.raises(ValueError, match="row 0"), working(threads=2):
        run_rows(fail, 100, width=2**20)
    assert len(begun) <= 4
    assert not our_threads()


def test_threads_without_a_with_statement_end_too() -> None:
    """Work that nobody set up has threads of its own for as long as it runs; BLAS gets its threads back."""
    before = [each["num_threads"] for each in threadpool_info()]
    parts = map_rows(lambda rows: rows.start, 10, width=2**20)
    next(parts)
    parts.close()  # type: ignore[attr-defined]
    assert not our_threads()
    assert [each["num_threads"] for each in threadpool_info()] == before


def blas_counts() -> list[int]:
    """Number of threads of every BLAS library."""
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_threads_follow_blas() -> None:
    """A limit on BLAS limits the blocks at work, too."""
    at_once: list[int] = []
    running = threading.Semaphore(0)

    def count(_rows: slice) -> None:
        running.release()
        at_once.append(len(our_threads()))

    with threadpool_limits(1), working():
        run_rows(count, 20, width=2**20)
    assert max(at_once) == 0


def test_overlapping_work_gives_blas_its_threads_back() -> None:
    """Two passes that run side by side, and several users in threads, leave BLAS as it was."""
    before = [each["num_threads"] for each in threadpool_info()]
    pairs = zip(*(map_rows(lambda rows: rows.start, 50, width=2**19) for _ in range(2)), strict=True)
    assert len(list(pairs)) == 25
    meeting = threading.Barrier(2, timeout=120)

    def user(number: int) -> None:
        with working(threads=2):
            meeting.wait()
            if number:
                run_rows(lambda _rows: None, 10, width=2**20)
            meeting.wait()

    users = [threading.Thread(target=user, args=(number,)) for number in range(2)]
    for each in users:
        each.start()
    for each in users:
        each.join()
    assert [each["num_threads"] for each in threadpool_info()] == before


@pytest.mark.parametrize("limited_first", [True, False])
@pytest.mark.parametrize("guest_ends_first", [True, False])
def test_other_limits_inside_a_fit_do_not_stay(limited_first: bool, guest_ends_first: bool) -> None:
    """An adapter with its own BLAS threads calls scikit-learn, which limits BLAS, while another fit ends or begins."""
    with threadpool_limits(2, user_api="blas"):
        before = blas_counts()
        fit, guest, foreign = (ExitStack() for _ in range(3))
        for stack, limited in sorted([(fit, True), (guest, False)], key=lambda each: each[1] != limited_first):
            stack.enter_context(working(threads=1, one_blas_thread=limited))
            if stack is guest:
                foreign.enter_context(threadpool_limits(1, user_api="blas"))
        for stack in (foreign, guest, fit) if guest_ends_first else (fit, foreign, guest):
            stack.close()
        assert blas_counts() == before


def test_one_block_has_one_blas_thread() -> None:
    """Rows that fit one block are rounded as in any other number of threads."""
    with threadpool_limits(2, user_api="blas"):
        assert set(next(map_rows(lambda _rows: blas_counts(), 10, width=2))) == {1}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_work_goes_on_in_a_forked_process() -> None:
    """Threads do not follow into it; new ones are made."""
    with working(threads=2):
        run_rows(lambda _rows: None, 10, width=2**20)
        child = os.fork()
        if child == 0:
            os._exit(0 if sum(map_rows(lambda rows: rows.start, 10, width=2**20)) == 45 else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_settings_reach_the_blocks(tmp_path: Path) -> None:
    """What a block allocates goes where the work says, in its thread too."""
    with working(threads=2, on_disk=True, folder=tmp_path):
        made = list(map_rows(lambda _rows: isinstance(empty((3, 2), np.float64), np.memmap), 4, width=2**20))
    assert made == [True] * 4


def test_block_size_follows_the_memory() -> None:
    """Less memory makes smaller blocks, down to a row; the sums stay the same."""
    X = np.random.default_rng(0).random((5000, 40))
    whole = block_rows(40)
    for memory in (2**30, 2**20, 1):
        with working(memory=memory):
            assert block_rows(40) <= max(1, memory // (8 * 40 * _mapping.COPIES))
            assert block_rows(40) <= whole
            total = sum(map_rows(lambda rows: X[rows].sum(axis=0), len(X), width=40))
        np.testing.assert_allclose(total, X.sum(axis=0), rtol=1e-12)


def test_arrays_on_disk_have_no_name(tmp_path: Path) -> None:
    """What is written is read back; the folder looks empty all the time, and pages are given back."""
    with working(on_disk=True, folder=tmp_path):
        Z = empty((3000, 8), np.float32)
        run_rows(lambda rows: write_rows(Z, rows, np.full((rows.stop - rows.start, 8), rows.start)), 3000, width=2**12)
    assert isinstance(Z, np.memmap)
    assert list(tmp_path.iterdir()) == []
    assert (Z[::256] == np.arange(0, 3000, 256)[:, None]).all()
    assert read_rows(Z, slice(256, 258)).tolist() == [[256.0] * 8] * 2


def test_no_room_on_disk(tmp_path: Path) -> None:
    """Too large an array is refused in a sentence, and so is a folder that is not there."""
    message = r"The graphs need 1\.13e\+03 TB on disk; .* free\. Name another folder"
    with working(on_disk=True, folder=tmp_path), pytest.raises(FileError, match=message):
        empty((2**47, 1), np.float64)
    with working(on_disk=True, folder=tmp_path / "absent"), pytest.raises(FileError, match="Cannot keep graphs in"):
        empty((10, 2), np.float64)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("order", ["C", "F"])
def test_pages_of_a_file_are_given_back(tmp_path: Path, order: str) -> None:
    """Reading a large file row by row leaves next to nothing of it in memory."""
    path = tmp_path / "view.npy"
    X = np.lib.format.open_memmap(path, "w+", np.float32, (2**18, 64), fortran_order=order == "F")
    X[:] = 1.0
    X.flush()
    del X
    Y = np.load(path, mmap_mode="r")
    before = mapped_bytes(path)
    assert sum(map_rows(lambda rows: float(read_rows(Y, rows).sum()), len(Y), width=2**8)) == Y.size
    assert mapped_bytes(path) - before < Y.nbytes / 4


@pytest.mark.parametrize("sparse", [False, True])
def test_scattered_rows_of_a_file_take_little_memory(
    tmp_path: Path, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any order, and some twice: the rows that are read at once are close to each other in the file."""
    n, width = 2**17, 64
    values = np.lib.format.open_memmap(tmp_path / "view.npy", "w+", np.float32, (n * width,))
    values[:] = np.repeat(np.arange(n), width)
    values.flush()
    del values
    entries = np.load(tmp_path / "view.npy", mmap_mode="r")
    columns, edges = np.tile(np.arange(width), n), width * np.arange(n + 1)
    X: Any = sp.csr_array((entries, columns, edges), (n, width)) if sparse else entries.reshape(n, width)
    resident, give_back = [], _array_files._give_back

    def watched(*words: Any) -> None:
        resident.append(mapped_bytes(tmp_path / "view.npy"))
        give_back(*words)

    monkeypatch.setattr(_array_files, "_give_back", watched)
    which = np.random.default_rng(0).integers(n, size=3000)
    rows = read_rows(X, which)
    assert ((rows.toarray() if sparse else rows) == which[:, None]).all()
    assert max(resident) < entries.nbytes / 4
    assert read_rows(X, which[:0]).shape == (0, width)


def mapped_bytes(path: Path) -> int:
    """Resident bytes of a file's mapping."""
    smaps = Path("/proc/self/smaps")
    if not smaps.exists():
        pytest.skip("the system does not tell what is resident")
    inside, total = False, 0
    for line in smaps.read_text().splitlines():
        if "-" in line.split(" ")[0] and ":" not in line.split(" ")[0]:
            inside = str(path) in line
        elif inside and line.startswith("Rss:"):
            total += 1024 * int(line.split()[1])
    return total


def test_private_changes_of_a_mapped_file_are_kept(tmp_path: Path) -> None:
    """Pages that hold changes of the user's own are never given back: the changes would be lost."""
    np.save(tmp_path / "view.npy", np.zeros((4096, 16)))
    X = np.load(tmp_path / "view.npy", mmap_mode="c")
    X[:] = 2.0
    assert read_rows(X, slice(0, 4096)).sum() == 2 * X.size
    assert (X == 2.0).all()
    with (tmp_path / "view.npy").open("r+b") as file:
        raw = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    bare = np.frombuffer(raw, np.float64, offset=128)
    bare[:] = 3.0
    assert read_rows(bare.reshape(-1, 16), slice(None)).min() == 3.0
    assert (bare == 3.0).all()


def test_available_memory_is_known_here() -> None:
    """On Linux: some of the memory that the machine has. Elsewhere it may not be known."""
    amount = available_memory()
    assert (amount is None) == (not Path("/proc/meminfo").exists())
    if amount is not None:
        assert 2**20 < amount < os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_unit_rows_are_the_same_in_every_pass(dtype: Any) -> None:
    """Lengths of rows are computed once: later blocks, of other sizes and orders, have exactly the same rows."""
    X = np.random.default_rng(0).integers(0, 200, size=(70_000, 31)).astype(dtype)
    X[5] = 0
    before = X.copy()
    source = ScaledRows(X, unit=True)
    first = source.block(slice(0, 100))
    np.testing.assert_allclose((first.astype(np.float64) ** 2).mean(axis=1), np.arange(100) != 5, rtol=1e-5)
    assert not first[5].any()
    source.stats()
    for which in (slice(0, 100), slice(50, 60_000), np.array([3, 5, 99, 3])):
        expected = ScaledRows(X, unit=True).block(which)
        np.testing.assert_array_equal(source.block(which), expected)
    np.testing.assert_array_equal(X, before)
