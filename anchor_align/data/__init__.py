"""Multi-view data: the container, and data sets that come with the package."""

from __future__ import annotations

from ._simulated import make_simulated
from ._types import MultiViewData

__all__ = ["MultiViewData", "make_simulated"]
