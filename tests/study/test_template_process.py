"""Worker processes are forks of a template, and look like new processes of this program all the same."""

from __future__ import annotations

import os
import queue
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchor_align.study import _worker_process
from anchor_align.study._template_process import CAN_FORK, ready_template
from anchor_align.study._worker_loop import END
from anchor_align.study._worker_process import Reply, Tell, WorkerProcess

pytestmark = [
    pytest.mark.slow,  # the template imports everything once
    pytest.mark.skipif(not CAN_FORK, reason="a template process needs Linux"),
]


def parent_of_worker(tell: Tell) -> int:
    return os.getppid()


def setting_of_worker(tell: Tell) -> tuple[str, str | None, list[str], float]:
    return os.getcwd(), os.environ.get("ANCHOR_ALIGN_TEST"), sys.path, np.random.random()  # noqa: NPY002


def end_of_worker(tell: Tell, code: int) -> None:
    os._exit(code)


@pytest.fixture
def inbox() -> queue.SimpleQueue[Reply]:
    return queue.SimpleQueue()


@pytest.fixture
def start(inbox: queue.SimpleQueue[Reply]) -> Iterator[Callable[[], WorkerProcess]]:
    started: list[WorkerProcess] = []

    def new() -> WorkerProcess:
        started.append(WorkerProcess(inbox))
        return started[-1]

    yield new
    for process in started:
        process.kill()


def result(process: WorkerProcess, inbox: queue.SimpleQueue[Reply], task: Callable[..., object], *words: object) -> Any:
    process.send(task, words)
    reply = inbox.get(timeout=60)
    assert (reply.sender, reply.kind) == (process, END)
    return reply.value


def test_workers_share_one_template(start: Callable[[], WorkerProcess], inbox: queue.SimpleQueue[Reply]) -> None:
    """All workers of a program come from the same process, which is not the program itself."""
    parents = {result(start(), inbox, parent_of_worker) for _ in range(3)}
    assert len(parents) == 1
    assert os.getpid() not in parents


def test_a_worker_has_the_setting_of_now(
    start: Callable[[], WorkerProcess],
    inbox: queue.SimpleQueue[Reply],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Folder, environment and path are those of the program when the worker starts; random numbers differ."""
    ready_template()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANCHOR_ALIGN_TEST", "now")
    monkeypatch.syspath_prepend(str(tmp_path / "added"))
    found = [result(start(), inbox, setting_of_worker) for _ in range(2)]
    assert [each[:3] for each in found] == [(str(tmp_path), "now", sys.path)] * 2
    assert found[0][3] != found[1][3]


def test_variables_that_imports_read_need_another_template(
    start: Callable[[], WorkerProcess], inbox: queue.SimpleQueue[Reply], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number of threads that was changed since holds in the next worker."""
    before = result(start(), inbox, parent_of_worker)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert result(start(), inbox, parent_of_worker) != before


@pytest.mark.parametrize("forks", [True, False])
def test_how_a_worker_ends_is_known(
    start: Callable[[], WorkerProcess],
    inbox: queue.SimpleQueue[Reply],
    monkeypatch: pytest.MonkeyPatch,
    *,
    forks: bool,
) -> None:
    """The exit code or the signal, also where every process is a new one."""
    monkeypatch.setattr(_worker_process, "CAN_FORK", forks)
    process = start()
    process.send(end_of_worker, (3,))
    assert inbox.get(timeout=60).kind == "gone"
    assert process.kill() == "exit code 3"
    assert start().kill() == "signal SIGKILL"


def test_a_template_that_dies_is_replaced(start: Callable[[], WorkerProcess], inbox: queue.SimpleQueue[Reply]) -> None:
    """Its workers count as ended, and can be ended; the next worker comes from a new template."""
    process, template = start(), ready_template()
    before = result(process, inbox, parent_of_worker)
    os.kill(before, signal.SIGKILL)
    while template.is_usable:
        time.sleep(0.01)
    assert process.has_ended
    assert process.kill() == "signal SIGKILL"
    assert inbox.get(timeout=60).kind == "gone"
    assert result(start(), inbox, parent_of_worker) != before
