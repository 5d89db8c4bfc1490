"""Against what users would pick instead: accuracy, and time over that of k-means on all views side by side.

Processor time of one thread; mean of three seeds. mvlearn is compared with where it can be imported: it asks for
matplotlib <= 3.3.4, which cannot be installed with current versions of Python, but runs with newer ones::

    pip install seaborn && pip install --no-deps mvlearn

SIMCADC (anchor graphs that are rotated towards each other) is compared with where iMML is installed: ``pip install
imml``. It needs a dense matrix of samples x samples for each view, and gets views whose features are standardised.
"""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from instances import DATA, read_views
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer
from anchor_align.metrics._scores import acc

Array = npt.NDArray[Any]
Fit = Callable[[list[Array], int, int], Any]

SEEDS = 3
# Data sets, and seeds of each; MNIST's methods take minutes.
SETS = {"UCI-Digit_3v": SEEDS, "Scene-15": SEEDS, "Hdigit": SEEDS, "MNIST-60k_4v_constructed": 1}
# Samples up to which a method ends in a couple of minutes.
MOST_SAMPLES = {
    "SpectralClustering": 10_000,
    "mvlearn MultiviewKMeans": 10_000,
    "mvlearn MultiviewSpectral": 2_000,
    "iMML SIMCADC": 2_000,
}
# Methods that take minutes for one seed.
ONE_SEED = ("mvlearn MultiviewSpectral",)
REFERENCE = "KMeans"
OURS = ("local", "lmvsc", "fmvacc")
OPTIONAL = ("mvlearn", "imml")


@dataclass(frozen=True)
class Row:
    """One method on one data set; ``time`` is over that of k-means."""

    data: str
    method: str
    time: float
    accuracy: float
    seeds: int


def run(quick: bool, _max_anchors: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Real data sets; with ``quick`` scikit-learn's digits."""
    methods, missing = _methods()
    report("")
    report("Against other clusterings: time over that of KMeans(n_init=10) on standardised views side by side, and ACC")
    for package, reason in missing.items():
        report(f"  {package} is left out: {reason}")
    rows = []
    with threadpool_limits(1):
        for method in (*OURS, REFERENCE, "SpectralClustering"):  # what is imported on the way
            methods[method]([X[:300] for X in read_views("digits")], 10, 0)
        for name, n_seeds in ({"digits": 1} if quick else SETS).items():
            views, labels = _read(name)
            k = len(np.unique(labels))
            found = {
                method: _mean(fit, views, labels, k, 1 if method in ONE_SEED else n_seeds)
                for method, fit in methods.items()
                if len(labels) <= MOST_SAMPLES.get(method, len(labels)) and not (quick and method in ONE_SEED)
            }
            report(f"  {name}, n = {len(labels)}, k = {k}, mean of {n_seeds}")
            for method, (spent, accuracy) in found.items():
                row = Row(name, method, spent / found[REFERENCE][0], accuracy, 1 if method in ONE_SEED else n_seeds)
                rows.append(row)
                one = "   (one seed)" if method in ONE_SEED and n_seeds > 1 else ""
                report(f"    {method:<28} time {row.time:>7.2f}   ACC {row.accuracy:.3f}{one}")
    return {
        "rows": [asdict(row) for row in rows],
        **{name: missing.get(name, "used") for name in OPTIONAL},
        "summary": {"passed": True},
    }


def _read(name: str) -> tuple[list[Array], Array]:
    if name == "digits":
        return list(read_views(name)), load_digits().target
    with np.load(DATA / f"{name}.npz") as file:
        return [file[key] for key in sorted(file.files) if key.startswith("view")], file["labels"]


def _mean(fit: Fit, views: list[Array], labels: Array, k: int, n_seeds: int) -> tuple[float, float]:
    """Mean time and accuracy."""
    spent, scores = [], []
    for seed in range(n_seeds):
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = fit(views, k, seed)
        spent.append(time.process_time() - start)
        scores.append(acc(labels, np.asarray(found)))
    return float(np.mean(spent)), float(np.mean(scores))


def _ours(adapter: str, **options: Any) -> Fit:
    return lambda views, k, seed: AlignedClusterer(adapter, n_clusters=k, random_state=seed, **options).fit_predict(
        views
    )


def _methods() -> tuple[dict[str, Fit], dict[str, str]]:
    """All methods, and for each package that is missing the reason."""
    methods: dict[str, Fit] = {
        REFERENCE: lambda views, k, seed: KMeans(k, n_init=10, random_state=seed).fit_predict(_together(views)),
        "SpectralClustering": lambda views, k, seed: SpectralClustering(
            k, affinity="nearest_neighbors", random_state=seed
        ).fit_predict(_together(views)),
        **{name: _ours(name) for name in OURS},
        "lmvsc, side by side": _ours("lmvsc", fusion="concat"),
    }
    modules, missing = {}, {}
    for package in OPTIONAL:
        try:
            modules[package] = importlib.import_module(f"{package}.cluster")
        except ImportError as error:
            missing[package] = f"{error} (see the docstring of bench_rivals.py)"
    if imml := modules.get("imml"):
        methods["iMML SIMCADC"] = lambda views, k, seed: imml.SIMCADC(
            k, n_anchors=2 * k, random_state=seed
        ).fit_predict([_standard(X) for X in views])
    mvlearn = modules.get("mvlearn")
    if mvlearn is None:
        return methods, missing
    # It takes two views.
    methods["mvlearn MultiviewKMeans"] = lambda views, k, seed: mvlearn.MultiviewKMeans(
        k, n_init=10, random_state=seed
    ).fit_predict([_standard(X) for X in views[:2]])
    methods["mvlearn MultiviewSpectral"] = lambda views, k, seed: mvlearn.MultiviewSpectralClustering(
        k, affinity="nearest_neighbors", random_state=seed
    ).fit_predict([_standard(X) for X in views])
    return methods, missing


def _standard(X: Array) -> Array:
    X = X.astype(np.float32 if X.dtype == np.float32 else np.float64)
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _together(views: list[Array]) -> Array:
    return np.hstack([_standard(X) for X in views])
