"""How sure the cluster of every sample is: its distance to the mean of the cluster, and the margin to the next one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IndexArray
from ..blocks import read_rows, run_rows

# One record for each sample: 16 bytes.
ASSIGNED = np.dtype([("label", np.intp), ("distance", np.float32), ("confidence", np.float32)])


@dataclass(frozen=True, eq=False)
class Assignment:
    """Clusters of samples, and how sure they are.

    Attributes
    ----------
    labels : ndarray of int of shape (n_samples,)
    distances : ndarray of float32 of shape (n_samples,)
        Distance of the sample to the mean of its cluster in the embedding, from 0 to 2.
    confidence : ndarray of float32 of shape (n_samples,)
        Margin to the nearest other cluster: with the distance a to the mean of its own cluster and b to the nearest
        other mean, (b - a) / max(a, b). Near 1 the sample is far from all other clusters; 0 is on the border between
        two; below 0, another mean is nearer, which happens for adapters with their own clustering step. NaN if there is
        one cluster only.
    """

    labels: IndexArray
    distances: npt.NDArray[np.float32]
    confidence: npt.NDArray[np.float32]

    @classmethod
    def of_records(cls, records: npt.NDArray[Any]) -> Assignment:
        """From records of labels, distances and confidence."""
        return cls(records["label"], records["distance"], records["confidence"])

    @classmethod
    def of_fit(cls, vectors: npt.NDArray[Any], labels: IndexArray, means: FloatArray) -> Assignment:
        """Of the samples of a fit, from their coordinates, which may be in a file."""
        records = np.empty(len(labels), ASSIGNED)

        def write(rows: slice) -> None:
            records[rows] = assigned(read_rows(vectors, rows), labels[rows], means)

        run_rows(write, len(labels), width=vectors.shape[1] + 3 * len(means))
        return cls.of_records(records)


def assigned(vectors: npt.NDArray[Any], labels: IndexArray, means: FloatArray) -> npt.NDArray[Any]:
    """Records of some samples, from their coordinates and labels.

    Examples
    --------
    >>> import numpy as np
    >>> found = assigned(np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([0, 1]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> found["distance"].round(2).tolist() == [0.0, np.float32(0.63)], found["confidence"].round(2)
    (True, array([1.  , 0.29], dtype=float32))
    """
    records = np.empty(len(labels), ASSIGNED)
    rows = np.arange(len(labels))
    points = np.asarray(vectors, dtype=np.float64)
    norms = np.einsum("ij,ij->i", points, points)[:, None] + np.einsum("ij,ij->i", means, means)
    distances = np.sqrt(np.maximum(norms - 2.0 * points @ means.T, 0.0))
    own = distances[rows, labels]
    records["label"], records["distance"] = labels, own
    if len(means) == 1:
        records["confidence"] = np.nan
        return records
    distances[rows, labels] = np.inf
    other = distances.min(axis=1)
    larger = np.maximum(own, other)
    records["confidence"] = np.where(larger > 0, (other - own) / np.where(larger > 0, larger, 1.0), 0.0)
    return records
