"""What a loader returns: views of the same samples, and notes on what it decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

NoteKind = Literal[
    "views", "labels", "orientation", "duplicate", "table", "left out", "single", "version", "bundled", "samples"
]


@dataclass(frozen=True)
class Note:
    """One decision of a loader. ``str(note)`` and ``print(note)`` give its text.

    Attributes
    ----------
    kind : str
        "views" and "labels": which entries of the file these are. "orientation": whether samples are rows or columns.
        "duplicate": entries that hold the same numbers. "table": columns or header lines of a table. "left out": what
        was not loaded. "single": a single graph. "version": the version of a MATLAB file. "bundled": a name that a
        file and a bundled set share. "samples": samples that were reordered or joined by name.
    view : str
        Key of the view, or of the other entry, that the note is about; "" if it is about several or none.
    text : str
        One sentence for people.
    """

    kind: NoteKind
    view: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class MultiViewData:
    """Several views of the same samples.

    Attributes
    ----------
    views : list of array or csr_array of shape (n_samples, n_features of the view)
    labels : ndarray of shape (n_samples,) or None
        True clusters 0 to k - 1, where they are known; for scoring only.
    names : list of str
        One name per view.
    notes : tuple of Note
        What the loader decided or left out. Each note prints as one sentence.
    samples : tuple or None
        Names of the samples, text or numbers; None if the rows have no names.
    mask : ndarray of bool of shape (n_views, n_samples) or None
        False where a view lacks a sample, after ``join="outer"``; None if every view has every sample. The rows of
        missing samples are NaN, or empty in sparse views.
    columns : tuple or None
        For each view the names of its features, or None; None if no view has names. A model checks them on new samples.

    Examples
    --------
    >>> import numpy as np
    >>> data = MultiViewData([np.ones((4, 3)), np.ones((4, 2))], np.array([0, 0, 1, 1]), ["a", "b"])
    >>> data.n_samples, data.n_clusters
    (4, 2)
    """

    views: list[Any]
    labels: npt.NDArray[np.int64] | None
    names: list[str]
    notes: tuple[Note, ...] = ()
    samples: tuple[Any, ...] | None = None
    mask: npt.NDArray[np.bool_] | None = None
    columns: tuple[tuple[str, ...] | None, ...] | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.views[0].shape[0])

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters in the labels; None without labels."""
        return None if self.labels is None else len(np.unique(self.labels))
