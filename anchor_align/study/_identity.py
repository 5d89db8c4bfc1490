"""What determines a run: versions, sources, settings. Two runs with the same identity have the same result."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any

from .. import __version__
from ..adapter import Adapter
from ..plugins import AdapterRecord

# Packages whose version can change a result.
PACKAGES = ("numpy", "scipy", "scikit-learn")


def environment() -> dict[str, str]:
    """Versions that a report names."""
    return {
        "anchor-align": __version__,
        "python": platform.python_version(),
        **versions(),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def describe_adapter(record: AdapterRecord, adapter: Adapter) -> dict[str, Any] | None:
    """Everything that makes an adapter what it is; None if its settings cannot be written down.

    The sources count beside the version: a package that is being worked on keeps its version.
    """
    settings = {name: repr(value) for name, value in sorted(adapter.get_params(deep=True).items())}
    if any(" at 0x" in text for text in settings.values()):
        return None
    return {
        "name": record.name,
        "distribution": record.distribution if record.entry_point else "",
        "version": record.version,
        "sources": _sources_of(type(adapter).__module__),
        "class": type(adapter).__qualname__,
        "settings": settings,
    }


def run_key(parts: dict[str, Any]) -> str:
    """Hash of all that determines a run: ``parts``, this package, and the packages that it computes with."""
    own = {"package": __version__, "sources": _sources_of(__package__), **versions()}
    return hashlib.sha256(json.dumps({**parts, "code": own}, sort_keys=True).encode()).hexdigest()


@cache
def versions() -> dict[str, str]:
    """Versions of the packages that compute."""
    return {name: importlib.metadata.version(name) for name in PACKAGES}


@cache
def _sources_of(module: str) -> str:
    """Hash of the Python files of a module's package, or of its one file."""
    root = sys.modules.get(module.partition(".")[0])
    folders = [Path(folder) for folder in getattr(root, "__path__", ())]
    state = hashlib.sha256()
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        state.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    if not folders and (file := getattr(root, "__file__", None)):
        state.update(Path(file).read_bytes())
    return state.hexdigest()
