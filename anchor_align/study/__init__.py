"""Ablation studies: ways of fusing on the same anchors, paired by repeat."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._vocabulary import BASELINE as BASELINE
from ._vocabulary import BETTER as BETTER
from ._vocabulary import DEFAULT_DATA, DONE, FAILED, FOOTINGS, SCORES, TIMEOUT
from ._vocabulary import DEFAULT_VERSUS as DEFAULT_VERSUS
from ._vocabulary import EQUAL as EQUAL
from ._vocabulary import HIGHER as HIGHER
from ._vocabulary import LOWER as LOWER
from ._vocabulary import NO_MEMORY as NO_MEMORY
from ._vocabulary import NOTHING_TO_ALIGN as NOTHING_TO_ALIGN
from ._vocabulary import TOO_FEW as TOO_FEW
from ._vocabulary import UNCLEAR as UNCLEAR
from ._vocabulary import WORSE as WORSE

if TYPE_CHECKING:
    from ._cache import Cache as Cache
    from ._cache import default_cache as default_cache
    from ._data_sets import DataSpec as DataSpec
    from ._differences import Difference as Difference
    from ._differences import compare_rows as compare_rows
    from ._differences import paired_difference as paired_difference
    from ._execution import StudyProgress as StudyProgress
    from ._results import ALL_ARMS as ALL_ARMS
    from ._results import ARMS as ARMS
    from ._results import LAM_ARMS as LAM_ARMS
    from ._results import AdapterInfo as AdapterInfo
    from ._results import ArmSummary as ArmSummary
    from ._results import DataInfo as DataInfo
    from ._results import Record as Record
    from ._results import Setting as Setting
    from ._results import Showcase as Showcase
    from ._results import Summary as Summary
    from ._results import setting_key as setting_key
    from ._rivals import AverageRanks as AverageRanks
    from ._rivals import Rival as Rival
    from ._rivals import RivalSummary as RivalSummary
    from ._rivals import average_ranks as average_ranks
    from ._statistics import Overall as Overall
    from ._statistics import over_data_sets as over_data_sets
    from ._statistics import summarise as summarise
    from ._study import compare as compare
    from ._study_result import StudyResult as StudyResult
    from ._view_options import Anchors as Anchors
    from ._view_options import anchors_text as anchors_text
    from ._view_options import drop_mask as drop_mask

# Names are imported on first use: the command line reads SCORES and FOOTINGS for its help, and must not import NumPy.
_PUBLIC = {
    "_cache": ("Cache", "default_cache"),
    "_data_sets": ("DataSpec",),
    "_differences": ("Difference", "compare_rows", "paired_difference"),
    "_execution": ("StudyProgress",),
    "_results": (
        *("ALL_ARMS", "ARMS", "LAM_ARMS", "AdapterInfo", "ArmSummary", "DataInfo"),
        *("Record", "Setting", "Showcase", "Summary"),
    ),
    "_rivals": ("AverageRanks", "Rival", "RivalSummary", "average_ranks"),
    "_statistics": ("Overall", "over_data_sets", "summarise"),
    "_study": ("compare",),
    "_study_result": ("StudyResult",),
    "_view_options": ("drop_mask",),
}
_FOR_REPORTS = {
    "_results": ("setting_key",),
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
