"""Multi-view data: the container, loaders for files as people publish them, and data sets that have a name."""

from __future__ import annotations

from ._catalogue import DataSet, catalogue, load_bundled
from ._load import load_views
from ._simulated import make_simulated
from ._types import MultiViewData

__all__ = ["DataSet", "MultiViewData", "catalogue", "load_bundled", "load_views", "make_simulated"]
