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
    """Centres of k-means on the rows of a dense or sparse matrix; says so if the view has fewer distinct samples.

    Their order depends on the clusters found and the seed only. Which of several equally good runs is kept is a matter
    of rounding, and each run has an order of its own.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        kmeans = KMeans(n_anchors, n_init=n_init, random_state=random_state).fit(matrix)
    used, first = np.unique(kmeans.labels_, return_index=True)
    distinct = len(used)
    if distinct < n_anchors:
        warnings.warn(
            f"View {view} has only {distinct} distinct samples for {n_anchors} anchors: some anchors coincide.",
            stacklevel=2,
        )
    order = [*used[np.argsort(first)], *np.setdiff1d(np.arange(n_anchors), used)]
    # The order of the samples is common to all views, the order of the anchors must not be.
    return np.asarray(kmeans.cluster_centers_[np.random.default_rng(random_state).permutation(order)])


def check_n_anchors(n_anchors: int, n_samples: int) -> None:
    """Anchors are made of samples: there cannot be more of them."""
    if not 1 <= n_anchors <= n_samples:
        raise InputError(f"n_anchors must be between 1 and the number of samples, {n_samples}; got {n_anchors}.")
