"""The command n-clusters: table, JSON, pictures, errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anchor_align.cli import main

WORDS = ["n-clusters", "simulated", "--range", "3", "5", "--adapter", "lmvsc", "--draws", "2", "-q"]


@pytest.mark.slow
def test_curves_are_printed_and_drawn(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The table marks the peaks and recommends nothing; the picture has the form of its ending; the page is whole."""
    picture, page = tmp_path / "curves.svg", tmp_path / "page.html"
    assert main([*WORDS, "--output", str(picture), "--html", str(page)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["clusters", "3", "4", "5"]
    assert lines[2].count("*") == 4
    assert "A peak is no recommendation" in out
    assert "<svg" in picture.read_text()
    text = page.read_text()
    assert text.count("<td") == 12
    assert text.endswith("</html>\n")
    assert "<script" not in text


def test_curves_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """All numbers, the peaks, and the number of clusters in the labels, if they were read."""
    assert main([*WORDS, "--format", "json", "--set", "scale=standard", "--anchors", "8", "--sample", "90"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_samples"], found["n_draws"], found["n_clusters"], found["known"]) == (90, 2, [3, 4, 5], 4)
    values = {name: each["values"] for name, each in found["curves"].items()}
    assert [len(each) for each in values.values()] == [3] * 4
    assert found["peaks"] == {name: found["n_clusters"][each.index(max(each))] for name, each in values.items()}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--range", "5", "3"], "--range needs the smaller number first, got 5 3."),
        (["--output", "curves.txt"], "--output must end in .png, .svg, .pdf, got 'curves.txt'."),
        (["--output", "nowhere/curves.png"], "nowhere"),
        (["--adapter", "lmvs"], "Did you mean 'lmvsc'?"),
        (["--range", "2", "150"], "Halves of 200 samples are too small for 150 clusters."),
    ],
)
def test_wrong_use_is_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing on stdout, one line on stderr, exit code 2."""
    assert main([*WORDS, *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
