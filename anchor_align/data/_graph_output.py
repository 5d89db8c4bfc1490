"""Writing an alignment: one .npz or .mat file, or a folder of .npy files; whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._files import check_writable, make_folder, write_whole
from .._types import is_sparse
from ..errors import FileError, InputError
from ._graph_files import Alignment, not_an_input

# MATLAB reads no variable of version 5 that is larger.
_LARGEST_MAT = 2**31
_PARTS = ("data", "indices", "indptr", "shape")
# Files of a result in a folder; those without which a folder holds none.
_ALWAYS = ("permutations.npy", "reference.npy", "names.txt")
_FILES = (
    *_ALWAYS,
    *(f"{name}.npy" for name in ("feature", "structure", "objective", "upper_bound", "gap", "margins", "matrices")),
    *("shared.npy", "weights.npy"),
    *("fused.npy", "fused.npz"),
)


def output_form(out: Path, form: str) -> str:
    """Form of the output: by the ending of OUT; without one, that of the input. "npy" is a folder."""
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

    ``shape`` is that of the fused graph, at most; ``inputs`` and ``mask`` are the files that are read.
    """
    n, m = shape
    if form == "mat" and max(n * m, m * m if matrices else 0) * 8 >= _LARGEST_MAT:
        raise InputError(
            f"Cannot write {out}: the fused graph of {n} x {m} numbers does not fit in a .mat file of version 5, which "
            "holds less than 2 GB a variable; give an output that ends in .npz."
        )
    if form != "npy":
        not_an_input(out, inputs, mask)
        check_writable(out)
        return
    if out.exists() and not out.is_dir():
        raise FileError(f"Cannot write {out}: it is a file, and graphs in .npy files are written to a folder.")
    for name in _FILES:
        not_an_input(out / name, inputs, mask)
    if out.is_dir():
        _check_folder(out)
    check_writable(out / "x" if out.is_dir() else out)


def _check_folder(out: Path) -> None:
    """Refuse a folder with anything in it but an earlier result, which the new one replaces as a whole."""
    try:
        held = sorted(name for name in os.listdir(out) if not name.startswith("."))
    except OSError as error:
        raise FileError(f"Cannot write {out}: {error.strerror or error}.") from error
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

    In .npz and .npy files indices count from 0; -1 says that a view has no anchor for a column, or that the reference
    is "consensus". In .mat files they count from 1, as MATLAB does, and 0 says the same. Matrices of views with
    different numbers of anchors are a cell in .mat files; else zeros fill the rows of those with fewer.
    """
    if form == "npz":
        write_whole(out, lambda file: np.savez(file, **_npz_arrays(result)))
    elif form == "mat":
        write_whole(out, lambda file: _save_mat(file, result))
    else:
        _write_folder(out, result)


def _arrays(result: Alignment) -> dict[str, Any]:
    """What all forms hold, but the fused graph."""
    arrays = {"permutations": np.asarray(result.permutations, dtype=np.int64), **result.numbers()}
    arrays["reference"] = np.int64(-1 if result.reference is None else result.reference)
    if result.matrices is not None:
        arrays["matrices"] = _stacked(result.matrices)
    if result.shared is not None:
        arrays["shared"] = np.asarray(result.shared, dtype=np.int64)
    if result.weights is not None:
        arrays["weights"] = np.asarray(result.weights)
    return arrays


def _stacked(matrices: Sequence[Any]) -> Any:
    """Matrices as one array; zeros fill the rows of those that have fewer."""
    most = max(map(len, matrices))
    return np.array([np.pad(P, ((0, most - len(P)), (0, 0))) for P in matrices])


def _npz_arrays(result: Alignment) -> dict[str, Any]:
    arrays = {**_arrays(result), "names": np.array(result.names, dtype=str)}
    if not is_sparse(result.fused):
        return {**arrays, "fused": result.fused}
    parts = {f"fused_{part}": np.asarray(getattr(result.fused, part)) for part in _PARTS}
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
    if result.matrices is not None:
        arrays["matrices"] = _cell(result.matrices)
    savemat(file, arrays, oned_as="column", do_compression=True)


def _cell(values: Sequence[Any]) -> Any:
    cell = np.empty((1, len(values)), dtype=object)
    for i, value in enumerate(values):
        cell[0, i] = value
    return cell


def _write_folder(out: Path, result: Alignment) -> None:
    """All files beside the folder first, then in its place: a new folder appears whole."""
    # With a name of its own, also where it is given as "." or "..".
    place = Path(os.path.abspath(out))
    fresh = place.with_name(f".{place.name[:40]}.{secrets.token_hex(6)}.part")
    make_folder(fresh)
    try:
        for name, array in _arrays(result).items():
            write_whole(fresh / f"{name}.npy", _saver(array))
        if is_sparse(result.fused):
            write_whole(fresh / "fused.npz", lambda file: sp.save_npz(file, result.fused))
        else:
            write_whole(fresh / "fused.npy", _saver(result.fused))
        write_whole(fresh / "names.txt", "".join(f"{name}\n" for name in result.names).encode("utf-8", "replace"))
        _move(fresh, place)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _saver(array: Any) -> Any:
    return lambda file: np.save(file, array, allow_pickle=False)


def _move(fresh: Path, out: Path) -> None:
    """Put the files where they belong; in a folder that is there, one by one."""
    try:
        if not out.exists():
            os.rename(fresh, out)
            return
        # Again: something may have come into the folder while graphs were aligned.
        _check_folder(out)
        written = sorted(path.name for path in fresh.iterdir())
        for name in written:
            os.replace(fresh / name, out / name)
        # What only the earlier result has: matrices, or the fused graph in the other form.
        for name in set(_FILES) - set(written):
            (out / name).unlink(missing_ok=True)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"Cannot write {out}: {error.strerror or error}.") from error
