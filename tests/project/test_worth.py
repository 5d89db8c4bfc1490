"""The example that adds up what alignment is worth: its table, its memory, its picture, and wrong use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "worth.py"


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *words], cwd=cwd, capture_output=True, text=True, check=False)


def test_example_worth(tmp_path: Path) -> None:
    """Aligned is better than unaligned where both miss clusters; a second call computes nothing and says the same."""
    words = ["breast-cancer", "simulated", "--draws", "2", "--keep", "kept.json", "--picture", "worth.png"]
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if "|" in line]
    head = rows[0]
    assert head == ["data", "method", "unaligned", "view 0", "auto", "consensus", "rotated", "concat"]
    means = [dict(zip(head, row, strict=True)) for row in rows if row[0] == "mean"]
    assert [row["method"] for row in means] == ["local", "lmvsc", "fmvacc"]
    assert all(float(row["consensus"]) > float(row["unaligned"]) + 2 for row in means[1:])
    assert (tmp_path / "worth.png").read_bytes().startswith(b"\x89PNG")
    assert len(json.loads((tmp_path / "kept.json").read_text())) == 12
    again = run(*words, cwd=tmp_path)
    assert again.stdout == done.stdout
    assert "of" not in again.stderr


def test_example_worth_used_wrongly(tmp_path: Path) -> None:
    """One line that says what is wrong."""
    for words, said in ((["nofile.mat"], "nofile.mat"), (["simulated", "--draws", "1"], "--draws must be 2 or more")):
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr
