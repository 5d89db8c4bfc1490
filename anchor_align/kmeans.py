"""K-means over blocks of rows: all runs share each pass, nothing of the size of the data is copied.

The algorithm is that of scikit-learn's ``KMeans`` with its k-means++ starts and the same random numbers, so it finds
the same clusters. What differs is how the rows are visited. scikit-learn centres a copy of all the data and finishes
one run before the next begins. Here rows come from a :class:`~anchor_align.blocks.RowSource`, which may be a file, and
each pass serves all runs at once: their centres together make one matrix product per block that is wide enough for BLAS
to run at full speed. In a single run, rows to which no other centre can have come near, by how far the centres
have moved (Hamerly, 2010), are not looked at. Sums of the clusters change only by the rows that change clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._kmeans_starts import draw, find_starts
from ._labels import first_places
from ._lloyd import Run, run_lloyd
from ._mapping import work_memory
from ._types import FloatArray, IndexArray, is_dask
from .blocks import RowSource, weighted_rows

__all__ = ["KMeansResult", "fit_kmeans"]

# Inertias closer than this, relative, are those of the same clusters.
SAME_INERTIA = 1e-10


@dataclass(frozen=True, eq=False)
class KMeansResult:
    """The best of several runs of k-means.

    Attributes
    ----------
    centres : ndarray of shape (n_clusters, n_columns)
    labels : ndarray of unsigned int of shape (n_rows,)
        Nearest centre of every row.
    inertia : float
        Sum of the squared distances of the rows to their centres.
    n_iter : int
        Rounds of the run that was kept.
    n_found : int
        Clusters that have a row: fewer than asked for only if there are fewer distinct rows.
    """

    centres: FloatArray
    labels: npt.NDArray[np.unsignedinteger[Any]]
    inertia: float
    n_iter: int
    n_found: int

    def first_rows(self) -> IndexArray:
        """First row of every cluster; the number of rows for clusters that have none."""
        return first_places(self.labels, len(self.centres))


def fit_kmeans(
    source: RowSource,
    n_clusters: int,
    *,
    n_init: int,
    random_state: int,
    tol: float = 1e-4,
    max_iter: int = 300,
) -> KMeansResult:
    """Cluster rows around ``n_clusters`` centres; the best of ``n_init`` runs.

    Parameters
    ----------
    source : RowSource
    n_clusters : int
        At most as many as there are rows.
    n_init : int
    random_state : int
    tol : float, default=1e-4
        A run ends when its centres move by no more than this, in squares summed up, relative to the mean variance of
        the columns; with 0, when no row changes its cluster.
    max_iter : int, default=300

    Examples
    --------
    >>> import numpy as np
    >>> from anchor_align.blocks import ScaledRows
    >>> from anchor_align.kmeans import fit_kmeans
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> result = fit_kmeans(ScaledRows(X), 2, n_init=3, random_state=0)
    >>> sorted(result.centres.ravel().tolist()), result.inertia
    ([0.5, 10.5], 1.0)
    """
    if is_dask(getattr(source, "array", None)):
        from ._dask.kmeans import fit_kmeans as fit_chunks

        return fit_chunks(source, n_clusters, n_init=n_init, random_state=random_state, tol=tol, max_iter=max_iter)
    variance = source.stats().variance
    rows, shift = source.centred()
    total = rows.stats().square_norm
    draws = draw(random_state, n_init, n_clusters)
    at_once = _runs_at_once(rows, n_init)
    best: Run | None = None
    least = np.inf
    for first in range(0, n_init, at_once):
        starts, norms = find_starts(rows, draws[first : first + at_once], n_clusters)
        for run in run_lloyd(rows, starts, norms, tol * float(variance.mean()), max_iter):
            inertia = run.inertia(weighted_rows(rows, run.sums, run.counts), total)
            if best is None or inertia < (1.0 - SAME_INERTIA) * least:
                best, least = run, inertia
    assert best is not None
    n_found = int(np.count_nonzero(best.counts))
    return KMeansResult(best.centres + shift, best.labels, max(least, 0.0), best.n_iter, n_found)


def _runs_at_once(source: RowSource, n_init: int) -> int:
    """Runs that share passes: what each keeps for a row may take a quarter of the memory."""
    return max(1, min(n_init, work_memory() // 4 // (source.shape[0] * (source.dtype.itemsize + 9))))
