"""Saved models: small, safe to open, refused with one sentence, and the same labels everywhere."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from anchor_align import (
    Adapter,
    AlignedClusterer,
    AnchorAlignError,
    AnchorGraphs,
    FileError,
    Fusion,
    InputError,
    InputTypeError,
    load,
)
from anchor_align.data import make_simulated

VIEWS = make_simulated(0).views
ADAPTERS = ("local", "lmvsc", "fmvacc", "sfmc", "msgl", "fmcnof")


def fitted(adapter: Any = "local", views: Any = VIEWS, **options: Any) -> AlignedClusterer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return AlignedClusterer(adapter, **{"n_clusters": 4, "random_state": 0} | options).fit(views)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "simulated.model"
    fitted().save(path)
    return path


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_loaded_model_predicts_what_the_fitted_one_does(adapter: str, tmp_path: Path) -> None:
    """Labels, coordinates, distances and agreement are equal to the last digit, for every adapter that predicts."""
    clusterer = fitted(adapter)
    clusterer.save(tmp_path / "one.model")
    loaded = load(tmp_path / "one.model")
    others = [X[::-1] + 0.01 for X in VIEWS]
    for method in ("predict", "transform", "score"):
        np.testing.assert_array_equal(getattr(loaded, method)(others), getattr(clusterer, method)(others))
    one, other = loaded.assign(others), clusterer.assign(others)
    np.testing.assert_array_equal(one.distances, other.distances)
    np.testing.assert_array_equal(one.confidence, other.confidence)
    np.testing.assert_array_equal(one.labels, loaded.predict(others))


@pytest.mark.parametrize(
    "options",
    [
        {"fusion": "rotated"},
        {"fusion": "concat"},
        {"n_anchors": [12, 20]},
        {"n_anchors": [12, 20], "reference": 0, "many_to_one": True},
        {"weights": [0.25, 0.75]},
        {"storage": "never"},
    ],
)
def test_all_ways_of_fusing_are_saved(options: dict[str, Any], tmp_path: Path) -> None:
    """Also with different numbers of anchors, weights, and a fit that keeps no graphs."""
    clusterer = fitted("lmvsc", **options)
    clusterer.save(tmp_path / "one.model")
    loaded = load(tmp_path / "one.model")
    np.testing.assert_array_equal(loaded.transform(VIEWS), clusterer.transform(VIEWS))
    for one, other in zip(loaded.permutations_, clusterer.permutations_, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_model_does_not_grow_with_the_samples_and_has_no_labels(tmp_path: Path) -> None:
    """Ten times the samples give a file of nearly the same size."""
    sizes = []
    for times in (1, 10):
        fitted("lmvsc", [np.tile(X, (times, 1)) for X in VIEWS], n_anchors=8).save(tmp_path / "one.model")
        sizes.append((tmp_path / "one.model").stat().st_size)
    assert max(sizes) < 1.01 * min(sizes)
    assert not hasattr(load(tmp_path / "one.model"), "labels_")


def test_rows_of_the_fit_are_kept_for_adapters_without_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most about so many, some of every cluster, and the loaded model uses the same."""
    monkeypatch.setattr("anchor_align.clustering._prediction.MOST_KNOWN", 40)
    monkeypatch.setattr("anchor_align.clustering._prediction.SAME_LABELS", 1.1)
    clusterer = fitted("sfmc")
    known = clusterer._prediction.known
    assert known is not None
    assert known.graph.shape[0] <= 40
    assert set(known.labels) == set(clusterer.labels_)
    clusterer.save(tmp_path / "one.model")
    np.testing.assert_array_equal(load(tmp_path / "one.model").predict(VIEWS), clusterer.predict(VIEWS))


def test_the_same_model_gives_the_same_bytes_and_numpy_opens_its_arrays(model: Path, tmp_path: Path) -> None:
    """A model is an archive of numbers that other programs can read."""
    fitted().save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == model.read_bytes()
    with zipfile.ZipFile(model) as archive:
        assert np.load(io.BytesIO(archive.read("0.npy")), allow_pickle=False).dtype.kind in "iuf"


def test_layout_and_parameters_are_kept(tmp_path: Path) -> None:
    """Names of views and columns are checked on new samples, and one table is split as in the fit."""
    frames = {"a": pd.DataFrame(VIEWS[0], columns=["p", "q"]), "b": pd.DataFrame(VIEWS[1], columns=["r", "s"])}
    clusterer = fitted(views=frames, lam=0.5)
    clusterer.save(tmp_path / "one.model")
    loaded = load(tmp_path / "one.model")
    assert loaded.feature_names_in_.tolist() == ["p", "q", "r", "s"]
    assert (loaded.lam, loaded.n_clusters, loaded.adapter, loaded.n_features_in_) == (0.5, 4, "local", 4)
    np.testing.assert_array_equal(loaded.predict(dict(reversed(frames.items()))), clusterer.labels_)
    with pytest.raises(InputError, match="Got views a; fitted on a, b"):
        loaded.predict({"a": VIEWS[0]})
    with pytest.raises(InputError, match="View a has column 'x' where the fit had 'p'"):
        loaded.predict(frames | {"a": frames["a"].rename(columns={"p": "x"})})
    groups = {"left": slice(0, 2), "right": [2, 3]}
    clusterer = fitted(views=np.hstack(VIEWS), column_groups=groups)
    clusterer.save(tmp_path / "one.model")
    np.testing.assert_array_equal(load(tmp_path / "one.model").predict(np.hstack(VIEWS)), clusterer.labels_)


def test_missing_samples_are_predicted(model: Path) -> None:
    """A mask works as for the fitted clusterer."""
    mask = np.ones((2, len(VIEWS[0])), dtype=bool)
    mask[0, :50] = False
    np.testing.assert_array_equal(load(model).predict(VIEWS, mask=mask), fitted().predict(VIEWS, mask=mask))


@pytest.mark.slow
def test_another_process_predicts_the_same_digits(model: Path) -> None:
    """In a new process, labels and coordinates are the same to the last digit."""
    program = (
        "import sys\nfrom anchor_align import load\nfrom anchor_align.data import make_simulated\n"
        "sys.stdout.buffer.write(load(sys.argv[1]).transform(make_simulated(0).views).tobytes())"
    )
    found = subprocess.run([sys.executable, "-c", program, model], capture_output=True, check=True).stdout
    assert found == fitted().transform(VIEWS).tobytes()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are a thing of POSIX")
def test_pipes_and_devices_are_refused(tmp_path: Path) -> None:
    """Reading them would never end, so the test asks in another process, with a time limit."""
    os.mkfifo(tmp_path / "pipe.model")
    program = (
        "import sys\nfrom anchor_align import FileError, load\n"
        "try:\n    load(sys.argv[1])\nexcept FileError as error:\n    print(error)"
    )
    for path in (tmp_path / "pipe.model", Path("/dev/zero")):
        found = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, timeout=60)
        assert found.stdout == f"Cannot read the model {path}: it is a pipe or a device; expected a file.\n"


def test_flipped_bits_are_found_or_do_no_harm(model: Path, tmp_path: Path) -> None:
    """Each damaged file gives one sentence, or, where the bit does not matter, the same model."""
    rng = np.random.default_rng(0)
    whole = model.read_bytes()
    expected = fitted().transform(VIEWS)
    refused = []
    # Half of the flips are in the headers at the end, where they do most.
    places = [*rng.integers(len(whole), size=30), *rng.integers(len(whole) - 1500, len(whole), size=30)]
    for number, place in enumerate(places):
        broken = bytearray(whole)
        broken[place] ^= 1 << (number % 8)
        (tmp_path / "broken.model").write_bytes(bytes(broken))
        try:
            loaded = load(tmp_path / "broken.model")
        except FileError as error:
            refused.append(str(error))
        else:
            np.testing.assert_array_equal(loaded.transform(VIEWS), expected)
    assert len(refused) > 30
    assert all("broken.model" in text and "\n" not in text for text in refused)


@pytest.mark.parametrize("size", [0, 10, 1000, -1])
def test_files_that_are_cut_off_are_refused(size: int, model: Path, tmp_path: Path) -> None:
    """One sentence, whatever is left of the file."""
    broken = tmp_path / "broken.model"
    broken.write_bytes(model.read_bytes()[:size])
    with pytest.raises(FileError, match=r"broken\.model"):
        load(broken)


def rewritten(model: Path, path: Path, change: Callable[[dict[str, Any]], None], **options: Any) -> Path:
    """The same model with another tree."""
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(path, "w", **options) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "model.json":
                tree = json.loads(data)
                change(tree)
                data = json.dumps(tree).encode()
            new.writestr(name, data)
    return path


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "version": (lambda tree: tree.update(version=7), "has version 7; this anchor-align reads version 1"),
    "format": (lambda tree: tree.update(format="x"), "archive of something else"),
    "adapter": (
        lambda tree: tree["content"]["adapter"]["dict"][0].__setitem__(1, "theirs"),
        "needs the adapter 'their",
    ),
    "setting": (lambda tree: tree["content"]["adapter"]["dict"][2].__setitem__(1, {"dict": [["x", 1]]}), "'x'"),
    "fusion": (lambda tree: tree["content"].update(fusion="theirs"), "needs the fusion 'theirs'"),
    "content": (lambda tree: tree["content"].pop("cluster_sizes"), "lacks parts: cluster_sizes"),
    "part": (lambda tree: tree["content"].update(new=1), "has parts that this anchor-align does not know: 'new'"),
    "parameter": (
        lambda tree: tree["content"]["parameters"]["dict"].append(["new", 1]),
        "has parameters that this anchor-align does not know: 'new'",
    ),
    "own adapter": (
        lambda tree: tree["content"]["parameters"]["dict"].append(["adapter", "lmvsc"]),
        "has parameters that this anchor-align does not know: 'adapter'",
    ),
    "array": (lambda tree: tree["content"].update(means={"array": 999}), "damaged"),
    "kind": (lambda tree: tree["content"].update(means={"pickle": "x"}), "damaged"),
    "shape": (lambda tree: tree["content"].update(means={"tuple": [tree["content"]["means"]]}), "cannot be used"),
    "deep": (lambda tree: tree["content"].update(x=json.loads("[" * 900 + "]" * 900)), "damaged"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_not_known_is_refused(what: str, model: Path, tmp_path: Path) -> None:
    """One sentence that says what is wrong and what to do."""
    change, words = CHANGES[what]
    with pytest.raises(FileError, match=words) as caught:
        load(rewritten(model, tmp_path / "other.model", change))
    assert "\n" not in str(caught.value)


def places(node: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value of a tree."""
    if at:
        yield at
    for key in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield from places(node[key], (*at, key))


def altered(tree: Any, at: tuple[Any, ...], value: list[Any]) -> None:
    """Replace what is at a place of a tree, or remove it if there is no value."""
    for key in at[:-1]:
        tree = tree[key]
    if value:
        tree[at[-1]] = value[0]
    else:
        del tree[at[-1]]


@pytest.mark.parametrize("options", [{"fusion": "rotated", "weights": [0.25, 0.75]}, {"adapter": "sfmc"}])
def test_any_damage_of_the_header_is_one_sentence(options: dict[str, Any], tmp_path: Path) -> None:
    """Whatever is removed or replaced: the model is refused when it is loaded, or it is used without a traceback."""
    views = [sp.csr_array(np.where(X > 1, X, 0.0)) for X in VIEWS] if "adapter" in options else VIEWS
    path, other = tmp_path / "one.model", tmp_path / "other.model"
    fitted(**({"adapter": "lmvsc"} | options), views=views).save(path)
    with zipfile.ZipFile(path) as archive:
        tree = json.loads(archive.read("model.json"))
    values: list[Any] = [None, True, -1, 3, 10**30, "x", [], {}, {"array": 0}, {"dict": [["a", 1]]}]
    refused = []
    for number, at in enumerate(places(tree)):
        for value in ([], [values[number % len(values)]]):
            rewritten(path, other, partial(altered, at=at, value=value))
            try:
                load(other).predict(views)
            except AnchorAlignError as error:
                refused.append((at, error))
    assert len(refused) > 200
    for at, reason in refused:
        assert "\n" not in str(reason)
        # Where a name of a view, or the groups of columns, are others, new samples do not fit.
        assert isinstance(reason, FileError) or at[1] in ("parameters", "views")


@pytest.mark.parametrize("adapter", ["local", "sfmc"])
def test_a_small_model_takes_little_memory(adapter: str, tmp_path: Path) -> None:
    """Sizes that the header claims cost nothing unless the file has the arrays."""
    views = [sp.csr_array(np.where(X > 1, X, 0.0)) for X in VIEWS]
    fitted(adapter, views).save(tmp_path / "one.model")

    def claim(node: Any) -> None:
        for kind, inside in node.items() if isinstance(node, dict) else enumerate(node):
            if kind == "csr" or (kind == "tuple" and len(inside) == 2 and inside[1] is None):
                altered(inside, (0, 1) if kind == "csr" else (0,), [10**7])
            elif isinstance(inside, dict | list):
                claim(inside)

    rewritten(tmp_path / "one.model", tmp_path / "other.model", claim)
    tracemalloc.start()
    with pytest.raises(FileError, match="0000000"):
        load(tmp_path / "other.model")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**7


def test_compressed_archives_are_refused(model: Path, tmp_path: Path) -> None:
    """A small file that grows when it is read is no model."""
    path = rewritten(model, tmp_path / "small.model", lambda tree: None, compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(FileError, match="damaged: its parts take"):
        load(path)


@pytest.mark.parametrize("name", ["nothing.model", "folder", "data.npz", "text.csv"])
def test_files_that_are_no_models_are_refused(name: str, tmp_path: Path) -> None:
    """A file that does not exist, a folder, arrays, and text."""
    (tmp_path / "folder").mkdir()
    np.savez(tmp_path / "data.npz", a=np.eye(3))
    (tmp_path / "text.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match=name):
        load(tmp_path / name)
    with pytest.raises(InputTypeError, match="path must be a file"):
        load(3)  # type: ignore[arg-type]


class Theirs(Adapter):
    """A method of somebody else, with plain data."""

    name = "theirs"

    def __init__(self, width: float = 1.0, extra: Any = None) -> None:
        self.width = width
        self.extra = extra

    def learn_anchors(self, views: Any, *, n_clusters: int, n_anchors: int, random_state: int) -> AnchorGraphs:
        """Every few samples are anchors."""
        rows = [X[:: len(X) // n_anchors][:n_anchors] for X in views]
        return AnchorGraphs((), rows, state={"widths": (self.width, np.float32(2.0)), "extra": self.extra})

    def new_graphs(self, views: Any, learned: AnchorGraphs) -> list[Any]:
        """Gaussian weights."""
        width = learned.state["widths"][0]
        graphs = [
            np.exp(-((X[:, None, :] - A) ** 2).sum(axis=2) / width) + 1e-9
            for X, A in zip(views, learned.anchors or (), strict=True)
        ]
        return [Z / Z.sum(axis=1, keepdims=True) for Z in graphs]


class OwnFusion(Fusion):
    """The mean under another name."""

    name = "own"


def test_adapters_of_others_are_saved_if_their_data_are_plain(tmp_path: Path) -> None:
    """A model of an adapter and a fusion that are not installed is loaded with them, and refused without."""
    clusterer = fitted(Theirs(0.5), n_anchors=12, fusion=OwnFusion())
    clusterer.save(tmp_path / "one.model")
    with pytest.raises(FileError, match=r"needs the adapter 'theirs' of '.*test_saved_models'.*load\(path, adapter="):
        load(tmp_path / "one.model")
    with pytest.raises(FileError, match="needs the fusion 'own'"):
        load(tmp_path / "one.model", adapter=Theirs(0.5))
    loaded = load(tmp_path / "one.model", adapter=Theirs(0.5), fusion=OwnFusion())
    np.testing.assert_array_equal(loaded.transform(VIEWS), clusterer.transform(VIEWS))


@pytest.mark.parametrize("extra", [object(), np.array(["a"], dtype=object), {1, 2}])
def test_what_is_not_plain_is_refused_and_nothing_is_written(extra: object, tmp_path: Path) -> None:
    """One sentence names the part and its type."""
    clusterer = fitted(Theirs(), n_anchors=12)
    clusterer._prediction.learned.state["extra"] = extra
    with pytest.raises(InputError, match="The model cannot be saved: learned has"):
        clusterer.save(tmp_path / "one.model")
    assert not list(tmp_path.iterdir())


def test_adapters_without_new_graphs_are_refused(tmp_path: Path) -> None:
    """A model that cannot predict is not saved."""

    class Whole(Adapter):
        name = "whole"

        def anchor_graphs(self, views: Any, *, n_clusters: int, n_anchors: int, random_state: int) -> AnchorGraphs:
            return AnchorGraphs([np.eye(n_anchors)[np.arange(len(X)) % n_anchors] for X in views])

    with pytest.raises(InputError, match="cannot make graphs of new samples"):
        fitted(Whole(), n_anchors=12).save(tmp_path / "one.model")


def test_an_error_leaves_the_old_file_as_it_was(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else in the folder."""
    path = tmp_path / "one.model"
    path.write_bytes(b"before")

    def fail(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(KeyboardInterrupt):
        fitted().save(path)
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["one.model"]
