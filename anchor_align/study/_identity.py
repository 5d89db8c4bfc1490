"""What determines a run: versions, sources, settings. Two runs with the same identity have the same result."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

from .. import __version__
from .._plugin_loading import PLUGIN_FILE
from ..adapter import Adapter
from ..plugins import AdapterRecord

# Packages whose version can change a result.
PACKAGES = ("numpy", "scipy", "scikit-learn")
OURS, OUR_ADAPTERS = "anchor_align", "anchor_align_adapters"
# Parts of this package that show results and make none.
SHOWING = ("cli", "report")
INSTALLED = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib", "stdlib", "platstdlib"))


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
    settings = {name: _written(value) for name, value in sorted(adapter.get_params(deep=True).items())}
    if None in settings.values():
        return None
    return {
        "name": record.name,
        "distribution": record.distribution if record.entry_point else "",
        "version": record.version,
        "sources": _sources_of_class(type(adapter)),
        "class": type(adapter).__qualname__,
        "settings": settings,
    }


def run_key(parts: dict[str, Any]) -> str:
    """Hash of all that determines a run: ``parts``, this package, and the packages that it computes with."""
    own = {"package": __version__, "sources": _sources_of(OURS), **versions()}
    return hashlib.sha256(json.dumps({**parts, "code": own}, sort_keys=True).encode()).hexdigest()


@cache
def versions() -> dict[str, str]:
    """Versions of the packages that compute."""
    return {name: importlib.metadata.version(name) for name in PACKAGES}


def _written(value: object) -> str | None:
    """A setting as text that has all of it, or None."""
    if isinstance(value, list | tuple | dict):
        inside = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        return repr(value) if all(_written(each) is not None for each in inside) else None
    return repr(value) if value is None or isinstance(value, bool | int | float | str | bytes) else None


def _sources_of_class(kind: type) -> str:
    """Hash of the packages of a class and its bases; for classes that are not ours, also of all code without version.

    What a class calls in other modules cannot be known for sure. Installed packages have a version; the rest counts.
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
    """Whether a module has a version of its own: it belongs to Python or to an installed distribution."""
    module = sys.modules.get(root)
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    return file is None or any(Path(file).resolve().is_relative_to(place) for place in INSTALLED)
