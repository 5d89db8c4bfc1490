"""AlignedClusterer: anchor graphs, alignment, fusion and clustering as one scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from ._align import AnchorAligner
from ._fusion import check_weights
from ._made_graphs import features_of, rows_of
from ._mapped import read_rows
from ._mapping import map_rows, run_rows, working
from ._parts import parts_of
from ._pipeline import build_graphs, check_fusion, cluster_graph, count_anchors, embed, fuse_graphs
from ._placement import Placement, nearest_mean
from ._resources import STORAGES, check_dask, check_resources, check_storage, estimate
from ._sizes import check_size
from ._types import FloatArray, IndexArray
from ._validation import check_choice, check_lam, check_reference, check_seed
from ._views import Views, check_views
from .adapter import Adapter
from .checks import check_flag, check_whole_number
from .errors import InputError, InputTypeError
from .plugins import get_adapter

# Numbers in all views up to which a second thread saves next to nothing.
SMALL = 2**23
# Share of the labels that the nearest mean must reproduce to be used for new samples.
SAME_LABELS = 0.99


class AlignedClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Multi-view clustering with aligned anchors.

    Parameters
    ----------
    adapter : str or Adapter, default="fmvacc"
        The method that builds the anchor graphs and clusters the fused one: a name, as :func:`list_adapters` knows it,
        or an instance.
    n_clusters : int, default=8
    n_anchors : int or list of int, optional
        Anchors in every view, or a number for each view; by default as the adapter suggests, mostly two for each
        cluster. Adapters whose views have anchors in common take one number only.
    lam : float, default=0.1
        Weight of the structure term in the alignment, see :func:`align`.
    reference : int, "auto" or "consensus", default="consensus"
        The view whose order of anchors is kept, or none, see :func:`align`. Without a reference no poor view can spoil
        the match of all others.
    fusion : {"aligned", "rotated", "unaligned", "concat"}, default="aligned"
        "aligned" is the mean of the aligned graphs. "rotated" goes beyond permutations: the aligned graphs are rotated
        towards each other before the mean, see :func:`fuse`; mostly better clusters, but no graph that can be read,
        and not for adapters that cluster in their own way (sfmc). "unaligned" is the mean of the graphs as they come;
        "concat" puts them side by side, which no alignment can change. These two are the controls of an ablation.
    weights : array-like of float of shape (n_views,), or "auto", optional
        Weights of the views in the mean. "auto": by how much a view agrees with the others, see :func:`fuse`. By
        default as the adapter says, mostly all the same. "concat" has none.
    missing : {"error", "nan"}, default="error"
        "nan": samples that are NaN throughout in a view are not in it. See also the ``mask`` of :meth:`fit`.
    many_to_one : bool, default=False
        What happens to anchors without a partner where a reference with fewer anchors is named, see :func:`align`.
    adapter_params : dict, optional
        Settings of an adapter given by name.
    column_groups : list or dict, optional
        For views that come as one table: the widths of the views from left to right, or the columns of every view
        (positions, or names of a DataFrame's columns), or a dict of these by view name.
    storage : {"memory", "disk", "never"}, default="memory"
        Where the anchor graphs and the fused graph are. "disk": in files that have no name and are gone with the
        estimator, however the process ends. "never": nowhere; their rows are made anew for each of two passes, and
        ``fused_graph_`` is None. In both cases the embedding is in such a file. These two are for adapters that learn
        anchors without making graphs: lmvsc, fmvacc and, for "disk", sfmc.
    memory : int or str, optional
        Memory that the fit may take beyond the views, in bytes or as in "500MB"; by default what the machine has.
        A fit that needs more is refused before it starts. What adapters that make whole graphs take is not known.
    folder : str or Path, optional
        Where the files are; by default where temporary files are.
    gather : bool, default=False
        For views that are Dask arrays: bring ``labels_`` to this process. By default they are a Dask array.
    random_state : int, Generator, RandomState or None, default=None
        The same number gives the same result, to the last digit, for any number of threads, with the adapters that come
        with the package; with others, up to eight million numbers in all views together.

    Attributes
    ----------
    labels_ : ndarray, or Dask array, of shape (n_samples,)
        Cluster of every sample, numbered from 0 in the order in which clusters first appear.
    fused_graph_ : ndarray, memmap or csr_array of shape (n_samples, n_anchors), or side by side, or None
    embedding_ : ndarray of shape (n_samples, n_clusters or fewer)
        Leading left singular vectors of the fused graph, rows scaled to unit length; a memmap unless
        ``storage="memory"``.
    anchors_ : list of array or None
        Anchors of every view, in the coordinates that the adapter works in.
    anchor_graphs_ : AnchorGraphs
        What the adapter made of the views; without graphs if ``storage="never"``.
    permutations_ : list of ndarray of shape (n_columns,)
        Order in which each view's anchors were fused, -1 where it has none; a matrix, anchors x columns, where several
        share a column.
    rotations_ : list of ndarray of shape (n_anchors, n_columns) or None
        For ``fusion="rotated"``: what each view's graph was multiplied by. ``permutations_`` are where it started.
    mask_ : ndarray of bool of shape (n_views, n_samples) or None
        Which view has which sample; None if every view has every sample.
    weights_ : ndarray of shape (n_views,) or None
        Weights of the views in the mean; None if all are the same.
    aligner_ : AnchorAligner or None
        How good the match is; None if nothing was aligned: for the controls, and for adapters whose anchors correspond
        by construction.
    adapter_ : Adapter
        The instance that was used.
    n_features_in_ : int
        Number of features of all views together.

    Examples
    --------
    >>> from anchor_align import AlignedClusterer
    >>> from anchor_align.data import make_simulated
    >>> views = make_simulated(0).views
    >>> clusterer = AlignedClusterer("lmvsc", n_clusters=4, random_state=0).fit(views)
    >>> clusterer.labels_.shape, clusterer.fused_graph_.shape
    ((200,), (200, 8))
    >>> clusterer.predict([X[:3] for X in views]).tolist() == clusterer.labels_[:3].tolist()
    True
    """

    def __init__(
        self,
        adapter: str | Adapter = "fmvacc",
        *,
        n_clusters: int = 8,
        n_anchors: int | Sequence[int] | None = None,
        lam: float = 0.1,
        reference: SupportsIndex | str = "consensus",
        fusion: str = "aligned",
        weights: Any = None,
        missing: str = "error",
        many_to_one: bool = False,
        adapter_params: dict[str, Any] | None = None,
        column_groups: Any = None,
        storage: str = "memory",
        memory: int | str | None = None,
        folder: str | Path | None = None,
        gather: bool = False,
        random_state: Any = None,
    ) -> None:
        self.adapter = adapter
        self.n_clusters = n_clusters
        self.n_anchors = n_anchors
        self.lam = lam
        self.reference = reference
        self.fusion = fusion
        self.weights = weights
        self.missing = missing
        self.many_to_one = many_to_one
        self.adapter_params = adapter_params
        self.column_groups = column_groups
        self.storage = storage
        self.memory = memory
        self.folder = folder
        self.gather = gather
        self.random_state = random_state

    def fit(self, views: Any, y: object = None, *, mask: Any = None) -> AlignedClusterer:
        """Cluster the samples.

        Parameters
        ----------
        views : list of array-like or sparse of shape (n_samples, n_features of the view), dict of them, or one table
            All views describe the same samples in the same order. A dict names its views. One 2-D array, sparse matrix
            or DataFrame is split by ``column_groups``, or by the upper level of a DataFrame's column names, and is one
            view without either. Arrays may be memmaps, larger than memory. Not modified. Views may be Dask arrays or
            DataFrames: the fit then runs where their chunks are, and graphs, embedding and labels are Dask arrays.
        y : ignored
        mask : array-like of bool of shape (n_views, n_samples), optional
            True where a view has a sample; the other rows of the view are not looked at. Anchors and graphs of a view
            come from the samples that it has, and a sample's row of the fused graph from the views that have it.
            Anchors that views have in common come from the samples that all views have. For adapters that define
            ``learn_anchors``; not for Dask arrays.
        """
        n_clusters = check_whole_number("n_clusters", self.n_clusters, least=1)
        storage = check_choice("storage", self.storage, STORAGES)
        check_lam(self.lam)
        seed = check_seed(self.random_state)
        adapter = self._make_adapter()
        fusion = check_fusion(adapter, self.fusion)
        checked = check_views(views, self.column_groups, mask=mask, missing=self.missing)
        check_reference(self.reference, len(checked.matrices))
        if self.weights is not None and not (isinstance(self.weights, str) and self.weights == "auto"):
            check_weights(self.weights, len(checked.matrices))
        if checked.n_samples < n_clusters:
            raise InputError(f"Got n_samples={checked.n_samples}, fewer than n_clusters={n_clusters}.")
        gather = check_flag("gather", self.gather)
        n_anchors = count_anchors(
            adapter, self.n_anchors, checked.n_learnable(adapter.views_apart), n_clusters, len(checked.matrices)
        )
        aligner = AnchorAligner(self.lam, reference=self.reference, many_to_one=self.many_to_one, random_state=seed)
        keep = storage != "never"
        with self._working(adapter, checked, n_anchors, n_clusters, storage):
            graphs = build_graphs(adapter, checked, n_clusters, n_anchors, seed, keep=keep)
            fused = fuse_graphs(adapter, graphs, fusion, aligner, n_clusters, seed, keep=keep, weights=self.weights)
            clusters = cluster_graph(adapter, fused, n_clusters, seed)
            embedding, vectors = clusters.embedding, clusters.vectors
            if embedding is None or vectors is None:
                embedding, vectors = embed(fused, n_clusters)
            means = _cluster_means(vectors, clusters.labels, clusters.n_found)
            near_means = _share_near_means(vectors, means, clusters.labels) >= SAME_LABELS
            labels: Any = clusters.labels
            if gather and checked.on_dask:
                from ._dask.failures import explained

                with explained():
                    labels = labels.compute()

        self.labels_ = labels
        self.fused_graph_: Any = fused.graph
        self.embedding_: Any = vectors
        self.anchors_ = graphs.learned.anchors
        self.anchor_graphs_ = graphs.learned
        self.permutations_ = fused.permutations
        self.rotations_ = fused.rotations
        self.mask_ = checked.observed
        self.weights_ = fused.weights
        self.aligner_ = fused.aligner
        self.adapter_ = adapter
        self.n_features_in_ = sum(each.n_features for each in checked.layout.values())
        self._layout = checked.layout
        self._sizes = graphs.rows.sizes
        self._placement = Placement(adapter, graphs.learned, self._sizes, fused.rows.recipe, embedding, means)
        self._near_means = near_means
        return self

    @contextmanager
    def _working(
        self, adapter: Adapter, views: Views, n_anchors: int | list[int], n_clusters: int, storage: str
    ) -> Iterator[None]:
        """Memory, files and threads of a fit; says so if there is not enough of them."""
        memory = check_size("memory", self.memory)
        if self.folder is not None and not isinstance(self.folder, (str, Path)):
            raise InputTypeError(f"folder must be a path, got {self.folder!r}.")
        folder = None if self.folder is None else Path(self.folder)
        check_storage(adapter, storage)
        if views.on_dask:
            check_dask(adapter, storage, memory, folder)
        work = None
        if adapter.works_by_blocks and not views.on_dask:
            most = n_anchors if isinstance(n_anchors, int) else max(n_anchors)
            need = estimate(adapter, views, most, n_clusters, self.fusion)
            work = check_resources(need, storage, memory, folder)
        with working(
            memory=work, on_disk=storage != "memory", folder=folder, one_blas_thread=_by_blocks(adapter, views)
        ):
            yield

    def predict(self, views: Any, *, mask: Any = None) -> Any:
        """Cluster of new samples: graph rows on the learned anchors, fused and embedded as learned, nearest mean.

        Where the nearest mean does not reproduce the clusters of the fit (adapters that do not cluster by k-means), new
        samples get the label of the sample of the fit with the nearest fused row.

        Parameters
        ----------
        views, mask : as in :meth:`fit`

        Returns
        -------
        ndarray of int of shape (n_samples,)
            For the samples of the fit, ``labels_`` but for rare ties. A Dask array if the views are Dask arrays.
        """
        check_is_fitted(self)
        checked = check_views(views, self.column_groups, mask=mask, missing=self.missing).ordered_as(self._layout)
        if checked.observed is not None:
            self._placement.recipe.check_seen(checked.observed)
        fitted = None
        if not self._near_means and self.fused_graph_ is not None:
            fitted = parts_of(self.fused_graph_).zip(parts_of(self.labels_))
        if checked.on_dask:
            check_dask(self.adapter_)
            return self._placement.of_chunks(checked.matrices, fitted)
        labels = np.empty(checked.n_samples, dtype=np.intp)

        def assign(rows: slice) -> None:
            block = rows_of(samples, rows, checked.observed)
            seen = None if checked.observed is None else checked.observed[:, rows]
            place = self._placement
            labels[rows] = place.near_mean(block, seen) if fitted is None else place.near_row(block, fitted, seen)

        by_blocks = self.adapter_.works_by_blocks
        samples = checked.matrices if by_blocks else checked.floats()
        with working(one_blas_thread=_by_blocks(self.adapter_, checked)):
            if by_blocks:
                run_rows(assign, checked.n_samples, width=features_of(samples) + 3 * sum(self._sizes))
            else:  # its new_graphs may look at all samples together
                assign(slice(0, checked.n_samples))
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _make_adapter(self) -> Adapter:
        if isinstance(self.adapter, Adapter):
            if self.adapter_params:
                raise InputError("adapter_params is for an adapter given by name; set those of an instance directly.")
            adapter: Adapter = clone(self.adapter)
            return adapter
        if not isinstance(self.adapter, str):
            raise InputTypeError(f"adapter must be a name or an instance of Adapter, got {self.adapter!r}.")
        params = {} if self.adapter_params is None else self.adapter_params
        if not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params):
            raise InputTypeError(f"adapter_params must be a dict of settings by name, got {self.adapter_params!r}.")
        return get_adapter(self.adapter, **params)


def _by_blocks(adapter: Adapter, views: Views) -> bool:
    """Whether BLAS is kept on one thread: blocks have threads of their own, and small problems need no more.

    A large problem of an adapter that knows nothing of blocks would be slowed down.
    """
    return adapter.works_by_blocks or views.n_numbers <= SMALL


def _cluster_means(embedding: npt.NDArray[Any], labels: npt.NDArray[np.intp], n_clusters: int) -> FloatArray:
    """Mean of every cluster's samples."""
    sums = parts_of(embedding).zip(parts_of(labels)).total(_cluster_sums, n_clusters)
    return np.asarray(sums[:, :-1] / sums[:, -1:])


def _cluster_sums(item: tuple[npt.NDArray[Any], IndexArray], n_clusters: int) -> FloatArray:
    """Sum of every cluster's samples and, in the last column, their number."""
    embedding, labels = item
    n, k = embedding.shape

    def sums(rows: slice) -> FloatArray:
        block, at = read_rows(embedding, rows), labels[rows]
        columns = [np.bincount(at, block[:, j], n_clusters) for j in range(k)]
        return np.array([*columns, np.bincount(at, minlength=n_clusters)]).T

    return np.asarray(sum(map_rows(sums, n, width=2 * k)))


def _share_near_means(embedding: npt.NDArray[Any], means: FloatArray, labels: IndexArray) -> float:
    """Share of the samples that are in the cluster with the nearest mean."""
    count: int = parts_of(embedding).zip(parts_of(labels)).total(_count_near_means, means)
    return count / int(labels.shape[0])


def _count_near_means(item: tuple[npt.NDArray[Any], IndexArray], means: FloatArray) -> int:
    embedding, labels = item

    def count(rows: slice) -> int:
        return int(np.count_nonzero(nearest_mean(read_rows(embedding, rows), means) == labels[rows]))

    n, k = embedding.shape
    return sum(map_rows(count, n, width=k + len(means)))
