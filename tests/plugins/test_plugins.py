"""The registry against real throw-away distributions."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pluggy
import pytest
from distributions import IMPORTS, OURS, adapter, failures_of, hook, install, temporary_site

from anchor_align import Adapter, UnknownNameError, __version__, get_adapter, list_adapters
from anchor_align.plugins import DISABLE_VARIABLE, Plugin, PluginFailure, create_manager

site = pytest.fixture(temporary_site)


SETTINGS = "def __init__(self, width=1.0, name_of_it=None):\n    self.width, self.name_of_it = width, name_of_it\n"


def test_good_plugin_installed_by_pip(site: Path, tmp_path: Path) -> None:
    """One file and an entry point, as a stranger would write them, make an adapter that comes after ours."""
    (tmp_path / "good_method.py").write_text(adapter("good", SETTINGS))
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "good-method"\nversion = "1.2"\n'
        '[project.entry-points.anchor_align]\ngood = "good_method"\n'
    )
    options = ["--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--no-compile", "--target", str(site)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(tmp_path)], check=True)
    registry = list_adapters()
    assert registry.names == (*OURS, "good")
    assert registry.failures == ()
    record = registry.record("good")
    assert (record.origin, record.summary) == ("good-method 1.2 (good)", "Mine, not yours.")
    assert record.parameters == {"name_of_it": None, "width": 1.0}
    made = get_adapter("good", width=2.0)
    assert isinstance(made, Adapter)
    assert made.get_params() == {"name_of_it": None, "width": 2.0}
    assert get_adapter("good").get_params()["width"] == 1.0


@pytest.mark.slow
def test_ours_are_found_through_entry_points_only() -> None:
    """Neither the package nor the loader imports them; the loader finds all of them, first and by name."""
    code = (
        "import sys, anchor_align.plugins as p\nassert 'anchor_align_adapters' not in sys.modules\n"
        f"assert p.list_adapters().names[:{len(OURS)}] == {OURS!r}\nassert 'anchor_align_adapters.lmvsc' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert {record.distribution for record in list_adapters()} == {"anchor-align"}
    assert all(record.entry_point == record.name and record.summary for record in list_adapters())


def test_instances_are_copied(site: Path) -> None:
    """An instance brings settings of its own; what happens to it, or to a copy, reaches nobody else."""
    init = "def __init__(self, values=()): self.values = values\n"
    code = adapter("mine", init).replace("[Mine]", "[MADE]").replace("@hookimpl", "MADE = Mine([1])\n@hookimpl")
    module = install(site, "instance", code)
    registry = list_adapters()
    sys.modules[module].MADE.set_params(values=[2])
    registry.get("mine").get_params()["values"].append(3)
    registry.record("mine").parameters["values"].append(5)
    assert registry.get("mine").get_params() == {"values": [1]}
    assert registry.get("mine", values=[4]).get_params() == {"values": [4]}


def test_function_adapter_is_described_by_its_function(site: Path) -> None:
    """What it is made of is no setting: nobody can rename it or swap its functions."""
    function = 'def f(views, **_):\n    """All by f."""\n'
    install(site, "functions", IMPORTS + function + hook("[FunctionAdapter('by-f', f)]"))
    record = list_adapters().record("by-f")
    assert (record.summary, record.parameters) == ("All by f.", {})
    with pytest.raises(UnknownNameError, match=r"^Adapter 'by-f' has no settings; got 'name'\.$"):
        record.make(name="lmvsc")


def test_order_is_ours_then_distribution_then_entry_point(site: Path) -> None:
    """No name of a distribution sorts before ours, and sys.path has no say."""
    for name in ("zz", "0first", "Anchor-align-a"):
        install(site, name, adapter(f"by-{name.lower()}"))
    install(site, "mm", "", points="[anchor_align]\nb = mm_b\na = mm_a\n")
    for part in "ab":
        (site / f"mm_{part}.py").write_text(adapter(part))
    assert list_adapters().names == (*OURS, "by-0first", "by-anchor-align-a", "a", "b", "by-zz")


def test_first_come_keeps_the_name(site: Path) -> None:
    """Between others too, and with "-" and "_" the same; the record says who has the name."""
    install(site, "aa", adapter("my-own"), version="3.1", entry="first")
    install(site, "bb", adapter("my_own"))
    registry = list_adapters()
    assert registry.record("my-own").distribution == "aa"
    assert registry.failures == (
        PluginFailure("bb", "1.0", "bb", "the name 'my_own' is already taken by aa 3.1 (first)"),
    )


def test_names_do_not_change_hands_by_failures(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes after a plug-in that failed does not inherit its name; who comes after a disabled one does."""
    install(site, "aa", "raise ValueError", entry="same")
    install(site, "bb", adapter("same"))
    assert failures_of("bb") == ["the name 'same' is already taken by aa 1.0 (same), which did not load"]
    monkeypatch.setenv(DISABLE_VARIABLE, "aa")
    assert list_adapters().record("same").distribution == "bb"


def test_our_names_are_never_given_away(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even if ours is disabled."""
    install(site, "bb", adapter("lmvsc"), entry="other")
    monkeypatch.setenv(DISABLE_VARIABLE, "lmvsc")
    registry = list_adapters()
    assert registry.names == tuple(name for name in OURS if name != "lmvsc")
    assert registry.disabled == (Plugin("anchor-align", __version__, "lmvsc"),)
    assert "already taken by anchor-align" in registry.failures[0].reason
    with pytest.raises(UnknownNameError, match=rf"The plug-in of that name is disabled by {DISABLE_VARIABLE}\.$"):
        get_adapter("lmvsc")


def test_distribution_seen_twice(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first on sys.path counts, even if it has no plug-in any more."""
    install(tmp_path / "old", "twice", adapter("old"), version="0.9")
    install(tmp_path / "old", "retired", adapter("retired"))
    install(site, "twice", adapter("new"))
    install(site, "retired", "", version="2.0", points="[console_scripts]\nx = retired:x\n")
    monkeypatch.setattr(sys, "path", [sys.path[0], *sys.path[:1], str(tmp_path / "old"), *sys.path[1:]])
    registry = list_adapters()
    assert registry.names == (*OURS, "new")
    assert registry.failures == ()


def test_plugins_may_ask_for_adapters_while_they_are_loaded(site: Path) -> None:
    """Those that come before are there; asking for all, itself among them, ends."""
    install(site, "aa", adapter("aa", "inner = get_adapter('lmvsc')").replace("hookimpl", "get_adapter, hookimpl", 1))
    for name in ("bb", "cc"):
        code = adapter(name).replace("[Mine]", "SEEN.append(anchor_align.list_adapters()) or [Mine]")
        install(site, name, f"import anchor_align\nSEEN = []\n{code}")
    registry = list_adapters()
    assert registry.names == (*OURS, "aa", "bb", "cc")
    assert registry.failures == ()
    inner = sys.modules["bb"].SEEN[0]
    assert inner.names == (*OURS, "aa", "cc")
    assert [failure.distribution for failure in inner.failures] == ["bb"]


@pytest.mark.parametrize("entry", ["good-method", "Good_Method", "good", " x ,good,"])
def test_disabled_plugins_are_not_imported(entry: str, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By distribution or entry point, however spelt; they are listed as disabled."""
    install(site, "good-method", adapter("good"), entry="good")
    monkeypatch.setenv(DISABLE_VARIABLE, entry)
    registry = list_adapters()
    assert registry.names == OURS
    assert registry.disabled == (Plugin("good-method", "1.0", "good"),)
    assert registry.unmatched == (("x",) if "x" in entry else ())
    assert "good_method" not in sys.modules


def test_unknown_names(site: Path) -> None:
    """The message has the known names, the nearest, and the reason if the plug-in of that name failed."""
    with pytest.raises(UnknownNameError) as caught:
        get_adapter("LMVCS")
    assert str(caught.value) == (f"Unknown adapter 'LMVCS'; known: {', '.join(map(repr, OURS))}. Did you mean 'lmvsc'?")
    install(site, "aa", "raise ValueError('no')", entry="my_own")
    with pytest.raises(UnknownNameError, match=r"The plug-in of that name failed to load: aa 1\.0 \(my_own\): .*no"):
        get_adapter("my-own")
    with pytest.raises(UnknownNameError, match=r" 1 plug-in failed to load; `anchor-align adapters` shows why\.$"):
        get_adapter("other")


def test_unknown_settings(site: Path) -> None:
    """The message has the adapter's settings and the nearest; our own keywords shadow none of them."""
    install(site, "good-method", adapter("good", SETTINGS))
    with pytest.raises(UnknownNameError) as caught:
        get_adapter("good", widht=1)
    assert str(caught.value) == "Unknown good parameter 'widht'; known: 'name_of_it', 'width'. Did you mean 'width'?"
    with pytest.raises(UnknownNameError, match="Unknown good parameter 'name'"):
        get_adapter("good", name="lmvsc")
    with pytest.raises(UnknownNameError, match="Unknown good parameter 'strict'"):
        get_adapter("good", strict=True)


def test_ours_need_no_other_plugin(site: Path) -> None:
    """What comes after the adapter that is asked for is not even imported."""
    module = install(site, "other", adapter("other"))
    assert get_adapter("sfmc").name == "sfmc"
    assert module not in sys.modules
    assert get_adapter("other").name == "other"


def test_managers_are_fresh() -> None:
    """Every call of the factory makes a new one, with the hook and without plug-ins."""
    first, second = create_manager(), create_manager()
    assert first is not second
    assert isinstance(first, pluggy.PluginManager)
    assert first.get_plugins() == set()
    assert first.hook.anchor_align_adapters() == []


def test_threads_may_ask_at_once() -> None:
    """What is contained while plug-ins are loaded is put back in the right order."""
    before = sys.stdout
    with ThreadPoolExecutor(4) as pool:
        names = [made.name for made in pool.map(get_adapter, OURS * 5)]
    assert names == list(OURS * 5)
    assert sys.stdout is before


def test_reading_our_annotations_is_no_offence(site: Path) -> None:
    """Python makes them when they are first read."""
    install(site, "curious", f"{IMPORTS}FunctionAdapter.__annotations__\n{adapter('curious')}")
    assert "curious" in list_adapters()
