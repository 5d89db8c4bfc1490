"""The command line. Nothing is imported before ``main`` is called: from then on Ctrl-C gives one line."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # the import of typing takes longer than this module
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from types import FrameType

INTERRUPTED = "anchor-align: interrupted\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    handled = False
    try:
        import signal
        import threading

        if threading.current_thread() is threading.main_thread():
            handled = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if handled:
            signal.signal(signal.SIGINT, _interrupt)
        from ._main import run_command

        return run_command(argv)
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write(INTERRUPTED)
        return 130
    finally:
        if handled:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt or, during an import, end at once: many modules replace or swallow the exception."""
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    if frame is None:
        raise KeyboardInterrupt
    try:
        clear_line = "\r\x1b[K\x1b[?25h" if os.isatty(2) else ""  # of a status line, which hides the cursor
        os.write(2, f"{clear_line}{INTERRUPTED}".encode())
    finally:
        os._exit(130)


def build_parser() -> argparse.ArgumentParser:
    """Parser of ``anchor-align``."""
    from ._main import build_parser

    return build_parser()
