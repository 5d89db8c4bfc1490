"""Rivals of the paper: accuracy of our versions beside published values and those of prototypes.

    python examples/paper/rivals_check.py FOLDER [--draws 10] [--only amgl rmkm] [--format md]

FOLDER has the files 3-Sources.npz, MSRC-v1.npz and UCI-Digit_3v.npz. Each row is the mean accuracy of some draws with
fixed settings, in per cent; nothing is chosen with the labels. The last column says if the mean is in the expected
range: the value that its paper, or the paper of the table, prints, or the range of a prototype.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from text_table import FORMATS, table_text

from anchor_align import AlignedClusterer, MultiViewData, get_baseline, list_adapters, load_views
from anchor_align.metrics import acc, nmi


@dataclass(frozen=True)
class Claim:
    """A method with its settings on one data set, the published accuracy, and the range to be reached."""

    method: str
    data: str
    published: str
    low: float
    high: float = 100.0
    settings: dict[str, Any] = field(default_factory=dict)
    anchors: int | None = None


UNIT = {"scale": "unit"}
CLAIMS = (
    Claim("amgl", "3-Sources", "32.5", 31.5, 33.5),
    Claim("amgl", "MSRC-v1", "74.8", 73.8, 75.8),
    Claim("amgl", "UCI-Digit_3v", "82.3", 82.0, 84.0),
    Claim("bmvc", "3-Sources", "47.9 / 56.2", 47.9, 58.0),
    Claim("bmvc", "UCI-Digit_3v", "67.0", 62.0, 72.0),
    Claim("rmkm", "3-Sources", "34.3", 34.3),
    Claim("rmkm", "UCI-Digit_3v", "81.9", 88.0),
    Claim("pmsc", "3-Sources", "61.3", 61.0, 67.0),
    Claim("msgl", "3-Sources", "46.2", 44.0, 52.0, {"order": "given", **UNIT}),
    Claim("msgl", "3-Sources", "-", 52.0, 100.0, {"order": "aligned", **UNIT}),
    Claim("msgl", "UCI-Digit_3v", "66.8", 66.8, 100.0, {"order": "given"}),
    Claim("msgl", "UCI-Digit_3v", "-", 66.8, 100.0, {"order": "aligned"}),
    Claim("msc-ias", "3-Sources", "63.9 / 38.3", 52.0, 64.0),
    Claim("msc-ias", "MSRC-v1", "63.8", 63.8),
    Claim("fmcnof", "3-Sources", "65.1", 50.0, 65.0),
    Claim("fmcnof", "3-Sources", "-", 36.0, 60.0, {"sparsifier": "text"}),
    Claim("fmcnof", "UCI-Digit_3v", "54.9", 24.0, 42.0),
    Claim("kmeans", "3-Sources", "-", 0.0, 100.0, UNIT),
    Claim("kmeans", "UCI-Digit_3v", "-", 0.0),
    Claim("spectral", "3-Sources", "-", 0.0, 100.0, UNIT),
    Claim("spectral", "UCI-Digit_3v", "-", 0.0),
)
HEADER = ["method", "data", "settings", "published", "range", "ACC", "sd", "NMI", "reached"]


def main() -> int:
    """Run the methods and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=sorted({each.method for each in CLAIMS}), metavar="METHOD")
    parser.add_argument("--format", choices=FORMATS, default="table")
    arguments = parser.parse_args()
    chosen = [each for each in CLAIMS if arguments.only is None or each.method in arguments.only]
    data = {name: load_views(arguments.folder / f"{name}.npz") for name in sorted({each.data for each in chosen})}
    rows = [_row(each, data[each.data], arguments.draws) for each in chosen]
    caption = f"Accuracy in per cent, mean of {arguments.draws} draws with fixed settings."
    print(table_text(caption, HEADER, rows, arguments.format, 4))
    return 0


def _row(claim: Claim, data: MultiViewData, draws: int) -> Sequence[str]:
    accuracies, agreements = [], []
    for seed in range(draws):
        labels = _labels(claim, data, seed)
        accuracies.append(100 * acc(data.labels, labels))
        agreements.append(100 * nmi(data.labels, labels))
    mean = float(np.mean(accuracies))
    spread = float(np.std(accuracies, ddof=1)) if draws > 1 else 0.0
    settings = ", ".join(f"{name}={value}" for name, value in claim.settings.items()) or "default"
    reached = "-" if claim.low == 0 else "yes" if claim.low <= mean <= claim.high else f"{mean - claim.low:+.1f}"
    if claim.low and mean > claim.high:
        reached = f"above by {mean - claim.high:.1f}"
    expected = "-" if claim.low == 0 else f"{claim.low:g}-{claim.high:g}"
    numbers = [f"{mean:.1f}", f"{spread:.1f}", f"{np.mean(agreements):.1f}"]
    return [claim.method, claim.data, settings, claim.published, expected, *numbers, reached]


def _labels(claim: Claim, data: MultiViewData, seed: int) -> np.ndarray:
    k = len(np.unique(np.asarray(data.labels)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if claim.method not in list_adapters():
            baseline = get_baseline(claim.method, **claim.settings)
            return baseline.fit_predict(data.views, n_clusters=k, random_state=seed)
        clusterer = AlignedClusterer(
            claim.method, n_clusters=k, n_anchors=claim.anchors, adapter_params=claim.settings, random_state=seed
        )
        return np.asarray(clusterer.fit_predict(data.views))


if __name__ == "__main__":
    raise SystemExit(main())
