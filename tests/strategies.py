"""Data for the tests: planted graphs with a known answer, hostile input, and what several tests check."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import settings
from hypothesis import strategies as st

from anchor_align import align, fuse, get_adapter
from anchor_align.matching._pair_problem import PairProblem
from anchor_align.matching._scaled_grams import PairTerms

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

seeds = st.integers(0, 2**32 - 1)
lams = st.sampled_from([0.0, 0.1, 1.0, 10.0, np.inf])


def at_most(n_examples: int) -> int:
    """Examples of a property test with a number of its own: that number, or fewer in the quick tier, as for all."""
    drawn = settings().max_examples
    return n_examples if drawn == settings.get_profile("all").max_examples else min(n_examples, drawn)


def random_graph(rng: np.random.Generator, n: int, m: int, concentration: float = 0.3) -> FloatArray:
    """Rows on the simplex, most of the weight on a few anchors; anchors of unequal size, as in real graphs."""
    popularity = rng.uniform(0.3, 1.0, size=m)
    return rng.dirichlet(concentration * popularity, size=n)


def planted_graphs(
    rng: np.random.Generator, n: int, m: int, n_views: int = 2, noise: float = 0.02
) -> tuple[list[FloatArray], list[IndexArray]]:
    """Views of one graph with columns shuffled and noise added; ``Z[v][:, p[v]]`` is in the common order."""
    base = random_graph(rng, n, m)
    graphs, permutations = [], []
    for _ in range(n_views):
        order = rng.permutation(m)
        graphs.append(((1 - noise) * base + noise * rng.dirichlet(np.ones(m), size=n))[:, order])
        permutations.append(np.argsort(order))
    return graphs, permutations


def related_graphs(rng: np.random.Generator, n: int, m: int, n_views: int = 2) -> list[FloatArray]:
    """Views that agree only in part, like anchors chosen by k-means in each view: no permutation is perfect."""
    hidden = rng.integers(3 * m, size=n)
    graphs = []
    for _ in range(n_views):
        centres = random_graph(rng, 3 * m, m, 0.15)
        graphs.append(0.8 * centres[hidden] + 0.2 * random_graph(rng, n, m))
    return graphs


def planted_views(seed: int, n: int = 120, k: int = 3) -> tuple[list[FloatArray], IndexArray]:
    """Clusters in three views of different widths and scales; samples are positive, in directions of their own."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % k)
    views = []
    for d, size in ((12, 1.0), (20, 100.0), (9, 0.01)):
        centres = 6.0 * np.eye(k, d)[:, rng.permutation(d)] + 0.5
        views.append(size * np.abs(centres[labels] + 0.4 * rng.standard_normal((n, d))))
    return views, labels


def pair_terms(Z1: FloatArray, Z2: FloatArray) -> PairTerms:
    """K and S on the balanced scale, computed the plain way."""
    K, S1, S2 = Z1.T @ Z2, Z1.T @ Z1, Z2.T @ Z2
    unit = float(np.linalg.norm(Z1) * np.linalg.norm(Z2))
    return PairTerms(K / unit, S1 / np.linalg.norm(S1), S2 / np.linalg.norm(S2), unit)


@st.composite
def pair_problems(draw: st.DrawFn, max_anchors: int = 8) -> PairProblem:
    """Matching problems of small, partly related graphs, now and then with duplicate or empty anchors."""
    rng = np.random.default_rng(draw(seeds))
    m = draw(st.integers(1, max_anchors))
    Z1, Z2 = related_graphs(rng, 40, m)
    if draw(st.booleans()):
        Z2[:, 0] = Z2[:, -1]
    if draw(st.booleans()):
        Z1[:, -1] = 0.0
    return pair_terms(Z1 + 1e-12, Z2).problem(draw(lams))


def real_data(name: str) -> tuple[list[FloatArray], IndexArray]:
    """Views and labels of a real data set; the test is skipped where the data are absent."""
    path = SHARED_DATA / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"real data {path} are not on this machine")
    with np.load(path) as data:
        keys = sorted(key for key in data.files if key.startswith("view"))
        return [data[key].astype(np.float64) for key in keys], data["labels"].astype(np.intp)


def real_graphs(name: str, n_anchors: int, beta: float = 1.0, max_views: int = 3) -> list[FloatArray]:
    """FMVACC graphs of a real data set."""
    views = real_data(name)[0][:max_views]
    adapter = get_adapter("fmvacc", beta=beta, max_iter=10, n_init=1)
    made = adapter.anchor_graphs(views, n_clusters=1, n_anchors=n_anchors, random_state=0)
    return list(made.graphs)


def sorted_columns(Z: FloatArray) -> FloatArray:
    """Columns in an order that does not depend on how they came."""
    return Z[:, np.lexsort(np.round(Z, 9))]


REFERENCES = (0, "auto", "consensus")


def assert_permutations(matrices: list[FloatArray], m: int) -> None:
    for P in matrices:
        assert P.shape == (m, m)
        assert set(np.unique(P)) <= {0.0, 1.0}
        assert (P.sum(axis=0) == 1).all()
        assert (P.sum(axis=1) == 1).all()


def fused_of(graphs: Any, **options: Any) -> FloatArray:
    return np.asarray(fuse(graphs, align(graphs, **options)))


def total_objective(graphs: list[FloatArray], matrices: list[FloatArray], lam: float) -> float:
    aligned = [Z @ P for Z, P in zip(graphs, matrices, strict=True)]
    identity = np.arange(aligned[0].shape[1])
    return sum(pair_terms(A, B).problem(lam).value(identity) for A, B in itertools.combinations(aligned, 2))


class Odd:
    """An object without anything that a caller could use. The class can be called, as callbacks can."""

    def __init__(self, *_: object) -> None:
        pass


# Values that no argument expects, made anew for each example: some can be read only once.
HOSTILE: list[Callable[[], Any]] = [
    lambda: None, lambda: True, lambda: "", lambda: "text", lambda: "\ud800", lambda: "a\0b", lambda: b"x",
    lambda: -1, lambda: -(10**5000), lambda: 0.5, lambda: float("nan"), lambda: float("inf"), lambda: 1j, Odd,
    lambda: Odd, lambda: np.array(3), lambda: np.array([]), lambda: np.zeros((0, 3)), lambda: np.zeros((2, 2, 2)),
    lambda: np.array(["a", "b"]), lambda: np.array([None, 1], dtype=object), lambda: np.full((4, 4), np.nan),
    lambda: np.ma.masked, lambda: sp.csr_array(np.eye(2)), lambda: pd.DataFrame({"a": ["x"]}), lambda: pd.NA,
    lambda: [], lambda: [[]], lambda: [[1], [1, 2]], lambda: [1, "a", None], lambda: {"a": 1}, lambda: {1, 2},
    lambda: range(3), lambda: iter(()),
]  # fmt: skip
# Faults of a matrix, and layouts that few programs make.
FAULTS: list[Callable[[FloatArray], Any]] = [
    lambda X: X[:-1], lambda X: X[:0], lambda X: X[:, :0], lambda X: X[:, :1], lambda X: X.T, lambda X: X.ravel(),
    lambda X: X[None], lambda X: -X, lambda X: X * 0, lambda X: X * 1e300, lambda X: X * 1e-300, lambda X: X * 1e155,
    lambda X: np.where(np.equal(X, X.max()), np.nan, X), lambda X: np.where(np.equal(X, X.max()), np.inf, X),
    lambda X: X.astype(str),
    lambda X: X.astype(complex), lambda X: X.astype(object), lambda X: X.astype(bool), lambda X: X.astype(">f8"),
    lambda X: X.astype(np.float16), lambda X: X.astype(np.longdouble), lambda X: X[::-1], np.asfortranarray,
    lambda X: X.tolist(), pd.DataFrame, sp.coo_array, sp.csr_array, lambda X: np.broadcast_to(X[:1], X.shape),
    lambda X: np.ma.masked_less(X, np.median(X)),
]  # fmt: skip

hostile_values = st.builds(lambda make: make(), st.sampled_from(HOSTILE))


@st.composite
def hostile_matrices(draw: st.DrawFn, matrices: list[FloatArray]) -> Any:
    """The list with a fault in one matrix, one too many or too few, or something else instead of it."""
    given: list[Any] = [matrix.copy() for matrix in matrices]
    at = draw(st.integers(0, len(given) - 1))
    what = draw(st.sampled_from(["fault", "fault", "fault", "other", "fewer", "more", "tuple", "instead", "fine"]))
    if what == "fault":
        with np.errstate(all="ignore"):
            given[at] = draw(st.sampled_from(FAULTS))(given[at])
    elif what == "other":
        given[at] = draw(hostile_values)
    elif what in ("fewer", "more"):
        given[at:] = given[at + 1 :] if what == "fewer" else [*given[at:], given[at]]
    elif what == "instead":
        return draw(hostile_values)
    return tuple(given) if what == "tuple" else given


@st.composite
def hostile_arguments(draw: st.DrawFn, usual: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with something else in place of one of them, or of none."""
    name = draw(st.sampled_from([None, *usual]))
    return dict(usual) if name is None else {**usual, name: draw(hostile_values)}


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with some bytes changed, added or lost."""
    found = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(found) - 1, 0)))
        size = draw(st.integers(0, 8))
        found[at : at + size] = draw(st.binary(max_size=8))
    return bytes(found[: draw(st.integers(0, len(found)))] if draw(st.booleans()) else found)
