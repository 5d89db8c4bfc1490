"""Throw-away distributions: the code of plug-ins, and a directory on sys.path to install them in."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from anchor_align import list_adapters
from anchor_align.plugins import DISABLE_VARIABLE

OURS = ("fmcnof", "fmvacc", "lmvsc", "msgl", "precomputed", "sfmc")
OUR_BASELINES = ("amgl", "bmvc", "kmeans", "msc-ias", "pmsc", "rmkm", "spectral")

IMPORTS = "from anchor_align import Adapter, AnchorGraphs, FunctionAdapter, hookimpl\n"
GRAPHS = "    def anchor_graphs(self, views, *, n_clusters, n_anchors, random_state): return AnchorGraphs([])\n"
MINE = f'class Mine(Adapter):\n    """Mine, not yours."""\n    name = "mine"\n{GRAPHS}'


def hook(offers: str) -> str:
    return f"@hookimpl\ndef anchor_align_adapters():\n    return {offers}\n"


def adapter(name: str, body: str = "") -> str:
    """Code of a plug-in with one adapter."""
    return f"{IMPORTS}{MINE}{textwrap.indent(body, '    ')}\nMine.name = {name!r}\n{hook('[Mine]')}"


def temporary_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Directory on sys.path, made a fixture by the tests; what they import from it, others do not see."""
    monkeypatch.delenv(DISABLE_VARIABLE, raising=False)
    directory = tmp_path / "site"
    directory.mkdir()
    monkeypatch.syspath_prepend(directory)
    yield directory
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(directory)):
            del sys.modules[name]


def install(
    site: Path,
    distribution: str,
    code: str,
    *,
    version: str = "1.0",
    entry: str | None = None,
    points: str | None = None,
) -> str:
    """Write a distribution of one module, as pip would; return the module's name."""
    module = distribution.lower().replace("-", "_").replace(".", "_")
    site.mkdir(exist_ok=True)
    (site / f"{module}.py").write_text(code)
    info = site / f"{module}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(points or f"[anchor_align]\n{entry or distribution} = {module}\n")
    return module


def failures_of(distribution: str) -> list[str]:
    return [failure.reason for failure in list_adapters().failures if failure.distribution == distribution]
