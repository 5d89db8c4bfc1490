"""AlignedClusterer: anchor graphs, alignment, fusion and clustering in one scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils import TransformerTags

from ..arrays import BoolArray, DenseArray, FloatArray, IndexArray
from ..blocks import check_size, take_rows, working
from ..checks import check_choice, check_flag, check_seed, check_whole_number
from ..errors import InputError, InputTypeError, naming, shown
from ..fusion import Fusion, check_weights, is_auto
from ..graphs import Order
from ..matching import AnchorAligner, check_lam, check_reference
from ..plugins import Adapter, AnchorGraphs, get_adapter
from ._candidates import AUTO_CANDIDATES, CandidateResult
from ._chance_warning import warn_of_chance
from ._chosen_settings import choice_note
from ._new_samples import NewSamples, by_blocks
from ._pipeline import Pipeline, check_fusion, count_anchors
from ._prediction import Prediction, cluster_means, count_labels, known_rows, means_reproduce
from ._progress import FitProgress, Reporter, check_progress, reporting
from ._ranking import Ranking, best_first
from ._resources import STORAGES, Plan, check_engine, check_folder, check_storage, estimate, plan_within
from ._sample_order import allows_content_order, graphs_in_order, in_order_of_fit, number_labels
from ._views import Views, check_views

NESTED = "adapter__"  # what names of the adapter's settings begin with in set_params


class AlignedClusterer(NewSamples, ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """Multi-view clustering with aligned anchors.

    Parameters
    ----------
    adapter : str or Adapter, default="local"
        The method that makes the anchor graphs and clusters the fused graph: a name from :func:`list_adapters`, or an
        instance. "auto": one of a few adapters and scales, chosen without labels on a sample, see :func:`choose`; for
        two views or more.
    n_clusters : int, default=8
    n_anchors : int or list of int, optional
        Number of anchors in every view, or a list with one number for each view. By default the adapter chooses:
        "local" ten for each cluster, the others usually two. Adapters with common anchors for all views take one number
        only.
    lam : float, default=0.1
        Weight of the structure term in the alignment, see :func:`align`.
    reference : int or str, default="consensus"
        The view whose order of anchors the others take, by its index or name; "auto" or "consensus", see :func:`align`.
        Without a reference no poor view can spoil the match of all others.
    fusion : {"aligned", "rotated", "unaligned", "concat"}, name of a plug-in's fusion, or Fusion, default="aligned"
        "aligned" is the mean of the aligned graphs. "rotated" also rotates the aligned graphs towards each other before
        the mean, see :func:`fuse`. It usually gives better clusters, but its result is not a readable graph, and
        adapters with their own clustering step (sfmc) cannot use it. "unaligned" is the mean of the graphs with anchors
        in their given order; "concat" puts them side by side, which no alignment can change. These two are the controls
        of an ablation.
    weights : array-like of float of shape (n_views,), or "auto", optional
        Weights of the views in the mean. "auto": by the agreement of a view with the others, see :func:`fuse`. By
        default the adapter chooses, usually equal weights. "concat" has no weights.
    missing : {"error", "nan"}, default="error"
        "nan": a sample with only NaN in a view is missing in it. See also the ``mask`` of :meth:`fit`.
    join : {"inner", "outer"}, optional
        For views that name different samples, as the index of a DataFrame does: "inner" keeps the samples that all
        views have, "outer" keeps all and takes those that a view lacks as missing. By default different samples are an
        error. The same samples in another order are put in the order of the first view.
    many_to_one : bool, default=False
        The place of anchors without a partner, if a named reference has fewer anchors, see :func:`align`.
    adapter_params : dict, optional
        Settings of an adapter that is given by name.
    column_groups : list or dict, optional
        For views in one table: the widths of the views from left to right, or the columns of every view (positions, or
        names of a DataFrame's columns), or a dict of these by view name.
    storage : {"memory", "disk", "never", "auto"}, default="memory"
        Place of the anchor graphs and the fused graph. "disk": in unnamed files, which the system deletes with the
        estimator or at the end of the process. "never": they are not stored; their rows are made again for each of two
        passes, three for adapters with ``column_scaling``, and ``fused_graph_`` is None. In both cases the embedding is
        in such a file. Both need an adapter that learns anchors without making graphs: local, lmvsc, fmvacc and, for
        "disk", sfmc. "auto": the first of these that has room.
    memory : int or str, optional
        Memory for the fit besides the views, in bytes or as in "500MB"; by default the free memory of the machine. A
        fit that needs more is refused before it starts. The memory of adapters that make whole graphs is not known.
    folder : str or Path, optional
        Folder of the files; by default the folder of temporary files.
    gather : bool, default=False
        For views that are Dask arrays: bring ``labels_`` to this process. By default they are a Dask array.
    verbose : bool, default=False
        Write a line to stderr when a step of :meth:`fit` or :meth:`predict` begins, and every five seconds.
    callback : callable, optional
        Called with a :class:`FitProgress` when a step begins and, within a step, about every tenth of a second. An
        exception of the callback ends the fit.
    random_state : int, Generator, RandomState or None, default=None
        With the adapters of this package the same number gives the same result, to the last digit, for any number of
        threads; with other adapters, for up to eight million numbers in all views together.

    Attributes
    ----------
    labels_ : ndarray, or Dask array, of shape (n_samples,)
        Cluster of every sample, numbered from 0 in the order in which clusters first appear; if samples were joined by
        name, in the sorted order of names.
    samples_ : tuple or None
        Names of the samples, in the order of ``labels_``; None if the views have none.
    notes_ : tuple of str
        How samples were reordered or joined by name, and what the adapter chose, one sentence each.
    chosen_ : dict
        Settings that the adapter chose from the data, and the scores behind the choice, by name; may be empty.
    fused_graph_ : ndarray, memmap or csr_array of shape (n_samples, n_anchors), or side by side, or None
    embedding_ : ndarray of shape (n_samples, n_directions)
        Leading left singular vectors of the fused graph, scaled and weighted as the adapter says, rows of unit length;
        a memmap unless ``storage="memory"``. For the adapters of papers, one or fewer for each cluster.
    anchors_ : list of array or None
        Anchors of every view, in the coordinates of the adapter.
    anchor_graphs_ : AnchorGraphs
        The result of the adapter; without graphs if ``storage="never"``.
    permutations_ : list of ndarray of shape (n_columns,)
        Order of each view's anchors in the fused graph, -1 for none; a matrix, anchors x columns, if several anchors
        share a column.
    rotations_ : list of ndarray of shape (n_anchors, n_columns) or None
        For ``fusion="rotated"``: the matrix that multiplies each view's graph, found from ``permutations_``.
    mask_ : ndarray of bool of shape (n_views, n_samples) or None
        False where a sample is missing in a view; None if no sample is missing.
    weights_ : ndarray of shape (n_views,) or None
        Weights of the views in the mean; None if they are equal.
    aligner_ : AnchorAligner or None
        Quality of the match; None without alignment: for the controls, and for adapters whose anchors correspond by
        construction. ``aligner_.chance_`` is what shuffled samples reach; a view that agrees hardly better is named
        in a :class:`~anchor_align.errors.ChanceWarning`.
    adapter_ : Adapter
        The adapter of this fit, without the settings that it chose.
    candidates_ : tuple of CandidateResult or None
        For ``adapter="auto"``: the candidates and their scores, the chosen one first.
    n_features_in_ : int
        Number of features of all views together.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Names of the features of all views, one view after the other; only if every view was a DataFrame whose columns
        have names.
    cluster_means_ : ndarray of shape (n_found, n_directions)
        Means of the clusters in the embedding.

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
        adapter: str | Adapter = "local",
        *,
        n_clusters: int = 8,
        n_anchors: int | Sequence[int] | None = None,
        lam: float = 0.1,
        reference: SupportsIndex | str = "consensus",
        fusion: str | Fusion = "aligned",
        weights: Any = None,
        missing: str = "error",
        join: str | None = None,
        many_to_one: bool = False,
        adapter_params: dict[str, Any] | None = None,
        column_groups: Any = None,
        storage: str = "memory",
        memory: int | str | None = None,
        folder: str | Path | None = None,
        gather: bool = False,
        verbose: bool = False,
        callback: Callable[[FitProgress], object] | None = None,
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
        self.join = join
        self.many_to_one = many_to_one
        self.adapter_params = adapter_params
        self.column_groups = column_groups
        self.storage = storage
        self.memory = memory
        self.folder = folder
        self.gather = gather
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state

    def fit(self, views: Any, y: object = None, *, mask: Any = None) -> AlignedClusterer:
        """Cluster the samples.

        Parameters
        ----------
        views : list of array-like or sparse of shape (n_samples, n_features of the view), dict of them, or one table
            All views describe the same samples. Rows of DataFrames are paired by their names, see ``join``; rows of
            other views by position. Also :class:`~anchor_align.MultiViewData`, with its mask and the names of its
            samples. A dict names its views. One 2-D array, sparse matrix or DataFrame is split by ``column_groups``, or
            by the upper level of a DataFrame's column names; without either it is one view. Arrays may be memmaps,
            larger than memory. They are not modified. Views may be Dask arrays or DataFrames: the fit then runs where
            their chunks are, and graphs, embedding and labels are Dask arrays.
        y : ignored
        mask : array-like of bool of shape (n_views, n_samples) or (n_samples, n_views), optional
            False where a sample is missing in a view; these rows are not read. Anchors and graphs of a view use its
            present samples, and the fused row of a sample uses the views that have it. Common anchors of all views use
            the samples that all views have. For adapters that define ``learn_anchors``; not for Dask arrays.
        """
        n_clusters = check_whole_number("n_clusters", self.n_clusters, least=1)
        storage = check_choice("storage", self.storage, STORAGES)
        lam = check_lam(self.lam)
        seed = check_seed(self.random_state)
        auto = isinstance(self.adapter, str) and self.adapter == "auto"
        adapter, candidates = None if auto else self._make_adapter(), None
        # Views may be a generator, which can be read once.
        checked = check_views(views, self.column_groups, mask=mask, missing=self.missing, join=self.join)
        if adapter is None:
            candidates = self._candidates(checked, n_clusters, seed)
            adapter = candidates[0].candidate.make_adapter()
        fusion = check_fusion(adapter, self.fusion)
        reference = check_reference(self.reference, len(checked.matrices), checked.names)
        if self.weights is not None and not is_auto(self.weights):
            check_weights(self.weights, len(checked.matrices))
        if checked.n_samples < n_clusters:
            raise InputError(f"Got n_samples={checked.n_samples}, fewer than n_clusters={n_clusters}.")
        layout = checked.layout
        gather = check_flag("gather", self.gather)
        callback = check_progress(self.verbose, self.callback)
        n_anchors = count_anchors(
            adapter, self.n_anchors, checked.n_learnable(adapter.views_apart), n_clusters, len(checked.matrices)
        )
        with reporting(callback, checked.n_samples) as reporter:
            pipeline = Pipeline(
                adapter,
                n_clusters,
                n_anchors,
                seed,
                reference=reference,
                many_to_one=self.many_to_one,
                weights=self.weights,
                begin=reporter.begin,
            )
            with self._working(pipeline, checked, fusion, storage, reporter) as (pipeline, fitted):
                graphs = pipeline.build(fitted)
                fused = pipeline.fuse(graphs, fusion, lam)
                clusters = pipeline.cluster(fused)
                clusters = replace(clusters, labels=number_labels(clusters.labels, fitted))
                embedding, vectors = clusters.embedding, clusters.vectors
                if embedding is None or vectors is None:
                    embedding, vectors = fused.embed(n_clusters)
                means = cluster_means(vectors, clusters.labels, clusters.n_found)
                known = None
                if fused.graph is not None and not means_reproduce(vectors, means, clusters.labels):
                    known = known_rows(fused.graph, clusters.labels, clusters.n_found)
                labels: Any = checked.engine.gather(clusters.labels) if gather else clusters.labels
                learned, graph = graphs.learned, fused.graph
                if fitted.rows is not None:
                    # Results are in the order of the user's samples.
                    reporter.pause()
                    back = np.argsort(fitted.rows)
                    labels, vectors = labels[back], take_rows(vectors, back)
                    if graph is not None:
                        graph, *kept = graphs_in_order([graph, *learned.graphs], back)
                        learned = replace(learned, graphs=kept)

        warn_of_chance(fused.aligner, checked.names)
        sizes = count_labels(clusters.labels, clusters.n_found)
        notes = (*checked.notes, choice_note(adapter, graphs.chosen)) if graphs.chosen else checked.notes
        # Nothing below can fail: a fit that fails leaves the attributes of an earlier one as they were.
        self.labels_: IndexArray = labels
        # One of five types, which depends on storage and views.
        self.fused_graph_: Any = graph
        self.embedding_: DenseArray = vectors
        self.anchors_: Sequence[Any] | None = learned.anchors
        self.anchor_graphs_: AnchorGraphs = learned
        self.permutations_: list[Order] = fused.permutations
        self.rotations_: list[FloatArray] | None = fused.rotations
        self.mask_: BoolArray | None = checked.mask
        self.samples_: tuple[Any, ...] | None = checked.samples
        self.chosen_: dict[str, Any] = graphs.chosen
        self.candidates_: tuple[CandidateResult, ...] | None = candidates
        self.notes_: tuple[str, ...] = notes
        self.weights_: FloatArray | None = fused.weights
        self.aligner_: AnchorAligner | None = fused.aligner
        self.adapter_: Adapter = adapter
        self.cluster_means_: FloatArray = means
        self.n_features_in_: int = sum(each.n_features for each in layout.values())
        self._layout = layout
        self._cluster_sizes = sizes
        self._name_features()
        self._prediction = Prediction(
            graphs.adapter, learned, graphs.rows.sizes, fused.rows.recipe, embedding, means, known
        )
        return self

    def _name_features(self) -> None:
        names = [name for each in self._layout.values() for name in each.columns or (None,)]
        if all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):  # of an earlier fit
            del self.feature_names_in_

    @contextmanager
    def _working(
        self, pipeline: Pipeline, views: Views, fusion: Fusion, storage: str, reporter: Reporter
    ) -> Iterator[tuple[Pipeline, Views]]:
        """Set memory, files, threads and the order of the samples; refuse a fit that needs more than is free."""
        adapter, n_anchors = pipeline.adapter, pipeline.n_anchors
        memory = check_size("memory", self.memory)
        folder = check_folder(self.folder)
        if storage != "auto":
            check_storage(adapter, storage)
        check_engine(adapter, views, storage, memory, folder)
        plan = Plan(storage, None, allows_content_order(adapter, views))
        if adapter.works_by_blocks and not views.distributed:
            most = n_anchors if isinstance(n_anchors, int) else max(n_anchors)
            need_of = partial(estimate, adapter, views, most, pipeline.n_clusters, fusion)
            plan = plan_within(need_of, adapter, plan, memory, folder)
        with (
            naming(views.names),
            working(
                memory=plan.work,
                on_disk=plan.storage in ("disk", "never"),
                folder=folder,
                one_blas_thread=by_blocks(adapter, views),
                progress=reporter.rows_done,
            ),
        ):
            fitted = in_order_of_fit(adapter, views, by_content=plan.by_content)
            yield replace(pipeline, keep=plan.storage != "never"), fitted

    def fit_transform(self, views: Any, y: object = None, *, mask: Any = None) -> Any:
        """Cluster the samples, and return their coordinates in the embedding, ``embedding_``."""
        return self.fit(views, mask=mask).embedding_

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters; with ``deep`` also ``adapter_params``, or those of the adapter, as ``adapter__<name>``."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and isinstance(self.adapter, str) and isinstance(self.adapter_params, Mapping):
            params |= {f"{NESTED}{name}": value for name, value in self.adapter_params.items()}
        return params

    def set_params(self, **params: Any) -> AlignedClusterer:
        """Set parameters by name. ``adapter__<name>`` is a setting of the adapter, also of one that is given by name.

        Examples
        --------
        >>> from anchor_align import AlignedClusterer
        >>> AlignedClusterer("lmvsc").set_params(n_clusters=3, adapter__alpha=0.5).adapter_params
        {'alpha': 0.5}
        """
        settings = {}
        if isinstance(params.get("adapter", self.adapter), str):
            settings = {name: params.pop(name) for name in list(params) if name.startswith(NESTED)}
        super().set_params(**params)
        if settings:
            own = {} if self.adapter_params is None else self.adapter_params
            self.adapter_params = {**own, **{name.removeprefix(NESTED): each for name, each in settings.items()}}
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags = TransformerTags()
        return tags

    def _candidates(self, views: Views, n_clusters: int, seed: int) -> tuple[CandidateResult, ...]:
        if self.adapter_params:
            raise InputError("adapter_params is for an adapter given by name; adapter='auto' chooses the settings.")
        own: dict[str, Any] = {"n_anchors": self.n_anchors, "fusion": self.fusion, "lam": self.lam}
        reference = check_reference(self.reference, len(views.matrices), views.names)
        ranking = Ranking(n_clusters, seed, reference=reference, many_to_one=self.many_to_one, weights=self.weights)
        return tuple(best_first(ranking.results([replace(each, **own) for each in AUTO_CANDIDATES], views)))

    def _make_adapter(self) -> Adapter:
        params = {} if self.adapter_params is None else self.adapter_params
        if not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params):
            raise InputTypeError(
                f"adapter_params must be a dict of settings by name, got {shown(self.adapter_params)}."
            )
        if isinstance(self.adapter, str):
            return get_adapter(self.adapter, **params)
        if not isinstance(self.adapter, Adapter):
            raise InputTypeError(f"adapter must be a name or an instance of Adapter, got {shown(self.adapter)}.")
        if params:
            raise InputError("adapter_params is for an adapter given by name; set parameters of an instance directly.")
        try:
            adapter: Adapter = clone(self.adapter)
        except Exception as error:  # of a setting that cannot be copied
            raise InputError(f"Adapter {self.adapter.name!r} has a setting that cannot be copied: {error}.") from error
        return adapter
