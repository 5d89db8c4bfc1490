"""What a fit needs, compared with what there is, before the work starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ._mapping import DEFAULT_MEMORY
from ._scratch import check_disk
from ._sizes import available_memory, readable_size
from ._types import is_sparse
from ._views import Views
from .adapter import Adapter
from .errors import InputError, NotEnoughMemoryError

STORAGES = ("memory", "disk", "never")
# Least that blocks of rows are worked on with.
LEAST_WORK = 2**23


@dataclass(frozen=True)
class Need:
    """Bytes of all graphs, fused one included, of the embedding, and of what is kept in memory for every sample.

    ``copies`` are of the samples that anchors are learned from, where views lack some.
    """

    graphs: int
    embedding: int
    samples: int
    copies: int = 0

    def memory(self, storage: str) -> int:
        """Bytes of memory, at least."""
        large = self.graphs + self.embedding + self.copies
        return self.samples + LEAST_WORK + (large if storage == "memory" else 0)

    def disk(self, storage: str) -> int:
        """Bytes of files."""
        kept = self.embedding + self.copies
        return {"memory": 0, "disk": self.graphs + kept, "never": kept}[storage]


def estimate(adapter: Adapter, views: Views, n_anchors: int, n_clusters: int, fusion: str) -> Need:
    """What a fit needs beyond the views."""
    n, n_views = views.n_samples, len(views.matrices)
    itemsize = 4 if all(X.dtype == np.float32 for X in views.matrices) else 8
    graph = adapter.graph_bytes(n, n_anchors, itemsize)
    dense = n * n_anchors * itemsize
    fused = n_views * graph if fusion == "concat" or graph < dense else graph
    if fusion == "rotated":
        fused = dense
    copies = 0
    if views.observed is not None:
        shares = views.observed.mean(axis=1)
        copies = sum(int(share * _bytes_of(X)) for X, share in zip(views.matrices, shares, strict=True))
    # Of k-means a distance, a norm and labels; the labels of the result.
    return Need(n_views * graph + fused, n * n_clusters * itemsize, n * (2 * itemsize + 18), copies)


def _bytes_of(X: Any) -> int:
    """Bytes that the numbers of a view take."""
    return int(X.data.nbytes + X.indices.nbytes if is_sparse(X) else X.nbytes)


def check_resources(need: Need, storage: str, memory: int | None, folder: Path | None) -> int:
    """Refuse what cannot be done; returns the bytes that are left for blocks of rows."""
    limit = available_memory() if memory is None else memory
    least = need.memory(storage)
    if limit is not None and least > limit:
        there = f"{readable_size(limit)} {'were given' if memory is not None else 'are available'}"
        raise NotEnoughMemoryError(
            f"The fit needs {readable_size(least)} of memory beyond the views; {there}.{_way_out(need, storage, limit)}"
        )
    if storage != "memory":
        check_disk(need.disk(storage), folder)
    left = DEFAULT_MEMORY if limit is None else limit - least + LEAST_WORK
    return min(DEFAULT_MEMORY, left)


def _way_out(need: Need, storage: str, limit: int) -> str:
    if storage != "memory":
        return " Use fewer samples or clusters, or float32."
    if need.memory("disk") > limit:
        return " Use fewer samples, clusters or anchors, or float32."
    memory, disk, never = map(readable_size, (need.memory("disk"), need.disk("disk"), need.disk("never")))
    return f" storage='disk' needs {memory} and {disk} of disk, storage='never' as much and {never}."


def check_storage(adapter: Adapter, storage: str) -> None:
    """Graphs can be kept elsewhere only if the adapter makes them a few rows at a time."""
    if storage == "memory":
        return
    if not adapter.works_by_blocks:
        raise InputError(
            f"Adapter {adapter.name!r} makes its graphs whole, in memory; storage={storage!r} needs one that defines "
            "learn_anchors."
        )
    if storage == "never" and (adapter.weighs_views or not adapter.clusters_spectrally):
        raise InputError(
            f"Adapter {adapter.name!r} needs the whole graphs to weigh the views or to cluster; use storage='disk'."
        )


def check_dask(
    adapter: Adapter, storage: str = "memory", memory: int | None = None, folder: Path | None = None
) -> None:
    """Refuse what has no meaning on a cluster, and adapters that cannot work there."""
    if not (adapter.works_on_dask and adapter.works_by_blocks):
        raise InputError(
            f"Adapter {adapter.name!r} does not work on Dask arrays (works_on_dask is not set); pass views that are in "
            "memory."
        )
    if storage == "disk" or folder is not None or memory is not None:
        raise InputError(
            "storage='disk', memory and folder are for views on this machine. On a cluster the workers' memory limits "
            "hold, and Dask moves to their disks what does not fit; storage='never' keeps no graphs at all."
        )
