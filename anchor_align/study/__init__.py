"""Ablation studies: ways of fusing on the same anchors, paired by repeat."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._vocabulary import DEFAULT_DATA, DONE, FAILED, FOOTINGS, SCORES, TIMEOUT

if TYPE_CHECKING:
    from ._cache import Cache as Cache
    from ._cache import default_cache as default_cache
    from ._data_sets import DataSpec as DataSpec
    from ._execution import StudyProgress as StudyProgress
    from ._results import ALL_ARMS as ALL_ARMS
    from ._results import ARMS as ARMS
    from ._results import LAM_ARMS as LAM_ARMS
    from ._results import AdapterInfo as AdapterInfo
    from ._results import ArmSummary as ArmSummary
    from ._results import DataInfo as DataInfo
    from ._results import Difference as Difference
    from ._results import Record as Record
    from ._results import Setting as Setting
    from ._results import Showcase as Showcase
    from ._results import StudyResult as StudyResult
    from ._results import Summary as Summary
    from ._results import setting_key as setting_key
    from ._statistics import ALIGNED_BETTER as ALIGNED_BETTER
    from ._statistics import ALWAYS_HIGHER as ALWAYS_HIGHER
    from ._statistics import NO_DIFFERENCE as NO_DIFFERENCE
    from ._statistics import NOTHING_TO_ALIGN as NOTHING_TO_ALIGN
    from ._statistics import ONE_REPEAT as ONE_REPEAT
    from ._statistics import UNALIGNED_BETTER as UNALIGNED_BETTER
    from ._statistics import paired_difference as paired_difference
    from ._statistics import summarise as summarise
    from ._study import compare as compare
    from ._view_options import Anchors as Anchors
    from ._view_options import anchors_text as anchors_text
    from ._view_options import drop_mask as drop_mask

# Names are imported on first use: the command line reads SCORES and FOOTINGS for its help, and must not import NumPy.
_PUBLIC = {
    "_cache": ("Cache", "default_cache"),
    "_data_sets": ("DataSpec",),
    "_execution": ("StudyProgress",),
    "_results": (
        *("ALL_ARMS", "ARMS", "LAM_ARMS", "AdapterInfo", "ArmSummary", "DataInfo", "Difference"),
        *("Record", "Setting", "Showcase", "StudyResult", "Summary"),
    ),
    "_statistics": ("paired_difference", "summarise"),
    "_study": ("compare",),
    "_view_options": ("drop_mask",),
}
_FOR_REPORTS = {
    "_results": ("setting_key",),
    "_statistics": (
        *("ALIGNED_BETTER", "UNALIGNED_BETTER", "ALWAYS_HIGHER"),
        *("NO_DIFFERENCE", "NOTHING_TO_ALIGN", "ONE_REPEAT"),
    ),
    "_view_options": ("Anchors", "anchors_text"),
}
_HOME_OF = {name: home for homes in (_PUBLIC, _FOR_REPORTS) for home, names in homes.items() for name in names}

__all__ = ["DEFAULT_DATA", "DONE", "FAILED", "FOOTINGS", "SCORES", "TIMEOUT"]
__all__ += sorted(name for names in _PUBLIC.values() for name in names)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
