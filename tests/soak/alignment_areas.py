"""Areas on graphs: ``align`` and ``AnchorAligner``, ``GramMatrices``, ``fuse``."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from case_checks import Call, promise
from random_data import graphs, mask_for, pick

from anchor_align import AnchorAligner, GramMatrices, align, fuse, get_fusion, list_fusions
from anchor_align.arrays import is_sparse

Rng = np.random.Generator
FUSIONS = tuple(record.name for record in list_fusions())  # loading them takes longer than most calls
SLACK = 1e-9  # of rounding, relative


def _dense(Z: Any) -> np.ndarray:
    return np.asarray(Z.toarray() if is_sparse(Z) else Z, dtype=np.float64)


def _settings(rng: Rng, Z: list[Any]) -> dict[str, Any]:
    """Settings of an alignment of these graphs."""
    n_views = len(Z)
    settings: dict[str, Any] = {
        "lam": pick(rng, 0, 0.0, 0.1, 1.0, 10.0, 1e6, np.inf),
        "lam_scale": pick(rng, "balanced", "balanced", "balanced", "paper"),
        "reference": pick(rng, "auto", "consensus", "consensus", int(rng.integers(n_views))),
        "method": pick(rng, "ascent", "ascent", "ascent", "ascent", "pfp", "exact", "pfp-many-to-one"),
        "seeds": None,
        "many_to_one": bool(rng.random() < 0.2),
        "n_restarts": int(rng.integers(5)),
        "random_state": int(rng.integers(100)),
        "callback": None,
        "mask": mask_for(rng, n_views, Z[0].shape[0]) if rng.random() < 0.4 else None,
        "missing": "error",
    }
    least = min(each.shape[1] for each in Z)
    if least > 1 and rng.random() < 0.15:
        settings["seeds"] = np.array([rng.permutation(least)[:2] for _ in Z]).T
    return settings


def align_call(rng: Rng, folder: Path) -> Call:
    """``align`` gives permutations, that of the reference is the identity."""
    Z = graphs(rng)
    settings = _settings(rng, Z)

    def check(matrices: list[np.ndarray]) -> None:
        sizes = [each.shape[1] for each in Z]
        one_way = settings["method"] == "pfp-many-to-one"
        for P, m in zip(matrices, sizes, strict=True):
            promise(P.shape[0] == m and set(np.unique(P)) <= {0.0, 1.0}, "a matrix is not of zeros and ones")
            if one_way:
                promise((P.sum(axis=0) <= 1).all(), "a column has several anchors")
            else:
                promise((P.sum(axis=1) == 1).all(), "an anchor has no column or several")
            if not one_way and not settings["many_to_one"]:
                promise((P.sum(axis=0) <= 1).all(), "two anchors share a column")
            if not one_way and len(set(sizes)) == 1:
                promise(P.shape == (m, m), "no permutation")
        reference = settings["reference"]
        at = 0 if reference == "consensus" else reference
        if not isinstance(at, str):
            m = sizes[at]
            first = matrices[at][:, :m]
            promise((first == np.eye(m)).all() or len(set(sizes)) > 1, "the reference is not in its own order")
        if reference == "consensus" and len(set(sizes)) == 1 and settings["lam_scale"] == "balanced" and not one_way:
            _check_consensus(Z, settings, matrices)

    return Call(align, {"Z_list": Z, **settings}, check, costly=("n_restarts",))


def _check_consensus(Z: list[Any], settings: dict[str, Any], matrices: list[np.ndarray]) -> None:
    """The total over all pairs is not below that of any single reference."""
    mask = np.ones((len(Z), Z[0].shape[0]), dtype=bool) if settings["mask"] is None else settings["mask"]
    if ((mask.astype(int) @ mask.T.astype(int)) == 0).any():
        return  # some views are matched through others
    found = total(Z, matrices, settings["lam"], mask)
    for reference in range(len(Z)):
        star = total(Z, align(Z, **{**settings, "reference": reference}), settings["lam"], mask)
        promise(
            found >= star - SLACK * max(1.0, abs(star)), f"consensus {found} is below reference {reference}: {star}"
        )


def total(Z: list[Any], matrices: list[np.ndarray], lam: float, mask: np.ndarray) -> float:
    """The objective over all pairs of views, each by the samples that both have, computed the plain way."""
    aligned = [_dense(each) @ P for each, P in zip(Z, matrices, strict=True)]
    value = 0.0
    for u, v in itertools.combinations(range(len(Z)), 2):
        both = mask[u] & mask[v]
        A, B = aligned[u][both], aligned[v][both]
        S, T = A.T @ A, B.T @ B
        feature = _cosine(A, B)
        structure = _cosine(S, T)
        value += structure if lam == np.inf else feature + lam * structure
    return value


def _cosine(A: np.ndarray, B: np.ndarray) -> float:
    size = float(np.linalg.norm(A) * np.linalg.norm(B))
    return float((A * B).sum()) / size if size else 0.0


def aligner_call(rng: Rng, folder: Path) -> Call:
    """``AnchorAligner``: bounds are not below objectives, margins are not negative, ``transform`` is the product."""
    Z = graphs(rng)
    settings = _settings(rng, Z)

    def fit(
        Z_list: Any, mask: Any = None, missing: Any = "error", **settings: Any
    ) -> tuple[dict[str, Any], list[Any] | None]:
        aligner = AnchorAligner(**settings).fit(Z_list, mask=mask, missing=missing)
        fitted = {name: value for name, value in vars(aligner).items() if name.endswith("_")}
        return fitted, None if isinstance(Z_list, GramMatrices) else aligner.transform(Z_list)

    def check(result: tuple[dict[str, Any], list[Any]]) -> None:
        fitted, aligned = result
        objective, bound, lam = fitted["objective_"], fitted["upper_bound_"], settings["lam"]
        slack = SLACK * np.maximum(1.0, np.abs(bound))
        promise(np.isfinite(objective).all() and np.isfinite(bound).all(), "an objective is not finite")
        terms = fitted["structure_"] if lam == np.inf else fitted["feature_"] + lam * fitted["structure_"]
        promise(np.allclose(terms, objective, rtol=1e-9, atol=1e-12), "objective_ is not the sum of its terms")
        if settings["method"] != "pfp-many-to-one":
            promise((bound >= objective - slack).all(), f"a bound is below its objective: {bound - objective}")
        if settings["method"] in ("ascent", "exact"):
            margins = fitted["margins_"]
            least = -SLACK * max(1.0, float(np.abs(bound).max()))
            promise((margins[~np.isnan(margins)] >= least).all(), f"a margin is negative: {np.nanmin(margins)}")
        for each, P, moved in zip(Z, fitted["matrices_"], aligned, strict=True):
            promise(np.allclose(_dense(each) @ P, _dense(moved)), "transform is not the product with the matrix")

    return Call(fit, {"Z_list": Z, **settings}, check, costly=("n_restarts",))


def gram_call(rng: Rng, folder: Path) -> Call:
    """``GramMatrices``: from graphs, from blocks, from numbers; all agree."""
    Z = graphs(rng)
    n = Z[0].shape[0]
    mask = mask_for(rng, len(Z), n) if rng.random() < 0.4 else None
    options = {"mask": mask, "missing": pick(rng, "error", "error", "nan"), "callback": pick(rng, None, print)}
    wide = np.hstack([_dense(each) for each in Z])

    def check(grams: GramMatrices) -> None:
        if mask is None:
            expected = wide.T @ wide
            promise(np.allclose(grams.matrix, expected, rtol=1e-5, atol=1e-6 * abs(expected).max()), "wrong products")
        promise((grams.matrix == grams.matrix.T).all(), "the Gram matrix is not symmetric")
        promise(grams.n_samples == n, "wrong number of samples")

    match int(rng.integers(4)):
        case 0:
            cut = int(rng.integers(1, n)) if n > 1 else 1
            ends = [slice(0, cut), slice(cut, n)] if n > 1 else [slice(0, 1)]
            plain = [_dense(each) for each in Z]
            arguments: dict[str, Any] = {"blocks": [[each[rows] for each in plain] for rows in ends]}
            arguments |= {"masks": None if mask is None else [mask[:, rows] for rows in ends], "missing": "error"}
            return Call(GramMatrices.from_blocks, arguments, check)
        case 1:
            sizes = tuple(each.shape[1] for each in Z)
            arguments = {"matrix": wide.T @ wide, "sizes": sizes, "n_samples": n, "sums": wide.sum(axis=0)}
            return Call(lambda **given: align(GramMatrices(**given)), arguments, safe=())
    return Call(GramMatrices.from_graphs, {"graphs": Z, **options}, check)


def fuse_call(rng: Rng, folder: Path) -> Call:
    """``fuse`` with every fusion: finite, one row for each sample, and rows of a mean that sum to one still do."""
    Z = graphs(rng)
    n = Z[0].shape[0]
    how = pick(rng, "mean", *FUSIONS)
    mask = mask_for(rng, len(Z), n) if rng.random() < 0.3 else None
    P = None if rng.random() < 0.3 or not get_fusion("aligned" if how == "mean" else how).aligns else align(Z)
    weights = pick(rng, None, None, "auto", rng.random(len(Z)) + 0.01)

    def check(fused: Any) -> None:
        values = _dense(fused)
        promise(len(values) == n and np.isfinite(values).all(), "the fused graph is not finite")
        all_one = all(np.allclose(_dense(each).sum(axis=1), 1.0) for each in Z)
        if how in ("mean", "aligned") and all_one:
            promise(np.allclose(values.sum(axis=1), 1.0, atol=1e-5), "rows of the mean do not sum to one")

    arguments = {"Z_list": Z, "P_list": P, "weights": weights, "how": how, "mask": mask, "missing": "error"}
    return Call(fuse, arguments, check)
