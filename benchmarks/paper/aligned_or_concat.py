"""What the anchors of the default method are matched by, and how the aligned mean compares with graphs side by side.

All rows have the same anchor graphs, those of the adapter ``local``, and the same last step. They differ in what the
anchors are matched on, or in how the graphs become one. Accuracy in %, mean over draws of anchors. One row matches
anchors by the true labels: no user can, but it shows how much a better match could give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from formats import data_name, fixed, table
from results import Bench

from anchor_align import AlignedClusterer, align, fuse, get_adapter, load_views
from anchor_align.metrics import acc

MINUTES = 5
DATA = (
    "3-Sources", "MSRC-v1", "BBCSport", "UCI-Digit_3v", "BDGP_3v", "Scene-15", "100Leaves", "Hdigit", "mfeat",
)  # fmt: skip
DRAWS = 10
TIMES_CHANCE = 2.0
OBJECTIVE, DEFAULT, LABELS = (
    "matched by the objective alone",
    "by clusters of concat, the default",
    "by the true labels",
)


def profiles(graphs: Sequence[Any], labels: Any) -> list[Any]:
    """For every view, how much weight each anchor has in each cluster, over the root of the cluster's size."""
    numbers = np.unique(labels, return_inverse=True)[1]
    sizes = np.bincount(numbers)
    members = sp.csr_array((1 / np.sqrt(sizes[numbers]), (numbers, np.arange(numbers.size))))
    return [(members @ Z).toarray() for Z in graphs]


def of_unit_columns(Z: Any) -> Any:
    """The graph with columns of unit length, so that their overlaps are cosines."""
    lengths = np.sqrt(Z.power(2).sum(axis=0))
    return Z @ sp.diags_array(1 / np.where(lengths > 0, lengths, 1))


def weak_partners_apart(graphs: Sequence[Any]) -> Any:
    """Mean of aligned graphs in which an anchor without a clear partner has a column of its own.

    It has none if it shares less than twice as much with the mean of the other views as chance would make it share.
    """
    n, total = graphs[0].shape[0], sum(graphs)
    together, apart = [], []
    for Z in graphs:
        others = (total - Z) / (len(graphs) - 1)
        clear = (Z * others).sum(axis=0) >= TIMES_CHANCE * Z.sum(axis=0) * others.sum(axis=0) / n
        together.append(Z @ sp.diags_array(clear.astype(float)))
        apart.append(Z[:, np.flatnonzero(~clear)])
    return sp.csr_array(sp.hstack([sum(together), *apart])) / len(graphs)


def fused_graphs(
    graphs: Sequence[Any], clustered: Callable[[Any], Any], guess: Any, labels: Any
) -> Iterator[tuple[str, Any]]:
    """Every way to one graph, with its name. ``guess`` are the clusters of the graphs side by side."""
    side_by_side, by_features = fuse(graphs, how="concat"), fuse(graphs, align(graphs, 0))
    by_clusters = align(graphs, profiles=profiles(graphs, guess))
    yield "unaligned", fuse(graphs)
    yield OBJECTIVE, fuse(graphs, align(graphs))
    yield "by the objective alone, `lam=0`", by_features
    yield "by cosines of columns, `lam=0`", fuse(graphs, align([of_unit_columns(Z) for Z in graphs], 0))
    yield DEFAULT, fuse(graphs, by_clusters)
    yield "by clusters of concat, `lam=0`", fuse(graphs, align(graphs, 0, profiles=profiles(graphs, guess)))
    again = profiles(graphs, clustered(by_features))
    yield "by clusters of the aligned graph", fuse(graphs, align(graphs, profiles=again))
    yield LABELS, fuse(graphs, align(graphs, profiles=profiles(graphs, labels)))
    in_order = [sp.csr_array(Z @ P) for Z, P in zip(graphs, by_clusters, strict=True)]
    yield "weak partners apart", weak_partners_apart(in_order)
    yield "concat", side_by_side
    yield "concat and aligned side by side", sp.csr_array(sp.hstack([side_by_side, fuse(graphs, by_clusters)]))


def accuracies(path: str) -> dict[str, float]:
    """Mean accuracy of every way on one data set."""
    data, adapter = load_views(path), get_adapter("local")
    assert data.labels is not None
    found: dict[str, list[float]] = {}
    cluster: Any = adapter.cluster
    for seed in range(DRAWS):
        options: dict[str, Any] = {"n_clusters": data.n_clusters, "random_state": seed}
        clusterer = AlignedClusterer(adapter, fusion="concat", **options).fit(data.views)
        graphs = [sp.csr_array(Z) for Z in clusterer.anchor_graphs_.graphs]
        clustered = partial(cluster, **options)
        for name, graph in fused_graphs(graphs, clustered, clusterer.labels_, data.labels):
            found.setdefault(name, []).append(100 * acc(data.labels, clustered(graph)))
    return {name: float(np.mean(scores)) for name, scores in found.items()}


def run(bench: Bench) -> dict[str, Any]:
    """Cluster all data sets in all ways."""
    columns = {name: bench.kept(name, accuracies, bench.path(name)) for name in DATA}
    ways = next(iter(columns.values()))
    rows = [{"way": way, "accuracy": {name: found[way] for name, found in columns.items()}} for way in ways]
    return {"draws": DRAWS, "rows": rows}


def main_table(result: Any) -> str:
    """A column for each data set, and the mean over them."""
    rows = [
        [row["way"], *(fixed(x) for x in row["accuracy"].values()), fixed(accuracy(result, row["way"]))]
        for row in result["rows"]
    ]
    return table(["", *(data_name(name) for name in result["rows"][0]["accuracy"]), "mean"], rows, names=1)


def accuracy(result: Any, way: str, data: str | None = None) -> float:
    """Accuracy on a data set, or on the mean."""
    (row,) = (row for row in result["rows"] if row["way"] == way)
    return float(np.mean(list(row["accuracy"].values())) if data is None else row["accuracy"][data])


def gain(result: Any, better: str, worse: str, data: str | None = None) -> float:
    """Difference of two ways on a data set, or on the mean."""
    return accuracy(result, better, data) - accuracy(result, worse, data)
