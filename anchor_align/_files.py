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
    path = Path(path)
    temporary = _beside(path)
    with _reported(path):
        try:
            with open(temporary, "xb") as file:
                if callable(content):
                    content(file)
                else:
                    file.write(content)
            with suppress(FileNotFoundError):
                os.chmod(temporary, path.stat().st_mode & 0o777)
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a place that cannot be written to, before any work is done for it."""
    path = Path(path)
    if path.is_dir():
        raise FileError(f"Cannot write {path}: it is a folder.")
    with _reported(path):
        temporary = _beside(path)
        open(temporary, "xb").close()
        os.unlink(temporary)


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Make a folder, and those above it, and see that it can be written to."""
    path = Path(path)
    with _reported(path):
        path.mkdir(parents=True, exist_ok=True)
    check_writable(path / "x")
    return path


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
