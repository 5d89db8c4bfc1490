"""Files that are there in full or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

import pytest

from anchor_align import FileError
from anchor_align.data import check_writable, make_folder, write_whole


def test_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Content and permissions are right, and nothing else is left in the folder."""
    path = tmp_path / "result.txt"
    write_whole(path, b"one")
    path.chmod(0o640)
    write_whole(path, lambda file: file.write(b"two"))
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_links_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    """A link's target is replaced; a pipe or device is written to."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    check_writable("/dev/null")
    write_whole("/dev/null", b"gone")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError("no")])
def test_what_was_there_survives_a_failure(tmp_path: Path, error: BaseException) -> None:
    """The old file is as it was, and no part of the new one is left."""
    path = tmp_path / "result.txt"
    path.write_text("old")

    def fail(file: BinaryIO) -> None:
        file.write(b"half of it")
        raise error

    expected = FileError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected) as caught:
        write_whole(path, fail)
    if isinstance(error, OSError):
        assert str(caught.value) == f"Cannot write {path}: No space left on device."
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_places_that_cannot_be_written_to_are_named(tmp_path: Path) -> None:
    """A folder that is not there, a folder in place of the file, a file in place of a folder."""
    with pytest.raises(FileError, match=r"Cannot write .*nowhere.*: No such file or directory\."):
        check_writable(tmp_path / "nowhere" / "x.html")
    with pytest.raises(FileError, match=r"it is a folder"):
        check_writable(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"Cannot write .*file"):
        make_folder(tmp_path / "file")
    assert make_folder(tmp_path / "a" / "b").is_dir()
    assert os.listdir(tmp_path / "a" / "b") == []
