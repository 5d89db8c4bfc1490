"""The command line: output, errors and exit codes apart."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from distributions import OUR_BASELINES, OURS, install

from anchor_align import InputError, __version__
from anchor_align.cli import main
from anchor_align.study import ALL_ARMS


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["demmo"],
        ["compare"],
        ["compare", "lmvsc", "--repeats", "0"],
        ["compare", "lmvsc", "--seed", "x"],
        ["compare", "lmvsc", "--seed", "-1"],
        ["compare", "lmvsc", "-j", "0"],
        ["compare", "lmvsc", "--lam", "-1"],
        ["compare", "lmvsc", "--lam", "nan"],
        ["compare", "lmvsc", "--set", "beta"],
        ["compare", "lmvsc", "--set", "=1"],
        ["compare", "lmvsc", "--format", "xml"],
        ["compare", "lmvsc", "--clusters", "0"],
        ["adapters", "--format", "xml"],
        ["adapters", "--plugin"],
    ],
)
def test_usage_errors_exit_with_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One line on stderr that names the help."""
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("anchor-align: ")
    assert "; see anchor-align " in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "lmvsc", "--cache"],
        ["compare", "lmvsc", "--output"],
        ["compare", "lmvsc", "--html"],
        ["compare", "lmvsc", "--plugin"],
        ["compare", "lmvsc", "--data"],
        ["cluster", "simulated", "--clusters", "4", "-o"],
        ["cluster", "simulated", "--clusters", "4", "--save"],
        ["cluster", "simulated", "--clusters", "4", "--html"],
        ["n-clusters", "simulated", "--output"],
        ["align", "graphs.mat", "-o"],
        ["datasets"],
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
def test_an_empty_argument_is_refused_by_name(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would mean the current folder, to which nothing is written."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main([*words, ""])
    assert caught.value.code == 2
    assert f"argument {words[-1] if words[-1][0] == '-' else 'DATA'}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["-k", "--k", "--number"])
def test_an_unknown_option_is_named_before_a_missing_one(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Users see what they mistyped."""
    with pytest.raises(SystemExit):
        main(["cluster", "simulated", option, "3"])
    assert capsys.readouterr().err.startswith(f"anchor-align: unrecognized arguments: {option} 3;")
    with pytest.raises(SystemExit):
        main(["info", option])
    assert capsys.readouterr().err.startswith(f"anchor-align: unrecognized arguments: {option};")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """The version of the package."""
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"anchor-align {__version__}\n"


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [(InputError("No."), 2, "anchor-align: No.\n"), (KeyboardInterrupt(), 130, "anchor-align: interrupted\n")],
)
def test_errors_are_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, line: str
) -> None:
    """A refused input and Ctrl-C: one line on stderr and the right exit code."""

    def fail(arguments: object) -> None:
        raise error

    monkeypatch.setattr("anchor_align.cli._adapters.run", fail)
    assert main(["adapters"]) == code
    assert capsys.readouterr() == ("", line)


def test_tracebacks_only_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """-vv lets the error through."""

    def fail(arguments: object) -> None:
        raise InputError("No.")

    monkeypatch.setattr("anchor_align.cli._adapters.run", fail)
    with pytest.raises(InputError):
        main(["-vv", "adapters"])


@pytest.mark.parametrize(
    ("argv", "example"),
    [
        (["--help"], "compare lmvsc"),
        (["compare", "--help"], "compare lmvsc fmvacc"),
        (["sweep", "--help"], "sweep lmvsc"),
        (["align", "--help"], "align graphs.mat"),
        (["adapters", "--help"], "adapters --plugin"),
        (["datasets", "--help"], "datasets mydata.mat"),
    ],
)
def test_help_is_light_and_has_an_example(argv: list[str], example: str) -> None:
    """Neither numerical libraries nor rich are imported to print help."""
    code = (
        "import sys\nfrom anchor_align.cli import main\n"
        f"try:\n    main({argv!r})\nexcept SystemExit as stop:\n    assert stop.code == 0\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib', 'pluggy', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(rf"examples?: .*anchor-align {re.escape(example)}", done.stdout)


# It says when main has begun: at its first import. Programs in the background ignore SIGINT, and so do their children.
START = """
import signal, sys, threading
from anchor_align.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
told = []
def tell(event, _):
    if event == "import" and not told:
        told.append(event)
        print("main", flush=True)
sys.addaudithook(tell)
sys.exit(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6])
def test_ctrl_c_at_any_moment_is_one_line(delay: float, tmp_path: Path) -> None:
    """With exit code 130, also while modules are imported; nothing is imported before ``main`` runs."""
    words = [sys.executable, "-c", START, "compare", "lmvsc", "fmvacc", "--repeats", "50", "--no-cache", "-q"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "main\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "anchor-align: interrupted\n")


@pytest.mark.slow
def test_import_is_light() -> None:
    """Importing the package and the command line imports nothing else; all public names are there all the same."""
    code = (
        "import sys\nbefore = set(sys.modules)\nimport anchor_align.cli\n"
        "assert set(sys.modules) - before <= {'__future__', 'anchor_align', 'anchor_align.cli'}\n"
        "assert set(anchor_align.__all__) <= set(dir(anchor_align))\n"
        "for name in anchor_align.__all__: getattr(anchor_align, name)\n"
        "assert not hasattr(anchor_align, 'aling')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


PLUGIN = """
import sys
from anchor_align import Adapter, AnchorGraphs, hookimpl

print("noise")

class Odd:
    def __repr__(self):
        return "odd\\x1b[31m"

class Mine(Adapter):
    "Not [bold]markup[/bold] or [/nonsense] but \\x1b[31mtext, \u4e2d."
    name = "mine"
    def __init__(self, a=1, b=float("inf"), c=Odd(), d="[red]"):
        self.a, self.b, self.c, self.d = a, b, c, d
    def anchor_graphs(self, views, *, n_clusters, n_anchors, random_state):
        return AnchorGraphs([])

@hookimpl
def anchor_align_adapters():
    return [Mine]
"""


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    """A single file with one adapter that says odd things."""
    (tmp_path / "mine.py").write_text(PLUGIN, encoding="utf-8")
    return str(tmp_path / "mine.py")


@pytest.fixture
def bad_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution whose plug-in cannot be imported."""
    install(tmp_path, "bad", "raise ValueError('[/red] no')", entry="wrong")
    monkeypatch.syspath_prepend(tmp_path)


def test_adapters_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Our adapters and baselines with origin and settings, then our fusions, in 80 columns; nothing on stderr."""
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["adapters"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["adapter", "from", "what", "it", "does;", "settings"]
    names = [line.split()[0] for line in lines if line and line[0] != " "]
    assert names == ["adapter", *OURS, "baseline", *OUR_BASELINES, "fusion", *ALL_ARMS]
    first, second = (place for place, line in enumerate(lines) if not line)
    assert lines[first + 1].split() == ["baseline", "from", "what", "it", "does;", "settings"]
    assert lines[second + 1].split() == ["fusion", "from", "what", "it", "does"]
    assert out.count(f"anchor-align {__version__}") == len(OURS) + len(OUR_BASELINES) + len(ALL_ARMS)
    assert "beta=1.0" in out
    assert "the mean of the anchor graphs as they come" in out


@pytest.mark.usefixtures("bad_plugin")
def test_adapters_show_failures_and_what_is_disabled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both with their reasons, and neither changes the exit code; -vv adds tracebacks on stderr."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("ANCHOR_ALIGN_DISABLE_PLUGINS", "sfmc,nonesuch")
    assert main(["-vv", "adapters"]) == 0
    out, err = capsys.readouterr()
    lines = [" ".join(line.split()) for line in out.splitlines()]
    failed = lines.index("failed to load why")
    reason = "cannot be imported: ValueError: [/red] no (bad.py, line 1)"
    assert lines[failed + 1] == f"bad 1.0 (wrong) {reason}"
    disabled = lines.index("disabled by ANCHOR_ALIGN_DISABLE_PLUGINS")
    assert lines[disabled + 1 :] == [f"anchor-align {__version__} (sfmc)", "nonesuch: no such plug-in"]
    assert "Traceback" in err


@pytest.mark.usefixtures("bad_plugin")
def test_strict_adapters_exit_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    """The failures go to stderr, one line each, and there is no result."""
    assert main(["adapters", "--strict"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("anchor-align: Plug-in failure: bad 1.0 (wrong): cannot be imported: ValueError")
    assert len(err.splitlines()) == 1


def test_adapters_of_a_file_cannot_spoil_the_table(
    plugin: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it prints goes to stderr; its markup is text and its control characters are gone."""
    monkeypatch.setenv("COLUMNS", "250")
    assert main(["adapters", "--plugin", plugin]) == 0
    out, err = capsys.readouterr()
    assert err == "noise\n"
    assert "\x1b" not in out
    assert "Not [bold]markup[/bold] or [/nonsense] but [31mtext, \u4e2d." in out
    assert "a=1, b=inf, c=odd [31m, d='[red]'" in out


def test_adapters_as_json(plugin: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All that the table shows; settings that JSON cannot hold are text."""
    assert main(["adapters", "--plugin", plugin, "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert [each["name"] for each in shown["adapters"]] == [*OURS, "mine"]
    assert [each["name"] for each in shown["baselines"]] == list(OUR_BASELINES)
    assert shown["baselines"][2]["parameters"] == {"n_init": 10, "scale": "spread"}
    mine = shown["adapters"][-1]
    assert (mine["distribution"], mine["entry_point"]) == (plugin, "")
    assert mine["parameters"] == {"a": 1, "b": "inf", "c": "odd [31m", "d": "[red]"}
    assert [each["name"] for each in shown["fusions"]] == list(ALL_ARMS)
    assert shown["fusions"][0]["summary"] == "the mean of the anchor graphs as they come"
    assert (shown["failures"], shown["disabled"], shown["unmatched"]) == ([], [], [])


@pytest.mark.slow
def test_adapters_on_a_terminal_that_knows_ascii_only(plugin: str) -> None:
    """Characters that cannot be shown become question marks."""
    code = f"import sys; from anchor_align.cli import main; sys.exit(main(['adapters', '--plugin', {plugin!r}]))"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "250"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "noise\n")
    assert "but [31mtext, ?." in done.stdout


@pytest.mark.parametrize("name", ["none.py", "folder", "text.txt"])
def test_adapters_of_a_file_that_is_none(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line on stderr that names it."""
    assert main(["adapters", "--plugin", name]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"anchor-align: Plug-in file '{name}' ")
