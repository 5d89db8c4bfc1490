"""What the anchors of the default method are matched by, and how the aligned mean compares with graphs side by side.

    python examples/aligned_or_concat.py [DATA ...] [--draws N]

DATA are files, folders or bundled sets with labels (default: one bundled set). All rows have the same anchor graphs,
those of the adapter ``local``, and the same last step. They differ in what the anchors are matched on, or in how the
graphs become one. Accuracy in %, mean over draws of anchors. One row matches anchors by the true labels: no user can,
but it shows how much a better match could give.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer, align, fuse, get_adapter, load_views
from anchor_align.metrics import acc

TIMES_CHANCE = 2.0


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
    yield "matched by the objective alone", fuse(graphs, align(graphs))
    yield "by the objective alone, `lam=0`", by_features
    yield "by cosines of columns, `lam=0`", fuse(graphs, align([of_unit_columns(Z) for Z in graphs], 0))
    yield "by clusters of concat, the default", fuse(graphs, by_clusters)
    yield "by clusters of concat, `lam=0`", fuse(graphs, align(graphs, 0, profiles=profiles(graphs, guess)))
    again = profiles(graphs, clustered(by_features))
    yield "by clusters of the aligned graph", fuse(graphs, align(graphs, profiles=again))
    yield "by the true labels", fuse(graphs, align(graphs, profiles=profiles(graphs, labels)))
    in_order = [sp.csr_array(Z @ P) for Z, P in zip(graphs, by_clusters, strict=True)]
    yield "weak partners apart", weak_partners_apart(in_order)
    yield "concat", side_by_side
    yield "concat and aligned side by side", sp.csr_array(sp.hstack([side_by_side, fuse(graphs, by_clusters)]))


def column(path: str, draws: int) -> dict[str, float]:
    """Mean accuracy of every way on one data set."""
    data, adapter = load_views(path), get_adapter("local")
    if data.labels is None or data.n_clusters is None:
        raise SystemExit(f"{path} has no labels, which the accuracy needs.")
    found: dict[str, list[float]] = {}
    cluster: Any = adapter.cluster
    for seed in range(draws):
        options: dict[str, Any] = {"n_clusters": data.n_clusters, "random_state": seed}
        clusterer = AlignedClusterer(adapter, fusion="concat", **options).fit(data.views)
        graphs = [sp.csr_array(Z) for Z in clusterer.anchor_graphs_.graphs]
        clustered = partial(cluster, **options)
        for name, graph in fused_graphs(graphs, clustered, clusterer.labels_, data.labels):
            found.setdefault(name, []).append(100 * acc(data.labels, clustered(graph)))
    return {name: float(np.mean(scores)) for name, scores in found.items()}


def main() -> None:
    """Print a table with a column for each data set, and the mean over them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", default=["simulated"])
    parser.add_argument("--draws", type=int, default=3, help="draws of anchors [3]")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        columns = [column(path, arguments.draws) for path in arguments.data]
    print("| | " + " | ".join([*(Path(path).stem for path in arguments.data), "mean"]) + " |")
    print("|---" + "|---:" * (1 + len(columns)) + "|")
    for name in columns[0]:
        scores = [each[name] for each in columns]
        print(f"| {name} | " + " | ".join(f"{score:.1f}" for score in (*scores, np.mean(scores))) + " |")


if __name__ == "__main__":
    main()
