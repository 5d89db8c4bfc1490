"""The command datasets: the catalogue, and what is read from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mat_files import cell
from scipy.io import savemat
from scipy.sparse import csc_array

from anchor_align.cli import main
from anchor_align.data import catalogue

RNG = np.random.default_rng(0)


def run(*argv: object) -> int:
    return main(["datasets", *map(str, argv)])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    views = cell([RNG.random((5, 12)), csc_array(RNG.random((4, 12)))])
    savemat(tmp_path / "my [red]data.mat", {"X": views, "gt": np.repeat([1, 2], 6), "Z": RNG.random((12, 3))})
    return tmp_path / "my [red]data.mat"


def test_catalogue_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """All names, in both forms."""
    assert run() == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert all(each.name in out for each in catalogue())
    assert run("--format", "json") == 0
    listed = json.loads(capsys.readouterr().out)["datasets"]
    assert [each["name"] for each in listed] == [each.name for each in catalogue()]
    assert listed[0]["views"][1] == {"name": "star", "n_features": 2}
    assert all(each["licence"] in out for each in listed)


def test_where_names_licence_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    """Of all data sets that have a name, or of some; other names are refused."""
    assert run("--where") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert all(each.licence in out for each in catalogue())
    assert "R. Duin, Multiple Features" in out
    assert run("--where", "mfeat") == 0
    assert "simulated" not in capsys.readouterr().out
    assert run("--where", "nothing") == 2
    assert "mfeat" in capsys.readouterr().err


def test_a_file_is_shown_as_it_is_read(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Views, labels and what was guessed; names in files are no markup."""
    assert run(path, "simulated", "--format", "json") == 0
    mine, simulated = json.loads(capsys.readouterr().out)["data"]
    assert mine["data"] == str(path)
    assert (mine["n_samples"], mine["n_clusters"], simulated["n_samples"]) == (12, 2, 200)
    assert mine["views"][1] == {"name": "X{2}", "n_features": 4, "dtype": "float64", "sparse": True}
    assert any("columns" in note for note in mine["notes"])
    assert run(path) == 0
    out = capsys.readouterr().out.replace("\n", "")
    assert "[red]data.mat: 12 samples, 2 clusters" in out
    assert "sparse float64" in out
    assert "Labels are 'gt'." in out


def test_options_decide(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same as those of load_views."""
    assert run(path, "--views", "Z", "--no-labels", "--orient", "columns", "--format", "json") == 0
    (mine,) = json.loads(capsys.readouterr().out)["data"]
    assert (mine["n_samples"], mine["n_clusters"], mine["views"][0]["n_features"]) == (3, None, 12)
    assert run(path, "--views", "Z", "--labels", "gt") == 0
    assert "no labels" not in capsys.readouterr().out
    assert run(path, "--views", "Z", "--no-labels", "--orient", "rows") == 0
    assert "12 samples, no labels" in capsys.readouterr().out.replace("\n", "")


def test_errors_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On stderr, with exit code 2."""
    assert run(tmp_path / "absent.mat") == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "absent.mat does not exist" in err
    with pytest.raises(SystemExit) as caught:
        run(tmp_path, "--labels", "y", "--no-labels")
    assert caught.value.code == 2
    assert "--no-labels: not allowed with argument --labels" in capsys.readouterr().err


def test_max_size(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Limits the memory of a file; what is no amount of memory is refused."""
    assert run(path, "--views", "X", "--max-size", "100") == 2
    assert "max_bytes (--max-size) is 100 bytes" in capsys.readouterr().err
    assert run(path, "--views", "X", "--max-size", "1MB") == 0
    with pytest.raises(SystemExit) as caught:
        run(path, "--max-size", "lots")
    assert caught.value.code == 2
    assert 'argument --max-size: the size must be an amount such as "500MB"' in capsys.readouterr().err


def test_hidden_characters_are_written_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names of files and variables neither move the cursor nor turn the text, on stderr and in the result."""
    name = "a\x1b[2J\u202eb\u2066c\x07"
    shown = r"a\x1b[2J\u202eb\u2066c\x07"
    assert run(tmp_path / f"{name}.npz") == 2
    err = capsys.readouterr().err
    assert f"{shown}.npz does not exist" in err
    views: dict[str, Any] = {f"{name}1": RNG.random((9, 4)), f"{name}2": RNG.random((9, 5))}
    np.savez(tmp_path / f"{name}.npz", **views)
    assert run(tmp_path / f"{name}.npz") == 0
    out = capsys.readouterr().out
    assert f"{shown}1" in out.replace("\n", "")
    with pytest.raises(SystemExit):
        run(f"--{name}")
    captured = capsys.readouterr()
    for text in (err, out, captured.err):
        assert all(character.isprintable() or character == "\n" for character in text)
    assert shown in captured.err
