"""Bad input: each kind with its own clear message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from anchor_align import (
    AlignedClusterer,
    AnchorAlignError,
    GramMatrices,
    InputError,
    InputTypeError,
    UnknownNameError,
    align,
    fuse,
    get_adapter,
    simplex_least_squares,
)

GOOD = np.eye(4)[:, :3] + 0.1


def spoiled(value: float, rows: list[int]) -> np.ndarray:
    Z = np.vstack([GOOD] * 3)
    Z[rows, 1] = value
    return Z


BAD_GRAPHS = {
    "no view": ([], InputError, r"Got no view; expected a list"),
    "one array": (GOOD, InputTypeError, r"got one ndarray; put it in a list"),
    "one sparse": (sp.csr_array(GOOD), InputTypeError, r"got one csr_array; put it in a list"),
    "one DataFrame": (pd.DataFrame(GOOD), InputTypeError, r"got one DataFrame; put it in a list"),
    "a dict": ({"a": GOOD}, InputTypeError, r"got a dict; pass list\(graphs.values\(\)\)"),
    "a string": ("graphs.npz", InputTypeError, r"Expected a list of anchor graphs, one per view, got str"),
    "a number": (3, InputTypeError, r"one per view, got int"),
    "1-D": ([GOOD, GOOD[:, 0]], InputError, r"View 1 has 1 dimension\(s\), shape \(4,\); expected 2"),
    "3-D": ([np.zeros((2, 2, 2)), GOOD], InputError, r"View 0 has 3 dimension\(s\)"),
    "scalar": ([GOOD, 5.0], InputError, r"View 1 has 0 dimension\(s\)"),
    "ragged": ([GOOD, [[1.0, 2.0], [1.0]]], InputError, r"View 1 is not a rectangular array"),
    "rows differ": (
        [np.ones((100, 3)), np.ones((100, 3)), np.ones((98, 3))],
        InputError,
        r"View 0 has 100 samples; view 2 has 98\.",
    ),
    "NaN": (
        [GOOD, spoiled(np.nan, [2])[:4]],
        InputError,
        r"View 1 has NaN.* 1 of 4 rows \(first: row 2\)",
    ),
    "infinity": ([spoiled(np.inf, [1, 5, 7])] * 2, InputError, r"View 0 has NaN or infinity in 3 of 12 rows"),
    "sparse NaN": ([sp.csr_array(GOOD), sp.csc_array(spoiled(np.nan, [3])[:4])], InputError, r"View 1 .* 1 of 4 rows"),
    "underflow": ([GOOD, 1e-170 * GOOD], InputError, r"View 1's values are too small: their products underflow"),
    "Series": ([pd.Series(["a", "b"])], InputError, r"View 0 has 1 dimension"),
    "overflow": ([1e200 * GOOD, GOOD], InputError, r"View 0's values are too large: their products overflow"),
    "complex": ([GOOD, GOOD.astype(complex)], InputTypeError, r"View 1 has dtype complex128; expected real numbers"),
    "object": ([GOOD.astype(object), GOOD], InputTypeError, r"View 0 has dtype object"),
    "strings": ([GOOD, GOOD.astype(str)], InputTypeError, r"View 1 has dtype <U\d+"),
    "dates": ([GOOD, np.zeros((4, 3), dtype="M8[s]")], InputTypeError, r"View 1 has dtype datetime64"),
    "sparse complex": ([sp.csr_array(GOOD.astype(complex))], InputTypeError, r"View 0 has dtype complex128"),
    "no rows": ([np.empty((0, 3))], InputError, r"View 0 is empty: 0 samples x 3 anchors"),
    "no anchors": ([GOOD, np.empty((4, 0))], InputError, r"View 1 is empty: 4 samples x 0 anchors"),
    "masked": ([np.ma.masked_greater(GOOD, 1.0)], InputError, r"View 0 is a masked array with masked entries"),
    "missing": (
        [pd.DataFrame(GOOD).astype("Float64").mask(pd.DataFrame(GOOD) > 1)],
        InputError,
        r"View 0 has NaN or infinity in 3 of 4 rows",
    ),
}

BAD_OPTIONS = {
    "lam negative": ({"lam": -0.1}, InputError, r"lam must be a number >= 0 or infinity, got -0.1"),
    "lam NaN": ({"lam": np.nan}, InputError, r"lam must be .*, got nan"),
    "lam string": ({"lam": "0.1"}, InputTypeError, r"lam must be .*, got '0.1' \(str\)"),
    "lam None": ({"lam": None}, InputTypeError, r"lam must be .*, got None"),
    "lam bool": ({"lam": True}, InputTypeError, r"lam must be .*, got True"),
    "lam huge": ({"lam": 1.7e308}, InputError, r"The objective overflows at lam = 1.7e\+308; use a smaller lam"),
    "lam no float": ({"lam": 10**400}, InputError, r"lam is larger than a float can hold; use math.inf"),
    "callback": ({"callback": 5}, InputTypeError, r"callback must be callable or None, got 5"),
    "method": ({"method": "asent"}, UnknownNameError, r"Unknown method 'asent'; known: .* Did you mean 'ascent'\?"),
    "method None": ({"method": None}, UnknownNameError, r"Unknown method None; known"),
    "scale": ({"lam_scale": "balance"}, UnknownNameError, r"Unknown lam_scale .* Did you mean 'balanced'\?"),
    "reference name": ({"reference": "consenus"}, UnknownNameError, r"Unknown reference .* mean 'consensus'\?"),
    "reference index": ({"reference": 2}, InputError, r"reference 2 is out of range: there are views 0 to 1"),
    "reference negative": ({"reference": -1}, InputError, r"reference -1 is out of range"),
    "reference float": ({"reference": 0.5}, InputTypeError, r"reference must be a view's index"),
    "reference bool": ({"reference": True}, InputTypeError, r"reference must be a view's index"),
    "seed out of range": ({"seeds": [(0, 3)]}, InputError, r"anchor 3 of view 1, which has anchors 0 to 2"),
    "seed negative": ({"seeds": [(-2, 1)]}, InputError, r"anchor -2 of view 0"),
    "seed repeated": ({"seeds": [(0, 1), (0, 2)]}, InputError, r"seeds name anchor 0 of view 0 more than once"),
    "seed shape": ({"seeds": [(0, 1, 2)]}, InputError, r"one column per view \(2\), got shape \(1, 3\)"),
    "seed ragged": ({"seeds": [(0, 1), (2,)]}, InputError, r"seeds must have one column per view \(2\)"),
    "seed float": ({"seeds": [(0.5, 1)]}, InputTypeError, r"seeds must be anchor indices .*, got dtype float64"),
    "seed without reference": ({"seeds": [(-1, 1)], "reference": 0}, InputError, r"Row 0 of seeds names no anchor"),
    "seed without any": ({"seeds": [(0, -1), (-1, 1)]}, InputError, r"No view is named in every row of seeds"),
    "restarts": ({"n_restarts": -1}, InputError, r"n_restarts must be a whole number >= 0, got -1"),
    "restarts float": ({"n_restarts": 1.5}, InputTypeError, r"n_restarts must be a whole number"),
    "random_state": ({"random_state": "x"}, InputTypeError, r"random_state must be"),
    "random_state negative": ({"random_state": -1}, InputError, r"random_state must be >= 0, got -1"),
}


@pytest.mark.parametrize(("graphs", "kind", "message"), BAD_GRAPHS.values(), ids=BAD_GRAPHS)
def test_bad_graphs_are_refused(graphs: Any, kind: Any, message: str) -> None:
    """The message says which view, what was got and what was expected; the error is also a ValueError."""
    with pytest.raises(kind, match=message) as caught:
        align(graphs)
    assert isinstance(caught.value, AnchorAlignError)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("options", "kind", "message"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_options_are_refused(options: dict[str, Any], kind: Any, message: str) -> None:
    """Options are checked whether graphs or Gram matrices are given."""
    for graphs in ([GOOD, GOOD], GramMatrices.from_graphs([GOOD, GOOD])):
        with pytest.raises(kind, match=message):
            align(graphs, **options)


def test_errors_are_the_builtins_one_expects() -> None:
    """Type errors are TypeErrors, unknown names LookupErrors, all of them ValueErrors."""
    assert issubclass(InputTypeError, TypeError)
    assert issubclass(UnknownNameError, LookupError)
    assert issubclass(InputTypeError, ValueError)
    assert issubclass(UnknownNameError, ValueError)


def test_numbers_of_other_kinds_are_accepted() -> None:
    """Scalars of numpy and fractions are numbers too; so are graphs from any iterable."""
    from fractions import Fraction

    numbers: list[Any] = [np.float32(0.5), np.int64(1), Fraction(1, 3)]
    for lam in numbers:
        assert len(align((Z for Z in (GOOD, GOOD)), lam, reference=np.int64(1))) == 2
    assert len(align(np.stack([GOOD, GOOD]))) == 2


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two views of the same samples, with names."""
    rng = np.random.default_rng(0)
    names = [f"s{i}" for i in range(12)]
    return tuple(pd.DataFrame(rng.dirichlet(np.ones(3), 12), index=names) for _ in range(2))  # type: ignore[return-value]


@pytest.mark.parametrize("call", [align, GramMatrices.from_graphs, AlignedClusterer("lmvsc", n_clusters=2).fit])
def test_rows_of_other_names_are_refused(call: Callable[[Any], object]) -> None:
    """The same names in another order are no error; other names are, and names in one view only."""
    a, b = tables()
    call([a, b])
    call([a.reset_index(drop=True), b.to_numpy()])  # without names, rows are paired by position
    call([a.reset_index(drop=True), b.reset_index(drop=True)])
    call([a, b[::-1]])
    call([a.reset_index(drop=True), b.reset_index(drop=True).sample(frac=1, random_state=0)])
    for first, second in ((a, b.to_numpy()), (a.reset_index(drop=True), b)):
        with pytest.raises(InputError, match=r"has names of samples, such as 's0', and view . has none.*reset_index"):
            call([first, second])
    with pytest.raises(InputError, match=r"1 of 12 names of view 0 are not in view 1, such as 's3'.*keeps the 11 samp"):
        call([a, b.rename(index={"s3": "other"})])


DAMAGED: dict[str, Callable[[], Any]] = {
    "index too large": lambda: sp.csr_array((np.ones(2), np.array([0, 10**6]), np.array([0, 1, 2])), shape=(2, 3)),
    "index below zero": lambda: sp.csr_array((np.ones(2), np.array([0, -1]), np.array([0, 1, 2])), shape=(2, 3)),
    "columns": lambda: sp.csc_array((np.ones(2), np.array([0, 10**6]), np.array([0, 1, 2, 2])), shape=(2, 3)),
    "pairs": lambda: moved(sp.coo_array(np.ones((2, 3)))),
}


def moved(X: Any) -> Any:
    X.coords[1][0] = 10**6
    return X


@pytest.mark.parametrize("kind", DAMAGED)
@pytest.mark.parametrize(
    "call",
    [
        lambda X: align([X, X]),
        lambda X: fuse([X, X]),
        lambda X: GramMatrices.from_graphs([X]),
        lambda X: AlignedClusterer("lmvsc", n_clusters=1, n_anchors=1).fit([X]),
        lambda X: AlignedClusterer("lmvsc", n_clusters=1, n_anchors=1, column_groups=[1, 2]).fit(X),
        lambda X: simplex_least_squares(X, np.eye(3)),
    ],
)
def test_damaged_sparse_arrays_are_refused(kind: str, call: Callable[[Any], object]) -> None:
    """SciPy does not check indices: products of such arrays read other memory, or end the process."""
    with pytest.raises(InputError, match="is a damaged sparse array"):
        call(DAMAGED[kind]())


AWKWARD: dict[str, Any] = {
    "array": np.zeros((40, 40)),
    "table": pd.DataFrame({"a": ["x", "y"]}),
    "sparse": sp.csr_array(np.eye(2)),
    "long": "x" * 10_000,
    "number": -(10**5000),
    "control": "\x1b\u202e",
}


@pytest.mark.parametrize("value", AWKWARD.values(), ids=AWKWARD)
@pytest.mark.parametrize("name", ["lam", "method", "reference", "n_restarts", "random_state", "callback"])
def test_any_value_is_shown_on_one_short_line(name: str, value: Any) -> None:
    """Arrays, tables and long texts do not fill the message."""
    with pytest.raises(InputError) as caught:
        align([GOOD, GOOD], **{name: value})
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 300


def test_settings_that_cannot_be_copied_are_refused() -> None:
    """An estimator copies its adapter, as scikit-learn does."""
    adapter = get_adapter("lmvsc", alpha=(each for each in range(3)))
    with pytest.raises(InputError, match="Adapter 'lmvsc' has a setting that cannot be copied"):
        AlignedClusterer(adapter, n_clusters=1).fit([GOOD])
