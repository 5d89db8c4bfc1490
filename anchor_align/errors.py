"""Errors raised by anchor-align.

Every error is an :class:`AnchorAlignError` and also a matching builtin exception: ``except ValueError`` works too.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

_view_names: ContextVar[Sequence[str]] = ContextVar("view_names", default=())
LONGEST_VALUE = 120  # characters of a value in a message
MOST_SAID = 200  # characters of what a program said, from its end


class AnchorAlignError(Exception):
    """Base class of every error that anchor-align raises on purpose."""


class InputError(AnchorAlignError, ValueError):
    """The value cannot be used: wrong shape, out of range, not finite."""


class InputTypeError(InputError, TypeError):
    """The value has the wrong type: a string for a number, complex graphs."""


class AdapterError(AnchorAlignError, RuntimeError):
    """An adapter, a baseline or a fusion returned a result that cannot be used."""


class PluginError(AnchorAlignError, ImportError):
    """A plug-in could not be loaded."""


class FileError(AnchorAlignError, OSError):
    """The file cannot be read or written."""


class NotEnoughMemoryError(AnchorAlignError, MemoryError):
    """The computation needs more memory than is free, or than the user allowed."""


class ClusterError(AnchorAlignError, RuntimeError):
    """The Dask cluster was closed or lost, or its workers died during the work."""


class MissingExtraError(AnchorAlignError, ImportError):
    """The function needs a package that is not installed."""


class UnknownNameError(InputError, LookupError):
    """The name is not a known one."""


class ChanceWarning(UserWarning):
    """A view agrees with the others hardly better than by chance."""


def shown(value: object) -> str:
    """A value as a message shows it: on one line, not too long, and without characters that a terminal acts on.

    Examples
    --------
    >>> print(shown("alpha"), shown([1, 2]), shown("x" * 200)[-30:])
    'alpha' [1, 2] xxxxxxxxxxxxxxxxxxxxxxxxxxx...
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # of the value's own code, or a whole number of thousands of digits
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."


@contextmanager
def naming(views: Sequence[str]) -> Iterator[None]:
    """Let messages call the views by these names."""
    token = _view_names.set(views)
    try:
        yield
    finally:
        _view_names.reset(token)


def view_name(view: int) -> str:
    """Name of a view for a message: as the user called it, or its number.

    Examples
    --------
    >>> with naming(["rna", "protein"]):
    ...     view_name(1)
    'protein'
    >>> view_name(1)
    '1'
    """
    names = _view_names.get()
    return names[view] if view < len(names) else str(view)


def unknown_name(what: str, got: object, known: Iterable[str]) -> UnknownNameError:
    """Build the error for an unknown name. It lists the known names and the nearest one.

    Examples
    --------
    >>> print(unknown_name("method", "asent", ["ascent", "exact"]))
    Unknown method 'asent'; known: 'ascent', 'exact'. Did you mean 'ascent'?
    """
    names = list(known)
    message = f"Unknown {what} {shown(got)}; known: {', '.join(map(repr, names))}."
    near = difflib.get_close_matches(shown(got).strip("'").lower(), names, n=1, cutoff=0.5)
    if near:
        message += f" Did you mean {near[0]!r}?"
    return UnknownNameError(message)


def missing_extra(what: str, package: str, extra: str) -> MissingExtraError:
    """Build the error for an optional package that is not installed.

    Examples
    --------
    >>> print(missing_extra("Figures", "matplotlib", "report"))
    Figures need matplotlib, which is not installed: pip install "anchor-align[report]".
    """
    return MissingExtraError(f'{what} need {package}, which is not installed: pip install "anchor-align[{extra}]".')


def program_text(error: subprocess.CalledProcessError) -> str:
    """The end of what a program said. Its arguments may differ from run to run, as names of temporary files do."""
    program = error.cmd.split()[0] if isinstance(error.cmd, str) else os.fsdecode(error.cmd[0])
    said = error.stderr or error.stdout or b""
    lines = (said.decode(errors="replace") if isinstance(said, bytes) else said).strip().splitlines()
    return f"{os.path.basename(program)} ended with exit status {error.returncode}. {' '.join(lines)[-MOST_SAID:]}"


def visible(text: str) -> str:
    r"""Text in which nothing is hidden: control characters, line breaks and broken encodings are written out.

    Names come from files, and reasons from anywhere: neither may move the cursor, turn the direction of the text or
    break a table.

    Examples
    --------
    >>> visible("a\x1b[2Jb\nc\u202ed")
    'a\\x1b[2Jb\\nc\\u202ed'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)
