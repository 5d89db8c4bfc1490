"""Omics tables: cluster patients that three tables name in different orders, and that not all tables have.

    python examples/omics_tables.py [--patients N] [--folder DIR]

Makes three tables as laboratories send them, with one row for each gene or site and one column for each patient:
``expression.csv``, ``methylation.tsv.gz`` with decimal commas, and ``proteins.parquet``. The patients are in different
orders, and each table lacks some of them. They have four subtypes; no table alone shows all four. The tables are joined
by the names of the patients, and ``subtypes.csv`` has a cluster for each of them. Needs pandas and pyarrow (the extra
``parquet``).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from anchor_align import AlignedClusterer, load_views
from anchor_align.metrics import acc

SUBTYPES = 4
# Rows of a table, and subtypes that it cannot tell apart.
TABLES = {"expression": (200, (0, 1)), "methylation": (150, (1, 2)), "proteins": (60, (2, 3))}


def write_tables(folder: Path, n: int, seed: int = 0) -> tuple[list[Path], pd.Series]:
    """Files of all tables, and the subtypes of the patients by name."""
    rng = np.random.default_rng(seed)
    patients = np.array([f"P{i:04d}" for i in range(n)])
    subtypes = rng.integers(SUBTYPES, size=n)
    paths = []
    for name, (n_rows, (one, other)) in TABLES.items():
        means = rng.normal(scale=0.8, size=(SUBTYPES, n_rows))
        means[other] = means[one]
        here = rng.permutation(n)[: int(0.8 * n)]
        values = means[subtypes[here]] + rng.normal(size=(len(here), n_rows))
        table = pd.DataFrame(values.T.round(4), [f"{name}_{j}" for j in range(n_rows)], patients[here])
        if name == "expression":
            paths.append(folder / "expression.csv")
            table.to_csv(paths[-1])
        elif name == "methylation":
            paths.append(folder / "methylation.tsv.gz")
            table.to_csv(paths[-1], sep="\t", decimal=",")
        else:
            paths.append(folder / "proteins.parquet")
            table.to_parquet(paths[-1])
    return paths, pd.Series(subtypes, index=patients)


def main() -> None:
    """Write the tables, join them, cluster the patients, and write their clusters."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--patients", type=int, default=500)
    parser.add_argument("--folder", type=Path, help="where to keep the files [a temporary folder]")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        paths, subtypes = write_tables(folder, arguments.patients)
        data = load_views(paths, orient="columns", join="outer")
        for note in data.notes:
            if note.kind == "samples":
                print(f"note: {note}")
        # The default, ten anchors for each cluster, is too many for a few hundred patients.
        clusterer = AlignedClusterer(n_clusters=SUBTYPES, n_anchors=20, random_state=0).fit(data)
        result = pd.Series(clusterer.labels_, index=list(data.samples or ()), name="cluster")
        result.to_csv(folder / "subtypes.csv", index_label="patient")
    score = 100 * acc(subtypes.loc[result.index].to_numpy(), result.to_numpy())
    print(f"accuracy of {len(result)} patients: {score:.1f} %")
    for name, X, seen in zip(data.names, data.views, data.mask if data.mask is not None else [], strict=True):
        labels = AlignedClusterer(n_clusters=SUBTYPES, n_anchors=20, random_state=0).fit_predict([X[seen]])
        score = 100 * acc(subtypes.loc[result.index[seen]].to_numpy(), labels)
        print(f"accuracy of {seen.sum()} patients, from {name} alone: {score:.1f} %")


if __name__ == "__main__":
    main()
