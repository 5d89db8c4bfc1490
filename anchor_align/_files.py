"""Files that are there in full or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import FileError


def write_whole(path: str | os.PathLike[str], content: bytes | Callable[[BinaryIO], object]) -> None:
    """Write a file beside its place, then move it there: nobody ever sees half of it, whatever happens in between.

    ``content`` is what to write, or is called with the open file. A file that was there is kept until the new one is
    complete, and keeps its permissions.
    """
    with _reported(Path(path)):
        # What a link points to is replaced, not the link.
        place = Path(os.path.realpath(path))
        if place.exists() and not place.is_file():
            with open(place, "wb") as file:  # a device or a pipe
                _fill(file, content)
            return
        temporary = _beside(place)
        try:
            with open(temporary, "xb") as file:
                _fill(file, content)
            with suppress(FileNotFoundError):
                os.chmod(temporary, place.stat().st_mode & 0o777)
            os.replace(temporary, place)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a place that cannot be written to, before any work is done for it."""
    with _reported(Path(path)):
        place = Path(os.path.realpath(path)) if os.fspath(path) else Path(path)
        if place.is_dir() or not place.name:
            raise FileError(f"Cannot write {os.fspath(path)!r}: it is a folder.")
        if place.exists() and not place.is_file():
            return
        temporary = _beside(place)
        open(temporary, "xb").close()
        os.unlink(temporary)


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Make a folder, and those above it, and see that it can be written to."""
    path = Path(path)
    with _reported(path):
        path.mkdir(parents=True, exist_ok=True)
    check_writable(path / "x")
    return path


def _fill(file: BinaryIO, content: bytes | Callable[[BinaryIO], object]) -> None:
    if callable(content):
        content(file)
    else:
        file.write(content)


def _beside(path: Path) -> Path:
    """A name of its own for a file that is not complete yet."""
    return path.with_name(f".{path.name[:40]}.{secrets.token_hex(6)}.part")


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"Cannot write {path}: {error.strerror or error}.") from error
