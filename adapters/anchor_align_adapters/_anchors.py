"""K-means anchors of one view."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from anchor_align import InputError

from ._types import FloatArray


def kmeans_anchors(matrix: Any, n_anchors: int, *, n_init: int, random_state: int, view: int) -> FloatArray:
    """Centres of k-means on the rows of a dense or sparse matrix; says so if the view has fewer distinct samples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        kmeans = KMeans(n_anchors, n_init=n_init, random_state=random_state).fit(matrix)
    distinct = len(np.unique(kmeans.labels_))
    if distinct < n_anchors:
        warnings.warn(
            f"View {view} has only {distinct} distinct samples for {n_anchors} anchors: some anchors coincide.",
            stacklevel=2,
        )
    return np.asarray(kmeans.cluster_centers_)


def check_n_anchors(n_anchors: int, n_samples: int) -> None:
    """Anchors are made of samples: there cannot be more of them."""
    if not 1 <= n_anchors <= n_samples:
        raise InputError(f"n_anchors must be between 1 and the number of samples, {n_samples}; got {n_anchors}.")
