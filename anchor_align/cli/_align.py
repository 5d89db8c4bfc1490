"""``anchor-align align``: anchor graphs made elsewhere in, permutations and the fused graph out."""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._options import EXIT_FAILED, EXIT_OK, add_missing_option, add_view_options, whole_number

if TYPE_CHECKING:
    from rich.console import Console

    from .._observed import BoolArray
    from ..data._graph_files import Alignment, GraphFiles

# Views up to which the table of shared samples fits 80 columns.
MOST_SHARED = 6


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "align",
        help="align anchor graphs made elsewhere: .npy, .npz or .mat in, permutations and the fused graph out",
        description="Align anchor graphs (samples x anchors, one for each view) that another program made. OUT is "
        "written in the form of the input, or as its ending says: a .npz or .mat file, or, for .npy files, a folder. "
        "It holds permutations (views x columns: Z[:, permutations[v]] is aligned; counted from 1 in .mat files), "
        "fused, objective, upper_bound, gap, feature, structure, margins, and reference (for consensus: -1, or 0 in "
        ".mat files). Views may have different numbers of anchors: -1, or 0 in .mat files, then stands in permutations "
        "where a view has no anchor for a column. Where views lack samples, shared says how many each pair has in "
        "common; weights are there if --weights is given.",
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
    parser.add_argument(
        "--method", choices=["ascent", "pfp", "exact", "pfp-many-to-one"], default="ascent", help="solver [ascent]"
    )
    parser.add_argument("--seed", type=whole_number(0), default=0, help="of the ascent's random starts [0]")
    add_missing_option(parser)
    parser.add_argument(
        "--mask",
        metavar="FILE",
        help="which view has which sample: views x samples, true or 1 where it has; .npy, .npz, .mat or .csv",
    )
    add_view_options(parser, "the fused graph")
    parser.add_argument(
        "--fusion",
        choices=["mean", "rotated"],
        default="mean",
        help="rotated: the aligned graphs are rotated towards each other before the mean, which mostly gives better "
        "clusters, but may have negative entries: take its leading left singular vectors [mean]",
    )
    parser.add_argument(
        "--matrices",
        action="store_true",
        help="write the permutation matrices too; done in any case where anchors share columns",
    )
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
    from ..data._masks import read_mask
    from ..errors import FileError, InputError

    if not arguments.output:
        raise InputError("Cannot write '': expected the name of a file or folder after -o.")
    files = read_graphs(arguments.graphs, keys=arguments.keys, orient=arguments.orient)
    out = Path(arguments.output)
    form = output_form(out, files.form)
    largest = _largest_result(files, arguments)
    check_output(out, form, largest, arguments.graphs, matrices=arguments.matrices, mask=arguments.mask)
    mask = None if arguments.mask is None else read_mask(arguments.mask)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = _aligned(files, mask, arguments)
    for text in dict.fromkeys(" ".join(str(each.message).split()) for each in warned):
        print(f"anchor-align: warning: {text}", file=sys.stderr)
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


def _largest_result(files: GraphFiles, arguments: argparse.Namespace) -> tuple[int, int]:
    """Samples and columns of the fused graph, at most: a named reference may be followed by columns of others."""
    sizes = [int(Z.shape[1]) for Z in files.graphs]
    reference = arguments.reference
    if not isinstance(reference, int) or arguments.many_to_one or not 0 <= reference < len(sizes):
        return int(files.graphs[0].shape[0]), max(sizes)
    own = sizes[reference]
    return int(files.graphs[0].shape[0]), own + sum(max(size - own, 0) for size in sizes)


def _aligned(files: GraphFiles, mask: BoolArray | None, arguments: argparse.Namespace) -> Alignment:
    from .._align import AnchorAligner
    from .._columns import check_orders
    from .._fusion import check_weights, fuse
    from .._grams import GramMatrices
    from .._made_graphs import ALIKE, odd_rows
    from .._validation import check_finite
    from .._view_weights import agreement_weights
    from ..data._graph_files import Alignment
    from ..errors import InputError

    weights = arguments.weights
    if isinstance(weights, tuple):
        check_weights(weights, len(files.graphs))
    try:
        grams = GramMatrices.from_graphs(files.graphs, mask=mask, missing=arguments.missing)
    except InputError:
        if mask is None and arguments.missing == "error":
            check_finite(files.graphs, files.names)  # which graph it is, by its name in the file
        raise
    odd = odd_rows(files.graphs, [repr(name) for name in files.names], mask)
    if odd:
        warnings.warn(f"There are {odd}; {ALIKE}.", stacklevel=2)

    aligner = AnchorAligner(
        arguments.lam,
        lam_scale=arguments.lam_scale,
        reference=arguments.reference,
        method=arguments.method,
        many_to_one=arguments.many_to_one,
        random_state=arguments.seed,
    ).fit(grams)
    if isinstance(weights, str):
        weights = agreement_weights(grams, check_orders(aligner.matrices_, grams.sizes))
    result = Alignment(
        files.names,
        aligner.permutations_,
        fuse(
            files.graphs,
            aligner.matrices_,
            weights=weights,
            how=arguments.fusion,
            mask=mask,
            missing=arguments.missing,
        ),
        aligner.feature_,
        aligner.structure_,
        aligner.objective_,
        aligner.upper_bound_,
        aligner.gap_,
        aligner.margins_,
        aligner.reference_,
        aligner.matrices_,
        None if grams.pairs is None else aligner.shared_,
        None if weights is None else check_weights(weights, len(files.graphs)),
        grams.sizes,
    )
    return result if arguments.matrices or result.anchors_share else replace(result, matrices=None)


def _summary(result: Alignment) -> list[dict[str, Any]]:
    """Numbers of each view."""
    from .._certificate import ambiguous

    rows = []
    for view, name in enumerate(result.names):
        numbers = {key: float(values[view]) for key, values in result.numbers().items() if key != "margins"}
        is_reference = view == result.reference
        unsure = 0 if is_reference else int(ambiguous(result.margins[view], float(result.objective[view])).sum())
        row = {"view": name, **numbers, "ambiguous": unsure, "is_reference": is_reference}
        if result.weights is not None:
            row["weight"] = float(result.weights[view])
        rows.append(row)
    return rows


def _print_json(result: Alignment, arguments: argparse.Namespace, notes: list[str]) -> None:
    from ._output import print_json

    n, m = result.fused.shape
    summary: dict[str, Any] = {
        "output": arguments.output,
        "n_samples": int(n),
        "n_anchors": int(m),
        "lam": arguments.lam if math.isfinite(arguments.lam) else "inf",
        "reference": result.reference,
        "views": _summary(result),
        "permutations": [[int(each) for each in p] for p in result.permutations],
        "notes": notes,
    }
    if len(set(result.sizes)) > 1:
        summary |= {"n_anchors": list(result.sizes), "n_columns": int(m)}
    if result.anchors_share:
        summary["matrices"] = [P.astype(int).tolist() for P in result.matrices]
    if result.shared is not None:
        summary["shared"] = result.shared.tolist()
    print_json(summary)


def _print_table(result: Alignment, out: Path) -> None:
    from ._output import plain, plain_table, result_console

    console = result_console()
    table = plain_table()
    table.add_column("view", overflow="fold")
    for heading in ("feature", "structure", "objective", "bound", "gap", "ambiguous"):
        table.add_column(heading, justify="right", no_wrap=True)
    if result.weights is not None:
        table.add_column("weight", justify="right", no_wrap=True)
    for row, permutation in zip(_summary(result), result.permutations, strict=True):
        name = f"{row['view']} (reference)" if row["is_reference"] else row["view"]
        numbers = [f"{row[key]:.4g}" for key in ("feature", "structure", "objective", "upper_bound")]
        numbers += [f"{row['gap']:.1e}", f"{row['ambiguous']} of {(permutation >= 0).sum()}"]
        numbers += [f"{row['weight']:.3f}"] if result.weights is not None else []
        table.add_row(plain(name, console), *numbers)
    console.print(table)
    if result.shared is not None:
        _print_shared(result, console)
    console.print(plain(f"written: {out}", console), soft_wrap=True)


def _print_shared(result: Alignment, console: Console) -> None:
    """Samples that each pair of views shares, as a table where there is room for one."""
    from ._output import plain, plain_table

    console.print()
    views = range(len(result.names))
    if len(views) > MOST_SHARED:
        pairs = [(int(result.shared[u, v]), u, v) for u in views for v in range(u + 1, len(views))]
        fewest, u, v = min(pairs)
        text = f"fewest samples shared by two views: {fewest}, {result.names[u]} and {result.names[v]}"
        console.print(plain(text, console), soft_wrap=True)
        return
    table = plain_table()
    table.add_column("samples shared with", overflow="fold")
    for view in views:
        table.add_column(f"view {view}", justify="right", no_wrap=True)
    for name, counts in zip(result.names, result.shared, strict=True):
        table.add_row(plain(name, console), *map(str, counts))
    console.print(table)
