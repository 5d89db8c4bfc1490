"""The quick tier of tests: one command for people who work on the code, with tests of every folder."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow  # all tests are collected


def test_quick_tests_are_in_every_folder() -> None:
    """At least a third of the functions of every folder, and the examples in docstrings, are quick; others are slow."""
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", "-m", "quick"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    quick = {line.partition("[")[0] for line in done.stdout.splitlines() if "::" in line}
    few = {}
    for folder in sorted({path.parent for path in (ROOT / "tests").glob("*/test_*.py")}):
        functions = [
            f"tests/{folder.name}/{path.name}::{name}"
            for path in folder.glob("test_*.py")
            for name in re.findall(r"^def (test_\w+)", path.read_text(), flags=re.MULTILINE)
        ]
        found = len(quick.intersection(functions))
        if 3 * found < len(functions):
            few[folder.name] = f"{found} of {len(functions)}"
    assert few == {}
    for package in ("anchor_align", "adapters"):
        assert any(name.startswith(f"{package}/") for name in quick), package
    (deselected,) = re.findall(r"\((\d+) deselected\)", done.stdout)
    assert int(deselected) > 100


def test_the_command_is_documented() -> None:
    """Where contributors look for it; the README's command runs everything."""
    assert ".venv/bin/pytest -n auto --dist loadfile -m quick" in (ROOT / "CONTRIBUTING.md").read_text()
    assert "-m quick" not in (ROOT / "README.md").read_text()
