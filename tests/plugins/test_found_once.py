"""Plug-ins are found and checked once, until something changes."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path
from unittest import mock

import pytest
from distributions import OURS, adapter, failures_of, install, temporary_site

from anchor_align import get_adapter, list_adapters
from anchor_align.plugins import _found_once

site = pytest.fixture(temporary_site)

COUNTED = "CALLS = []\n" + adapter("counted").replace("return [Mine]", "CALLS.append(1)\n    return [Mine]")


def test_hooks_are_called_once(site: Path) -> None:
    """Not in every fit; each caller still gets an instance of its own."""
    module = install(site, "counted", COUNTED)
    first, second = get_adapter("counted"), get_adapter("counted")
    assert list_adapters().names == (*OURS, "counted")
    assert sys.modules[module].CALLS == [1]
    assert first is not second


def test_distributions_are_read_once(site: Path) -> None:
    """Later calls look only whether anything has changed."""
    list_adapters()
    with mock.patch.object(_found_once, "installed_sources", side_effect=AssertionError):
        assert list_adapters().names == OURS
        install(site, "aa", adapter("aa"))
        with pytest.raises(AssertionError):
            list_adapters()


def test_changes_are_seen(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution that is installed, upgraded, edited or removed, and a change of sys.path."""
    assert list_adapters().names == OURS
    install(site, "aa", adapter("aa"))
    assert list_adapters().names == (*OURS, "aa")
    shutil.rmtree(site / "aa-1.0.dist-info")
    install(site, "aa", adapter("aa"), version="2.0")
    assert list_adapters().record("aa").version == "2.0"
    (site / "bb.py").write_text(adapter("by-bb"))
    (site / "aa-2.0.dist-info" / "entry_points.txt").write_text("[anchor_align]\nother = bb\n")
    importlib.invalidate_caches()
    assert list_adapters().names == (*OURS, "by-bb")
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder != str(site)])
    assert list_adapters().names == OURS


def test_reloaded_modules_are_asked_again(site: Path) -> None:
    """After a reload, or a new import, the adapter is the new class."""
    module = install(site, "mine", adapter("mine"))
    before = type(get_adapter("mine"))
    importlib.reload(sys.modules[module])
    reloaded = type(get_adapter("mine"))
    del sys.modules[module]
    imported = type(get_adapter("mine"))
    assert len({before, reloaded, imported}) == 3
    assert imported is sys.modules[module].Mine


def test_failures_are_tried_again(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plug-in that failed is loaded as soon as its reason is gone."""
    code = "import os\nif not os.environ.get('READY'):\n    raise ValueError('not ready')\n" + adapter("late")
    install(site, "late", code)
    assert "not ready" in failures_of("late")[0]
    monkeypatch.setenv("READY", "1")
    assert get_adapter("late").name == "late"
    assert failures_of("late") == []
