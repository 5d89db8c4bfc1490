"""Plug-ins that cannot be used, one for each way to be bad: who and why is recorded, and the rest works."""

from __future__ import annotations

import importlib.metadata
import json
import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from distributions import GRAPHS, IMPORTS, MINE, OURS, adapter, failures_of, hook, install, temporary_site

from anchor_align import PluginError, UnknownNameError, get_adapter, list_adapters, load_plugins
from anchor_align.plugins import one_line

site = pytest.fixture(temporary_site)

MAIN = "import sys; from anchor_align.cli import main; sys.exit(main())"

# Kind of failure: the plug-in's code, and what the reason says.
FAILURES = {
    "import-error": ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
    "raises": ("def f():\n    raise ValueError('two\\nlines')\nf()", "ValueError: two lines (bad_raises.py, line 2)"),
    "exits": ("import sys\nprint('noise')\nsys.exit(3)", "cannot be imported: SystemExit: 3"),
    "syntax-error": ("def", "SyntaxError: invalid syntax (bad_syntax_error.py, line 1)"),
    "no-hook": ("", "defines no hook 'anchor_align_adapters' or 'anchor_align_baselines' or 'anchor_align_fusions'"),
    "misspelt-hook": (
        f"{IMPORTS}{hook('[]')}".replace("adapters()", "adaptors()"),
        "expected a hook anchor_align_adapters or anchor_align_baselines or anchor_align_fusions without arguments: "
        "unknown hook 'anchor_align_adaptors'",
    ),
    "unmarked-hook": (f"{IMPORTS}{MINE}{hook('[Mine]')}".replace("@hookimpl\n", ""), "is not marked with @hookimpl"),
    "wrong-arguments": (f"{IMPORTS}{hook('[]')}".replace("adapters()", "adapters(config)"), "Argument(s) {'config'}"),
    "hook-raises": (f"{IMPORTS}{hook('1 / 0')}", "its hook failed: ZeroDivisionError"),
    "hook-exits": (f"{IMPORTS}import sys\n{hook('sys.exit()')}", "its hook failed: SystemExit"),
    "returns-none": (f"{IMPORTS}{hook('None')}", "its hook returned no adapters"),
    "returns-class": (f"{IMPORTS}{MINE}{hook('Mine')}", ".Mine'>; expected a list of adapters"),
    "returns-nothing": (f"{IMPORTS}{hook('[]')}", "its hook returned no adapters"),
    "generator-raises": (f"{IMPORTS}{MINE}{hook('(1 / (x - 1) for x in range(2))')}", "its hook failed: ZeroDivision"),
    "not-an-adapter": (f"{IMPORTS}class Other: name = 'x'\n{hook('[Other]')}", ".Other'>, which is not an Adapter"),
    "not-a-class": (f"{IMPORTS}{hook('[3]')}", "offers 3, which is not an Adapter"),
    "no-name": (adapter(""), "Mine has the name ''; expected lower-case"),
    "name-not-text": (adapter("x", "name = 3").replace("Mine.name = 'x'", ""), "Mine has the name 3"),
    "name-upper-case": (adapter("LMVSC"), "Mine has the name 'LMVSC'"),
    "needs-arguments": (adapter("x", "def __init__(self, a): self.a = a"), "missing 1 required positional argument"),
    "varargs": (adapter("x", "def __init__(self, *args): pass"), "specify their parameters in the signature"),
    "stores-nothing": (adapter("x", "def __init__(self, a=1): pass"), "Mine cannot be used: AttributeError"),
    "stores-otherwise": (adapter("x", "def __init__(self, a=1): self.a = [a]"), "RuntimeError: Cannot clone object"),
    "constructor-raises": (adapter("x", "def __init__(self): 1 / 0"), "Mine cannot be used: ZeroDivisionError"),
    "no-anchor-graphs": (adapter("x").replace(GRAPHS, ""), "Mine does not define anchor_graphs"),
    "method-arguments": (
        adapter("x", "def cluster(self, graph, k): pass"),
        "cluster of Mine cannot be called as cluster(graph, n_clusters=, random_state=): ",
    ),
    "not-a-method": (adapter("x", "cluster = None"), "random_state=): None is not a callable object"),
    "taken": (adapter("lmvsc"), "the name 'lmvsc' is already taken by anchor-align 0.1.0 (lmvsc)"),
    "no-function": (
        IMPORTS + hook("[FunctionAdapter('nothing')]"),
        "FunctionAdapter 'nothing' has no anchor_graphs_function",
    ),
    "base-exception": (
        "class Stop(BaseException): pass\nraise Stop('now')",
        "cannot be imported: Stop: now",
    ),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_failure_is_recorded_and_the_rest_works(kind: str, site: Path) -> None:
    """Who and why is kept, the same at every attempt; ours and a plug-in that comes later work."""
    code, reason = FAILURES[kind]
    install(site, f"bad-{kind}", code)
    install(site, "zz-later", adapter("later"))
    for _ in range(2):
        registry = list_adapters()
        assert registry.names == (*OURS, "later")
        (failure,) = registry.failures
        assert (failure.distribution, failure.version, failure.entry_point) == (f"bad-{kind}", "1.0", f"bad-{kind}")
        assert reason in failure.reason
        assert "\n" not in str(failure)
        assert registry.get("later").name == "later"


@pytest.mark.slow
def test_command_line_against_all_failures(tmp_path: Path) -> None:
    """All bad plug-ins at once, in a process of its own: the command shows every one, and a good one works."""
    for kind, (code, _) in FAILURES.items():
        install(tmp_path / "site", f"bad-{kind}", code)
    install(tmp_path / "site", "good-method", adapter("good"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-c", MAIN, "adapters", "--format", "json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "noise\n")
    shown = json.loads(done.stdout)
    assert [each["name"] for each in shown["adapters"]] == [*OURS, "good"]
    reasons = {each["distribution"]: each["reason"] for each in shown["failures"]}
    assert list(reasons) == [f"bad-{kind}" for kind in sorted(FAILURES)]
    assert [kind for kind, (_, reason) in FAILURES.items() if reason not in reasons[f"bad-{kind}"]] == []


def test_good_adapters_of_a_bad_plugin_load(site: Path) -> None:
    """One refused adapter does not take the others of its plug-in with it."""
    code = f"{IMPORTS}{MINE}class Again(Mine): pass\n{hook('iter([3, Mine, Again, FunctionAdapter])')}"
    install(site, "mixed", code)
    assert list_adapters().names == (*OURS, "mine")
    assert [reason.split(";")[0] for reason in failures_of("mixed")] == [
        "offers 3, which is not an Adapter",
        "FunctionAdapter has the name ''",
        "the name 'mine' is already taken by mixed 1.0 (mixed)",
    ]


def test_entry_point_to_a_class(site: Path) -> None:
    """The reason says what it leads to."""
    install(site, "direct", IMPORTS + MINE, points="[anchor_align]\nmine = direct:Mine\n")
    hooks = "'anchor_align_adapters' or 'anchor_align_baselines' or 'anchor_align_fusions'"
    assert failures_of("direct") == [f"<class 'direct.Mine'> defines no hook {hooks}"]


def test_broken_metadata(site: Path) -> None:
    """A distribution that cannot be read is a record, and hides no other."""
    install(site, "binary", adapter("binary"))
    (site / "binary-1.0.dist-info" / "entry_points.txt").write_bytes(b"[anchor_align]\n\xff\n")
    install(site, "lines", adapter("lines"), points="[anchor_align]\nno-value\n")
    install(site, "fine", adapter("fine"))
    registry = list_adapters()
    assert registry.names == (*OURS, "fine")
    assert {each.distribution for each in registry.failures} == {"binary-1.0.dist-info", "lines-1.0.dist-info"}
    assert all(each.reason.startswith("its metadata cannot be read: ") for each in registry.failures)


def test_without_an_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout that is not installed the error says what to do."""
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: [])
    with pytest.raises(UnknownNameError, match="1 plug-in failed to load; `anchor-align adapters` shows why"):
        get_adapter("lmvsc")
    assert "pip install" in list_adapters().failures[0].reason


def test_the_process_is_left_as_it_was(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Printing, chdir, seeding, silenced warnings and numpy errors of a plug-in do not outlive its loading."""
    monkeypatch.chdir(tmp_path)
    mess = (
        "import os, random, sys, warnings\nimport numpy as np\nprint('noise')\nos.chdir('/')\nrandom.seed(0)\n"
        "np.random.seed(0)\nwarnings.simplefilter('ignore')\nnp.seterr(all='ignore')\nsys.stdout = None\n"
    )
    install(site, "messy", mess + adapter("messy"))

    def state() -> tuple[object, ...]:
        numpy_state = np.random.get_state(legacy=False)["state"]["key"].tolist()  # noqa: NPY002
        return Path.cwd(), list(warnings.filters), np.geterr(), sys.stdout, random.getstate(), numpy_state

    before = state()
    assert "messy" in list_adapters()
    assert state() == before
    assert capsys.readouterr() == ("", "noise\n")


def test_interrupt_goes_through(site: Path) -> None:
    """Ctrl-C during an import is no failure of the plug-in."""
    install(site, "slow", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        list_adapters()


def test_strict_raises_with_all_failures(site: Path) -> None:
    """The error names every plug-in and reason; without failures there is none."""
    assert load_plugins(strict=True).names == OURS
    install(site, "aa", "raise ValueError('a')")
    with pytest.raises(PluginError, match=r"^Plug-in failure: aa 1\.0 \(aa\): cannot be imported: ValueError: a"):
        load_plugins(strict=True)
    install(site, "bb", "raise ValueError('b')")
    with pytest.raises(PluginError, match=r"^2 plug-in failures:\n  aa 1\.0 \(aa\): .*\n  bb 1\.0 \(bb\): "):
        load_plugins(strict=True)


def test_failure_keeps_the_traceback(site: Path) -> None:
    """For those who write the plug-in."""
    install(site, "aa", "def inner():\n    raise ValueError('a')\ninner()")
    assert "in inner" in list_adapters().failures[0].traceback


def test_one_line_shows_anything() -> None:
    """Long text is cut, control characters go, and objects that cannot be shown are named."""

    class Odd:
        def __repr__(self) -> str:
            raise ValueError

    assert one_line("a\r\n\tb\x1b\x00c\ud800") == "a b c"
    assert len(one_line("x" * 10_000)) == 300
    assert one_line(Odd()) == "(test_one_line_shows_anything.<locals>.Odd that cannot be shown)"
