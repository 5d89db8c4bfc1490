"""Labels that scores accept, and those they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from anchor_align import InputError, InputTypeError
from anchor_align.metrics import acc, ari, score_all

CODES = [0, 1, 1, 2, 0]
LABELS = {
    "list": CODES,
    "tuple": tuple(CODES),
    "int8": np.array([-128, 127, 127, 0, -128], dtype=np.int8),
    "uint64": np.array([2**64 - 1, 2**64 - 2, 2**64 - 2, 0, 2**64 - 1], dtype=np.uint64),
    "near uint64": np.array([2**64 - 1, 2**64 - 2, 2**64 - 2, 2**64 - 3, 2**64 - 1], dtype=np.uint64),
    "far apart": np.array([-(2**63), 2**63 - 1, 2**63 - 1, 0, -(2**63)]),
    "big endian": np.array(CODES, dtype=">i4"),
    "whole floats": np.array(CODES, dtype=np.float32),
    "half floats": np.array(CODES, dtype=np.float16),
    "huge floats": np.array([1e300, -1e300, -1e300, 0.0, 1e300]),
    "list of floats": [0.0, 1.0, 1.0, 2.0, -0.0],
    "huge integers": [2**70, 2**70 + 1, 2**70 + 1, 2**63, 2**70],
    "near 2**53": [2**53, 2**53 + 1, 2**53 + 1, 1.0, 2**53],
    "text": list("abbca"),
    "text array": np.array(list("abbca")),
    "text of objects": np.array(list("abbca"), dtype=object),
    "text of NumPy's own": np.array(list("abbca"), dtype=np.dtypes.StringDType()),
    "bytes": np.array([b"a", b"b", b"b", b"c", b"a"]),
    "NumPy scalars": list(np.array(CODES, dtype=np.uint8)),
    "read only": np.broadcast_to(np.array([CODES]), (1, 5))[0],
    "strided": np.repeat(CODES, 3)[::3],
    "Series": pd.Series(CODES, index=[9, 8, 7, 6, 5]),
    "Series of text": pd.Series(list("abbca")),
    "nullable Series": pd.Series(CODES, dtype="Int64"),
    "categorical": pd.Categorical(list("abbca"), categories=list("zcba")),
    "Series of categories": pd.Series(CODES, dtype="category"),
    "Index": pd.Index(CODES),
    "unmasked": np.ma.masked_array(CODES),
}


@pytest.mark.parametrize("kind", LABELS)
def test_kinds_of_labels(kind: str) -> None:
    """All ways to write down the same groups score the same, on either side, and are not modified."""
    labels: Any = LABELS[kind]
    before = list(labels)
    other = [0, 0, 1, 2, 0]
    assert score_all(labels, other) == score_all(CODES, other)
    assert score_all(other, labels) == score_all(other, CODES)
    assert list(labels) == before


def test_booleans_and_ranges() -> None:
    """Booleans are two groups; a range is a sequence like any other."""
    assert acc([True, False, True], np.array([False, True, False])) == 1
    assert acc(np.array([True, True]), [1, 1]) == 1
    assert score_all(range(3), ["x", "y", "z"]).acc == 1


@pytest.mark.parametrize(
    ("bad", "kind", "message"),
    [
        ([0, 1], InputError, r"^true has 2 labels; found has 3\. Both must label the same samples"),
        ([], InputError, r"^true is empty; expected one label per sample\.$"),
        (np.array([]), InputError, r"^true is empty"),
        (np.array([], dtype=str), InputError, r"^true is empty"),
        (np.zeros((3, 1)), InputError, r"^true has shape \(3, 1\); expected one label per sample.*ravel\(\)\.$"),
        (pd.DataFrame({"label": [0, 1, 2]}), InputError, r"^true has shape \(3, 1\)"),
        (np.array(3), InputError, r"^true has shape \(\)"),
        ([[0], [1], [2]], InputTypeError, r"^true\[0\] is of type list; labels must be whole numbers, text or bool"),
        ([(0, 1), (1, 2), (2, 3)], InputTypeError, r"^true\[0\] is of type tuple"),
        ([0, np.array([1]), 2], InputTypeError, r"^true\[1\] is of type ndarray"),
        ([0, 1, np.nan], InputError, r"^true\[2\] is missing \(nan\); every sample needs a label\.$"),
        (np.array([0, np.nan, 2]), InputError, r"^true\[1\] is missing \(nan\)"),
        (["a", np.nan, "b"], InputError, r"^true\[1\] is missing \(nan\)"),
        ([None, 0, 1], InputError, r"^true\[0\] is missing \(None\)"),
        (np.array(["a", None, "b"], dtype=object), InputError, r"^true\[1\] is missing \(None\)"),
        (pd.Series([1, None, 2], dtype="Int64"), InputError, r"^true\[1\] is missing"),
        (pd.Series(["a", None, "b"]), InputError, r"^true\[1\] is missing"),
        (pd.Categorical(["a", None, "b"]), InputError, r"^true\[1\] is missing"),
        ([0, pd.NA, 1], InputError, r"^true\[1\] is missing \(<NA>\)"),
        ([0, pd.NaT, 1], InputError, r"^true\[1\] is missing \(NaT\)"),
        (np.ma.masked_array([0, 1, 2], mask=[False, True, False]), InputError, r"^true has masked labels"),
        ([0, 0.5, 1], InputError, r"^true\[1\] is 0\.5; labels must be whole numbers"),
        (np.array([0, 1, 2.25], dtype=np.float32), InputError, r"^true\[2\] is 2\.25; labels must be whole"),
        (np.array([0, np.inf, 1]), InputError, r"^true\[1\] is inf; labels must be whole numbers"),
        ([0, np.float64(np.inf), 1], InputError, r"^true\[1\] is inf"),
        ([1, "1", 2], InputTypeError, r"^true mixes kinds of labels: true\[0\] is 1 and true\[1\] is '1'; use one"),
        ([1j, 2, 3], InputTypeError, r"^true\[0\] is of type complex"),
        (np.array([1j, 2, 3]), InputTypeError, r"^true has dtype complex128; labels must be whole numbers"),
        (np.array(["2020", "2021", "2022"], dtype="M8[Y]"), InputTypeError, r"^true has dtype datetime64"),
        ("abc", InputTypeError, r"^true must be a 1-D sequence of labels, got str\.$"),
        (None, InputTypeError, r"^true must be a 1-D sequence of labels, got NoneType\.$"),
        ({0: 1, 1: 2, 2: 0}, InputTypeError, r"got dict"),
        ({0, 1, 2}, InputTypeError, r"got set"),
        ((x for x in [0, 1, 2]), InputTypeError, r"got generator"),
        (sp.csr_array(np.eye(3)), InputTypeError, r"got csr_array"),
    ],
)
def test_bad_labels_are_refused(bad: Any, kind: Any, message: str) -> None:
    """One sentence that names the argument, the sample, what was got and what was expected."""
    with pytest.raises(kind, match=message) as caught:
        score_all(bad, [0, 1, 2])
    assert type(caught.value) is kind


def test_the_second_argument_is_checked_too() -> None:
    """Its name is in the message."""
    with pytest.raises(InputError, match=r"^found\[1\] is missing \(nan\)"):
        acc([0, 1], [0, np.nan])
    with pytest.raises(InputError, match=r"^found has shape \(1, 2\)"):
        ari([0, 1], np.array([[0, 1]]))
