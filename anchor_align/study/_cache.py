"""Finished runs on disk. The key of a run is a hash of all that determines its result; each run has a file."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import math
import os
import platform
import stat
import sys
import sysconfig
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..arrays import IndexArray
from ..data import write_whole
from ..errors import FileError
from ..plugins import OUR_FUSIONS, PLUGIN_FILE, Adapter, Baseline, FusionRecord, MethodRecord
from ._vocabulary import DONE, SCORES

VARIABLE = "ANCHOR_ALIGN_CACHE"
# Half-written files of interrupted processes are deleted after this many seconds.
STALE = 3600.0
LABEL_TYPE = np.dtype("<i4")
# An entry has at most so many bytes: labels in base64, which hardly compress at worst, and the rest.
BYTES_PER_SAMPLE = 8
MOST_TEXT = 2**20
# Packages whose version can change a result.
PACKAGES = ("numpy", "scipy", "scikit-learn")
OURS, OUR_ADAPTERS = "anchor_align", "anchor_align_adapters"
# Folders of this package that show results and compute none.
SHOWING = ("cli", "report")
# Origin of methods that the user gave as objects of classes of their own.
IN_MEMORY = "in memory"
INSTALLED = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib", "stdlib", "platstdlib"))


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of one arm of one run; if it is not done, ``reason`` says why."""

    status: str = DONE
    scores: Mapping[str, float] | None = None
    labels: IndexArray | None = None
    seconds: float | None = None
    objective: float | None = None
    upper_bound: float | None = None
    agreement: float | None = None
    anchors_in_use: float | None = None
    evenness: float | None = None
    warnings: tuple[str, ...] = ()
    reason: str = ""
    traceback: str = ""


def default_cache() -> Path:
    """``ANCHOR_ALIGN_CACHE``, or "anchor-align" in the user's folder for caches."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    base = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "anchor-align"


class Cache:
    """Outcomes by key in a folder.

    Several processes may share the folder: a rename makes a file appear, and equal keys have equal outcomes. A file
    that cannot be read, that belongs to another user, or that is no outcome, counts as absent. The folder is private
    to the user: an entry is believed as it is. A folder that cannot be written to is read only.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def open(self) -> None:
        """Make the folder, for this user only, and delete what interrupted processes left in it.

        Raises
        ------
        FileError
            If the folder cannot be made, belongs to another user, or can be written to by others.
        """
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)
            state = self.folder.stat()
        except (OSError, ValueError) as error:  # a ValueError for a name with a zero byte
            raise FileError(f"Cannot write {self.folder}: {getattr(error, 'strerror', None) or error}.") from error
        if hasattr(os, "geteuid") and state.st_uid != os.geteuid():
            raise FileError(f"The cache {self.folder} belongs to another user; choose a folder of your own.")
        if os.name == "posix" and state.st_mode & 0o022:
            raise FileError(f"Other users can write to the cache {self.folder}; `chmod go-w` on it forbids that.")
        for path in self.folder.glob("*/.*.part"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > STALE:
                    path.unlink()

    def get(self, key: str, n_samples: int) -> Outcome | None:
        """The outcome stored under the key, for data of so many samples, or None."""
        try:
            stored = json.loads(_read(self._path(key), MOST_TEXT + BYTES_PER_SAMPLE * n_samples))
            entry = stored["outcome"]
            if stored["check"] != _check(key, entry) or not _is_outcome(entry):
                return None
            size = LABEL_TYPE.itemsize * n_samples
            # One byte more than allowed: what inflates further is refused without being inflated.
            content = zlib.decompressobj().decompress(base64.b64decode(entry["labels"], validate=True), size + 1)
            if len(content) != size:
                return None
            labels = np.frombuffer(content, LABEL_TYPE).astype(np.intp)
            return Outcome(**{**entry, "labels": labels, "warnings": tuple(entry["warnings"])})
        except (OSError, ValueError, KeyError, TypeError, RecursionError, zlib.error):
            return None

    def put(self, key: str, outcome: Outcome) -> bool:
        """Store an outcome; False if it cannot be written."""
        assert outcome.labels is not None
        labels = base64.b64encode(zlib.compress(outcome.labels.astype(LABEL_TYPE).tobytes())).decode()
        entry = {**vars(outcome), "labels": labels, "warnings": list(outcome.warnings)}
        path = self._path(key)
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            write_whole(path, json.dumps({"check": _check(key, entry), "outcome": entry}).encode())
        except (OSError, FileError):
            return False
        return True

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def _read(path: Path, most: int) -> bytes:
    """Content of a file of this user; an error for a larger one, and for a pipe, which would be waited for."""
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode) or (hasattr(os, "geteuid") and state.st_uid != os.geteuid()):
            raise ValueError
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError
    return content


def _is_outcome(entry: object) -> bool:
    """Whether an entry has the fields of a finished run, each of its type."""
    if not isinstance(entry, dict) or entry.keys() != {each.name for each in fields(Outcome)}:
        return False
    scores = entry["scores"]
    numbers = [entry["seconds"], *(entry[name] for name in ("objective", "upper_bound") if entry[name] is not None)]
    if scores is not None:
        if not isinstance(scores, dict) or tuple(scores) != SCORES or not all(map(math.isfinite, scores.values())):
            return False
        numbers += scores.values()
    texts = [entry["labels"], *entry["warnings"]]
    return (
        isinstance(entry["warnings"], list)
        and all(type(number) in (int, float) for number in numbers)
        and all(isinstance(text, str) for text in texts)
        and (entry["status"], entry["reason"], entry["traceback"]) == (DONE, "", "")
    )


def _check(key: str, entry: Any) -> str:
    """Hash of an entry. It changes if the file is damaged, edited or renamed."""
    return hashlib.sha256(f"{key} {json.dumps(entry, sort_keys=True)}".encode()).hexdigest()


def environment() -> dict[str, str]:
    """Versions that a report names."""
    return {
        "anchor-align": __version__,
        "python": platform.python_version(),
        **versions(),
        "platform": f"{platform.system()} {platform.machine()}",
    }


@cache
def versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in PACKAGES}


def describe_method(record: MethodRecord[Any], method: Adapter | Baseline) -> dict[str, Any] | None:
    """All that determines what an adapter or a baseline computes.

    None if its settings cannot be written as text, or if the user gave an object of a class of their own: nobody knows
    all that it depends on.
    """
    if record.distribution == IN_MEMORY:
        return None
    distribution = record.distribution if record.entry_point else ""
    described = _described(record, method, method.get_params(deep=True))
    return described and {"name": record.name, "distribution": distribution, **described}


def describe_fusion(record: FusionRecord) -> dict[str, Any] | None:
    """All that determines what a fusion computes; None if its settings cannot be written as text.

    For a fusion of this package the name is enough: every key has the sources of this package.
    """
    if record in OUR_FUSIONS:
        return {"arm": record.name}
    described = _described(record, record.fusion, vars(record.fusion))
    return described and {"arm": record.name, "fusion": described}


def run_key(parts: dict[str, Any]) -> str:
    """Hash of ``parts``, of this package, and of the versions of the packages that it computes with."""
    own = {"package": __version__, "sources": _sources_of(OURS), **versions()}
    return hashlib.sha256(json.dumps({**parts, "code": own}, sort_keys=True).encode()).hexdigest()


def _described(
    record: MethodRecord[Any] | FusionRecord, made: object, settings: dict[str, Any]
) -> dict[str, Any] | None:
    # The sources count beside the version: a package under development keeps its version.
    written = {name: _written(value) for name, value in sorted(settings.items())}
    if None in written.values():
        return None
    kind = type(made)
    sources = _sources_of_class(kind)
    return {"version": record.version, "sources": sources, "class": kind.__qualname__, "settings": written}


def _written(value: object) -> str | None:
    """Text that has all of a setting; None for objects, whose text may leave out something."""
    if isinstance(value, list | tuple | dict):
        inside = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        return repr(value) if all(_written(each) is not None for each in inside) else None
    return repr(value) if value is None or isinstance(value, bool | int | float | str | bytes) else None


def _sources_of_class(kind: type) -> str:
    """Hash of the packages of a class and its bases; for a class of others, also of all loaded code without version.

    Nobody can list what a class calls in other modules. Installed packages have a version; all other modules count.
    """
    roots = {base.__module__.partition(".")[0] for base in kind.__mro__} - {"builtins", "sklearn", OURS}
    if roots - {OUR_ADAPTERS}:
        loaded = {name.partition(".")[0] for name in list(sys.modules)} - {"__main__", "__mp_main__", OURS}
        roots |= {root for root in loaded if not root.startswith(PLUGIN_FILE) and not _is_installed(root)}
    return hashlib.sha256("".join(sorted({_sources_of(root) for root in roots})).encode()).hexdigest()


@cache
def _sources_of(root: str) -> str:
    """Hash of the Python files of a package, or of a module that is one file."""
    module = sys.modules.get(root)
    folders = [Path(folder) for folder in getattr(module, "__path__", ())]
    state = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            place = path.relative_to(folder)
            if root != OURS or place.parts[0] not in SHOWING:
                state.update(f"{place.as_posix()}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    file = getattr(module, "__file__", None)
    if not folders and file and Path(file).is_file():
        state.update(Path(file).read_bytes())
    return state.hexdigest()


def _is_installed(root: str) -> bool:
    """Whether a module belongs to Python or to an installed distribution, and so has a version."""
    module = sys.modules.get(root)
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    return file is None or any(Path(file).resolve().is_relative_to(place) for place in INSTALLED)
