"""Write an alignment: one .npz or .mat file, or a folder of .npy files; completely or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Graph, is_sparse
from ..errors import FileError, InputError
from ._whole_files import check_writable, make_folder, unfinished, write_whole, writing

# MATLAB reads no variable of version 5 that is larger.
_LARGEST_MAT = 2**31
_NUMBERS = ("feature", "structure", "objective", "upper_bound", "gap", "margins")
# Files of a result in a folder; every result has the first three.
_ALWAYS = ("permutations.npy", "reference.npy", "names.txt")
_SOMETIMES = ("matrices", "shared", "weights", "fused")
_FILES = (*_ALWAYS, *(f"{name}.npy" for name in (*_NUMBERS, *_SOMETIMES)), "fused.npz", "samples.txt")


@dataclass(frozen=True, eq=False)
class Alignment:
    """The result of aligning graphs.

    ``Z_v[:, permutations[v]]`` is aligned, except for columns without an anchor (-1). ``matrices`` are set if they were
    asked for, or say more than the permutations; ``shared``, the number of samples that each pair of views shares, if
    views lack samples; ``weights`` if they were asked for. ``sizes`` are the numbers of anchors. ``chance`` and
    ``chance_sd`` are the objectives of shuffled samples, if known; ``match_notes`` are sentences about the match;
    ``samples`` are the names of the rows of ``fused``, if they have names.
    """

    names: list[str]
    permutations: Any
    fused: Graph
    feature: Any
    structure: Any
    objective: Any
    upper_bound: Any
    gap: Any
    margins: Any
    reference: int | None
    matrices: Any = None
    shared: Any = None
    weights: Any = None
    sizes: Sequence[int] = ()
    chance: Any = None
    chance_sd: Any = None
    match_notes: Sequence[str] = ()
    samples: Sequence[Any] | None = None

    @property
    def anchors_share(self) -> bool:
        """Whether some column holds several anchors of a view: the permutations name one of them only."""
        return self.matrices is not None and any((P.sum(axis=0) > 1).any() for P in self.matrices)

    def numbers(self) -> dict[str, Any]:
        """Everything about the match except permutations and graphs."""
        return {name: getattr(self, name) for name in _NUMBERS}


def output_form(out: Path, form: str) -> str:
    """Form of the output: by the ending of ``out``; without one, the form of the input. "npy" is a folder."""
    ending = out.suffix.lower()
    if ending in (".npz", ".mat"):
        return ending[1:]
    if ending and not out.is_dir() and (form != "npy" or ending in (".npy", ".csv", ".txt", ".json", ".h5")):
        raise InputError(f"Cannot write {out}: expected a name that ends in .npz or .mat, or a folder for .npy files.")
    return form


def check_output(
    out: Path, form: str, shape: tuple[int, int], inputs: Sequence[str], *, matrices: bool, mask: str | None = None
) -> None:
    """Refuse an output that cannot be written, before any work is done for it.

    ``shape`` is the largest possible shape of the fused graph; ``inputs`` and ``mask`` are the files that are read.
    """
    n, m = shape
    if form == "mat" and max(n * m, m * m if matrices else 0) * 8 >= _LARGEST_MAT:
        raise InputError(
            f"Cannot write {out}: the fused graph of {n} x {m} numbers does not fit in a .mat file of version 5, which "
            "holds less than 2 GB a variable; give an output that ends in .npz."
        )
    if form != "npy":
        _check_not_input(out, inputs, mask)
        check_writable(out)
        return
    if out.exists() and not out.is_dir():
        raise FileError(f"Cannot write {out}: it is a file, and graphs in .npy files are written to a folder.")
    for name in _FILES:
        _check_not_input(out / name, inputs, mask)
    if out.is_dir():
        _check_folder(out)
    check_writable(out / "x" if out.is_dir() else out)


def _check_not_input(out: Path, graphs: Sequence[str], mask: str | None) -> None:
    """Refuse to write over a file that was read."""
    for path in (*graphs, *([] if mask is None else [mask])):
        if out.exists() and os.path.exists(path) and os.path.samefile(out, path):
            what = "the mask" if path == mask else "one of the graphs to align"
            raise FileError(f"Cannot write {out}: it is {what}.")


def _check_folder(out: Path) -> None:
    """Refuse a folder that holds anything except an earlier result, which the new one replaces completely."""
    with writing(out):
        held = sorted(name for name in os.listdir(out) if not name.startswith("."))
    others = [name for name in held if name not in _FILES]
    if not others and held and not set(_ALWAYS) <= set(held):
        others = held
    if others:
        raise FileError(
            f"Cannot write {out}: the folder holds {others[0]!r}, which is not part of an earlier result; expected a "
            "folder that is new, empty or holds nothing but an earlier result."
        )


def write_alignment(out: Path, form: str, result: Alignment) -> None:
    """Write an alignment; a file that was there is replaced.

    In .npz and .npy files indices count from 0; -1 means that a view has no anchor for a column, or that the reference
    is "consensus". In .mat files indices count from 1, as in MATLAB, and 0 has that meaning. Matrices of views with
    different numbers of anchors are a cell in .mat files; in others, zeros fill the rows of views with fewer anchors.
    """
    if form == "npz":
        write_whole(out, lambda file: np.savez(file, **_npz_arrays(result)))
    elif form == "mat":
        write_whole(out, lambda file: _save_mat(file, result))
    else:
        _write_folder(out, result)


def _arrays(result: Alignment) -> dict[str, Any]:
    """What all forms hold, except the fused graph."""
    arrays = {"permutations": np.asarray(result.permutations, dtype=np.int64), **result.numbers()}
    arrays["reference"] = np.int64(-1 if result.reference is None else result.reference)
    if result.matrices is not None:
        # Zeros fill the rows of views with fewer anchors.
        most = max(map(len, result.matrices))
        arrays["matrices"] = np.array([np.pad(P, ((0, most - len(P)), (0, 0))) for P in result.matrices])
    if result.shared is not None:
        arrays["shared"] = np.asarray(result.shared, dtype=np.int64)
    if result.weights is not None:
        arrays["weights"] = np.asarray(result.weights)
    return arrays


def _npz_arrays(result: Alignment) -> dict[str, Any]:
    arrays = {**_arrays(result), "names": np.array(result.names, dtype=str)}
    if result.samples is not None:
        arrays["samples"] = np.array([str(name) for name in result.samples])
    if not is_sparse(result.fused):
        return {**arrays, "fused": result.fused}
    parts = {
        f"fused_{part}": np.asarray(getattr(result.fused, part)) for part in ("data", "indices", "indptr", "shape")
    }
    return {**arrays, **parts, "fused_format": np.array("csr")}


def _save_mat(file: Any, result: Alignment) -> None:
    from scipy.io import savemat

    arrays = _arrays(result)
    arrays["permutations"] = arrays["permutations"] + 1.0
    arrays["reference"] = arrays["reference"] + 1.0
    if result.shared is not None:
        arrays["shared"] = arrays["shared"].astype(np.float64)
    arrays["fused"] = sp.csc_array(result.fused) if is_sparse(result.fused) else result.fused
    arrays["names"] = _cell(result.names)
    if result.samples is not None:
        arrays["samples"] = _cell([str(name) for name in result.samples])
    if result.matrices is not None:
        arrays["matrices"] = _cell(result.matrices)
    savemat(file, arrays, oned_as="column", do_compression=True)


def _cell(values: Sequence[Any]) -> Any:
    cell = np.empty((1, len(values)), dtype=object)
    for i, value in enumerate(values):
        cell[0, i] = value
    return cell


def _write_folder(out: Path, result: Alignment) -> None:
    """Write all files to a folder beside ``out`` first, then move them: a new folder appears complete."""
    # "." and ".." get their real names.
    place = Path(os.path.abspath(out))
    fresh = unfinished(place)
    make_folder(fresh)
    try:
        for name, array in _arrays(result).items():
            write_whole(fresh / f"{name}.npy", partial(np.save, arr=array, allow_pickle=False))
        fused = result.fused
        if is_sparse(fused):
            write_whole(fresh / "fused.npz", partial(sp.save_npz, matrix=fused))
        else:
            write_whole(fresh / "fused.npy", partial(np.save, arr=fused, allow_pickle=False))
        write_whole(fresh / "names.txt", _lines(result.names))
        if result.samples is not None:
            write_whole(fresh / "samples.txt", _lines(result.samples))
        _move(fresh, place)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _lines(texts: Sequence[Any]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode("utf-8", "replace")


def _move(fresh: Path, out: Path) -> None:
    """Move the new folder to its place; if there is a folder already, move the files one by one."""
    with writing(out):
        if not out.exists():
            os.rename(fresh, out)
            return
        # Once more: the folder may have changed while graphs were aligned.
        _check_folder(out)
        written = sorted(path.name for path in fresh.iterdir())
        for name in written:
            os.replace(fresh / name, out / name)
        # Files that only the earlier result has: matrices, or the fused graph in the other form.
        for name in set(_FILES) - set(written):
            (out / name).unlink(missing_ok=True)
