"""MSGL with anchors aligned before the first round, against anchors as they come.

    python examples/paper/msgl_order.py DATA... [--draws 8] [--jobs 2] [--format md]

Both have the same anchors, seeds and settings, and samples of unit length. Only the order of the anchors differs.
"""

from __future__ import annotations

import argparse

from paper_data import HELP, find_data
from text_table import FORMATS

from anchor_align import get_adapter
from anchor_align.report import render
from anchor_align.study import DataSpec, compare


def main() -> int:
    """Run the study and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", help=HELP)
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--max-samples", type=int, default=3000, help="leave out larger files of a folder [3000]")
    parser.add_argument("--format", choices=FORMATS, default="table")
    arguments = parser.parse_args()
    orders = {order: get_adapter("msgl", order=order, scale="unit") for order in ("aligned", "given")}
    result = compare(
        {"aligned first": orders["aligned"]},
        [DataSpec(each.source, name=each.name) for each in find_data(arguments.data, arguments.max_samples)],
        against={"as they come": orders["given"]},
        repeats=arguments.draws,
        score=["acc", "nmi"],
        jobs=arguments.jobs,
    )
    print(render(result, arguments.format, width=120))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
