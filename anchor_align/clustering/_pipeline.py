"""From views to labels: graphs, match, fusion, clusters. The estimator and studies call these steps.

Adapters are called here, and their results are checked once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import BoolArray, FloatArray, Graph, IndexArray, is_sparse
from ..blocks import number_by_appearance, read_only, read_rows
from ..checks import check_flag, check_number, check_whole_number, is_iterable
from ..errors import AdapterError, InputError, naming, view_name
from ..fusion import LEAST_WEIGHT, FusedRows, Fusion, Recipe, agreement_weights, check_weights, is_auto
from ..graphs import (
    GramMatrices,
    GraphSet,
    Order,
    SpectralEmbedding,
    StoredGraphs,
    check_orders,
    kmeans_labels,
    numbers_of_sample,
    order_matrix,
    permute_columns,
    spectral_embedding,
    store,
)
from ..matching import AnchorAligner
from ..plugins import Adapter, AnchorGraphs, blamed, check_labels, check_made, get_fusion, made_graphs, warn_of_odd_rows
from ._chosen_settings import checked_choice, with_choice
from ._cluster_profiles import cluster_profiles
from ._views import Views


@dataclass(frozen=True, eq=False)
class ViewGraphs:
    """Checked anchor graphs of all views; ``learned`` is the result of the adapter, with the graphs that are kept."""

    adapter: Adapter  # with the settings that it chose from the data
    learned: AnchorGraphs
    rows: GraphSet
    chosen: dict[str, Any]  # these settings, and the scores behind them
    numbers: IndexArray | None = None  # rows of the data, in the order of the graphs

    @cached_property
    def grams(self) -> GramMatrices:
        """Gram matrices, from one pass over the samples."""
        return GramMatrices.of_set(self.rows)

    @property
    def known_grams(self) -> GramMatrices | None:
        return self.__dict__.get("grams")


@dataclass(frozen=True, eq=False)
class Fused:
    """A fused graph, its rows, and the results of the steps before."""

    adapter: Adapter
    graph: Graph | None  # None if it is not kept
    rows: FusedRows
    permutations: list[Order]  # order of each view's anchors, -1 for none; a matrix if several share a column
    rotations: list[FloatArray] | None  # factor of each view's graph, if the fusion multiplies
    weights: FloatArray | None  # None: equal weights
    aligner: AnchorAligner | None  # None without alignment
    gram: FloatArray | None  # Gram matrix of the fused graph, if known

    def embed(self, n_clusters: int) -> tuple[SpectralEmbedding, npt.NDArray[Any]]:
        graph = self.rows if self.graph is None else self.graph
        scaling, directions = self.adapter.column_scaling, self.adapter.directions
        embedding = spectral_embedding(graph, n_clusters, column_scaling=scaling, directions=directions, gram=self.gram)
        return embedding, embedding.unit_rows(graph)


@dataclass(frozen=True, eq=False)
class Clustering:
    """Labels, the number of clusters found, and the embedding if the clustering was spectral."""

    labels: IndexArray
    n_found: int
    embedding: SpectralEmbedding | None = None
    vectors: npt.NDArray[Any] | None = None


@dataclass(frozen=True, eq=False)
class Pipeline:
    """The steps of a fit, with all their parameters except views, fusion and ``lam``.

    ``weights`` are given by the user: one for each view, "auto", or None for the choice of the adapter. With
    ``keep=False`` rows of graphs are made again for every pass. ``begin`` is called with the name of each step.
    """

    adapter: Adapter
    n_clusters: int
    n_anchors: int | list[int]
    seed: int
    reference: Any = "consensus"
    many_to_one: bool = False
    weights: Any = None
    keep: bool = True
    begin: Callable[[str], object] = str

    def __post_init__(self) -> None:
        """Check what not every fusion uses."""
        check_flag("many_to_one", self.many_to_one)

    def build(self, views: Views) -> ViewGraphs:
        """Checked anchor graphs of the views, read-only."""
        with naming(views.names):
            return self._build(views)

    def _build(self, views: Views) -> ViewGraphs:
        adapter = self.adapter
        _check_late_settings(adapter)
        given = [read_only(X) for X in views.matrices] if adapter.works_by_blocks else views.floats()
        whole = type(adapter).anchor_graphs is not Adapter.anchor_graphs or not adapter.works_by_blocks
        rows: GraphSet
        self.begin("anchors")
        adapter, chosen = self._choose(given, views.mask)
        if whole and self.keep and not views.distributed and views.mask is None:
            learned = self._call(adapter.anchor_graphs, given, len(given))
            graphs = check_made(
                adapter.name,
                learned.graphs,
                views.n_samples,
                len(given),
                same_anchors=not adapter.views_apart,
                numbers=views.rows,
            )
            rows = StoredGraphs(graphs)
        else:
            from_these = given if views.mask is None else self._to_learn_from(given, views.mask)
            learned = self._call(adapter.learn_anchors, from_these, len(given))
            self.begin("graphs")
            made = made_graphs(adapter, given, learned, views.mask, views.rows)
            rows = made.stored() if self.keep else made
        if isinstance(rows, StoredGraphs) and not views.distributed and views.mask is None:
            warn_of_odd_rows(adapter.name, rows.graphs)
        if not adapter.chooses_n_anchors:
            self._check_counts(rows.sizes)
        kept = rows.graphs if isinstance(rows, StoredGraphs) else ()
        return ViewGraphs(adapter, replace(learned, graphs=kept), rows, chosen, views.rows)

    def fuse(self, graphs: ViewGraphs, fusion: Fusion, lam: float) -> Fused:
        """Match the anchors if the fusion needs it, and fuse."""
        sizes = graphs.rows.sizes
        permutations = check_orders(None, sizes)
        self.begin("match")
        fitted = None
        if fusion.aligns and not graphs.learned.aligned:
            aligner = AnchorAligner(
                lam,
                reference=self.reference,
                many_to_one=self.many_to_one,
                random_state=self.seed,
                near_ties="largest",
            )
            # A rotation hardly depends on the match that it starts from.
            profiles = None if fusion.multiplies else self._profiles(graphs)
            fitted = aligner.fit(graphs.grams, graphs=graphs.rows, profiles=profiles)
            permutations = check_orders(fitted.matrices_, sizes)
        maps = list(fusion.maps(permutations, graphs.grams if fusion.uses_grams else None))
        weights = self._weights(graphs, fusion, permutations, maps)
        recipe = Recipe(fusion, tuple(maps), tuple(check_weights(weights, len(sizes))))
        if graphs.rows.mask is not None:
            recipe.check_present(graphs.rows.mask, graphs.numbers)
        self.begin("fuse")
        rows = FusedRows(graphs.rows, recipe)
        graph = read_only(rows.stored()) if self.keep else None
        multiplied = zip(maps, sizes, strict=True) if fusion.multiplies else None
        rotations = None if multiplied is None else [order_matrix(each, size) for each, size in multiplied]
        known = graphs.known_grams
        gram = None if known is None else recipe.gram(known)
        return Fused(graphs.adapter, graph, rows, permutations, rotations, weights, fitted, gram)

    def cluster(self, fused: Fused) -> Clustering:
        """Checked labels of the samples, numbered in the order in which clusters first appear.

        Runs of k-means may find the same clusters with other numbers, and rounding decides which run is best.
        """
        adapter, k = fused.adapter, self.n_clusters
        if adapter.clusters_spectrally:
            self.begin("embed")
            embedding, vectors = fused.embed(k)
            self.begin("cluster")
            return Clustering(*number_by_appearance(kmeans_labels(vectors, k, self.seed)), embedding, vectors)
        self.begin("cluster")
        made: Any = adapter.cluster(read_only(fused.graph), n_clusters=k, random_state=self.seed)
        return Clustering(*check_labels(f"Adapter {adapter.name!r}", made, fused.rows.shape[0], k))

    def _profiles(self, graphs: ViewGraphs) -> list[FloatArray] | None:
        """What the anchors are matched by besides the graphs, if the adapter asks for it."""
        adapter, rows = graphs.adapter, graphs.rows
        # Side by side, missing samples are zeros: the first clusters would be of samples that lack the same views.
        possible = adapter.clusters_spectrally and rows.mask is None and len(rows.sizes) > 1
        if not adapter.match_by_clusters or not possible:
            return None
        scaling, directions = adapter.column_scaling, adapter.directions
        return cluster_profiles(rows, self.n_clusters, self.seed, column_scaling=scaling, directions=directions)

    def _choose(self, views: Sequence[Any], mask: BoolArray | None) -> tuple[Adapter, dict[str, Any]]:
        """The adapter with the settings that it chooses from the data; these settings, and the scores behind them."""
        made: Any = self.adapter.choose_settings(views, n_anchors=self.n_anchors, random_state=self.seed, mask=mask)
        chosen = checked_choice(self.adapter, made)
        adapter = with_choice(self.adapter, chosen)
        with blamed(adapter.name, "settings that cannot be used"):
            _check_late_settings(adapter)
        return adapter, chosen

    def _call(self, build: Callable[..., Any], views: Sequence[Any], n_views: int) -> AnchorGraphs:
        """Call a method of the adapter that returns AnchorGraphs, and check all of it except the graphs."""
        name = self.adapter.name
        made = build(views, n_clusters=self.n_clusters, n_anchors=self.n_anchors, random_state=self.seed)
        if not isinstance(made, AnchorGraphs):
            raise AdapterError(
                f"Adapter {name!r} returned {type(made).__name__} from {build.__name__}; expected AnchorGraphs."
            )
        with blamed(name, "AnchorGraphs that cannot be used"):
            aligned = check_flag("aligned", made.aligned)
            if made.anchors is not None and (not isinstance(made.anchors, Sequence) or len(made.anchors) != n_views):
                raise InputError(f"anchors must be a list with one entry for each of {n_views} views.")
        anchors = made.anchors
        if anchors is not None:
            anchors = [read_only(A) if isinstance(A, np.ndarray) or is_sparse(A) else A for A in anchors]
        return replace(made, anchors=anchors, aligned=aligned)

    def _to_learn_from(self, views: Sequence[Any], mask: BoolArray) -> list[Any]:
        """The present samples of each view; for adapters with common anchors, the samples that all views have."""
        adapter = self.adapter
        if not adapter.works_by_blocks:
            raise InputError(
                f"Adapter {adapter.name!r} needs every sample in every view: it does not define learn_anchors, which "
                "can learn from a part of the samples."
            )
        empty = np.flatnonzero(~mask.any(axis=1))
        if empty.size:
            raise InputError(f"View {view_name(empty[0])} has none of the {mask.shape[1]} samples; leave it out.")
        if not adapter.views_apart:
            complete = mask.all(axis=0)
            free = adapter.chooses_n_anchors or isinstance(self.n_anchors, list)
            n, least = int(complete.sum()), 1 if free else self.n_anchors
            assert isinstance(least, int)
            if n < least:
                raise InputError(
                    f"Adapter {adapter.name!r} learns from samples that are in all views: {n} of {mask.shape[1]}, "
                    + (f"too few for {least} anchors." if n else "so there is nothing to learn from.")
                )
            mask = np.broadcast_to(complete, mask.shape)
        return [read_only(_kept(X, np.flatnonzero(present))) for X, present in zip(views, mask, strict=True)]

    def _check_counts(self, sizes: Sequence[int]) -> None:
        expected = [self.n_anchors] * len(sizes) if isinstance(self.n_anchors, int) else self.n_anchors
        for view, (size, count) in enumerate(zip(sizes, expected, strict=True)):
            if size != count:
                where = "" if len(set(sizes)) == len(set(expected)) == 1 else f" for view {view_name(view)}"
                raise AdapterError(
                    f"Adapter {self.adapter.name!r} returned graphs on {size} anchors{where}; expected {count}."
                )

    def _weights(
        self, graphs: ViewGraphs, fusion: Fusion, permutations: list[Order], maps: list[Order]
    ) -> FloatArray | None:
        if not fusion.weighs_views:
            return None
        if is_auto(self.weights):
            return agreement_weights(graphs.grams, maps if fusion.multiplies else permutations)
        if self.weights is not None:
            return check_weights(self.weights, len(maps))
        if not graphs.adapter.weighs_views:
            return None
        ordered = [
            Z if np.array_equal(p, np.arange(Z.shape[1])) else permute_columns(Z, p)
            for Z, p in zip(graphs.learned.graphs, permutations, strict=True)
        ]
        found = graphs.adapter.view_weights(
            [read_only(Z) for Z in ordered], n_clusters=self.n_clusters, random_state=self.seed
        )
        if found is None:
            return None
        with blamed(graphs.adapter.name, "weights that cannot be used"):
            found = check_weights(found, len(ordered))
        if graphs.rows.mask is not None:  # samples that only a poor view has keep a graph
            found = check_weights(np.maximum(found, LEAST_WEIGHT), len(ordered))
        return found


def _check_late_settings(adapter: Adapter) -> None:
    """Settings that are used last: a wrong value must not cost the time of a fit."""
    if adapter.column_scaling is not None:
        check_number("column_scaling", adapter.column_scaling)
    check_number("directions", adapter.directions, least=1.0)
    check_flag("match_by_clusters", adapter.match_by_clusters)


def _kept(X: Any, at: IndexArray) -> Any:
    """Some samples of a view, stored in memory or in a file."""
    return store(lambda rows: [read_rows(X, at[rows])], len(at), width=numbers_of_sample([X]))[0]


def count_anchors(
    adapter: Adapter, n_anchors: int | Sequence[int] | None, n_samples: int, n_clusters: int, n_views: int | None = None
) -> int | list[int]:
    """Number of anchors, given by the user or by the adapter; a list if it differs between views."""
    if isinstance(n_anchors, (Sequence, np.ndarray)) and not isinstance(n_anchors, str) and is_iterable(n_anchors):
        counts = [check_whole_number("n_anchors", count, least=1) for count in n_anchors]
        if n_views is not None and len(counts) != n_views:
            raise InputError(f"n_anchors has {len(counts)} numbers for {n_views} views.")
        if len(set(counts)) == 1:
            return counts[0]
        if not adapter.views_apart:
            raise InputError(f"Adapter {adapter.name!r} needs the same number of anchors in every view, got {counts}.")
        return counts
    if n_anchors is not None:
        return check_whole_number("n_anchors", n_anchors, least=1)
    with blamed(adapter.name, "default_n_anchors that cannot be used"):
        # Zero samples are not the fault of the adapter; a later check reports them.
        return check_whole_number("n_anchors", adapter.default_n_anchors(max(n_samples, 1), n_clusters), least=1)


def check_fusion(adapter: Adapter, fusion: Any) -> Fusion:
    """A fusion, by name or as an object, whose result the adapter can cluster."""
    found = get_fusion(fusion)
    if found.needs_spectral and not adapter.clusters_spectrally:
        raise InputError(
            f"Adapter {adapter.name!r} has its own clustering step, which needs a graph; "
            f"fusion={found.name!r} makes a matrix with negative entries. Use fusion='aligned'."
        )
    return found
