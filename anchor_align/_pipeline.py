"""From views to labels, step by step: adapters are called here, and what they return is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._align import AnchorAligner
from ._columns import Order, check_orders, permute_columns
from ._fusion import FusedRows, Recipe, check_weights, fused_rows
from ._grams import GramMatrices
from ._graph_rows import GraphSet, StoredGraphs, store
from ._labels import number_by_appearance
from ._made_graphs import blamed, check_made, features_of, graphs_by_block, graphs_by_chunk
from ._mapped import read_rows
from ._observed import BoolArray, ObservedGraphs
from ._rotation import rotations
from ._spectral import SpectralEmbedding, kmeans_labels, spectral_embedding
from ._types import FloatArray, Graph, IndexArray, is_dask, is_sparse
from ._validation import check_choice
from ._view_weights import LEAST, agreement_weights
from ._views import Views, read_only
from .adapter import Adapter, AnchorGraphs
from .checks import check_flag, check_whole_number
from .errors import AdapterError, InputError

if TYPE_CHECKING:
    from ._dask.graphs import ChunkedFused

FUSIONS = ("aligned", "rotated", "unaligned", "concat")
_HOW = {"aligned": "mean", "unaligned": "mean"}


@dataclass(frozen=True, eq=False)
class Graphs:
    """Checked anchor graphs of all views; ``learned`` is what the adapter made, with the graphs that are kept."""

    learned: AnchorGraphs
    rows: GraphSet

    @cached_property
    def grams(self) -> GramMatrices:
        """Gram matrices, from one pass over the samples."""
        return GramMatrices.of_set(self.rows)

    @property
    def known_grams(self) -> GramMatrices | None:
        """Gram matrices, if the pass has been made."""
        return self.__dict__.get("grams")


@dataclass(frozen=True, eq=False)
class Fused:
    """A fused graph and how it came about.

    Attributes
    ----------
    graph : ndarray or csr_array or None
        Read-only; None if it is not kept.
    rows : FusedRows or ChunkedFused
        The same, a few rows or a chunk at a time.
    fusion : str
    permutations : list of ndarray
        Order in which each view's anchors were taken, -1 where it has none; a matrix where several share a column.
    rotations : list of ndarray or None
        What each view's graph was multiplied by instead, for "rotated".
    weights : ndarray of shape (n_views,) or None
        None: all views weigh the same.
    aligner : AnchorAligner or None
        None where nothing was aligned.
    gram : ndarray or None
        Gram matrix of the fused graph, where those of the graphs were known.
    """

    graph: Graph | None
    rows: FusedRows | ChunkedFused
    fusion: str
    permutations: list[Order]
    rotations: list[FloatArray] | None
    weights: FloatArray | None
    aligner: AnchorAligner | None
    gram: FloatArray | None


@dataclass(frozen=True, eq=False)
class Clusters:
    """Labels, how many there are, and the embedding they were found in if the clustering was spectral."""

    labels: IndexArray
    n_found: int
    embedding: SpectralEmbedding | None = None
    vectors: npt.NDArray[Any] | None = None


def count_anchors(
    adapter: Adapter, n_anchors: int | Sequence[int] | None, n_samples: int, n_clusters: int, n_views: int | None = None
) -> int | list[int]:
    """Number of anchors as the user, or else the adapter, says; a list if they differ between views."""
    if isinstance(n_anchors, (Sequence, np.ndarray)) and not isinstance(n_anchors, str):
        return _count_by_view(adapter, n_anchors, n_views)
    if n_anchors is not None:
        return check_whole_number("n_anchors", n_anchors, least=1)
    with blamed(adapter.name, "default_n_anchors that cannot be used"):
        # Where there is nothing to learn from, that is said later, and is not the adapter's fault.
        return check_whole_number("n_anchors", adapter.default_n_anchors(max(n_samples, 1), n_clusters), least=1)


def _count_by_view(adapter: Adapter, n_anchors: Sequence[int], n_views: int | None) -> int | list[int]:
    counts = [check_whole_number("n_anchors", count, least=1) for count in n_anchors]
    if n_views is not None and len(counts) != n_views:
        raise InputError(f"n_anchors has {len(counts)} numbers for {n_views} views.")
    if len(set(counts)) == 1:
        return counts[0]
    if not adapter.views_apart:
        raise InputError(f"Adapter {adapter.name!r} needs the same number of anchors in every view, got {counts}.")
    return counts


def build_graphs(
    adapter: Adapter, views: Views, n_clusters: int, n_anchors: int | list[int], seed: int, *, keep: bool = True
) -> Graphs:
    """Anchor graphs of the views, checked; nobody can write to them. Not kept, their rows are made when needed."""
    handed = [read_only(X) for X in views.matrices] if adapter.works_by_blocks else views.floats()
    whole = keep and not views.on_dask and views.observed is None
    build: Callable[..., Any] = adapter.anchor_graphs if whole else adapter.learn_anchors
    learned_from = handed
    if views.observed is not None:
        learned_from = _samples_to_learn_from(adapter, handed, views.observed, n_anchors)
    made = build(learned_from, n_clusters=n_clusters, n_anchors=n_anchors, random_state=seed)
    if not isinstance(made, AnchorGraphs):
        raise AdapterError(
            f"Adapter {adapter.name!r} returned {type(made).__name__} from {build.__name__}; expected AnchorGraphs."
        )
    learned = _check_learned(adapter, made, len(handed))
    rows: GraphSet
    if views.on_dask:
        chunked = graphs_by_chunk(adapter, handed, learned)
        rows = chunked.keep() if keep else chunked
        learned = replace(learned, graphs=rows.arrays() if keep else ())
    elif whole:
        same_anchors = not adapter.views_apart
        graphs = check_made(adapter.name, made.graphs, views.n_samples, len(handed), same_anchors=same_anchors)
        rows = StoredGraphs(graphs)
        learned = replace(learned, graphs=graphs)
    else:
        by_block = graphs_by_block(adapter, handed, learned, views.observed)
        rows, graphs = by_block, []
        if keep and views.observed is not None:
            graphs = [read_only(Z) for Z in store(by_block.blocks, views.n_samples, width=by_block.width)]
            rows = ObservedGraphs(StoredGraphs(graphs), views.observed)
        learned = replace(learned, graphs=graphs or ())
    if not adapter.chooses_n_anchors:
        _check_counts(adapter, rows.sizes, n_anchors)
    return Graphs(learned, rows)


def _samples_to_learn_from(
    adapter: Adapter, views: Sequence[Any], observed: BoolArray, n_anchors: int | list[int]
) -> list[Any]:
    """The samples that each view has; where views belong together, those that all of them have."""
    if not adapter.works_by_blocks:
        raise InputError(
            f"Adapter {adapter.name!r} needs every sample in every view: it does not define learn_anchors, which could "
            "learn from some of them."
        )
    empty = np.flatnonzero(~observed.any(axis=1))
    if empty.size:
        raise InputError(f"View {empty[0]} has none of the {observed.shape[1]} samples; leave it out.")
    if not adapter.views_apart:
        complete = observed.all(axis=0)
        n, least = int(complete.sum()), 1 if adapter.chooses_n_anchors or isinstance(n_anchors, list) else n_anchors
        if n < least:
            raise InputError(
                f"Adapter {adapter.name!r} learns from samples that are in all views: {n} of {observed.shape[1]}, "
                + (f"too few for {least} anchors." if n else "so there is nothing to learn from.")
            )
        observed = np.broadcast_to(complete, observed.shape)
    return [read_only(_kept(X, np.flatnonzero(seen))) for X, seen in zip(views, observed, strict=True)]


def _kept(X: Any, at: IndexArray) -> Any:
    """Some samples of a view, kept where large results are."""
    return store(lambda rows: [read_rows(X, at[rows])], len(at), width=features_of([X]))[0]


def _check_counts(adapter: Adapter, sizes: Sequence[int], n_anchors: int | list[int]) -> None:
    expected = [n_anchors] * len(sizes) if isinstance(n_anchors, int) else n_anchors
    for view, (size, count) in enumerate(zip(sizes, expected, strict=True)):
        if size != count:
            where = "" if len(set(sizes)) == len(set(expected)) == 1 else f" for view {view}"
            raise AdapterError(f"Adapter {adapter.name!r} returned graphs on {size} anchors{where}; expected {count}.")


def _check_learned(adapter: Adapter, made: AnchorGraphs, n_views: int) -> AnchorGraphs:
    with blamed(adapter.name, "AnchorGraphs that cannot be used"):
        aligned = check_flag("aligned", made.aligned)
        if made.anchors is not None and (not isinstance(made.anchors, Sequence) or len(made.anchors) != n_views):
            raise InputError(f"anchors must be a list with one entry for each of {n_views} views.")
    anchors = made.anchors
    if anchors is not None:
        anchors = [read_only(A) if isinstance(A, np.ndarray) or is_sparse(A) else A for A in anchors]
    return replace(made, anchors=anchors, aligned=aligned)


def new_graphs(adapter: Adapter, views: list[Any], learned: AnchorGraphs, sizes: Sequence[int]) -> list[Graph]:
    """Graphs of other samples on the learned anchors, checked; ``sizes`` are the numbers of anchors of the fit."""
    made = adapter.new_graphs([read_only(X) for X in views], learned)
    same_anchors = not adapter.views_apart
    graphs = check_made(adapter.name, made, int(views[0].shape[0]), len(views), same_anchors=same_anchors)
    for Z, size in zip(graphs, sizes, strict=True):
        if Z.shape[1] != size:
            raise AdapterError(
                f"Adapter {adapter.name!r} returned graphs of new samples on {Z.shape[1]} anchors; "
                f"it was fitted with {size}."
            )
    return graphs


def fuse_graphs(
    adapter: Adapter,
    graphs: Graphs,
    fusion: str,
    aligner: AnchorAligner,
    n_clusters: int,
    seed: int,
    *,
    keep: bool = True,
    weights: Any = None,
) -> Fused:
    """Fuse the graphs as ``fusion`` says; the aligner is fitted if it is needed.

    ``weights`` are those of the user: one for each view, "auto", or None, for what the adapter says.
    """
    sizes = graphs.rows.sizes
    permutations = check_orders(None, sizes)
    fitted = rotated = None
    if fusion in ("aligned", "rotated") and not graphs.learned.aligned:
        fitted = aligner.fit(graphs.grams)
        permutations = check_orders(fitted.matrices_, sizes)
    if fusion == "rotated":
        rotated = rotations(graphs.grams, permutations)
    if fusion == "concat":
        weights = None
    elif weights is None:
        weights = _view_weights(adapter, graphs, permutations, n_clusters, seed)
    elif isinstance(weights, str) and weights == "auto":
        weights = agreement_weights(graphs.grams, permutations if rotated is None else rotated)
    else:
        weights = check_weights(weights, len(sizes))
    shares = check_weights(weights, len(sizes)) * (len(sizes) if fusion == "concat" else 1)
    recipe = Recipe(tuple(permutations if rotated is None else rotated), tuple(shares), _HOW.get(fusion, fusion))
    rows = fused_rows(graphs.rows, recipe)
    graph = read_only(rows.stored()) if keep else None
    grams = graphs.known_grams
    gram = None if grams is None else recipe.gram(grams)
    return Fused(graph, rows, fusion, permutations, rotated, weights, fitted, gram)


def _view_weights(
    adapter: Adapter, graphs: Graphs, permutations: list[Order], n_clusters: int, seed: int
) -> FloatArray | None:
    if not adapter.weighs_views:
        return None
    ordered = [
        Z if np.array_equal(p, np.arange(Z.shape[1])) else permute_columns(Z, p)
        for Z, p in zip(graphs.learned.graphs, permutations, strict=True)
    ]
    weights = adapter.view_weights([read_only(Z) for Z in ordered], n_clusters=n_clusters, random_state=seed)
    if weights is not None:
        with blamed(adapter.name, "weights that cannot be used"):
            weights = check_weights(weights, len(ordered))
        if isinstance(graphs.rows, ObservedGraphs):  # samples that only a poor view has keep a graph
            weights = check_weights(np.maximum(weights, LEAST), len(ordered))
    return weights


def check_fusion(adapter: Adapter, fusion: object) -> str:
    """A way of fusing that the adapter can cluster the result of."""
    name = check_choice("fusion", fusion, FUSIONS)
    if name == "rotated" and not adapter.clusters_spectrally:
        raise InputError(
            f"Adapter {adapter.name!r} clusters the fused graph in its own way, and needs a graph for it; "
            "fusion='rotated' makes a matrix with negative entries. Use fusion='aligned'."
        )
    return name


def cluster_graph(adapter: Adapter, fused: Fused, n_clusters: int, seed: int) -> Clusters:
    """Labels of the samples, checked, and numbered in the order in which clusters first appear.

    Several runs of k-means may find the same clusters under other numbers, and rounding decides which run is the best.
    """
    if adapter.clusters_spectrally:
        embedding, vectors = embed(fused, n_clusters)
        return Clusters(*number_by_appearance(kmeans_labels(vectors, n_clusters, seed)), embedding, vectors)
    made = adapter.cluster(read_only(fused.graph), n_clusters=n_clusters, random_state=seed)
    try:
        found = made if is_dask(made) else np.asarray(made)
    except ValueError:
        found = np.empty(0, dtype=object)
    n = fused.rows.shape[0]
    if found.shape != (n,) or found.dtype.kind not in "iub":
        raise AdapterError(
            f"Adapter {adapter.name!r} returned labels of shape {found.shape} and dtype {found.dtype}; "
            f"expected {n} whole numbers."
        )
    labels, n_found = number_by_appearance(found)
    if n_found > n_clusters:
        raise AdapterError(f"Adapter {adapter.name!r} returned {n_found} clusters; expected at most {n_clusters}.")
    return Clusters(labels, n_found)


def embed(fused: Fused, n_clusters: int) -> tuple[SpectralEmbedding, npt.NDArray[Any]]:
    """Spectral embedding of the fused graph and its rows, scaled to unit length."""
    graph = fused.rows if fused.graph is None else fused.graph
    embedding = spectral_embedding(graph, n_clusters, gram=fused.gram)
    return embedding, embedding.unit_rows(graph)
