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
    from ._simplex import project_rows_on_simplex, simplex_least_squares
    from .adapter import Adapter, AnchorGraphs, FunctionAdapter, view_seeds
    from .data import MultiViewData, load_views
    from .errors import (
        AdapterError,
        AnchorAlignError,
        ClusterError,
        FileError,
        InputError,
        InputTypeError,
        MissingExtraError,
        NotEnoughMemoryError,
        PluginError,
        UnknownNameError,
    )
    from .estimator import AlignedClusterer
    from .hookspecs import hookimpl
    from .plugins import get_adapter, list_adapters, load_plugins

__version__ = "0.1.0"

# Loaded on first use: importing the package, and the command line's help, stay fast.
_HOMES = {
    "AnchorAligner": "_align",
    "Progress": "_matcher",
    "align": "_align",
    "fuse": "_fusion",
    "GramMatrices": "_grams",
    "project_rows_on_simplex": "_simplex",
    "simplex_least_squares": "_simplex",
    "Adapter": "adapter",
    "AnchorGraphs": "adapter",
    "FunctionAdapter": "adapter",
    "view_seeds": "adapter",
    "MultiViewData": "data",
    "load_views": "data",
    "AlignedClusterer": "estimator",
    "get_adapter": "plugins",
    "hookimpl": "hookspecs",
    "list_adapters": "plugins",
    "load_plugins": "plugins",
    "AdapterError": "errors",
    "AnchorAlignError": "errors",
    "ClusterError": "errors",
    "FileError": "errors",
    "InputError": "errors",
    "InputTypeError": "errors",
    "MissingExtraError": "errors",
    "NotEnoughMemoryError": "errors",
    "PluginError": "errors",
    "UnknownNameError": "errors",
}

__all__ = [
    "Adapter",
    "AdapterError",
    "AlignedClusterer",
    "AnchorAlignError",
    "AnchorAligner",
    "AnchorGraphs",
    "ClusterError",
    "FileError",
    "FunctionAdapter",
    "GramMatrices",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "MultiViewData",
    "NotEnoughMemoryError",
    "PluginError",
    "Progress",
    "UnknownNameError",
    "align",
    "fuse",
    "get_adapter",
    "hookimpl",
    "list_adapters",
    "load_plugins",
    "load_views",
    "project_rows_on_simplex",
    "simplex_least_squares",
    "view_seeds",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
