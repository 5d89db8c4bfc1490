"""Missing samples: accuracy when every view loses 10 to 90 % of the samples.

    python examples/missing.py [--data DATA ...] [--rates R ...] [--seeds N] [--keep FILE.json] [--picture FILE.png]

DATA are files, folders or bundled sets with labels (default: digits, six views). Every view loses every sample with the
given probability; a sample that all views would lose stays in one of them. All fusions use the same anchors and graphs:
"aligned", "unaligned", and "concat", which has zeros for the missing samples of a view. "warned" counts the runs with a
warning about anchors that have too few shared samples. With --keep, finished rates are kept in a file and not computed
again; those of the page on missing samples are in examples/results/missing.json. The picture needs the extra ``report``
(matplotlib).
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from anchor_align import AlignedClusterer, AnchorAlignError, InputError, load_views
from anchor_align.metrics import acc

FUSIONS = ("unaligned", "aligned", "concat")
COLOURS = ("#c4500a", "#0069a8", "#6b737c")


def draw_mask(n_views: int, n_samples: int, rate: float, seed: int) -> np.ndarray:
    """True where a view has a sample; every sample is in some view."""
    rng = np.random.default_rng(seed)
    mask = rng.random((n_views, n_samples)) >= rate
    lost = np.flatnonzero(~mask.any(axis=0))
    mask[rng.integers(n_views, size=len(lost)), lost] = True
    return mask


def scores(adapter: str, data: Any, mask: np.ndarray, seed: int) -> list[float]:
    """ACC in % of all fusions of the same graphs."""
    options: dict[str, Any] = {"n_clusters": data.n_clusters, "random_state": seed}
    aligned = AlignedClusterer(adapter, **options).fit(data.views, mask=mask)
    labels = {"aligned": aligned.labels_}
    for fusion in ("unaligned", "concat"):
        control = AlignedClusterer("precomputed", fusion=fusion, **options)
        labels[fusion] = control.fit_predict(aligned.anchor_graphs_.graphs, mask=mask)
    return [100 * acc(data.labels, labels[fusion]) for fusion in FUSIONS]


def draw_picture(results: dict[tuple[str, str], np.ndarray], x: np.ndarray, path: Path) -> None:
    """A panel for every data set and adapter; shaded: one standard deviation."""
    from matplotlib.figure import Figure

    names, adapters = (list(dict.fromkeys(keys)) for keys in zip(*results, strict=True))
    figure = Figure(figsize=(1 + 3.7 * len(adapters), 0.3 + 2.5 * len(names)), layout="constrained")
    grid = figure.subplots(len(names), len(adapters), squeeze=False, sharex=True, sharey="row")
    for (name, adapter), values in results.items():
        axes = grid[names.index(name), adapters.index(adapter)]
        means, deviations = values.mean(axis=1).T, values.std(axis=1, ddof=1).T
        for mean, sd, colour in zip(means, deviations, COLOURS, strict=True):
            axes.fill_between(x, mean - sd, mean + sd, color=colour, alpha=0.13, lw=0)
            axes.plot(x, mean, color=colour, marker="o", markersize=3.5, lw=1.6)
        place, line = -np.inf, 0.08 * np.ptp(values)
        for arm in np.argsort(means[:, -1]):  # names at the ends of the curves, a line apart at least
            place = max(means[arm, -1], place + line)
            axes.text(x[-1] + 2.5, place, FUSIONS[arm], color=COLOURS[arm], va="center")
        axes.set(xticks=x, xlim=(x[0] - 3, x[-1] + 25), xlabel="samples that every view loses, %", ylabel="ACC, %")
        axes.set_title(f"{name}, {adapter}", loc="left")
        axes.label_outer()
        axes.grid(axis="y", color="#d3d8de", lw=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150, metadata={"Software": None})


def score_rate(path: str, adapter: str, rate: float, seeds: int) -> dict[str, Any]:
    """Scores of all draws at one rate, the share of entries that are missing, and the number of warnings."""
    data = load_views(path)
    if data.labels is None:
        raise InputError(f"{path} has no labels, which the accuracy needs.")
    masks = [draw_mask(len(data.views), data.n_samples, rate, seed) for seed in range(seeds)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = [scores(adapter, data, mask, seed) for seed, mask in enumerate(masks)]
    return {"scores": rows, "lacking": float(1 - np.mean(masks)), "warned": len(caught)}


def measure(arguments: argparse.Namespace) -> None:
    """Print a table for every data set and adapter and, if asked for, draw the curves."""
    keep: Path | None = arguments.keep
    known: dict[str, Any] = json.loads(keep.read_text()) if keep and keep.exists() else {}
    results = {}
    for path, adapter in ((path, adapter) for path in arguments.data for adapter in ("lmvsc", "fmvacc")):
        name = Path(path).stem.replace("_", " ")
        rows: list[Any] = []
        for rate in arguments.rates:
            key = f"{name}, {adapter}, {rate:g}, {arguments.seeds}"
            if key not in known:
                known[key] = score_rate(path, adapter, rate, arguments.seeds)
                if keep:
                    keep.write_text(json.dumps(known, indent=0) + "\n")
            found = known[key]
            if not rows:
                print(f"{name}, {adapter}: ACC in %, mean ± sd of {arguments.seeds} runs")
                print(f"{'rate':>5}{'lacking':>9}" + "".join(f"{fusion:>14}" for fusion in FUSIONS) + "  warned")
            rows.append(found["scores"])
            cells = zip(np.mean(rows[-1], axis=0), np.std(rows[-1], axis=0, ddof=1), strict=True)
            text = "".join(f"{f'{mean:.1f} ± {sd:.1f}':>14}" for mean, sd in cells)
            print(f"{rate:5.0%}{found['lacking']:9.0%}{text}{found['warned']:8}", flush=True)
        results[name, adapter] = np.array(rows)
    if arguments.picture:
        draw_picture(results, 100 * np.array(arguments.rates), arguments.picture)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Accuracy when views lack samples.")
    parser.add_argument("--data", nargs="+", default=["digits"], help="files, folders or bundled sets [digits]")
    parser.add_argument("--rates", nargs="+", type=float, default=[0.1, 0.3, 0.5, 0.7, 0.9])
    parser.add_argument("--seeds", type=int, default=2, help="masks and draws of anchors, 2 or more [2]")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep finished rates in this file")
    parser.add_argument("--picture", type=Path, help="write the curves to this file")
    arguments = parser.parse_args()
    if arguments.seeds < 2:
        parser.error("--seeds must be 2 or more: there is no spread of one")
    if not all(0 <= rate < 1 for rate in arguments.rates):
        parser.error("--rates must be >= 0 and < 1")
    try:
        measure(arguments)
    except (AnchorAlignError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
