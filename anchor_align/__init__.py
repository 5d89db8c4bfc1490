"""Anchor alignment for multi-view clustering.

Anchor graphs of different views (samples x anchors) do not correspond column by column. :func:`align` finds the
permutations that make them correspond, :func:`fuse` averages the aligned graphs.
"""

from __future__ import annotations

__version__ = "0.1.0"

# Where each public name is defined. Names are loaded on first use: importing the package, and the command line's help,
# stay fast. Type checkers read ``__init__.pyi``, which must list the same names.
_HOMES = {
    "matching": ("AnchorAligner", "Progress", "align"),
    "fusion": ("Fusion",),
    "graphs": ("GramMatrices", "evenness", "pair_agreement"),
    "simplex": ("project_rows_on_simplex", "simplex_least_squares"),
    "plugins": (
        "Adapter",
        "AnchorGraphs",
        "Baseline",
        "FunctionAdapter",
        "as_baseline",
        "get_adapter",
        "get_baseline",
        "get_fusion",
        "list_adapters",
        "list_baselines",
        "list_fusions",
        "load_plugins",
        "view_seeds",
    ),
    "data": ("MultiViewData", "load_views"),
    "clustering": (
        *("AlignedClusterer", "Candidate", "CandidateResult", "Choice", "ChoiceCost", "ChoiceProgress"),
        *("ClusterCurve", "ClusterCurves", "choice_cost", "choose", "cluster_number_curves", "fuse"),
        *("Assignment", "FitProgress", "load"),
    ),
    "hookspecs": ("hookimpl",),
    "errors": (
        "AdapterError",
        "AnchorAlignError",
        "ClusterError",
        "FileError",
        "InputError",
        "InputTypeError",
        "MissingExtraError",
        "NotEnoughMemoryError",
        "PluginError",
        "UnknownNameError",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> object:
    import importlib

    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
