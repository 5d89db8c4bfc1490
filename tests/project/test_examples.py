"""The examples run as their texts say, and print what they promise."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
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


def test_example_missing(tmp_path: Path) -> None:
    """A table for each adapter; aligned fusion loses less than unaligned, and the picture is written."""
    words = ["--data", "breast-cancer", "--rates", "0.2", "0.6", "--picture", str(tmp_path / "curves.png")]
    out = printed_by(EXAMPLES / "missing.py", *words, cwd=tmp_path)
    rows = [re.findall(r"[\d.]+", line) for line in out.splitlines() if line.strip().startswith(("20%", "60%"))]
    assert len(rows) == 4
    assert all(float(row[4]) > float(row[2]) for row in rows)
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


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


def test_example_settings(tmp_path: Path) -> None:
    """The chosen setting is between the worst and the best, and the cost is said."""
    words = ("simulated", "--sample", "150", "--draws", "2")
    out = printed_by(EXAMPLES / "settings.py", *words, cwd=tmp_path)
    default, chosen, best = map(
        float, re.findall(r"^\| mean \| ([\d.]+) \| ([\d.]+) \| ([\d.]+)", out, re.MULTILINE)[0]
    )
    assert best >= max(default, chosen) >= 95


def test_example_shuffled_rows() -> None:
    """A row for each data set: samples in another order have the same clusters; rounding may move those of fmcnof."""
    words = ("simulated", "--adapters", "local", "fmcnof", "--draws", "1")
    for way, row in ((), "| simulated | 1.000 | 1.000 |"), (("--as-they-stand",), "| simulated | 1.000 | "):
        out = printed_by(EXAMPLES / "shuffled_rows.py", *words, *way).splitlines()
        assert out[0] == "| data | `local` | `fmcnof` |"
        assert out[2].startswith(row)


def test_example_aligned_or_concat() -> None:
    """Eleven ways to one graph of the same anchors, with the mean over the data sets; clear clusters are found."""
    out = printed_by(EXAMPLES / "aligned_or_concat.py", "simulated", "breast-cancer", "--draws", "1")
    rows = [[float(cell) for cell in line.split("|")[2:-1]] for line in out.splitlines()[2:]]
    assert len(rows) == 11
    for clear, other, mean in rows:
        assert clear >= 95
        assert mean == pytest.approx((clear + other) / 2, abs=0.11)


def test_weak_partners_get_columns_of_their_own() -> None:
    """Anchors that share no samples are set apart, the others stay together, and rows still sum to one."""
    script = runpy.run_path(str(EXAMPLES / "aligned_or_concat.py"))
    first, second = np.eye(4)[[0, 0, 1, 1, 2, 3]], np.eye(4)[[0, 0, 1, 1, 3, 2]]
    apart = script["weak_partners_apart"]([sp.csr_array(first), sp.csr_array(second)]).toarray()
    assert (apart.sum(axis=0) > 0).sum() == 6
    np.testing.assert_allclose(apart[:, :2], first[:, :2])
    np.testing.assert_allclose(apart.sum(axis=1), 1)


def test_example_scale_choice() -> None:
    """A row for each data set with three accuracies and a scale for each view, and the means."""
    out = printed_by(EXAMPLES / "scale_choice.py", "simulated", "breast-cancer", "--draws", "1")
    first, second, mean = [line.split("|")[2:6] for line in out.splitlines()[2:]]
    assert [len(row[3].split()) for row in (first, second, mean)] == [2, 3, 0]
    assert all(float(cell) >= 95 for cell in first[:3])
    for a, b, c in zip(first[:3], second[:3], mean[:3], strict=True):
        assert float(c) == pytest.approx((float(a) + float(b)) / 2, abs=0.11)


def test_example_n_clusters(tmp_path: Path) -> None:
    """Two curves of clear clusters have their peaks at the known number at least; the picture is written."""
    words = ("simulated", "--sample", "200", "--draws", "2", "--picture", "curves.png")
    out = printed_by(EXAMPLES / "n_clusters.py", *words, cwd=tmp_path)
    (row,) = re.findall(r"^\| simulated \| 4 \| (.*) \|$", out, flags=re.MULTILINE)
    assert row.split(" | ").count("4") >= 2
    assert f"| peak is the known number | of 1 | {int(row.startswith('4 '))} |" in out
    assert (tmp_path / "curves.png").stat().st_size > 10_000


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


def test_example_local_defaults() -> None:
    """A row for each setting; the simulated clusters are all found with the default, which is the first."""
    rows = printed_by(EXAMPLES / "local_defaults.py", "simulated", "--draws", "1").splitlines()
    assert len(rows) == 2 + 7
    assert rows[2] == "| 10 | 1 | 1.5 | 100.0 | 100.0 |"
