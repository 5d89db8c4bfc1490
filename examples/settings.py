"""Settings chosen without labels: what agreement of the views picks, beside the default and the best by label.

    python examples/settings.py [DATA ...] [--sample N] [--draws N] [--seed S]

DATA are files, folders or bundled sets with labels (default: two bundled sets). For every data set, ``choose`` compares
four scales of the adapter ``local`` and two numbers of anchors on a sample, without labels. The table shows the
accuracy, in %, of the first candidate (the default), of the chosen one, and of the best one by label, all on the same
sample and over the same draws; below it the means and the regret: points below the best.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from threadpoolctl import threadpool_limits

from anchor_align import AlignedClusterer, Candidate, MultiViewData, choose, load_views
from anchor_align.metrics import acc

SCALES = ("auto", "unit", "standard", None)
CANDIDATES = [Candidate("local", {"scale": scale}, m) for m in (None, "5k") for scale in SCALES]


def sample_of(data: MultiViewData, most: int, seed: int) -> MultiViewData:
    """At most ``most`` samples, drawn at random."""
    if data.labels is None:
        raise SystemExit("The accuracy needs labels, and the data have none.")
    n = data.n_samples
    at = np.sort(np.random.default_rng(seed).permutation(n)[:most])
    return MultiViewData(views=[X[at] for X in data.views], labels=np.asarray(data.labels)[at], names=data.names)


def accuracy(data: MultiViewData, candidate: Candidate, draws: int, seed: int) -> float:
    """Mean accuracy over draws, in %."""
    assert data.labels is not None
    k = len(np.unique(data.labels))
    found = []
    for draw in range(draws):
        clusterer = AlignedClusterer(n_clusters=k, random_state=seed + draw, **{**candidate.settings(k)})
        found.append(acc(data.labels, clusterer.fit_predict(data.views)))
    return 100 * float(np.mean(found))


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Settings chosen without labels.")
    parser.add_argument("data", nargs="*", default=["simulated", "breast-cancer"])
    parser.add_argument("--sample", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    print("| data | default | chosen | best by label | chosen setting |\n|---|---:|---:|---:|---|")
    rows = []
    for path in arguments.data:
        data = sample_of(load_views(path), arguments.sample, arguments.seed)
        k = len(np.unique(np.asarray(data.labels)))
        with threadpool_limits(1):
            choice = choose(data.views, k, CANDIDATES, draws=arguments.draws, random_state=arguments.seed)
            found = [accuracy(data, each, arguments.draws, arguments.seed) for each in CANDIDATES]
        chosen = CANDIDATES.index(choice.candidate)
        rows.append((found[0], found[chosen], max(found)))
        name = path.replace("\\", "/").rpartition("/")[2].removesuffix(".npz")
        print(f"| {name} | {found[0]:.1f} | {found[chosen]:.1f} | {max(found):.1f} | {choice.candidate} |", flush=True)
        print(f"{name}: {choice.cost}", file=sys.stderr)
    default, chosen_mean, best = np.mean(rows, axis=0)
    print(f"| mean | {default:.1f} | {chosen_mean:.1f} | {best:.1f} | |")
    print(f"| regret | {best - default:.1f} | {best - chosen_mean:.1f} | 0.0 | |")


if __name__ == "__main__":
    main()
