"""Entries: the variables of a data file, which know their shape and are read only when they are needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import scipy.sparse as sp

from ..arrays import BoolArray, is_sparse
from ..errors import AnchorAlignError, FileError, InputError, unknown_name
from ._multi_view_data import Note
from ._size_limits import SizeLimit

# "objects" are arrays of Python objects, which are never loaded; "unread" are files of a kind that is not read.
Kind = Literal["matrix", "sparse", "text", "cell", "struct", "empty", "objects", "unread", "other"]
T = TypeVar("T")

_OBJECTS_ADVICE = (
    ", which are never loaded because they can run code; save numbers or fixed-width text, one array for each view: "
    "numpy.savez(file, view_0=..., view_1=..., labels=...)"
)
# Matrices with one row for each sample that describe how the data were used, not the samples.
_BOOKKEEPING = re.compile(r"idx|index|indic|fold|split|perm|train|test|mask|weight|missing|paired|order")
_DEEPEST = 8
_MOST_LISTED = 12
_COMPARED_AT_ONCE = 2**18


def _nothing() -> Any:
    return None


@dataclass(frozen=True, eq=False)
class Entry:
    """One variable of a file, or a part of one.

    ``key`` is how users name it: ``X``, ``data.X`` for a field, ``X{1}`` for a member of a cell. ``read`` returns an
    ndarray, a sparse array or a list of str; ``members`` returns what a cell or struct holds. ``forget`` frees memory
    if the entry can be read again, ``drop`` frees it in any case. ``what`` describes an entry that is no data. ``name``
    is set where a dot in the key does not mark a field of a struct, as in the names of files. ``notes`` say what the
    reader decided, ``ids`` are the names of the samples, ``ids_are_typed`` says whether the file tells 1 from "1",
    ``heads`` are the names of the columns, ``is_table`` marks tables, whose rows are samples unless the user says
    otherwise, and ``is_column`` a label column in a table of features. In annotated data, ``part`` says whether this is
    the matrix X of a modality or another one, and ``absent`` is True where the modality lacks a sample.
    """

    key: str
    kind: Kind
    shape: tuple[int, ...]
    read: Callable[[], Any] = _nothing
    members: Callable[[], list[Entry]] = list
    drop: Callable[[], None] = _nothing
    forget: Callable[[], None] = _nothing
    what: str = ""
    # The axis of a 3-D array that counts its views: MATLAB's cat(3, ...) puts them last, numpy.stack first.
    stack_axis: int = 0
    name: str = ""
    notes: tuple[Note, ...] = ()
    ids: tuple[Any, ...] = ()
    ids_are_typed: bool = False
    heads: tuple[str, ...] = ()
    is_table: bool = False
    is_column: bool = False
    part: Literal["", "X", "other"] = ""
    absent: BoolArray | None = None

    @property
    def is_matrix(self) -> bool:
        return self.kind in ("matrix", "sparse") and len(self.shape) in (1, 2) and 0 not in self.shape

    @property
    def is_stack(self) -> bool:
        return self.kind == "matrix" and len(self.shape) == 3 and 0 not in self.shape

    @property
    def is_vector(self) -> bool:
        return self.is_matrix and max(self.shape) > 1 and sorted(self.shape)[:-1] in ([], [1])

    @property
    def sides(self) -> tuple[int, int]:
        """Rows and columns of a matrix; a 1-D array is one column."""
        return (self.shape[0], 1) if len(self.shape) == 1 else (self.shape[0], self.shape[1])

    @property
    def size(self) -> str:
        """Shape for messages: "200 x 3"."""
        return " x ".join(map(str, self.shape))

    @property
    def description(self) -> str:
        """What the entry is, for messages."""
        if self.what:
            return self.what + (_OBJECTS_ADVICE if self.kind == "objects" else "")
        if self.kind == "text":
            return "text"
        return f"a {self.size} {'array' if self.kind == 'matrix' else self.kind}" if self.shape else "a single value"

    @property
    def own_name(self) -> str:
        """The key without the structs around it."""
        return self.name or self.key.rsplit(".", 1)[-1]

    @property
    def plain_name(self) -> str:
        """Last part of the key, normalised for comparison with known names."""
        return normal(re.sub(r"(\{\d+\})+$", "", self.own_name))

    @property
    def parent(self) -> str:
        """Key of the struct around the entry, or ""."""
        return "" if self.name else self.key.rpartition(".")[0]

    @property
    def is_bookkeeping(self) -> bool:
        """Whether the name says that the entry records folds, splits or weights."""
        return _BOOKKEEPING.search(self.plain_name) is not None


class Held:
    """A value that is read on first use and kept until it is dropped; a given value cannot be read again."""

    def __init__(self, load: Callable[[], Any] = _nothing, value: Any = None) -> None:
        self._load = load
        self._value = value

    def read(self) -> Any:
        if self._value is None:
            self._value = self._load()
        return self._value

    def drop(self) -> None:
        self._value = None


def array_entry(
    limit: SizeLimit,
    key: str,
    kind: Kind,
    shape: tuple[int, ...],
    n_bytes: int,
    load: Callable[[], Any],
    stack_axis: int = 0,
    in_memory: bool = True,
) -> Entry:
    """Entry of an array that a file holds, that takes ``n_bytes`` of memory, and that ``load`` reads."""

    def load_within_limit() -> Any:
        limit.claim(key, n_bytes, in_memory=in_memory)
        return load()

    held = Held(guarded(limit.path, load_within_limit))
    return Entry(key, kind, shape, held.read, drop=held.drop, forget=held.drop, stack_axis=stack_axis)


def normal(name: str) -> str:
    """Name without case, spaces, underscores and other marks."""
    return "".join(char for char in name.lower() if char.isalnum())


def decoded(values: Any) -> list[str]:
    """Texts of an array of str or bytes."""
    return [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in np.ravel(values)]


def listed(texts: Sequence[str]) -> str:
    """Texts for a message, not more than people read."""
    more = f" and {len(texts) - _MOST_LISTED} more" if len(texts) > _MOST_LISTED else ""
    return ", ".join(texts[:_MOST_LISTED]) + more


def quoted(keys: Sequence[str]) -> str:
    return listed([repr(key) for key in keys])


def shared_sides(entries: Sequence[Entry], n_labels: Collection[int] = ()) -> set[int]:
    """Sizes that all matrices have, as rows or columns: possible numbers of samples. Only ``n_labels``, if given."""
    shared = set.intersection(*({*entry.sides} for entry in entries))
    return shared.intersection(n_labels) if n_labels else shared


def flatten(entries: Sequence[Entry], depth: int = _DEEPEST) -> list[Entry]:
    """Entries with structs replaced by their fields, however deep."""
    flat: list[Entry] = []
    for entry in entries:
        if entry.kind == "struct" and depth > 0:
            flat.extend(flatten(entry.members(), depth - 1))
        else:
            flat.append(entry)
    return flat


def inner_entries(entry: Entry) -> list[Entry]:
    """Members of a cell, fields of a struct, matrices of a 3-D array."""
    if not entry.is_stack:
        return entry.members()
    axis = range(3)[entry.stack_axis]
    shape = tuple(size for each, size in enumerate(entry.shape) if each != axis)

    def matrix(index: int) -> Entry:
        place = f"{{{index + 1}}}"
        name = f"{entry.name}{place}" if entry.name else ""
        return Entry(
            f"{entry.key}{place}", "matrix", shape, lambda: entry.read()[(slice(None),) * axis + (index,)], name=name
        )

    return [matrix(index) for index in range(entry.shape[axis])]


def unwrapped(entry: Entry) -> Entry:
    """The content of a cell in a cell, or of a struct with one matrix."""
    for _ in range(_DEEPEST):
        if entry.kind not in ("cell", "struct"):
            break
        members = entry.members()
        if len(members) > 1:
            members = [member for member in flatten(members) if member.is_matrix] if entry.kind == "struct" else []
        if len(members) != 1:
            break
        entry = members[0]
    return entry


def cell_matrices(container: Entry) -> list[Entry] | None:
    """The matrices of a cell if it holds nothing else, and they are not all vectors."""
    cell = unwrapped(container)
    members = [cell] if cell.is_matrix else [unwrapped(member) for member in inner_entries(cell)]
    if not members or not all(member.is_matrix for member in members):
        return None
    return None if all(member.is_vector or max(member.shape) == 1 for member in members) else members


def find_entry(entries: Sequence[Entry], key: str, option: str) -> Entry:
    """The entry that a user named; case matters only where two keys differ in nothing else."""
    known = list(entries)
    # A key such as data.X{2} names a part: look inside the entry that it begins with.
    for _ in range(2 * _DEEPEST):
        exact = [entry for entry in known if entry.key == key]
        alike = exact or [entry for entry in known if entry.key.lower() == key.lower()]
        if len(alike) == 1:
            return alike[0]
        if len(alike) > 1:
            raise InputError(
                f"{option}={key!r} could be any of {', '.join(repr(entry.key) for entry in alike)}; "
                "write the key as it is in the file."
            )
        inside = [e for e in known if key.lower().startswith((f"{e.key.lower()}.", f"{e.key.lower()}{{"))]
        known = [member for entry in inside for member in inner_entries(entry)]
        if not known:
            break
    raise unknown_name(f"key ({option}=)", key, [entry.key for entry in entries])


def same_content(one: Entry, other: Entry) -> bool:
    """Whether two matrices are equal, or one is the other transposed. Neither is copied; the second is freed again."""
    if one.shape not in (other.shape, other.shape[::-1]):
        return False
    try:
        a, b = one.read(), other.read()
    except InputError:
        # Complex numbers, which are no view.
        return False
    same = (one.shape == other.shape and _equal(a, b)) or (one.shape == other.shape[::-1] and _equal(a, b.T))
    del b
    other.forget()
    return same


def _equal(a: Any, b: Any) -> bool:
    if is_sparse(a) or is_sparse(b):
        if not (is_sparse(a) and is_sparse(b) and a.format == b.format and a.format in ("csr", "csc")):
            return False
        pairs = ((a.indptr, b.indptr), (a.indices, b.indices), (a.data, b.data))
        return a.nnz == b.nnz and all(np.array_equal(one, other) for one, other in pairs)
    if a.ndim != 2:
        return np.array_equal(a, b)
    # Block by block in the order of memory: comparing everything at once takes an array of the same size.
    a, b = (a.T, b.T) if a.flags.f_contiguous else (a, b)
    step = max(1, _COMPARED_AT_ONCE // a.shape[1])
    return all(np.array_equal(a[i : i + step], b[i : i + step]) for i in range(0, len(a), step))


def checked_sparse(key: str, X: Any) -> Any:
    """A sparse matrix of real numbers whose indices are checked: scipy trusts them, and the file may be damaged."""
    if X.dtype.kind not in "fiub":
        raise InputError(f"{key!r} is {unusable(X.dtype)}; expected real numbers.")
    if X.format not in ("csr", "csc"):
        X = sp.csr_array(X)
    X.check_format(full_check=True)
    # scipy does not look at the starts of rows if the last of them says that nothing is stored.
    if X.indptr[0] != 0 or (np.diff(X.indptr) < 0).any():
        raise ValueError("a sparse matrix whose rows or columns overlap")
    return X


def unusable(dtype: Any) -> str:
    """What values of a type that cannot be used are, for messages."""
    return "complex numbers" if getattr(dtype, "kind", "") == "c" else f"values of type {dtype}"


@contextmanager
def reading(path: object) -> Iterator[None]:
    """Turn whatever a reader raises into one sentence that names the file."""
    try:
        yield
    except (AnchorAlignError, ImportError):
        raise
    except MemoryError as error:
        raise FileError(
            f"Cannot read {path}: it asks for more memory than there is; it is too large or damaged."
        ) from error
    # Readers of damaged files raise anything: struct.error, zlib.error, KeyError, RuntimeError, ...
    except Exception as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else None
        if reason is None:
            about = " ".join("".join(char if char.isprintable() else " " for char in str(error)).split())[:200]
            reason = f"it is damaged or incomplete ({about or type(error).__name__})"
        raise FileError(f"Cannot read {path}: {reason.rstrip('.')}.") from error


def guarded(path: Path, function: Callable[[], T]) -> Callable[[], T]:
    """The function; what it raises is reported as by :func:`reading`."""

    def call() -> T:
        with reading(path):
            return function()

    return call


@contextmanager
def naming(path: object) -> Iterator[None]:
    """Put the name of the file before what is wrong with its entries."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{path}: {error}") from error
