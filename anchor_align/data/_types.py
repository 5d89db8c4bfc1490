"""The container for views of the same samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class MultiViewData:
    """Several views of the same samples.

    Attributes
    ----------
    views : list of array of shape (n_samples, n_features of the view)
    labels : ndarray of shape (n_samples,) or None
        True clusters, where they are known; for scoring only.
    names : list of str
        One name per view.
    """

    views: list[Any]
    labels: npt.NDArray[np.int64] | None
    names: list[str]
