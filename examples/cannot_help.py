"""What alignment gains, and whether the anchors of the views correspond better than by chance.

    python examples/cannot_help.py [DATA ...] [--draws N] [--keep FILE.json]

DATA are files, folders or bundled sets with labels. For each of them and two methods, with two anchors for each
cluster, the script prints

- the mean cosine of the aligned graphs with the graph of view 0, and the same with the samples of the other views
  shuffled: what a match reaches by chance;
- the accuracy without and with alignment, and the interval of their difference (exact sign-flip test, corrected for all
  rows);
- below, the mean accuracy for several values of ``lam``.

``--keep`` writes the accuracy of every draw. The file examples/results/cannot_help.json, which the page "When alignment
cannot help" shows, is from six data sets.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from anchor_align import AlignedClusterer, AnchorAligner, AnchorAlignError, MultiViewData, load_views
from anchor_align.study import DEFAULT_DATA, compare, compare_rows

ADAPTERS = ("lmvsc", "fmvacc")
LAMS = {"lam 0": 0.0, "lam 0.1": 0.1, "lam 1": 1.0, "lam 10": 10.0, "lam inf": float("inf")}
COSINE_DRAWS = 5
Row = dict[str, Any]


def cosines(adapter: str, data: MultiViewData, draws: int) -> tuple[float, float]:
    """Mean cosine of aligned graphs with the graph of view 0: original, and with shuffled samples."""
    assert data.n_clusters is not None
    found = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        clusterer = AlignedClusterer(adapter, n_clusters=data.n_clusters, random_state=seed)
        first, *others = clusterer.fit(data.views).anchor_graphs_.graphs
        strangers = [Z[rng.permutation(len(Z))] for Z in others]
        aligners = [AnchorAligner(reference=0).fit([first, *Zs]) for Zs in (others, strangers)]
        found.append([aligner.feature_[1:].mean() for aligner in aligners])
    cosine, shuffled = np.mean(found, axis=0).round(2)
    return float(cosine), float(shuffled)


def accuracies(adapter: str, data: MultiViewData, draws: int) -> dict[str, list[float]]:
    """Accuracy of every draw: unaligned, aligned with each ``lam``, and concatenated."""
    result = compare([adapter], {"data": data}, n_anchors="2k", lam=list(LAMS.values()), repeats=draws)

    def of(arm: str, lam: float) -> list[float]:
        runs = sorted((run for run in result.records if run.arm == arm), key=lambda run: run.repeat)
        chosen = [run for run in runs if run.setting.lam == lam] or runs
        return [round(100 * (run.scores or {})["acc"], 2) for run in chosen]

    aligned = {name: of("aligned", lam) for name, lam in LAMS.items()}
    return {"unaligned": of("unaligned", 0.1)[:draws], **aligned, "concat": of("concat", 0.1)[:draws]}


def print_tables(rows: dict[str, Row]) -> None:
    """The rows of the page."""
    pairs = [(row["lam 0.1"], row["unaligned"]) for row in rows.values()]
    print("data, adapter: cosine, shuffled, unaligned, aligned, aligned - unaligned")
    for (name, row), difference in zip(rows.items(), compare_rows(pairs), strict=True):
        means = [f"{np.mean(row[arm]):.1f}" for arm in ("unaligned", "lam 0.1")]
        interval = "" if difference.low is None else f"{difference.low:+.1f} to {difference.high:+.1f}, "
        print(f"{name}: {row['cosine']:.2f}, {row['shuffled']:.2f}, {', '.join(means)}, {interval}{difference.outcome}")
    for arm in ("unaligned", *LAMS, "concat"):
        print(f"mean of {arm}: {np.mean([row[arm] for row in rows.values()]):.1f}")


def main() -> None:
    """Run all data sets with both methods."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", default=list(DEFAULT_DATA))
    parser.add_argument("--draws", type=int, default=3, help="draws of anchors, 2 or more [3]")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write the accuracy of every draw to this file")
    arguments = parser.parse_args()
    rows: dict[str, Row] = {}
    for source in arguments.data:
        data = load_views(source)
        name = Path(source).stem.removesuffix("_3v")
        for adapter in ADAPTERS:
            cosine, shuffled = cosines(adapter, data, min(arguments.draws, COSINE_DRAWS))
            scores = accuracies(adapter, data, arguments.draws)
            rows[f"{name}, {adapter}"] = {**scores, "cosine": cosine, "shuffled": shuffled}
    if arguments.keep:
        lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()]
        arguments.keep.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print_tables(rows)


if __name__ == "__main__":
    try:
        main()
    except (AnchorAlignError, OSError) as error:
        sys.exit(f"error: {error}")
