"""A full disk and exhausted memory at every place of small runs: one sentence, and no half-written file."""

from __future__ import annotations

import builtins
import errno
import io
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchor_align import AlignedClusterer, AnchorAlignError, load
from anchor_align.cli import main
from anchor_align.data import make_simulated
from anchor_align.report import _html_elements, _output_files

pytestmark = pytest.mark.slow

OLD = b"what was there before"
DATA = make_simulated(0, n_per_cluster=10)
LABELS = ["cluster", "a.csv", "b.csv", "--clusters", "4", "-q", "-j", "1", "-o", "out/labels.csv"]
LABELS += ["--save", "out/my.model"]
CLUSTER = [*LABELS, "--html", "out/report.html", "--draws", "1"]
STUDY = ["compare", "local", "--data", "simulated", "--anchors", "8", "--repeats", "1", "-q", "--cache", "cache"]
RESULTS = [*STUDY, "--output", "out", "--html", "out/report.html"]
MAKERS = ("empty", "zeros", "ones", "full", "empty_like", "zeros_like", "array", "ascontiguousarray", "concatenate")


class Faults:
    """Counts steps by name; those that ``fails`` chooses, by number and name, raise an error."""

    def __init__(self, error: Exception) -> None:
        self._error = error
        self.start()

    def start(self, fails: Callable[[int, object], bool] = lambda *_: False) -> None:
        """Count from 0 again."""
        self.steps: list[object] = []
        self._fails = fails

    def step(self, name: object) -> None:
        """Count, and fail if it is the turn of this step."""
        self.steps.append(name)
        if self._fails(len(self.steps), name):
            raise self._error

    def counted(self, real: Callable[..., Any], *, ours: bool = False) -> Callable[..., Any]:
        """The function, whose calls are steps; with ``ours`` only those by code of this package."""

        def call(*given: Any, **named: Any) -> Any:
            caller = sys._getframe(1)
            if not ours or caller.f_globals.get("__name__", "").startswith("anchor_align"):
                self.step((caller.f_code.co_filename, caller.f_lineno))
            return real(*given, **named)

        return call


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Faults:
    """Whatever Python opens to write, each write into it, each rename and each new folder is a step."""
    faults = Faults(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    real_open = builtins.open

    class Raw(io.FileIO):
        def write(self, content: Any) -> int:
            faults.step("write")
            return super().write(content)

    def opened(file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **named: Any) -> Any:
        if not set(mode) & set("wxa+") or file == os.devnull:
            return real_open(file, mode, buffering, *rest, **named)
        faults.step("open")
        assert "b" in mode, "results are written as bytes"
        raw = Raw(file, mode.replace("b", ""), opener=named.get("opener"))
        return io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)

    monkeypatch.setattr(builtins, "open", opened)
    monkeypatch.setattr(io, "open", opened)
    for name in ("replace", "rename", "mkdir"):
        monkeypatch.setattr(os, name, faults.counted(getattr(os, name)))
    return faults


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Faults:
    """Each array that code of this package makes is a step, with the line that makes it as its name."""
    faults = Faults(MemoryError())
    for name in MAKERS:
        monkeypatch.setattr(np, name, faults.counted(getattr(np, name), ours=True))
    return faults


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two tables, which is the current one; figures are quick to draw."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    for name, view in zip(("a", "b"), DATA.views, strict=True):
        head = ",".join(f"f{column}" for column in range(view.shape[1]))
        np.savetxt(tmp_path / f"{name}.csv", view, delimiter=",", header=head, comments="")
    for module in (_output_files, _html_elements):
        monkeypatch.setattr(module, "figure_bytes", lambda *_, **__: b"figure")
    monkeypatch.setattr(_output_files, "_figures", lambda *_: iter([("one", None), ("two", None)]))
    monkeypatch.setattr("anchor_align.report.html_report", lambda _: "a page" * 10_000)
    return tmp_path


def written(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in (folder / "out").rglob("*") if path.is_file()}


def start_again(folder: Path, expected: dict[str, bytes], *, old: bool) -> None:
    """Take away what was written; with ``old`` there are other files in its place."""
    for name in written(folder):
        (folder / name).unlink()
    for name in expected if old else ():
        (folder / name).write_bytes(OLD)


def check(folder: Path, code: int, said: str, expected: dict[str, bytes], *, old: bool) -> None:
    """One sentence or several, each on its line, and every file is complete or as before."""
    found = written(folder)
    assert [name for name in folder.rglob("*") if name.suffix == ".part"] == []
    assert {name: content for name, content in found.items() if content not in (OLD, expected.get(name))} == {}
    if old:
        assert found.keys() == expected.keys()
    assert [line for line in said.splitlines() if not line.startswith("anchor-align: ")] == []
    assert code in (0, 1, 2)
    assert found == expected if code == 0 else said


def failing(number: int) -> Callable[[int, object], bool]:
    """One step only, for odd numbers, or that step and all after it: the disk stays full."""
    return lambda at, _: at == number or (number % 2 == 0 and at > number)


def is_place(wanted: object, _: int, name: object) -> bool:
    return name == wanted


@pytest.mark.parametrize("words", [CLUSTER, RESULTS], ids=lambda words: words[0])
def test_a_disk_that_is_full_at_any_moment(
    words: list[str], folder: Path, disk: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every result is complete or as it was, and the reason is on stderr."""
    main(words)
    assert main(words) == 0  # runs of the study are kept now: times are the same from here on
    expected = written(folder)
    disk.start()
    assert main(words) == 0
    assert written(folder) == expected
    for number in range(1, len(disk.steps) + 1):
        start_again(folder, expected, old=number % 4 < 2)
        capsys.readouterr()
        disk.start(failing(number))
        code = main(words)
        disk.start()
        check(folder, code, capsys.readouterr().err, expected, old=number % 4 < 2)


def test_a_cache_on_a_disk_that_is_full_at_any_moment(
    folder: Path, disk: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    """The study has its result, and what was kept is not half an entry."""
    assert main(STUDY) == 0
    expected, n_steps = capsys.readouterr().out, len(disk.steps)
    for number in range(1, n_steps + 1):
        words = [*STUDY[:-1], f"cache {number}"]
        disk.start(failing(number))
        code = main(words)
        disk.start()
        out, err = capsys.readouterr()
        assert (code, out) == (0, expected) or (code, out) == (2, "")
        assert err.startswith("anchor-align: ")
        assert err.count("\n") == 1
        assert list(folder.rglob("*.part")) == []
        assert main(words) == 0
        assert capsys.readouterr().out == expected


def test_a_model_on_a_disk_that_is_full_at_any_moment(folder: Path, disk: Faults) -> None:
    """``save`` raises one of our errors and leaves the earlier model."""
    clusterer = AlignedClusterer("local", n_clusters=4, random_state=0).fit(DATA.views)
    clusterer.save("out/my.model")
    disk.start()
    clusterer.save("out/my.model")
    for number in range(1, len(disk.steps) + 1):
        disk.start(failing(number))
        with pytest.raises(AnchorAlignError, match=r"my\.model"):
            clusterer.save("out/my.model")
        disk.start()
        assert os.listdir("out") == ["my.model"]
        np.testing.assert_array_equal(load("out/my.model").predict(DATA.views), clusterer.labels_)


@pytest.mark.parametrize(
    ("words", "folders"),
    [(LABELS, ("",)), ([*STUDY[:-2], "--no-cache"], ("study", "metrics", "report"))],
    ids=["cluster", "compare"],
)
def test_memory_that_ends_at_any_line(
    words: list[str], folders: tuple[str, ...], folder: Path, memory: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first time that each line makes an array: one sentence, and every file is complete or absent."""
    main(words)
    memory.start()
    assert main(words) == 0
    expected = written(folder)
    for place in dict.fromkeys(memory.steps):
        if not any(f"/{part}" in str(place) for part in folders):
            continue
        start_again(folder, expected, old=False)
        capsys.readouterr()
        memory.start(partial(is_place, place))
        code = main(words)
        memory.start()
        check(folder, code, capsys.readouterr().err, expected, old=False)
