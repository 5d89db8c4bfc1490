"""A process that has imported what workers need, and forks: imports take a second or more, a fork takes milliseconds.

The template process imports modules of this package and waits. It has no threads of Python, never loads code of others,
and computes nothing, so a fork of it is as good as a new process. It ends when the program that started it ends.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import importlib.metadata
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from multiprocessing.spawn import get_executable
from typing import BinaryIO, NoReturn

import numpy as np

from ._worker_loop import serve

START = (
    "import sys; sys.path[:] = {path}; from anchor_align.study._template_process import serve_forks; serve_forks({fd})"
)
# Variables that count while modules are imported: a change of them needs another template.
PREFIXES = ("OMP_", "OPENBLAS_", "MKL_", "BLIS_", "PYTHON")
NUMBER = struct.Struct("i")
CAN_FORK = sys.platform == "linux"


class ForkedProcess:
    """A fork of the template, with the part of the interface of ``subprocess.Popen`` that a worker needs."""

    def __init__(self, pid: int, stdin: BinaryIO, stdout: BinaryIO, status: BinaryIO) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self._status = status
        self._code: int | None = None

    def poll(self) -> int | None:
        """The exit code, or None while the process runs."""
        if self._code is None and select.select([self._status], [], [], 0)[0]:
            self.wait()
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once the process has ended; it is negative for a signal."""
        if self._code is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("worker", timeout or 0.0)
            content = self._status.read(NUMBER.size)
            self._status.close()
            # Nothing is written if the template itself was killed: then nobody knows how its forks end.
            self._code = NUMBER.unpack(content)[0] if content else -int(signal.SIGKILL)
        return self._code

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


class TemplateProcess:
    """The template of this program, started now; ``fork`` waits until its imports are done."""

    def __init__(self) -> None:
        self._program = os.getpid()
        self._setting = _import_setting()
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair()
        with theirs:
            path = ascii([place for place in sys.path if isinstance(place, str)])
            self._process = subprocess.Popen(
                [get_executable(), "-c", START.format(path=path, fd=theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,
            )
        self._is_ready = False

    @property
    def is_usable(self) -> bool:
        """Whether forks of it are what a new process of this program would be now."""
        is_here = self._program == os.getpid()
        return is_here and self._setting == _import_setting() and self._process.poll() is None

    def wait_until_ready(self) -> None:
        with self._lock:
            if not self._is_ready:
                self._is_ready = bool(self._control.recv(1))
            if not self._is_ready:
                raise ConnectionError("The template process ended.")

    def fork(self) -> ForkedProcess:
        """A new process, in a process group of its own, with the path, environment and folder of this one."""
        setting = pickle.dumps((list(sys.path), dict(os.environ), os.getcwd()))
        requests, stdin = os.pipe()
        stdout, replies = os.pipe()
        status, status_of_fork = os.pipe()
        theirs = [requests, replies, _error_stream(), status_of_fork]
        try:
            with self._lock:
                socket.send_fds(self._control, [NUMBER.pack(len(setting))], theirs)
                self._control.sendall(setting)
                content = self._control.recv(NUMBER.size, socket.MSG_WAITALL)
            if not content:
                raise ConnectionError("The template process ended.")
        except BaseException:
            for descriptor in (stdin, stdout, status):
                os.close(descriptor)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        pid = NUMBER.unpack(content)[0]
        return ForkedProcess(pid, os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"), os.fdopen(status, "rb", 0))

    def close(self) -> None:
        self._control.close()
        if self._program == os.getpid():
            self._process.wait()


def _error_stream() -> int:
    try:
        return os.dup(2)
    except OSError:  # stderr is closed
        return os.open(os.devnull, os.O_WRONLY)


def _import_setting() -> tuple[str, dict[str, str]]:
    variables = {name: value for name, value in os.environ.items() if name.startswith(PREFIXES)}
    return os.fsdecode(get_executable()), variables


_template: TemplateProcess | None = None
_LOCK = threading.Lock()


def ready_template() -> TemplateProcess:
    """The template of this program, started if there is none that can be used; its imports are done.

    Raises
    ------
    OSError
        If it cannot be started, or ends at once.
    """
    global _template
    with _LOCK:
        if _template is None or not _template.is_usable:
            if _template is not None:
                _template.close()
            _template = TemplateProcess()
        _template.wait_until_ready()
        return _template


@atexit.register
def _close_template() -> None:
    if _template is not None:
        _template.close()


def serve_forks(control_fd: int) -> None:
    """Import, then fork for each request until the other end of ``control_fd`` closes; report how forks end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import_what_workers_need()
    gc.collect()
    gc.freeze()  # collections in a fork would copy every page that it shares with the template
    wake, wake_writer = os.pipe()
    os.set_blocking(wake_writer, False)
    signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    statuses: dict[int, int] = {}
    control = socket.socket(fileno=control_fd)
    control.sendall(b"r")
    watched: list[socket.socket | int] = [control, wake]
    while True:
        ready = select.select(watched, [], [])[0]
        if wake in ready:
            os.read(wake, 4096)
            _report_ended(statuses)
        if control in ready:
            size, received, _, _ = socket.recv_fds(control, NUMBER.size, 4)
            if not size:  # the program has ended
                return
            setting = control.recv(NUMBER.unpack(size)[0], socket.MSG_WAITALL)
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                control.close()
                for descriptor in (wake, wake_writer, *statuses.values()):
                    os.close(descriptor)
                _serve_as_worker(received, setting)
            with suppress(OSError):  # the fork may have done it, or be gone
                os.setpgid(pid, pid)
            *streams, statuses[pid] = received
            for descriptor in streams:
                os.close(descriptor)
            control.sendall(NUMBER.pack(pid))


def _import_what_workers_need() -> None:
    importlib.import_module("anchor_align.study._execution")
    # The built-in methods are found through entry points, as everybody's are; those of others are not touched here.
    for point in importlib.metadata.entry_points(group="anchor_align"):
        if point.dist is not None and point.dist.name == "anchor-align":
            with suppress(Exception):  # the worker that loads it as a plug-in says what is wrong
                point.load()


def _report_ended(statuses: dict[int, int]) -> None:
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            descriptor = statuses.pop(pid)
            with suppress(OSError):  # the program that asked for it is gone
                os.write(descriptor, NUMBER.pack(os.waitstatus_to_exitcode(status)))
            os.close(descriptor)


def _serve_as_worker(received: list[int], setting: bytes) -> NoReturn:
    with suppress(OSError):  # the template may have done it
        os.setpgid(0, 0)
    for number, descriptor in enumerate(received[:3]):
        os.dup2(descriptor, number)
    for descriptor in received:
        os.close(descriptor)
    path, environment, folder = pickle.loads(setting)
    sys.path[:] = path
    importlib.invalidate_caches()
    os.environ.clear()
    os.environ.update(environment)
    with suppress(OSError):  # the folder is gone
        os.chdir(folder)
    np.random.seed()  # noqa: NPY002  # or forks would share the numbers of plug-ins that use NumPy's own generator
    serve()
    # Handlers of plug-ins run, as at the end of every program; that modules are taken apart would take a second.
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os._exit(0)
