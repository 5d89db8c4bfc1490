"""Ablation studies: three arms on the same anchors, paired by repeat."""

from __future__ import annotations

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

__all__ = [
    "ARMS",
    "FOOTINGS",
    "SCORES",
    "AdapterInfo",
    "ArmSummary",
    "DataInfo",
    "Difference",
    "Record",
    "Setting",
    "StudyResult",
    "Summary",
]
