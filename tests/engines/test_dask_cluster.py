"""The pipeline on real clusters of this machine: any workers, one that is killed, memory limits, clusters that go."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dask_arrays import computed

from anchor_align import AlignedClusterer, ClusterError, GramMatrices, align
from anchor_align.metrics import acc

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

# Sockets and loops of a cluster that ends are left to the garbage collector in some versions of distributed.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

N_CLUSTERS, N_SAMPLES, ROWS = 4, 2_000, 700
NOT_ORTHOGONAL: dict[str, Any] = {"n_init": 1, "orthogonal": False, "max_iter": 4}
ADAPTERS: list[tuple[str, dict[str, Any]]] = [
    ("lmvsc", {}),
    ("fmvacc", {"n_init": 2, "max_iter": 3}),
    ("sfmc", {"anchors": "random", "max_iter": 2}),
]


@pytest.fixture(scope="module", autouse=True)
def _forked_workers() -> Iterator[None]:
    """Workers are forks of one process that has imported everything, so that each starts at once."""
    from dask import config
    from distributed.utils import get_mp_context

    with config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        get_mp_context()  # sets a shorter list, once
        multiprocessing.set_forkserver_preload(["distributed.nanny", "sklearn.cluster", "anchor_align.engines.dask"])
        yield


@contextmanager
def cluster(n_workers: int = 2, **settings: Any) -> Iterator[Any]:
    """A client of a cluster on this machine."""
    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", **settings}
    with (
        distributed.LocalCluster(n_workers=n_workers, **settings) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two worker processes."""
    with cluster() as found:
        yield found


def planted() -> list[np.ndarray]:
    """Two views of clusters that overlap a little."""
    rng = np.random.default_rng(0)
    labels = rng.integers(N_CLUSTERS, size=N_SAMPLES)
    return [6.0 * rng.standard_normal((N_CLUSTERS, 5))[labels] + rng.standard_normal((N_SAMPLES, 5)) for _ in range(2)]


def clusterer(adapter: str, params: dict[str, Any], **settings: Any) -> AlignedClusterer:
    """The same fit everywhere."""
    return AlignedClusterer(
        adapter, n_clusters=N_CLUSTERS, n_anchors=6, adapter_params=params, random_state=0, **settings
    )


def on_dask(rows: int = ROWS) -> list[Any]:
    """The views as Dask arrays."""
    return [da.from_array(X, chunks=(rows, -1)) for X in planted()]


@pytest.mark.parametrize(("adapter", "params"), ADAPTERS)
def test_two_processes_find_what_one_machine_finds(client: Any, adapter: str, params: dict[str, Any]) -> None:
    """The labels are those in memory, whether views and graphs are kept or not, and so are those of new samples."""
    expected = clusterer(adapter, params).fit(planted()).labels_
    fitted = clusterer(adapter, params).fit(on_dask())
    assert acc(expected, computed(fitted.labels_)) == 1.0
    predicted = fitted.predict(on_dask(1_100)).compute()
    np.testing.assert_array_equal(predicted, fitted.predict(planted()))
    # The clusters of sfmc are components of a graph. The nearest mean may give one sample in a hundred another cluster.
    assert np.mean(predicted == computed(fitted.labels_)) >= (0.99 if adapter == "sfmc" else 1.0)
    if adapter != "sfmc":
        kept = [X.persist() for X in on_dask(1_100)]
        again = clusterer(adapter, params, storage="never", gather=True).fit(kept)
        assert acc(expected, again.labels_) == 1.0


def test_rows_stay_where_they_are_made(client: Any) -> None:
    """Chunks of two views that are made anew in a pass are made where they are multiplied: next to nothing travels."""
    views = [
        da.map_blocks(_block_of_view, view, chunks=((20_000,) * 12, (8,)), dtype="f8", meta=np.empty((0, 8)))
        for view in range(2)
    ]
    assert sum(X.nbytes for X in views) > 30e6
    before = client.run(_received)
    assert GramMatrices.from_graphs(views).n_samples == 240_000
    assert sum(client.run(_received).values()) - sum(before.values()) < 1e5


def _block_of_view(view: int, block_info: Any = None) -> np.ndarray:
    return np.random.default_rng([view, block_info[None]["chunk-location"][0]]).random((20_000, 8))


def _received(dask_worker: Any) -> int:
    """Bytes that a worker got from others."""
    return sum(int(each["total"]) for each in dask_worker.transfer_incoming_log)


def test_any_number_of_workers_and_threads() -> None:
    """The result is the same to the last digit, as the chunks are the same."""
    params = {"kmeans": "sample"}  # that of the labels passes over the chunks as often as it needs
    expected = clusterer("lmvsc", params).fit(on_dask())
    labels, embedding = np.asarray(expected.labels_), np.asarray(expected.embedding_)
    for n_workers, threads in ((1, 4), (4, 1)):
        with cluster(n_workers, threads_per_worker=threads, processes=False):
            fitted: Any = clusterer("lmvsc", params).fit(on_dask())
            np.testing.assert_array_equal(computed(fitted.labels_), labels)
            np.testing.assert_array_equal(fitted.embedding_.compute(), embedding)


@contextmanager
def at_visit(number: int, action: Callable[[], object]) -> Iterator[list[int]]:
    """Count the visits of the chunks, and do something at one of them: before a sum, or while results are kept."""
    from anchor_align.engines.dask._chunks import Tasks

    visits = [0]

    def counted(visit: Callable[..., Any], first: bool) -> Callable[..., Any]:
        def wrapped(self: Any, **options: Any) -> Any:
            visits[0] += 1
            now = visits[0] == number
            if now and first:
                action()
            result = visit(self, **options)
            if now and not first:
                action()
            return result

        return wrapped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tasks, "compute", counted(Tasks.compute, first=True))
        patch.setattr(Tasks, "persist", counted(Tasks.persist, first=False))
        yield visits


def n_visits(adapter: str, params: dict[str, Any]) -> int:
    """Visits that an undisturbed fit makes."""
    with at_visit(0, int) as visits:
        clusterer(adapter, params).fit(on_dask())
    return visits[0]


def test_a_worker_that_is_killed_changes_nothing() -> None:
    """The scheduler runs its tasks again, and what it had kept is made anew."""
    with cluster() as client:
        for adapter, params in (("lmvsc", {}), ("fmvacc", NOT_ORTHOGONAL)):
            expected = clusterer(adapter, params).fit(planted()).labels_
            total = n_visits(adapter, params)
            for visit in (total // 3, 2 * total // 3):
                client.wait_for_workers(2)
                victim = next(iter(client.run(os.getpid).values()))
                with at_visit(visit, partial(os.kill, victim, signal.SIGKILL)) as visits:
                    fitted = clusterer(adapter, params).fit(on_dask())
                assert visits[0] > visit > 0
                assert acc(expected, computed(fitted.labels_)) == 1.0
                assert victim not in client.run(os.getpid).values()


@pytest.mark.parametrize("part", [0.3, 0.8])
def test_a_cluster_that_goes_away_is_told(part: float) -> None:
    """One sentence, instead of an error of the network."""
    with (
        cluster() as client,
        at_visit(int(part * n_visits("lmvsc", {})), client.cluster.close),
        pytest.raises(ClusterError, match="The Dask cluster was closed or lost during the work"),
    ):
        clusterer("lmvsc", {}).fit(on_dask())


def test_views_that_went_away_with_their_cluster_are_told() -> None:
    """They were kept there, and nobody is left to ask for them."""
    with cluster(1, processes=False) as client:
        kept = client.persist(on_dask())
        assert align(kept)[0].shape == (5, 5)
    for work in (align, clusterer("lmvsc", {}).fit):
        with pytest.raises(
            ClusterError, match="The Dask cluster that kept these data was closed or lost: persisted views"
        ):
            work(kept)


def test_a_chunk_that_kills_its_workers_is_told() -> None:
    """Dask gives up after some attempts; the error says what to do about it."""
    from dask import config

    views = [da.map_blocks(_deadly, chunks=((1_000,) * 3, (5,)), dtype="f8", meta=np.empty((0, 5))) for _ in range(2)]
    with (
        config.set({"distributed.scheduler.allowed-failures": 0}),
        cluster(1),
        pytest.raises(ClusterError, match="rechunk the views to fewer rows, or give the workers more memory"),
    ):
        clusterer("lmvsc", {}).fit(views)


def _deadly(block_info: Any = None) -> np.ndarray:
    os.kill(os.getpid(), signal.SIGKILL)
    return np.empty((1_000, 5))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
def test_workers_with_far_less_memory_than_the_data() -> None:
    """960 MB in two views, two workers of 450 MB: the limit holds, and nothing is restarted."""
    n, rows, d, limit = 240_000, 10_000, 500, 450e6
    views = [
        da.map_blocks(
            _wide_block, view, chunks=((rows,) * (n // rows), (d,)), dtype=np.float32, meta=np.empty((0, d), np.float32)
        )
        for view in range(2)
    ]
    assert sum(X.nbytes for X in views) > 2 * limit
    with cluster(memory_limit=limit) as client:
        before = set(client.run(os.getpid).values())
        fit = clusterer("lmvsc", {"kmeans": "sample"}, storage="never").fit(views)
        assert acc(np.tile(np.arange(rows) % N_CLUSTERS, n // rows), computed(fit.labels_)) > 0.99
        assert set(client.run(os.getpid).values()) == before
        assert max(client.run(_peak).values()) < limit


def _wide_block(view: int, block_info: Any = None) -> np.ndarray:
    """The same few samples again and again, a little different in each chunk."""
    number = block_info[None]["chunk-location"][0]
    rng = np.random.default_rng(view)
    centres = 2.0 * rng.standard_normal((N_CLUSTERS, 500))
    noise = rng.standard_normal((100, 500))
    block = np.tile((centres[np.arange(100) % N_CLUSTERS] + noise).astype(np.float32), (100, 1))
    block += np.random.default_rng([view, number]).standard_normal((10_000, 1), dtype=np.float32)
    return block


def _peak() -> int:
    """Most bytes that this process had; getrusage tells those of the process that started it, if it had more."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])
