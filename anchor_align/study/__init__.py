"""Ablation studies: ways of fusing on the same anchors, paired by repeat."""

from __future__ import annotations

from ._cache import Cache
from ._cache import default_folder as default_cache
from ._drop import drop_mask
from ._execution import StudyProgress
from ._results import (
    ALL_ARMS,
    ARMS,
    DONE,
    FAILED,
    FOOTINGS,
    LAM_ARMS,
    SCORES,
    AdapterInfo,
    ArmSummary,
    DataInfo,
    Difference,
    Record,
    Setting,
    StudyResult,
    Summary,
)
from ._showcase import Showcase
from ._source import DataSpec
from ._statistics import paired_difference, summarise
from ._study import DEFAULT_DATA, compare

__all__ = [
    "ALL_ARMS",
    "ARMS",
    "DEFAULT_DATA",
    "DONE",
    "FAILED",
    "FOOTINGS",
    "LAM_ARMS",
    "SCORES",
    "AdapterInfo",
    "ArmSummary",
    "Cache",
    "DataInfo",
    "DataSpec",
    "Difference",
    "Record",
    "Setting",
    "Showcase",
    "StudyProgress",
    "StudyResult",
    "Summary",
    "compare",
    "default_cache",
    "drop_mask",
    "paired_difference",
    "summarise",
]
