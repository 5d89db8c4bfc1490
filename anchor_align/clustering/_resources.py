"""Memory and disk that a fit needs, compared with the free memory and disk before the work starts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..arrays import is_sparse
from ..blocks import DEFAULT_MEMORY, available_memory, check_disk, in_file, readable_size
from ..checks import check_not_empty
from ..errors import FileError, InputError, InputTypeError, NotEnoughMemoryError, shown
from ..fusion import Fusion
from ..graphs import count_directions
from ..plugins import Adapter
from ._sample_order import n_bytes
from ._views import Views

STORAGES = ("memory", "disk", "never", "auto")
LEAST_WORK = 2**23  # least memory for blocks of rows


@dataclass(frozen=True)
class Plan:
    """Where a fit keeps its graphs, bytes for blocks of rows (None: the default), and the order of the samples."""

    storage: str
    work: int | None
    by_content: bool


@dataclass(frozen=True)
class Need:
    """Bytes of all graphs with the fused one, of the embedding, and of data in memory for every sample.

    ``copies`` are those of the samples that anchors are learned from, if samples are missing, and those of views in
    another order of the samples. Graphs and embedding count twice then: they are put back in the order of the data.
    ``files`` are copies of views in files, in the order of their names, which are in files, too.
    """

    graphs: int
    embedding: int
    samples: int
    copies: int = 0
    files: int = 0

    def memory(self, storage: str) -> int:
        large = self.graphs + self.embedding + self.copies
        return self.samples + LEAST_WORK + (large if storage == "memory" else 0)

    def disk(self, storage: str) -> int:
        kept = self.embedding + self.copies
        return self.files + {"memory": 0, "disk": self.graphs + kept, "never": kept}[storage]


def check_folder(folder: object) -> Path | None:
    """The folder for files of a fit."""
    if folder is None:
        return None
    if not isinstance(folder, str | Path):
        raise InputTypeError(f"folder must be a path, got {shown(folder)}.")
    check_not_empty(folder)
    return Path(folder)


def estimate(
    adapter: Adapter, views: Views, n_anchors: int, n_clusters: int, fusion: Fusion, *, by_content: bool
) -> Need:
    """What a fit needs; ``by_content`` says that it takes the samples in an order of their content."""
    n, n_views = views.n_samples, len(views.matrices)
    itemsize = 4 if all(X.dtype == np.float32 for X in views.matrices) else 8
    graph = adapter.graph_bytes(n, n_anchors, itemsize)
    fused = fusion.graph_bytes(graph, n * n_anchors * itemsize, n_views)
    copies = files = 0
    if views.mask is not None:
        kept = views.mask.mean(axis=1)
        copies = sum(int(part * n_bytes(X)) for X, part in zip(views.matrices, kept, strict=True))
    times = 1
    samples = n * (2 * itemsize + 18)  # for k-means a distance, a norm and labels; and the labels of the result
    if by_content or (views.is_named and views.order_of_names is not None):
        times = 2
        sparse = sum(n_bytes(X) for X in views.matrices if is_sparse(X))  # always in memory
        files = 0 if by_content else sum(n_bytes(X) for X in views.matrices if not is_sparse(X) and in_file(X))
        copies += sum(n_bytes(X) for X in views.matrices) - sparse - files
        samples += sparse
    directions = count_directions(n_clusters, adapter.directions, min(n, n_views * n_anchors))
    return Need(times * (n_views * graph + fused), times * n * directions * itemsize, samples, copies, files)


def check_resources(need: Need, storage: str, memory: int | None, folder: Path | None) -> int:
    """Refuse a fit without enough memory or disk; returns the bytes that are left for blocks of rows."""
    limit = available_memory() if memory is None else memory
    least = need.memory(storage)
    if limit is not None and least > limit:
        there = f"{readable_size(limit)} {'were given' if memory is not None else 'are available'}"
        raise NotEnoughMemoryError(
            f"The fit needs {readable_size(least)} of memory beyond the views; {there}.{_way_out(need, storage, limit)}"
        )
    if disk := need.disk(storage):
        check_disk(disk, folder)
    left = DEFAULT_MEMORY if limit is None else limit - least + LEAST_WORK
    return min(DEFAULT_MEMORY, left)


def plan_within(
    need_of: Callable[..., Need], adapter: Adapter, wish: Plan, memory: int | None, folder: Path | None
) -> Plan:
    """The plan for the memory and disk there are; refuses a fit that needs more.

    ``need_of(by_content=...)`` is what the fit needs. The copy in an order of the content is not worth refusing a fit.
    """

    def plan(by_content: bool) -> Plan:
        need = need_of(by_content=by_content)
        storage = choose_storage(need, adapter, memory, folder) if wish.storage == "auto" else wish.storage
        return Plan(storage, check_resources(need, storage, memory, folder), by_content)

    if wish.by_content:
        with suppress(NotEnoughMemoryError, FileError, InputError):
            return plan(by_content=True)
    return plan(by_content=False)


def choose_storage(need: Need, adapter: Adapter, memory: int | None, folder: Path | None) -> str:
    """The first place that has room: memory, files, or none; "memory" if none has, or the adapter has no choice."""
    limit = available_memory() if memory is None else memory
    for storage in ("memory", "disk", "never"):
        if limit is None or need.memory(storage) <= limit:
            with suppress(InputError, FileError):
                check_storage(adapter, storage)
                if disk := need.disk(storage):
                    check_disk(disk, folder)
                return storage
    return "memory"


def _way_out(need: Need, storage: str, limit: int) -> str:
    if storage != "memory":
        return " Use fewer samples or clusters, or float32."
    if need.memory("disk") > limit:
        return " Use fewer samples, clusters or anchors, or float32."
    memory, disk, never = map(readable_size, (need.memory("disk"), need.disk("disk"), need.disk("never")))
    return f" storage='disk' needs {memory} and {disk} of disk, storage='never' as much and {never}."


def check_storage(adapter: Adapter, storage: str) -> None:
    """Graphs can be stored on disk only if the adapter makes them in blocks of rows."""
    if storage == "memory":
        return
    if not adapter.works_by_blocks:
        raise InputError(
            f"Adapter {adapter.name!r} makes whole graphs in memory; storage={storage!r} needs an adapter that defines "
            "learn_anchors."
        )
    if storage == "never" and (adapter.weighs_views or not adapter.clusters_spectrally):
        raise InputError(
            f"Adapter {adapter.name!r} needs the whole graphs to weigh the views or to cluster; use storage='disk'."
        )


def check_engine(
    adapter: Adapter, views: Views, storage: str = "memory", memory: int | None = None, folder: Path | None = None
) -> None:
    """Refuse options that do not apply to views on a cluster, and adapters that cannot use such views."""
    engine = views.engine
    if not engine.distributed:
        return
    if not (adapter.works_on_dask and adapter.works_by_blocks):
        raise InputError(
            f"Adapter {adapter.name!r} does not work on {engine.name} arrays (works_on_dask is not set); pass views "
            "that are in memory."
        )
    if storage == "disk" or folder is not None or memory is not None:
        raise InputError(
            "storage='disk', memory and folder are for views on this machine. On a cluster the memory limits of the "
            f"workers apply, and {engine.name} moves data that do not fit to their disks; storage='never' stores no "
            "graphs."
        )
