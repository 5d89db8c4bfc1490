"""Anchor alignment for multi-view clustering.

Anchor graphs of different views (samples x anchors) do not correspond column by column. :func:`align` finds the
permutations that make them correspond, :func:`fuse` averages the aligned graphs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._align import AnchorAligner, align
    from ._fusion import fuse
    from ._grams import GramMatrices
    from ._matcher import Progress
    from .errors import AnchorAlignError, InputError, InputTypeError, UnknownNameError

__version__ = "0.1.0"

# Loaded on first use: importing the package, and the command line's help, stay fast.
_HOMES = {
    "AnchorAligner": "_align",
    "Progress": "_matcher",
    "align": "_align",
    "fuse": "_fusion",
    "GramMatrices": "_grams",
    "AnchorAlignError": "errors",
    "InputError": "errors",
    "InputTypeError": "errors",
    "UnknownNameError": "errors",
}

__all__ = [
    "AnchorAlignError",
    "AnchorAligner",
    "GramMatrices",
    "InputError",
    "InputTypeError",
    "Progress",
    "UnknownNameError",
    "align",
    "fuse",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
