"""``load``: a clusterer from a saved model."""

from __future__ import annotations

import os

from ..errors import InputTypeError, shown
from ..fusion import Fusion
from ..plugins import Adapter
from ._estimator import AlignedClusterer
from ._saved_models import SavedModel


def load(
    path: str | os.PathLike[str], *, adapter: Adapter | None = None, fusion: Fusion | None = None
) -> AlignedClusterer:
    """Load a model that :meth:`AlignedClusterer.save` or ``anchor-align cluster --save`` wrote.

    Nothing in the file is ever unpickled or run. Its sizes are compared with the size of the file before anything is
    allocated.

    Parameters
    ----------
    path : str or path-like
    adapter : Adapter, optional
        The adapter of the fit, if it is not installed under its name.
    fusion : Fusion, optional
        The fusion of the fit, if it is not installed under its name.

    Returns
    -------
    AlignedClusterer
        For ``predict``, ``transform``, ``assign`` and ``score``. It has no ``labels_``, ``embedding_``, ``notes_``,
        ``fused_graph_`` and ``aligner_``: these belong to the samples of the fit.

    Raises
    ------
    FileError
        If the file is not a saved model, is damaged, has an unknown version, or needs an adapter or a fusion that is
        not installed.

    Examples
    --------
    See :meth:`AlignedClusterer.save`.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"path must be a file, got {shown(path)}.")
    return clusterer_of(SavedModel.read(path), adapter, fusion)


def clusterer_of(saved: SavedModel, adapter: Adapter | None = None, fusion: Fusion | None = None) -> AlignedClusterer:
    """A fitted clusterer from a model that was read."""
    facts, content = saved.facts, saved.content
    used = saved.adapter() if adapter is None else adapter
    prediction = saved.prediction(used, fusion)
    clusterer = AlignedClusterer(
        facts.adapter if adapter is None else adapter,
        adapter_params=dict(facts.adapter_params) if adapter is None else None,
        **{**facts.parameters, **({} if fusion is None else {"fusion": fusion})},
    )
    clusterer.adapter_ = used
    clusterer.chosen_ = dict(content["chosen"])
    clusterer.anchors_ = prediction.learned.anchors
    clusterer.anchor_graphs_ = prediction.learned
    clusterer.permutations_ = content["permutations"]
    clusterer.rotations_ = content["rotations"]
    clusterer.weights_ = content["view_weights"]
    clusterer.cluster_means_ = prediction.means
    clusterer.n_features_in_ = sum(each.n_features for each in facts.views.values())
    clusterer._layout = dict(facts.views)
    clusterer._cluster_sizes = list(facts.cluster_sizes)
    clusterer._prediction = prediction
    clusterer._name_features()
    return clusterer
