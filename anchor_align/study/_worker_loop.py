"""What a worker process does: it computes the tasks that it is sent, and sends back what they give."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

from ..errors import AdapterError, AnchorAlignError, InputTypeError

# Kinds of messages: a value that a task sends, its result at the end, an error, and the end of the pipe.
VALUE, END, ERROR, GONE = "value", "end", "error", "gone"


def serve() -> None:
    """Compute tasks from stdin until it closes, and send replies to stdout; the tasks themselves see neither."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "r+b") as nowhere:
        os.dup2(nowhere.fileno(), 0)
        try:
            os.dup2(2, 1)
        except OSError:  # stderr is closed
            os.dup2(nowhere.fileno(), 1)
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, tasks), daemon=True).start()
    process = os.getpid()

    def send(kind: str, value: object) -> None:
        if os.getpid() != process:  # a child that a plug-in forked came back from it
            os._exit(1)
        try:
            content = pickle.dumps((kind, value))
        except Exception as error:
            content = pickle.dumps((ERROR, AdapterError(f"Cannot be sent from another process: {described(error)}")))
        pickle.dump(content, replies)
        replies.flush()

    def tell(value: object) -> None:
        send(VALUE, value)

    while True:
        content = tasks.get()
        try:
            task, arguments = pickle.loads(content)
        except Exception as error:
            send(ERROR, InputTypeError(f"Cannot be read by the process that runs plug-ins: {described(error)}"))
            continue
        if task is sys.exit:
            return
        try:
            result = task(tell, *arguments)
        except BaseException as error:  # a plug-in may raise anything
            # Classes of a plug-in are not known to the first process.
            is_ours = isinstance(error, AnchorAlignError) and type(error).__module__ == AnchorAlignError.__module__
            send(ERROR, error if is_ours else AdapterError(described(error)))
        else:
            send(END, result)


def _receive(requests: BinaryIO, tasks: queue.SimpleQueue[bytes]) -> None:
    """Read tasks while others are computed. The pipe closes when the first process has no more of them, or is dead."""
    with suppress(Exception):
        while True:
            tasks.put(pickle.load(requests))
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def described(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
