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
    views : list of array or csr_array of shape (n_samples, n_features of the view)
    labels : ndarray of shape (n_samples,) or None
        True clusters 0 to k - 1, where they are known; for scoring only.
    names : list of str
        One name per view.
    notes : tuple of str
        What was guessed or left out when the data were read, a sentence each.

    Examples
    --------
    >>> import numpy as np
    >>> data = MultiViewData([np.ones((4, 3)), np.ones((4, 2))], np.array([0, 0, 1, 1]), ["a", "b"])
    >>> data.n_samples, data.n_clusters
    (4, 2)
    """

    views: list[Any]
    labels: npt.NDArray[np.int64] | None
    names: list[str]
    notes: tuple[str, ...] = ()

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.views[0].shape[0])

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters that the labels tell apart; None without labels."""
        return None if self.labels is None else len(np.unique(self.labels))
