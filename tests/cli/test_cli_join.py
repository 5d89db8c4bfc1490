"""Tables on the command line: --join, --index and --no-index in compare, n-clusters, datasets and align."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from strategies import planted_graphs

from anchor_align import AnchorAligner
from anchor_align.cli import main
from anchor_align.data import make_simulated


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two tables of simulated samples in different orders, which lack some, and their labels."""
    data, rng = make_simulated(0), np.random.default_rng(0)
    names = np.array([f"s{i}" for i in range(200)])
    for name, X, n in zip("ab", data.views, (200, 170), strict=True):
        rows = rng.permutation(200)[:n]
        pd.DataFrame(X[rows], index=names[rows], columns=["x", "z"]).to_csv(tmp_path / f"{name}.csv", index_label="who")
    pd.DataFrame({"who": names, "label": data.labels}).to_csv(tmp_path / "labels.csv", index=False)
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *argv: object) -> tuple[int, str, str]:
    code = main([str(each) for each in argv])
    return code, *capsys.readouterr()


def test_compare_joins_tables(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Different samples are an error that names --join; with it, the report says which samples are missing."""
    words = ["compare", "lmvsc", "--data", folder, "--repeats", 1, "--no-cache"]
    code, out, err = call(capsys, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "join='outer' (--join outer) all 200" in err
    code, out, err = call(capsys, *words, "--join", "outer", "--index", "who", "--format", "json", "--reference", "b")
    assert code == 0
    found = json.loads(out)
    assert "--join outer --index who" in str(found)
    assert "'b' 30" in str(found)


@pytest.mark.parametrize("orient", ["auto", "columns"])
@pytest.mark.parametrize("as_folder", [True, False])
def test_one_transposed_table_is_named(
    tmp_path: Path, orient: str, as_folder: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """If the columns of a table have the names of another's rows, the error says which, and names --orient."""
    names = [f"s{i}" for i in range(12)]
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.random((12, 2)), index=names, columns=["x", "y"]).to_csv(tmp_path / "a.csv")
    pd.DataFrame(rng.random((3, 12)), index=["g0", "g1", "g2"], columns=names).to_csv(tmp_path / "b.csv")
    data = [tmp_path] if as_folder else [tmp_path / "a.csv", tmp_path / "b.csv"]
    code, out, err = call(capsys, "cluster", *data, "--clusters", 2, "--orient", orient)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "Samples seem to be the rows of 'a' and the columns of 'b'" in err
    assert "--orient columns" in err


def test_n_clusters_takes_tables(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One table for each view, joined by name."""
    words = ["n-clusters", folder / "a.csv", folder / "b.csv", "--join", "inner", "--range", 3, 4, "--draws", 1, "-q"]
    code, out, _ = call(capsys, *words, "--adapter", "lmvsc", "--format", "json")
    assert code == 0
    assert json.loads(out)["n_samples"] == 170


def test_datasets_shows_what_was_joined(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The notes are sentences about the samples; without names, other sizes do not fit together."""
    code, out, _ = call(capsys, "datasets", folder, "--join", "outer", "--format", "json")
    assert code == 0
    notes = json.loads(out)["data"][0]["notes"]
    assert "join='outer' kept all 200 samples: view 'b' lacks 30." in notes
    code, _, err = call(capsys, "datasets", folder, "--no-index", "--join", "outer")
    assert (code, err.count("\n")) == (2, 1)


def test_align_joins_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows of the fused graph have names in the output; a mask beside joined graphs is refused."""
    graphs, _ = planted_graphs(np.random.default_rng(0), 60, 5, 2)
    names = [f"s{i}" for i in range(60)]
    frames = [pd.DataFrame(Z, index=names) for Z in graphs]
    frames[1] = frames[1].sample(frac=0.8, random_state=0)
    files: list[Any] = []
    for name, frame in zip("ab", frames, strict=True):
        frame.add_prefix("anchor").to_csv(tmp_path / f"{name}.csv")
        files.append(tmp_path / f"{name}.csv")
    out = tmp_path / "out.npz"
    code, _, err = call(capsys, "align", *files, "-o", out)
    assert (code, err.count("\n")) == (2, 1)
    assert "12 of 60 names of view" in err
    code, _, err = call(capsys, "align", *files, "-o", out, "--join", "outer")
    assert code == 0
    assert "note: join='outer' kept all 60 samples" in err
    with np.load(out) as read:
        assert read["samples"].tolist() == names
        expected = AnchorAligner().fit(frames, join="outer")
        np.testing.assert_array_equal(read["permutations"], expected.permutations_)
    np.save(tmp_path / "mask.npy", np.ones((2, 60), dtype=bool))
    code, _, err = call(capsys, "align", *files, "-o", out, "--join", "outer", "--mask", tmp_path / "mask.npy")
    assert (code, err.count("\n")) == (2, 1)
    assert "leave one of --mask and --join out" in err
    assert call(capsys, "align", *files, "-o", tmp_path / "folder", "--join", "inner")[0] == 0
    assert len((tmp_path / "folder" / "samples.txt").read_text().split()) == 48
