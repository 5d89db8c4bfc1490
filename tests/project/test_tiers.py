"""The quick tier of tests: one command for people who work on the code, with tests of every folder."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def is_slow(marks: list[ast.expr]) -> bool:
    """Whether one of these decorators, or of the marks in a list, is ``pytest.mark.slow``."""
    return any(ast.unparse(node) == "pytest.mark.slow" for mark in marks for node in ast.walk(mark))


def slow_by_name(path: Path) -> dict[str, bool]:
    """Whether each test function of a file is slow, by name: marked alone, or with its whole file."""
    body = ast.parse(path.read_text()).body
    marks = [
        node.value for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    ]
    return {
        node.name: is_slow([*marks, *node.decorator_list])
        for node in body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_quick_tests_are_in_every_folder() -> None:
    """At least a third of the functions of every folder are quick; others are slow."""
    few, n_slow = {}, 0
    for folder in sorted({path.parent for path in (ROOT / "tests").glob("*/test_*.py")}):
        slow = [each for path in folder.glob("test_*.py") for each in slow_by_name(path).values()]
        n_slow += sum(slow)
        if 3 * slow.count(False) < len(slow):
            few[folder.name] = f"{slow.count(False)} of {len(slow)}"
    assert few == {}
    assert n_slow > 100


@pytest.mark.slow
def test_the_mark_selects_what_is_not_slow() -> None:
    """Functions, and examples in docstrings of both packages; none of a file whose tests are all slow."""
    files = ["tests/project/test_tiers.py", "tests/project/test_examples.py", "anchor_align/metrics", "adapters"]
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", "-m", "quick", *files]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    quick = [line.split("::") for line in done.stdout.splitlines() if "::" in line]
    expected = [name for name, slow in slow_by_name(Path(__file__)).items() if not slow]
    assert [name for path, name in quick if path == "tests/project/test_tiers.py"] == expected
    assert {path.partition("/")[0] for path, _ in quick} == {"tests", "anchor_align", "adapters"}
    assert "tests/project/test_examples.py" not in {path for path, _ in quick}


def test_the_command_is_documented() -> None:
    """Where contributors look for it; the README's command runs everything."""
    assert ".venv/bin/pytest -n auto --dist loadfile -m quick" in (ROOT / "CONTRIBUTING.md").read_text()
    assert "-m quick" not in (ROOT / "README.md").read_text()
