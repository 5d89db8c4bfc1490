"""Loading plug-ins, one at a time, and finding what they offer by name."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ..checks import check_flag
from ..errors import InputTypeError, PluginError, shown
from ..fusion import Fusion
from ._adapter import Adapter
from ._baseline import Baseline
from ._contract_checks import Refusal, check_adapter, check_baseline, check_fusion, loading, offers, step
from ._found_once import Offers, keep_offers, kept_offers, known_sources
from ._plugin_sources import File, Source, check_files, read_files
from ._records import (
    DISABLE_VARIABLE,
    OUR_FUSIONS,
    AdapterRecord,
    BaselineRecord,
    FusionRecord,
    Plugin,
    PluginFailure,
    Registry,
    name_key,
    one_line,
)

T = TypeVar("T")
Record = TypeVar("Record", AdapterRecord, BaselineRecord)

_LOCK = threading.RLock()  # reentrant, because a plug-in may request others while it is loaded


def _load(
    files: Sequence[Source] = (),
    *,
    until: Callable[[_Loader], bool] = lambda _: False,
    starting: Callable[[Plugin], object] = lambda _: None,
) -> Registry:
    """Load the installed plug-ins and then the files; stop as soon as ``until`` is true."""
    # The state that is restored after a plug-in belongs to the whole process: one thread at a time.
    with _LOCK:
        loader = _Loader(files)
        for source in loader.sources:
            if until(loader):
                break
            starting(source.plugin)
            loader.load(source)
        return loader.registry()


class _Loader:
    """Loads plug-ins one after the other and keeps the owner of every name."""

    def __init__(self, files: Sequence[Source]) -> None:
        installed, self.failures = known_sources()
        off = {name_key(name): name for name in map(str.strip, os.environ.get(DISABLE_VARIABLE, "").split(",")) if name}
        known = {key for source in installed for key in source.keys}
        self.unmatched = [name for key, name in off.items() if key not in known]
        self.disabled = [source.plugin for source in installed if source.keys & off.keys()]
        self.sources = [*(source for source in installed if not source.keys & off.keys()), *files]
        self.adapters: dict[str, AdapterRecord] = {}
        self.baselines: dict[str, BaselineRecord] = {}
        self.fusions = {name_key(record.name): record for record in OUR_FUSIONS}
        # Owners of the names of adapters and baselines, which stand for methods in a study: no name is used twice.
        # The names of this package are reserved, also if its plug-ins are disabled.
        ours = [source.plugin for source in installed if source.plugin.is_ours]
        self.owners = {name_key(plugin.entry_point): plugin for plugin in ours}

    def registry(self) -> Registry:
        return Registry(
            tuple(self.adapters.values()),
            tuple(self.fusions.values()),
            tuple(self.failures),
            tuple(self.disabled),
            tuple(self.unmatched),
            tuple(self.baselines.values()),
        )

    def load(self, source: Source) -> None:
        plugin, n_methods, n_failures = source.plugin, len(self.adapters) + len(self.baselines), len(self.failures)
        try:
            offered = kept_offers(source) or self._offers(source)
            for adapter in offered.adapters:
                self._add(self.adapters, plugin, adapter)
            for baseline in offered.baselines:
                self._add(self.baselines, plugin, baseline)
            for fusion in offered.fusions:
                owner = self.fusions.setdefault(name_key(fusion.name), fusion)
                if owner is not fusion:
                    taken = f"the fusion {fusion.name!r} is already taken by {Plugin.__str__(owner)}"
                    self._refuse(plugin, Refusal(taken))
        except Refusal as refusal:
            self._refuse(plugin, refusal)
        loaded_none = len(self.adapters) + len(self.baselines) == n_methods
        if loaded_none and len(self.failures) > n_failures and plugin.entry_point:
            self.owners.setdefault(name_key(plugin.entry_point), plugin)

    def _offers(self, source: Source) -> Offers:
        """Import a plug-in, call its hooks and check the results. They are kept if nothing is refused."""
        plugin, n_failures = source.plugin, len(self.failures)
        with loading(plugin):
            with step("cannot be imported"):
                loaded = source.load()
            items = offers(loaded)
            found = Offers(
                self._checked(check_adapter, plugin, items.get("anchor_align_adapters", ())),
                self._checked(check_baseline, plugin, items.get("anchor_align_baselines", ())),
                self._checked(check_fusion, plugin, items.get("anchor_align_fusions", ())),
            )
        if len(self.failures) == n_failures:
            keep_offers(source, loaded, found)
        return found

    def _checked(self, check: Callable[[Plugin, object], T], plugin: Plugin, items: Iterable[object]) -> tuple[T, ...]:
        passed = []
        for item in items:
            try:
                passed.append(check(plugin, item))
            except Refusal as refusal:
                self._refuse(plugin, refusal)
        return tuple(passed)

    def _add(self, methods: dict[str, Record], plugin: Plugin, record: Record) -> None:
        key = name_key(record.name)
        owner = self.owners.setdefault(key, plugin)
        is_taken = key in self.adapters or key in self.baselines
        if is_taken or owner != plugin:
            state = "" if is_taken else ", which did not load"
            self._refuse(plugin, Refusal(f"the name {record.name!r} is already taken by {owner}{state}"))
        else:
            methods[key] = record

    def _refuse(self, plugin: Plugin, refusal: Exception) -> None:
        cause = refusal.__cause__
        trace = "".join(traceback.format_exception(cause)) if cause else ""
        self.failures.append(PluginFailure(**vars(plugin), reason=one_line(refusal), traceback=trace))


def has_third_party(files: Sequence[File]) -> bool:
    """Whether code of others would be loaded: from files, or from installed plug-ins that are not disabled."""
    return bool(files) or any(not source.plugin.is_ours for source in _Loader(()).sources)


def load_plugins(files: File | Iterable[File] = (), *, strict: bool = False) -> Registry:
    """Load all installed plug-ins, and single files.

    Parameters
    ----------
    files : path or list of paths, optional
        Python files with the hook, loaded last. They need not be on ``sys.path`` and hide no other module. The same
        content at the same path is loaded once. After an edit the file is loaded again, beside the old version.
    strict : bool, default=False
        Raise an error if any plug-in fails, instead of recording the failure.

    Returns
    -------
    Registry
        ``load_plugins("my.py").get("my-method")`` is an adapter for ``AlignedClusterer``.

    Raises
    ------
    PluginError
        If a given file cannot be loaded completely; with ``strict``, if any plug-in cannot be loaded.
    InputTypeError
        If ``files`` are no paths, or ``strict`` is no truth value.

    Examples
    --------
    >>> from anchor_align import load_plugins
    >>> load_plugins("my_method.txt")
    Traceback (most recent call last):
    ...
    anchor_align.errors.PluginError: Plug-in file 'my_method.txt' is not a Python file (.py).
    """
    check_flag("strict", strict)
    return load_and_report(check_files(files), strict=strict)


def load_and_report(
    files: Sequence[File], starting: Callable[[Plugin], object] = lambda _: None, *, strict: bool = False
) -> Registry:
    """The same as :func:`load_plugins`; ``starting`` is called before each plug-in is loaded."""
    sources = read_files(files)
    registry = _load(sources, starting=starting)
    paths = {source.plugin.distribution for source in sources}
    fatal = [failure for failure in registry.failures if strict or failure.distribution in paths]
    if len(fatal) == 1:
        raise PluginError(f"Plug-in failure: {fatal[0]}")
    if fatal:
        raise PluginError("\n  ".join([f"{len(fatal)} plug-in failures:", *map(str, fatal)]))
    return registry


def list_adapters() -> Registry:
    """The installed adapters, and the plug-ins that failed, with reasons.

    Returns
    -------
    Registry

    Examples
    --------
    >>> from anchor_align import list_adapters
    >>> [record.name for record in list_adapters() if record.distribution == "anchor-align"]
    ['fmcnof', 'fmvacc', 'lmvsc', 'local', 'msgl', 'precomputed', 'sfmc']
    """
    return load_plugins()


def get_adapter(name: str, /, **params: Any) -> Adapter:
    """New instance of an installed adapter.

    Plug-ins are loaded in order until one has an adapter of this name; later plug-ins cannot take the name.

    Parameters
    ----------
    name : str
    **params
        Settings of the adapter.

    Returns
    -------
    Adapter

    Raises
    ------
    UnknownNameError
        If there is no adapter of this name, or it has no such setting.

    Examples
    --------
    >>> from anchor_align import get_adapter
    >>> get_adapter("lmvsc", alpha=2.0).alpha
    2.0
    >>> get_adapter("lmvsc", alhpa=2.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    anchor_align.errors.UnknownNameError: Unknown lmvsc parameter 'alhpa'; known: 'alpha', ... Did you mean 'alpha'?
    """
    return _load(until=lambda loader: _has(loader.adapters, name)).get(name, **params)


def get_baseline(name: str, /, **params: Any) -> Baseline:
    """New instance of an installed baseline.

    Parameters
    ----------
    name : str
    **params
        Settings of the baseline.

    Returns
    -------
    Baseline

    Raises
    ------
    UnknownNameError
        If there is no baseline of this name, or it has no such setting.

    Examples
    --------
    >>> from anchor_align import get_baseline
    >>> from anchor_align.data import make_simulated
    >>> from anchor_align.metrics import acc
    >>> data = make_simulated(0)
    >>> acc(data.labels, get_baseline("rmkm", n_init=5).fit_predict(data.views, n_clusters=4, random_state=0))
    1.0
    """
    return _load(until=lambda loader: _has(loader.baselines, name)).baseline(name, **params)


def list_baselines() -> tuple[BaselineRecord, ...]:
    """The installed baselines: first those of this package, then those of other plug-ins.

    Examples
    --------
    >>> from anchor_align import list_baselines
    >>> [record.name for record in list_baselines()][:3]
    ['amgl', 'bmvc', 'kmeans']
    """
    return load_plugins().baselines


def get_fusion(name: str | Fusion, /) -> Fusion:
    """A fusion by name, of this package or of an installed plug-in. An instance is returned unchanged.

    Raises
    ------
    UnknownNameError
        If there is no fusion of this name.
    InputTypeError
        If it is neither a name nor an instance.

    Examples
    --------
    >>> from anchor_align import get_fusion
    >>> get_fusion("aligned").aligns
    True
    """
    if isinstance(name, Fusion):
        return name
    if not isinstance(name, str):
        raise InputTypeError(f"A fusion must be a name or an instance of Fusion, got {shown(name)}.")
    ours = {record.name: record.fusion for record in OUR_FUSIONS}
    if name in ours:
        return ours[name]
    return _load(until=lambda loader: name in {record.name for record in loader.fusions.values()}).fusion(name)


def list_fusions() -> tuple[FusionRecord, ...]:
    """All fusions: first those of this package, then those of installed plug-ins.

    Examples
    --------
    >>> from anchor_align import list_fusions
    >>> [record.name for record in list_fusions()][:4]
    ['unaligned', 'aligned', 'rotated', 'concat']
    """
    return load_plugins().fusions


def _has(records: Mapping[str, AdapterRecord | BaselineRecord], name: object) -> bool:
    """Whether a record has this name; other things than names may have no hash, or compare in their own way."""
    return isinstance(name, str) and any(record.name == name for record in records.values())
