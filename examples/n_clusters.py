"""The number of clusters: on how many data sets the peak of each curve is the known number.

    python examples/n_clusters.py [DATA ...] [--sample N] [--draws N] [--seed S] [--picture FILE.png]

DATA are files, folders or bundled sets with labels (default: two bundled sets). Numbers from 2 to twice the known one,
10 at least, are tried. The table shows the known number and the peak of each curve; below it, on how many data sets the
peak is the known number, and on how many it is at most one off. The picture shows the curves of the first data set; it
needs the extra ``report`` (matplotlib).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from threadpoolctl import threadpool_limits

from anchor_align import cluster_number_curves, load_views


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Peaks of the curves over the number of clusters.")
    parser.add_argument("data", nargs="*", default=["simulated", "breast-cancer"])
    parser.add_argument("--sample", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args(argv)
    known: list[int] = []
    peaks: list[list[int]] = []
    for path in arguments.data:
        data = load_views(path)
        if data.n_clusters is None:
            raise SystemExit(f"{path} has no labels, and so no known number of clusters.")
        numbers = range(2, max(2 * data.n_clusters, 10) + 1)
        with threadpool_limits(1):
            curves = cluster_number_curves(
                data.views, numbers, draws=arguments.draws, sample=arguments.sample, random_state=arguments.seed
            )
        if not known:
            print("| data | known | " + " | ".join(name.replace("_", " ") for name in curves.peaks) + " |")
            print("|---|---:" + "|---:" * len(curves.peaks) + "|")
            if arguments.picture is not None:
                from anchor_align.report import figure_bytes, plot_n_clusters

                arguments.picture.write_bytes(figure_bytes(plot_n_clusters(curves, known=data.n_clusters), dpi=160))
        known.append(data.n_clusters)
        peaks.append(list(curves.peaks.values()))
        name = path.replace("\\", "/").rpartition("/")[2].removesuffix(".npz")
        print(f"| {name} | {data.n_clusters} | " + " | ".join(map(str, peaks[-1])) + " |", flush=True)
    for text, off in (("peak is the known number", 0), ("at most one off", 1)):
        hits = [
            sum(abs(peak - k) <= off for peak, k in zip(each, known, strict=True)) for each in zip(*peaks, strict=True)
        ]
        print(f"| {text} | of {len(known)} | " + " | ".join(map(str, hits)) + " |")


if __name__ == "__main__":
    main()
