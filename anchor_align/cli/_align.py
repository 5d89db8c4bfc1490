"""``anchor-align align``: reads anchor graphs of another program, writes permutations and the fused graph."""

from __future__ import annotations

import argparse
import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._options import (
    EXIT_FAILED,
    EXIT_OK,
    add_format_option,
    add_join_options,
    add_missing_option,
    add_size_option,
    add_view_options,
    whole_number,
)
from ._terminal import plain, print_json, print_table, result_console, say

if TYPE_CHECKING:
    from rich.console import Console

    from ..arrays import BoolArray
    from ..data import Alignment, GraphFiles

# The table of shared samples fits 80 columns for up to this many views.
MOST_SHARED = 6


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "align",
        help="align anchor graphs of another program: read .npy, .npz or .mat, write permutations and the fused graph",
        description="Align anchor graphs (samples x anchors, one for each view) that another program made. OUT has the "
        "form of the input, or that of its ending: a .npz or .mat file, or, for .npy files, a folder. "
        "It contains permutations (views x columns: Z[:, permutations[v]] is aligned; counted from 1 in .mat files), "
        "fused, objective, upper_bound, gap, feature, structure, margins, and reference (for consensus: -1, or 0 in "
        ".mat files). Views may have different numbers of anchors: permutations then have -1, or 0 in .mat files, "
        "where a view has no anchor for a column. If samples are missing, shared has the number of samples that each "
        "pair of views shares. With --weights, OUT contains the weights. If rows of graphs have names, OUT contains "
        "samples: the names of the rows of fused.",
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
        help="a file, which is replaced if it exists; or a folder that is new, empty or has an earlier result",
    )
    parser.add_argument("--graphs", nargs="+", dest="keys", metavar="KEY", help="variables that hold the graphs")
    parser.add_argument(
        "--orient", choices=["rows", "columns"], default="rows", help="whether samples are rows or columns [rows]"
    )
    parser.add_argument("--lam", type=float, default=0.1, help="weight of the structure term, 0 to inf [0.1]")
    parser.add_argument(
        "--lam-scale",
        choices=["balanced", "paper"],
        default="balanced",
        help="balanced: both terms are cosines; paper: the raw matrices [balanced]",
    )
    parser.add_argument(
        "--reference",
        type=_reference,
        default="consensus",
        metavar="VIEW",
        help="index from 0, name, auto or consensus [consensus]",
    )
    parser.add_argument(
        "--method", choices=["ascent", "pfp", "exact", "pfp-many-to-one"], default="ascent", help="solver [ascent]"
    )
    parser.add_argument(
        "--effort",
        choices=["normal", "high"],
        default="normal",
        help="high: search on from the result of the ascent, for many times its time [normal]",
    )
    parser.add_argument("--seed", type=whole_number(0), default=0, help="seed of the ascent's random starts [0]")
    add_missing_option(parser)
    parser.add_argument(
        "--mask",
        metavar="FILE",
        help="which view has which sample: views x samples, false or 0 where a sample is missing; .npy, .npz, .mat or "
        ".csv",
    )
    add_join_options(parser, text_files=False)
    add_size_option(parser)
    add_view_options(parser, "the fused graph")
    parser.add_argument(
        "--fusion",
        metavar="NAME",
        default="mean",
        help="mean; rotated: the aligned graphs are rotated towards each other before the mean, which mostly gives "
        "better clusters, but the result may have negative entries: use its leading left singular vectors; or the "
        "fusion of an installed plug-in [mean]",
    )
    parser.add_argument(
        "--matrices",
        action="store_true",
        help="also write the permutation matrices; they are always written if anchors share columns",
    )
    add_format_option(parser, "summary")
    parser.set_defaults(run=run)


def _reference(text: str) -> int | str:
    return int(text) if text.removeprefix("-").isdecimal() else text


def run(arguments: argparse.Namespace) -> int:
    from ..data import check_output, output_form, read_graphs, read_mask, write_alignment
    from ..errors import FileError, InputError
    from ..graphs import check_mask
    from ..matching import check_reference

    size = arguments.max_size
    files = read_graphs(
        arguments.graphs,
        keys=arguments.keys,
        orient=arguments.orient,
        max_bytes=size,
        join=arguments.join,
        index=arguments.index,
    )
    arguments.reference = check_reference(arguments.reference, len(files.graphs), files.names)
    out = Path(arguments.output)
    form = output_form(out, files.form)
    largest = _largest_result(files, arguments)
    check_output(out, form, largest, arguments.graphs, matrices=arguments.matrices, mask=arguments.mask)
    mask = files.mask if arguments.mask is None else read_mask(arguments.mask, max_bytes=size)
    if arguments.mask is not None and (files.mask is not None or any(note.kind == "samples" for note in files.notes)):
        raise InputError(
            "--mask says by position where a sample is missing, and the samples of the graphs were put in one order by "
            "name; leave one of --mask and --join out, or pair rows by position with --no-index."
        )
    if mask is not None:
        mask = check_mask(mask, len(files.graphs), int(files.graphs[0].shape[0]))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = _aligned(files, mask, arguments)
    for text in dict.fromkeys(" ".join(str(each.message).split()) for each in warned):
        say(f"warning: {text}")
    try:
        write_alignment(out, form, result)
    except FileError as error:
        if arguments.verbosity >= 2:
            raise
        say(str(error))
        return EXIT_FAILED
    notes = [str(note) for note in files.notes if form == "mat" or note.kind != "version"]
    for note in (*notes, *(f"{text}." for text in result.match_notes)):
        say(f"note: {note}")
    if arguments.format == "json":
        _print_json(result, arguments, notes)
    else:
        _print_table(result, out)
    return EXIT_OK


def _largest_result(files: GraphFiles, arguments: argparse.Namespace) -> tuple[int, int]:
    """Most rows and columns of the fused graph: other views may add columns to those of a reference view."""
    n, sizes, reference = int(files.graphs[0].shape[0]), [int(Z.shape[1]) for Z in files.graphs], arguments.reference
    if not isinstance(reference, int) or arguments.many_to_one or not 0 <= reference < len(sizes):
        return n, max(sizes)
    own = sizes[reference]
    return n, own + sum(max(size - own, 0) for size in sizes)


def _aligned(files: GraphFiles, mask: BoolArray | None, arguments: argparse.Namespace) -> Alignment:
    from ..blocks import check_finite
    from ..clustering import fuse
    from ..data import Alignment
    from ..errors import InputError
    from ..fusion import agreement_weights, check_weights
    from ..graphs import GramMatrices, check_orders
    from ..matching import AnchorAligner, chance_notes, tie_notes
    from ..plugins import ALIKE, get_fusion, odd_rows

    weights = arguments.weights
    if isinstance(weights, tuple):
        check_weights(weights, len(files.graphs))
    try:
        grams = GramMatrices.from_graphs(files.graphs, mask=mask, missing=arguments.missing)
    except InputError:
        if mask is None and arguments.missing == "error":
            check_finite(files.graphs, files.names)  # its message has the name of the graph in the file
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
        effort=arguments.effort,
    ).fit(grams, graphs=files.graphs, mask=mask, missing=arguments.missing)
    aligns = arguments.fusion == "mean" or get_fusion(arguments.fusion).aligns
    matrices = aligner.matrices_ if aligns else None
    if isinstance(weights, str):
        weights = agreement_weights(grams, check_orders(matrices, grams.sizes))
    options = {"how": arguments.fusion, "mask": mask, "missing": arguments.missing}
    result = Alignment(
        files.names,
        aligner.permutations_,
        fuse(files.graphs, matrices, weights=weights, **options),
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
        aligner.chance_,
        aligner.chance_sd_,
        [*chance_notes(aligner, [f"view {name!r}" for name in files.names]), *tie_notes(aligner)],
        files.samples,
    )
    return result if arguments.matrices or result.anchors_share else replace(result, matrices=None)


def _summary(result: Alignment) -> list[dict[str, Any]]:
    """Numbers of each view, by name."""
    import numpy as np

    from ..matching import ambiguous

    rows = []
    for view, name in enumerate(result.names):
        numbers = {key: float(values[view]) for key, values in result.numbers().items() if key != "margins"}
        is_reference = view == result.reference
        margins = result.margins[view]
        unsure = None if np.isnan(margins).all() else int(ambiguous(margins, float(result.objective[view])).sum())
        unsure = 0 if is_reference else unsure
        row = {"view": name, **numbers, "ambiguous": unsure, "is_reference": is_reference}
        if result.chance is not None and not is_reference:
            row |= {"chance": float(result.chance[view]), "chance_sd": float(result.chance_sd[view])}
        if result.weights is not None:
            row["weight"] = float(result.weights[view])
        rows.append(row)
    return rows


def _print_json(result: Alignment, arguments: argparse.Namespace, notes: list[str]) -> None:
    n, m = result.fused.shape
    summary: dict[str, Any] = {
        "output": arguments.output,
        "n_samples": int(n),
        "n_anchors": int(m),
        "lam": arguments.lam if math.isfinite(arguments.lam) else "inf",
        "reference": result.reference,
        "views": _summary(result),
        "permutations": [[int(each) for each in p] for p in result.permutations],
        "notes": [*notes, *result.match_notes],
    }
    if len(set(result.sizes)) > 1:
        summary |= {"n_anchors": list(result.sizes), "n_columns": int(m)}
    if result.anchors_share:
        summary["matrices"] = [P.astype(int).tolist() for P in result.matrices]
    if result.shared is not None:
        summary["shared"] = result.shared.tolist()
    print_json(summary)


def _print_table(result: Alignment, out: Path) -> None:
    console = result_console()
    headings = ["view", "feature", "structure", "objective", "chance", "bound", "gap", "ambiguous"]
    if result.chance is None:
        headings.remove("chance")
    rows = []
    for row, permutation in zip(_summary(result), result.permutations, strict=True):
        numbers = [f"{row[key]:.4g}" for key in ("feature", "structure", "objective")]
        if result.chance is not None:
            numbers.append(f"{row['chance']:.3g}" if "chance" in row else "")
        numbers.append(f"{row['upper_bound']:.4g}")
        unsure = row["ambiguous"]
        known = "\N{EN DASH}" if unsure is None else f"{unsure} of {(permutation >= 0).sum()}"
        numbers += [f"{row['gap']:.1e}", known]
        numbers += [f"{row['weight']:.3f}"] if result.weights is not None else []
        rows.append([f"{row['view']} (reference)" if row["is_reference"] else row["view"], *numbers])
    if result.weights is not None:
        headings.append("weight")
    print_table(console, headings, rows, numbers=headings[1:])
    if result.shared is not None:
        console.print()
        _print_shared(result, console)
    console.print(plain(f"written: {out}", console), soft_wrap=True)


def _print_shared(result: Alignment, console: Console) -> None:
    """Numbers of samples that pairs of views share: a table, or the smallest number if there are many views."""
    views = range(len(result.names))
    if len(views) > MOST_SHARED:
        fewest, u, v = min((int(result.shared[u, v]), u, v) for u in views for v in range(u + 1, len(views)))
        text = f"fewest samples shared by two views: {fewest}, {result.names[u]} and {result.names[v]}"
        console.print(plain(text, console), soft_wrap=True)
        return
    headings = ["samples shared with", *(f"view {view}" for view in views)]
    rows = [[name, *counts] for name, counts in zip(result.names, result.shared, strict=True)]
    print_table(console, headings, rows, numbers=headings[1:])
