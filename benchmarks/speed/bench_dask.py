"""A fit on Dask arrays larger than the workers' memory: peaks, time against one machine, cost of a visit, traffic.

Two worker processes of one thread each, on this machine. The views are made anew whenever a chunk is visited, which is
part of every time on Dask, but not on one machine; the time of one bare pass over them is reported with the others.
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
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer
from anchor_align.blocks import parts_of, view_rows
from anchor_align.engines.dask._chunks import Tasks
from anchor_align.engines.dask._dask_kmeans import _assign
from anchor_align.metrics._scores import acc
from anchor_align_adapters._alternation import FreeAnchors, OrthogonalAnchors

N_CLUSTERS, N_VIEWS, N_COLUMNS, N_ANCHORS = 10, 2, 16, 20
# Distance of the means of clusters, and of their parts, from zero in every column; the noise in it is 1.
SPACING, APART = 1.2, 0.5
SAMPLES, ROWS, IN_MEMORY = 10_000_000, 250_000, 1_000_000
QUICK, QUICK_ROWS, QUICK_IN_MEMORY = 200_000, 25_000, 50_000
WORKERS = 2
# Bytes of each worker: both together have less than the views, 1.28 GB.
LIMIT = 600e6
LEAST_ACCURACY = 0.9
# Full k-means is left out if ten times as many samples would take longer than this, in seconds.
LONGEST = 600.0
# Chunks among which visits and traffic are measured, and rounds of them.
CHUNKS, QUICK_CHUNKS, ROUNDS, QUICK_ROUNDS = (40, 400), (40,), 50, 10
MEGABYTE = 1e6

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


@dataclass(frozen=True)
class Traffic:
    """Bytes of one round for each worker: all that is sent, and what the arithmetic cannot do without."""

    measured: float
    down: int
    up: int


def run(quick: bool, _max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Fits with anchors of a sample and of all samples, one machine, then visits and traffic."""
    n, rows, n_here = (QUICK, QUICK_ROWS, QUICK_IN_MEMORY) if quick else (SAMPLES, ROWS, IN_MEMORY)
    size = n * N_VIEWS * N_COLUMNS * 4 / MEGABYTE
    report("")
    report(f"On Dask: {WORKERS} processes of one thread and {LIMIT / MEGABYTE:g} MB each; lmvsc, graphs never stored")
    report(f"  n = {n}, {N_VIEWS} views x {N_COLUMNS} columns, float32, {size:.0f} MB made anew in every pass")
    report(f"  (bars: peak of every worker below its limit, none restarted, ACC > {LEAST_ACCURACY})")
    here = {kmeans: _fit_here(n_here, rows, kmeans, "lmvsc") for kmeans in ("sample", "full")}
    for kmeans, found_here in here.items():
        report(
            f"  one machine, {WORKERS} threads, k-means {kmeans}, n = {n_here}: {found_here['seconds']:.1f} s   "
            f"ACC {found_here['accuracy']:.3f}"
        )
    fits: dict[str, dict[str, Any]] = {}
    for kmeans, n_samples in (("sample", n), ("full", n_here)) if quick else _jobs(n_here, n):
        if kmeans == "full" and n_samples > n_here:
            seconds = fits[f"full, {n_here}"]["seconds"] * n_samples / n_here
            if seconds > LONGEST:
                report(f"  k-means full, n = {n_samples}: left out, would take about {seconds:.0f} s")
                continue
        found = _fit(n_samples, rows, kmeans, "lmvsc")
        ratio = (found.seconds / n_samples) / (here[kmeans]["seconds"] / n_here)
        fits[f"{kmeans}, {n_samples}"] = {**asdict(found), "time_ratio": ratio, "passed": _passed(found)}
        _report_fit(f"{kmeans}, n = {n_samples}", found, ratio, report)
    processor = {adapter: fit_both(adapter, n, n_here, rows, report) for adapter in ("local", "lmvsc")}
    visits, traffic = _visits_and_traffic(quick, report)
    return {
        "fits": fits,
        "processor": processor,
        "here": here,
        "visits": visits,
        "traffic": traffic,
        "summary": {
            "passed": all(found["passed"] for found in (*fits.values(), *processor.values())),
            "largest_worker_peak": max(max(found["worker_peaks"]) for found in fits.values()),
            "least_accuracy": min(found["accuracy"] for found in fits.values()),
            "time_ratios": {name: found["time_ratio"] for name, found in fits.items()},
        },
    }


def fit_both(adapter: str, n: int, n_here: int, rows: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Processor time for each sample, on Dask over that of one machine, anchors of a sample: also on a busy machine."""
    here = _fit_here(n_here, rows, "sample", adapter)
    found = _fit(n, rows, "sample", adapter)
    ratio = (found.processor_seconds / n) / (here["processor_seconds"] / n_here)
    report(f"  {adapter}, n = {n}: processor time per sample over that of one machine {ratio:.2f}")
    _report_fit(f"sample, n = {n}", found, ratio, report)
    return {**asdict(found), "processor_ratio": ratio, "here": here, "passed": _passed(found)}


def _jobs(*sizes: int) -> list[tuple[str, int]]:
    return [(kmeans, n) for kmeans in ("sample", "full") for n in sizes]


def _passed(found: Outcome) -> bool:
    return max(found.worker_peaks) < LIMIT / MEGABYTE and not found.restarts and found.accuracy > LEAST_ACCURACY


def _report_fit(name: str, found: Outcome, ratio: float, report: Callable[[str], None]) -> None:
    peaks = ", ".join(f"{peak:.0f}" for peak in found.worker_peaks)
    report(
        f"  k-means {name:<20} {found.seconds:.1f} s, time per sample over that of one machine {ratio:.2f}   "
        f"ACC {found.accuracy:.3f}{'' if _passed(found) else '   MISSED'}"
    )
    report(
        f"    peaks in MB: workers {peaks} (before {found.worker_before:.0f}), client {found.client_peak:.0f} (before "
        f"{found.client_before:.0f})   restarts {found.restarts}"
    )
    report(
        f"    {found.visits} visits of the chunks; one bare pass over both views {found.bare_pass:.2f} s, "
        f"labels to the client {found.labels:.2f} s"
    )


def _clusterer(kmeans: str, adapter: str) -> AlignedClusterer:
    return AlignedClusterer(
        adapter,
        n_clusters=N_CLUSTERS,
        n_anchors=N_ANCHORS,
        adapter_params={"kmeans": kmeans},
        storage="never",
        random_state=0,
    )


def _fit(n: int, rows: int, kmeans: str, adapter: str) -> Outcome:
    """One fit on a cluster of its own, so that peaks are those of this fit."""
    with _cluster() as client:
        views = _lazy(n, rows)
        blocks = parts_of(views[0]).zip(*map(parts_of, views[1:]))
        _clusterer(kmeans, adapter).fit(_lazy(2_000, 1_000))  # what is imported on the way
        started = client.run(os.getpid)
        worker_before = max(client.run(_resident, "VmHWM").values())
        with suppress(OSError):  # where it is not allowed, the peak is that of the whole process
            Path("/proc/self/clear_refs").write_text("5")
        client_before = _resident("VmRSS")
        with _counted_visits() as visits:
            used, start = _processor_seconds(client), time.perf_counter()
            fitted = _clusterer(kmeans, adapter).fit(views)
            seconds, used = time.perf_counter() - start, _processor_seconds(client) - used
        client_peak = _resident("VmHWM")
        start = time.perf_counter()
        lazy: Any = fitted.labels_
        found = lazy.compute()
        labels = time.perf_counter() - start
        bare_pass = _best_time(partial(blocks.total, _one), 2)
        ended = client.run(os.getpid)
        return Outcome(
            worker_peaks=[float(peak) for peak in client.run(_resident, "VmHWM").values()],
            worker_before=worker_before,
            client_peak=client_peak,
            client_before=client_before,
            restarts=len(set(started.values()) - set(ended.values())),
            accuracy=float(acc(_truth(n, rows), found)),
            seconds=seconds,
            processor_seconds=used,
            labels=labels,
            visits=visits[0],
            bare_pass=bare_pass,
        )


def _fit_here(n: int, rows: int, kmeans: str, adapter: str) -> dict[str, float]:
    """The same samples and settings in memory, on as many threads as there are workers."""
    views = [
        np.concatenate([_block(view, number, size) for number, size in enumerate(_sizes(n, rows))])
        for view in range(N_VIEWS)
    ]
    with threadpool_limits(WORKERS):
        _clusterer(kmeans, adapter).fit([X[:2_000] for X in views])
        used, start = time.process_time(), time.perf_counter()
        fitted = _clusterer(kmeans, adapter).fit(views)
        seconds, used = time.perf_counter() - start, time.process_time() - used
    return {"seconds": seconds, "processor_seconds": used, "accuracy": float(acc(_truth(n, rows), fitted.labels_))}


def _processor_seconds(client: Client) -> float:
    return time.process_time() + float(sum(client.run(time.process_time).values()))


def _visits_and_traffic(
    quick: bool, report: Callable[[str], None]
) -> tuple[dict[str, float], dict[str, dict[str, dict[str, float]]]]:
    """What a visit takes that does next to nothing, and what travels in a round; views kept by the workers."""
    visits, traffic = {}, {}
    rounds = QUICK_ROUNDS if quick else ROUNDS
    with _cluster() as client:
        for chunks in QUICK_CHUNKS if quick else CHUNKS:
            X = _lazy(100 * chunks, 100)[0].persist()
            visit = visits[str(chunks)] = _best_time(partial(parts_of(X).total, _one), rounds)
            traffic[str(chunks)] = {
                name: asdict(found) for name, found in _traffic(X, rounds, len(client.run(os.getpid))).items()
            }
            report(f"  one visit of {chunks} chunks that does nothing: {1e3 * visit:.1f} ms")
            for name, found in traffic[str(chunks)].items():
                report(
                    f"    {name:<36} {found['measured'] / 1e3:.1f} kB a round and worker; the arithmetic: "
                    f"{found['down'] / 1e3:.1f} down, {found['up'] / 1e3:.1f} up"
                )
    return visits, traffic


def _traffic(X: Any, rounds: int, n_workers: int) -> dict[str, Traffic]:
    """Bytes of a round of k-means, and of FMVACC with orthogonal anchors and with more anchors than columns."""
    rows = view_rows(X)
    parts = rows.parts()
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((1, N_ANCHORS, N_COLUMNS))
    orthonormal = np.linalg.qr(rng.standard_normal((N_COLUMNS, N_COLUMNS)))[0]
    orthogonal, free = OrthogonalAnchors(rows, 1.0), FreeAnchors(rows, 1.0)
    free.first_graph(centres[0])
    found = {}
    for name, work, down in (
        (f"k-means, {N_ANCHORS} centres", lambda: parts.total(_assign, centres), centres),
        (f"fmvacc, {N_COLUMNS} anchors, orthogonal", lambda: orthogonal.next_graph(orthonormal), orthonormal),
        (f"fmvacc, {N_ANCHORS} anchors, free", lambda: free.next_graph(centres[0]), centres[0]),
    ):
        up = sum(np.asarray(each).nbytes for each in vars(work()).values())
        idle = _sent_per_second()
        before, start = _sent(), time.perf_counter()
        for _ in range(rounds):
            work()
        sent = _sent() - before - idle * (time.perf_counter() - start)
        found[name] = Traffic(max(0.0, sent) / rounds / n_workers, int(down.nbytes), up)
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


def _truth(n: int, rows: int) -> Array:
    """Clusters of all rows."""
    return np.concatenate([_parts(number, size) % N_CLUSTERS for number, size in enumerate(_sizes(n, rows))])


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


def _resident(what: str) -> float:
    """Megabytes of resident memory, now (VmRSS) or at most (VmHWM).

    Not those of getrusage: a process starts with the peak of the one that started it there.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith(what))
    return int(kilobytes) * 1024 / MEGABYTE
