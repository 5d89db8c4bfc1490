"""Ablation studies: three arms on the same anchors, paired by repeat."""

from __future__ import annotations

from ._cache import Cache
from ._cache import default_folder as default_cache
from ._drop import drop_mask
from ._execution import StudyProgress
from ._results import (
    ARMS,
    DONE,
    FAILED,
    FOOTINGS,
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
from ._statistics import summarise
from ._study import DEFAULT_DATA, compare

__all__ = [
    "ARMS",
    "DEFAULT_DATA",
    "DONE",
    "FAILED",
    "FOOTINGS",
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
    "summarise",
]
