"""What a data file holds: entries that know their shape and are read only when they are needed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ..errors import AnchorAlignError, FileError, InputError, unknown_name

Kind = Literal["matrix", "sparse", "text", "cell", "struct", "other"]
T = TypeVar("T")


def _no_value() -> Any:
    return None


def _no_members() -> list[Entry]:
    return []


def _keep() -> None:
    return None


@dataclass(frozen=True, eq=False)
class Entry:
    """One variable of a file, or a part of one.

    ``key`` is how users can name it: ``X``, ``data.X`` for a field, ``X{1}`` for a member of a cell. ``read`` gives an
    ndarray, a sparse array or a list of str; ``members`` what a cell or struct holds. ``forget`` frees memory if the
    entry can be read again, ``drop`` in any case. ``what`` says what an entry of kind "other" is. ``name`` is set where
    a dot in the key is no field of a struct, as in the names of files. ``notes`` say what its reader decided, ``ids``
    are the samples' names, and ``is_column`` marks a column of labels in a table of features.
    """

    key: str
    kind: Kind
    shape: tuple[int, ...]
    read: Callable[[], Any] = _no_value
    members: Callable[[], list[Entry]] = _no_members
    drop: Callable[[], None] = _keep
    forget: Callable[[], None] = _keep
    what: str = ""
    # Where a 3-D array counts its views: MATLAB's cat(3, ...) puts them last, numpy.stack first.
    stack_axis: int = 0
    name: str = ""
    notes: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    is_column: bool = False

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
    def size(self) -> str:
        """Shape for messages: "200 x 3"."""
        return " x ".join(map(str, self.shape))

    @property
    def short(self) -> str:
        """Last part of the key, normalised for comparison with known names."""
        return normal(re.sub(r"(\{\d+\})+$", "", self.leaf))

    @property
    def leaf(self) -> str:
        """The key without the structs around it."""
        return self.name or self.key.rsplit(".", 1)[-1]

    @property
    def parent(self) -> str:
        """The struct around it, if there is one."""
        return "" if self.name else self.key.rpartition(".")[0]


class Held:
    """A value that is read once, kept until dropped, and read again if asked for after that; or that is there now."""

    def __init__(self, load: Callable[[], Any] = _no_value, *values: Any) -> None:
        self._load = load
        self._values = list(values)

    def read(self) -> Any:
        if not self._values:
            self._values.append(self._load())
        return self._values[0]

    def drop(self) -> None:
        self._values.clear()


def array_entry(key: str, kind: Kind, shape: tuple[int, ...], load: Callable[[], Any], stack_axis: int = 0) -> Entry:
    """Entry of an array in a file."""
    held = Held(load)
    return Entry(key, kind, shape, held.read, drop=held.drop, forget=held.drop, stack_axis=stack_axis)


def once(function: Callable[[], T]) -> Callable[[], T]:
    """Call a function on first use only."""
    held = Held(function)
    return held.read


def normal(name: str) -> str:
    """Name without case, spaces, underscores and other marks."""
    return "".join(char for char in name.lower() if char.isalnum())


def natural(name: str) -> list[tuple[int, int, str]]:
    """Sort key under which ``view_10`` comes after ``view_9``."""
    parts = re.split(r"(\d+)", name)
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part.lower()) for part in parts]


def flatten(entries: Sequence[Entry], depth: int = 8) -> list[Entry]:
    """Entries with structs replaced by their fields, however deep."""
    flat: list[Entry] = []
    for entry in entries:
        if entry.kind == "struct" and depth > 0:
            flat.extend(flatten(entry.members(), depth - 1))
        else:
            flat.append(entry)
    return flat


def stacked(entry: Entry) -> list[Entry]:
    """Matrices of a 3-D array."""
    axis = range(3)[entry.stack_axis]
    shape = tuple(size for each, size in enumerate(entry.shape) if each != axis)

    def reader(index: int) -> Callable[[], Any]:
        return lambda: entry.read()[(slice(None),) * axis + (index,)]

    places = [f"{{{i + 1}}}" for i in range(entry.shape[axis])]
    names = [f"{entry.name}{place}" if entry.name else "" for place in places]
    return [
        Entry(f"{entry.key}{place}", "matrix", shape, reader(i), name=name)
        for i, (place, name) in enumerate(zip(places, names, strict=True))
    ]


def parts(entry: Entry) -> list[Entry]:
    """Members of a cell, fields of a struct, matrices of a 3-D array."""
    return stacked(entry) if entry.is_stack else entry.members()


def unwrapped(entry: Entry) -> Entry:
    """What a cell in a cell, or a struct with one matrix, is there for."""
    for _ in range(8):
        if entry.kind not in ("cell", "struct"):
            break
        members = entry.members()
        if len(members) > 1:
            members = [member for member in flatten(members) if member.is_matrix] if entry.kind == "struct" else []
        if len(members) != 1:
            break
        entry = members[0]
    return entry


def find_entry(entries: Sequence[Entry], key: str, path: object, option: str) -> Entry:
    """The entry that a user named; case matters only where it must."""
    known = list(entries)
    # A key such as data.X{2} names a part: look inside whatever it begins with.
    for _ in range(16):
        exact = [entry for entry in known if entry.key == key]
        alike = exact or [entry for entry in known if entry.key.lower() == key.lower()]
        if len(alike) == 1:
            return alike[0]
        if len(alike) > 1:
            raise InputError(
                f"{path}: {option}={key!r} could be any of {', '.join(repr(entry.key) for entry in alike)}; "
                "write the key as it is in the file."
            )
        inside = [e for e in known if key.lower().startswith((f"{e.key.lower()}.", f"{e.key.lower()}{{"))]
        deeper = [member for entry in inside for member in parts(entry)]
        if not deeper:
            break
        known = deeper
    raise unknown_name(f"key in {path} ({option}=)", key, [entry.key for entry in entries])


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say what is wrong with a file in one sentence, whatever a reader raises."""
    try:
        yield
    except (AnchorAlignError, ImportError):
        raise
    except MemoryError as error:
        raise FileError(
            f"Cannot read {path}: it asks for more memory than there is; it is too large or damaged."
        ) from (error)
    # Readers of damaged files raise anything: struct.error, zlib.error, KeyError, RuntimeError, ...
    except Exception as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else None
        if reason is None:
            about = " ".join("".join(char if char.isprintable() else " " for char in str(error)).split())[:200]
            reason = f"it is damaged or incomplete ({about or type(error).__name__})"
        raise FileError(f"Cannot read {path}: {reason.rstrip('.')}.") from error


def guarded(path: str | os.PathLike[str], function: Callable[[], T]) -> Callable[[], T]:
    """The function, with its errors said in one sentence."""

    def call() -> T:
        with reading(path):
            return function()

    return call
