"""The number of clusters: on how many data sets the peak of each curve is the known number.

Numbers from 2 to twice the known one, 10 at least, are tried. The curves of the first data set are stored, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from formats import table
from results import Bench

from anchor_align import cluster_number_curves, load_views
from anchor_align.clustering import ClusterCurve, ClusterCurves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA = (
    "UCI-Digit_3v", "simulated", "breast-cancer", "digits", "3-Sources", "MSRC-v1", "BBCSport", "BDGP_3v", "Hdigit",
)  # fmt: skip
SAMPLE, DRAWS = 600, 2
PICTURES = ("n_clusters.png",)


def row_of(path: str, name: str) -> dict[str, Any]:
    """The known number, and the peak of each curve."""
    data = load_views(path)
    assert data.n_clusters is not None
    numbers = range(2, max(2 * data.n_clusters, 10) + 1)
    found = cluster_number_curves(data.views, numbers, draws=DRAWS, sample=SAMPLE, random_state=0)
    row: dict[str, Any] = {"data": name, "known": data.n_clusters, "peaks": found.peaks}
    if name == DATA[0]:
        row["curves"] = {each.name: {"mean": each.values, "sd": each.sd} for each in found.curves}
    return row


def run(bench: Bench) -> dict[str, Any]:
    """Draw the curves of all data sets."""
    return {
        **{"draws": DRAWS, "sample": SAMPLE},
        "rows": [bench.kept(name, row_of, bench.path(name), name) for name in DATA],
    }


def main_table(result: Any) -> str:
    """All peaks, and how often they are right."""
    rows, names = result["rows"], list(result["rows"][0]["peaks"])
    body = [[row["data"], row["known"], *row["peaks"].values()] for row in rows]
    for text, most in (("peak is the known number", 0), ("at most one off", 1)):
        hits = [sum(abs(row["peaks"][name] - row["known"]) <= most for row in rows) for name in names]
        body.append([text, f"of {len(rows)}", *hits])
    return table(["data", "known", *(name.replace("_", " ") for name in names)], body, names=1)


def peaks(result: Any, curve: str) -> list[int]:
    """Peaks of a curve on all data sets."""
    return [row["peaks"][curve] for row in result["rows"]]


def usual(result: Any, *curves: str) -> int:
    """The least number that is not below most of the peaks of each curve."""
    return max(sorted(found)[len(found) // 2] for found in (peaks(result, curve) for curve in curves))


def draw(result: Any) -> dict[str, Figure]:
    """The curves of the first data set."""
    from anchor_align.report import plot_n_clusters

    first = result["rows"][0]
    curves = tuple(
        ClusterCurve(name, tuple(curve["mean"]), tuple(curve["sd"])) for name, curve in first["curves"].items()
    )
    numbers = tuple(range(2, 2 + len(curves[0].values)))
    found = ClusterCurves(numbers, curves, result["sample"], result["draws"])
    return {PICTURES[0]: plot_n_clusters(found, known=first["known"])}
