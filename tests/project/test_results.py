"""Pages and stored results: every page is what its template makes of the results."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def differences(root: Path) -> list[str]:
    """What ``render.py --check`` prints about a tree."""
    words = [sys.executable, str(root / "benchmarks" / "render.py"), "--check"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == bool(lines), done.stderr
    return lines


def test_pages_show_the_stored_results(tmp_path: Path) -> None:
    """Pages are current; with another number in a result, or in a page, the check names the page."""
    for folder in ("benchmarks", "docs", "examples/images"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "README.md", tmp_path)
    assert differences(tmp_path) == []
    stored, page = tmp_path / "benchmarks" / "results" / "grams.json", tmp_path / "docs" / "dask.md"
    stored.write_text(re.sub(r'"float64": [\d.]+', '"float64": 3.9', stored.read_text()))
    page.write_text(page.read_text().replace(" MB |", "1 MB |", 1))
    assert [line.split()[0] for line in differences(tmp_path)[:-1]] == ["docs/dask.md", "docs/results/speed.md"]
