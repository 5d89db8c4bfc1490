"""Data sets by name: what comes with the package or its dependencies, and one that is downloaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import unknown_name
from ._digits import load_digits_views
from ._openml import load_uci_digit
from ._simulated import make_simulated
from ._types import MultiViewData


@dataclass(frozen=True)
class DataSet:
    """A data set that has a name.

    Attributes
    ----------
    name : str
        What :func:`~anchor_align.load_views` takes.
    description : str
    n_samples, n_clusters : int
    views : tuple of (str, int)
        Name and number of features of each view.
    online : bool
        Whether it is downloaded on first use.
    """

    name: str
    description: str
    n_samples: int
    n_clusters: int
    views: tuple[tuple[str, int], ...]
    online: bool = False


_SETS: tuple[tuple[DataSet, Callable[[], MultiViewData]], ...] = ()


def catalogue() -> tuple[DataSet, ...]:
    """The data sets that :func:`~anchor_align.load_views` knows by name.

    Examples
    --------
    >>> [each.name for each in catalogue()]
    ['simulated', 'digits', 'breast-cancer', 'uci-digit']
    """
    return tuple(each for each, _ in _SETS)


def load_bundled(name: str) -> MultiViewData:
    """Load a data set by its name in the :func:`catalogue`.

    Parameters
    ----------
    name : str

    Returns
    -------
    MultiViewData

    Raises
    ------
    UnknownNameError
        If there is no such set.
    FileError
        If it cannot be downloaded.

    Examples
    --------
    >>> data = load_bundled("breast-cancer")
    >>> data.names, [view.shape for view in data.views]
    (['mean', 'error', 'worst'], [(569, 10), (569, 10), (569, 10)])
    """
    for each, load in _SETS:
        if each.name == name:
            return load()
    raise unknown_name("data set", name, BUNDLED)


def _load_breast_cancer() -> MultiViewData:
    """Mean, standard error and worst value of ten measures of cell nuclei."""
    from sklearn.datasets import load_breast_cancer

    cancer = load_breast_cancer()
    views = [np.ascontiguousarray(part) for part in np.split(cancer.data, 3, axis=1)]
    return MultiViewData(views, cancer.target.astype(np.int64), ["mean", "error", "worst"])


_SETS = (
    (
        DataSet(
            "simulated",
            "four Gaussian clusters in the plane, seen in two views, as in the paper's first experiment",
            200,
            4,
            (("plane 1", 2), ("plane 2", 2)),
        ),
        make_simulated,
    ),
    (
        DataSet(
            "digits",
            "handwritten digits of scikit-learn, measured in six ways",
            1797,
            10,
            (("pixels", 64), ("fourier", 54), ("gradients", 72), ("profiles", 48), ("zernike", 24), ("strokes", 77)),
        ),
        load_digits_views,
    ),
    (
        DataSet(
            "breast-cancer",
            "cell nuclei of breast tumours (scikit-learn): mean, standard error and worst value of ten measures",
            569,
            2,
            (("mean", 10), ("error", 10), ("worst", 10)),
        ),
        _load_breast_cancer,
    ),
    (
        DataSet(
            "uci-digit",
            "UCI multiple features, the three views of the paper's UCI-Digit; downloaded from OpenML on first use",
            2000,
            10,
            (("factors", 216), ("fourier", 76), ("karhunen", 64)),
            online=True,
        ),
        load_uci_digit,
    ),
)
BUNDLED = tuple(each.name for each, _ in _SETS)
