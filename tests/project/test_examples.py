"""The examples run as their texts say, and print what they promise."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scripts import EXAMPLES, printed_by, printed_by_process, run_script

pytestmark = pytest.mark.slow


def test_example_simulated(tmp_path: Path) -> None:
    """Aligned fusion finds all clusters in all draws, unaligned does not; the picture is written."""
    out = printed_by(EXAMPLES / "simulated.py", str(tmp_path / "picture.png"), cwd=tmp_path)
    scores = {line.split()[0]: re.findall(r"[\d.]+", line) for line in out.splitlines()}
    assert scores["aligned"] == ["100.0", "100.0"]
    assert float(scores["unaligned"][0]) < 99
    assert " shows draw 17: 95.0 % unaligned, 100.0 % aligned" in out  # the picture of README and first page
    for name in ("picture.png", "picture_dark.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_example_study(tmp_path: Path) -> None:
    """Prints the answer, writes report and figure, and keeps every run."""
    out = printed_by(EXAMPLES / "study.py", "simulated", "--html", tmp_path / "study.html", cwd=tmp_path)
    assert "Aligned fusion is" in out
    assert "90 of 90 runs, 0 from before" in out
    assert (tmp_path / "study.html").read_text().startswith("<!DOCTYPE html>")
    assert (tmp_path / "study.png").read_bytes().startswith(b"\x89PNG")
    assert len(list((tmp_path / "study.cache").rglob("*.json"))) == 90


def test_example_third_party(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A method in one file is loaded by its path, listed, and clusters."""
    from anchor_align.cli import main

    plugin = EXAMPLES / "my_method.py"
    assert main(["adapters", "--plugin", str(plugin)]) == 0
    assert "random-samples" in capsys.readouterr().out
    assert printed_by(plugin, cwd=tmp_path).startswith("accuracy ")


def test_example_out_of_core(tmp_path: Path) -> None:
    """The two blurred anchors are the ambiguous ones, and the known pair is kept."""
    out = printed_by(EXAMPLES / "out_of_core.py", cwd=tmp_path)
    ambiguous = {line.split()[2] for line in out.splitlines() if line.endswith("ambiguous")}
    assert ambiguous == {"2", "5"}
    assert "the other ambiguous anchor gets 5" in out
    assert list(tmp_path.iterdir()) == []


def test_example_on_dask(tmp_path: Path) -> None:
    """A cluster of two processes finds the planted clusters; the labels stay there."""
    pytest.importorskip("distributed")
    out = printed_by_process(str(EXAMPLES / "on_dask.py"), "--rows", "4000", cwd=tmp_path)
    assert "2 workers" in out
    assert float(re.findall(r"ACC ([\d.]+)", out)[0]) > 0.99
    assert "labels_ is a Dask array in 2 chunks" in out


def test_example_large(tmp_path: Path) -> None:
    """Both ways of storage find the planted clusters in files; too small a budget is told."""
    out = printed_by(EXAMPLES / "large.py", "40000", cwd=tmp_path)
    assert [float(score) > 0.99 for score in re.findall(r"ACC ([\d.]+)", out)] == [True, True]
    assert "the same labels: True" in out
    assert "with 9 MB: The fit needs" in out
    assert list(tmp_path.iterdir()) == []


def test_example_uneven(tmp_path: Path) -> None:
    """Four choices of numbers, and a row of noise for each adapter; data without three views are refused."""
    rng, labels = np.random.default_rng(0), np.arange(60) % 2
    views = {f"view_{v}": 4 * rng.normal(size=(2, 3 + v))[labels] + rng.normal(size=(60, 3 + v)) for v in range(3)}
    np.savez(tmp_path / "small.npz", allow_pickle=False, labels=labels, **views)
    out = printed_by(EXAMPLES / "uneven.py", tmp_path / "small.npz", "--draws", 2)
    rows = [re.findall(r"[\d.]+ ± [\d.]+", line) for line in out.splitlines()]
    assert [len(row) for row in rows if row] == [4] * 4 + [3] * 2
    assert "simulated needs labels and 3 views." in run_script(EXAMPLES / "uneven.py", "simulated").err


def test_example_late_fusion(tmp_path: Path) -> None:
    """The vote of aligned partitions is better than that of partitions as they come."""
    out = printed_by(EXAMPLES / "late_fusion.py", "digits", "--seeds", "1", cwd=tmp_path)
    scores = dict(re.findall(r"^(vote.*?)  +([\d.]+) ±", out, flags=re.MULTILINE))
    assert out.count("partition of") == 6
    assert float(scores["vote, aligned"]) > float(scores["vote, clusters as they come"]) + 10


def test_example_unmatched_samples(tmp_path: Path) -> None:
    """Far more samples than by chance get their partner; with the partners found, clusters are better."""
    words = ["--samples", "200", "--draws", "1"]
    out = printed_by(EXAMPLES / "unmatched_samples.py", *words, cwd=tmp_path)
    shares = {line[:30].strip(): line[30:].replace("%", "").split() for line in out.splitlines() if "%" in line}
    assert float(shares["lam 0.1"][0]) > 25
    assert float(shares["lam 0.1"][1]) > 70
    assert out.count("seeds") == 4
    before, _, found, _ = re.findall(r"([\d.]+)%$", out.partition("ACC")[2], flags=re.MULTILINE)
    assert float(found) > float(before) + 5
