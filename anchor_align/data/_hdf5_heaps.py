"""Heaps of HDF5 files, which hold texts of variable length: checked before the HDF5 library follows them.

The library steps from object to object by their sizes and does not end if a damaged one says that it has no size.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

# Signature, version 1, and three bytes that are zero.
_SIGNATURE = b"GCOL\x01\0\0\0"
_HEADER = 16
_PIECE = 2**24


def check_heaps(path: Path) -> None:
    """Refuse a file if the objects of a heap do not fill it."""
    with path.open("rb") as file:
        for start in list(_starts(file)):
            file.seek(start + len(_SIGNATURE))
            size = int.from_bytes(file.read(8), "little")
            file.seek(start)
            # A heap that is cut off is found by the library; a size from damaged bytes is no reason to read so much.
            _check_objects(file.read(min(size, _PIECE)), size)


def _starts(file: BinaryIO) -> Iterator[int]:
    """Places of all heaps. The file is read, not mapped: its pages would count as memory of this process."""
    before, place = b"", 0
    while piece := file.read(_PIECE):
        content = before + piece
        at = content.find(_SIGNATURE)
        while at >= 0:
            yield place - len(before) + at
            at = content.find(_SIGNATURE, at + 1)
        place += len(piece)
        before = content[1 - len(_SIGNATURE) :]


def _check_objects(heap: bytes, size: int) -> None:
    at = _HEADER
    while at + _HEADER <= min(size, len(heap)):
        number = int.from_bytes(heap[at : at + 2], "little")
        length = int.from_bytes(heap[at + 8 : at + _HEADER], "little")
        # Number 0 is the free space, whose length counts its header; other lengths do not, and are padded.
        step = length if number == 0 else _HEADER + -(-length // 8) * 8
        if step < _HEADER or at + step > size:
            raise ValueError("a heap of texts whose parts do not fit")
        at += step
