"""Errors raised by anchor-align.

Every error is an :class:`AnchorAlignError` and also the builtin exception a caller would expect, so
``except ValueError`` keeps working.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AnchorAlignError(Exception):
    """Base class of every error that anchor-align raises on purpose."""


class InputError(AnchorAlignError, ValueError):
    """A value that cannot be used: wrong shape, out of range, not finite."""


class InputTypeError(InputError, TypeError):
    """A value of a kind that cannot be used: a string for a number, complex graphs."""


class AdapterError(AnchorAlignError, RuntimeError):
    """An adapter returned something that cannot be used."""


class PluginError(AnchorAlignError, ImportError):
    """A plug-in could not be loaded."""


class FileError(AnchorAlignError, OSError):
    """A file that cannot be read or written."""


class NotEnoughMemoryError(AnchorAlignError, MemoryError):
    """Work that needs more memory than there is, or than it was given."""


class ClusterError(AnchorAlignError, RuntimeError):
    """A Dask cluster that went away, or whose workers do not survive the work."""


class MissingExtraError(AnchorAlignError, ImportError):
    """Something that needs packages which are not installed."""


class UnknownNameError(InputError, LookupError):
    """A name that is not one of the known ones."""


def unknown_name(what: str, got: object, known: Iterable[str]) -> UnknownNameError:
    """Build the error for an unknown name: lists the known ones and the nearest.

    Examples
    --------
    >>> print(unknown_name("method", "asent", ["ascent", "exact"]))
    Unknown method 'asent'; known: 'ascent', 'exact'. Did you mean 'ascent'?
    """
    names = list(known)
    message = f"Unknown {what} {got!r}; known: {', '.join(map(repr, names))}."
    near = difflib.get_close_matches(str(got).lower(), names, n=1, cutoff=0.5)
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
