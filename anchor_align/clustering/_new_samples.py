"""What a fitted clusterer does with samples, from its learned anchors: labels, coordinates, confidence, agreement."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..arrays import FloatArray
from ..blocks import working
from ..errors import naming
from ..graphs import Order, view_agreement
from ..plugins import Adapter
from ._assignment import Assignment
from ._prediction import Prediction
from ._progress import check_progress, reporting
from ._resources import check_engine
from ._saved_models import SAVED, write_prediction
from ._views import Layout, Views, check_views

SMALL = 2**23  # up to this many numbers in all views, a second BLAS thread saves almost no time


class NewSamples:
    """Methods of :class:`AlignedClusterer` for samples that may be new."""

    adapter_: Adapter
    column_groups: Any
    missing: str
    join: str | None
    verbose: Any
    callback: Any
    _layout: dict[str, Layout]
    random_state: Any
    permutations_: list[Order]
    rotations_: list[FloatArray] | None
    weights_: FloatArray | None
    chosen_: dict[str, Any]
    _cluster_sizes: list[int]
    _prediction: Prediction

    def predict(self, views: Any, *, mask: Any = None) -> Any:
        """Cluster new samples: graph rows on the learned anchors, fusion and embedding of the fit, nearest mean.

        If the nearest mean gives less than 99 % of the samples of the fit their labels (adapters without k-means), a
        new sample gets the label of the sample with the nearest fused row, of up to about 10,000 samples of the fit.

        Parameters
        ----------
        views, mask : as in :meth:`fit`

        Returns
        -------
        ndarray of int of shape (n_samples,)
            For the samples of the fit ``labels_``, except for rare ties and, with adapters without k-means, for up to
            1 % of the samples. A Dask array if the views are Dask arrays. Samples are in the order of the first view;
            with ``join``, in that of :func:`~anchor_align.data.join_views`, which also gives their names.
        """
        with self._samples(views, mask) as checked:
            return self._prediction.labels(checked)

    def transform(self, views: Any, *, mask: Any = None) -> Any:
        """Coordinates of samples in the spectral embedding of the fit, rows of unit length.

        Parameters
        ----------
        views, mask : as in :meth:`fit`

        Returns
        -------
        ndarray of shape (n_samples, n_directions)
            For the samples of the fit ``embedding_``, up to rounding. A Dask array if the views are Dask arrays.
        """
        with self._samples(views, mask) as checked:
            return self._prediction.vectors(checked)

    def assign(self, views: Any, *, mask: Any = None) -> Assignment:
        """Clusters of samples as by :meth:`predict`, with the distance to the cluster's mean and a confidence.

        Parameters
        ----------
        views, mask : as in :meth:`fit`

        Returns
        -------
        Assignment
            With ``labels``, ``distances`` and ``confidence``, which is the margin to the nearest other cluster.

        Examples
        --------
        >>> from anchor_align import AlignedClusterer
        >>> from anchor_align.data import make_simulated
        >>> views = make_simulated(0).views
        >>> found = AlignedClusterer(n_clusters=4, random_state=0).fit(views).assign(views)
        >>> found.labels.shape, bool(found.confidence.min() > 0)
        ((200,), True)
        """
        with self._samples(views, mask) as checked:
            return Assignment.of_records(self._prediction.assigned(checked))

    def score(self, views: Any, y: object = None, *, mask: Any = None) -> float:
        """Agreement of the views on these samples: mean linear CKA of the graphs of all pairs of views.

        It needs no labels, and is higher if the views show the same structure. See :func:`choose` for a criterion that
        also looks at the stability of the clusters.

        Parameters
        ----------
        views, mask : as in :meth:`fit`
        y : ignored

        Returns
        -------
        float
            From 0 to 1; NaN for one view, which has nothing to agree with.
        """
        with self._samples(views, mask) as checked:
            agreement = view_agreement(self._prediction.grams(checked))
        return float("nan") if agreement is None else agreement

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model for new samples in a small file; :func:`load` reads it, also on another machine.

        The file has anchors, their order, directions of the embedding and means of clusters, but no labels and nothing
        that grows with the samples. It is a zip archive of numbers: nothing is ever unpickled. It is written completely
        or not at all.

        Parameters
        ----------
        path : str or path-like
            A file, which is replaced if it exists.

        Raises
        ------
        InputError
            If the adapter cannot make graphs of new samples, or holds something that is not made of numbers, texts and
            arrays (see ``AnchorGraphs.state``).
        FileError
            If the file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> from anchor_align import AlignedClusterer, load
        >>> from anchor_align.data import make_simulated
        >>> views = make_simulated(0).views
        >>> clusterer = AlignedClusterer(n_clusters=4, random_state=0).fit(views)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clusterer.save(os.path.join(folder, "my.model"))
        ...     loaded = load(os.path.join(folder, "my.model"))
        >>> (loaded.predict(views) == clusterer.labels_).all()
        np.True_
        """
        check_is_fitted(self)
        given = {name: getattr(self, name) for name in SAVED}
        fusion, seed = self._prediction.recipe.fusion.name, self.random_state
        given |= {"fusion": fusion, "random_state": seed if isinstance(seed, int) else None}
        others: dict[str, Any] = {
            "permutations": self.permutations_,
            "rotations": self.rotations_,
            "view_weights": self.weights_,
            "chosen": self.chosen_,
        }
        write_prediction(path, self._prediction, self.adapter_, self._layout, given, self._cluster_sizes, others)

    @contextmanager
    def _samples(self, views: Any, mask: Any) -> Iterator[Views]:
        """Check the views; set threads, and report progress, while something is done with them."""
        check_is_fitted(self)
        callback = check_progress(self.verbose, self.callback)
        given = check_views(views, self.column_groups, mask=mask, missing=self.missing, join=self.join)
        checked = given.ordered_as(self._layout)
        check_engine(self.adapter_, checked)
        one_thread = by_blocks(self.adapter_, checked)
        with reporting(callback, checked.n_samples, {"predict": 1.0}) as reporter:
            reporter.begin("predict")
            with naming(checked.names), working(one_blas_thread=one_thread, progress=reporter.rows_done):
                yield checked


def by_blocks(adapter: Adapter, views: Views) -> bool:
    """Whether BLAS runs on one thread: blocks have their own threads, and small problems need only one.

    One thread would slow down large problems of adapters without blocks.
    """
    return adapter.works_by_blocks or views.n_numbers <= SMALL
