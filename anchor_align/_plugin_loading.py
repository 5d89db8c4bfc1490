"""Finding plug-ins, in installed distributions and in single files, and loading them one at a time."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ._plugin_checks import Refusal, check_adapter, describe, loading, offers, step
from ._plugin_guard import Patched, guarded
from ._plugin_records import (
    DISABLE_VARIABLE,
    AdapterRecord,
    Plugin,
    PluginFailure,
    Registry,
    name_key,
    one_line,
)
from .errors import PluginError
from .hookspecs import PROJECT

OUR_DISTRIBUTION = "anchor-align"
# Modules of single files have names that start with this.
PLUGIN_FILE = "anchor_align_plugin_"

File = str | os.PathLike[str]

# Plug-ins may ask for others while they are loaded.
_LOCK = threading.RLock()


@dataclass(frozen=True)
class Source:
    """A plug-in before it is loaded."""

    plugin: Plugin
    load: Callable[[], object]

    @property
    def is_ours(self) -> bool:
        return name_key(self.plugin.distribution) == OUR_DISTRIBUTION

    @property
    def keys(self) -> set[str]:
        """Names by which it can be disabled."""
        return {name_key(self.plugin.distribution), name_key(self.plugin.entry_point)}


def load(files: Sequence[Source] = (), *, until: str | None = None) -> Registry:
    """Load what is installed and then the files; stop once there is an adapter called ``until``."""
    # What is contained while a plug-in is loaded belongs to the whole process: one thread at a time.
    with _LOCK:
        loader = _Loader(files)
        for source in loader.sources:
            if until in loader.registry():
                break
            loader.load(source)
        return loader.registry()


class _Loader:
    """Loads plug-ins one after the other and keeps who has which name."""

    def __init__(self, files: Sequence[Source]) -> None:
        installed, self.failures = _installed()
        off = {name_key(name): name for name in map(str.strip, os.environ.get(DISABLE_VARIABLE, "").split(",")) if name}
        known = {key for source in installed for key in source.keys}
        self.unmatched = [name for key, name in off.items() if key not in known]
        self.disabled = [source.plugin for source in installed if source.keys & off.keys()]
        self.sources = [*(source for source in installed if not source.keys & off.keys()), *files]
        self.adapters: dict[str, AdapterRecord] = {}
        # Ours are never given away, not even if they are disabled.
        self.owners = {name_key(source.plugin.entry_point): source.plugin for source in installed if source.is_ours}

    def registry(self) -> Registry:
        adapters = tuple(self.adapters.values())
        return Registry(adapters, tuple(self.failures), tuple(self.disabled), tuple(self.unmatched))

    def load(self, source: Source) -> None:
        plugin, before = source.plugin, len(self.adapters)
        loaded: object = None
        try:
            with loading(plugin):
                with guarded(), step("cannot be imported"):
                    loaded = source.load()
                with guarded():
                    records = [self._check(plugin, item) for item in offers(loaded)]
            for record in filter(None, records):
                self._add(plugin, record)
        except Patched as patched:
            _forget(loaded)
            self._refuse(plugin, patched)
        except Refusal as refusal:
            self._refuse(plugin, refusal)
        if len(self.adapters) == before and plugin.entry_point:
            self.owners.setdefault(name_key(plugin.entry_point), plugin)

    def _check(self, plugin: Plugin, item: object) -> AdapterRecord | None:
        try:
            return check_adapter(plugin, item)
        except Refusal as refusal:
            self._refuse(plugin, refusal)
            return None

    def _add(self, plugin: Plugin, record: AdapterRecord) -> None:
        key = name_key(record.name)
        owner = self.owners.setdefault(key, plugin)
        if key in self.adapters or owner != plugin:
            state = "" if key in self.adapters else ", which did not load"
            self._refuse(plugin, Refusal(f"the name {record.name!r} is already taken by {owner}{state}"))
        else:
            self.adapters[key] = record

    def _refuse(self, plugin: Plugin, refusal: Exception) -> None:
        cause = refusal.__cause__
        trace = "".join(traceback.format_exception(cause)) if cause else ""
        self.failures.append(PluginFailure(**vars(plugin), reason=one_line(refusal), traceback=trace))


def _forget(module: object) -> None:
    """Drop a plug-in's modules, so that the next attempt imports it, and refuses it, again."""
    root = str(getattr(module, "__name__", "")).partition(".")[0]
    for name in [name for name in sys.modules if name.partition(".")[0] == root]:
        del sys.modules[name]


def _installed() -> tuple[list[Source], list[PluginFailure]]:
    """Entry points of all distributions in the order of loading, and what cannot be read."""
    sources: list[Source] = []
    failures: list[PluginFailure] = []
    seen: set[str] = set()
    # One distribution at a time: for importlib.metadata.entry_points() one malformed line is the end of all plug-ins.
    for distribution in importlib.metadata.distributions():
        try:
            if distribution.entry_points.select(group=PROJECT) and name_key(distribution.name) not in seen:
                seen.add(name_key(distribution.name))
                # What is imported is the first on sys.path, which may have no plug-ins any more.
                first = importlib.metadata.distribution(distribution.name)
                points = first.entry_points.select(group=PROJECT)
                sources += [Source(Plugin(first.name, first.version, point.name), point.load) for point in points]
        except Exception as error:
            place = Path(str(getattr(distribution, "_path", "a distribution"))).name
            failures.append(PluginFailure(place, "", "", f"its metadata cannot be read: {describe(error)}"))
    if OUR_DISTRIBUTION not in seen:
        reason = "its own adapters are not found: install it, for example with `pip install -e .`"
        failures.append(PluginFailure(OUR_DISTRIBUTION, "", "", reason))
    sources.sort(key=lambda each: (not each.is_ours, name_key(each.plugin.distribution), each.plugin.entry_point))
    return sources, failures


def read_files(files: Iterable[File]) -> list[Source]:
    """Single files as plug-ins, read but not run."""
    sources = []
    for path in map(Path, files):
        if path.suffix != ".py":
            raise PluginError(f"Plug-in file {str(path)!r} is not a Python file (.py).")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise PluginError(f"Plug-in file {str(path)!r} cannot be read: {error.strerror}.") from error
        plugin = Plugin(str(path), f"sha256:{hashlib.sha256(content).hexdigest()[:12]}", "")
        sources.append(Source(plugin, partial(_import_file, path.resolve(), content)))
    return sources


def _import_file(path: Path, content: bytes) -> types.ModuleType:
    # The name depends on path and content only: adapters can be pickled, also to a process that loads the same file.
    name = f"{PLUGIN_FILE}{hashlib.sha256(os.fsencode(path) + content).hexdigest()[:16]}"
    if name not in sys.modules:
        module = types.ModuleType(name)
        module.__file__ = str(path)
        sys.modules[name] = module
        try:
            # Not by an import: that leaves bytecode beside the file, and uses it for an edit within the same second.
            exec(compile(content, path, "exec", dont_inherit=True), module.__dict__)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
