"""Least squares on the simplex, row by row, and the projection on it."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import quadprog
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import SHARED_DATA, FloatArray, seeds
from threadpoolctl import threadpool_limits

from anchor_align.errors import AnchorAlignError, InputError, InputTypeError
from anchor_align.simplex import _least_squares, project_rows_on_simplex, simplex_least_squares
from anchor_align.simplex._active_set import Attempt
from anchor_align.simplex._least_squares import fit_simplex
from anchor_align.simplex._shared_problem import RowProblems, solve_systems

ALPHAS = (0.0, 0.01, 1.0, 100.0)


def problem(seed: int, n: int, m: int, d: int, kind: str) -> tuple[FloatArray, FloatArray]:
    """Samples and anchors with values near one, of a kind that is hard in its own way."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, d))
    if kind == "ties":
        return rng.integers(-1, 2, size=(n, d)).astype(float), rng.integers(-1, 2, size=(m, d)).astype(float)
    if kind == "duplicates":
        A = A[rng.integers(max(1, m // 2), size=m)]
    if kind == "line":
        A = np.outer(rng.standard_normal(m), rng.standard_normal(d))
    if kind == "inside":
        return rng.dirichlet(np.ones(m), size=n) @ A, A
    if kind == "offset":
        return 1e6 + rng.standard_normal((n, d)), 1e6 + A
    X = rng.standard_normal((n, d))
    X[0] = A[0]
    X[-1] = 0.0
    return X, A


def relative_gaps(X: FloatArray, A: FloatArray, alpha: float, Z: FloatArray) -> FloatArray:
    """The KKT gap as documented, from residuals instead of the Gram."""
    shift = A.mean(axis=0)
    B, Y = A - shift, X - shift
    c = Y @ B.T
    g = (Z @ B - Y) @ B.T + alpha * Z
    scale = np.ptp(c, axis=1) + (B**2).sum(axis=1).max() + alpha / len(A)
    return np.asarray(((Z * g).sum(axis=1) - g.min(axis=1)) / np.where(scale > 0, scale, 1.0))


def objectives(X: FloatArray, A: FloatArray, alpha: float, Z: FloatArray) -> FloatArray:
    return np.asarray(((X - Z @ A) ** 2).sum(axis=1) + alpha * (Z**2).sum(axis=1))


def assert_on_simplex(Z: FloatArray) -> None:
    assert Z.dtype == np.float64
    assert Z.flags.c_contiguous
    assert (Z >= 0).all()
    np.testing.assert_allclose(Z.sum(axis=1), 1, rtol=0, atol=1e-12)


def one_by_one(X: FloatArray, A: FloatArray, alpha: float) -> FloatArray:
    """The solution by one call of quadprog per sample, on a scale that it can work with."""
    m = len(A)
    B, Y = A - A.mean(axis=0), X - A.mean(axis=0)
    H = B @ B.T + alpha * np.eye(m)
    unit = np.trace(H) / m
    constraints = np.column_stack([np.ones(m), np.eye(m)])
    bounds = np.r_[1.0, np.zeros(m)]
    Z = [quadprog.solve_qp(H / unit, c / unit, constraints, bounds, 1)[0] for c in Y @ B.T]
    return project_rows_on_simplex(Z)


@given(
    seeds,
    st.integers(1, 40),
    st.integers(1, 30),
    st.sampled_from(["normal", "ties", "duplicates", "line", "inside", "offset"]),
    st.sampled_from([1e-8, 1e-3, 1.0, 1e5, 1e13]),
    st.sampled_from(ALPHAS),
    st.booleans(),
)
@example(0, 40, 5, "inside", 1.0, 0.01, False)
@example(0, 40, 30, "inside", 1.0, 0.0, True)
def test_optimality(seed: int, m: int, d: int, kind: str, scale: float, alpha: float, sparse: bool) -> None:
    """Rows lie on the simplex with a tiny KKT gap: any scale, ridge, shape and degeneracy, dense or sparse."""
    X, A = problem(seed, 25, m, d, kind)
    X, A = scale * X, scale * A
    # Sparse rows cannot be centred, so a large offset costs them the digits that it has.
    lost = 1e6 if sparse and kind == "offset" else 1.0
    Z = simplex_least_squares(sp.csr_array(X) if sparse else X, A, alpha)
    assert_on_simplex(Z)
    assert relative_gaps(X, A, alpha, Z).max() <= 1e-10 * lost


@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("m", "d"), [(4, 20), (30, 50), (30, 6), (60, 20)])
def test_same_as_one_problem_at_a_time(m: int, d: int, alpha: float) -> None:
    """A general QP solver finds the same weights, sample by sample."""
    X, A = problem(m, 60, m, d, "normal")
    np.testing.assert_allclose(simplex_least_squares(X, A, alpha), one_by_one(X, A, alpha), rtol=0, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("view", [0, 1, 2])
def test_real_views_unscaled(view: int, alpha: float) -> None:
    """On real views of any scale no general QP solver finds a better row."""
    path = SHARED_DATA / "UCI-Digit_3v.npz"
    if not path.exists():
        pytest.skip(f"real data {path} are not on this machine")
    with np.load(path) as data:
        X = np.asarray(data[sorted(key for key in data.files if key.startswith("view"))[view]], dtype=np.float64)
    rng = np.random.default_rng(view)
    A = X[rng.choice(len(X), 40, replace=False)]
    X = X[rng.choice(len(X), 80, replace=False)]
    Z = simplex_least_squares(X, A, alpha)
    assert_on_simplex(Z)
    assert relative_gaps(X, A, alpha, Z).max() <= 1e-12
    rival = objectives(X, A, alpha, one_by_one(X, A, alpha))
    assert (objectives(X, A, alpha, Z) <= rival * (1 + 1e-9)).all()


@pytest.mark.parametrize(("concentration", "m"), [(0.02, 60), (1.0, 60), (1.0, 150)])
def test_planted_weights_are_found(concentration: float, m: int) -> None:
    """Independent anchors and samples inside their hull: the weights are the planted ones, few or many."""
    rng = np.random.default_rng(m)
    planted = rng.dirichlet(np.full(m, concentration), size=100)
    planted = np.where(planted > 1e-6, planted, 0.0)
    planted /= planted.sum(axis=1, keepdims=True)
    A = rng.standard_normal((m, 2 * m))
    fit = fit_simplex(planted @ A, A)
    np.testing.assert_allclose(fit.Z, planted, rtol=0, atol=1e-11)
    assert fit.n_rounds < 80


def test_a_large_ridge_spreads_evenly() -> None:
    """Where the ridge is all that counts, every anchor has the same weight."""
    X, A = problem(0, 10, 8, 3, "normal")
    np.testing.assert_allclose(simplex_least_squares(1e-8 * X, 1e-8 * A, 100.0), 1 / 8, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.01])
def test_degenerate_problems_end(alpha: float) -> None:
    """Equal anchors, zero anchors, one anchor, samples that are anchors: a solution, and a simple one where known."""
    X = np.random.default_rng(0).standard_normal((30, 5))
    for A in (np.ones((6, 5)), np.zeros((6, 5)), np.zeros((1, 5)), np.repeat(X[:4], 5, axis=0)):
        Z = simplex_least_squares(X, A, alpha)
        assert_on_simplex(Z)
        assert relative_gaps(X, A, alpha, Z).max() <= 1e-12
    np.testing.assert_array_equal(simplex_least_squares(X, X), np.eye(30))


@pytest.mark.parametrize("few_features", [False, True])
@pytest.mark.parametrize("kind", ["csr_array", "csc_matrix", "coo_array"])
def test_sparse_is_dense(kind: str, few_features: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse samples of any format give the same weights and are never made dense."""
    rng = np.random.default_rng(0)
    X = rng.random((70, 6 if few_features else 40)) * (rng.random((70, 1)) < 0.7)
    A = rng.random((30, X.shape[1]))
    expected = simplex_least_squares(X, A, 0.1)
    sparse = getattr(sp, kind)(X)
    for cls in (sp.csr_array, sp.csr_matrix):
        for name in ("toarray", "todense"):
            monkeypatch.setattr(cls, name, lambda *_args, **_options: pytest.fail("made dense"))
    np.testing.assert_allclose(simplex_least_squares(sparse, A, 0.1), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, np.bool_, np.longdouble])
def test_dtypes(dtype: Any) -> None:
    """Samples of any real dtype mean the same as in float64, and stay as they were."""
    X = (2 * np.random.default_rng(0).random((20, 6))).astype(dtype)
    A = np.random.default_rng(1).random((5, 6))
    before = X.copy(), A.copy()
    X.flags.writeable = A.flags.writeable = False
    Z = simplex_least_squares(X, A, 0.1)
    assert Z.dtype == (np.float32 if dtype == np.float32 else np.float64)
    digits = 1e-7 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(Z, simplex_least_squares(X.astype(float), A, 0.1), rtol=0, atol=digits)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(A, before[1])


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("block_rows", [1, 7, 1000])
def test_blocks_do_not_matter(alpha: float, block_rows: int) -> None:
    """The result is the same for any number of rows at a time."""
    X, A = problem(3, 50, 24, 30, "normal")
    Z = simplex_least_squares(X, A, alpha, block_rows=block_rows)
    np.testing.assert_allclose(Z, simplex_least_squares(X, A, alpha), rtol=0, atol=1e-12)


def test_threads_do_not_matter() -> None:
    """The result is the same for any number of BLAS threads, up to rounding."""
    X, A = problem(4, 300, 40, 60, "normal")
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            results.append(simplex_least_squares(X, A, 0.1))
    np.testing.assert_allclose(results[0], results[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("d", [5, 3000])
def test_memory_is_bounded(d: int) -> None:
    """Beyond the result, work arrays take a few tens of megabytes, for many rows and for many features."""
    n = 40_000 if d == 5 else 3_000
    X = np.random.default_rng(0).standard_normal((n, d)).astype(np.float32)
    A = X[:20].astype(np.float64)
    tracemalloc.start()
    Z = simplex_least_squares(X, A, 0.01)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - Z.nbytes < 40e6


def test_rows_that_miss_are_solved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that says "done" at a bad point is not believed: the rows are solved again, or it is an error."""
    X, A = problem(5, 30, 12, 20, "normal")
    expected = simplex_least_squares(X, A, 0.1)

    def wrong(problems: RowProblems, **_options: Any) -> Attempt:
        n, m = problems.linear.shape
        return Attempt(np.full((n, m), 1 / m), np.ones(n, dtype=bool), 1)

    monkeypatch.setattr(_least_squares, "_solvers", lambda _shared: [wrong])
    np.testing.assert_allclose(simplex_least_squares(X, A, 0.1), expected, rtol=0, atol=1e-9)
    monkeypatch.setattr(_least_squares, "active_set", wrong)
    with pytest.raises(AnchorAlignError, match="relative KKT gap"):
        simplex_least_squares(X, A, 0.1)


def test_singular_systems_spoil_no_others() -> None:
    """One exactly singular system among others is solved with a ridge of a rounding."""
    systems = np.stack([np.eye(3), np.ones((3, 3))])
    solution = solve_systems(systems, np.ones((2, 3, 1)))
    np.testing.assert_allclose((systems @ solution)[:, :, 0], 1.0, rtol=1e-9)


@pytest.mark.parametrize(
    ("X", "A", "alpha", "error", "message"),
    [
        (np.ones(3), np.ones((2, 3)), 0.0, InputError, "X has 1 dimension"),
        (np.ones((4, 3)), np.ones((2, 2)), 0.0, InputError, "X has 3 features; A has 2"),
        (np.ones((0, 3)), np.ones((2, 3)), 0.0, InputError, "X is empty"),
        (np.ones((4, 3)), np.ones((0, 3)), 0.0, InputError, "A is empty"),
        ([[0.0], [np.nan]], np.ones((2, 1)), 0.0, InputError, "X has NaN, infinity .* in row 1"),
        (sp.csr_array([[0.0], [np.inf]]), np.ones((1, 1)), 0.0, InputError, "X has NaN, infinity .* in row 1"),
        (np.ones((4, 3)), np.full((2, 3), np.inf), 0.0, InputError, "A has NaN, infinity .* in row 0"),
        (np.ones((4, 1)), [[1.7e308], [1.7e308]], 0.0, InputError, "A has numbers too large"),
        (np.full((4, 1), 1e300), [[0.0], [1e-9]], 0.0, InputError, "X has NaN, infinity or numbers too large .* row 0"),
        ([[1.0], [1.0, 2.0]], np.ones((2, 1)), 0.0, InputError, "X is not a rectangular array"),
        ([["a"]], np.ones((2, 1)), 0.0, InputTypeError, "X has dtype <U1"),
        (np.ones((4, 3)), np.ones((2, 3)) * 1j, 0.0, InputTypeError, "A has dtype complex128"),
        (np.ones((4, 3)), sp.csr_array(np.ones((2, 3))), 0.0, InputTypeError, "A is a sparse matrix"),
        (np.ones((4, 3)), np.ones((2, 3)), -1.0, InputError, "alpha must be a finite number >= 0, got -1.0"),
        (np.ones((4, 3)), np.ones((2, 3)), np.nan, InputError, "alpha must be a finite number >= 0, got nan"),
        (np.ones((4, 3)), np.ones((2, 3)), "1", InputTypeError, "alpha must be a finite number >= 0, got '1'"),
    ],
)
def test_bad_input(X: Any, A: Any, alpha: Any, error: type[Exception], message: str) -> None:
    """One sentence says what was got and what was expected."""
    with pytest.raises(error, match=message):
        simplex_least_squares(X, A, alpha)


def test_bad_block_rows() -> None:
    """Blocks have at least one row."""
    with pytest.raises(InputError, match="block_rows must be a whole number >= 1, got 0"):
        simplex_least_squares(np.ones((4, 3)), np.ones((2, 3)), block_rows=0)


@given(seeds, st.integers(1, 40), st.sampled_from([1e-300, 1e-3, 1.0, 1e3, 1e15]))
def test_projection_is_the_nearest_point(seed: int, m: int, scale: float) -> None:
    """Rows are on the simplex, and no vertex lies in the direction of the residual: the optimality condition."""
    Y = scale * np.random.default_rng(seed).standard_normal((20, m))
    Z = project_rows_on_simplex(Y)
    assert_on_simplex(Z)
    residual = Y - Z
    assert (residual.max(axis=1) - (residual * Z).sum(axis=1) <= 1e-14 * max(scale, 1)).all()


def test_projection_of_huge_entries() -> None:
    """Entries near the largest float, of either sign and in any dtype, neither overflow nor lose a row."""
    top = np.finfo(float).max
    Y = np.array([[top, -top, 0.0], [top, top, -top], [-top, -top, -top], [1e300, 1e300, 1e299]])
    Z = np.array([[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0]])
    np.testing.assert_allclose(project_rows_on_simplex(Y), Z, rtol=1e-15)
    small = np.array([[9, 1], [3, 3]], dtype=np.uint8)
    np.testing.assert_array_equal(project_rows_on_simplex(small), [[1, 0], [0.5, 0.5]])


def test_projection_leaves_the_simplex_and_its_input_alone() -> None:
    """Points of the simplex are their own projection; the input keeps its values."""
    Y = np.random.default_rng(0).dirichlet(np.full(9, 0.3), size=5000)
    before = Y.copy()
    np.testing.assert_allclose(project_rows_on_simplex(Y), Y, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(Y, before)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (np.ones(3), "Y has 1 dimension"),
        (np.ones((3, 0)), "Y is empty"),
        ([[0.0, 1.0], [np.nan, 1.0]], "Y has NaN, infinity .* in row 1"),
        (sp.eye_array(3), "Y is a sparse matrix"),
    ],
)
def test_projection_of_bad_input(Y: Any, message: str) -> None:
    """One sentence says what was got and what was expected."""
    with pytest.raises(InputError, match=message):
        project_rows_on_simplex(Y)
