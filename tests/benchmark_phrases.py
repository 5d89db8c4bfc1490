"""What the pages say of every benchmark, made from its stored result.

``tests/benchmarks/run.py --store`` writes the results; ``test_benchmark_numbers.py`` looks for these phrases in the
pages, and for numbers of the pages that no phrase has. A new claim is a new phrase.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

Stored = dict[str, Any]


def span(values: Iterable[float], digits: int = 1) -> str:
    """Least and largest value."""
    found = sorted(values)
    return f"{found[0]:.{digits}f} to {found[-1]:.{digits}f}"


def grams(r: Stored) -> list[str]:
    """Gram matrices over bare products."""
    ratio = r["time_ratio"]
    return [f"{ratio['float64']:.1f} (float64), {ratio['float32']:.1f} (float32), {ratio['sparse']:.1f} (sparse)"]


def simplex(r: Stored) -> list[str]:
    """Graph rows of lmvsc."""
    found = {row["anchors"]: row["ratio"] for row in r["rows"] if (row["features"], row["alpha"]) == (240, 0.01)}
    return [
        f"{found[100]:.0f} times as fast with 100 anchors, {found[50]:.0f} with 50; "
        f"{r['summary']['least_ratio']:.1f} in the worst of {len(r['rows'])} cases",
        f"n = 60,000, 50 anchors | {span(r['summary']['products_per_round'].values())} |",
    ]


def _matching(r: Stored) -> tuple[str, str, str]:
    """What both pages say of the problems: how many are lost, how many there are, and the median time."""
    found = r["summary"]
    lost = {tuple(each[:4]) for each in found["lost"]}  # a problem may be lost to several solvers
    hundreds = found["instances"] // 100 * 100
    return str(len(lost) or "none"), f"more than {hundreds} problems", f"{found['median_time_ratio_m50']:.2f}"


def matching(r: Stored) -> list[str]:
    """Many problems, on the page of speed."""
    lost, problems, median = _matching(r)
    found = r["summary"]
    largest = max((each[5] for each in found["lost"]), default=1.0)
    low, high = (found["by_beta"][name] for name in ("0.01 and 1", "100"))
    times = (f"median {each['median_time_ratio']:.2f}" for each in (low, high))
    gaps = (f"median {100 * each['median_gap']:.1g} %, largest {100 * each['max_gap']:.2g} %" for each in (low, high))
    return [
        f"The test has {problems}",
        f"pygmtools' IPFP and RRWM) | {lost}, by at most {100 * (largest - 1):.1g} % |",
        f"median with 50 anchors or more; largest of all | {median}; {found['max_time_ratio']:.1f} |",
        f"where anchors are nearly alike | {'; '.join(times)} |",
        f"with `beta` = 100 | {'; '.join(gaps)} |",
    ]


def matching_in_maths(r: Stored) -> list[str]:
    """The same, on the page of the maths."""
    lost, problems, median = _matching(r)
    low, high = (100 * r["summary"]["by_beta"][name]["median_gap"] for name in ("0.01 and 1", "100"))
    return [
        f"in {lost} of {problems} does another solver find a better match; median time {median} of the fixed point's",
        f"has a median of {low:.1g} % for `beta` = 0.01 and 1, and of {high:.1g} % for `beta` = 100",
    ]


def consensus(r: Stored) -> list[str]:
    """Many views and anchors."""
    rows = [
        f"| {each['views']} x {each['anchors']} | {each['before']['consensus']:.1f} | {each['before']['total']:.4g} | "
        f"{each['before']['rotation']:.1f} |"
        for each in r["records"]
        if "before" in each
    ]
    seconds = {(each["views"], each["anchors"]): each["consensus"] for each in r["records"]}
    by_anchors = math.log(seconds[12, 231] / seconds[12, 60]) / math.log(231 / 60)
    by_views = math.log(seconds[12, 231] / seconds[3, 231]) / math.log(12 / 3)
    totals = sorted(100 * (each["total"] - 1) for each in r["gamgm"])
    stars = sorted(100 * (each["star"] - 1) for each in r["records"])
    by_lam = {lam: [each for each in r["effort"] if each["lam"] == lam] for lam in (0.1, 1.0, 10.0)}
    better = {lam: sum(each["better"] for each in found) for lam, found in by_lam.items()}
    gains = {lam: 100 * max(each["largest_gain"] for each in found) for lam, found in by_lam.items()}
    times = span((each["time"] for each in r["effort"]), 0)
    return [
        *rows,
        f"the power {by_anchors:.1f} of the number of anchors and {by_views:.1f} of that of views",
        f"is {stars[0]:.0f} to {stars[-1]:.0f} % above that of the best reference",
        f"it is {totals[0]:.0f} to {totals[-1]:.0f} % above that of pygmtools' `gamgm`",
        f"in {span(1 / each['time'] for each in r['gamgm'])} of its time",
        f"{better[0.1] or 'none'} of 6 cases at `lam` 0.1, in {better[1.0]} of 6 at 1 (by at most {gains[1.0]:.2g} %) "
        f"and in {better[10.0]} of 6 at 10 (by at most {gains[10.0]:.1g} %), in {times} times",
    ]


def fmvacc(r: Stored) -> list[str]:
    """The whole and its alternation."""
    small, large = r["loop"]
    return [
        f"{r['summary']['over_own_kmeans']:.2f}; relative to scikit-learn's k-means plus the products "
        f"{r['summary']['over_sklearn']:.2f}",
        f"{small['ratio']:.0f} times as fast (UCI-Digit) and {large['ratio']:.0f} times (60,000 digits) on one thread, "
        f"{small['ratio_threads']:.0f} and {large['ratio_threads']:.0f} times on two",
    ]


def scale(r: Stored) -> list[str]:
    """Growth of the time with the samples."""
    slopes = r["slopes"]
    return [
        f"{slopes['lmvsc, full']['whole']:.2f} (`lmvsc`), {slopes['fmvacc, full']['whole']:.2f} (`fmvacc`)",
        f"{slopes['local, full']['whole']:.2f}, at most 1.05 wanted",
    ]


def memory(r: Stored) -> list[str]:
    """Peaks in megabytes."""
    beyond = {name: each["beyond"] for name, each in r["in_memory"].items()}
    peak = {name: each["peak"] for name, each in r["on_disk"].items()}
    return [
        f"{beyond['lmvsc, float32']:.0f} MB (`lmvsc`), {beyond['fmvacc, float32']:.0f} MB (`fmvacc`) for float32; "
        f"{beyond['lmvsc, float64']:.0f} and {beyond['fmvacc, float64']:.0f} MB for float64",
        f"{peak['lmvsc, never, sample']:.0f} MB (`lmvsc`), {peak['fmvacc, never, sample']:.0f} MB (`fmvacc`) with "
        f'`storage="never"`; {peak["lmvsc, disk, sample"]:.0f} and {peak["fmvacc, disk, sample"]:.0f} MB with',
    ]


def commands(r: Stored) -> list[str]:
    """Peaks of both commands, and the size of the model."""
    peaks = f"{r['cluster']['peak']:.0f} MB and {r['predict']['peak']:.0f} MB"
    return [f"{peaks}; both give the same labels; the model has {r['model'] / 1e3:.0f} KB"]


def anchors(r: Stored) -> list[str]:
    """Anchors from a part of the samples, 60,000 digits."""
    rows = [row for row in r["rows"] if row["data"] == "MNIST-60k" and row["anchors"] <= 50]
    loss = {
        kind: [100 * (row["inertia"] - 1) for row in rows if row["kind"] == kind] for kind in ("sample", "minibatch")
    }
    times = span((row["time"] for row in rows if row["kind"] != "full"), 2)
    return [f"{span(loss['sample'])} % and {span(loss['minibatch'])} % in {times} of the time"]


def rivals(r: Stored) -> list[str]:
    """Against k-means and spectral clustering of the views side by side."""
    found = {(row["data"], row["method"]): row for row in r["rows"]}
    methods = ("KMeans", "SpectralClustering", "local", "lmvsc", "fmvacc")

    def cell(data: str, method: str) -> str:
        row = found.get((data, method))
        return "" if row is None else f"{row['time']:.2f}, {100 * row['accuracy']:.1f} %"

    sets = {
        "UCI-Digit (2,000)": "UCI-Digit_3v",
        "Scene-15 (4,485)": "Scene-15",
        "Hdigit (10,000)": "Hdigit",
        "digits in four views (60,000)": "MNIST-60k_4v_constructed",
    }
    return [
        f"| {shown} | {' | '.join(cell(data, method) for method in methods)} |".replace("|  |", "| |")
        for shown, data in sets.items()
    ]


def projection(r: Stored) -> list[str]:
    """Projection over a sort."""
    double = [
        ratio
        for each in r["time_ratio"]["float64"].values()
        for kind, ratio in each.items()
        if kind.startswith("rows,")
    ]
    return [f"{span(double)} for float64"]


def sfmc(r: Stored) -> list[str]:
    """Rank step and fit."""
    steps = {(each["data"], each["n_clusters"], each["n_anchors"]): f"{each['ratio']:.2f}" for each in r["rank_steps"]}
    digits = "UCI-Digit_3v"
    ratios = [row["ratio"] for row in r["rows"] if row["n_anchors"] >= 105]
    return [
        f"1000 anchors: {steps[digits, 10, 1000]} (UCI-Digit, k = 10), {steps[digits, 30, 1000]} (k = 30), "
        f"{steps['planted', 10, 1000]} (4000 planted samples); 500 anchors: {steps[digits, 10, 500]}; "
        f"2000 anchors: {steps['planted', 10, 2000]}",
        f"105 to 300 anchors | {span(ratios)} |",
    ]


def sparse(r: Stored) -> list[str]:
    """Sparse graphs to labels."""
    two, three, never = (r["cases"][name] for name in ("2 views, memory", "3 views, memory", "3 views, never"))
    return [
        f"{two['time']:.2f} with two views, {three['time']:.2f} with three, {never['time']:.2f} with three and",
        f"{two['memory']:.2f}, {three['memory']:.2f} and {never['memory']:.2f}",
    ]


def local(r: Stored) -> list[str]:
    """Graphs of the default adapter."""
    by_type = {
        kind: span(ratio for name, ratio in r["time_ratio"].items() if name.startswith(kind))
        for kind in ("float64", "float32")
    }
    return [f"{by_type['float64']} for float64, {by_type['float32']} for float32"]


def overheads(r: Stored) -> list[str]:
    """What is around the work."""
    return [
        f"relative to a new scan of all distributions | {r['by_name']:.2f} |",
        f"relative to one that takes them as they stand | {span(r['order'].values())} |",
        f"relative to the import of numpy, scipy and scikit-learn | {r['start']:.2f} |",
        f"{r['plans']['1000 repeats']:.1f} s; {r['plans']['1000 settings']:.1f} s if every run has its own settings",
    ]


def baselines(r: Stored) -> list[str]:
    """Rmkm over k-means."""
    return [f"{r['rows'][-1]['ratio']:.2f}, at most 5 wanted"]


def kmeans(r: Stored) -> list[str]:
    """The table of other implementations."""
    names = {
        "ours, at most 100 rounds": "ours, 100 rounds",
        'ours, `kmeans="sample"`': "ours, sample",
        'ours, `kmeans="minibatch"`': "ours, minibatch",
        "scikit-learn `KMeans`": "scikit-learn KMeans",
        "scikit-learn `MiniBatchKMeans`, default batches": "MiniBatchKMeans, batches of 1024",
        "faiss, 25 rounds, all rows": "faiss, 25 rounds, all rows",
        "faiss, 100 rounds, all rows": "faiss, 100 rounds, all rows",
    }
    return [
        f"| {shown} | "
        + " | ".join(f"{row['objective']:.3f}, {row['time']:.2f}" for row in r["rows"] if row["name"] == name)
        + " |"
        for shown, name in names.items()
    ]


def dask(r: Stored) -> list[str]:
    """The page on Dask."""
    rows = []
    for name, samples, shown in (
        ("sample", 1_000_000, "1,000,000"),
        ("sample", 10_000_000, "10,000,000 (1.28 GB)"),
        ("full", 1_000_000, "1,000,000"),
        ("full", 10_000_000, "10,000,000 (1.28 GB)"),
    ):
        fit = r["fits"][f"{name}, {samples}"]
        rows.append(
            f'| {shown} | Dask | `"{name}"` | {fit["time_ratio"]:.1f} | {max(fit["worker_peaks"]):.0f} MB | '
            f"{fit['client_peak']:.0f} MB | {100 * fit['accuracy']:.1f} % |"
        )
    none = "\N{EN DASH}"
    here = [
        f'| one machine | `"{name}"` | 1 | {none} | {none} | {100 * each["accuracy"]:.1f} % |'
        for name, each in r["here"].items()
    ]
    small, large, full, most = (r["fits"][f"{name}, {n}"] for name in ("sample", "full") for n in (10**6, 10**7))
    local = r["processor"]["local"]
    bare = [each["bare_pass"] / each["seconds"] for each in (small, large)]
    traffic = {
        shown: [r["traffic"][chunks][name] for chunks in ("40", "400")]
        for shown, name in (
            ("k-means, 20 centres of 16 columns", "k-means, 20 centres"),
            ("`fmvacc`, 16 orthogonal anchors", "fmvacc, 16 anchors, orthogonal"),
            ("`fmvacc`, 20 anchors, more than columns", "fmvacc, 20 anchors, free"),
        )
    }
    return [
        *rows,
        *here,
        f"need {small['worker_before']:.0f} MB of a worker",
        f'with 1,000,000 samples `"full"` takes {full["seconds"] / small["seconds"]:.1f} times as long',
        f"with 10,000,000 samples {most['seconds'] / large['seconds']:.1f} times",
        f"`local` with 10,000,000 samples: a worker needs at most {max(local['worker_peaks']):.0f} MB",
        f"processor time per sample is {local['processor_ratio']:.1f} times that of one machine",
        f"({r['processor']['lmvsc']['processor_ratio']:.1f} times for `lmvsc`)",
        f"{bare[0]:.3f} (1,000,000 samples), {bare[1]:.3f} (10,000,000)",
        f"{small['visits']} (4 chunks) and {large['visits']} (40 chunks); {full['visits']} and {most['visits']}",
        f"400 chunks relative to 40 | {r['visits']['400'] / r['visits']['40']:.1f} |",
        *(
            f"| {shown} | {few['measured'] / 1e3:.0f} kB | {many['measured'] / 1e6:.1f} MB | "
            f"{few['down'] / 1e3:.1f} kB, {few['up'] / 1e3:.1f} kB |"
            for shown, (few, many) in traffic.items()
        ),
    ]


def optimum(r: Stored) -> list[str]:
    """Cases in which the proven optimum is missed."""
    pairs = [each for each in r["records"] if each["what"].startswith("ascent") and each["m"] >= 9]
    three = [each for each in r["records"] if each["what"].startswith("consensus")]

    def counts(records: list[Stored]) -> str:
        return f"in {sum(each['missed'] for each in records)} of {sum(each['cases'] for each in records)} cases"

    return [
        f"below the proven optimum {counts(pairs)} with 9 or 10 anchors",
        f"{counts(three)}, by at most {100 * max(each['worst'] for each in three):.2f} %",
    ]


def chance(r: Stored) -> list[str]:
    """Views that pass the test of chance, by number of samples."""
    passed = [round(each["related"] * each["views"]) for each in r["records"]]
    sizes = [each["n"] for each in r["records"]]
    shown = [", ".join(map(str, each[:-1])) + f" and {each[-1]}" for each in (passed, sizes)]
    views, every = r["records"][0]["views"], sum(each["views"] for each in r["records"])
    unrelated = round(sum(each["unrelated"] * each["views"] for each in r["records"]))
    return [
        f"{shown[0]} of {views} related views pass this test with {shown[1]} samples, and {unrelated or 'none'} of "
        f"{every} unrelated views"
    ]


def near_ties(r: Stored) -> list[str]:
    """Matches that the rule for near-ties changes."""
    changed, matches = (sum(each[what] for each in r["records"]) for what in ("changed", "matches"))
    return [f"changed {changed or 'none'} of {matches} matches"]


def pair_curves(r: Stored) -> list[str]:
    """One pair: the large table, the table of other graphs, and what is said of both."""
    solvers = list(dict.fromkeys(name for each in r["records"] for name in each["objective"]))

    def cell(record: Stored, name: str) -> str:
        found = record["objective"]
        return f"{found[name]:.3f}, {record['time'][name]:.2g}" if name in found else ""

    table = [
        f"| {each['m']} | {each['lam']:g} | " + " | ".join(cell(each, name) for name in solvers) + " |"
        for each in r["records"]
    ]
    graphs = []
    for data, adapter in dict.fromkeys((each["data"], each["adapter"]) for each in r["others"]):
        cells = [each for each in r["others"] if (each["data"], each["adapter"]) == (data, adapter)]
        held = sum(each["time"] <= 1.0 for each in cells)
        graphs.append(
            f"| `{adapter}`, {data.removesuffix('_3v')} | {held} of {len(cells)} | "
            + " | ".join(span((each[what] for each in cells), 2) for what in ("time", "time_to_released", "released"))
            + " |"
        )
    found = r["summary"]
    times = span(found["high_times"], 0)
    weak = [each["objective"] for each in r["records"] if each["lam"] == 0.1 and "high" in each["objective"]]
    at_weak = sum(each["high"] > each["default"] for each in weak) or "none"
    beaten = [
        f"With {each['m']} anchors and `lam` {each['lam']:g}, "
        f"`pfp` is {100 * (1 - each['objective']['default']):.1f} % better"
        for each in r["records"]
        if each["objective"].get("pfp", 0.0) > each["objective"]["default"]
    ]
    return [
        *table,
        *graphs,
        f"{found['held']} of {found['cells']} cells, with at most {found['largest_time']:.2f} of its time",
        f"On other graphs, it holds in {found['other_held']} of {found['other_cells']} cells",
        f"in {found['sooner']} of all {found['cells'] + found['other_cells']} cells",
        f'`effort="high"` is better than the default in {found["high_better"]} of {found["high_cells"]} cells',
        f"by at most {100 * found['high_largest_gain']:.2f} %, {at_weak} of them at `lam` 0.1. It takes {times} times",
        *beaten,
    ]


# Page and phrases of each benchmark; the first word names the result.
PHRASES: dict[str, tuple[str, Callable[[Stored], list[str]]]] = {
    "matching": ("speed.md", matching),
    "matching in maths": ("maths.md", matching_in_maths),
    "grams": ("speed.md", grams),
    "simplex": ("speed.md", simplex),
    "consensus": ("speed.md", consensus),
    "fmvacc": ("speed.md", fmvacc),
    "scale": ("speed.md", scale),
    "memory": ("speed.md", memory),
    "commands": ("speed.md", commands),
    "anchors": ("speed.md", anchors),
    "rivals": ("speed.md", rivals),
    "projection": ("speed.md", projection),
    "sfmc": ("speed.md", sfmc),
    "sparse": ("speed.md", sparse),
    "local": ("speed.md", local),
    "overheads": ("speed.md", overheads),
    "baselines": ("speed.md", baselines),
    "kmeans": ("speed.md", kmeans),
    "dask": ("dask.md", dask),
    "optimum": ("maths.md", optimum),
    "chance": ("maths.md", chance),
    "near-ties": ("maths.md", near_ties),
    "pair-curves": ("speed.md", pair_curves),
}
