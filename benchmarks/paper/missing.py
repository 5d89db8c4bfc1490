"""Missing samples: accuracy when every view loses 0 to 90 % of the samples.

Every view loses every sample with the given probability; a sample that all views would lose stays in one of them. All
fusions use the same anchors and graphs: "aligned", "unaligned", and "concat", which has zeros for the missing samples
of a view. Default settings, nothing chosen by label.
"""

from __future__ import annotations

import itertools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from formats import bold_highest, mean_sd, share, table
from results import Bench

from anchor_align import AlignedClusterer, MultiViewData, load_views
from anchor_align.metrics import acc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MINUTES = 2
DATA = ("UCI-Digit_3v", "BDGP_3v")
METHODS = ("local", "lmvsc", "fmvacc")
RATES = (0.0, 0.3, 0.5, 0.7, 0.9)
DRAWS = 5
FUSIONS = ("unaligned", "aligned", "concat")
COLOURS = ("#c4500a", "#0069a8", "#6b737c")
PICTURES = ("missing.png",)
Array = npt.NDArray[np.float64]


def draw_mask(n_views: int, n_samples: int, rate: float, seed: int) -> npt.NDArray[np.bool_]:
    """True where a view has a sample; every sample is in some view."""
    rng = np.random.default_rng(seed)
    mask = rng.random((n_views, n_samples)) >= rate
    lost = np.flatnonzero(~mask.any(axis=0))
    mask[rng.integers(n_views, size=len(lost)), lost] = True
    return mask


def score_all(method: str, data: MultiViewData, mask: npt.NDArray[np.bool_], seed: int) -> list[float]:
    """ACC in % of all fusions of the graphs of one draw."""
    options: dict[str, Any] = {"n_clusters": data.n_clusters, "random_state": seed}
    fitted = AlignedClusterer(method, **options).fit(data.views, mask=mask)
    made, graphs = fitted.adapter_, fitted.anchor_graphs_.graphs
    options["adapter_params"] = {name: getattr(made, name) for name in ("column_scaling", "directions")}
    labels = {"aligned": fitted.labels_}
    for fusion in ("unaligned", "concat"):
        labels[fusion] = AlignedClusterer("precomputed", fusion=fusion, **options).fit_predict(graphs, mask=mask)
    return [100 * acc(data.labels, labels[fusion]) for fusion in FUSIONS]


def score_rate(path: str, method: str, rate: float) -> dict[str, Any]:
    """Scores of all draws at one rate, the share of entries that are missing, and the number of warnings."""
    data = load_views(path)
    masks = [draw_mask(len(data.views), data.n_samples, rate, seed) for seed in range(DRAWS)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = [score_all(method, data, mask, seed) for seed, mask in enumerate(masks)]
    return {"scores": scores, "missing": float(1 - np.mean(masks)), "warnings": len(caught)}


def run(bench: Bench) -> dict[str, Any]:
    """A row for each data set, method and rate."""
    rows = [
        {
            "data": name, "method": method, "rate": rate,
            **bench.kept(f"{name} {method} {rate}", score_rate, bench.path(name), method, rate),
        }
        for name, method, rate in itertools.product(DATA, METHODS, RATES)
    ]  # fmt: skip
    return {"draws": DRAWS, "fusions": list(FUSIONS), "rows": rows}


def scores_of(result: Any, data: str, method: str, rate: float) -> Array:
    """Accuracies of one cell, draws x fusions."""
    wanted = (data, method, rate)
    (row,) = (row for row in result["rows"] if (row["data"], row["method"], row["rate"]) == wanted)
    return np.array(row["scores"])


def mean(result: Any, data: str, method: str, rate: float, fusion: str) -> float:
    """Mean accuracy of one cell."""
    return float(scores_of(result, data, method, rate).mean(axis=0)[result["fusions"].index(fusion)])


def above(result: Any, data: str, method: str, rate: float, other: str) -> float:
    """Points of the aligned mean above another fusion."""
    return mean(result, data, method, rate, "aligned") - mean(result, data, method, rate, other)


def largest_gain(result: Any, data: str, method: str) -> float:
    """The rate at which alignment gains most."""
    return max(rates(result), key=lambda rate: above(result, data, method, rate, "unaligned"))


def most_between(result: Any, data: str, method: str, up_to: float) -> float:
    """Largest difference of the aligned mean from concatenation, at rates up to this one."""
    return max(abs(above(result, data, method, rate, "concat")) for rate in rates(result) if rate <= up_to)


def count(result: Any, other: str) -> int:
    """Cells in which the aligned mean is above another fusion."""
    return sum(above(result, row["data"], row["method"], row["rate"], other) > 0 for row in result["rows"])


def share_missing(result: Any, rate: float) -> float:
    """Share of the entries, samples x views, that are missing at a rate; nearly the same for all data sets."""
    return float(np.mean([row["missing"] for row in result["rows"] if row["rate"] == rate]))


def warnings_of_a_run(result: Any, rate: float) -> float:
    """Mean number of warnings of a run at a rate."""
    return float(np.mean([row["warnings"] / result["draws"] for row in result["rows"] if row["rate"] == rate]))


def best(result: Any, data: str) -> str:
    """In how many cells of a data set the aligned mean is the highest."""
    keys = [(data, row["method"], row["rate"]) for row in result["rows"] if row["data"] == data]
    others = [name for name in result["fusions"] if name != "aligned"]
    return share(sum(all(above(result, *key, other) > 0 for other in others) for key in keys), len(keys))


def shown_name(name: str) -> str:
    """Name of a data set in tables."""
    return name.removesuffix("_3v")


def panels(result: Any) -> dict[tuple[str, str], Array]:
    """Scores of every data set and method, rates x draws x fusions."""
    keys = dict.fromkeys((row["data"], row["method"]) for row in result["rows"])
    return {key: np.array([scores_of(result, *key, rate) for rate in rates(result)]) for key in keys}


def rates(result: Any) -> list[float]:
    """Shares of the samples that every view loses."""
    return sorted({row["rate"] for row in result["rows"]})


def main_table(result: Any) -> str:
    """Three rows for each data set and method; the highest of a column in bold."""
    rows = []
    for (data, method), values in panels(result).items():
        columns = []
        for scores in values:
            cells = [mean_sd(column) for column in scores.T]
            columns.append(bold_highest(cells, scores.mean(axis=0).tolist()))
        for fusion, *shown in zip(result["fusions"], *columns, strict=True):
            rows.append([f"{shown_name(data)}, {method}" if fusion == "unaligned" else "", fusion, *shown])
    return table(["data, adapter", "fusion", *(f"{rate:.0%}".replace("%", " %") for rate in rates(result))], rows)


def draw(result: Any) -> dict[str, Figure]:
    """A panel for every data set and method; shaded: one standard deviation."""
    from matplotlib.figure import Figure

    shown, x = panels(result), 100 * np.array(rates(result))
    names, methods = (list(dict.fromkeys(keys)) for keys in zip(*shown, strict=True))
    figure = Figure(figsize=(1 + 3.2 * len(methods), 0.3 + 2.5 * len(names)), layout="constrained")
    grid = figure.subplots(len(names), len(methods), squeeze=False, sharex=True, sharey="row")
    for (name, method), values in shown.items():
        axes = grid[names.index(name), methods.index(method)]
        means, deviations = values.mean(axis=1).T, values.std(axis=1, ddof=1).T
        for curve, sd, colour in zip(means, deviations, COLOURS, strict=True):
            axes.fill_between(x, curve - sd, curve + sd, color=colour, alpha=0.13, lw=0)
            axes.plot(x, curve, color=colour, marker="o", markersize=3.5, lw=1.6)
        place, line = -np.inf, 0.08 * np.ptp(values)
        for arm in np.argsort(means[:, -1]):  # names at the ends of the curves, a line apart at least
            place = max(means[arm, -1], place + line)
            axes.text(x[-1] + 2.5, place, result["fusions"][arm], color=COLOURS[arm], va="center")
        axes.set(xticks=x, xlim=(x[0] - 3, x[-1] + 30), xlabel="samples that every view loses, %", ylabel="ACC, %")
        axes.set_title(f"{shown_name(name)}, {method}", loc="left")
        axes.label_outer()
        axes.grid(axis="y", color="#d3d8de", lw=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    return {PICTURES[0]: figure}
