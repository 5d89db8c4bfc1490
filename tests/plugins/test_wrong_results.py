"""Methods that return something wrong, and files that hold it: one sentence that names the adapter or the view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from mat_files import cell
from scipy.io import savemat

from anchor_align import (
    Adapter,
    AdapterError,
    AlignedClusterer,
    AnchorAlignError,
    AnchorGraphs,
    FunctionAdapter,
    InputError,
    get_adapter,
)
from anchor_align.cli import main
from anchor_align.data import make_simulated
from anchor_align.errors import ChanceWarning
from anchor_align.metrics import acc

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DATA = make_simulated(0)
Spoil = Callable[[list[Any]], Any]
OPTIONS: dict[str, Any] = {"n_clusters": 4, "n_anchors": 6, "random_state": 0}
GOOD = [np.asarray(Z) for Z in get_adapter("lmvsc").anchor_graphs(DATA.views, **OPTIONS).graphs]


class Whole(Adapter):
    """A class that makes its graphs at once."""

    name = "mine"

    def __init__(self, spoil: Spoil = list, labels: Any = None) -> None:
        self.spoil = spoil
        self.labels = labels

    def anchor_graphs(self, views: Sequence[Any], **_: Any) -> AnchorGraphs:
        """Spoiled graphs."""
        return AnchorGraphs(self.spoil(GOOD))

    def cluster(self, graph: Any, **_: Any) -> Any:
        """Labels that it was given."""
        return self.labels


class ByBlocks(Adapter):
    """A class that makes some rows of its graphs at a time."""

    name = "mine"
    views_apart = True

    def __init__(self, spoil: Spoil = list) -> None:
        self.spoil = spoil

    def learn_anchors(self, views: Sequence[Any], **_: Any) -> AnchorGraphs:
        """Nothing is learned."""
        return AnchorGraphs(())

    def new_graphs(self, views: Sequence[Any], learned: AnchorGraphs) -> Any:
        """As many spoiled rows as there are samples."""
        return self.spoil([Z[: len(views[0])] for Z in GOOD])


def two_functions(spoil: Spoil) -> Adapter:
    return FunctionAdapter("mine", lambda views, **_: spoil(GOOD))


KINDS = pytest.mark.parametrize("kind", [Whole, ByBlocks, two_functions])


def with_entry(value: float) -> Spoil:
    """One entry of the second view is something else."""

    def spoil(graphs: list[Any]) -> list[Any]:
        second = graphs[1].copy()
        second[0, 2] = value
        return [graphs[0], second]

    return spoil


WRONG: dict[str, tuple[Spoil, str]] = {
    "transposed": (
        lambda Z: [each.T for each in Z],
        r"graphs of 6 samples; expected \d+\. They look like anchors",
    ),
    "one transposed": (lambda Z: [Z[0], Z[1].T], r"View 0 has \d+ samples; view 1 has 6"),
    "fewer rows": (lambda Z: [each[:1] for each in Z], r"returned graphs of 1 samples; expected \d+"),
    "one dimension": (lambda Z: [Z[0], Z[1][:, 0]], r"View 1 has 1 dimension\(s\)"),
    "nan": (with_entry(np.nan), r"View 1 has NaN or infinity in 1 of \d+ rows \(first: row 0\)"),
    "infinity": (with_entry(np.inf), "View 1 has NaN or infinity"),
    "unequal": (lambda Z: [Z[0], Z[1] @ np.eye(6, 8)], "view 1 has 8|returned graphs on 8 anchors.*expected 6"),
    "too many anchors": (lambda Z: [each @ np.eye(6, 8) for each in Z], "returned graphs on 8 anchors; expected 6"),
    "one graph": (lambda Z: Z[:1], "returned 1 graphs for 2 views"),
    "no list": (lambda Z: Z[0], "got one ndarray; put it in a list"),
    "nothing": (lambda Z: None, "got NoneType"),
    "labels": (lambda Z: [each.argmax(axis=1) for each in Z], r"View 0 has 1 dimension\(s\)"),
    "text": (lambda Z: [Z[0], Z[1].astype(str)], "View 1 has dtype <U32; expected real numbers"),
}


@KINDS
@pytest.mark.parametrize("name", WRONG)
def test_wrong_graphs_are_refused(kind: Callable[[Spoil], Adapter], name: str) -> None:
    """In one line that names the adapter, and the view where there is one to name."""
    spoil, message = WRONG[name]
    with pytest.raises(AdapterError, match=f"^Adapter 'mine' .*({message})") as caught:
        AlignedClusterer(kind(spoil), **OPTIONS).fit(DATA.views)
    assert "\n" not in str(caught.value)


ODD: dict[str, tuple[Spoil, str]] = {
    "negative": (with_entry(-0.5), "negative entries in view 1"),
    "sparse": (lambda Z: [sp.csr_array(each) for each in with_entry(-0.5)(Z)], "negative entries in view 1"),
    "signed": (lambda Z: [each - each.mean() for each in Z], "negative entries in view 0, view 1"),
    "scaled": (lambda Z: [Z[0], 7 * Z[1]], "rows that do not sum to one in view 1"),
    "empty": (lambda Z: [Z[0], 0 * Z[1]], "rows that do not sum to one in view 1"),
    "both": (lambda Z: [2 * Z[0], -Z[1]], "negative entries in view 1 and rows that do not sum to one in view 0"),
}


@pytest.mark.parametrize("kind", [ByBlocks, two_functions])
@pytest.mark.parametrize("name", ODD)
def test_graphs_that_are_no_shares_are_warned_of(kind: Callable[[Spoil], Adapter], name: str) -> None:
    """They may be meant; the adapter and its views are named, once in a fit."""
    spoil, message = ODD[name]
    with pytest.warns(UserWarning, match=f"^Adapter 'mine' returned graphs with {message};") as caught:
        AlignedClusterer(kind(spoil), **OPTIONS).fit(DATA.views)
    # A graph of zeros matches nothing, which another warning says.
    (warned,) = [each for each in caught if each.category is not ChanceWarning]
    assert warned.filename == __file__


def test_rounding_is_not_warned_of() -> None:
    """Float32, and entries a little below zero."""
    for spoil in (with_entry(-1e-12), lambda Z: [each.astype(np.float32) * 1.001 for each in Z]):
        fitted = AlignedClusterer(two_functions(spoil), **OPTIONS).fit(DATA.views)
        assert acc(DATA.labels, fitted.labels_) > 0.9


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(5, dtype=int), r"labels of shape \(5,\) and dtype int64; expected 200 whole numbers"),
        (np.arange(200), "returned 200 clusters; expected at most 4"),
        (np.full(200, np.nan), "dtype float64; expected 200 whole numbers"),
    ],
)
def test_wrong_labels_are_refused(labels: Any, message: str) -> None:
    """From a method and from a function."""
    function = FunctionAdapter("mine", lambda views, **_: GOOD, lambda graph, **_: labels)
    for adapter in (Whole(labels=labels), function):
        with pytest.raises(AdapterError, match=f"^Adapter 'mine' .*{message}"):
            AlignedClusterer(adapter, **OPTIONS).fit(DATA.views)


@pytest.mark.parametrize(
    ("adapter", "message"),
    [
        (FunctionAdapter("mine"), "Adapter 'mine' does not define anchor_graphs"),
        (FunctionAdapter("mine", GOOD), "Adapter 'mine': anchor_graphs_function must be a function, got list"),  # type: ignore[arg-type]
        (FunctionAdapter(len, "mine"), "name of a FunctionAdapter must be a text, got builtin"),  # type: ignore[arg-type]
        (FunctionAdapter("mine", lambda views: GOOD), r"called as f\(..., n_clusters=.*unexpected keyword argument"),
        (FunctionAdapter("mine", lambda views, **_: GOOD, lambda graph: 0), "cluster_function is called as f"),
    ],
)
def test_wrong_functions_are_refused(adapter: Adapter, message: str) -> None:
    """With what they are called with."""
    with pytest.raises(AnchorAlignError, match=message):
        AlignedClusterer(adapter, **OPTIONS).fit(DATA.views)


def test_a_functions_own_error_is_left_alone() -> None:
    """Its traceback says where it was raised; functions without a signature are called as they are."""

    def fails(views: Any, **_: Any) -> Any:
        raise TypeError("of its own")

    with pytest.raises(TypeError, match="of its own"):
        AlignedClusterer(FunctionAdapter("mine", fails), **OPTIONS).fit(DATA.views)
    assert FunctionAdapter("mine", dict).anchor_graphs([], **OPTIONS).graphs


def test_a_wrong_plugin_fails_in_its_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A study says which adapter returned what, and goes on."""
    text = (EXAMPLES / "wrap_functions.py").read_text()
    (tmp_path / "bad.py").write_text(text.replace("return graphs", "return [Z.T for Z in graphs]"))
    options = ["--plugin", str(tmp_path / "bad.py"), "--data", "simulated", "--repeats", "1", "--no-cache"]
    assert main(["compare", "fuzzy-ward", "lmvsc", *options]) == 1
    out, err = capsys.readouterr()
    assert "Adapter 'fuzzy-ward' returned graphs of 8 samples" in " ".join((out + err).split())
    assert "Traceback" not in out + err


SHUFFLED = [*GOOD, GOOD[0][:, ::-1]]
EMPTY = np.zeros((0, 0))


def numbered(*graphs: Any) -> dict[str, Any]:
    return {f"Z{i}": Z for i, Z in enumerate(graphs, start=1) if Z is not None}


FILES: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({"a": 1.0, "b": "text"}, "the file holds 'a' (a 1 x 1 array), 'b' (text)"),
    "all transposed": ({"Z": cell([Z.T for Z in SHUFFLED])}, "they look like anchors x samples"),
    "one transposed": (
        {"Z": cell([GOOD[0], GOOD[1].T])},
        "graph 'Z{1}' is 200 x 6 (samples x anchors) and 'Z{2}' is 6 x 200; all must have the same samples. One of",
    ),
    "one empty": ({"Z": cell([GOOD[0], EMPTY, GOOD[1]])}, "'Z{2}' is a 0 x 0 array, not a graph"),
    "one text": ({"Z": cell([GOOD[0], "text", GOOD[1]])}, "'Z{2}' is text, not a graph"),
    "one not there": (numbered(GOOD[0], None, GOOD[1]), "graphs 'Z1', 'Z3' are numbered, and number 2 is missing"),
    "first not there": (numbered(None, *GOOD), "graphs 'Z2', 'Z3' are numbered, and number 1 is missing"),
    "one of them empty": (numbered(GOOD[0], EMPTY, GOOD[1]), "number 2 is missing"),
    "nan": ({"Z": cell(with_entry(np.nan)(GOOD))}, "View Z{2} has NaN or infinity in 1 of 200 rows"),
    "other samples": ({"Z": cell([GOOD[0], GOOD[1][:50]])}, "and 'Z{2}' is 50 x 6; all must have the same samples."),
}


@pytest.mark.parametrize("name", FILES)
def test_wrong_files_are_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one line, with the graph's name in the file; nothing is written."""
    contents, message = FILES[name]
    savemat(tmp_path / "in.mat", contents)
    assert main(["align", str(tmp_path / "in.mat"), "-o", str(tmp_path / "out.mat")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out.mat").exists()


NOTED: dict[str, tuple[dict[str, Any], str]] = {
    "other names": ({"foo": GOOD[0], "bar": GOOD[1]}, "note: Graphs are 'foo', 'bar'."),
    "one": ({"Z": cell(GOOD[:1])}, "note: There is one graph, and nothing to align it with."),
    "negative": ({"Z": cell(with_entry(-0.5)(GOOD))}, "warning: There are negative entries in 'Z{2}';"),
    "scaled": (numbered(GOOD[0], 7 * GOOD[1]), "warning: There are rows that do not sum to one in 'Z2';"),
    "years": ({"Z2019": GOOD[0], "Z2022": GOOD[1]}, "note: Graphs are 'Z2019', 'Z2022'."),
}


@pytest.mark.parametrize("name", NOTED)
def test_odd_files_are_taken_and_noted(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On stderr, with the graph's name in the file."""
    contents, message = NOTED[name]
    savemat(tmp_path / "in.mat", contents)
    assert main(["align", str(tmp_path / "in.mat"), "-o", str(tmp_path / "out.mat")]) == 0
    assert f"anchor-align: {message}" in capsys.readouterr().err


def test_named_graphs_need_not_be_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who names the graphs knows that one is not there; samples that a view lacks are no odd rows."""
    savemat(tmp_path / "in.mat", numbered(GOOD[0], EMPTY, GOOD[1]))
    words = ["align", str(tmp_path / "in.mat"), "-o", str(tmp_path / "out.mat"), "--graphs", "Z1", "Z3"]
    assert main(words) == 0
    second = GOOD[1].copy()
    second[:20] = 0
    mask = np.array([[1.0] * 200, [0.0] * 20 + [1.0] * 180])
    savemat(tmp_path / "in.mat", numbered(GOOD[0], None, second))
    savemat(tmp_path / "mask.mat", {"mask": mask})
    capsys.readouterr()
    assert main([*words, "--mask", str(tmp_path / "mask.mat")]) == 0
    assert "sum to one" not in capsys.readouterr().err
    second[:20] = np.nan
    savemat(tmp_path / "in.mat", numbered(GOOD[0], None, second))
    assert main([*words, "--missing", "nan"]) == 0
    assert "sum to one" not in capsys.readouterr().err


def test_graphs_in_place_of_views_name_the_view() -> None:
    """As those of other adapters."""
    with pytest.raises(InputError, match="View 1 has NaN or infinity in 1 of 200 rows"):
        AlignedClusterer("precomputed", n_clusters=4).fit(with_entry(np.nan)(GOOD))
    with pytest.warns(UserWarning, match="Adapter 'precomputed' returned graphs with negative entries in view 1;"):
        AlignedClusterer("precomputed", n_clusters=4, random_state=0).fit(with_entry(-0.5)(GOOD))
