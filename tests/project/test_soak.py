"""The soak runs, counts what fails, and says which seed repeats it."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SOAK = Path(__file__).resolve().parents[1] / "soak" / "soak.py"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SOAK), *words], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_few_cases_are_counted() -> None:
    """The closing line has the number of cases, and none fails."""
    done = run("--minutes", "0.05", "--seed", "1", "--only", "metrics", "--cases", "5")
    assert re.search(r"\n\d+ cases, 0 failures\n$", done.stdout), done.stdout
    assert done.returncode == 0
    assert {line.split()[0] for line in done.stdout.splitlines() if line} >= {"area", "metrics"}


def test_every_area_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The areas of the command are those of the workers."""
    soak = module(monkeypatch)
    text = (SOAK.parent / "soak_worker.py").read_text()
    known = re.findall(r'^    "([\w-]+)": \w+_areas\.', text, flags=re.MULTILINE)
    assert sorted(known) == sorted([*soak.QUICK, *soak.SLOW])


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("print(json.dumps({'failure': 'wrong', 'where': 'here'}), flush=True)", "wrong [here]"),
        ("os.kill(os.getpid(), 11)", "the process died: SIGSEGV"),
        ("os._exit(0)", "the process died: exit code 0"),
        ("time.sleep(100)", "did not end in 1 seconds [hang]"),
    ],
)
def test_failures_have_their_seed(
    code: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A broken promise, a process that dies and a case that does not end: one line each, and exit code 1."""
    soak = module(monkeypatch)
    (tmp_path / "soak_worker.py").write_text(f"import json, os, sys, time\nfor line in sys.stdin:\n    {code}\n")
    monkeypatch.setattr(soak, "HERE", tmp_path)
    monkeypatch.setattr(soak, "START", 0.0)
    monkeypatch.setitem(soak.LIMITS, "fit", 1.0 if "sleep" in code else 30.0)
    monkeypatch.setattr(sys, "argv", ["soak.py", "--area", "fit", "--case-seed", "7"])
    assert soak.main() == 1
    out = capsys.readouterr().out
    assert f"FAILED --area fit --case-seed 7: {message}" in out
    assert out.endswith("1 cases, 1 failures\n")


def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script as a module."""
    monkeypatch.syspath_prepend(str(SOAK.parent))
    return importlib.import_module("soak")
