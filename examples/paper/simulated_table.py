"""The paper's Table 1: three methods on simulated data, unaligned against aligned, original against flexible anchors.

    python examples/paper/simulated_table.py [--data FILE] [--repeats N] [--picture FILE.png]

Without FILE, every repeat is a new draw of simulated data (four clusters, two views) with a new draw of anchors; with
FILE, for example the paper's own data, every repeat is a draw of anchors. There are as many anchors as clusters, as in
the paper. All arms of a repeat have the same graphs: only the fusion differs. ``alpha`` and ``beta`` run over
the grids of their papers, each value a row of its own: the paper does not say which it compares. SFMC's original
anchors are samples, the same in both views; flexible ones are found in each view and have to be aligned. SFMC is also
run with a tenth of the samples as anchors, its authors' smallest number. The picture (extra ``report``) shows the
paired differences.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from anchor_align import load_views
from anchor_align.data import make_simulated
from anchor_align.errors import AnchorAlignError
from anchor_align.report import figure_bytes, plot_differences
from anchor_align.study import StudyResult, Summary, compare, summarise

SCORES = ("acc", "nmi", "fscore")
STYLES = ["alternate", "flexible"]
# ACC, NMI and F-score as published, in %.
PUBLISHED = {
    "lmvsc": {"unaligned": "84.06 ± 0.16, 82.18 ± 0.04, 79.69 ± 0.07", "aligned": "100, 100, 100"},
    "fmvacc": {"unaligned": "70.35 ± 1.78, 72.89 ± 0.68, 70.28 ± 0.81", "aligned": "100, 100, 100"},
    "sfmc": {"original": "64.50, 80.10, 73.41", "flexible": "97.50, 93.15, 95.12"},
}


def run(source: str | None, repeats: int) -> StudyResult:
    """Both studies, anchors as many as clusters and SFMC with more, as one; draws of data are repeats."""
    if source is None:
        data, draws = {str(draw): make_simulated(draw) for draw in range(repeats)}, 1
    else:
        data, draws = {Path(source).stem: load_views(source)}, repeats
    params = {"alpha": [0.01, 1.0, 100.0], "beta": [0.01, 1.0, 100.0], "anchors": STYLES}
    small = compare(["lmvsc", "fmvacc", "sfmc"], data, n_anchors="k", params=params, repeats=draws)
    tenth = next(iter(data.values())).n_samples // 10
    large = compare("sfmc", data, n_anchors=tenth, params={"anchors": STYLES}, repeats=draws)
    records = [*small.records, *large.records]
    if source is None:
        pooled = [replace(r, setting=replace(r.setting, dataset="simulated")) for r in records]
        records = [replace(p, repeat=int(r.setting.dataset)) for p, r in zip(pooled, records, strict=True)]
    rows = summarise(records, score="acc", footings=["fixed"])
    return replace(small, records=tuple(records), summaries=rows, repeats=repeats)


def print_table(result: StudyResult) -> None:
    """One block for each method: published, then every setting and arm."""
    data = result.summaries[0].dataset
    print(f"{data}: scores in %, mean ± sd over {result.repeats} repeats, and the lowest ACC of them")
    for adapter, published in PUBLISHED.items():
        print(f"\n{adapter:<41}{'ACC':<15}{'NMI':<15}{'F-score':<15}lowest ACC")
        for arm, scores in published.items():
            print_line("published", arm, scores.split(", "))
        for row in (row for row in result.summaries if row.adapter == adapter):
            print_row(result, row)


def print_row(result: StudyResult, row: Summary) -> None:
    """The arms of one setting; the concatenation of shared anchors is no part of SFMC."""
    assert row.setting is not None
    value = row.setting.params[0][1]
    arms = {"unaligned": "original"} if value == "alternate" else {arm: arm for arm in row.arms}
    title = f"{row.setting.params[0][0]} = {value}, m = {row.setting.n_anchors}"
    for arm, name in arms.items():
        found, scored = row.arms[arm], [r for r in result.records if (r.setting, r.arm) == (row.setting, arm)]
        cells = [f"{100 * found.mean[score]:.2f} ± {100 * found.sd[score]:.2f}" for score in SCORES]
        lowest = min(record.scores["acc"] for record in scored if record.scores is not None)
        print_line(title, name, [*cells, f"{100 * lowest:.1f}"])
        title = ""


def print_line(title: str, arm: str, cells: Sequence[str]) -> None:
    """One line of the table."""
    print(f"  {title:<28}{arm:<11}{''.join(f'{cell:<15}' for cell in cells)}".rstrip())


def main() -> None:
    """Print the table and, if asked for, draw the paired differences."""
    parser = argparse.ArgumentParser(description="The paper's Table 1: simulated data.")
    parser.add_argument("--data", help="a file with two views and labels [new draws of simulated data]")
    parser.add_argument("--repeats", type=int, default=10, help="draws of data and anchors, 2 or more [10]")
    parser.add_argument("--picture", type=Path, help="write the paired differences to this PNG file")
    arguments = parser.parse_args()
    if arguments.repeats < 2:
        parser.error("--repeats must be 2 or more: there is no spread of one.")
    try:
        result = run(arguments.data, arguments.repeats)
        print_table(result)
        if arguments.picture:
            arguments.picture.write_bytes(figure_bytes(plot_differences(result), dpi=150))
    except (AnchorAlignError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
