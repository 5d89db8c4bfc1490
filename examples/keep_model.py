"""Cluster tables, keep the model, and label tomorrow's rows with it.

    python examples/keep_model.py [--folder DIR]

Writes two tables of the bundled digits, ``pixels.csv`` and ``fourier.csv``, each in its own order, and clusters the
first 1,500 samples. The model goes to ``digits.model``. Then the other 297 samples come in, and the model labels them,
with a confidence. The same from the command line:

    anchor-align cluster pixels.csv fourier.csv --clusters 10 -o labels.csv --save digits.model --html report.html
    anchor-align predict digits.model pixels_new.csv fourier_new.csv -o labels_new.csv
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from anchor_align import AlignedClusterer, load, load_views
from anchor_align.metrics import acc

KNOWN = 1500


def write_tables(folder: Path) -> pd.Series:
    """Tables of known and new samples, shuffled; returns the true digits by name."""
    data = load_views("digits", views=["pixels", "fourier"])
    names = pd.Index([f"image{row:04d}" for row in range(data.n_samples)], name="sample")
    for seed, (view, X) in enumerate(zip(data.names, data.views, strict=True)):
        table = pd.DataFrame(X, index=names, columns=[f"{view}{column}" for column in range(X.shape[1])])
        table[:KNOWN].sample(frac=1, random_state=seed).to_csv(folder / f"{view}.csv")
        table[KNOWN:].sample(frac=1, random_state=seed).to_csv(folder / f"{view}_new.csv")
    return pd.Series(data.labels, index=names)


def main() -> None:
    """Cluster, save, load, predict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="folder of the files [a temporary one]")
    folder = parser.parse_args().folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    digits = write_tables(folder)

    today = load_views([folder / "pixels.csv", folder / "fourier.csv"])
    clusterer = AlignedClusterer(n_clusters=10, random_state=0).fit(today)
    clusterer.save(folder / "digits.model")
    known = digits[list(clusterer.samples_ or ())]
    print(f"{today.n_samples} samples: {100 * acc(known, clusterer.labels_):.1f} % in the right cluster")
    print(f"the model takes {(folder / 'digits.model').stat().st_size / 1000:.0f} KB")

    model = load(folder / "digits.model")
    tomorrow = load_views([folder / "pixels_new.csv", folder / "fourier_new.csv"])
    found = model.assign(dict(zip(today.names, tomorrow.views, strict=True)))
    # The clusters have no names: take the digit that most known samples of a cluster have.
    meaning = known.groupby(clusterer.labels_).agg(lambda values: values.mode()[0])
    new = pd.DataFrame(
        {"digit": meaning[found.labels].to_numpy(), "confidence": found.confidence}, index=tomorrow.samples
    )
    right = new["digit"] == digits[new.index]
    print(f"{len(new)} new samples: {100 * right.mean():.1f} % get the right digit")
    sure = new["confidence"] >= np.median(new["confidence"])
    print(f"of the surer half {100 * right[sure].mean():.1f} %, of the other {100 * right[~sure].mean():.1f} %")


if __name__ == "__main__":
    main()
