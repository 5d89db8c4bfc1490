"""The command line: output, errors and exit codes apart."""

from __future__ import annotations

import subprocess
import sys

import pytest

from anchor_align import InputError, __version__, cli
from anchor_align.cli import main


def test_demo_prints_aligned_against_unaligned(capsys: pytest.CaptureFixture[str]) -> None:
    """The result goes to stdout and nothing to stderr; aligned fusion finds all clusters."""
    assert main(["demo", "--repeats", "5"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = {line.split()[0]: line.split() for line in out.splitlines()}
    assert lines["aligned"][1:] == ["100.0", "%", "100.0", "%"]
    assert float(lines["unaligned"][1]) < 100
    assert "5 repeat(s)" in out


def test_demo_depends_on_its_seed_only(capsys: pytest.CaptureFixture[str]) -> None:
    """The same call prints the same, another seed something else."""
    outputs = []
    for seed in ("3", "3", "40"):
        main(["demo", "--repeats", "3", "--seed", seed])
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert outputs[0] != outputs[2]


@pytest.mark.parametrize(
    "argv", [[], ["demmo"], ["demo", "--repeats", "0"], ["demo", "--seed", "x"], ["demo", "--seed", "-1"]]
)
def test_usage_errors_exit_with_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Usage goes to stderr."""
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "anchor-align" in err


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

    monkeypatch.setattr(cli, "_demo", fail)
    assert main(["demo"]) == code
    assert capsys.readouterr() == ("", line)


def test_tracebacks_only_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """-vv lets the error through."""

    def fail(arguments: object) -> None:
        raise InputError("No.")

    monkeypatch.setattr(cli, "_demo", fail)
    with pytest.raises(InputError):
        main(["-vv", "demo"])


@pytest.mark.parametrize("argv", [["--help"], ["demo", "--help"]])
def test_help_is_light_and_has_an_example(argv: list[str]) -> None:
    """Neither scipy nor scikit-learn is imported to print help."""
    code = (
        "import sys\nfrom anchor_align.cli import main\n"
        f"try:\n    main({argv!r})\nexcept SystemExit as stop:\n    assert stop.code == 0\n"
        "heavy = {'scipy', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules)\nassert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "example: anchor-align demo" in done.stdout


def test_import_is_light() -> None:
    """Importing the package imports none of the numerical libraries; all public names are there all the same."""
    code = (
        "import sys, anchor_align\nassert not {'numpy', 'scipy', 'sklearn'} & set(sys.modules)\n"
        "assert set(anchor_align.__all__) <= set(dir(anchor_align))\n"
        "for name in anchor_align.__all__: getattr(anchor_align, name)\n"
        "assert not hasattr(anchor_align, 'aling')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
