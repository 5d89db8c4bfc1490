"""From views to labels, step by step: adapters are called here, and what they return is checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._align import AnchorAligner
from ._fusion import check_weights, fuse
from ._types import FloatArray, Graph, IndexArray, is_sparse
from ._validation import check_finite, check_graphs
from ._views import Views, as_floats, read_only
from .adapter import Adapter, AnchorGraphs
from .checks import check_flag, check_whole_number
from .errors import AdapterError, InputError

FUSIONS = ("aligned", "unaligned", "concat")


@dataclass(frozen=True, eq=False)
class Fused:
    """A fused graph and how it came about.

    Attributes
    ----------
    graph : ndarray or csr_array
        Read-only.
    fusion : str
    permutations : list of ndarray
        Order in which each view's anchors were taken.
    weights : ndarray of shape (n_views,) or None
        None: all views weigh the same.
    aligner : AnchorAligner or None
        None where nothing was aligned.
    """

    graph: Graph
    fusion: str
    permutations: list[IndexArray]
    weights: FloatArray | None
    aligner: AnchorAligner | None

    def of(self, graphs: Sequence[Graph]) -> Graph:
        """Fuse graphs of other samples in the same way."""
        how = "concat" if self.fusion == "concat" else "mean"
        return fuse(graphs, self.permutations, weights=self.weights, how=how)


def count_anchors(adapter: Adapter, n_anchors: int | None, n_samples: int, n_clusters: int) -> int:
    """Number of anchors as the user, or else the adapter, says."""
    if n_anchors is not None:
        return check_whole_number("n_anchors", n_anchors, least=1)
    with _blamed(adapter, "default_n_anchors that cannot be used"):
        return check_whole_number("n_anchors", adapter.default_n_anchors(n_samples, n_clusters), least=1)


def build_graphs(adapter: Adapter, views: Views, n_clusters: int, n_anchors: int, seed: int) -> AnchorGraphs:
    """Anchor graphs of the views, checked; nobody can write to them."""
    handed = [read_only(X) for X in views.matrices]
    made = adapter.anchor_graphs(handed, n_clusters=n_clusters, n_anchors=n_anchors, random_state=seed)
    if not isinstance(made, AnchorGraphs):
        raise AdapterError(
            f"Adapter {adapter.name!r} returned {type(made).__name__} from anchor_graphs; expected AnchorGraphs."
        )
    graphs = _check_made(adapter, made.graphs, views)
    if graphs[0].shape[1] != n_anchors and not adapter.chooses_n_anchors:
        raise AdapterError(
            f"Adapter {adapter.name!r} returned graphs on {graphs[0].shape[1]} anchors; expected {n_anchors}."
        )
    with _blamed(adapter, "AnchorGraphs that cannot be used"):
        aligned = check_flag("aligned", made.aligned)
        if made.anchors is not None and (not isinstance(made.anchors, Sequence) or len(made.anchors) != len(graphs)):
            raise InputError(f"anchors must be a list with one entry for each of {len(graphs)} views.")
    anchors = made.anchors
    if anchors is not None:
        anchors = [read_only(A) if isinstance(A, np.ndarray) or is_sparse(A) else A for A in anchors]
    return replace(made, graphs=graphs, anchors=anchors, aligned=aligned)


def new_graphs(adapter: Adapter, views: Views, learned: AnchorGraphs) -> list[Graph]:
    """Graphs of other samples on the learned anchors, checked."""
    graphs = _check_made(adapter, adapter.new_graphs([read_only(X) for X in views.matrices], learned), views)
    expected = learned.graphs[0].shape[1]
    if graphs[0].shape[1] != expected:
        raise AdapterError(
            f"Adapter {adapter.name!r} returned graphs of new samples on {graphs[0].shape[1]} anchors; "
            f"it was fitted with {expected}."
        )
    return graphs


def fuse_graphs(
    adapter: Adapter, learned: AnchorGraphs, fusion: str, aligner: AnchorAligner, n_clusters: int, seed: int
) -> Fused:
    """Fuse the graphs as ``fusion`` says; the aligner is fitted if it is needed."""
    graphs = learned.graphs
    permutations = [np.arange(Z.shape[1]) for Z in graphs]
    if fusion == "concat":
        return Fused(read_only(fuse(graphs, how="concat")), fusion, permutations, None, None)
    fitted = None
    if fusion == "aligned" and not learned.aligned:
        fitted = aligner.fit(graphs)
        permutations = fitted.permutations_
    ordered = [Z[:, p] for Z, p in zip(graphs, permutations, strict=True)]
    weights = adapter.view_weights([read_only(Z) for Z in ordered], n_clusters=n_clusters, random_state=seed)
    if weights is not None:
        with _blamed(adapter, "weights that cannot be used"):
            weights = check_weights(weights, len(graphs))
    return Fused(read_only(fuse(ordered, weights=weights)), fusion, permutations, weights, fitted)


def cluster_graph(adapter: Adapter, graph: Graph, n_clusters: int, seed: int) -> IndexArray:
    """Labels of the samples, checked, and numbered in the order in which clusters first appear.

    Several runs of k-means may find the same clusters under other numbers, and rounding decides which run is the best.
    """
    made = adapter.cluster(read_only(graph), n_clusters=n_clusters, random_state=seed)
    try:
        found = np.asarray(made)
    except ValueError:
        found = np.empty(0, dtype=object)
    if found.shape != (graph.shape[0],) or found.dtype.kind not in "iub":
        raise AdapterError(
            f"Adapter {adapter.name!r} returned labels of shape {found.shape} and dtype {found.dtype}; "
            f"expected {graph.shape[0]} whole numbers."
        )
    names, first, labels = np.unique(found, return_index=True, return_inverse=True)
    if len(names) > n_clusters:
        raise AdapterError(f"Adapter {adapter.name!r} returned {len(names)} clusters; expected at most {n_clusters}.")
    return np.asarray(np.argsort(np.argsort(first))[labels], dtype=np.intp)


def _check_made(adapter: Adapter, made: Any, views: Views) -> list[Graph]:
    """Graphs as they may be used: one per view, finite, as many rows as samples, the same number of anchors."""
    with _blamed(adapter, "graphs that cannot be used"):
        graphs = [as_floats(Z) for Z in check_graphs(made)]
        check_finite(graphs)
    if len(graphs) != len(views.matrices):
        raise AdapterError(f"Adapter {adapter.name!r} returned {len(graphs)} graphs for {len(views.matrices)} views.")
    if graphs[0].shape[0] != views.n_samples:
        raise AdapterError(
            f"Adapter {adapter.name!r} returned graphs of {graphs[0].shape[0]} samples; expected {views.n_samples}."
        )
    return [read_only(Z) for Z in graphs]


@contextmanager
def _blamed(adapter: Adapter, what: str) -> Iterator[None]:
    """Say that the adapter returned what a check refuses."""
    try:
        yield
    except InputError as error:
        raise AdapterError(f"Adapter {adapter.name!r} returned {what}: {error}") from error
