"""The paper's tables of scores and running times: ten methods and what people use anyway, published and ours.

    python examples/paper/rivals_table.py DATA... [--draws 10] [--jobs 2] [--format md] [--best] [--keep result.json]

DATA are files or folders; a data set of the paper is recognised by its sizes, and then the published numbers stand
beside ours. All methods get the same data, numbers of clusters and seeds. Fixed settings: the defaults of every method,
nothing chosen by label. With --best also the best of a small grid by label, as in the paper. Published numbers are the
best of a grid by label, from one draw of anchors. Times are multiples of those of fmvacc on the same data and machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from footings import NOTHING
from paper_data import HELP, find_data
from paper_numbers import main_table, published_seconds
from text_table import FORMATS, paragraph, table_text

from anchor_align import get_adapter
from anchor_align.report import answer, render
from anchor_align.study import AverageRanks, DataSpec, RivalSummary, StudyResult, average_ranks, compare

# Columns of the paper's tables, and the methods of this study that they are. LMVSC puts its graphs side by side.
PAPER = {
    "msc-ias": "MSC-IAS",
    "amgl": "AMGL",
    "pmsc": "PMSC",
    "rmkm": "RMKM",
    "bmvc": "BMVC",
    "lmvsc:concat": "LMVSC",
    "fmcnof": "FMCNOF",
    "msgl-given": "MSGL",
    "sfmc": "SFMC",
    "fmvacc": "FMVACC",
}
OTHERS = ("fmvacc:unaligned", "local", "kmeans", "spectral")
SCORES = ("acc", "nmi", "fscore")
# What --best chooses from, besides the default number of anchors.
GRID: dict[str, Any] = {"fmvacc.beta": [1.0, 100.0], "lmvsc.alpha": [1.0, 100.0]}
ANCHORS = [None, "k", "5k"]
STATES = {"memory": "OM", "timeout": "timeout"}


def main() -> int:
    """Run the study and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", help=HELP)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds that a fit may take [600]")
    parser.add_argument("--max-samples", type=int, default=3000, help="leave out larger files of a folder [3000]")
    parser.add_argument("--best", action="store_true", help="also the best setting of a grid by label")
    parser.add_argument("--cache", type=Path, help="folder for finished fits")
    parser.add_argument("--keep", type=Path, help="write all records into this JSON file")
    parser.add_argument("--format", choices=FORMATS, default="table")
    arguments = parser.parse_args()
    found = find_data(arguments.data, arguments.max_samples)
    # Objects in a dict: the same class with two settings has two names. MSGL as published takes anchors as they come.
    given = {"msgl-given": get_adapter("msgl", order="given"), "msgl-aligned": get_adapter("msgl", order="aligned")}
    named = [each for each in (*PAPER, *OTHERS) if each not in (*given, "fmvacc")]
    result = compare(
        "fmvacc",
        [DataSpec(each.source, name=each.name) for each in found],
        against=[*named, given],
        n_anchors=ANCHORS if arguments.best else None,
        params=GRID if arguments.best else None,
        repeats=arguments.draws,
        score=SCORES,
        footings=("fixed", "best") if arguments.best else ("fixed",),
        jobs=arguments.jobs,
        timeout=arguments.timeout,
        cache=arguments.cache,
    )
    if arguments.keep is not None:
        arguments.keep.write_text(render(result, "json"), encoding="utf-8")
    print("\n\n".join(_report(result, arguments.format)))
    return 0


def _report(result: StudyResult, format: str) -> Iterator[str]:
    yield paragraph(answer(result), format)
    for footing in dict.fromkeys(row.footing for row in result.against):
        rows = [row for row in result.against if row.footing == footing]
        for score in SCORES:
            yield _score_table(result, rows, score, format)
        yield _time_table(rows, format)
        ranks = [found for score in SCORES if (found := average_ranks(rows, score, footing)) is not None]
        if ranks:
            yield _rank_table(ranks, format)


def _score_table(result: StudyResult, rows: Sequence[RivalSummary], score: str, format: str) -> str:
    """A line for each method; published and ours side by side for each data set."""
    names = list(dict.fromkeys(row.dataset for row in rows))
    known = main_table(score)
    header = ["method", *(text for name in names for text in _headers(name, known))]
    lines = []
    for method in dict.fromkeys(row.method.name for row in rows):
        line = [method]
        for row in (each for each in rows if each.method.name == method):
            line += [known[row.dataset].get(PAPER.get(method, ""), NOTHING)] if row.dataset in known else []
            line.append(_cell(row, score))
        lines.append(line)
    chosen = "the default settings" if rows[0].footing == "fixed" else "the best settings of a grid by label"
    caption = (
        f'{score.upper()} in %, mean ± sd over {result.repeats} draws at {chosen}. Columns "pub": the paper, best of a '
        "grid by label."
    )
    return table_text(caption, header, lines, format, 1)


def _headers(name: str, known: dict[str, dict[str, str]]) -> list[str]:
    return [f"{name} pub", f"{name} ours"] if name in known else [name]


def _cell(row: RivalSummary, score: str) -> str:
    if row.summary is None or score not in row.summary.mean:
        return STATES.get(row.status, row.status)
    spread = f" ± {100 * row.summary.sd[score]:.1f}" if score in row.summary.sd else ""
    return f"{100 * row.summary.mean[score]:.1f}{spread}"


def _time_table(rows: Sequence[RivalSummary], format: str) -> str:
    names = list(dict.fromkeys(row.dataset for row in rows))
    known = published_seconds()
    first = {row.dataset: row.seconds for row in rows if row.method.name == "fmvacc"}
    header = ["method", *(text for name in names for text in _headers(name, {each: {} for each in known}))]
    lines = []
    for method in dict.fromkeys(row.method.name for row in rows):
        line = [method]
        for row in (each for each in rows if each.method.name == method):
            if row.dataset in known:
                seconds = known[row.dataset].get(PAPER.get(method, ""))
                line.append(NOTHING if seconds is None else _ratio(seconds / known[row.dataset]["FMVACC"]))
            own = first[row.dataset]
            line.append(NOTHING if row.seconds is None or own is None else _ratio(row.seconds / own))
        lines.append(line)
    caption = 'Running time as a multiple of that of fmvacc, one thread each; "pub": the paper, in MATLAB.'
    return table_text(caption, header, lines, format, 1)


def _rank_table(ranks: Sequence[AverageRanks], format: str) -> str:
    caption = (
        f"Average ranks over {ranks[0].n_data} data sets, 1 is best; ranks closer than "
        f"{ranks[0].critical_difference:.2f} are not told apart (Nemenyi, 5 %)."
    )
    lines = [[name, *(f"{each.ranks[name]:.2f}" for each in ranks)] for name in ranks[0].ranks]
    return table_text(caption, ["method", *(each.score.upper() for each in ranks)], lines, format, 1)


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


if __name__ == "__main__":
    raise SystemExit(main())
