"""Finished runs on disk. The key of a run is a hash of all that determines its result; each run has a file."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import os
import platform
import sys
import sysconfig
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..arrays import IndexArray
from ..data import check_path, write_whole, writing
from ..plugins import OUR_FUSIONS, PLUGIN_FILE, Adapter, Baseline, FusionRecord, MethodRecord
from ._vocabulary import DONE

VARIABLE = "ANCHOR_ALIGN_CACHE"
# Half-written files of interrupted processes are deleted after this many seconds.
STALE = 3600.0
LABEL_TYPE = np.dtype("<i4")
# Packages whose version can change a result.
PACKAGES = ("numpy", "scipy", "scikit-learn")
OURS, OUR_ADAPTERS = "anchor_align", "anchor_align_adapters"
SHOWING = ("cli", "report")
# Origin of methods that the user gave as objects of classes of their own.
IN_MEMORY = "in memory"
INSTALLED = tuple(
    Path(place).resolve()
    for place in (
        *(sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib", "platstdlib")),
        *(place for place in sys.path if place.endswith(("site-packages", "dist-packages"))),
    )
)
# Runs with code of others are not kept if its folders have more files.
MOST_FILES = 10_000
LARGE = 2**20
# A folder with this file is a cache, for this package and for programs that make backups.
TAG = "CACHEDIR.TAG"
TAG_CONTENT = b"Signature: 8a477f597d28d172789f06886806bc55\n"


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

    Several processes may share the folder: a rename makes a file appear, and equal keys have equal outcomes. What is
    not a file that this class wrote under this key counts as absent. A folder that cannot be written to is read only.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        check_path(folder)
        self.folder = Path(folder)

    def open(self) -> None:
        """Make the folder, and delete what interrupted processes left in it.

        Raises
        ------
        FileError
            If the folder cannot be made.
        """
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        for path in self.folder.glob("*/.*.part"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > STALE:
                    path.unlink()

    def get(self, key: str, n_samples: int) -> Outcome | None:
        """The outcome stored under the key, for data of so many samples, or None."""
        path = self._path(key)
        try:
            if not path.is_file():  # a pipe would be waited for
                return None
            stored = json.loads(path.read_bytes())
            entry = stored["outcome"]
            if stored["check"] != _check(key, entry):
                return None
            content = zlib.decompress(base64.b64decode(entry["labels"]))
            labels = np.frombuffer(content, LABEL_TYPE).astype(np.intp)
            outcome = Outcome(**{**entry, "labels": labels, "warnings": tuple(entry["warnings"])})
            return outcome if len(labels) == n_samples else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError, zlib.error):
            return None

    def put(self, key: str, outcome: Outcome) -> bool:
        """Store an outcome; False if it cannot be written."""
        assert outcome.labels is not None
        labels = base64.b64encode(zlib.compress(outcome.labels.astype(LABEL_TYPE).tobytes())).decode()
        entry = {**vars(outcome), "labels": labels, "warnings": list(outcome.warnings)}
        path = self._path(key)
        try:
            path.parent.mkdir(exist_ok=True)
            if not (self.folder / TAG).exists():
                write_whole(self.folder / TAG, TAG_CONTENT)
            if path.exists() and not path.is_file():  # writing into a pipe would wait for a reader
                path.unlink()
            write_whole(path, json.dumps({"check": _check(key, entry), "outcome": entry}).encode())
        except OSError:
            return False
        return True

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


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

    None if its settings cannot be written as text, if its folder has too many files, or if the user gave an object of a
    class of their own: nobody knows all that it depends on.
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
    own = {"package": __version__, "sources": _own_sources(), **versions()}
    return hashlib.sha256(json.dumps({**parts, "code": own}, sort_keys=True).encode()).hexdigest()


def _described(
    record: MethodRecord[Any] | FusionRecord, made: object, settings: dict[str, Any]
) -> dict[str, Any] | None:
    # The sources count beside the version: a package under development keeps its version.
    written = {name: _written(value) for name, value in sorted(settings.items())}
    kind = type(made)
    sources = _sources_of_class(kind)
    if sources is None or None in written.values():
        return None
    return {"version": record.version, "sources": sources, "class": kind.__qualname__, "settings": written}


def _written(value: object) -> str | None:
    """Text that has all of a setting; None for objects, whose text may leave out something."""
    if isinstance(value, list | tuple | dict):
        inside = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        return repr(value) if all(_written(each) is not None for each in inside) else None
    return repr(value) if value is None or isinstance(value, bool | int | float | str | bytes) else None


def _sources_of_class(kind: type) -> list[str] | None:
    """Hashes of all code that a class may use; None if there is too much of it.

    Nobody can list what a class of others imports or reads later. So the folders of its modules count, those of all
    other modules that are loaded and not installed, and the versions of everything that is installed. Runs that load
    code from other folders are not kept, see ``covered_places``.
    """
    found = [_content_of(Path(place)) for place in sorted(covered_places(kind))]
    return None if None in found else [*filter(None, found), *(() if _is_ours(kind) else _installed())]


def covered_places(kind: type) -> set[str]:
    """Folders and files whose content counts for a class, as far as code is loaded in this process now."""
    roots = {base.__module__.partition(".")[0] for base in kind.__mro__} - {"builtins", "sklearn", OURS}
    if not _is_ours(kind):
        loaded = {name.partition(".")[0] for name in list(sys.modules)} - {"__main__", "__mp_main__", OURS}
        roots |= {root for root in loaded if not root.startswith(PLUGIN_FILE) and not _is_installed(root)}
    return {str(place) for root in roots for place in _places_of(root)}


def _is_ours(kind: type) -> bool:
    return {base.__module__.partition(".")[0] for base in kind.__mro__} <= {"builtins", "sklearn", OURS, OUR_ADAPTERS}


def _own_sources() -> list[str | None]:
    """Hashes of this package, without the folders that show results and compute none."""
    parts = sorted(Path(__file__).resolve().parents[1].iterdir())
    return [_content_of(part) for part in parts if part.name not in (*SHOWING, "__pycache__")]


def _places_of(root: str) -> list[Path]:
    """Folders of a package; for a module in one file its folder, or the file if it is installed beside others."""
    module = sys.modules.get(root)
    if folders := list(getattr(module, "__path__", ())):
        return [Path(folder).resolve() for folder in folders]
    file = getattr(module, "__file__", None)
    return [] if file is None else [Path(file).resolve() if _is_installed(root) else Path(file).resolve().parent]


@cache
def _content_of(place: Path) -> str | None:
    """Hash of a file, or of all files in and below a folder; None if they are too many or cannot be read.

    Hidden files and folders, compiled files and caches do not count. A large file counts by its size and time.
    """
    state = hashlib.sha256()
    try:
        for number, path in enumerate([place] if place.is_file() else _files_below(place)):
            if number == MOST_FILES:
                return None
            about = path.stat()
            mark = f"{path.relative_to(place).as_posix()} {about.st_size}"
            is_large = about.st_size > LARGE
            content = str(about.st_mtime_ns).encode() if is_large else path.read_bytes()
            state.update(f"{mark}\0".encode(errors="surrogateescape") + hashlib.sha256(content).digest())
    except OSError:
        return None
    return state.hexdigest()


def _files_below(folder: Path) -> Iterator[Path]:
    seen = set()  # links may lead back
    for place, folders, files in os.walk(folder, followlinks=True):
        here = Path(place)
        if (real := here.resolve()) in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name != "__pycache__" and not (here / name / TAG).exists()
        )
        yield from (path for name in sorted(files) if not name.startswith(".") and (path := here / name).is_file())


@cache
def _installed() -> tuple[str, ...]:
    """Names and versions of all installed distributions."""
    found = set()
    for each in importlib.metadata.distributions():
        with suppress(Exception):  # its metadata cannot be read
            found.add(f"{each.name} {each.version}")
    return tuple(sorted(found))


def _is_installed(root: str) -> bool:
    """Whether a module belongs to Python or to an installed distribution, and so has a version."""
    module = sys.modules.get(root)
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    return file is None or any(Path(file).resolve().is_relative_to(place) for place in INSTALLED)
