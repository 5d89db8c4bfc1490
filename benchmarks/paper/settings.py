"""Settings chosen without labels: what agreement of the views picks, beside the default and the best by label.

``choose`` compares four scales of the adapter ``local`` and two numbers of anchors on a sample, without labels. The
accuracy, in %, of the first candidate (the default), of the chosen one, and of the best one by label are all on the
same sample and over the same draws. The regret is the distance from the best.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from formats import fixed, table
from results import Bench

from anchor_align import AlignedClusterer, Candidate, choose, load_views
from anchor_align.metrics import acc

MINUTES = 3
DATA = (
    "simulated", "digits", "breast-cancer", "3-Sources", "MSRC-v1", "UCI-Digit_3v", "BBCSport", "Hdigit", "BDGP_3v",
    "Scene-15",
)  # fmt: skip
DRAWS, SAMPLE, SEED = 3, 600, 0
SCALES = ("auto", "unit", "standard", None)
ANCHORS = (None, "5k")
CANDIDATES = [Candidate("local", {"scale": scale}, m) for m in ANCHORS for scale in SCALES]
COLUMNS = ("default", "chosen", "best by label")


def row_of(path: str, name: str) -> dict[str, Any]:
    """Accuracies on a sample, and the chosen candidate."""
    data = load_views(path)
    at = np.sort(np.random.default_rng(SEED).permutation(data.n_samples)[:SAMPLE])
    views, labels = [X[at] for X in data.views], np.asarray(data.labels)[at]
    k = len(np.unique(labels))
    choice = choose(views, k, CANDIDATES, draws=DRAWS, random_state=SEED)
    found = []
    for each in CANDIDATES:
        seeds = range(SEED, SEED + DRAWS)
        fits = [AlignedClusterer(n_clusters=k, random_state=seed, **{**each.settings(k)}) for seed in seeds]
        found.append(float(np.mean([100 * acc(labels, fit.fit_predict(views)) for fit in fits])))
    chosen = found[CANDIDATES.index(choice.candidate)]
    scores = dict(zip(COLUMNS, (found[0], chosen, max(found)), strict=True))
    return {"data": name, **scores, "setting": str(choice.candidate)}


def run(bench: Bench) -> dict[str, Any]:
    """Choose on all data sets."""
    rows = [bench.kept(name, row_of, bench.path(name), name) for name in DATA]
    return {"draws": DRAWS, "sample": SAMPLE, "rows": rows}


def main_table(result: Any) -> str:
    """All data sets, then means and regrets."""
    rows = [[row["data"], *(fixed(row[name]) for name in COLUMNS), f"`{row['setting']}`"] for row in result["rows"]]
    rows.append(["mean", *(fixed(mean(result, name)) for name in COLUMNS), ""])
    rows.append(["regret", *(fixed(regret(result, name)) for name in COLUMNS), ""])
    text = table(["data", *COLUMNS, "chosen setting"], rows)
    return text.replace("|---|---|---|---|---|", "|---|---:|---:|---:|---|")


def mean(result: Any, name: str) -> float:
    """Mean over the data sets."""
    return float(np.mean([row[name] for row in result["rows"]]))


def regret(result: Any, name: str) -> float:
    """Mean distance from the best by label."""
    return mean(result, COLUMNS[-1]) - mean(result, name)


def changed(result: Any) -> list[Any]:
    """Rows on which the choice is not the default."""
    return [row for row in result["rows"] if row["setting"] != str(CANDIDATES[0])]
