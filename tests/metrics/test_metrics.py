"""Scores of a clustering: brute force, scikit-learn, exact integers, degenerate cases."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import FrozenInstanceError, asdict, fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, confusion_matrix, normalized_mutual_info_score
from sklearn.metrics.cluster import pair_confusion_matrix
from strategies import IndexArray, seeds

from anchor_align import InputError, metrics
from anchor_align.metrics import Scores, acc, ari, entropy, fscore, nmi, precision, purity, recall, score_all
from anchor_align.metrics import _contingency as _contingency

NAMES = [field.name for field in fields(Scores)]
SYMMETRIC = ["acc", "nmi", "fscore", "ari"]
AVERAGES = ["arithmetic", "geometric", "max", "min"]

label_pairs = st.integers(1, 5).flatmap(
    lambda k: st.lists(st.tuples(st.integers(0, k - 1), st.integers(0, 4)), min_size=1, max_size=14)
)

DEGENERATE = {
    "one sample": ([3], [8]),
    "one class, one cluster": ([0] * 5, [1] * 5),
    "all singletons": (list(range(5)), [4, 2, 0, 1, 3]),
    "one class, singletons": ([0] * 5, list(range(5))),
    "singletons, one cluster": (list(range(5)), [0] * 5),
    "two classes, one cluster": ([0, 0, 1, 1], [0] * 4),
    "two classes, singletons": ([0, 0, 1, 1], list(range(4))),
    "independent": ([0, 0, 1, 1], [0, 1, 0, 1]),
    "two samples together and apart": ([0, 0], [0, 1]),
}


def pair_counts(true: Sequence[Any], found: Sequence[Any]) -> tuple[int, int, int, int]:
    """Pairs in one class and one cluster, in one class, in one cluster, and in all: one by one."""
    pairs = list(itertools.combinations(range(len(true)), 2))
    in_class = [true[i] == true[j] for i, j in pairs]
    in_cluster = [found[i] == found[j] for i, j in pairs]
    both = sum(a and b for a, b in zip(in_class, in_cluster, strict=True))
    return both, sum(in_class), sum(in_cluster), len(pairs)


def ratio(part: Fraction | int, whole: Fraction | int) -> float:
    return float(Fraction(part) / whole) if whole else 1.0


def expected_pair_scores(both: int, in_class: int, in_cluster: int, pairs: int) -> dict[str, float]:
    """Textbook formulas in rational numbers, rounded once."""
    chance = Fraction(in_class * in_cluster, pairs) if pairs else Fraction(0)
    return {
        "fscore": ratio(2 * both, in_class + in_cluster),
        "precision": ratio(both, in_cluster),
        "recall": ratio(both, in_class),
        "ari": ratio(both - chance, Fraction(in_class + in_cluster, 2) - chance),
    }


def shannon(labels: Sequence[Any]) -> float:
    return -sum(c / len(labels) * math.log(c / len(labels)) for c in Counter(labels).values())


def labels_of(table: Any, seed: int = 0) -> tuple[IndexArray, IndexArray]:
    """Labels, shuffled, with the given contingency table."""
    table = np.asarray(table)
    rows, cols = np.indices(table.shape)
    order = np.random.default_rng(seed).permutation(table.sum())
    return np.repeat(rows.ravel(), table.ravel())[order], np.repeat(cols.ravel(), table.ravel())[order]


def pairs_within(sizes: Any) -> int:
    return sum(int(s) * (int(s) - 1) // 2 for s in np.ravel(sizes))


@given(label_pairs)
def test_pair_scores_are_the_exact_ratios_rounded(pairs: list[tuple[int, int]]) -> None:
    """Counting all pairs one by one in rational numbers gives the same floats, to the last bit."""
    true, found = (list(side) for side in zip(*pairs, strict=True))
    scores = asdict(score_all(true, found))
    for name, value in expected_pair_scores(*pair_counts(true, found)).items():
        assert scores[name] == value, name


@given(label_pairs)
def test_acc_is_the_best_of_all_relabellings(pairs: list[tuple[int, int]]) -> None:
    """Every way to give clusters different classes is tried; clusters beyond the classes stay without one."""
    true, found = (list(side) for side in zip(*pairs, strict=True))
    clusters = sorted(set(found))
    classes = [*sorted(set(true)), *(f"none {c}" for c in clusters)]
    table = Counter(pairs)
    best = max(
        sum(table[i, j] for i, j in zip(names, clusters, strict=True))
        for names in itertools.permutations(classes[: max(len(set(true)), len(clusters))], len(clusters))
    )
    assert acc(true, found) == best / len(true)


@given(label_pairs)
def test_purity_entropy_and_nmi_by_their_definitions(pairs: list[tuple[int, int]]) -> None:
    """The plain loops over clusters, and MI = H(true) + H(found) - H(both)."""
    true, found = (list(side) for side in zip(*pairs, strict=True))
    members = [[t for t, f in pairs if f == cluster] for cluster in set(found)]
    assert purity(true, found) == sum(max(Counter(m).values()) for m in members) / len(true)
    within = sum(len(m) / len(true) * shannon(m) for m in members)
    k = len(set(true))
    assert entropy(true, found) == pytest.approx(within / math.log(k) if k > 1 else 0.0, abs=1e-12)
    h_true, h_found = shannon(true), shannon(found)
    information = h_true + h_found - shannon(pairs)
    means = {
        "arithmetic": (h_true + h_found) / 2,
        "geometric": math.sqrt(h_true * h_found),
        "max": max(h_true, h_found),
        "min": min(h_true, h_found),
    }
    for average, mean in means.items():
        if mean > 1e-12:
            assert nmi(true, found, average=average) == pytest.approx(information / mean, abs=1e-12)


def assert_agrees_with_sklearn(true: Any, found: Any) -> None:
    scores = score_all(true, found)
    assert scores.ari == pytest.approx(adjusted_rand_score(true, found), abs=1e-14)
    for average in AVERAGES:
        expected = normalized_mutual_info_score(true, found, average_method=average)
        assert nmi(true, found, average=average) == pytest.approx(expected, abs=1e-12)
    matrix = confusion_matrix(true, found, labels=[-1, *set(true), *(set(found) - set(true))])
    assert scores.acc == matrix[linear_sum_assignment(matrix, maximize=True)].sum() / len(true)
    (_, wrong), (missed, both) = pair_confusion_matrix(true, found)
    assert scores.precision == ratio(int(both), int(both + wrong))
    assert scores.recall == ratio(int(both), int(both + missed))


@given(seeds, st.integers(1, 300), st.integers(1, 30), st.integers(1, 30), st.floats(0, 1))
def test_agreement_with_scikit_learn(seed: int, n: int, n_true: int, n_found: int, kept: float) -> None:
    """On random labels and on partly right ones, with any numbers of groups."""
    rng = np.random.default_rng(seed)
    true = rng.integers(n_true, size=n)
    assert_agrees_with_sklearn(true, np.where(rng.random(n) < kept, true, rng.integers(n_found, size=n)))


@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_cases_agree_with_scikit_learn(case: str) -> None:
    """One group, singletons, one sample, independent labels."""
    assert_agrees_with_sklearn(*DEGENERATE[case])


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("one sample", (1, 1, 1, 1, 1, 1, 1, 0)),
        ("one class, one cluster", (1, 1, 1, 1, 1, 1, 1, 0)),
        ("all singletons", (1, 1, 1, 1, 1, 1, 1, 0)),
        ("one class, singletons", (0.2, 0, 1, 0, 1, 0, 0, 0)),
        ("singletons, one cluster", (0.2, 0, 0.2, 0, 0, 1, 0, 1)),
        ("two classes, one cluster", (0.5, 0, 0.5, 0.5, 1 / 3, 1, 0, 1)),
        ("two classes, singletons", (0.5, 2 / 3, 1, 0, 1, 0, 0, 0)),
        ("independent", (0.5, 0, 0.5, 0, 0, 0, -0.5, 1)),
        ("two samples together and apart", (0.5, 0, 1, 0, 1, 0, 0, 0)),
    ],
)
def test_degenerate_cases_have_the_documented_values(case: str, expected: tuple[float, ...]) -> None:
    """Zero over zero is the best possible score; in the order of the fields of Scores."""
    assert NAMES == ["acc", "nmi", "purity", "fscore", "precision", "recall", "ari", "entropy"]
    assert tuple(asdict(score_all(*DEGENERATE[case])).values()) == pytest.approx(expected, abs=1e-15)


@given(label_pairs, st.sampled_from(AVERAGES), seeds)
def test_names_of_groups_and_order_of_samples_do_not_matter(
    pairs: list[tuple[int, int]], average: str, seed: int
) -> None:
    """Renaming classes and clusters, also to text, and shuffling the samples changes no score."""
    rng = np.random.default_rng(seed)
    true, found = np.array(pairs).T
    order = rng.permutation(len(pairs))
    renamed = rng.permutation(5)[true][order], [f"cluster {c}" for c in rng.permutation(5)[found][order]]
    assert asdict(score_all(*renamed, average=average)) == pytest.approx(
        asdict(score_all(true, found, average=average)), rel=1e-12, abs=1e-15
    )


@given(label_pairs, st.sampled_from(AVERAGES))
def test_symmetry_and_ranges(pairs: list[tuple[int, int]], average: str) -> None:
    """Which labels come first matters only where documented; every score is in its range."""
    true, found = np.array(pairs).T
    scores = asdict(score_all(true, found, average=average))
    swapped = asdict(score_all(found, true, average=average))
    assert [scores[name] for name in SYMMETRIC] == pytest.approx([swapped[name] for name in SYMMETRIC], rel=1e-12)
    assert scores["precision"] == swapped["recall"]
    assert all(0 <= scores[name] <= 1 for name in NAMES if name != "ari")
    assert -0.5 <= scores["ari"] <= 1
    assert 0 < scores["acc"] <= scores["purity"]


@given(seeds, st.integers(1, 200), st.integers(1, 200), st.sampled_from(AVERAGES))
def test_the_same_groups_are_perfect(seed: int, n: int, k: int, average: str) -> None:
    """Exactly 1, or 0 for the entropy, not almost: any difference is a difference of the labels."""
    rng = np.random.default_rng(seed)
    true = rng.integers(k, size=n)
    assert score_all(true, rng.permutation(k)[true], average=average) == Scores(1, 1, 1, 1, 1, 1, 1, 0)


@given(label_pairs)
def test_score_all_is_all_the_functions(pairs: list[tuple[int, int]]) -> None:
    """Plain floats, equal to what each function gives on its own."""
    true, found = (list(side) for side in zip(*pairs, strict=True))
    functions: list[Callable[..., float]] = [acc, nmi, purity, fscore, precision, recall, ari, entropy]
    values = [function(true, found) for function in functions]
    assert list(asdict(score_all(true, found)).values()) == values
    assert all(type(value) is float for value in values)
    assert score_all(true, found, average="max").nmi == nmi(true, found, average="max")


def test_scores_are_frozen() -> None:
    """A result is not edited by accident."""
    with pytest.raises(FrozenInstanceError):
        score_all([0, 1], [0, 1]).acc = 2.0  # type: ignore[misc]


def test_public_names() -> None:
    """Every score is public, and nothing else."""
    assert sorted(metrics.__all__) == sorted([*NAMES, "Scores", "score_all"])
    assert all(hasattr(metrics, name) for name in metrics.__all__)


def test_millions_of_samples_with_a_known_table() -> None:
    """Four million samples: scores are the exact ratios from the table they were made of."""
    table = np.array([[1_200_000, 3, 100_001], [7, 999_983, 0], [250_000, 1, 1_449_999]])
    scores = asdict(score_all(*labels_of(table)))
    both, in_class, in_cluster = (pairs_within(sizes) for sizes in (table, table.sum(axis=1), table.sum(axis=0)))
    for name, value in expected_pair_scores(both, in_class, in_cluster, pairs_within(table.sum())).items():
        assert scores[name] == value, name
    assert scores["acc"] == scores["purity"] == np.trace(table) / table.sum()


@pytest.mark.parametrize("scale", [10**3, 10**8, 10**9, 10**12])
def test_counts_never_overflow(scale: int) -> None:
    """Tables of up to 10^13 samples, whose products do not fit in 64 bits, score by the exact ratios."""
    table = np.array([[3, 1, 0], [0, 2, 0], [1, 0, 4]]) * scale + np.array([[1, 0, 0], [0, 0, 0], [0, 0, 2]])
    rows, cols = np.nonzero(table)
    built = _contingency.table_of_cells(rows, cols, table[rows, cols])
    both, in_class, in_cluster = (pairs_within(sizes) for sizes in (table, table.sum(axis=1), table.sum(axis=0)))
    expected = expected_pair_scores(both, in_class, in_cluster, pairs_within(table.sum()))
    assert built.precision() == expected["precision"]
    assert built.recall() == expected["recall"]
    assert built.fscore() == expected["fscore"]
    assert built.ari() == expected["ari"]
    assert built.acc() == built.purity() == int(np.trace(table)) / int(table.sum())
    small = score_all(*labels_of(table // scale))
    assert built.nmi("arithmetic") == pytest.approx(small.nmi, rel=2 / scale + 1e-12)
    assert built.entropy() == pytest.approx(small.entropy, rel=2 / scale + 1e-12)


@given(seeds, st.integers(1, 25), st.integers(1, 25), st.integers(1, 400), st.floats(0, 1))
def test_sparse_matching_is_optimal_too(seed: int, n_true: int, n_found: int, n: int, kept: float) -> None:
    """The way for tables too large to be dense finds as many samples as the Hungarian method."""
    rng = np.random.default_rng(seed)
    true = rng.integers(n_true, size=n)
    found = np.where(rng.random(n) < kept, true, rng.integers(n_found, size=n))
    table = _contingency.tabulate(true, found)
    expected = _contingency.matched(table.rows, table.cols, table.counts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_contingency, "DENSE_CELLS", 0)
        assert _contingency.matched(table.rows, table.cols, table.counts) == expected
    assert _contingency.match_sparse(table.rows, table.cols, table.counts) == expected


def test_many_groups_on_both_sides() -> None:
    """100,000 classes and clusters, whose dense table would take 80 GB, are scored in little time and memory."""
    rng = np.random.default_rng(0)
    singletons = rng.permutation(100_000)
    assert score_all(singletons, rng.permutation(100_000)).acc == 1
    pairs = singletons // 2
    moved = np.where(rng.random(100_000) < 0.2, rng.integers(50_000, size=100_000), pairs)
    scores = score_all(pairs, moved)
    assert 0.75 < scores.acc < scores.purity < 1
    assert scores.ari == pytest.approx(adjusted_rand_score(pairs, moved), abs=1e-14)
    assert scores.nmi == pytest.approx(normalized_mutual_info_score(pairs, moved), abs=1e-12)


def test_unknown_average() -> None:
    """The known ones are listed."""
    for function in (nmi, score_all):
        with pytest.raises(InputError, match=r"Unknown average 'mean'; known: 'arithmetic', 'geometric', 'max', 'min'"):
            function([0, 1], [0, 1], average="mean")


@pytest.mark.slow
def test_import_is_light() -> None:
    """Scores need NumPy and SciPy only."""
    code = (
        "import sys, anchor_align.metrics; print([m for m in ('sklearn', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
