"""Simulated data as the paper describes them: four clusters in the plane, seen in two views."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import check_seed
from ..checks import check_whole_number
from ._types import MultiViewData

# Where the four clusters lie in each view.
CENTRES = (
    ((0.55, 0.60), (-0.60, 0.55), (-0.55, -0.60), (0.60, -0.55)),
    ((0.00, 0.05), (0.00, 1.00), (0.85, -0.50), (-0.85, -0.50)),
)
SPREAD = 0.12


def make_simulated(random_state: Any = 0, *, n_per_cluster: int = 50) -> MultiViewData:
    """Simulate two views of four Gaussian clusters in the plane, as in the paper's first experiment.

    The paper gives the design (four clusters of 50 points in two dimensions), not the numbers: centres and spread are
    ours. Each view alone shows all clusters; what is hard is only that the anchors of the two views come in different
    orders.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=0
        Seed. The same seed gives the same data.
    n_per_cluster : int, default=50
        Samples in each cluster, >= 1.

    Returns
    -------
    MultiViewData
        Two views of shape (4 * n_per_cluster, 2) and the labels 0 to 3, samples in random order.

    Examples
    --------
    >>> data = make_simulated(0)
    >>> [view.shape for view in data.views]
    [(200, 2), (200, 2)]
    """
    n_per_cluster = check_whole_number("n_per_cluster", n_per_cluster, least=1)
    rng = np.random.default_rng(check_seed(random_state))
    labels = rng.permutation(np.repeat(np.arange(4), n_per_cluster))
    views = [np.asarray(centres)[labels] + SPREAD * rng.standard_normal((len(labels), 2)) for centres in CENTRES]
    return MultiViewData(views, labels, ["plane 1", "plane 2"])
