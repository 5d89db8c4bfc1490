"""Joining samples by name: order, mask, notes, and one clear sentence for names that cannot be joined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import at_most

from anchor_align.blocks import join_samples, name_order, take_rows
from anchor_align.data import join_views
from anchor_align.errors import InputError

NAMES = st.lists(st.sampled_from([f"s{i}" for i in range(12)]), min_size=1, max_size=12, unique=True)


@settings(max_examples=at_most(60), deadline=None)
@given(st.lists(NAMES, min_size=2, max_size=4), st.sampled_from(["inner", "outer"]))
def test_any_join_pairs_rows_of_the_same_name(names: list[list[str]], join: str) -> None:
    """Each row that a join takes from a view has the name of the sample; the mask is False where there is none."""
    everything, shared = set().union(*names), set(names[0]).intersection(*names[1:])
    tables = {str(v): pd.DataFrame({"x": [float(name[1:]) for name in own]}, index=own) for v, own in enumerate(names)}
    expected = shared if join == "inner" else everything
    alone = join == "outer" and len(everything) == sum(map(len, names))
    if not expected or alone:
        with pytest.raises(InputError, match=r"there is none|in one view only"):
            join_views(tables, join=join)
        return
    data = join_views(tables, join=join)
    assert data.samples is not None
    assert set(data.samples) == expected
    assert list(data.samples[: len(names[0])]) == [name for name in names[0] if name in expected][: len(data.samples)]
    mask = np.ones((len(names), len(expected)), dtype=bool) if data.mask is None else data.mask
    for X, present, own in zip(data.views, mask, names, strict=True):
        assert present.tolist() == [name in own for name in data.samples]
        values = np.array([float(name[1:]) for name in data.samples])
        np.testing.assert_array_equal(X[:, 0], np.where(present, values, np.nan))


def test_equal_names_keep_their_order() -> None:
    """Without a note and without a copy; so do tables that have no names."""
    joined = join_samples({"a": ["y", "x"], "b": ["y", "x"]})
    assert (joined.samples, joined.rows, joined.mask, joined.notes) == (("y", "x"), (None, None), None, ())
    assert join_samples({"a": None, "b": None}).samples is None
    frame = pd.DataFrame(np.eye(3))
    assert join_views([frame, frame.to_numpy()]).samples is None
    assert join_views([frame[1:], frame.to_numpy()[1:]]).samples is None
    counted = frame.set_axis(pd.Index([0, 1, 2], dtype="int64"))
    assert join_views([counted, frame.to_numpy()]).samples is None


def test_numbers_of_rows_are_names_beside_other_numbers() -> None:
    """A default index pairs with a shuffled one, and slices of different rows are different samples."""
    frame = pd.DataFrame({"x": np.arange(5.0)})
    data = join_views([frame, frame.sample(frac=1, random_state=0)])
    np.testing.assert_array_equal(data.views[0], data.views[1])
    assert data.notes[0].kind == "samples"
    with pytest.raises(InputError, match="2 of 3 names of view 0 are not in view 1"):
        join_views([frame[:3], frame[2:]])


WRONG: dict[str, tuple[dict[str, Any], str | None, str]] = {
    "names in one view": (
        {"a": ["x", "y"], "b": None},
        None,
        "View a has names of samples, such as 'x', and view b has n",
    ),
    "no names": ({"a": None, "b": None}, "outer", "joins samples by name, and no view has names"),
    "different": ({"a": ["x", "y"], "b": ["y", "z"]}, None, "keeps the 1 samples that all views have, .* all 3"),
    "repeated": ({"a": ["x", "x"], "b": ["x", "y"]}, "outer", "'x' is row 0 and row 1"),
    "spaces": ({"a": ["x", " y"], "b": ["x", "y"]}, "outer", "spaces around 1 of 2 names of samples, such as ' y'"),
    "empty": ({"a": ["x", ""], "b": ["x", "y"]}, None, r"no name for 1 of 2 samples \(first: row 1\)"),
    "missing": ({"a": ["x", float("nan")], "b": ["x", "y"]}, None, "no name for 1 of 2 samples"),
    "types": ({"a": [1, 2], "b": ["1", "2"]}, None, "by numbers, such as 1, and view b by text, such as '1'"),
    "types in one": ({"a": ["x", 2], "b": ["x", "y"]}, None, "by text, such as 'x', and view a by numbers, such as 2"),
    "nothing shared by all": (
        {"a": ["x", "y"], "b": ["y", "z"], "c": ["z", "x"]},
        "inner",
        "and there is none .*join='outer'",
    ),
    "nothing shared": ({"a": ["x"], "b": ["y"]}, "inner", "Every sample is in one view only"),
    "nothing shared, no join": ({"a": ["x"], "b": ["y"]}, None, "Every sample is in one view only"),
    "one view only": ({"a": ["x"], "b": ["y"]}, "outer", "Every sample is in one view only .*write the names alike"),
    "unknown": ({"a": ["x"], "b": ["x"]}, "left", "Unknown join 'left'; known: 'inner', 'outer'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_names_that_cannot_be_joined(case: str) -> None:
    """The message names the view, counts, and says the way out."""
    names, join, message = WRONG[case]
    with pytest.raises(InputError, match=message):
        join_samples(names, join)


def test_rows_are_taken_from_any_matrix(tmp_path: Any) -> None:
    """Missing rows are NaN, or empty if the matrix is sparse; rows of a file go to a file."""
    X = np.arange(6).reshape(3, 2)
    rows = np.array([2, -1, 0])
    expected = np.array([[4, 5], [np.nan, np.nan], [0, 1]])
    np.testing.assert_array_equal(take_rows(X, rows), expected)
    np.testing.assert_array_equal(take_rows(sp.csr_array(X), rows).toarray(), np.nan_to_num(expected))
    assert take_rows(X, np.array([2, 0])).dtype == X.dtype
    np.save(tmp_path / "x.npy", X)
    stored = take_rows(np.load(tmp_path / "x.npy", mmap_mode="r"), rows)
    assert isinstance(stored, np.memmap)
    np.testing.assert_array_equal(stored, expected)


def test_names_are_sorted_as_people_count() -> None:
    """s9 comes before s10; sorted names, and names of other kinds, stay."""
    order = name_order(["s10", "s9", "a"])
    assert order is not None
    assert order.tolist() == [2, 1, 0]
    assert name_order(["s9", "s10"]) is None
    assert name_order([("a", 1), ("a", 0)]) is None
