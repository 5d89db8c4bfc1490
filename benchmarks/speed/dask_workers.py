"""A fit on Dask arrays larger than the workers' memory: peaks, time against one machine, cost of a visit, traffic.

Two worker processes of one thread each, on this machine. The views are made anew whenever a chunk is visited, which is
part of every time on Dask, but not on one machine; the time of one bare pass over them is measured with the others.
Traffic is all that passes this machine's loopback device: run it where nothing else does, as under ``unshare --net``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import dask.array as da
import numpy as np
import numpy.typing as npt
from distributed import Client, LocalCluster
from formats import DASH, fixed, table
from memory_run import MEGABYTE, resident
from results import Bench
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer
from anchor_align.blocks import parts_of, view_rows
from anchor_align.engines.dask._chunks import Tasks
from anchor_align.engines.dask._dask_kmeans import _assign
from anchor_align.metrics import acc
from anchor_align_adapters._alternation import FreeAnchors, OrthogonalAnchors

MINUTES = 25
N_CLUSTERS, N_VIEWS, N_COLUMNS, N_ANCHORS = 10, 2, 16, 20
# Distance of the means of clusters, and of their parts, from zero in every column; the noise in it is 1.
SPACING, APART = 1.2, 0.5
SAMPLES, ROWS, IN_MEMORY = 10_000_000, 250_000, 1_000_000
WORKERS = 2
# Bytes of each worker: both together have less than the views, 1.28 GB.
LIMIT = 600e6
KMEANS = ("sample", "full")
# Chunks among which visits and traffic are measured, and rounds of them.
CHUNKS, ROUNDS = (40, 400), 50

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Outcome:
    """One fit on Dask: megabytes and seconds; ``processor_seconds`` are those of this process and all workers.

    ``client_before`` is what this process had before, interpreter and scheduler included; ``labels`` are the seconds
    that it takes to bring the labels here.
    """

    worker_peaks: list[float]
    worker_before: float
    client_peak: float
    client_before: float
    restarts: int
    accuracy: float
    seconds: float
    processor_seconds: float
    labels: float
    visits: int
    bare_pass: float


def run(bench: Bench) -> dict[str, Any]:
    """Fits with anchors of a sample and of all samples, one machine, then visits and traffic."""
    here = {kmeans: bench.kept(f"one machine, {kmeans}", _fit_here, kmeans, "lmvsc") for kmeans in KMEANS}
    fits = []
    for kmeans in KMEANS:
        for n in (IN_MEMORY, SAMPLES):
            found = bench.kept(f"{n} samples, {kmeans}", _fit, n, kmeans, "lmvsc")
            ratio = (found["seconds"] / n) / (here[kmeans]["seconds"] / IN_MEMORY)
            fits.append({"n": n, "kmeans": kmeans, **found, "time": ratio})
    processor = []
    for adapter in ("local", "lmvsc"):  # processor time also on a busy machine
        alone = bench.kept(f"one machine, {adapter}", _fit_here, "sample", adapter)
        found = bench.kept(f"{adapter} on Dask", _fit, SAMPLES, "sample", adapter)
        ratio = (found["processor_seconds"] / SAMPLES) / (alone["processor_seconds"] / IN_MEMORY)
        processor.append({"adapter": adapter, "n": SAMPLES, **found, "processor": ratio})
    visits = [bench.kept(f"visits of {chunks} chunks", _visits_and_traffic, chunks) for chunks in CHUNKS]
    memory = {"gigabytes": SAMPLES * N_VIEWS * N_COLUMNS * 4 / 1e9, "limit": LIMIT / MEGABYTE, "n_here": IN_MEMORY}
    return {**memory, "here": here, "fits": fits, "processor": processor, "visits": visits}


def _clusterer(kmeans: str, adapter: str) -> AlignedClusterer:
    return AlignedClusterer(
        adapter,
        n_clusters=N_CLUSTERS,
        n_anchors=N_ANCHORS,
        adapter_params={"kmeans": kmeans},
        storage="never",
        random_state=0,
    )


def _fit(n: int, kmeans: str, adapter: str) -> dict[str, Any]:
    """One fit on a cluster of its own, so that peaks are those of this fit."""
    with _cluster() as client:
        views = _lazy(n, ROWS)
        blocks = parts_of(views[0]).zip(*map(parts_of, views[1:]))
        _clusterer(kmeans, adapter).fit(_lazy(2_000, 1_000))  # what is imported on the way
        started = client.run(os.getpid)
        worker_before = max(client.run(resident, "VmHWM").values())
        with suppress(OSError):  # where it is not allowed, the peak is that of the whole process
            Path("/proc/self/clear_refs").write_text("5")
        client_before = resident("VmRSS")
        with _counted_visits() as visits:
            used, start = _processor_seconds(client), time.perf_counter()
            fitted = _clusterer(kmeans, adapter).fit(views)
            seconds, used = time.perf_counter() - start, _processor_seconds(client) - used
        client_peak = resident("VmHWM")
        start = time.perf_counter()
        lazy: Any = fitted.labels_
        found = lazy.compute()
        labels = time.perf_counter() - start
        bare_pass = _best_time(partial(blocks.total, _one), 2)
        ended = client.run(os.getpid)
        outcome = Outcome(
            worker_peaks=[float(peak) for peak in client.run(resident, "VmHWM").values()],
            worker_before=worker_before,
            client_peak=client_peak,
            client_before=client_before,
            restarts=len(set(started.values()) - set(ended.values())),
            accuracy=float(acc(_truth(n), found)),
            seconds=seconds,
            processor_seconds=used,
            labels=labels,
            visits=visits[0],
            bare_pass=bare_pass,
        )
        return asdict(outcome)


def _fit_here(kmeans: str, adapter: str) -> dict[str, float]:
    """Some of the samples with the same settings in memory, on as many threads as there are workers."""
    n = IN_MEMORY
    views = [
        np.concatenate([_block(view, number, size) for number, size in enumerate(_sizes(n, ROWS))])
        for view in range(N_VIEWS)
    ]
    with threadpool_limits(WORKERS):
        _clusterer(kmeans, adapter).fit([X[:2_000] for X in views])
        used, start = time.process_time(), time.perf_counter()
        fitted = _clusterer(kmeans, adapter).fit(views)
        seconds, used = time.perf_counter() - start, time.process_time() - used
    return {"seconds": seconds, "processor_seconds": used, "accuracy": float(acc(_truth(n), fitted.labels_))}


def _processor_seconds(client: Client) -> float:
    return time.process_time() + float(sum(client.run(time.process_time).values()))


def _visits_and_traffic(chunks: int) -> dict[str, Any]:
    """What a visit takes that does next to nothing, and what travels in a round; views kept by the workers."""
    with _cluster() as client:
        X = _lazy(100 * chunks, 100)[0].persist()
        seconds = _best_time(partial(parts_of(X).total, _one), ROUNDS)
        traffic = _traffic(X, len(client.run(os.getpid)))
    return {"chunks": chunks, "seconds": seconds, "traffic": traffic}


def _traffic(X: Any, n_workers: int) -> list[dict[str, Any]]:
    """Bytes of a round of k-means, and of FMVACC with orthogonal anchors and with more anchors than columns."""
    rows = view_rows(X)
    parts = rows.parts()
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((1, N_ANCHORS, N_COLUMNS))
    orthonormal = np.linalg.qr(rng.standard_normal((N_COLUMNS, N_COLUMNS)))[0]
    orthogonal, free = OrthogonalAnchors(rows, 1.0), FreeAnchors(rows, 1.0)
    free.first_graph(centres[0])
    found = []
    for name, work, down in (
        (f"k-means, {N_ANCHORS} centres of {N_COLUMNS} columns", lambda: parts.total(_assign, centres), centres),
        (f"`fmvacc`, {N_COLUMNS} orthogonal anchors", lambda: orthogonal.next_graph(orthonormal), orthonormal),
        (f"`fmvacc`, {N_ANCHORS} anchors, more than columns", lambda: free.next_graph(centres[0]), centres[0]),
    ):
        up = sum(np.asarray(each).nbytes for each in vars(work()).values())
        idle = _sent_per_second()
        before, start = _sent(), time.perf_counter()
        for _ in range(ROUNDS):
            work()
        sent = _sent() - before - idle * (time.perf_counter() - start)
        measured = max(0.0, sent) / ROUNDS / n_workers
        found.append({"round": name, "measured": measured, "down": int(down.nbytes), "up": up})
    return found


def _sent() -> int:
    """Bytes that processes of this machine have sent to each other so far; 0 where that is not known."""
    with suppress(OSError):
        for line in Path("/proc/net/dev").read_text().splitlines():
            name, _, numbers = line.partition(":")
            if name.strip() == "lo":
                return int(numbers.split()[8])
    return 0


def _sent_per_second(seconds: float = 2.0) -> float:
    before, start = _sent(), time.perf_counter()
    time.sleep(seconds)
    return (_sent() - before) / (time.perf_counter() - start)


def _lazy(n: int, rows: int) -> list[Any]:
    """The views as Dask arrays whose chunks are made when they are visited."""
    chunks = (_sizes(n, rows), (N_COLUMNS,))
    meta = np.empty((0, N_COLUMNS), np.float32)
    return [da.map_blocks(_chunk, view, chunks=chunks, dtype=np.float32, meta=meta) for view in range(N_VIEWS)]


def _sizes(n: int, rows: int) -> tuple[int, ...]:
    return (rows,) * (n // rows) + ((n % rows,) if n % rows else ())


def _chunk(view: int, block_info: Any = None) -> Array:
    """One chunk of a view: Dask says which, and how many rows it has."""
    place = block_info[None]
    return _block(view, place["chunk-location"][0], place["chunk-shape"][0])


def _block(view: int, number: int, size: int) -> Array:
    """Planted rows. Every cluster has parts, so that there are as many as anchors: k-means would wander about else."""
    means = np.random.default_rng(0).standard_normal((N_VIEWS, N_CLUSTERS, N_COLUMNS), dtype=np.float32) * SPACING
    apart = np.random.default_rng(1).standard_normal((N_VIEWS, N_ANCHORS, N_COLUMNS), dtype=np.float32) * APART
    part = _parts(number, size)
    block = np.random.default_rng([2, view, number]).standard_normal((size, N_COLUMNS), dtype=np.float32)
    block += (means[view][np.arange(N_ANCHORS) % N_CLUSTERS] + apart[view])[part]
    return block


def _parts(number: int, size: int) -> Array:
    """Which part of which cluster each row of a chunk belongs to, in all views."""
    return np.random.default_rng([3, number]).integers(N_ANCHORS, size=size, dtype=np.uint8)


def _truth(n: int) -> Array:
    """Clusters of all rows."""
    return np.concatenate([_parts(number, size) % N_CLUSTERS for number, size in enumerate(_sizes(n, ROWS))])


@contextmanager
def _cluster() -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, processes=True, memory_limit=LIMIT, dashboard_address=":0"
        ) as local,
        Client(local) as client,
    ):
        yield client


@contextmanager
def _counted_visits() -> Iterator[list[int]]:
    """How many times the chunks are visited."""
    visits = [0]

    def counted(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Tasks, **options: Any) -> Any:
            visits[0] += 1
            return method(self, **options)

        return call

    with (
        patch.object(Tasks, "compute", counted(Tasks.compute)),
        patch.object(Tasks, "persist", counted(Tasks.persist)),
    ):
        yield visits


def _best_time(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _one(_: Any) -> int:
    return 1


def main_table(result: Any) -> str:
    """Fits on one machine and on Dask."""
    rows = []
    for kmeans, here in result["here"].items():
        accuracy = f"{fixed(100 * here['accuracy'])} %"
        rows.append([f"{result['n_here']:,}", "one machine", f'`"{kmeans}"`', 1, DASH, DASH, accuracy])
        for fit in (fit for fit in result["fits"] if fit["kmeans"] == kmeans):
            size = f" ({result['gigabytes']:.2f} GB)" if fit["n"] == max(each["n"] for each in result["fits"]) else ""
            peaks = (f"{peak:.0f} MB" for peak in (max(fit["worker_peaks"]), fit["client_peak"]))
            accuracy = f"{fixed(100 * fit['accuracy'])} %"
            rows.append([f"{fit['n']:,}{size}", "Dask", f'`"{kmeans}"`', fixed(fit["time"]), *peaks, accuracy])
    head = ["samples", "where", "`kmeans`", "time per sample, relative to one machine", "largest peak of a worker"]
    return table([*head, "peak of this process", "ACC"], rows)


def fit(result: Any, n: int, kmeans: str) -> Any:
    """One fit of lmvsc."""
    return next(each for each in result["fits"] if (each["n"], each["kmeans"]) == (n, kmeans))


def processor(result: Any, adapter: str) -> Any:
    """One fit, with its processor time over that of one machine."""
    return next(each for each in result["processor"] if each["adapter"] == adapter)


def traffic_table(result: Any) -> str:
    """Traffic of a round with few and with many chunks, and what the arithmetic needs."""
    rows = []
    for few, many in zip(*(each["traffic"] for each in result["visits"]), strict=True):
        measured = f"{few['measured'] / 1e3:.0f} kB", f"{many['measured'] / 1e6:.1f} MB"
        rows.append([few["round"], *measured, f"{few['down'] / 1e3:.1f} kB, {few['up'] / 1e3:.1f} kB"])
    chunks = [f"{each['chunks']} chunks" for each in result["visits"]]
    return table(["round", *chunks, "the arithmetic alone: down, up"], rows)
