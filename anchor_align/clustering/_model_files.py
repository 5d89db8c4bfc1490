"""Files of saved models: a zip archive with ``model.json`` and one .npy file for each array.

Nothing is ever unpickled. The archive is not compressed, so no array can be larger than the file; sizes are compared
before anything is allocated, and the checksums of the archive reveal damage. The same model gives the same bytes.
"""

from __future__ import annotations

import io
import json
import math
import os
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from ..arrays import is_sparse
from ..checks import check_not_empty
from ..data import write_whole
from ..errors import FileError, InputError, shown

FORMAT, VERSION = "anchor-align model", 1
TREE = "model.json"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the date in the archive
NUMBERS = "biuf"  # kinds of arrays that are saved
UNSTORED = 2**22  # a size that no array of the file has, such as the width of a sparse array, is at most this
PLAIN = (
    "numbers, texts, True, False, None, arrays and CSR arrays of numbers, slices, and lists, tuples and dicts of these"
)


def write_model(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write plain values by name into a file, completely or not at all."""
    arrays: list[np.ndarray] = []
    tree = {
        "format": FORMAT,
        "version": VERSION,
        "content": {name: _encoded(value, arrays, name) for name, value in content.items()},
    }

    def fill(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(zipfile.ZipInfo(TREE, LONG_AGO), json.dumps(tree, allow_nan=False, indent=1))
            for number, array in enumerate(arrays):
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, array, allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{number}.npy", LONG_AGO), buffer.getvalue())

    write_whole(path, fill)


def read_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read plain values by name from a file that :func:`write_model` wrote; refuse all others with one sentence."""
    check_not_empty(path)
    name = os.fspath(path)
    try:
        about = Path(path).stat()
        # A pipe would be waited for, and a device may never end. The error of a folder comes from the system.
        if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
            raise ValueError("it is a pipe or a device; expected a file")
        file = open(path, "rb")  # noqa: SIM115  # closed below
    except (OSError, ValueError) as error:
        raise FileError(f"Cannot read the model {name}: {getattr(error, 'strerror', None) or error}.") from error
    with file:
        if not zipfile.is_zipfile(file):
            raise FileError(
                f"{name} is not a saved model, or it is damaged; expected a file from clusterer.save(path) or "
                "anchor-align cluster --save."
            )
        try:
            return _read(file, about.st_size, name)
        except FileError:
            raise
        except Exception as error:  # zipfile, json and numpy raise a dozen kinds for damaged files
            reason = " ".join(str(error).split()) or type(error).__name__
            raise FileError(f"The model {name} is damaged: {reason}. Save it again, or copy it again.") from error


def most_columns(n_bytes: int) -> int:
    """The largest number of columns that a model of this size can claim: work for it is in proportion to the file."""
    return max(n_bytes, UNSTORED)


def _read(file: IO[bytes], size: int, name: str) -> dict[str, Any]:
    with zipfile.ZipFile(file) as archive:
        members = {member.filename: member for member in archive.infolist()}
        total = sum(member.file_size for member in members.values())
        if TREE not in members:
            raise FileError(f"{name} is an archive without {TREE}, so it is not a saved model.")
        if total > size or any(member.compress_type != zipfile.ZIP_STORED for member in members.values()):
            raise ValueError(f"its parts take {total} bytes; the file has {size}")
        tree = json.loads(archive.read(TREE))
        if not isinstance(tree, dict) or tree.get("format") != FORMAT:
            raise FileError(f"{name} is an archive of something else, not a saved model.")
        if tree.get("version") != VERSION:
            raise FileError(
                f"The model {name} has version {shown(tree.get('version'))}; this anchor-align reads version "
                f"{VERSION}. Install the anchor-align that saved it, or save it again."
            )
        arrays = {number: _array(archive.read(f"{number}.npy")) for number in range(len(members) - 1)}
        content = {str(key): _decoded(value, arrays, size) for key, value in dict(tree["content"]).items()}
        if arrays:
            raise ValueError(f"it has {len(arrays)} arrays without a use")
        return content


def _array(data: bytes) -> np.ndarray:
    """The array of a .npy file; its header must fit the bytes that follow."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_column, dtype = read(file)
    if dtype.kind not in NUMBERS or any(side < 0 for side in shape):
        raise ValueError(f"an array has the type {dtype}")
    rest = len(data) - file.tell()
    if math.prod(shape) * dtype.itemsize != rest:
        raise ValueError(f"an array of shape {shape} and type {dtype} has {rest} bytes")
    # A copy: aligned, as the arrays of the fit were.
    flat = np.frombuffer(data, dtype, offset=file.tell()).copy()
    return flat.reshape(shape, order="F" if by_column else "C")


def _encoded(value: Any, arrays: list[np.ndarray], where: str) -> Any:
    """A plain value as JSON; arrays are collected, and their numbers stand for them."""

    def each(values: Any) -> list[Any]:
        return [_encoded(item, arrays, where) for item in values]

    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray) and value.dtype.kind in NUMBERS:
        arrays.append(np.asarray(value))
        return {"array": len(arrays) - 1}
    if is_sparse(value) and value.dtype.kind in NUMBERS:
        value = value.tocsr()
        return {"csr": each((list(value.shape), value.data, value.indices, value.indptr))}
    if isinstance(value, list):
        return each(value)
    if isinstance(value, tuple):
        return {"tuple": each(value)}
    if isinstance(value, Mapping):
        return {"dict": [each(pair) for pair in value.items()]}
    if isinstance(value, slice):
        return {"slice": each((value.start, value.stop, value.step))}
    raise InputError(
        f"The model cannot be saved: {where} has {shown(value)} ({type(value).__name__}); only {PLAIN} can be saved."
    )


def _decoded(value: Any, arrays: dict[int, np.ndarray], size: int) -> Any:
    """A value from JSON. Each array is used once, and then no longer in ``arrays``."""
    if isinstance(value, list):
        return [_decoded(item, arrays, size) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, inside),) = value.items()
    if kind == "array":
        if type(inside) is not int or inside not in arrays:
            raise ValueError(f"it has no array {shown(inside)}, or uses it twice")
        return arrays.pop(inside)
    if kind == "float":
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[inside]
    parts = _decoded(inside, arrays, size)
    if kind == "tuple":
        return tuple(parts)
    if kind == "dict":
        return dict(parts)
    if kind == "slice":
        return slice(*parts)
    if kind == "csr":
        (n_rows, n_columns), data, indices, indptr = parts
        if type(n_columns) is not int or not 0 <= n_columns <= most_columns(size):
            raise ValueError(f"a sparse array of {len(data)} entries claims {shown(n_columns)} columns")
        matrix = sp.csr_array((data, indices, indptr), shape=(n_rows, n_columns))
        matrix.check_format(full_check=True)
        return matrix
    raise ValueError(f"it holds {shown(kind)}, which is not known")
