"""True clusters as they come in files, numbered 0 to k - 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._types import is_sparse
from ..errors import InputError
from ._entries import Entry, unwrapped

LABEL_NAMES = (
    *("labels", "label", "y", "gt", "gnd", "truth", "truelabel", "truelabels", "groundtruth", "ground", "gtlabel"),
    *("gtlabels", "gndtruth", "gnds", "ytrue", "truey", "truelab", "labeltrue", "labelstrue", "target", "targets"),
    *("classlabel", "classlabels", "clusterlabels", "lab", "labs", "lbl", "lbls", "trueclass", "trueclusters"),
)
# A larger matrix under a label's name is not read to see whether it marks each sample's cluster with a one.
_LARGEST_INDICATOR = 2**25


@dataclass(frozen=True, eq=False)
class NumberedLabels:
    """Labels of one entry: numbered in the sorted order of what the file says."""

    key: str
    codes: npt.NDArray[np.int64]
    note: str = ""

    @property
    def n_samples(self) -> int:
        return len(self.codes)

    @property
    def n_clusters(self) -> int:
        return int(self.codes.max()) + 1

    def same(self, other: NumberedLabels) -> bool:
        """Whether both say the same, whatever numbers they use."""
        return np.array_equal(self.codes, other.codes)


def read_labels(entry: Entry) -> NumberedLabels:
    """Labels of an entry: a vector, words, a cell of either, copies for each view, or an indicator matrix."""
    entry = unwrapped(entry)
    if entry.kind == "text":
        words = entry.read()
        if len(words) == 1:
            raise InputError(f"Labels {entry.key!r} are one text; expected one for each sample.")
        return _numbered(entry.key, np.array(words, dtype=str))
    if entry.kind == "cell":
        return _from_cell(entry)
    if entry.is_matrix and (len(entry.shape) == 1 or 1 in entry.shape):
        return _numbered(entry.key, np.ravel(_dense(entry.read())))
    if entry.is_matrix and math.prod(entry.shape) <= _LARGEST_INDICATOR:
        codes = _from_indicator(entry.read())
        entry.forget()
        if codes is not None:
            labels = _numbered(entry.key, codes)
            return NumberedLabels(
                labels.key, labels.codes, f"Labels {entry.key!r} mark each sample's cluster with a 1."
            )
    raise InputError(f"Labels {entry.key!r} ({describe(entry)}) do not give one label for each sample.")


def describe(entry: Entry) -> str:
    """What an entry is, for messages."""
    if entry.kind == "other":
        return entry.what
    if entry.kind == "text":
        return "text"
    return f"a {entry.size} {'array' if entry.kind == 'matrix' else entry.kind}"


def _dense(values: Any) -> Any:
    return values.toarray() if is_sparse(values) else np.asarray(values)


def _numbered(key: str, values: Any) -> NumberedLabels:
    """Numbers 0 to k - 1 in sorted order of the values."""
    if values.dtype.kind == "f":
        if np.isnan(values).any():
            raise InputError(
                f"Labels {key!r} have NaN for {np.isnan(values).sum()} of {len(values)} samples; expected a label for "
                "each (labels=False leaves them out)."
            )
        if not np.array_equal(values, np.round(values)) or np.isinf(values).any():
            raise InputError(
                f"Labels {key!r} are not whole numbers; labels= names others, labels=False leaves them out."
            )
    if len(values) == 0:
        raise InputError(f"Labels {key!r} are empty.")
    return NumberedLabels(key, np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64))


def _from_cell(entry: Entry) -> NumberedLabels:
    """Labels of a cell: a word or number for each sample, or a copy of all labels for each view."""
    members = [unwrapped(member) for member in entry.members()]
    texts = [member for member in members if member.kind == "text"]
    if members and len(texts) == len(members):
        words = [" ".join(member.read()).strip() for member in members]
        return _numbered(entry.key, np.array(words, dtype=str))
    if not members or not all(member.is_matrix for member in members):
        raise InputError(f"Labels {entry.key!r} ({describe(entry)}) do not give one label for each sample.")
    if all(max(member.shape) == 1 for member in members):
        return _numbered(entry.key, np.array([np.ravel(_dense(member.read()))[0] for member in members]))
    copies = [read_labels(member) for member in members]
    for copy in copies[1:]:
        if not copy.same(copies[0]):
            raise InputError(
                f"Labels {copies[0].key!r} and {copy.key!r} of cell {entry.key!r} differ; labels= says which to take."
            )
    return NumberedLabels(entry.key, copies[0].codes, f"Labels {entry.key!r} have {len(copies)} copies, all the same.")


def _from_indicator(values: Any) -> Any:
    """Cluster of each sample if there is exactly one 1 for each sample, in its row or in its column, and else zeros."""
    if is_sparse(values):
        if values.nnz > max(values.shape):
            return None
        values = values.toarray()
    if not ((values == 0) | (values == 1)).all():
        return None
    if (values.sum(axis=1, dtype=np.int64) == 1).all():
        return values.argmax(axis=1)
    if (values.sum(axis=0, dtype=np.int64) == 1).all():
        return values.argmax(axis=0)
    return None


def could_be_labels(entry: Entry) -> bool:
    """Whether an entry has the shape of labels, before it is read."""
    if entry.kind == "text":
        return len(entry.shape) > 0 and max(entry.shape) > 1
    if entry.kind == "cell":
        inner = unwrapped(entry)
        if inner.kind != "cell":
            return could_be_labels(inner)
        members = [unwrapped(member) for member in inner.members()]
        return bool(members) and all(m.kind == "text" or m.is_vector or m.shape == (1, 1) for m in members)
    return entry.is_vector or (entry.is_matrix and 1 < math.prod(entry.shape) <= _LARGEST_INDICATOR)


def is_binary(entry: Entry) -> bool:
    """Whether a matrix has two values only: several labels for each sample, or a mask; not a view."""
    if not entry.is_matrix or entry.is_vector or not could_be_labels(entry):
        return False
    try:
        values = entry.read()
    except InputError:
        return False
    values = values.data if is_sparse(values) else values
    # Not by sorting, which takes a copy.
    two = values.size == 0 or bool(((values == values.min()) | (values == values.max())).all())
    entry.forget()
    return two
