"""The paper's Figure 5: accuracy against lam and the number of anchors, on our scale of lam and on the paper's.

    python examples/paper/sensitivity.py [--data DATA] [--adapter NAME] [--anchors M ...] [--reference VIEW]
        [--repeats N] [--picture FILE.png]

DATA is a file or a bundled set with labels (default: digits). On the balanced scale, the library's default, lam weighs
two cosines; on the paper's it weighs raw products, whose size grows with the number of samples, and is run with two
solvers: "ascent", the library's, and "pfp", the paper's fixed point. All use the same graphs, drawn again for every
repeat. The reference is the first view, as in the paper, unless VIEW is another view, "auto" or "consensus". The last
line converts the paper's lam = 1 to the balanced scale. The picture needs the extra ``report``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from anchor_align import AlignedClusterer, AnchorAligner, GramMatrices, load_views
from anchor_align.data import MultiViewData
from anchor_align.errors import AnchorAlignError, InputError
from anchor_align.metrics import score_all
from anchor_align.report import figure_bytes, plot_sensitivity
from anchor_align.study import SCORES, Record, StudyResult, Summary, compare, summarise

BALANCED = (0.0, 0.01, 0.1, 1.0, 10.0, inf)
PAPER = (1e-4, 1.0, 1e4, inf)
SOLVERS = ("ascent", "pfp")


def paper_scale(data: MultiViewData, record: Record, reference: int | str) -> Iterator[Record]:
    """Records of both solvers and all values of lam, on the graphs that a record comes from."""
    options: dict[str, Any] = {"n_clusters": data.n_clusters, "fusion": "unaligned", "random_state": record.seed}
    graphs = graphs_of(data, record)
    for solver in SOLVERS:
        params = (*record.setting.params, ("lam_scale", "paper"), ("method", solver))
        for lam in PAPER:
            aligner = AnchorAligner(
                lam, lam_scale="paper", reference=reference, method=solver, random_state=record.seed
            )
            found = AlignedClusterer("precomputed", **options).fit_predict(aligner.fit_transform(graphs))
            every = score_all(data.labels, found)
            scores = {name: float(getattr(every, name)) for name in SCORES}
            setting = replace(record.setting, lam=lam, params=params)
            yield replace(record, setting=setting, arm="aligned", scores=scores)


def graphs_of(data: MultiViewData, record: Record) -> Sequence[Any]:
    """Graphs that a record of the study comes from, made again."""
    options: dict[str, Any] = {"n_clusters": data.n_clusters, "n_anchors": record.setting.n_anchors}
    clusterer = AlignedClusterer(
        record.setting.adapter, fusion="unaligned", adapter_params={}, random_state=record.seed, **options
    )
    graphs: Sequence[Any] = clusterer.fit(data.views).anchor_graphs_.graphs
    return graphs


def run(
    data: MultiViewData, name: str, adapter: str, anchors: Sequence[str], repeats: int, reference: int | str
) -> StudyResult:
    """The sweep on the balanced scale, and the paper's scale as settings of their own beside it."""
    sweep = compare(
        adapter, {name: data}, n_anchors=list(anchors), lam=list(BALANCED), repeats=repeats, reference=reference
    )
    controls = [r for r in sweep.records if r.arm != "aligned" and r.setting.lam == BALANCED[0]]
    records = list(sweep.records)
    for control in (r for r in controls if r.arm == "unaligned"):
        same_draw = [r for r in controls if (r.setting, r.repeat) == (control.setting, control.repeat)]
        for found in paper_scale(data, control, reference):
            records += [found, *(replace(r, setting=found.setting) for r in same_draw)]
    return replace(sweep, records=tuple(records), summaries=summarise(records, score="acc", footings=["fixed"]))


def print_table(result: StudyResult) -> None:
    """A block for each scale and solver, a line for each number of anchors."""
    settings = {row.setting: row for row in result.summaries if row.setting is not None}
    print(
        f"{result.data[0].name}, {result.adapters[0].name}, reference {result.reference}: ACC in %, mean ± sd over ",
        end="",
    )
    print(f"{result.repeats} draws of anchors")
    for params in dict.fromkeys(setting.params for setting in settings):
        lams = list(dict.fromkeys(setting.lam for setting in settings if setting.params == params))
        title = ", ".join(str(value) for _, value in params) or "balanced, ascent"
        print(f"\n{title:<18}" + "".join(f"{f'lam {lam:g}':<13}" for lam in lams) + "unaligned    concat")
        for m in dict.fromkeys(setting.n_anchors for setting in settings):
            rows = [row for at, row in settings.items() if (at.params, at.n_anchors) == (params, m)]
            cells = [cell(row, "aligned") for row in rows] + [cell(rows[0], arm) for arm in ("unaligned", "concat")]
            print(f"  m = {m!s:<12}" + "".join(f"{text:<13}" for text in cells).rstrip())


def cell(row: Summary, arm: str) -> str:
    """Mean and standard deviation."""
    return f"{100 * row.arms[arm].mean['acc']:.1f} ± {100 * row.arms[arm].sd['acc']:.1f}"


def exchange_rates(graphs: Sequence[Any]) -> list[float]:
    """What lam = 1 on the paper's scale is on the balanced one, for every view and the first."""
    grams = GramMatrices.from_graphs(graphs)
    sizes = [np.linalg.norm(grams.structure(view)) / grams.norms[view] for view in range(grams.n_views)]
    return [float(sizes[0] * size) for size in sizes[1:]]


def main() -> None:
    """Print the table and, if asked for, draw the curves."""
    parser = argparse.ArgumentParser(description="The paper's Figure 5: sensitivity to lam and the number of anchors.")
    parser.add_argument("--data", default="digits", help="a file or a bundled set with labels [digits]")
    parser.add_argument("--adapter", default="fmvacc", choices=["fmvacc", "lmvsc"])
    parser.add_argument("--anchors", nargs="+", default=["k", "2k", "5k"], help="numbers of anchors [k 2k 5k]")
    parser.add_argument("--reference", default="0", help="a view's number, auto or consensus [0]")
    parser.add_argument("--repeats", type=int, default=3, help="draws of anchors, 2 or more [3]")
    parser.add_argument("--picture", type=Path, help="write the curves to this PNG file")
    arguments = parser.parse_args()
    if arguments.repeats < 2:
        parser.error("--repeats must be 2 or more: there is no spread of one.")
    reference = int(arguments.reference) if arguments.reference.isdecimal() else arguments.reference
    try:
        data = load_views(arguments.data)
        if data.labels is None or len(data.views) < 2:
            raise InputError(f"{arguments.data} needs two views or more, and labels to score by.")
        name = Path(arguments.data).stem
        result = run(data, name, arguments.adapter, arguments.anchors, arguments.repeats, reference)
        print_table(result)
        firsts = {record.setting.n_anchors: record for record in reversed(result.records)}
        rates = [rate for record in firsts.values() for rate in exchange_rates(graphs_of(data, record))]
        print(f"\nthe paper's lam = 1 is {min(rates):.0f} to {max(rates):.0f} on the balanced scale")
        if arguments.picture:
            arguments.picture.write_bytes(figure_bytes(plot_sensitivity(result), dpi=104))
    except (AnchorAlignError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
