"""Write files completely or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..checks import check_not_empty
from ..errors import FileError, InputTypeError, shown


def write_whole(path: str | os.PathLike[str], content: bytes | Callable[[BinaryIO], object]) -> None:
    """Write a file beside its place, then move it there: nobody ever sees half of it, even after a crash.

    ``content`` is what to write, or a function that is called with the open file. A file that was there before is kept
    until the new one is complete; its permissions are kept.
    """
    fill = content if callable(content) else lambda file: file.write(content)
    with writing(path):
        # The target of a link is replaced, not the link.
        place = Path(os.path.realpath(path))
        if place.exists() and not place.is_file():
            with open(place, "wb") as file:  # a device or a pipe
                fill(file)
            return
        temporary = unfinished(place)
        try:
            with open(temporary, "xb") as file:
                fill(file)
            with suppress(FileNotFoundError):
                os.chmod(temporary, place.stat().st_mode & 0o777)
            os.replace(temporary, place)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a file that cannot be written, before any work is done for it."""
    with writing(path):
        place = Path(os.path.realpath(path)) if os.fspath(path) else Path(path)
        if place.is_dir() or not place.name:
            raise FileError(f"Cannot write {os.fspath(path)!r}: it is a folder.")
        if place.exists() and not place.is_file():
            return
        temporary = unfinished(place)
        open(temporary, "xb").close()
        os.unlink(temporary)


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Make a folder, and those above it, and check that files can be written in it."""
    with writing(path):
        Path(path).mkdir(parents=True, exist_ok=True)
    check_writable(Path(path) / "x")
    return Path(path)


def unfinished(path: Path) -> Path:
    """A unique name for a file that is not complete yet."""
    return path.with_name(f".{path.name[:40]}.{secrets.token_hex(6)}.part")


def check_path(path: object) -> None:
    """Refuse what cannot be the name of a file or folder."""
    if not isinstance(path, str | os.PathLike):
        raise InputTypeError(f"path must be a file, got {shown(path)}.")
    check_not_empty(path)
    name = os.fspath(path)
    if not isinstance(name, str) or "\0" in name or not _encodable(name):
        raise FileError(f"Cannot write {shown(name)}: no file can have this name.")


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors of the operating system into one sentence that names the file."""
    check_path(path)
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"Cannot write {path}: {error.strerror or error}.") from error


def _encodable(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True
