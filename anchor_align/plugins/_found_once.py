"""Installed plug-ins are found, imported and checked once in a process, not once in every fit.

The distributions are read again after one of them was installed, changed or removed, or ``sys.path`` has changed. The
hooks of a plug-in are called again after its module was imported anew or reloaded. Failures are not kept.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache

from ._contract_checks import HOOKS
from ._plugin_sources import Source, installed_sources
from ._records import AdapterRecord, BaselineRecord, FusionRecord, Plugin, PluginFailure

METADATA = (".dist-info", ".egg-info")


@dataclass(frozen=True, eq=False)
class Offers:
    """What a plug-in offers, checked."""

    adapters: tuple[AdapterRecord, ...] = ()
    baselines: tuple[BaselineRecord, ...] = ()
    fusions: tuple[FusionRecord, ...] = ()


@dataclass(frozen=True, eq=False)
class _Kept:
    """The object of a plug-in, its hooks at the time of the call, and what they offered."""

    plugin: object
    hooks: tuple[object, ...]
    offers: Offers


_kept: dict[Plugin, _Kept] = {}


def known_sources() -> tuple[list[Source], list[PluginFailure]]:
    """:func:`installed_sources`, read again only if the distributions have changed."""
    sources, failures = _read(_distributions(), importlib.metadata.distributions)
    return list(sources), list(failures)


@lru_cache(maxsize=1)
def _read(_state: Hashable, _finder: Callable[..., object]) -> tuple[list[Source], list[PluginFailure]]:
    return installed_sources()


def _distributions() -> Hashable:
    """What changes if a distribution is installed, removed or edited: the metadata in the folders of ``sys.path``."""
    return tuple(map(id, sys.meta_path)), tuple((folder, *_metadata_in(folder)) for folder in sys.path)


def _metadata_in(folder: str) -> list[tuple[str, int, int]]:
    try:
        with os.scandir(folder or ".") as entries:
            found = sorted(entry.name for entry in entries if entry.name.endswith(METADATA))
    except NotADirectoryError:  # a zip file
        return [_stamp(folder)]
    except OSError:
        return []
    return [(name, *_stamp(os.path.join(folder or ".", name, "entry_points.txt"))[1:]) for name in found]


def _stamp(path: str) -> tuple[str, int, int]:
    try:
        state = os.stat(path)
    except OSError:
        return path, 0, 0
    return path, state.st_mtime_ns, state.st_size


def kept_offers(source: Source) -> Offers | None:
    """What a plug-in offered before, if it is still the same object with the same hooks."""
    kept = _kept.get(source.plugin)
    if kept is None:
        return None
    now = source.imported()
    same = now is kept.plugin and all(a is b for a, b in zip(_hooks(now), kept.hooks, strict=True))
    return kept.offers if same else None


def keep_offers(source: Source, plugin: object, offers: Offers) -> None:
    _kept[source.plugin] = _Kept(plugin, _hooks(plugin), offers)


def _hooks(plugin: object) -> tuple[object, ...]:
    return tuple(getattr(plugin, hook, None) for hook in HOOKS)
