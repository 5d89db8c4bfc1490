"""Finished runs on disk: each in a file of its own, complete or absent."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._files import make_folder, write_whole
from .._types import IndexArray
from ..errors import FileError

VARIABLE = "ANCHOR_ALIGN_CACHE"
# What an interrupted process left behind is cleared away after this many seconds.
STALE = 3600.0
LABEL_TYPE = np.dtype("<i4")


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of one arm of one run; ``reason`` says why nothing did."""

    scores: Mapping[str, float] | None = None
    labels: IndexArray | None = None
    seconds: float | None = None
    objective: float | None = None
    upper_bound: float | None = None
    warnings: tuple[str, ...] = ()
    reason: str = ""
    traceback: str = ""


def default_folder() -> Path:
    """``ANCHOR_ALIGN_CACHE``, or "anchor-align" in the user's folder for caches."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    base = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "anchor-align"


class Cache:
    """Outcomes by key in a folder.

    Any number of processes may share it: an entry appears by a rename, and equal keys have equal outcomes. What cannot
    be read is as good as absent.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def open(self) -> None:
        """Make the folder, and clear away what interrupted processes left.

        Raises
        ------
        FileError
            If it cannot be written to.
        """
        make_folder(self.folder)
        for path in self.folder.glob("*/.*.part"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > STALE:
                    path.unlink()

    def get(self, key: str) -> Outcome | None:
        """The outcome stored under the key, if there is one."""
        try:
            stored = json.loads(self._path(key).read_bytes())
            if stored["check"] != _check(key, stored["outcome"]):
                return None
            return _decode(stored["outcome"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError, zlib.error):
            return None

    def put(self, key: str, outcome: Outcome) -> bool:
        """Store an outcome; False if the disk would not have it."""
        path = self._path(key)
        try:
            path.parent.mkdir(exist_ok=True)
            encoded = _encode(outcome)
            write_whole(path, json.dumps({"check": _check(key, encoded), "outcome": encoded}).encode())
        except (OSError, FileError):
            return False
        return True

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def _check(key: str, encoded: Any) -> str:
    """Hash of an entry: one that was damaged, edited or renamed has another."""
    return hashlib.sha256(f"{key} {json.dumps(encoded, sort_keys=True)}".encode()).hexdigest()


def _encode(outcome: Outcome) -> dict[str, Any]:
    assert outcome.labels is not None
    packed = zlib.compress(outcome.labels.astype(LABEL_TYPE).tobytes())
    return {
        "scores": None if outcome.scores is None else dict(outcome.scores),
        "labels": base64.b64encode(packed).decode(),
        "seconds": outcome.seconds,
        "objective": outcome.objective,
        "upper_bound": outcome.upper_bound,
        "warnings": list(outcome.warnings),
    }


def _decode(stored: dict[str, Any]) -> Outcome:
    labels = np.frombuffer(zlib.decompress(base64.b64decode(stored["labels"])), LABEL_TYPE).astype(np.intp)
    return Outcome(
        scores=stored["scores"],
        labels=labels,
        seconds=stored["seconds"],
        objective=stored["objective"],
        upper_bound=stored["upper_bound"],
        warnings=tuple(stored["warnings"]),
    )
