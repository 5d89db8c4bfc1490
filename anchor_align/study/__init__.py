"""Ablation studies: three arms on the same anchors, paired by repeat."""

from __future__ import annotations

from ._cache import Cache
from ._cache import default_folder as default_cache
from ._execution import StudyProgress
from ._results import (
    ARMS,
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
from ._study import BUNDLED, compare

__all__ = [
    "ARMS",
    "BUNDLED",
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
]
