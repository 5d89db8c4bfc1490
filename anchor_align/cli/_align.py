"""``anchor-align align``: anchor graphs made elsewhere in, permutations and the fused graph out."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._options import EXIT_FAILED, EXIT_OK, whole_number

if TYPE_CHECKING:
    from ..data._graph_files import Alignment, GraphFiles


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "align",
        help="align anchor graphs made elsewhere: .npy, .npz or .mat in, permutations and the fused graph out",
        description="Align anchor graphs (samples x anchors, one for each view) that another program made. OUT is "
        "written in the form of the input, or as its ending says: a .npz or .mat file, or, for .npy files, a folder. "
        "It holds permutations (views x anchors: Z[:, permutations[v]] is aligned; counted from 1 in .mat files), "
        "fused, objective, upper_bound, gap, feature, structure, margins, and reference (for consensus: -1, or 0 in "
        ".mat files).",
        epilog="example: anchor-align align graphs.mat -o aligned.mat",
    )
    parser.add_argument(
        "graphs", nargs="+", metavar="GRAPHS", help="one .npz or .mat file, or a .npy file for each view"
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help="file, replaced if it exists; or folder, new, empty or with an earlier result",
    )
    parser.add_argument("--graphs", nargs="+", dest="keys", metavar="KEY", help="variables that hold the graphs")
    parser.add_argument(
        "--orient", choices=["rows", "columns"], default="rows", help="whether samples are rows or columns [rows]"
    )
    parser.add_argument("--lam", type=float, default=0.1, help="weight of the structure term, 0 to inf [0.1]")
    parser.add_argument("--lam-scale", choices=["balanced", "paper"], default="balanced", help="[balanced]")
    parser.add_argument(
        "--reference", type=_reference, default="auto", metavar="VIEW", help="index from 0, auto or consensus [auto]"
    )
    parser.add_argument("--method", choices=["ascent", "pfp", "exact"], default="ascent", help="solver [ascent]")
    parser.add_argument("--seed", type=whole_number(0), default=0, help="of the ascent's random starts [0]")
    parser.add_argument("--matrices", action="store_true", help="write the permutation matrices too")
    parser.add_argument("--format", choices=["table", "json"], default="table", help="form of the summary [table]")
    parser.set_defaults(run=run)


def _reference(text: str) -> int | str:
    if text in ("auto", "consensus"):
        return text
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a view's index, auto or consensus, got {text!r}") from None


def run(arguments: argparse.Namespace) -> int:
    """Read, align, write; then say how good the match is."""
    from ..data._graph_files import read_graphs
    from ..data._graph_output import check_output, output_form, write_alignment
    from ..errors import FileError, InputError

    if not arguments.output:
        raise InputError("Cannot write '': expected the name of a file or folder after -o.")
    files = read_graphs(arguments.graphs, keys=arguments.keys, orient=arguments.orient)
    out = Path(arguments.output)
    form = output_form(out, files.form)
    check_output(out, form, files.graphs[0].shape, arguments.graphs, matrices=arguments.matrices)
    result = _aligned(files, arguments)
    try:
        write_alignment(out, form, result)
    except FileError as error:
        if arguments.verbosity >= 2:
            raise
        print(f"anchor-align: {error}", file=sys.stderr)
        return EXIT_FAILED
    notes = [note for note in files.notes if form == "mat" or "MATLAB 7.3" not in note]
    for note in notes:
        print(f"anchor-align: note: {note}", file=sys.stderr)
    if arguments.format == "json":
        _print_json(result, arguments, notes)
    else:
        _print_table(result, out)
    return EXIT_OK


def _aligned(files: GraphFiles, arguments: argparse.Namespace) -> Alignment:
    from .._align import AnchorAligner
    from .._fusion import fuse
    from ..data._graph_files import Alignment

    aligner = AnchorAligner(
        arguments.lam,
        lam_scale=arguments.lam_scale,
        reference=arguments.reference,
        method=arguments.method,
        random_state=arguments.seed,
    ).fit(files.graphs)
    return Alignment(
        files.names,
        aligner.permutations_,
        fuse(files.graphs, aligner.permutations_),
        aligner.feature_,
        aligner.structure_,
        aligner.objective_,
        aligner.upper_bound_,
        aligner.gap_,
        aligner.margins_,
        aligner.reference_,
        aligner.matrices_ if arguments.matrices else None,
    )


def _summary(result: Alignment) -> list[dict[str, Any]]:
    """Numbers of each view."""
    from .._certificate import ambiguous

    rows = []
    for view, name in enumerate(result.names):
        numbers = {key: float(values[view]) for key, values in result.numbers().items() if key != "margins"}
        is_reference = view == result.reference
        unsure = 0 if is_reference else int(ambiguous(result.margins[view], float(result.objective[view])).sum())
        rows.append({"view": name, **numbers, "ambiguous": unsure, "is_reference": is_reference})
    return rows


def _print_json(result: Alignment, arguments: argparse.Namespace, notes: list[str]) -> None:
    from ._output import print_json

    n, m = result.fused.shape
    summary = {
        "output": arguments.output,
        "n_samples": int(n),
        "n_anchors": int(m),
        "lam": arguments.lam if math.isfinite(arguments.lam) else "inf",
        "reference": result.reference,
        "views": _summary(result),
        "permutations": [[int(each) for each in p] for p in result.permutations],
        "notes": notes,
    }
    print_json(summary)


def _print_table(result: Alignment, out: Path) -> None:
    from ._output import plain, plain_table, result_console

    console = result_console()
    table = plain_table()
    table.add_column("view", overflow="fold")
    for heading in ("feature", "structure", "objective", "bound", "gap", "ambiguous"):
        table.add_column(heading, justify="right", no_wrap=True)
    m = len(result.permutations[0])
    for row in _summary(result):
        name = f"{row['view']} (reference)" if row["is_reference"] else row["view"]
        numbers = [f"{row[key]:.4g}" for key in ("feature", "structure", "objective", "upper_bound")]
        table.add_row(plain(name, console), *numbers, f"{row['gap']:.1e}", f"{row['ambiguous']} of {m}")
    console.print(table)
    console.print(plain(f"written: {out}", console), soft_wrap=True)
