"""K-means on the views side by side, each scaled: what people do without a multi-view method.

Over centroids f_vj of the views and one partition g of the samples it minimises::

    sum_v sum_i |x_vi - f_v,g(i)|^2

Every view has a total variance of 1, so all views count the same. Starts, random numbers and result are those of
scikit-learn's ``KMeans``; the views are not copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anchor_align import Baseline, hookimpl
from anchor_align.arrays import IndexArray
from anchor_align.checks import check_whole_number
from anchor_align.kmeans import fit_kmeans

from .._scaling import side_by_side
from ._preparation import balanced_views


class SideBySideKMeans(Baseline):
    """K-means on the views side by side, each scaled.

    Parameters
    ----------
    n_init : int, default=10
        Runs of k-means; the best run is used.
    scale : {"spread", "standard", "unit", None}, default="spread"
        Scale of each view. "spread": the view is only divided by a number. "standard": every feature has mean 0 and
        standard deviation 1, for features in different units. "unit": every sample has a mean square of 1, for word
        counts. In the end every view has a total variance of 1. None: no scaling.

    Examples
    --------
    >>> from anchor_align import get_baseline
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> acc(data.labels, get_baseline("kmeans").fit_predict(data.views, n_clusters=4, random_state=0))
    1.0
    """

    name = "kmeans"

    def __init__(self, n_init: int = 10, *, scale: str | None = "spread") -> None:
        self.n_init = n_init
        self.scale = scale

    def fit_predict(self, views: Sequence[Any], *, n_clusters: int, random_state: int) -> IndexArray:
        """Cluster the samples by all features of all views."""
        n_init = check_whole_number("n_init", self.n_init, least=1)
        whole = side_by_side(balanced_views(self.check_input(views, n_clusters), self.scale))
        return fit_kmeans(whole, n_clusters, n_init=n_init, random_state=random_state % 2**32).labels.astype(np.intp)


@hookimpl
def anchor_align_baselines() -> list[type[Baseline]]:
    """Baselines of this module."""
    return [SideBySideKMeans]
