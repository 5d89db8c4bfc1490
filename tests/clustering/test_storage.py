"""Fits whose graphs are in memory, on disk or never stored; views in files; memory that does not suffice."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from anchor_align import (
    Adapter,
    AdapterError,
    AlignedClusterer,
    AnchorGraphs,
    FileError,
    InputError,
    NotEnoughMemoryError,
    load_views,
)
from anchor_align.arrays import is_sparse
from anchor_align.blocks import _map_blocks as _mapping
from anchor_align.blocks import _scaled_rows as _rows
from anchor_align.clustering import _resources as _resources
from anchor_align.data import make_simulated
from anchor_align.metrics import acc

# Enough anchors for views with fewer features than anchors, too.
SETTINGS: list[tuple[str, int, dict[str, Any]]] = [
    ("local", 20, {}),
    ("lmvsc", 8, {}),
    ("lmvsc", 4, {"kmeans": "sample", "scale": "unit"}),
    ("fmvacc", 4, {"n_init": 2}),
    ("fmvacc", 8, {"n_init": 2, "kmeans": "minibatch"}),
    ("sfmc", 40, {}),
    ("sfmc", 40, {"anchors": "flexible"}),
    ("sfmc", 40, {"anchors": "kmeans"}),
]


def planted(n: int = 600, seed: int = 0, dtype: Any = np.float64) -> tuple[list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=n)
    views = [4 * rng.standard_normal((4, d))[labels] + rng.standard_normal((n, d)) for d in (6, 5)]
    return [view.astype(dtype) for view in views], labels


def clusterer(name: str, n_anchors: int, params: dict[str, Any], **options: Any) -> AlignedClusterer:
    return AlignedClusterer(name, n_clusters=4, n_anchors=n_anchors, adapter_params=params, random_state=0, **options)


@pytest.mark.parametrize(
    ("name", "n_anchors", "params"),
    [*SETTINGS[:4], pytest.param(*SETTINGS[4], marks=pytest.mark.slow), *SETTINGS[5:]],
)
def test_storage_changes_nothing(name: str, n_anchors: int, params: dict[str, Any], tmp_path: Path) -> None:
    """The same labels, embedding and predictions; what is kept is where it was asked for."""
    views, labels = planted()
    expected = clusterer(name, n_anchors, params).fit(views)
    assert acc(labels, expected.labels_) > 0.9
    for storage in ("disk", "never") if name != "sfmc" else ("disk",):
        found = clusterer(name, n_anchors, params, storage=storage, folder=tmp_path).fit(views)
        assert np.array_equal(found.labels_, expected.labels_)
        np.testing.assert_allclose(found.embedding_, expected.embedding_, atol=1e-9)
        assert np.array_equal(found.predict([X[:50] for X in views]), expected.predict([X[:50] for X in views]))
        assert list(tmp_path.iterdir()) == []
        if storage == "never":
            assert found.fused_graph_ is None
            assert found.anchor_graphs_.graphs == ()
        else:
            np.testing.assert_array_equal(dense(found.fused_graph_), dense(expected.fused_graph_))
        again = pickle.loads(pickle.dumps(found))
        assert np.array_equal(again.predict(views), found.predict(views))


def dense(graph: Any) -> np.ndarray:
    return np.asarray(graph.toarray() if is_sparse(graph) else graph)


def test_large_graphs_on_disk_are_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs of more than one block, dense or sparse, are mapped files and not arrays in memory."""
    monkeypatch.setattr(_mapping, "BLOCK_NUMBERS", 2**11)
    views, _ = planted()
    for name, n_anchors, params in (SETTINGS[1], SETTINGS[0]):
        found = clusterer(name, n_anchors, params, storage="disk").fit(views)
        for graph in (found.fused_graph_, *found.anchor_graphs_.graphs):
            assert is_mapped(graph.data if is_sparse(graph) else graph)


def is_mapped(array: Any) -> bool:
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_anchors", "params"), SETTINGS)
@pytest.mark.parametrize("kind", ["dense", "sparse", "float32"])
def test_block_size_and_threads_change_nothing(
    name: str, n_anchors: int, params: dict[str, Any], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels do not depend on the size of the blocks; threads do not change the last digit."""
    views: list[Any] = planted(dtype=np.float32 if kind == "float32" else np.float64)[0]
    if kind == "sparse":
        views = [sp.csr_array(np.maximum(view, 0.0)) for view in views]
    monkeypatch.setattr(_rows, "FEW", 0)
    expected = clusterer(name, n_anchors, params).fit(views)
    monkeypatch.setattr(_mapping, "BLOCK_NUMBERS", 2**10)
    results = []
    for threads in (1, 3):
        monkeypatch.setattr(_mapping, "blas_threads", lambda threads=threads: threads)
        results.append(clusterer(name, n_anchors, params).fit(views))
        assert np.array_equal(results[-1].labels_, expected.labels_)
        np.testing.assert_allclose(
            results[-1].embedding_, expected.embedding_, atol=1e-3 if kind == "float32" else 1e-7
        )
    assert np.array_equal(results[0].embedding_, results[1].embedding_)


@pytest.mark.parametrize("storage", ["memory", "never"])
@pytest.mark.parametrize("name", ["local", "lmvsc", "fmvacc"])
def test_precision_is_that_of_the_views(name: str, storage: str) -> None:
    """Nothing that grows with the samples is in double precision if the views are not; whole numbers are doubles."""
    single, _ = planted(dtype=np.float32)
    found = clusterer(name, 4, {}, storage=storage).fit(single)
    assert found.embedding_.dtype == np.float32
    assert all(graph.dtype == np.float32 for graph in found.anchor_graphs_.graphs)
    if storage == "memory":
        assert found.fused_graph_.dtype == np.float32
    whole = [np.round(10 * view).astype(np.int16) for view in single]
    found = clusterer(name, 4, {}, storage=storage).fit(whole)
    expected = clusterer(name, 4, {}, storage=storage).fit([view.astype(np.float64) for view in whole])
    assert found.embedding_.dtype == np.float64
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["local", "lmvsc", "fmvacc", "sfmc"])
def test_views_in_files(name: str, tmp_path: Path) -> None:
    """Memmaps, as numpy or load_views open them, give what arrays give, and are not written to."""
    views, labels = planted()
    for number, view in enumerate(views):
        np.save(tmp_path / f"view_{number}.npy", view)
    np.save(tmp_path / "labels.npy", labels)
    expected = AlignedClusterer(name, n_clusters=4, random_state=0).fit(views)
    loaded = load_views(tmp_path, mmap=True)
    assert all(isinstance(view, np.memmap) for view in loaded.views)
    fortran = [np.asfortranarray(view) for view in views]
    for given in (loaded.views, [np.load(tmp_path / f"view_{v}.npy", mmap_mode="r+") for v in (0, 1)], fortran):
        found = AlignedClusterer(name, n_clusters=4, random_state=0).fit(given)
        assert np.array_equal(found.labels_, expected.labels_)
    for number, view in enumerate(views):
        np.testing.assert_array_equal(np.load(tmp_path / f"view_{number}.npy"), view)


def test_load_views_takes_a_flag_for_mmap() -> None:
    """Anything but True and False is refused."""
    with pytest.raises(InputError, match="mmap must be True or False, got 'r'"):
        load_views("digits", mmap="r")  # type: ignore[arg-type]


class Whole(Adapter):
    """Makes its graphs whole; must not be asked to where that cannot work."""

    name = "whole"

    def anchor_graphs(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """Random rows."""
        rng = np.random.default_rng(random_state)
        return AnchorGraphs([rng.dirichlet(np.ones(n_anchors), size=len(X)) for X in views])


class Lonely(Adapter):
    """Learns anchors but forgets what makes graphs of them; every call is a mistake."""

    name = "lonely"

    def learn_anchors(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """Never called."""
        raise AssertionError("the work has started")

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> list[Any]:
        """Never called."""
        raise AssertionError("the work has started")


@pytest.mark.parametrize(
    ("adapter", "options", "message"),
    [
        (Whole(), {"storage": "disk"}, "Adapter 'whole' makes whole graphs in memory; storage='disk' needs"),
        (Whole(), {"storage": "never"}, "Adapter 'whole' makes whole graphs"),
        ("sfmc", {"storage": "never"}, "Adapter 'sfmc' needs the whole graphs .* use storage='disk'"),
        ("lmvsc", {"storage": "cloud"}, "Unknown storage 'cloud'; known: 'memory', 'disk', 'never'"),
        ("lmvsc", {"memory": "much"}, "memory must be an amount such as \"500MB\" or a number of bytes, got 'much'"),
        ("lmvsc", {"memory": 1.5}, "memory must be an amount"),
        ("lmvsc", {"memory": 0}, "memory must be an amount"),
        ("lmvsc", {"memory": 10**400}, "memory must be an amount"),
        ("lmvsc", {"memory": "0.5"}, "memory must be an amount"),
        ("lmvsc", {"folder": 5}, "folder must be a path, got 5"),
    ],
)
def test_what_cannot_be_done_is_refused(adapter: Any, options: dict[str, Any], message: str) -> None:
    """In one sentence that names the adapter or the value."""
    with pytest.raises(InputError, match=message):
        AlignedClusterer(adapter, n_clusters=4, **options).fit(planted()[0])


def test_too_little_memory_is_told_before_the_work() -> None:
    """The message says what is needed and what would do; the adapter is not even called."""
    views, _ = planted(n=200_000, dtype=np.float32)
    message = r"needs 64\.8 MB of memory beyond the views; 50 MB were given\."
    with pytest.raises(NotEnoughMemoryError, match=message) as error:
        AlignedClusterer(Lonely(), n_clusters=4, n_anchors=20, memory="50MB").fit(views)
    assert "storage='disk' needs" in str(error.value)
    assert "storage='never' " in str(error.value)
    with pytest.raises(NotEnoughMemoryError, match="Use fewer samples or clusters, or float32"):
        AlignedClusterer(Lonely(), n_clusters=4, storage="never", memory="5MB").fit(views)
    with pytest.raises(NotEnoughMemoryError, match="Use fewer samples, clusters or anchors"):
        AlignedClusterer(Lonely(), n_clusters=4, n_anchors=20, memory="5MB").fit(views)
    assert isinstance(error.value, MemoryError)


def test_what_the_machine_has_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a budget, the memory that is left; where the system does not tell, nothing is refused."""
    views, labels = planted()
    monkeypatch.setattr(_resources, "available_memory", lambda: 10**4)
    with pytest.raises(NotEnoughMemoryError, match="10 KB are available"):
        clusterer("lmvsc", 4, {}).fit(views)
    monkeypatch.setattr(_resources, "available_memory", lambda: None)
    assert acc(labels, clusterer("lmvsc", 4, {}).fit_predict(views)) > 0.9


def test_too_little_disk_is_told_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the folder; nothing is left in it."""
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage._replace(free=1000))
    with pytest.raises(FileError, match=rf"The graphs need 64 KB on disk; {tmp_path} has 1 KB free\."):
        AlignedClusterer(Lonely(), n_clusters=4, n_anchors=4, storage="disk", folder=tmp_path).fit(planted(n=500)[0])
    monkeypatch.undo()
    (tmp_path / "file").touch()
    for folder in ("/nowhere", str(tmp_path / "file"), "/tmp/a\0b"):
        for storage in ("disk", "never"):
            with pytest.raises(FileError, match=rf"^Cannot keep graphs in {re.escape(folder)}: [^:]*\.$"):
                AlignedClusterer(Lonely(), n_clusters=4, storage=storage, folder=folder).fit(planted()[0])
    (tmp_path / "file").unlink()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("storage", ["memory", "disk", "never"])
def test_a_small_budget_gives_the_same(storage: str) -> None:
    """Work in small pieces finds what work at one go finds."""
    views, _ = planted(n=3000)
    expected = clusterer("lmvsc", 8, {}).fit(views)
    found = clusterer("lmvsc", 8, {}, memory="10MB", storage=storage).fit(views)
    assert np.array_equal(found.labels_, expected.labels_)


INTERRUPTED = """
import os, sys, threading, numpy as np
from anchor_align import AlignedClusterer
rng = np.random.default_rng(0)
views = [rng.random((400_000, 16), dtype=np.float32) for _ in range(2)]
clusterer = AlignedClusterer("fmvacc", n_clusters=10, n_anchors=30, storage="disk", folder=sys.argv[1], random_state=0)
print("ready", flush=True)
try:
    clusterer.fit(views)
except KeyboardInterrupt:
    alive = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    print("interrupted", alive, os.listdir(sys.argv[1]), hasattr(clusterer, "labels_"), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_fit_leaves_nothing(how: signal.Signals, tmp_path: Path) -> None:
    """No threads, no files, no half-fitted estimator; a killed process leaves no files either."""
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    # A shell that runs tests in the background may have told its children to ignore Ctrl-C.
    restore = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    command[2] = restore + INTERRUPTED
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        process.send_signal(how)
        said = process.stdout.read()
    if how == signal.SIGINT:
        assert said == "interrupted [] [] False\n"
    assert list(tmp_path.iterdir()) == []


class Blocks(Adapter):
    """Makes graphs by blocks; what is wrong with those behind the first, a function says."""

    name = "blocks"

    def __init__(self, spoil: Any = None) -> None:
        self.spoil = spoil

    def learn_anchors(
        self, views: Sequence[Any], *, n_clusters: int, n_anchors: int, random_state: int
    ) -> AnchorGraphs:
        """Nothing to learn."""
        return AnchorGraphs((), state=n_anchors)

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> Any:
        """The anchors take turns."""
        graphs: list[Any] = [np.eye(learned.state)[np.arange(len(X)) % learned.state] for X in views]
        return graphs if len(graphs[0]) < 10 else self.spoil(graphs)


@pytest.mark.parametrize("storage", ["memory", "disk", "never"])
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda graphs: [Z[1:] for Z in graphs], r"returned graphs of \d+ samples; expected \d+"),
        (lambda graphs: [Z[:, :3] for Z in graphs], r"graphs on 3 anchors \(float64\) .* on 4 anchors \(float64\)"),
        (lambda graphs: [Z.astype(np.float32) for Z in graphs], r"4 anchors \(float32\)"),
        (lambda graphs: [sp.csr_array(Z) for Z in graphs], r"4 anchors \(sparse float64\)"),
        (lambda graphs: [Z * np.nan for Z in graphs], "graphs that cannot be used.*View 0 has NaN or infinity"),
        (lambda graphs: graphs[:1], "returned 1 graphs for 2 views"),
        (lambda _graphs: None, "graphs that cannot be used.*Expected a list of anchor graphs"),
        (lambda graphs: [Z[:, 0] for Z in graphs], "graphs that cannot be used.*expected 2: samples x anchors"),
    ],
)
def test_blocks_of_graphs_are_checked(spoil: Any, message: str, storage: str) -> None:
    """Whatever is wrong with a block is told in a sentence with the adapter's name, wherever graphs are kept."""
    with pytest.raises(AdapterError, match=f"Adapter 'blocks' returned.*{message}|{message}"):
        AlignedClusterer(Blocks(spoil), n_clusters=2, n_anchors=4, storage=storage).fit(planted()[0])


@pytest.mark.parametrize("kind", [">f4", "f2", ">f8", "longdouble", ">i2"])
def test_numbers_of_any_kind_stay_what_they_are(kind: str) -> None:
    """Views of rare kinds are not converted as a whole, and mean the same."""
    views = [(10 * view).astype(kind) for view in planted(n=2000)[0]]
    found = clusterer("lmvsc", 3, {}).fit(views)
    expected = clusterer("lmvsc", 3, {}).fit([view.astype("f4" if kind == ">f4" else "f8") for view in views])
    assert found.embedding_.dtype == (np.float32 if kind == ">f4" else np.float64)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)


@pytest.mark.parametrize("factor", [1e-25, 1e25])
@pytest.mark.parametrize("name", ["lmvsc", "fmvacc"])
def test_squares_that_single_precision_cannot_hold(name: str, factor: float) -> None:
    """Such views are worked on in double precision, block by block."""
    views, labels = planted()
    single = [(factor * view).astype(np.float32) for view in views]
    found = AlignedClusterer(name, n_clusters=4, n_anchors=4, random_state=0).fit_predict(single)
    assert acc(labels, found) > 0.9
    if factor > 1:
        clusterer(name, 4, {"scale": None}).fit(single)


def test_cheaper_anchors_are_named_when_unknown() -> None:
    """A wrong kind of k-means lists the known ones."""
    with pytest.raises(InputError, match="Unknown kmeans 'fast'; known: 'full', 'minibatch', 'sample'"):
        AlignedClusterer("lmvsc", n_clusters=4, adapter_params={"kmeans": "fast"}).fit(make_simulated(0).views)
