"""Random data in random layouts: what was saved comes back or is refused with one of our errors, never another."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from mat_files import cell, dense, is_sparse, write_mat73
from scipy.io import savemat
from strategies import at_most, seeds

from anchor_align import AnchorAlignError, load_views

FORMS = ("mat5", "mat5 compressed", "mat73", "npz", "folder")
LABEL_KEYS = ("y", "Y", "gt", "truelabel", "truth", "gnd", "label", "labels")


@dataclass(frozen=True, eq=False)
class Saved:
    """Data, and how they are laid out."""

    views: list[Any]
    codes: Any
    variables: dict[str, Any]
    form: str


@st.composite
def saved_data(draw: st.DrawFn) -> Saved:
    """Views and labels in one of the layouts that people publish, with things beside them that are neither."""
    rng = np.random.default_rng(draw(seeds))
    form = draw(st.sampled_from(FORMS))
    n, k = draw(st.integers(4, 30)), draw(st.integers(1, 4))
    codes: Any = np.concatenate([np.arange(k), rng.integers(k, size=n)])[:n] if k <= n else np.zeros(n, dtype=int)
    codes = np.unique(codes, return_inverse=True)[1]
    views = [_view(rng, n, draw) for _ in range(draw(st.integers(1, 5)))]
    turned = draw(st.booleans())
    stored = [X.T if turned else X for X in views]
    layout = draw(st.sampled_from(["cell", "separate", "struct"] if form.startswith("mat") else ["separate"]))
    variables = _laid_out(draw, stored, layout)
    labels = _labels(draw, codes, form, len(views))
    if labels is None:
        codes = None
    else:
        variables[draw(st.sampled_from(LABEL_KEYS))] = labels
    if form.startswith("mat") and draw(st.booleans()):
        variables |= {"about": "what this is", "n_classes": 3.0}
    return Saved(views, codes, variables, form)


def _view(rng: np.random.Generator, n: int, draw: st.DrawFn) -> Any:
    d = draw(st.integers(2, 31))
    kind = draw(st.sampled_from(["float64", "float32", "uint8", "sparse"]))
    if kind == "sparse":
        return sp.csc_array(rng.random((n, d)) * (rng.random((n, d)) < 0.3))
    return (rng.random((n, d)) * 100).astype(kind)


def _laid_out(draw: st.DrawFn, stored: list[Any], layout: str) -> dict[str, Any]:
    if layout == "cell":
        key = draw(st.sampled_from(["X", "data", "fea", "views", "feature", "xyz"]))
        shape = draw(st.sampled_from([(1, -1), (-1, 1)]))
        return {key: cell(stored, shape)}
    stem = draw(st.sampled_from(["X", "view_", "view", "fea", "msr"]))
    separate = {f"{stem}{i + 1}": X for i, X in enumerate(stored)}
    return {"data": separate} if layout == "struct" else separate


def _labels(draw: st.DrawFn, codes: Any, form: str, n_views: int) -> Any:
    """Labels in one of their forms, or None."""
    first = draw(st.integers(-1, 5))
    kind = draw(st.sampled_from(["row", "column", "float", "words", "copies", "one-hot", "none"]))
    values = codes + first
    words = [f"class {'abcd'[code]}" for code in codes]
    if kind == "none":
        return None
    if kind == "words":
        return cell(words, (-1, 1)) if form.startswith("mat") else np.array(words)
    if kind == "copies" and form.startswith("mat"):
        return cell([values[:, None]] * n_views)
    if kind == "one-hot":
        return np.eye(codes.max() + 1)[codes]
    return {"column": values[:, None], "float": values.astype(float)}.get(kind, values)


def write(folder: Path, saved: Saved) -> Path:
    """Write the data in their form."""
    path = folder / "data"
    if saved.form == "mat73":
        return write_mat73(path, saved.variables)
    if saved.form.startswith("mat5"):
        with path.open("wb") as file:
            target: Any = file
            savemat(target, saved.variables, do_compression="compressed" in saved.form)
    elif saved.form == "npz":
        plain: dict[str, Any] = {}
        for key, value in saved.variables.items():
            plain |= _parts(key, value) if is_sparse(value) else {key: value}
        with path.open("wb") as file:
            np.savez(file, **plain)
    else:
        path.mkdir()
        for key, value in saved.variables.items():
            if is_sparse(value):
                sp.save_npz(path / f"{key}.npz", value)
            else:
                np.save(path / f"{key}.npy", value)
    return path


def _parts(key: str, value: Any) -> dict[str, Any]:
    parts = {f"{key}_{part}": getattr(value, part) for part in ("data", "indices", "indptr")}
    return {**parts, f"{key}_shape": np.array(value.shape), f"{key}_format": np.array(value.format)}


@settings(max_examples=at_most(150), suppress_health_check=[HealthCheck.too_slow])
@given(saved_data())
def test_what_was_saved_comes_back(saved: Saved) -> None:
    """In every layout, turned or not, unless sizes leave it open; then orient and the keys decide."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), saved)
        try:
            data = load_views(path)
        except AnchorAlignError as error:
            event("refused")
            assert_open(saved, str(error))
            return
    event("loaded")
    n = saved.views[0].shape[0]
    if data.n_samples != n:
        # Without labels, features of the same number in all views can pass for samples.
        assert saved.codes is None
        assert len({X.shape[1] for X in saved.views}) == 1
        return
    assert len(data.views) == len(saved.views)
    for X, expected in zip(data.views, saved.views, strict=True):
        assert is_sparse(X) == is_sparse(expected)
        np.testing.assert_array_equal(dense(X), dense(expected))
    if saved.codes is None:
        assert data.labels is None
    else:
        np.testing.assert_array_equal(data.labels, saved.codes)


def assert_open(saved: Saved, message: str) -> None:
    """Refused only where the sizes cannot tell, and the message says what decides."""
    shapes = {X.shape for X in saved.views}
    n = saved.views[0].shape[0]
    same_width = len({X.shape[1] for X in saved.views}) == 1
    square = all(X.shape == (n, n) for X in saved.views)
    assert "\n" not in message
    assert (saved.codes is None and same_width) or square or len(shapes) == 1 or "views=" in message, message
    assert "orient=" in message or "views=" in message or "labels=" in message


@settings(max_examples=at_most(100), suppress_health_check=[HealthCheck.too_slow])
@given(saved_data(), seeds)
def test_damage_is_one_of_our_errors(saved: Saved, seed: int) -> None:
    """Bytes changed or cut off anywhere give data or one of our errors, never a crash or another exception."""
    if saved.form in ("folder", "mat5"):
        # What is not compressed could end the process: a test of its own damages it in another one.
        return
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), saved)
        content = bytearray(path.read_bytes())
        for place in rng.integers(len(content), size=rng.integers(1, 8)):
            content[place] = rng.integers(256)
        path.write_bytes(content[: int(rng.integers(len(content))) if rng.random() < 0.3 else None])
        try:
            data = load_views(path)
        except AnchorAlignError as error:
            event("refused")
            lines = str(error).splitlines()
        else:
            event("loaded")
            lines = [str(len(data.views))]
    assert len(lines) == 1


@pytest.mark.parametrize("form", FORMS)
def test_keys_and_orient_settle_what_sizes_leave_open(tmp_path: Path, form: str) -> None:
    """Views all of one size without labels come back when they are told."""
    views = [np.random.default_rng(i).random((6, 6)) for i in range(3)]
    path = write(tmp_path, Saved(views, None, {f"part{i}": X for i, X in enumerate(views)}, form))
    with pytest.raises(AnchorAlignError, match="orient="):
        load_views(path)
    data = load_views(path, views=["part2", "part0"], orient="columns")
    np.testing.assert_array_equal(data.views[0], views[2].T)
    np.testing.assert_array_equal(data.views[1], views[0].T)
