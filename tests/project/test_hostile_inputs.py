"""Hostile input for the public functions: a result that keeps its promises, or one sentence of ours."""

from __future__ import annotations

import io
import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from strategies import damaged, hostile_arguments, hostile_matrices, hostile_values

from anchor_align import AlignedClusterer, AnchorAlignError, align, fuse, load, load_plugins, load_views
from anchor_align.arrays import is_sparse
from anchor_align.data import make_simulated
from anchor_align.report import write_results
from anchor_align.study import compare

# CI draws the same few every time. With HOSTILE_EXAMPLES=4000 each test draws so many new ones.
EXAMPLES = int(os.environ.get("HOSTILE_EXAMPLES", "0"))
hostile = settings(
    max_examples=EXAMPLES or 60,
    derandomize=not EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

DATA = make_simulated(0, n_per_cluster=5)
VIEWS: list[Any] = list(DATA.views)
GRAPHS = [np.random.default_rng(seed).dirichlet(np.ones(4), 20) for seed in range(2)]
FITTED = AlignedClusterer("local", n_clusters=4, n_anchors=4, random_state=0).fit(VIEWS)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, and the only one to which something may be written; it is empty."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for variable in ("HOME", "XDG_CACHE_HOME", "TMPDIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    return here


def outcome(function: Callable[..., Any], *places: Any, **named: Any) -> Any:
    """The result, or None after one sentence of ours; the input is as it was."""
    before = [_bytes(each) for each in (*places, *named.values())]
    result, said = None, "a result"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(*places, **named)
    except AnchorAlignError as error:
        said = str(error)
    assert len(said.splitlines()) == 1
    assert [_bytes(each) for each in (*places, *named.values())] == before
    return result


def _bytes(value: Any) -> Any:
    """What changes if an array, or one in a list, is modified."""
    if isinstance(value, list | tuple):
        return [_bytes(each) for each in value if each is not value]
    if is_sparse(value):
        return _bytes(value.toarray())
    return value.tobytes() if type(value) is np.ndarray and value.dtype.kind in "fiubc" else None


def check_labels(labels: Any) -> None:
    assert labels is None or (labels.dtype.kind == "i" and labels.min() >= 0 and labels.max() < 4)


@hostile
@given(
    graphs=hostile_matrices(GRAPHS),
    options=hostile_arguments(
        {"lam": 0.1, "lam_scale": "balanced", "reference": "consensus", "method": "ascent", "seeds": None}
        | {"many_to_one": False, "n_restarts": 1, "random_state": 0, "callback": None, "mask": None}
        | {"missing": "error", "join": None, "effort": "normal", "profiles": None}
    ),
)
def test_align(graphs: Any, options: dict[str, Any], folder: Path) -> None:
    """Each matrix has one column for each anchor, and no column twice."""
    for P in outcome(align, graphs, **options) or ():
        assert set(np.unique(P)) <= {0.0, 1.0}
        assert (P.sum(axis=1) == 1).all()
        assert options["many_to_one"] or (P.sum(axis=0) <= 1).all()
    assert list(folder.iterdir()) == []


@hostile
@given(
    graphs=hostile_matrices(GRAPHS),
    options=hostile_arguments(
        {"P_list": align(GRAPHS), "weights": None, "how": "mean", "mask": None, "missing": "error", "join": None}
    ),
)
def test_fuse(graphs: Any, options: dict[str, Any], folder: Path) -> None:
    """The fused graph has a row for each sample and finite numbers."""
    fused = outcome(fuse, graphs, **options)
    values = None if fused is None else np.asarray(fused.todense() if is_sparse(fused) else fused)
    assert values is None or (values.ndim == 2 and np.isfinite(values.astype(float)).all())
    assert list(folder.iterdir()) == []


@hostile
@given(
    views=hostile_matrices(VIEWS),
    options=hostile_arguments(
        {"adapter": "local", "n_clusters": 4, "n_anchors": 4, "lam": 0.1, "reference": "consensus"}
        | {"fusion": "aligned", "weights": None, "missing": "error", "join": None, "many_to_one": False}
        | {"adapter_params": None, "storage": "memory", "memory": None, "callback": None, "random_state": 0}
    ),
)
def test_fit(views: Any, options: dict[str, Any], folder: Path) -> None:
    """Labels are in range."""
    check_labels(outcome(lambda X, **given: AlignedClusterer(**given).fit_predict(X), views, **options))
    assert list(folder.iterdir()) == []


@hostile
@given(views=hostile_matrices(VIEWS), mask=st.one_of(st.none(), hostile_values))
def test_predict(views: Any, mask: Any, folder: Path) -> None:
    """Labels are in range, and the clusterer still predicts what it did."""
    check_labels(outcome(FITTED.predict, views, mask=mask))
    np.testing.assert_array_equal(FITTED.predict(VIEWS), FITTED.labels_)
    assert list(folder.iterdir()) == []


@settings(hostile, max_examples=EXAMPLES or 30)
@given(
    data=st.one_of(hostile_matrices(VIEWS), st.tuples(st.just(VIEWS), hostile_values)),
    options=hostile_arguments(
        {"adapters": "local", "against": (), "n_anchors": 4, "lam": 0.1, "params": None, "repeats": 1, "seed": 0}
        | {"reference": "consensus", "weights": None, "fusions": (), "missing": "error", "drop": 0.0, "score": "acc"}
        | {"versus": "aligned:unaligned", "footings": ("fixed",), "plugins": (), "cache": "cache", "callback": None}
    ),
)
@example(data=(VIEWS, [[1], [1, 2]]), options={"adapters": "local", "repeats": 1, "cache": "cache"})
def test_compare(data: Any, options: dict[str, Any], folder: Path) -> None:
    """Scores are in range, and only the cache is written."""
    cache = options["cache"]
    for record in getattr(outcome(compare, options.pop("adapters"), data, **options), "records", ()):
        assert record.scores is None or all(-1 <= score <= 1 for score in record.scores.values())
    assert {path.name for path in folder.iterdir()} <= {cache if isinstance(cache, str) else "cache"}
    for path in folder.iterdir():
        shutil.rmtree(path)


def contents() -> dict[str, bytes]:
    """Small files of the forms that Python reads itself."""
    named, plain = io.BytesIO(), io.BytesIO()
    np.savez_compressed(named, a=VIEWS[0], b=VIEWS[1], labels=np.arange(20) % 4)
    np.save(plain, VIEWS[0])
    table = "\n".join([",x,y", *(f"s{row},{x:.3f},{y:.3f}" for row, (x, y) in enumerate(VIEWS[0][:, :2]))])
    return {"views.npz": named.getvalue(), "view.npy": plain.getvalue(), "view.csv": table.encode()}


@hostile
@given(
    file=st.sampled_from(sorted(contents())).flatmap(lambda name: st.tuples(st.just(name), damaged(contents()[name])))
)
def test_damaged_files(file: tuple[str, bytes], folder: Path) -> None:
    """All views that are read have the same samples."""
    name, content = file
    (folder / name).write_bytes(content)
    data = outcome(load_views, [name] if name != "views.npz" else name)
    assert data is None or len({view.shape[0] for view in data.views}) == 1
    (folder / name).unlink()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "use",
    [
        lambda: load_views(""),
        lambda: load_views([""]),
        lambda: load_plugins(""),
        lambda: FITTED.save(""),
        lambda: load(""),
        lambda: AlignedClusterer("local", n_clusters=4, storage="disk", folder="").fit(VIEWS),
        lambda: compare("local", (VIEWS, DATA.labels), repeats=1, cache=""),
        lambda: write_results(compare("local", (VIEWS, DATA.labels), repeats=2, n_anchors=4), ""),
    ],
    ids=["views", "list of views", "plug-in", "model", "saved model", "files of a fit", "cache", "results"],
)
def test_an_empty_path_is_refused(use: Callable[[], object], folder: Path) -> None:
    """It would be the current folder."""
    with pytest.raises(AnchorAlignError, match="empty path"):
        use()
    assert list(folder.iterdir()) == []
