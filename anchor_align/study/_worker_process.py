"""A Python process that computes what it is sent, and whose death, hang or fork harms nobody else.

The process is a fork of a template that has only imported modules or, where that is not possible, a new one; it is
never a fork of the user's program, whose threads may make it hang. It does not import the user's script, so a script
needs no ``if __name__ == "__main__":``. It has a process group of its own: Ctrl-C does not reach it, and whatever it
starts ends with it. It ends when the pipe from the first process closes, also if that process is killed.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.spawn import get_executable
from typing import Any

from ..errors import AdapterError, InputTypeError
from ._template_process import CAN_FORK, ForkedProcess, ready_template
from ._worker_loop import ERROR, GONE, described

# A process that was asked to end is killed after this many seconds.
PATIENCE = 2.0
START = "import sys; sys.path[:] = {path}; from anchor_align.study._worker_loop import serve; serve()"

# What a task sends before it is finished.
Tell = Callable[[object], None]


@dataclass(frozen=True)
class Reply:
    """Message of a process: a value that a task sends, its result at the end, an error, or the end of the pipe."""

    sender: WorkerProcess
    kind: str
    value: Any = None


class WorkerProcess:
    """A new process; its replies are put into ``inbox``."""

    def __init__(self, inbox: queue.SimpleQueue[Reply]) -> None:
        self._process: subprocess.Popen[bytes] | ForkedProcess
        template = None
        if CAN_FORK:
            with suppress(OSError):  # without a template, every process imports on its own
                template = ready_template()
        try:
            with _without_interrupts():
                if template is not None:
                    with suppress(OSError):
                        self._process = template.fork()
                if not hasattr(self, "_process"):
                    self._process = _new_process()
        except KeyboardInterrupt:  # it was held back until the process had started
            if hasattr(self, "_process"):
                self.kill()
            raise
        threading.Thread(target=self._read, args=(inbox,), daemon=True).start()

    def _read(self, inbox: queue.SimpleQueue[Reply]) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe, suppress(Exception):  # what cannot be read is the end of the process
            while True:
                content = pickle.load(pipe)
                try:
                    inbox.put(Reply(self, *pickle.loads(content)))
                except Exception as error:
                    reason = f"The result cannot be read from another process: {described(error)}"
                    inbox.put(Reply(self, ERROR, AdapterError(reason)))
        inbox.put(Reply(self, GONE))

    def send(self, task: Callable[..., object], arguments: Sequence[object]) -> None:
        """Let the process compute ``task(tell, *arguments)``.

        Raises
        ------
        InputTypeError
            If an argument cannot be sent to another process.
        """
        try:
            content = pickle.dumps((task, arguments))
        except Exception as error:
            raise InputTypeError(f"Cannot be sent to the process that runs plug-ins: {described(error)}") from error
        assert self._process.stdin is not None
        with suppress(OSError):  # the process is gone: the end of its pipe says so
            pickle.dump(content, self._process.stdin)
            self._process.stdin.flush()

    @property
    def has_ended(self) -> bool:
        # The end of the pipe is not enough: a child of the process may keep the pipe open.
        return self._process.poll() is not None

    def close(self) -> None:
        """Let the process end as programs do, and end what it started."""
        self.send(sys.exit, ())
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE)
        self.kill()

    def kill(self) -> str:
        """End the process now, and what it started; returns how it ended."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        code = self._process.wait()
        with suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        if code >= 0:
            return f"exit code {code}"
        with suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
        return f"signal {-code}"


def _new_process() -> subprocess.Popen[bytes]:
    path = ascii([place for place in sys.path if isinstance(place, str)])
    words = [get_executable(), "-c", START.format(path=path)]
    group = 0 if hasattr(os, "killpg") else None
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=group)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back until the block ends, so that a process is started completely or not at all.

    The block alone is not enough, because the signal may arrive in another thread, and its handler then runs in the
    main thread.
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
