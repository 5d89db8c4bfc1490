"""The data sets behind the numbers: their sizes and checksums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from formats import table
from results import Bench

from anchor_align import load_views
from anchor_align.study._data_sets import digest_of

BUNDLED = ("simulated", "mfeat", "uci-digit", "digits", "breast-cancer")
SHARED = (
    "FMVACC_synthetic", "3-Sources", "BBCSport", "MSRC-v1", "UCI-Digit_3v", "BDGP_3v", "Scene-15", "100Leaves",
    "Hdigit", "MNIST-60k_4v_constructed",
)  # fmt: skip
# Of published packages.
PACKAGED = (
    "satimage", "texture", "movement_libras", "penbased", "segment", "letter", "leaf", "speech", "cells", "mice",
    "motions", "vowels", "mnist-5k",
)  # fmt: skip


def size_and_digest(path: str) -> dict[str, Any]:
    """Numbers of samples, clusters and features of every view, and the checksum."""
    data = load_views(path)
    features = [X.shape[1] for X in data.views]
    sizes = {"samples": data.n_samples, "clusters": data.n_clusters, "features": features}
    return {**sizes, "digest": digest_of(data.views, data.labels).removeprefix("sha256:")}


def run(bench: Bench) -> dict[str, Any]:
    """A row for each data set."""
    names = (*BUNDLED, *SHARED, *PACKAGED)
    return {"rows": [{"data": name, **bench.kept(name, size_and_digest, bench.path(name))} for name in names]}


def shown_name(name: str) -> str:
    """Name of a data set on the page."""
    return name if name in PACKAGED else name.replace("_", " ")


def of(result: Any, name: str) -> Any:
    """The row of a data set."""
    (row,) = (row for row in result["rows"] if row["data"] == name)
    return row


def columns(result: Any, name: str) -> list[int]:
    """Numbers of samples, clusters and views."""
    row = of(result, name)
    return [row["samples"], row["clusters"], len(row["features"])]


def size_cells(result: Any, name: str) -> str:
    """Cells of a table: samples and clusters, features of the views."""
    row = of(result, name)
    return f"{row['samples']}, {row['clusters']} | {', '.join(map(str, row['features']))}"


def samples(result: Any, names: Sequence[str]) -> list[int]:
    """Number of samples of each data set."""
    return [of(result, name)["samples"] for name in names]


def views(result: Any, names: Sequence[str]) -> list[int]:
    """Number of views of each data set: graphs side by side are so many times as wide as one."""
    return [len(of(result, name)["features"]) for name in names]


def digest_table(result: Any) -> str:
    """A row for each digest; files of the same numbers share one."""
    names: dict[str, list[str]] = {}
    for row in result["rows"]:
        names.setdefault(row["digest"], []).append(shown_name(row["data"]))
    return table(["data", "digest"], [[", ".join(each), f"`{digest}`"] for digest, each in names.items()])
